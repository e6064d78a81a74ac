package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
)

// A bank that takes files of any length is sent hundreds of thousands of payments in one. What is done to all of them goes some
// at a time, as what is tidied does, and what goes through all of them to write one row looks before it writes.

// eachSome does something with the payments of a file, those behind a position up to another at a time.
func (s *Store) eachSome(ctx context.Context, now time.Time, f BankFile, work func(tx *Tx, after, last int)) error {
	for after := 0; ; {
		result, err := s.Query(ctx, `SELECT COALESCE(MAX(position), 0) FROM (SELECT position FROM bank_file_entries
			WHERE tenant_id = $1 AND file_id = $2 AND position > $3 ORDER BY position LIMIT $4) AS page`, f.TenantID, f.ID, after, tidiedAtOnce)
		last, err := db.One(result, err, func(r db.Rows) (last int, err error) { return last, r.Scan(&last) })
		if err != nil || last == 0 {
			return err
		}
		err = s.Write(ctx, now, func(tx *Tx) error {
			work(tx, after, last)
			return nil
		})
		if err != nil {
			return err
		}
		after = last
	}
}

// WaitLonger moves the end of the silence for what is open in a file that leaves the
// house later than was planned. It comes before the file is said to have left: whoever dies in between does it again.
func (s *Store) WaitLonger(ctx context.Context, now time.Time, f BankFile, until time.Time) error {
	return s.eachSome(ctx, now, f, func(tx *Tx, after, last int) { tx.waitLonger(f, after, last, until) })
}

func (tx *Tx) waitLonger(f BankFile, after, last int, until time.Time) {
	tx.Then(`
		UPDATE transactions SET settle_due_at = $3, updated_at = $4
		WHERE tenant_id = $1 AND status = 'pending' AND settle_due_at < $3
			AND id IN (SELECT transaction_id FROM bank_file_entries WHERE tenant_id = $1 AND file_id = $2 AND position > $5 AND position <= $6)`,
		f.TenantID, f.ID, db.Micros(until), db.Micros(tx.At), after, last)
}

// PostponeBankFile moves what was due before the file's due date to that day, in a
// file whose bytes are not made yet, and the file last. Where it does not stand where it did it ends with ErrStale.
func (s *Store) PostponeBankFile(ctx context.Context, now time.Time, before, f BankFile, silenceEnds time.Time) error {
	err := s.eachSome(ctx, now, f, func(tx *Tx, after, last int) {
		tx.Require(ErrStale, `UPDATE bank_files SET updated_at = updated_at WHERE tenant_id = $1 AND id = $2 AND state = $3 AND entry_count = $4`,
			before.TenantID, before.ID, string(before.State), before.Count)
		tx.Then(`UPDATE bank_file_entries SET due_date = $3 WHERE tenant_id = $1 AND file_id = $2 AND due_date < $3 AND position > $4 AND position <= $5`,
			f.TenantID, f.ID, f.DueDate, after, last)
		tx.waitLonger(f, after, last, silenceEnds)
	})
	if err != nil {
		return err
	}
	return s.Write(ctx, now, func(tx *Tx) error {
		tx.ChangeBankFile(before, f)
		return nil
	})
}

// SettleBankFiles marks the files of an account of which no payment's outcome is
// open any more. A file that was refused as a whole stays that. What is taken into one meanwhile keeps it open.
func (s *Store) SettleBankFiles(ctx context.Context, now time.Time, tenantID, gatewayID uuid.UUID) error {
	type over struct {
		id        uuid.UUID
		updatedAt int64
	}
	result, err := s.Query(ctx, `
		SELECT f.id, f.updated_at FROM bank_files f
		WHERE f.tenant_id = $1 AND f.gateway_id = $2 AND f.state IN `+leftStates+` AND NOT EXISTS (
			SELECT 1 FROM bank_file_entries e JOIN transactions t ON t.tenant_id = e.tenant_id AND t.id = e.transaction_id
			WHERE e.tenant_id = f.tenant_id AND e.file_id = f.id AND t.status = 'pending')`, tenantID, gatewayID)
	files, err := db.Collect(result, err, func(r db.Rows) (o over, err error) { return o, r.Scan(&o.id, &o.updatedAt) })
	if err != nil || len(files) == 0 {
		return err
	}
	return s.Write(ctx, now, func(tx *Tx) error {
		for _, file := range files {
			tx.Then(`UPDATE bank_files SET state = 'settled', updated_at = $4 WHERE tenant_id = $1 AND id = $2 AND updated_at = $3 AND state IN `+leftStates,
				tenantID, file.id, file.updatedAt, db.Micros(tx.At))
		}
		return nil
	})
}
