package store

import (
	"context"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// DebitsByMerchantID finds those of many references of ours that there are.
func (t Tenant) DebitsByMerchantID(ctx context.Context, references []string) ([]payment.Debit, error) {
	return t.debits(ctx, "t.merchant_transaction_id", "", references)
}

// DebitsByGatewayReference finds those of many ids of a gateway that there
// are. One that two payments have finds neither.
func (t Tenant) DebitsByGatewayReference(ctx context.Context, gatewayID uuid.UUID, references []string) ([]payment.Debit, error) {
	return t.debits(ctx, "t.gateway_reference", " AND t.gateway_id = $2"+onlyReference, references, gatewayID)
}

// debits reads the payments in whose column one of the names stands.
func (t Tenant) debits(ctx context.Context, column, where string, names []string, more ...any) ([]payment.Debit, error) {
	all, err := findNamed(ctx, t, DebitQuery+where+" AND "+column, names, more, ScanDebit)
	if err != nil {
		return nil, err
	}
	return all, t.addSubscriptions(ctx, all)
}

// ChargebacksByMerchantID finds those of many chargebacks that there are.
func (t Tenant) ChargebacksByMerchantID(ctx context.Context, references []string) ([]payment.Chargeback, error) {
	return findNamed(ctx, t, `SELECT `+Chargebacks.List("")+` FROM chargebacks WHERE tenant_id = $1
		AND merchant_transaction_id`, references, nil, ScanChargeback)
}

// findNamed reads the rows that a query gives for names, as many at a time as a
// statement can name. The query's own arguments come before them.
func findNamed[N, T any](ctx context.Context, t Tenant, query string, names []N, more []any, scan func(db.Rows) (T, error)) ([]T, error) {
	var all []T
	for batch := range db.InBatches(names) {
		args := make([]any, 0, len(more)+len(batch))
		args = append(args, more...)
		for _, name := range batch {
			args = append(args, name)
		}
		result, err := t.Query(db.PlanAnew(ctx), query+" IN "+db.Placeholders(len(more)+2, 1, len(batch)), args...)
		found, err := db.Collect(result, err, scan)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// addSubscriptions fills in those that the payments are of.
func (t Tenant) addSubscriptions(ctx context.Context, all []payment.Debit) error {
	var ids []uuid.UUID
	found := map[uuid.UUID]*payment.Subscription{}
	for _, c := range all {
		if id := c.Transaction.SubscriptionID; id != nil && !has(found, *id) {
			found[*id] = nil
			ids = append(ids, *id)
		}
	}
	subscriptions, err := findNamed(ctx, t, `SELECT `+Subscriptions.List("")+` FROM subscriptions
		WHERE tenant_id = $1 AND id`, ids, nil, ScanSubscription)
	if err != nil {
		return err
	}
	for i := range subscriptions {
		found[subscriptions[i].ID] = &subscriptions[i]
	}
	for i := range all {
		if id := all[i].Transaction.SubscriptionID; id != nil {
			all[i].Subscription = found[*id]
		}
	}
	return nil
}

func has[K comparable, V any](in map[K]V, key K) bool {
	_, found := in[key]
	return found
}

// TakenChargeback is a chargeback with its effects and the events that tell of
// it. IsNew tells one that is recorded from one that finds its payment.
type TakenChargeback struct {
	payment.Change
	Events []EventRow
	IsNew  bool
}

// ApplyChargebacks writes chargebacks with their effects, in the order in which
// they were taken. Every row must still be as it was read; otherwise nothing is
// written and Write gives ErrStale.
//
// One goes the way of every change, in a single round trip. Of many, what each
// has is written together: the records and the events as fast as the engine
// loads rows, and the payments by what they were before. A record that somebody
// else has made meanwhile breaks a key, which is why no table stands between.
func (tx *Tx) ApplyChargebacks(tenantID uuid.UUID, taken []TakenChargeback) error {
	// One that proves a collection first changes more than what many share.
	var rest []TakenChargeback
	for _, c := range taken {
		if len(taken) == 1 || c.Before.Transaction.ID != uuid.Nil && !c.Before.Transaction.IsDecided() {
			tx.Apply(c.Change, c.Events)
		} else {
			rest = append(rest, c)
		}
	}
	if taken = rest; len(taken) == 0 {
		return nil
	}
	if err := tx.loadChargebacks(taken); err != nil {
		return err
	}
	if err := tx.moveTransactions(tenantID, taken); err != nil {
		return err
	}
	for _, c := range taken {
		if c.Before.Transaction.ID != uuid.Nil {
			tx.changeRest(c.Change)
		}
		if pause := c.Pause(tx.At); pause != nil {
			tx.PauseRebills(*pause)
		}
		if !c.IsNew {
			tx.putChargeback(*c.Chargeback)
		}
	}
	return tx.loadEvents(tenantID, taken)
}

func (tx *Tx) loadChargebacks(taken []TakenChargeback) error {
	var rows []db.BulkRow
	for _, c := range taken {
		if c.IsNew {
			rows = append(rows, db.ValueRow(Chargebacks.Values(c.Chargeback)))
		}
	}
	err := tx.Load("chargebacks", Chargebacks.Names(), rows)
	if db.IsKey(err, "chargebacks_merchant_transaction_id_key") {
		return ErrStale
	}
	return err
}

// moveTransactions takes the payments from their status to the next: all of
// those together that make the same step.
func (tx *Tx) moveTransactions(tenantID uuid.UUID, taken []TakenChargeback) error {
	type step struct{ from, to payment.TransactionStatus }
	steps := map[step][]any{}
	for _, c := range taken {
		if c.Before.Transaction.ID != uuid.Nil {
			made := step{c.Before.Transaction.Status, c.Transaction.Status}
			steps[made] = append(steps[made], c.Before.Transaction.ID)
		}
	}
	for made, ids := range steps {
		for batch := range db.InBatches(ids) {
			result, err := tx.Query(`
				UPDATE transactions SET status = $2, settle_due_at = NULL, updated_at = $3
				WHERE tenant_id = $1 AND status = $4 AND in_flight IS NULL AND id IN `+db.Placeholders(5, 1, len(batch))+`
				RETURNING id`, append([]any{tenantID, string(made.to), db.Micros(tx.At), string(made.from)}, batch...)...)
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

func (tx *Tx) loadEvents(tenantID uuid.UUID, taken []TakenChargeback) error {
	var rows []db.BulkRow
	for _, c := range taken {
		for _, e := range c.Events {
			rows = append(rows, db.ValueRow(tx.eventValues(tenantID, e)))
			tx.announceEvent(tenantID, e)
		}
	}
	return tx.Load("events", events.Names(), rows)
}
