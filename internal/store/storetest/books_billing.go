package storetest

import (
	"database/sql"
	"iter"
	"maps"
	"testing"
	"time"

	"sepad/internal/payment"
)

// BillingRules are what an operator decides about billing, and by whose hand
// subscriptions have ended: nothing in the books tells that.
type BillingRules struct {
	Dunning           payment.Dunning
	KeepSubscriptions bool
	CancelledByHand   map[string]bool // by id
}

// BookedSubscription is a subscription with everything that was collected for it.
type BookedSubscription struct {
	Tenant, ID                string
	Order, Session            string
	Status                    payment.SubscriptionStatus
	Frequency                 payment.BillingFrequency
	AmountMinor, RevenueMinor int64
	Anchor, Next, TrialEnd    payment.Date
	StartedAt, LastBilledAt   time.Time
	CancelledAt               time.Time
	MandateUsedAt, DueAt      time.Time
	Successful, Failed        int
	Period, Tries             int
	Open                      string // the id of a transaction, "" for none
	Owed                      string // periods whose money came back
	CancelReason              payment.CancelReason
	CancelCode                string
	Sequence                  payment.SequenceType

	First   *BookedTransaction
	Rebills []*BookedTransaction // in the order in which they were made
}

// BookedChargeback is what was taken back.
type BookedChargeback struct {
	ID, Code    string
	AmountMinor int64
	CreatedAt   time.Time
}

func (b *Books) readSubscriptions(t testing.TB, db *sql.DB) {
	t.Helper()
	each(t, db, `SELECT tenant_id, id, session_id, order_id, status, billing_frequency, amount_minor, revenue_minor,
		billing_anchor_date, next_billing_date, trial_end_date, started_at, last_billed_at, cancelled_at, mandate_used_at,
		due_at, successful_count, failed_count, period, period_tries, open_transaction_id, sequence_type,
		owed_periods, cancel_reason, cancel_code FROM subscriptions`, func(r *sql.Rows) error {
		u := &BookedSubscription{}
		var open, anchor, next, trial sql.NullString
		var started, billed, cancelled, used, due sql.NullInt64
		err := r.Scan(&u.Tenant, &u.ID, &u.Session, &u.Order, &u.Status, &u.Frequency, &u.AmountMinor, &u.RevenueMinor,
			&anchor, &next, &trial, &started, &billed, &cancelled, &used,
			&due, &u.Successful, &u.Failed, &u.Period, &u.Tries, &open, &u.Sequence,
			&u.Owed, &u.CancelReason, &u.CancelCode)
		u.Anchor, u.Next, u.TrialEnd = dateOf(anchor), dateOf(next), dateOf(trial)
		u.StartedAt, u.LastBilledAt, u.CancelledAt = instantOf(started), instantOf(billed), instantOf(cancelled)
		u.MandateUsedAt, u.DueAt, u.Open = instantOf(used), instantOf(due), open.String
		b.Subscriptions[u.ID] = u
		if s := b.Sessions[u.Session]; s != nil {
			s.Subscriptions = append(s.Subscriptions, u)
		}
		return err
	})
}

// dateOf reads a day as it is kept; what is none, or cannot be read, is none.
func dateOf(text sql.NullString) payment.Date {
	day, err := payment.ParseDate(text.String)
	if err != nil {
		return payment.Date{}
	}
	return day
}

func (b *Books) readChargebacks(t testing.TB, db *sql.DB) {
	t.Helper()
	each(t, db, `SELECT id, transaction_id, amount_minor, reason_code, created_at FROM chargebacks WHERE transaction_id IS NOT NULL`, func(r *sql.Rows) error {
		var c BookedChargeback
		var transaction string
		var created sql.NullInt64
		err := r.Scan(&c.ID, &transaction, &c.AmountMinor, &c.Code, &created)
		c.CreatedAt = instantOf(created)
		b.Chargebacks[transaction] = c
		return err
	})
}

// all gives every transaction: attempts, rebills and refunds.
func (b *Books) all() iter.Seq[*BookedTransaction] {
	return func(yield func(*BookedTransaction) bool) {
		for _, kind := range []map[string]*BookedTransaction{b.Transactions, b.Rebills, b.Refunds} {
			for x := range maps.Values(kind) {
				if !yield(x) {
					return
				}
			}
		}
	}
}

// OpenRebills are the rebills and refunds whose outcome is outstanding.
func (b *Books) OpenRebills() (ids []string) {
	for x := range b.all() {
		if x.Session == "" && x.Phase != payment.PhaseNone {
			ids = append(ids, x.ID)
		}
	}
	return ids
}
