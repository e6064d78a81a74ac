package checkout

import (
	"context"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
)

// debits are payments that are changed together, each finding what those before it
// have left behind. Orders and subscriptions stand apart: the payments of a
// subscription share them.
type debits struct {
	payments      map[uuid.UUID]payment.Debit
	orders        map[uuid.UUID]*payment.Order
	subscriptions map[uuid.UUID]*payment.Subscription
}

func newDebits() debits {
	return debits{map[uuid.UUID]payment.Debit{}, map[uuid.UUID]*payment.Order{}, map[uuid.UUID]*payment.Subscription{}}
}

// keep takes the present state of a payment.
func (d debits) keep(paid payment.Debit) {
	paid.Refund = nil
	d.payments[paid.Transaction.ID] = paid
	if paid.Order != nil {
		d.orders[paid.Order.ID] = paid.Order
	}
	if paid.Subscription != nil {
		d.subscriptions[paid.Subscription.ID] = paid.Subscription
	}
}

// present gives a payment as it stands now.
func (d debits) present(id uuid.UUID) payment.Debit {
	paid := d.payments[id]
	if paid.Order != nil {
		paid.Order = d.orders[paid.Order.ID]
	}
	if paid.Subscription != nil {
		paid.Subscription = d.subscriptions[paid.Subscription.ID]
	}
	return paid
}

// addSessions reads the sessions of payments whose answer is open: what comes
// closes them. Those that were taken in as pending have completed theirs.
func (d debits) addSessions(ctx context.Context, tenant store.Tenant) error {
	for id, paid := range d.payments {
		if t := paid.Transaction; t.SessionID == nil || !t.InFlight() && !t.AwaitsVerification() {
			continue
		}
		full, err := tenant.Debit(ctx, id)
		if err != nil {
			return err
		}
		d.payments[id] = full
	}
	return nil
}

// readDebits reads what transactions are about: payments, and for refunds the
// payments that they give back.
func readDebits(ctx context.Context, tenant store.Tenant, ids []uuid.UUID) (debits, map[uuid.UUID]payment.Transaction, error) {
	known, refunds := newDebits(), map[uuid.UUID]payment.Transaction{}
	for len(ids) > 0 {
		found, err := tenant.DebitsByID(ctx, ids)
		if err != nil {
			return known, nil, err
		}
		ids = nil
		for _, one := range found {
			paidID := one.Transaction.RefundOf
			if paidID == nil {
				known.keep(one)
				continue
			}
			refunds[one.Transaction.ID] = one.Transaction
			ids = append(ids, *paidID)
		}
	}
	return known, refunds, known.addSessions(ctx, tenant)
}
