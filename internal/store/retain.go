package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
)

// Forgetting goes in small steps, each a unit of its own: a step finds its rows in
// the order of an index, passes over those that another unit has taken, and says how
// many it has removed. Which rows are still needed is decided in its statement.

// forgottenSession is a session that was removed.
type forgottenSession struct{ tenantID, id, leadID uuid.UUID }

// ForgetSessions removes sessions that ended before an instant and that nobody tried
// to pay, with leads that nothing else is known of. Both go in one unit: a lead whose
// sessions have gone is never come upon again. Nor are events about these, which may be
// kept for longer: payload takes the person out of their text.
func (s *Store) ForgetSessions(ctx context.Context, now, before time.Time, limit int, payload func(string) (string, error)) (int, error) {
	var gone []forgottenSession
	err := s.Write(ctx, now, func(tx *Tx) error {
		result, err := tx.Query(forgetSessions(tx.SkipLocked("l")), db.Micros(before), limit)
		gone, err = db.Collect(result, err, func(r db.Rows) (f forgottenSession, err error) { return f, r.Scan(&f.tenantID, &f.id, &f.leadID) })
		if err != nil {
			return err
		}
		for _, f := range gone {
			tx.Then(`DELETE FROM leads WHERE tenant_id = $1 AND id = $2 AND erase_due_at IS NULL
				AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.tenant_id = $1 AND s.lead_id = $2)`, f.tenantID, f.leadID)
		}
		return tx.forgetInEvents(gone, payload)
	})
	if err != nil {
		return 0, err
	}
	return len(gone), nil
}

// forgetInEvents takes whoever sessions were of out of the events about them, and out of
// what receivers have answered to these.
func (tx *Tx) forgetInEvents(gone []forgottenSession, payload func(string) (string, error)) error {
	persons := map[uuid.UUID]*Person{} // all of a tenant as one
	for _, f := range gone {
		if persons[f.tenantID] == nil {
			persons[f.tenantID] = &Person{TenantID: f.tenantID, rows: map[string][]uuid.UUID{}}
		}
		of := persons[f.tenantID].rows
		of["sessions"] = append(of["sessions"], f.id)
	}
	for _, p := range persons {
		if err := p.find(personalTable("events"), tx.Query); err != nil {
			return err
		}
		if err := tx.rewriteEvents(p, payload); err != nil {
			return err
		}
		tx.clear(p, personalTable("webhook_attempts"), time.Time{})
	}
	return nil
}

// forgetSessions takes the leads first, as whoever makes a session or erases a person
// does. Who buys at this moment is passed over, with all sessions from before.
func forgetSessions(lock string) string {
	return `DELETE FROM sessions WHERE (tenant_id, id) IN (
			SELECT s.tenant_id, s.id FROM sessions s JOIN leads l ON l.tenant_id = s.tenant_id AND l.id = s.lead_id
			WHERE s.last_transaction_id IS NULL AND s.status = 'EXPIRED' AND s.expires_at < $1
			ORDER BY s.expires_at LIMIT $2` + lock + `)
		RETURNING tenant_id, id, lead_id`
}

// Past is an instant as the service's clock shows it, and the real one: ids are made
// by the latter.
type Past struct{ Service, Real time.Time }

// forgetEvents leaves what is still to be delivered.
var forgetEvents = `DELETE FROM events WHERE tenant_id = $1 AND id IN (
		SELECT id FROM events e WHERE tenant_id = $1 AND id < $2 AND created_at < $3
			AND (delivery_status <> 'pending' OR webhook_profile_id IS NULL) AND NOT ` + EventInLine("e") + `
		ORDER BY id LIMIT $4)
	RETURNING id`

// ForgetEvents removes events from before an instant that were delivered, have
// failed or go nowhere, with the log of their attempts.
func (s *Store) ForgetEvents(ctx context.Context, tenantID uuid.UUID, now time.Time, before Past, limit int) (gone int, err error) {
	err = s.Write(ctx, now, func(tx *Tx) error {
		result, err := tx.Query(forgetEvents, tenantID, firstID(before.Real), db.Micros(before.Service), limit)
		ids, err := db.Collect(result, err, scanID)
		if err != nil {
			return err
		}
		gone = len(ids)
		for batch := range db.InBatches(asArgs(ids)) {
			tx.Then(`DELETE FROM webhook_attempts WHERE tenant_id = $1 AND event_id IN `+db.Placeholders(2, 1, len(batch)),
				append([]any{tenantID}, batch...)...)
		}
		return nil
	})
	return gone, err
}

const forgetAttempts = `DELETE FROM webhook_attempts WHERE tenant_id = $1 AND (event_id, id) IN (
		SELECT event_id, id FROM webhook_attempts WHERE tenant_id = $1 AND event_id < $2 AND attempted_at < $3
		ORDER BY event_id, id LIMIT $4)
	RETURNING id`

// ForgetAttempts removes attempts to deliver events that were made before an instant
// of real time.
func (s *Store) ForgetAttempts(ctx context.Context, tenantID uuid.UUID, now, before time.Time, limit int) (int, error) {
	return s.forget(ctx, now, forgetAttempts, tenantID, firstID(before), db.Micros(before), limit)
}

// forget runs a statement that removes rows and gives one value for each.
func (s *Store) forget(ctx context.Context, now time.Time, statement string, args ...any) (gone int, err error) {
	err = s.Write(ctx, now, func(tx *Tx) error {
		result, err := tx.Query(statement, args...)
		ids, err := db.Collect(result, err, scanID)
		gone = len(ids)
		return err
	})
	return gone, err
}

