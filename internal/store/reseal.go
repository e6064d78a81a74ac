package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/vault"
)

// PurposeIBAN binds a sealed account number to its tenant.
func PurposeIBAN(tenantID uuid.UUID) []byte { return vault.Purpose(tenantID, "iban") }

// PurposeBankFile binds the sealed bytes of a bank's file to their tenant.
func PurposeBankFile(tenantID uuid.UUID) []byte { return vault.Purpose(tenantID, "bank_file") }

// resealBatch bounds how many rows are read and written at a time, so that payments
// do not wait for it.
const resealBatch = 200

// sealedColumn is a column whose texts were made by the vault. A test holds the list
// to the schema.
type sealedColumn struct {
	table, column string
	// purpose is an SQL text that says beside the tenant what a row's text is for.
	purpose string
}

var sealedColumns = []sealedColumn{
	{"bank_file_parts", "content_sealed", `'bank_file'`},
	{"bank_lines", "text_sealed", `'bank_file'`},
	{"bank_statement_parts", "content_sealed", `'bank_file'`},
	{"bank_statements", "content_sealed", `'bank_file'`},
	{"setup_records", "secrets", `kind || ':' || id`},
	{"subscriptions", "iban_sealed", `'iban'`},
	{"transactions", "iban_sealed", `'iban'`},
}

// sealedRow is one text with what it is bound to.
type sealedRow struct {
	tenantID, id uuid.UUID
	purpose      string
	text         string
}

// isSealedWith compares the name before the colon; $1 is it, with the colon.
func (c sealedColumn) isSealedWith(name string) string {
	return c.column + ` <> '' AND substr(` + c.column + `, 1, ` + fmt.Sprint(len(name)+1) + `) = '` + name + `:'`
}

// Reseal seals everything with the current key that another one has sealed, while
// payments go on. It can be stopped at any time and begins again where something
// is left. Progress is told how many rows are done, of how many.
func (s *Store) Reseal(ctx context.Context, now time.Time, progress func(done, total int)) (done int, err error) {
	total := 0
	for _, c := range sealedColumns {
		left, err := s.sealedOtherwise(ctx, c)
		if err != nil {
			return 0, err
		}
		total += left
	}
	for _, c := range sealedColumns {
		var last sealedRow
		for {
			rows, err := s.toReseal(ctx, c, last)
			if err != nil {
				return done, err
			}
			if len(rows) == 0 {
				break
			}
			if err := s.resealRows(ctx, c, rows, now); err != nil {
				return done, err
			}
			last = rows[len(rows)-1]
			done += len(rows)
			progress(done, max(done, total))
		}
	}
	return done, s.retireKeys(ctx, now)
}

// sealedOtherwise counts the rows that another key has sealed.
func (s *Store) sealedOtherwise(ctx context.Context, c sealedColumn) (int, error) {
	result, err := s.Query(ctx, `SELECT COUNT(*) FROM `+c.table+` WHERE `+c.column+` <> '' AND NOT (`+c.isSealedWith(s.vault.Current())+`)`)
	return db.One(result, err, func(r db.Rows) (n int, err error) { return n, r.Scan(&n) })
}

func (s *Store) toReseal(ctx context.Context, c sealedColumn, after sealedRow) ([]sealedRow, error) {
	result, err := s.Query(ctx, `
		SELECT tenant_id, id, `+c.purpose+`, `+c.column+` FROM `+c.table+`
		WHERE (tenant_id, id) > ($1, $2) AND `+c.column+` <> '' AND NOT (`+c.isSealedWith(s.vault.Current())+`)
		ORDER BY tenant_id, id LIMIT $3`, after.tenantID, after.id, resealBatch)
	return db.Collect(result, err, func(r db.Rows) (row sealedRow, err error) {
		return row, r.Scan(&row.tenantID, &row.id, &row.purpose, &row.text)
	})
}

// resealRows writes each text only where it is still the one that was read.
func (s *Store) resealRows(ctx context.Context, c sealedColumn, rows []sealedRow, now time.Time) error {
	texts := make([]string, len(rows))
	for i, row := range rows {
		bound := vault.Purpose(row.tenantID, row.purpose)
		plain, err := s.vault.Open(row.text, bound)
		if err != nil {
			return fmt.Errorf("%s of %s %s: %w", c.column, c.table, row.id, err)
		}
		if texts[i], err = s.vault.Seal(plain, bound); err != nil {
			return err
		}
	}
	return s.Write(ctx, now, func(tx *Tx) error {
		for i, row := range rows {
			tx.Then(`UPDATE `+c.table+` SET `+c.column+` = $1 WHERE tenant_id = $2 AND id = $3 AND `+c.column+` = $4`,
				texts[i], row.tenantID, row.id, row.text)
		}
		return nil
	})
}

// retireKeys notes that only the current key is needed, if that is so.
func (s *Store) retireKeys(ctx context.Context, now time.Time) error {
	for _, c := range sealedColumns {
		left, err := s.sealedOtherwise(ctx, c)
		if err != nil {
			return err
		}
		if left > 0 {
			return fmt.Errorf("%s: %d rows of %s were sealed with an old key meanwhile: a process still has it in front; start it again with the new order, and then this",
				keySetting, left, c.table)
		}
	}
	return s.Write(ctx, now, func(tx *Tx) error {
		tx.Then(`UPDATE encryption_keys SET was_first = FALSE WHERE name <> $1`, s.vault.Current())
		return nil
	})
}

// checkUnused refuses to do without a key that was retired and has sealed something
// since, and forgets one that has not.
func (s *Store) checkUnused(ctx context.Context, name string, now time.Time) error {
	for _, c := range sealedColumns {
		result, err := s.Query(ctx, `SELECT 1 FROM `+c.table+` WHERE `+c.isSealedWith(name)+` LIMIT 1`)
		_, err = db.One(result, err, func(r db.Rows) (n int, err error) { return n, r.Scan(&n) })
		if err == nil {
			return missingKey(name)
		}
		if !IsNotFound(err) {
			return err
		}
	}
	return s.Write(ctx, now, func(tx *Tx) error {
		tx.Then(`DELETE FROM encryption_keys WHERE name = $1 AND NOT was_first`, name)
		return nil
	})
}

func missingKey(name string) error {
	return fmt.Errorf("%s: the key %q is missing, with which data of this database is sealed", keySetting, name)
}
