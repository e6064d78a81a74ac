package store

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// Applied is a change with the events that tell of it. IsNew tells a chargeback
// that is recorded from one that finds its payment.
type Applied struct {
	payment.Change
	Events []EventRow
	IsNew  bool
}

// isPlain tells a change that many can make together: a payment takes a step, with
// whatever hangs on it, a chargeback without a payment is recorded, or what the bank takes for one.
func (c *Applied) isPlain() bool {
	before, after := c.Before.Transaction, c.Transaction
	if before.ID == uuid.Nil {
		return true
	}
	if c.Refund != nil || c.Session != nil && *c.Session != *c.Before.Session {
		return false
	}
	before.Status, before.SettleDueAt, before.UpdatedAt = after.Status, after.SettleDueAt, after.UpdatedAt
	return before == after && after.SettleDueAt.IsZero() && after.Attempt.Phase == ""
}

// ApplyAll writes changes, those of one purchase in the order in which they were
// decided on. Every row must still be as it was read; otherwise nothing is written
// and Write gives ErrStale. Rows are taken in one order, whatever the order of the
// changes is, so that units which have some in common wait for each other and never
// crosswise: payments, orders, subscriptions, chargebacks, as for one change.
//
// One goes the way of every change, in a single round trip. Of many, what each
// has is written together: chargebacks and events as fast as the engine loads
// rows, payments and orders by the step that they make. A chargeback that somebody
// else has recorded meanwhile breaks a key, which is why no table stands between.
func (tx *Tx) ApplyAll(tenantID uuid.UUID, changes []Applied) error {
	var plain []Applied
	for _, c := range slices.SortedStableFunc(slices.Values(changes), byPurchase) {
		if len(changes) == 1 || !c.isPlain() {
			tx.Apply(c.Change, c.Events)
		} else {
			plain = append(plain, c)
		}
	}
	if len(plain) == 0 {
		return nil
	}
	for _, c := range plain {
		tx.requireUnrecorded(c.Change)
	}
	if err := tx.stepTogether(tenantID, plain); err != nil {
		return err
	}
	if err := tx.loadChargebacks(plain); err != nil {
		return err
	}
	for _, c := range plain {
		if pause := c.Pause(tx.At); pause != nil {
			tx.PauseRebills(*pause)
		}
		if c.Chargeback != nil && !c.IsNew {
			tx.putChargeback(*c.Chargeback)
		}
		if c.Fee != nil {
			tx.raiseFee(*c.Fee)
		}
	}
	return tx.loadEvents(tenantID, plain)
}

// requireUnrecorded is for the chargeback of a payment that stays as it is, since a file has brought it in as charged back: there is
// no step that only one of two could take. The first statement has whoever else would record one wait, and only a
// statement of its own sees what was written meanwhile.
func (tx *Tx) requireUnrecorded(c payment.Change) {
	if c.Before.Transaction.ID != uuid.Nil || c.Chargeback == nil || c.Chargeback.TransactionID == nil {
		return
	}
	for _, rests := range []string{``, ` AND NOT EXISTS (SELECT 1 FROM chargebacks WHERE tenant_id = $1 AND transaction_id = $2)`} {
		tx.Require(ErrStale, `UPDATE transactions SET status = status WHERE tenant_id = $1 AND id = $2 AND status = 'charged_back'`+rests,
			c.Chargeback.TenantID, *c.Chargeback.TransactionID)
	}
}

// purchase is what a change is about: what hangs together has the same.
func (c *Applied) purchase() uuid.UUID {
	switch {
	case c.Subscription != nil:
		return c.Subscription.ID
	case c.Order != nil:
		return c.Order.ID
	case c.Transaction.ID != uuid.Nil:
		return c.Transaction.ID
	case c.Chargeback != nil && c.Chargeback.TransactionID != nil:
		return *c.Chargeback.TransactionID
	case c.Fee != nil:
		return c.Fee.ID
	default:
		return uuid.Nil
	}
}

func byPurchase(a, b Applied) int {
	first, second := a.purchase(), b.purchase()
	return bytes.Compare(first[:], second[:])
}

