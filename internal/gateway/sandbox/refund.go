package sandbox

import (
	"context"
	"crypto/rand"
	"fmt"

	"sepad/internal/gateway"
	"sepad/internal/payment"
)

// Refund gives a payment back. It goes the way that the payment itself went:
// an account that answers late, or not at all, does so again; one whose
// payments settle later refunds later; and a closed account takes no money.
func (a *Adapter) Refund(ctx context.Context, r gateway.Refund) (payment.Outcome, error) {
	paid, found, err := a.ledger.Find(ctx, a.key(r.PaymentID))
	if err != nil {
		return payment.Outcome{}, fmt.Errorf("sandbox: looking up a payment: %w", err)
	}
	if !found || !paid.Collected() || r.AmountMinor > paid.AmountMinor || r.Currency != paid.Currency {
		return payment.Outcome{
			Verdict: payment.VerdictDeclined, Decline: gateway.DeclineFor("NARR", "No such payment was collected here."),
		}, nil
	}
	entry, inserted, err := a.ledger.Insert(ctx, a.newRefund(r, paid))
	if err != nil {
		return payment.Outcome{}, fmt.Errorf("sandbox: recording a refund: %w", err)
	}
	if inserted && entry.Outcome == TimeoutApproved {
		return payment.Outcome{}, a.giveUp(ctx, payment.Refund)
	}
	if inserted && entry.Outcome == Slow {
		if err := wait(ctx, payment.Refund, a.options.SlowFor); err != nil {
			return payment.Outcome{}, err
		}
	}
	return a.answer(entry), nil
}

func (a *Adapter) newRefund(r gateway.Refund, paid Entry) Entry {
	e := Entry{
		Key: a.key(r.MerchantTransactionID), Reference: "SBR-" + rand.Text()[:16],
		Outcome: paid.Outcome, State: StateApproved, Type: payment.Refund,
		AmountMinor: r.AmountMinor, Currency: r.Currency, MandateReference: paid.MandateReference,
		MerchantName: paid.MerchantName, ReceivedAt: r.At, DecidedAt: r.At,
	}
	switch paid.Outcome {
	case PendingApproved:
		e.State, e.SettlesAt = StatePending, r.At.Add(settlementDelay)
		e.NotifyAt = e.SettlesAt
	case RebillAccountClosed:
		e.State = StateDeclined
	}
	return e
}
