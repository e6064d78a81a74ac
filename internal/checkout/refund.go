package checkout

import (
	"cmp"
	"context"
	"errors"

	"github.com/google/uuid"

	"sepad/internal/clock"
	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
)

var (
	errCannotRefund    = payment.Conflicting("The gateway of this payment cannot refund.")
	errNoAccount       = payment.Conflicting("The payer's account is not known here any more, so that the bank cannot be told where to. Give the money back outside.")
	errGatewayUnusable = payment.Conflicting("The gateway account of this payment cannot be used as it is set up.")
	errRefundedByRace  = payment.Conflicting("Other refunds of this payment are being processed.")
	errLeftIsOther     = payment.Conflicting("Something was refunded since this page was shown, and nothing was done now. Look at the payment again, and at what is left of it.")
	errRefundUnknown   = &payment.Error{
		Kind:   payment.OutcomeUnknown,
		Detail: "The payment provider has not confirmed the refund. It is being asked; do not refund again.",
	}
)

// RefundRequest says what is to be given back.
type RefundRequest struct {
	// AmountMinor is nil for all that is left.
	AmountMinor *payment.Minor
	// LeftMinor is what whoever asks has seen to be left, nil where he has not looked. Where that is not so any more nothing
	// is given back: of two who do not know of each other each may mean the same refund.
	LeftMinor *payment.Minor
}

// Refund gives a payment back, wholly or in part: claim, submit, settle, as a
// payment is made. A refund
// that the gateway refuses is a declined transaction and no error. Under a key it
// is made once, whatever its caller has or has not heard of it.
func (c *Checkout) Refund(ctx context.Context, tenantID, transactionID uuid.UUID, req RefundRequest, key store.RequestKey) (payment.Transaction, error) {
	setup, err := c.SetupOf(ctx, tenantID)
	if err != nil {
		return payment.Transaction{}, err
	}
	return store.Once(ctx, c.Store, key,
		func(id uuid.UUID) (payment.Transaction, error) { return c.refunded(ctx, tenantID, id) },
		func() (payment.Transaction, error) { return c.refund(ctx, setup, transactionID, req, key) })
}

// refunded gives a refund that was asked for before, once its outcome is known.
func (c *Checkout) refunded(ctx context.Context, tenantID, id uuid.UUID) (payment.Transaction, error) {
	refund, err := c.Store.Tenant(tenantID).Transaction(ctx, id)
	if err == nil && refund.InFlight() {
		err = store.ErrRequestRunning
	}
	return refund, err
}

func (c *Checkout) refund(ctx context.Context, setup *merchant.Setup, transactionID uuid.UUID, req RefundRequest, key store.RequestKey) (payment.Transaction, error) {
	claimed, client, sendBefore, err := c.claimRefund(ctx, setup, transactionID, req, key)
	if err != nil {
		return payment.Transaction{}, err
	}
	if !claimed.Refund.InFlight() {
		return *claimed.Refund, nil // it was made before the database was restored
	}
	// From here on a caller who goes away must not stop us half-way.
	ctx = context.WithoutCancel(ctx)
	outcome, err := client.Refund(ctx, refundRequest(setup, claimed, sendBefore))
	if err != nil {
		_ = c.askLater(ctx, client, *claimed.Refund)
		return *claimed.Refund, errRefundUnknown
	}
	settled, err := c.settle(ctx, setup, claimed.Debit, outcome)
	return *settled.Asked(), err
}

// checkPayable refuses what cannot be given back through its gateway. A file for a bank has the payer's account, which is not
// there any more of somebody who was erased, and never was of a payment that was brought in.
func (c *Checkout) checkPayable(ctx context.Context, setup *merchant.Setup, paid payment.Transaction, client *gateway.Client) error {
	if !client.CanRefund() {
		return errCannotRefund
	}
	if _, isBank := c.Planner(setup, paid.GatewayID); !isBank {
		return nil
	}
	// What was refunded since the backup is not known before somebody has taken the bank's files in.
	if restoredTo, err := c.Store.BankRestoredTo(ctx, paid.TenantID, paid.GatewayID); err != nil || !restoredTo.IsZero() {
		return cmp.Or(err, error(errUnprovenRefund))
	}
	sealed, err := c.Store.Tenant(paid.TenantID).SealedIBAN(ctx, paid.ID)
	if err == nil && sealed == "" {
		err = errNoAccount
	}
	return err
}