// byName puts chargebacks in the order of the key that two units may both want to write.
func byName(a, b Applied) int {
	return strings.Compare(a.Chargeback.MerchantTransactionID, b.Chargeback.MerchantTransactionID)
}

func (tx *Tx) loadChargebacks(changes []Applied) error {
	isKnown := func(c Applied) bool { return !c.IsNew }
	recorded := slices.DeleteFunc(slices.Clone(changes), isKnown)
	slices.SortFunc(recorded, byName)
	rows := make([]db.BulkRow, len(recorded))
	for i := range recorded {
		rows[i] = db.ValueRow(Chargebacks.Values(recorded[i].Chargeback))
	}
	err := tx.Load("chargebacks", Chargebacks.Names(), rows)
	if db.IsKey(err, "chargebacks_merchant_transaction_id_key") {
		return ErrStale
	}
	return err
}

// stepTogether takes payments and orders from their status to the next: all of
// those together that make the same step. An order that several of the changes
// are about, and subscriptions, go one change after the other.
func (tx *Tx) stepTogether(tenantID uuid.UUID, changes []Applied) error {
	orders := map[uuid.UUID]int{}
	for _, c := range changes {
		if c.Order != nil {
			orders[c.Order.ID]++
		}
	}
	payments, purchases := steps{}, steps{}
	for i := range changes {
		c := &changes[i]
		if c.Before.Transaction.ID == uuid.Nil {
			continue
		}
		payments.add(string(c.Before.Transaction.Status), string(c.Transaction.Status), c.Transaction.ID)
		if c.Order != nil && orders[c.Order.ID] == 1 {
			purchases.add(string(c.Before.Order.Status), string(c.Order.Status), c.Order.ID)
			c.Before.Order = c.Order
		}
	}
	err := tx.takeSteps(payments, `UPDATE transactions SET status = $2, settle_due_at = NULL, updated_at = $3
		WHERE tenant_id = $1 AND status = $4 AND in_flight IS NULL AND id IN `, tenantID)
	if err != nil {
		return err
	}
	err = tx.takeSteps(purchases, `UPDATE orders SET status = $2, updated_at = $3 WHERE tenant_id = $1 AND status = $4 AND id IN `, tenantID)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if c.Before.Transaction.ID != uuid.Nil {
			tx.changeRest(c.Change)
		}
	}
	return nil
}

// step is from one status to another; steps are who makes which.
type (
	step  struct{ from, to string }
	steps map[step][]uuid.UUID
)

func (s steps) add(from, to string, id uuid.UUID) {
	if from != to {
		made := step{from, to}
		s[made] = append(s[made], id)
	}
}

// takeSteps has rows take their steps, all of them or none.
func (tx *Tx) takeSteps(all steps, update string, tenantID uuid.UUID) error {
	inOrder := func(a, b step) int { return cmp.Or(strings.Compare(a.from, b.from), strings.Compare(a.to, b.to)) }
	for _, made := range slices.SortedFunc(maps.Keys(all), inOrder) {
		ids := all[made]
		slices.SortFunc(ids, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
		for batch := range db.InLists(ids) {
			args := []any{tenantID, made.to, db.Micros(tx.At), made.from}
			for _, id := range batch {
				args = append(args, id)
			}
			result, err := tx.Query(update+db.Placeholders(5, 1, len(batch))+` RETURNING id`, args...)
			moved, err := db.Collect(result, err, func(r db.Rows) (id uuid.UUID, err error) { return id, r.Scan(&id) })
			if err != nil {
				return err
			}
			if len(moved) < len(batch) {
				return ErrStale
			}
		}
	}
	return nil
}

func (tx *Tx) loadEvents(tenantID uuid.UUID, changes []Applied) error {
	var rows, places []db.BulkRow
	for _, c := range changes {
		for _, e := range c.Events {
			rows = append(rows, db.ValueRow(tx.eventValues(tenantID, e)))
			if tx.linesUp(e) {
				places = append(places, db.ValueRow(tx.lineValues(tenantID, e)))
			}
			tx.announceEvent(tenantID, e)
		}
	}
	if err := tx.Load("events", events.Names(), rows); err != nil {
		return err
	}
	return tx.Load("events_in_line", eventsInLine.Names(), places)
}
