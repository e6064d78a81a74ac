package checkout

import (
	"context"
	"time"

	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// overdueAfter is when an outcome that is still unknown needs a person.
const overdueAfter = 24 * time.Hour

// LookupJob wakes the search for unknown outcomes. What is to be looked up
// stands in the rows themselves, so that it carries nothing.
type LookupJob struct{}

// Kind names the job in the queue.
func (LookupJob) Kind() string { return "lookup_unknown_outcomes" }

// RunLookups asks the gateways about every attempt whose answer is overdue, and
// says how many were asked about.
func (c *Checkout) RunLookups(ctx context.Context) (int, error) {
	return c.work(ctx, c.Real.Now(), c.Store.LookupsDue, func(ctx context.Context, one store.Due, _ time.Time) error {
		return c.lookUp(ctx, one)
	})
}

// takeOverBatch bounds what a start asks about at once; the rest keeps its date.
const takeOverBatch = 1000

// TakeOver asks at once about the payments that an earlier server left open,
// where this process is alone on its database: the one before it is surely dead
// and sends nothing any more. Payments claimed since this one started are its own
// and left alone, and so are those to a gateway across a network: what the dead
// server has sent may still arrive there.
func (c *Checkout) TakeOver(ctx context.Context, startedAt time.Time) error {
	if !c.Store.ServedAlone() {
		return nil
	}
	left, err := c.Store.LookupsDue(ctx, startedAt.Add(c.silence()-time.Microsecond), takeOverBatch)
	if err != nil {
		return err
	}
	for _, one := range left {
		if err := c.takeOver(ctx, one); err != nil && !overtaken(err) {
			return err
		}
	}
	return nil
}

func (c *Checkout) takeOver(ctx context.Context, due store.Due) error {
	left, err := c.Store.Tenant(due.TenantID).Transaction(ctx, due.ID)
	if err != nil {
		return err
	}
	setup, err := c.setupOf(ctx, due.TenantID)
	if err != nil {
		return err
	}
	client, _, err := c.account(setup, left.GatewayID)
	if err != nil || client.Kind().Real {
		return err
	}
	return c.lookUp(ctx, due)
}

// lookUp asks about one attempt. The next question's date is written before the
// gateway is asked, so that a crash delays the answer and two processes do not
// both ask.
func (c *Checkout) lookUp(ctx context.Context, due store.Due) error {
	if due.IsRefund {
		return c.lookUpRefund(ctx, due)
	}
	p, err := c.Store.Tenant(due.TenantID).Purchase(ctx, due.ID)
	if err != nil {
		return err
	}
	if p.Transaction.Attempt.Phase == payment.PhaseNone {
		return nil
	}
	if err := c.postpone(ctx, &p); err != nil {
		return err
	}
	return c.ask(ctx, p)
}

// postpone takes the next wait of the schedule.
func (c *Checkout) postpone(ctx context.Context, p *payment.Purchase) error {
	attempt := &p.Transaction.Attempt
	wait := c.LookupSchedule[min(attempt.LookupCount, len(c.LookupSchedule)-1)]
	realNow := c.Real.Now()
	attempt.LookupCount++
	attempt.NextLookupAt = realNow.Add(wait + c.GatewayTimeout)
	if age := c.now().Sub(p.Transaction.UpdatedAt); age > overdueAfter && attempt.LookupCount > len(c.LookupSchedule) {
		c.Logger.ErrorContext(ctx, "a payment's outcome is still unknown and needs a person",
			"transaction_id", p.Transaction.ID, "merchant_transaction_id", p.Transaction.MerchantTransactionID, "lookups", attempt.LookupCount)
	}
	return c.Store.Write(ctx, p.Transaction.UpdatedAt, func(tx *store.Tx) error {
		tx.PostponeLookup(p.Transaction)
		return nil
	})
}

// statusOf asks a gateway what became of a payment. One that this process cannot
// call (its adapter is not known here, say) is as silent as one that is down: it
// must not hold up what is due at others.
func (c *Checkout) statusOf(ctx context.Context, setup *merchant.Setup, p payment.Purchase, at time.Time) (payment.Outcome, error) {
	client, account, err := c.account(setup, p.Transaction.GatewayID)
	if err != nil {
		c.Logger.ErrorContext(ctx, "a gateway cannot be asked about its payments", "gateway_id", account.ID, "error", err)
		return payment.Outcome{}, err
	}
	return client.Status(ctx, gateway.Lookup{
		MerchantTransactionID: p.Transaction.MerchantTransactionID, GatewayReference: p.Transaction.GatewayReference,
		Abandon: p.Transaction.Attempt.Phase == payment.PhaseExpire, At: at,
	})
}

// ask puts the question and settles by the answer. Without an answer the date
// that was written stands.
func (c *Checkout) ask(ctx context.Context, p payment.Purchase) error {
	setup, err := c.setupOf(ctx, p.Session.TenantID)
	if err != nil {
		return err
	}
	outcome, err := c.statusOf(ctx, setup, p, c.now())
	if err != nil {
		return nil
	}
	_, err = c.record(ctx, setup, p, outcome)
	return err
}