// oldEvidence reads agreements from before an instant with whether they are needed:
// a mandate under which anything was collected since, or can still be, is disputed
// for thirteen months more. What is collected under one that a payer gave later belongs to the
// order that the subscription began with.
const oldEvidence = `
	SELECT a.transaction_id, EXISTS (
			SELECT 1 FROM orders o JOIN transactions x ON x.tenant_id = o.tenant_id AND x.order_id = o.id
			WHERE o.tenant_id = a.tenant_id AND o.session_id = a.session_id
				AND (x.created_at >= $3 OR x.status = 'pending' OR x.in_flight IS NOT NULL OR x.refunding_minor > 0))
		OR EXISTS (
			SELECT 1 FROM orders o JOIN subscriptions u ON u.tenant_id = o.tenant_id AND u.order_id = o.id
			WHERE o.tenant_id = a.tenant_id AND o.session_id = a.session_id AND (u.status <> 'CANCELLED' OR u.mandate_used_at >= $3))
		OR EXISTS (
			SELECT 1 FROM sessions s JOIN subscriptions u ON u.tenant_id = s.tenant_id AND u.id = s.renews_subscription_id
			WHERE s.tenant_id = a.tenant_id AND s.id = a.session_id AND (
				u.mandate_session_id = s.id AND (u.status <> 'CANCELLED' OR u.mandate_used_at >= $3)
				OR EXISTS (SELECT 1 FROM transactions x
					WHERE x.tenant_id = u.tenant_id AND x.order_id = u.order_id AND x.mandate_reference = s.mandate_reference
						AND (x.created_at >= $3 OR x.status = 'pending' OR x.in_flight IS NOT NULL OR x.refunding_minor > 0))))
	FROM mandate_acceptances a
	WHERE a.tenant_id = $1 AND a.transaction_id > $4 AND a.transaction_id < $2 AND a.accepted_at < $3
	ORDER BY a.transaction_id LIMIT $5`

// ForgetEvidence looks at agreements from before an instant, beginning after one, and
// removes those whose mandates nobody can use or dispute any more. It gives the last
// that it has looked at, the nil id when there are no more.
func (s *Store) ForgetEvidence(ctx context.Context, tenantID uuid.UUID, now time.Time, before Past, after uuid.UUID, limit int) (gone int, last uuid.UUID, err error) {
	type agreement struct {
		id       uuid.UUID
		isNeeded bool
	}
	result, err := s.Query(ctx, oldEvidence, tenantID, firstID(before.Real), db.Micros(before.Service), after, limit)
	all, err := db.Collect(result, err, func(r db.Rows) (a agreement, err error) { return a, r.Scan(&a.id, &a.isNeeded) })
	if err != nil {
		return 0, uuid.Nil, err
	}
	var over []any
	for _, a := range all {
		if !a.isNeeded {
			over = append(over, a.id)
		}
	}
	if len(all) == limit {
		last = all[limit-1].id
	}
	return len(over), last, s.Write(ctx, now, func(tx *Tx) error {
		for batch := range db.InBatches(over) {
			tx.Then(`DELETE FROM mandate_acceptances WHERE tenant_id = $1 AND transaction_id IN `+db.Placeholders(2, 1, len(batch)),
				append([]any{tenantID}, batch...)...)
		}
		return nil
	})
}

const (
	// forgetBankParts leaves files that have not left the house.
	forgetBankParts = `DELETE FROM bank_file_parts WHERE tenant_id = $1 AND id IN (
			SELECT p.id FROM bank_file_parts p JOIN bank_files f ON f.tenant_id = p.tenant_id AND f.id = p.file_id
			WHERE p.tenant_id = $1 AND p.id < $2 AND f.created_at < $3 AND f.state NOT IN ('open', 'closed', 'written', 'sending')
			ORDER BY p.id LIMIT $4)
		RETURNING id`
	forgetBankAnswerParts = `DELETE FROM bank_statement_parts WHERE tenant_id = $1 AND id IN (
			SELECT p.id FROM bank_statement_parts p JOIN bank_statements s ON s.tenant_id = p.tenant_id AND s.id = p.statement_id
			WHERE p.tenant_id = $1 AND p.id < $2 AND s.created_at < $3 ORDER BY p.id LIMIT $4)
		RETURNING id`
	// What was kept whole is from an older version.
	forgetBankAnswers = `UPDATE bank_statements SET content_sealed = '' WHERE tenant_id = $1 AND id IN (
			SELECT id FROM bank_statements WHERE tenant_id = $1 AND id < $2 AND created_at < $3 AND content_sealed <> ''
			ORDER BY id LIMIT $4)
		RETURNING id`
)

// ForgetBankFiles removes the bytes of files that were exchanged with banks before an
// instant. That there were such files, and what became of their payments, stays.
func (s *Store) ForgetBankFiles(ctx context.Context, tenantID uuid.UUID, now time.Time, before Past, limit int) (gone int, err error) {
	for _, statement := range []string{forgetBankParts, forgetBankAnswerParts, forgetBankAnswers} {
		some, err := s.forget(ctx, now, statement, tenantID, firstID(before.Real), db.Micros(before.Service), limit)
		if err != nil {
			return gone, err
		}
		gone = max(gone, some)
	}
	return gone, nil
}
