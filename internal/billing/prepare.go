package billing

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"sepad/internal/gateway"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// planned is a gateway account that collects on days which it knows beforehand.
type planned struct {
	store.BankDue
	gateway.Planner
}

// planners gives the accounts of all tenants whose rebills are prepared.
func (b *Billing) planners(ctx context.Context) (all []planned, err error) {
	for _, adapter := range b.Checkout.Gateways.Batches() {
		accounts, err := b.Checkout.Store.AccountsAt(ctx, adapter)
		if err != nil {
			return nil, err
		}
		for _, account := range accounts {
			setup, err := b.Checkout.SetupOf(ctx, account.TenantID)
			if err != nil {
				return nil, err
			}
			if planner, plans := b.Checkout.Planner(setup, account.GatewayID); plans {
				all = append(all, planned{account, planner})
			}
		}
	}
	return all, nil
}

// prepare opens the rebills of which payers are to be told by an instant. They are
// claimed and handed in as those that are due: a gateway that plans takes them in
// for the day on which they are owed.
func (b *Billing) prepare(ctx context.Context, now time.Time) (done int, failed error) {
	accounts, err := b.planners(ctx)
	if err != nil {
		return 0, err
	}
	for _, account := range accounts {
		ahead := store.Ahead{TenantID: account.TenantID, GatewayID: account.GatewayID, Until: account.PreparesUntil(now)}
		prepared, err := b.runLanes(ctx, pick{
			read: func(tx *store.Tx, limit int, except []uuid.UUID) ([]store.DueSubscription, error) {
				return tx.SubscriptionsAhead(ahead, now, limit, except...)
			},
			until: ahead.Until,
		}, now)
		done += prepared
		failed = errors.Join(failed, err)
	}
	return done, failed
}

// NextPreparation is when, after an instant, rebills are to be prepared next, and
// false when none are.
func (b *Billing) NextPreparation(ctx context.Context, after time.Time) (next time.Time, found bool, err error) {
	accounts, err := b.planners(ctx)
	if err != nil {
		return next, false, err
	}
	for _, account := range accounts {
		var known payment.Date
		if !after.IsZero() {
			known = account.PreparesUntil(after)
		}
		billing, err := b.Checkout.Store.Tenant(account.TenantID).NextBillingAfter(ctx, account.GatewayID, known)
		if err != nil {
			return next, false, err
		}
		if billing.IsZero() {
			continue
		}
		if at := account.PreparesAt(billing); !found || at.Before(next) {
			next, found = at, true
		}
	}
	return next, found, nil
}
