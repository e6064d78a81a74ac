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

// readAtOnce is how many rows others are found by, of those that may have many each.
const readAtOnce = 16

// PersonalRows gives all that is known of a person, table by table, a row at a time;
// what is secret stays so. Whoever takes the rows may be slow, and holds no connection
// meanwhile: on SQLite a few of them would hold those of everybody.
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
		if err := s.personalTable(query, p, table, row); err != nil {
			return fmt.Errorf("%s: %w", table.Name, err)
		}
	}
	return nil
}

func (s *Store) personalTable(query reads, p *Person, t PersonalTable, row func(PersonalRow) error) error {
	column, values := p.selection(t)
	atOnce := max(len(values), 1)
	if !t.ByID {
		atOnce = readAtOnce
	}
	for some := range slices.Chunk(values, atOnce) {
		for batch := range db.InBatches(some) {
			rows, err := s.personalBatch(query, p.TenantID, t, column, batch)
			if err != nil {
				return err
			}
			for _, r := range rows {
				if err := row(r); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (s *Store) personalBatch(query reads, tenantID uuid.UUID, t PersonalTable, column string, values []any) ([]PersonalRow, error) {
	shown := slices.Concat(t.Kept.Names(), t.Cleared.Names(), t.Removed.Names(), t.Rewritten.Names())
	sealed, isSealed := sealedIn(t.Name, shown)
	list := strings.Join(shown, ", ")
	if isSealed {
		list += ", " + sealed.purpose + ", " + sealed.row
	}
	result, err := query(`SELECT `+list+` FROM `+t.Name+` WHERE tenant_id = $1 AND `+column+` IN `+db.Placeholders(2, 1, len(values))+` ORDER BY `+column,
		append([]any{tenantID}, values...)...)
	return db.Collect(result, err, func(r db.Rows) (PersonalRow, error) {
		read, into := make([]any, len(shown)), make([]any, len(shown), len(shown)+2)
		for i := range read {
			into[i] = &read[i]
		}
		var purpose, bound string
		if isSealed {
			into = append(into, &purpose, &bound)
		}
		if err := r.Scan(into...); err != nil || !isSealed {
			return PersonalRow{shown, read}, err
		}
		at := slices.Index(shown, sealed.column)
		plain, err := s.openColumn(vault.Purpose(tenantID, purpose).In(bound), read[at])
		read[at] = plain
		return PersonalRow{shown, read}, err
	})
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
