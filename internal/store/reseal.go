package store

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/vault"
)

// resealBatch bounds how many rows are read and written at a time, so that payments
// do not wait for it.
const resealBatch = 200

// sealedColumn is a column whose texts were made by the vault. A test holds the list
// to the schema.
type sealedColumn struct {
	table, column string
	// purpose and row are SQL texts that say what beside the tenant a row's text is
	// bound to (binding.go).
	purpose, row string
	// owner is whose the text is: the tenant, where it does not say otherwise.
	owner string
}

func (c sealedColumn) of() string { return cmp.Or(c.owner, "tenant_id") }

var sealedColumns = []sealedColumn{
	{table: "bank_file_parts", column: "content_sealed", purpose: `'bank_file'`, row: `'part ' || file_id || ' ' || draft || ' ' || number`},
	{table: "bank_lines", column: "text_sealed", purpose: `'bank_file'`, row: `'line ' || statement_id || ' ' || position`},
	{table: "bank_statement_parts", column: "content_sealed", purpose: `'bank_file'`, row: `'statement ' || statement_id || ' ' || number`},
	{table: "bank_statements", column: "content_sealed", purpose: `'bank_file'`, row: `'statement ' || id`},
	{table: "erasure_keys", column: "key_sealed", purpose: `'erasure_key'`, row: `'key ' || id`},
	{table: "events", column: "token_sealed", purpose: `'session_token'`, row: `'event ' || id`},
	{table: "operators", column: "totp_sealed", purpose: `'totp'`, row: `'operator ' || id`, owner: "id"},
	{table: "sessions", column: "token_sealed", purpose: `'session_token'`, row: `'session ' || id`},
	{table: "setup_records", column: "secrets", purpose: `kind || ':' || id`, row: `''`},
	{table: "subscriptions", column: "iban_sealed", purpose: `'iban'`, row: `'mandate ' || mandate_reference`},
	{table: "transactions", column: "iban_sealed", purpose: `'iban'`, row: `'mandate ' || mandate_reference`},
}

// sealedRow is one text with what it is bound to.
type sealedRow struct {
	tenantID, id uuid.UUID
	purpose, row string
	text         string
}

// begins compares how a sealed text begins: the name of its key and a colon, which
// no name has, and perhaps more.
func (c sealedColumn) begins(prefix string) string {
	return c.column + ` <> '' AND substr(` + c.column + `, 1, ` + fmt.Sprint(len(prefix)) + `) = '` + prefix + `'`
}

// isOtherwise is true of what another key has sealed, or the same for older programs.
func (s *Store) isOtherwise(c sealedColumn) string {
	return c.column + ` <> '' AND NOT (` + c.begins(s.vault.Prefix()) + `)`
}

// Reseal seals everything with the current key that another one has sealed, or that
// was sealed for older programs, while payments go on. It can be stopped at any time
// and begins again where something is left. A text that does not open is passed over
// and told of in the end. Progress is told how many rows are done, of how many.
func (s *Store) Reseal(ctx context.Context, now time.Time, progress func(done, total int)) (done int, err error) {
	total := 0
	for _, c := range sealedColumns {
		left, err := s.sealedOtherwise(ctx, c)
		if err != nil {
			return 0, err
		}
		total += left
	}
	more := func(rows int) {
		done += rows
		progress(done, max(done, total))
	}
	if err := s.hideTokens(ctx, now, more); err != nil {
		return done, err
	}
	var left error
	for pass := range resealPasses {
		if pass > 0 {
			if err := pauseBetweenPasses(ctx); err != nil {
				return done, err
			}
		}
		if err := s.resealColumns(ctx, now, more); err != nil {
			return done, err
		}
		if left, err = s.nothingLeft(ctx); err != nil {
			return done, err
		}
		if left == nil {
			return done, s.retireKeys(ctx, now)
		}
	}
	return done, left
}

// What was under way when sealing began may be written behind its back: a claim by a process that has heard of the new
// order only since, or a subscription that takes over the account of a payment before that one's turn has come. So
// everything is gone through once more, until nothing is left or somebody must be at it who does not stop.
const (
	resealPasses = 5
	resealPause  = 300 * time.Millisecond
)

func pauseBetweenPasses(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(resealPause):
		return nil
	}
}

