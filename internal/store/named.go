package store

import (
	"context"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// DebitsByID finds those of many payments that there are.
func (t Tenant) DebitsByID(ctx context.Context, ids []uuid.UUID) ([]payment.Debit, error) {
	return debitsNamed(ctx, t, "t.id", "", ids)
}

// DebitsByMerchantID finds those of many references of ours that there are.
func (t Tenant) DebitsByMerchantID(ctx context.Context, references []string) ([]payment.Debit, error) {
	return debitsNamed(ctx, t, "t.merchant_transaction_id", "", references)
}

// DebitsByGatewayReference finds those of many ids of a gateway that there
// are. One that two payments have finds neither.
func (t Tenant) DebitsByGatewayReference(ctx context.Context, gatewayID uuid.UUID, references []string) ([]payment.Debit, error) {
	return debitsNamed(ctx, t, "t.gateway_reference", " AND t.gateway_id = $2"+onlyReference, references, gatewayID)
}

// debitsNamed reads the payments in whose column one of the names stands.
func debitsNamed[N any](ctx context.Context, t Tenant, column, where string, names []N, more ...any) ([]payment.Debit, error) {
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

// ChargebacksOf gives the chargebacks of many payments, by whatever names.
func (t Tenant) ChargebacksOf(ctx context.Context, transactionIDs []uuid.UUID) ([]payment.Chargeback, error) {
	return findNamed(ctx, t, `SELECT `+Chargebacks.List("")+` FROM chargebacks WHERE tenant_id = $1 AND transaction_id`, transactionIDs, nil, ScanChargeback)
}

// findNamed reads the rows that a query gives for names, as many at a time as a
// statement can name. The query's own arguments come before them.
func findNamed[N, T any](ctx context.Context, t Tenant, query string, names []N, more []any, scan func(db.Rows) (T, error)) ([]T, error) {
	var all []T
	for batch := range db.InLists(names) {
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