// claimRefund sets the amount aside before the gateway hears of the refund. Who
// loses to another refund or to a chargeback looks again at what is left, and has as much
// time to send it as if there had been no other: the claim that is written is the last one.
func (c *Checkout) claimRefund(
	ctx context.Context, setup *merchant.Setup, transactionID uuid.UUID, req RefundRequest, key store.RequestKey,
) (claimed payment.Change, client *gateway.Client, sendBefore clock.Deadline, err error) {
	err = retry(func() error {
		now := c.now()
		paid, err := c.Store.Tenant(setup.Tenant.ID).Debit(ctx, transactionID)
		if err != nil {
			return err
		}
		if req.LeftMinor != nil && paid.Transaction.RefundableMinor() != *req.LeftMinor {
			return errLeftIsOther
		}
		if client, _, err = c.Account(setup, paid.Transaction.GatewayID); err != nil {
			return errors.Join(errGatewayUnusable, err)
		}
		if claimed.Debit, err = c.recognizeRefund(ctx, setup, paid, req.AmountMinor, key); err != nil || claimed.Refund != nil {
			return err
		}
		if claimed, err = claimed.BeginRefund(req.AmountMinor, now); err != nil {
			return err
		}
		if err := c.checkPayable(ctx, setup, paid.Transaction, client); err != nil {
			return err
		}
		if claimed.Refund.MerchantTransactionID, err = c.refundReference(ctx, claimed); err != nil {
			return err
		}
		sendBefore, claimed.Refund.Attempt.Silence = clock.Within(c.Own, c.sendWindow()), c.silence()
		return c.Store.Write(ctx, now, func(tx *store.Tx) error {
			tx.Remember(key, claimed.Refund.ID)
			tx.ClaimRefund(claimed)
			tx.Audit(refundDeed(*claimed.Refund))
			return nil
		})
	})
	if errors.Is(err, store.ErrStale) {
		err = errRefundedByRace
	}
	return claimed, client, sendBefore, err
}

// refundDeed is what somebody has done who had a payment given back.
func refundDeed(refund payment.Transaction) store.Deed {
	return store.Deed{
		Action: "refund.create", ObjectType: "transaction", ObjectID: refund.RefundOf.String(), TenantID: refund.TenantID,
		After: map[string]any{"refund_id": refund.ID, "amount": refund.AmountMinor.String(), "currency": refund.Currency},
	}
}

// refundReference is the first of those that the refund could have that no other one has.
func (c *Checkout) refundReference(ctx context.Context, claimed payment.Change) (string, error) {
	for n := 0; ; n++ {
		reference := payment.RefundReference(claimed.Transaction, claimed.Refund.AmountMinor, n)
		_, isTaken, err := c.Store.Tenant(claimed.Transaction.TenantID).Named(ctx, reference)
		if err != nil || !isTaken {
			return reference, err
		}
	}
}

func refundRequest(setup *merchant.Setup, claimed payment.Change, sendBefore clock.Deadline) gateway.Refund {
	r, paid := claimed.Refund, claimed.Transaction
	return gateway.Refund{
		MerchantTransactionID: r.MerchantTransactionID, IdempotencyKey: payment.RefundKey(*r),
		PaymentID: paid.MerchantTransactionID, PaymentReference: paid.GatewayReference,
		AmountMinor: r.AmountMinor, Currency: r.Currency, Descriptor: setup.Gateways[paid.GatewayID].Descriptor,
		At: r.CreatedAt, SendBefore: sendBefore,
	}
}
