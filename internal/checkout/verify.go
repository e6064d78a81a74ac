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

// Verify asks the gateway whether the payer has confirmed the mandate, and
// settles the payment by its answer. A reference given by the merchant takes
// the place of the one stored at submission.
func (c *Checkout) Verify(ctx context.Context, token, verificationReference string) (Result, error) {
	found, err := c.Store.SessionByToken(ctx, token)
	if err != nil {
		return Result{}, err
	}
	now := c.now()
	if err := found.Session.CheckVerifiable(now); err != nil {
		return Result{}, err
	}
	setup, err := c.Store.Setup(ctx, found.Session.TenantID, found.SetupVersion)
	if err != nil {
		return Result{}, err
	}
	claimed, err := c.claimVerify(ctx, found.Session, now)
	if err != nil {
		return Result{}, err
	}
	return c.askVerified(context.WithoutCancel(ctx), setup, claimed, verificationReference)
}

// claimVerify opens the question, so that of two calls at once one asks.
func (c *Checkout) claimVerify(ctx context.Context, s payment.Session, now time.Time) (payment.Debit, error) {
	stored, err := c.Store.Tenant(s.TenantID).DebitOf(ctx, s, *s.LastTransactionID)
	if err != nil {
		return payment.Debit{}, err
	}
	claimed, err := stored.BeginVerify(now)
	if err != nil {
		return payment.Debit{}, err
	}
	claimed.Transaction.Attempt.Silence = c.silence()
	return claimed, c.reopen(ctx, claimed)
}

// reopen writes down that the gateway is about to be asked.
func (c *Checkout) reopen(ctx context.Context, d payment.Debit) error {
	return c.Store.Write(ctx, d.Transaction.UpdatedAt, func(tx *store.Tx) error {
		tx.Reopen(d)
		return nil
	})
}

func (c *Checkout) askVerified(ctx context.Context, setup *merchant.Setup, d payment.Debit, reference string) (Result, error) {
	client, _, err := c.Account(setup, d.Session.GatewayID)
	if err != nil {
		return Result{}, err
	}
	if reference == "" {
		reference = d.Transaction.VerificationReference
	}
	outcome, err := client.Verify(ctx, gateway.Verification{
		MerchantTransactionID: d.Transaction.MerchantTransactionID, VerificationReference: reference, At: c.now(),
	})
	if errors.Is(err, gateway.ErrUnknownVerification) {
		bad := payment.Fields{"verification_id": "This is not the verification of the session's payment."}
		return c.release(ctx, setup, d, bad.Err())
	}
	if err != nil {
		return Result{}, c.askLater(ctx, client, d.Transaction)
	}
	switch outcome.Verdict {
	case payment.VerdictVerify:
		return c.release(ctx, setup, d, payment.Conflicting("The mandate has not been confirmed yet."))
	case payment.VerdictUnsent:
		return c.release(ctx, setup, d, &payment.Error{
			Kind:   payment.OutcomeUnknown,
			Detail: "The payment provider could not be reached. The verification can be tried again.",
		})
	}
	return c.settleAndShow(ctx, setup, d, outcome)
}

// release closes the question without an answer; the session goes on waiting.
func (c *Checkout) release(ctx context.Context, setup *merchant.Setup, d payment.Debit, why error) (Result, error) {
	if _, err := c.settle(ctx, setup, d, payment.Outcome{Verdict: payment.VerdictVerify}); err != nil {
		return Result{}, err
	}
	return Result{}, why
}
