package checkout

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/webhook"
)

// Report is what a file, or silence, says of a pending payment or refund.
type Report struct {
	TransactionID uuid.UUID
	Outcome       payment.Outcome
}

// SettleReported settles pending payments and refunds by what is reported of them:
// each by itself in what it leads to, all together in how they are read and
// written. Of each it says why it was refused, nil for what was taken in or known
// already. An error says that nothing was done.
func (c *Checkout) SettleReported(ctx context.Context, setup *merchant.Setup, reports []Report) (refused []error, err error) {
	return c.SettleReportedWith(ctx, setup, reports, nil)
}

// SettleReportedWith does the same, and writes something along with it, unless one is refused.
func (c *Checkout) SettleReportedWith(ctx context.Context, setup *merchant.Setup, reports []Report, along func(*store.Tx)) (refused []error, err error) {
	err = retry(func() error {
		refused, err = c.settleReported(ctx, setup, reports, along)
		return err
	})
	return refused, err
}

func (c *Checkout) settleReported(ctx context.Context, setup *merchant.Setup, reports []Report, along func(*store.Tx)) ([]error, error) {
	tenantID := setup.Tenant.ID
	ids := make([]uuid.UUID, len(reports))
	for i, report := range reports {
		ids[i] = report.TransactionID
	}
	known, refunds, err := readDebits(ctx, c.Store.Tenant(tenantID), ids)
	if err != nil {
		return nil, err
	}
	now := c.now()
	refused := make([]error, len(reports))
	var applied []store.Applied
	for i, report := range reports {
		debit := known.present(report.TransactionID)
		if refund, isRefund := refunds[report.TransactionID]; isRefund {
			debit = known.present(*refund.RefundOf)
			debit.Refund = &refund
		}
		change, err := c.hearReport(setup, debit, report.Outcome, now)
		if payment.KindOf(err) != 0 {
			refused[i] = err
			continue
		}
		if err != nil {
			return nil, err
		}
		if change.Transaction.ID == uuid.Nil {
			continue
		}
		known.keep(change.Debit)
		if change.Refund != nil {
			refunds[report.TransactionID] = *change.Refund
		}
		events, err := webhook.Rows(ctx, c.Store, setup, change)
		if err != nil {
			return nil, err
		}
		applied = append(applied, store.Applied{Change: change, Events: events})
	}
	isRefused := slices.ContainsFunc(refused, func(why error) bool { return why != nil })
	if err := c.writeReported(ctx, tenantID, now, applied, nil, unless(isRefused, along)); err != nil {
		return nil, err
	}
	for _, one := range applied {
		c.alert(ctx, one.Change, now)
	}
	return refused, nil
}

// writeReported writes what reports lead to, in one unit with what it rests on and what goes along.
func (c *Checkout) writeReported(ctx context.Context, tenantID uuid.UUID, now time.Time, applied []store.Applied,
	restsOn func(*store.Tx) error, along func(*store.Tx),
) error {
	if len(applied) == 0 && along == nil {
		return nil
	}
	return c.Store.Write(ctx, now, func(tx *store.Tx) error {
		if restsOn != nil {
			if err := restsOn(tx); err != nil {
				return err
			}
		}
		if err := tx.ApplyAll(tenantID, applied); err != nil || along == nil {
			return err
		}
		along(tx)
		return nil
	})
}

// unless is what goes along, nothing where it must not.
func unless(mustNot bool, along func(*store.Tx)) func(*store.Tx) {
	if mustNot {
		return nil
	}
	return along
}

// hearReport is what an outcome makes of a payment that was found by its own id, so
// that its account and its amount are not in doubt; an empty change for no news.
func (c *Checkout) hearReport(setup *merchant.Setup, known payment.Debit, o payment.Outcome, now time.Time) (payment.Change, error) {
	if known.Transaction.ID == uuid.Nil {
		return payment.Change{}, store.ErrNoTransaction
	}
	changes, err := known.Hear(o)
	if err != nil || !changes {
		return payment.Change{}, err
	}
	return known.Settle(o, c.policy(setup, known.Subscription), now)
}