// resealColumns goes through everything once.
func (s *Store) resealColumns(ctx context.Context, now time.Time, more func(rows int)) error {
	var closed []error
	for _, c := range sealedColumns {
		stuck, err := s.resealColumn(ctx, c, now, more)
		if err != nil {
			return err
		}
		closed = append(closed, stuck...)
	}
	if len(closed) > 0 {
		return fmt.Errorf("%d rows could not be opened and are as they were; the first: %w", len(closed), closed[0])
	}
	return nil
}

// resealColumn gives an error for each row that does not open.
func (s *Store) resealColumn(ctx context.Context, c sealedColumn, now time.Time, more func(rows int)) (closed []error, err error) {
	var last sealedRow
	for {
		rows, err := s.toReseal(ctx, c, last)
		if err != nil || len(rows) == 0 {
			return closed, err
		}
		stuck, err := s.resealRows(ctx, c, rows, now)
		if err != nil {
			return closed, err
		}
		last = rows[len(rows)-1]
		closed = append(closed, stuck...)
		more(len(rows) - len(stuck))
	}
}

// sealedOtherwise counts the rows that are to be sealed anew.
func (s *Store) sealedOtherwise(ctx context.Context, c sealedColumn) (int, error) {
	result, err := s.Query(ctx, `SELECT COUNT(*) FROM `+c.table+` WHERE `+s.isOtherwise(c))
	return db.One(result, err, func(r db.Rows) (n int, err error) { return n, r.Scan(&n) })
}

func (s *Store) toReseal(ctx context.Context, c sealedColumn, after sealedRow) ([]sealedRow, error) {
	result, err := s.Query(ctx, `
		SELECT `+c.of()+`, id, `+c.purpose+`, `+c.row+`, `+c.column+` FROM `+c.table+`
		WHERE (`+c.of()+`, id) > ($1, $2) AND `+s.isOtherwise(c)+`
		ORDER BY `+c.of()+`, id LIMIT $3`, after.tenantID, after.id, resealBatch)
	return db.Collect(result, err, func(r db.Rows) (row sealedRow, err error) {
		return row, r.Scan(&row.tenantID, &row.id, &row.purpose, &row.row, &row.text)
	})
}

// resealRows writes each text only where it is still the one that was read.
func (s *Store) resealRows(ctx context.Context, c sealedColumn, rows []sealedRow, now time.Time) (closed []error, err error) {
	texts := make([]string, len(rows))
	for i, row := range rows {
		bound := vault.Purpose(row.tenantID, row.purpose).In(row.row)
		plain, err := s.vault.Open(row.text, bound)
		if err != nil {
			closed = append(closed, fmt.Errorf("%s of %s %s: %w", c.column, c.table, row.id, err))
			continue
		}
		if texts[i], err = s.vault.Seal(plain, bound); err != nil {
			return nil, err
		}
	}
	return closed, s.Write(ctx, now, func(tx *Tx) error {
		for i, row := range rows {
			if texts[i] == "" {
				continue
			}
			tx.Then(`UPDATE `+c.table+` SET `+c.column+` = $1 WHERE `+c.of()+` = $2 AND id = $3 AND `+c.column+` = $4`,
				texts[i], row.tenantID, row.id, row.text)
		}
		return nil
	})
}

// nothingLeft tells what another key has sealed, or the same for older programs.
func (s *Store) nothingLeft(ctx context.Context) (left, err error) {
	for _, c := range sealedColumns {
		rows, err := s.sealedOtherwise(ctx, c)
		if err != nil {
			return nil, err
		}
		if rows > 0 {
			return fmt.Errorf("%s: %d rows of %s were sealed with an old key or for older programs meanwhile: a process still does so; start it again with the new order, and then this",
				keySetting, rows, c.table), nil
		}
	}
	return nil, nil
}

// retireKeys notes that only the current key is needed.
func (s *Store) retireKeys(ctx context.Context, now time.Time) error {
	return s.Write(ctx, now, func(tx *Tx) error {
		tx.Then(`UPDATE encryption_keys SET was_first = FALSE WHERE name <> $1`, s.vault.Current())
		tx.Audit(databaseDeed("database.seal_anew", map[string]any{"key": s.vault.Current()}))
		return nil
	})
}

// checkUnused refuses to do without a key that was retired and has sealed something
// since, and forgets one that has not.
func (s *Store) checkUnused(ctx context.Context, name string, now time.Time) error {
	for _, c := range sealedColumns {
		result, err := s.Query(ctx, `SELECT 1 FROM `+c.table+` WHERE `+c.begins(name+":")+` LIMIT 1`)
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
