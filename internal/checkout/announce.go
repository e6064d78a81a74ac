package checkout

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// Planner is how a gateway account plans its collections, false for one that does
// not, or that cannot be called.
func (c *Checkout) Planner(setup *merchant.Setup, gatewayID uuid.UUID) (gateway.Planner, bool) {
	client, _, err := c.Account(setup, gatewayID)
	if err != nil {
		return nil, false
	}
	return client.Planner()
}

// planned adds to what a gateway says of a payment that it has taken in how it will
// be collected, as long as nobody was told.
func (c *Checkout) planned(setup *merchant.Setup, d payment.Debit, o payment.Outcome, now time.Time) payment.Outcome {
	if o.Verdict != payment.VerdictPending || d.Refund != nil || !d.Transaction.DueDate.IsZero() {
		return o
	}
	if planner, plans := c.Planner(setup, d.Transaction.GatewayID); plans {
		o.Plan = planner.Plan(setup.Tenant, now, d.OwedFrom())
	}
	return o
}

// Redate tells of another day on which a payment will be collected than was told.
// Told before, it is not told again.
func (c *Checkout) Redate(ctx context.Context, setup *merchant.Setup, transactionID uuid.UUID, due payment.Date) error {
	return retry(func() error {
		now := c.now()
		known, err := c.debit(ctx, setup.Tenant.ID, transactionID)
		if err != nil || known.Transaction.DueDate == due {
			return err
		}
		planner, plans := c.Planner(setup, known.Transaction.GatewayID)
		if !plans {
			return fmt.Errorf("checkout: nobody plans the collection of %s", transactionID)
		}
		plan := planner.Plan(setup.Tenant, now, payment.Date{})
		plan.DueDate = due
		return c.apply(ctx, setup, known.Move(plan, now), now)
	})
}

// WithdrawEnded takes rebills back that were announced and are in no bank's hands,
// and whose subscriptions are not billed any more. It says how many.
func (c *Checkout) WithdrawEnded(ctx context.Context, now time.Time) (int, error) {
	ended := func(ctx context.Context, _ time.Time, limit int) ([]store.Due, error) {
		return c.Store.CollectionsEnded(ctx, limit)
	}
	return c.work(ctx, now, ended, c.withdraw)
}

func (c *Checkout) withdraw(ctx context.Context, due store.Due, now time.Time) error {
	setup, err := c.SetupOf(ctx, due.TenantID)
	if err != nil {
		return err
	}
	known, err := c.debit(ctx, due.TenantID, due.ID)
	if err != nil {
		return err
	}
	withdrawn, err := known.Withdraw(now)
	if err != nil {
		return err
	}
	return c.apply(ctx, setup, withdrawn, now)
}
