package privacy

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"

	"sepad/internal/store"
)

// Export writes all that is known of a person as one JSON object: the rows of each
// table, column by column. Instants are written as such, amounts in the currency's
// smallest unit, and what lies sealed in the database is open. It goes out row by
// row, and each look is logged.
func (p *Privacy) Export(ctx context.Context, who *store.Person, to io.Writer) error {
	look := store.Deed{Action: "lead.export", ObjectType: "lead", ObjectID: who.LeadID.String(), TenantID: who.TenantID}
	if err := p.Store.Note(ctx, look); err != nil {
		return err // nobody looks unseen
	}
	out := exporting{Writer: bufio.NewWriter(to)}
	fmt.Fprintf(out, `{"exported_at":%s,"tenant_id":%s`, text(p.Clock.Now().UTC().Format(time.RFC3339)), text(who.TenantID.String()))
	if err := p.Store.PersonalRows(ctx, who, out.table, out.row); err != nil {
		return err
	}
	p.Logger.InfoContext(ctx, "the data of a person was exported", "tenant_id", who.TenantID, "lead_id", who.LeadID)
	io.WriteString(out, "]}\n")
	return out.Flush()
}

// exporting writes tables one after the other.
type exporting struct {
	*bufio.Writer
	rows   int
	tables int
}

func (e *exporting) table(name string) error {
	if e.tables++; e.tables > 1 {
		e.WriteString("]")
	}
	e.rows = 0
	_, err := e.WriteString(",\n" + text(name) + ":[")
	return err
}

func (e *exporting) row(r store.PersonalRow) error {
	if e.rows++; e.rows > 1 {
		e.WriteString(",")
	}
	e.WriteString("\n{")
	for i, column := range r.Columns {
		if i > 0 {
			e.WriteString(",")
		}
		value, err := cell(column, r.Values[i])
		if err != nil {
			return err
		}
		e.WriteString(text(strings.TrimSuffix(column, "_sealed")) + ":" + value)
	}
	_, err := e.WriteString("}")
	return err
}

// cell is a value as JSON. Engines differ in how they give ids and flags.
func cell(column string, value any) (string, error) {
	switch v := value.(type) {
	case nil:
		return "null", nil
	case [16]byte:
		return text(uuid.UUID(v).String()), nil
	case string:
		if column == "payload" {
			return v, nil // it is JSON
		}
		return text(v), nil
	case bool:
		return fmt.Sprint(v), nil
	case int64:
		switch {
		case strings.HasSuffix(column, "_at"):
			return text(time.UnixMicro(v).UTC().Format(time.RFC3339Nano)), nil
		case strings.HasPrefix(column, "is_"), column == "holds_lead", column == "reference_inherited":
			return fmt.Sprint(v != 0), nil
		}
		return fmt.Sprint(v), nil
	default:
		return "", fmt.Errorf("privacy: %s is a %T", column, v)
	}
}

func text(value string) string {
	quoted, err := json.Marshal(value)
	if err != nil {
		panic(err) // a text can be written
	}
	return string(quoted)
}
