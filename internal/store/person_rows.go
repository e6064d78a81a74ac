package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/vault"
)

// PersonalRow is a row of a person, its columns by name. What was sealed is open.
type PersonalRow struct {
	Columns []string
	Values  []any
}

// PersonalRows gives all that is known of a person, table by table, a row at a time;
// what is secret stays so.
func (s *Store) PersonalRows(ctx context.Context, p *Person, begin func(table string) error, row func(PersonalRow) error) error {
	query := s.reads(ctx)
	for _, table := range PersonalTables {
		if !table.namesPersons() {
			continue
		}
		if err := p.find(table, query); err != nil {
			return err
		}
		if err := begin(table.Name); err != nil {
			return err
		}
		column, values := p.selection(table)
		for batch := range db.InBatches(values) {
			if err := s.personalBatch(query, p.TenantID, table, column, batch, row); err != nil {
				return fmt.Errorf("%s: %w", table.Name, err)
			}
		}
	}
	return nil
}

func (s *Store) personalBatch(query reads, tenantID uuid.UUID, t PersonalTable, column string, values []any, row func(PersonalRow) error) error {
	shown := slices.Concat(t.Kept.Names(), t.Cleared.Names(), t.Removed.Names(), t.Rewritten.Names())
	sealed, isSealed := sealedIn(t.Name, shown)
	list := strings.Join(shown, ", ")
	if isSealed {
		list += ", " + sealed.purpose + ", " + sealed.row
	}
	result, err := query(`SELECT `+list+` FROM `+t.Name+` WHERE tenant_id = $1 AND `+column+` IN `+db.Placeholders(2, 1, len(values)),
		append([]any{tenantID}, values...)...)
	if err != nil {
		return err
	}
	defer result.Close()
	for result.Next() {
		read, into := make([]any, len(shown)), make([]any, len(shown), len(shown)+2)
		for i := range read {
			into[i] = &read[i]
		}
		var purpose, bound string
		if isSealed {
			into = append(into, &purpose, &bound)
		}
		if err := result.Scan(into...); err != nil {
			return err
		}
		if isSealed {
			at := slices.Index(shown, sealed.column)
			if read[at], err = s.openColumn(vault.Purpose(tenantID, purpose).In(bound), read[at]); err != nil {
				return err
			}
		}
		if err := row(PersonalRow{shown, read}); err != nil {
			return err
		}
	}
	return result.Err()
}

// sealedIn is the sealed column of a table among those that are shown.
func sealedIn(table string, shown []string) (sealedColumn, bool) {
	for _, c := range sealedColumns {
		if c.table == table && slices.Contains(shown, c.column) {
			return c, true
		}
	}
	return sealedColumn{}, false
}

// openColumn opens a sealed value; one that is empty holds nothing.
func (s *Store) openColumn(bound vault.Binding, value any) (any, error) {
	text, isText := value.(string)
	if !isText || text == "" {
		return "", nil
	}
	plain, err := s.vault.Open(text, bound)
	return string(plain), err
}
