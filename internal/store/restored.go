package store

import (
	"context"
	"errors"
	"strconv"
	"time"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// unlessRestored holds back what must wait until the gateways have been asked.
const unlessRestored = `NOT EXISTS (SELECT 1 FROM deployment WHERE id = 1 AND restored_to IS NOT NULL)`

// restoringMark stands before the environment of a database into which a backup is
// restored. Every program that ever knew environments refuses such a one.
const restoringMark = "restoring/"

var errRestoring = errors.New("a backup is being restored into the database, or that was broken off; nothing was done. Once sepad restore has failed, drop the database, make a new one and restore into that")

// Restoring is the statement with which a restored database appears: nobody uses it
// before EndRestoring, and whoever is connected already neither bills nor sends.
func Restoring(schema int64, to time.Time) string {
	const hasEnvironment, hasRestored = 9, 17
	at := strconv.FormatInt(to.UnixMicro(), 10)
	switch {
	case schema < hasEnvironment:
		return ""
	case schema < hasRestored:
		return `UPDATE deployment SET environment = '` + restoringMark + `' || environment WHERE id = 1;`
	default:
		return `UPDATE deployment SET environment = '` + restoringMark + `' || environment, restored_to = ` + at + `, banks_restored_to = ` + banksRestoredTo(at) + ` WHERE id = 1;`
	}
}

// banksRestoredTo is since when nobody knows what banks were sent. A backup that was made while all of them still waited
// after an earlier restore does not know what was sent before that.
func banksRestoredTo(at string) string {
	return `CASE WHEN banks_restored_to < ` + at + ` AND NOT EXISTS (SELECT 1 FROM bank_resumptions r WHERE r.restored_to >= deployment.banks_restored_to)
		THEN banks_restored_to ELSE ` + at + ` END`
}

// EndRestoring takes the mark of Restoring away.
func (s *Store) EndRestoring(ctx context.Context, now time.Time) error {
	return s.Write(ctx, now, func(tx *Tx) error {
		tx.Then(`UPDATE deployment SET environment = REPLACE(environment, $1, '') WHERE id = 1`, restoringMark)
		return nil
	})
}

// RestoredTo is the instant that a restored database is of, as long as its gateways
// have not been asked what happened since; zero otherwise.
func (s *Store) RestoredTo(ctx context.Context) (at time.Time, err error) {
	result, err := s.Query(ctx, `SELECT restored_to FROM deployment WHERE id = 1`)
	return db.One(result, err, func(r db.Rows) (at time.Time, err error) { return at, r.Scan(db.Instant{To: &at}) })
}

// MarkRestored notes that the database is as it was at an earlier instant. Sessions
// that could be paid then are ended: they may have been paid since, under
// references that nobody knows any more, and must not be paid a second time. Where an attempt was open their time is over:
// it may have been refused since and another one paid, so that nothing follows once the gateway has said what became of it. Operators
// sign in anew and make their programs' tokens anew: whom somebody has put out since would be in again by an old cookie,
// link or token. Who has codes registers
// passkeys anew: the counters by which a copy is found out are older than the passkeys. Whoever has nothing else keeps
// them, and is not shut out. Days are counted anew, because rows that were loaded without triggers are not counted.
// Set-ups and their records get versions that no lost one had: a server that was left running knows those by heart, and
// somebody may be about to change what he read before the loss. That somebody has made sure of what a bank was sent counts
// for restores to earlier instants: where a wrong one was named, or a clock was ahead, it would count for this one too.
func (tx *Tx) MarkRestored(to time.Time) {
	tx.Then(`UPDATE deployment SET restored_to = $1, banks_restored_to = `+banksRestoredTo("$1")+` WHERE id = 1`, db.Micros(to))
	tx.Then(`DELETE FROM bank_resumptions WHERE restored_to >= $1`, db.Micros(to))
	tx.Then(`
		UPDATE sessions SET status = 'EXPIRED', holds_lead = FALSE, updated_at = $1
		WHERE status = 'PENDING' AND open_transaction_id IS NULL`, db.Micros(tx.At))
	tx.Then(`
		UPDATE sessions SET expires_at = $1, updated_at = $1
		WHERE status IN ('PENDING', 'AWAITING_VERIFICATION') AND expires_at > $1`, db.Micros(tx.At))
	tx.Then(`UPDATE tenants SET setup_version = setup_version + $1, version = version + $1`, db.Micros(tx.At))
	tx.Then(`UPDATE setup_records SET version = version + $1`, db.Micros(tx.At))
	tx.Then(`DELETE FROM operator_sessions`)
	tx.Then(`DELETE FROM operator_tickets`)
	tx.Then(`DELETE FROM operator_tokens`)
	tx.Then(`DELETE FROM operator_passkeys WHERE operator_id IN (SELECT id FROM operators WHERE totp_sealed <> '')`)
	tx.countAnew()
	tx.Audit(databaseDeed("database.restore", map[string]any{
		"as_of": to.UTC(), "ended": []string{"sign_ins", "links", "tokens", "passkeys_beside_codes", "open_sessions"},
	}))
}

// databaseDeed is something that was done to the whole.
func databaseDeed(action string, after any) Deed {
	return Deed{Action: action, ObjectType: "database", ObjectID: "whole", After: after}
}

// EndRecall notes that the gateways have been asked. What they said then is not all that becomes of the lost time: a
// return that is told later has a period tried again that may have been tried before.
func (tx *Tx) EndRecall() {
	tx.ForgetRestore()
	tx.Then(`UPDATE deployment SET recalled_at = $1 WHERE id = 1`, db.Micros(tx.At))
}

// ForgetRestore has everything go on, whether or not the gateways have been asked, and whatever they are still asked about. Banks
// cannot be: their accounts wait for ResumeBank.
func (tx *Tx) ForgetRestore() {
	tx.Then(`UPDATE deployment SET restored_to = NULL, recalled_at = NULL WHERE id = 1`)
	tx.Audit(databaseDeed("database.release", nil))
}

// ToRecall lists the subscriptions that have fallen due, from a position on.
func (s *Store) ToRecall(ctx context.Context, now time.Time, after Due, limit int) ([]Due, error) {
	result, err := s.Query(ctx, `
		SELECT tenant_id, id, due_at FROM subscriptions
		WHERE due_at IS NOT NULL AND due_at <= $1 AND (due_at, id) > ($2, $3) ORDER BY due_at, id LIMIT $4`,
		db.Micros(now), after.At.UnixMicro(), after.ID, limit)
	return db.Collect(result, err, scanDue)
}

// LastBilledPeriod is the last period of a subscription that the books have as taken in or collected, or as
// collected and come back; -1 where there is none.
func (t Tenant) LastBilledPeriod(ctx context.Context, s payment.Subscription) (int, error) {
	result, err := t.Query(ctx, `SELECT COALESCE(MAX(billing_period), -1) FROM transactions
		WHERE tenant_id = $1 AND order_id = $2 AND subscription_id = $3 AND type = 'sdd_rebill' AND status <> 'declined'`, s.OrderID, s.ID)
	return db.One(result, err, func(r db.Rows) (last int, err error) { return last, r.Scan(&last) })
}

// WaitingToRecall lists the subscriptions that wait for a collection or owe a period, due or not, from a position on, and those that
// were changed since the restore: the gateways' answers may have been broken off behind the one that did it.
func (s *Store) WaitingToRecall(ctx context.Context, after Due, limit int) ([]Due, error) {
	result, err := s.Query(ctx, `
		SELECT tenant_id, id, due_at FROM subscriptions
		WHERE status IN ('ACTIVE', 'PAST_DUE') AND (tenant_id, id) > ($1, $2)
			AND (open_transaction_id IS NOT NULL OR status = 'PAST_DUE' OR updated_at > (SELECT restored_to FROM deployment WHERE id = 1))
		ORDER BY tenant_id, id LIMIT $3`, after.TenantID, after.ID, limit)
	return db.Collect(result, err, scanDue)
}
