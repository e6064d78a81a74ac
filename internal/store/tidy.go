package store

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
)

// What nobody needs any more goes some rows at a time: of a shop that names its requests there are hundreds of thousands
// of keys an hour, and where there is one writer everybody waits for it.

// tidiedAtOnce are some fifty milliseconds of SQLite's writer.
const tidiedAtOnce = 2_000

// tidy takes steps until one has removed fewer than it may.
func (s *Store) tidy(ctx context.Context, now time.Time, step func(tx *Tx) (gone int, err error)) error {
	for {
		gone := 0
		err := s.Write(ctx, now, func(tx *Tx) (err error) {
			tx.Relax() // what comes back is removed again
			gone, err = step(tx)
			return err
		})
		if err != nil || gone < tidiedAtOnce {
			return err
		}
	}
}

// removed runs a statement that removes rows and gives something of each.
func (tx *Tx) removed(statement string, args ...any) (int, error) {
	result, err := tx.Query(statement, args...)
	gone, err := db.Collect(result, err, scanText)
	return len(gone), err
}

// ForgetExpiredKeys removes idempotency keys whose time is over.
func (s *Store) ForgetExpiredKeys(ctx context.Context, now time.Time) error {
	return s.tidy(ctx, now, func(tx *Tx) (int, error) {
		return tx.removed(`DELETE FROM idempotency_keys WHERE `+tx.RowID()+` IN (
			SELECT `+tx.RowID()+` FROM idempotency_keys WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2) RETURNING key`, db.Micros(now), tidiedAtOnce)
	})
}

// ForgetStaged removes what processes that died have left of files on their way in before an
// instant of real time. Nothing rests on it: the file is read again.
func (s *Store) ForgetStaged(ctx context.Context, now, before time.Time) error {
	type left struct{ tenantID, importID uuid.UUID }
	for _, table := range []string{"staged_transactions", "compared_lines"} {
		result, err := s.Query(ctx, `SELECT DISTINCT tenant_id, import_id FROM `+table+` WHERE import_id < $1`, firstID(before))
		imports, err := db.Collect(result, err, func(r db.Rows) (l left, err error) { return l, r.Scan(&l.tenantID, &l.importID) })
		if err != nil {
			return err
		}
		for _, of := range imports {
			err := s.tidy(ctx, now, func(tx *Tx) (int, error) {
				return tx.removed(`DELETE FROM `+table+` WHERE `+tx.RowID()+` IN (
					SELECT `+tx.RowID()+` FROM `+table+` WHERE tenant_id = $1 AND import_id = $2 LIMIT $3) RETURNING currency`, of.tenantID, of.importID, tidiedAtOnce)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// ForgetMails removes mails that were made before an instant and are not in line. No index knows when, so that they are looked
// for where nobody waits.
func (s *Store) ForgetMails(ctx context.Context, now, before time.Time) error {
	tenants, err := s.Tenants(ctx)
	for _, tenant := range tenants {
		err = errors.Join(err, s.tidyMails(ctx, now, before, tenant.ID))
	}
	return err
}

func (s *Store) tidyMails(ctx context.Context, now, before time.Time, tenantID uuid.UUID) error {
	const over = ` FROM mails WHERE tenant_id = $1 AND created_at < $2 AND status <> 'pending'`
	for {
		result, err := s.Browse(ctx, tenantID, `SELECT id`+over+` ORDER BY id LIMIT $3`, tenantID, db.Micros(before), tidiedAtOnce)
		ids, err := db.Collect(result, err, scanID)
		if err != nil || len(ids) == 0 {
			return err
		}
		err = s.Write(ctx, now, func(tx *Tx) error {
			for batch := range db.InBatches(asArgs(ids)) {
				tx.Then(`DELETE`+over+` AND id IN `+db.Placeholders(3, 1, len(batch)), append([]any{tenantID, db.Micros(before)}, batch...)...)
			}
			return nil
		})
		if err != nil || len(ids) < tidiedAtOnce {
			return err
		}
	}
}
