package checkout

import (
	"context"
	"errors"
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
	due := func(ctx context.Context, _ time.Time, limit int) ([]store.Due, error) {
		now, isSure, err := c.agreedNow(ctx)
		if err != nil || !isSure {
			return nil, err
		}
		return c.Store.LookupsDue(ctx, now, limit)
	}
	return c.work(ctx, c.now(), due, func(ctx context.Context, one store.Due, _ time.Time) error {
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
	left, err := c.leftOpen(ctx, startedAt, takeOverBatch)
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

// leftOpen gives payments that were open when a process started: those claimed
// since then are to be asked about later. Both instants are the database's.
func (c *Checkout) leftOpen(ctx context.Context, startedAt time.Time, limit int) ([]store.Due, error) {
	return c.Store.LookupsDue(ctx, startedAt.Add(c.silence()-time.Microsecond), limit)
}

// LeftOpen tells whether any payment that was open when a process started waits
// to be asked about. It is false once lookups have run at a time when all of them
// could be: what is still unknown then follows its schedule.
func (c *Checkout) LeftOpen(ctx context.Context, startedAt, askedAt time.Time) (bool, error) {
	if askedAt.After(startedAt.Add(c.silence())) {
		return false, nil
	}
	left, err := c.leftOpen(ctx, startedAt, 1)
	return len(left) > 0, err
}

func (c *Checkout) takeOver(ctx context.Context, due store.Due) error {
	left, err := c.Store.Tenant(due.TenantID).Transaction(ctx, due.ID)
	if err != nil {
		return err
	}
	setup, err := c.SetupOf(ctx, due.TenantID)
	if err != nil {
		return err
	}
	client, _, err := c.Account(setup, left.GatewayID)
	if err != nil || client.Kind().Real {
		return err
	}
	return c.lookUp(ctx, due)
}

// lookUp asks about one attempt. The next question's date is written before the
// gateway is asked, so that a crash delays the answer and two processes do not
// both ask.
func (c *Checkout) lookUp(ctx context.Context, due store.Due) error {
	d, err := c.debit(ctx, due.TenantID, due.ID)
	if err != nil || !d.Asked().InFlight() {
		return err
	}
	if err := c.postpone(ctx, d.Asked()); err != nil {
		return err
	}
	return c.ask(ctx, d)
}

// postpone takes the next wait of the schedule. Whoever finds that somebody else has taken it calls nobody.
func (c *Checkout) postpone(ctx context.Context, t *payment.Transaction) error {
	attempt := &t.Attempt
	wait := c.LookupSchedule[min(attempt.LookupCount, len(c.LookupSchedule)-1)]
	attempt.LookupCount++
	attempt.Silence = wait + c.GatewayTimeout
	isOverdue := c.now().Sub(t.UpdatedAt) > overdueAfter && attempt.LookupCount > len(c.LookupSchedule)
	err := c.Store.Write(ctx, t.UpdatedAt, func(tx *store.Tx) error {
		tx.PostponeLookup(*t)
		return nil
	})
	if isOverdue && err == nil {
		c.Logger.ErrorContext(ctx, "a payment's outcome is still unknown and needs a person",
			"transaction_id", t.ID, "merchant_transaction_id", t.MerchantTransactionID, "lookups", attempt.LookupCount)
	}
	return err
}

// errNoAnswer says that a gateway's answer is of no use.
var errNoAnswer = errors.New("checkout: no answer")

// statusOf asks a gateway what became of a payment. One that this process cannot
// call (its adapter is not known here, say) is as silent as one that is down: it
// must not hold up what is due at others.
func (c *Checkout) statusOf(ctx context.Context, setup *merchant.Setup, d payment.Debit, at time.Time) (payment.Outcome, error) {
	t := d.Asked()
	client, account, err := c.Account(setup, t.GatewayID)
	if err != nil {
		c.Logger.ErrorContext(ctx, "a gateway cannot be asked about its payments", "gateway_id", account.ID, "error", err)
		return payment.Outcome{}, err
	}
	outcome, err := client.Status(ctx, gateway.Lookup{
		MerchantTransactionID: t.MerchantTransactionID, GatewayReference: t.GatewayReference, Abandon: t.IsAbandoned(), At: at,
	})
	if err == nil && d.IsDeniedBy(outcome) {
		c.tellContradiction(ctx, d, outcome)
	}
	if err == nil && !d.IsAnsweredBy(outcome) {
		err = errNoAnswer
	}
	return outcome, err
}

// ask puts the question and settles by the answer. Without an answer the date
// that was written stands.
func (c *Checkout) ask(ctx context.Context, d payment.Debit) error {
	setup, err := c.SetupOf(ctx, d.Transaction.TenantID)
	if err != nil {
		return err
	}
	outcome, err := c.statusOf(ctx, setup, d, c.now())
	if err != nil {
		return nil //nolint:nilerr // without an answer the date that was written stands
	}
	_, err = c.settle(ctx, setup, d, outcome)
	return err
}
