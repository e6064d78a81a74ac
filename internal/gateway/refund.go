package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sepad/internal/clock"
	"sepad/internal/payment"
)

// Refund is money to give back to the payer of an earlier payment.
type Refund struct {
	// MerchantTransactionID is the refund's own; Status finds it by this.
	MerchantTransactionID string
	// IdempotencyKey is the same for every submission of one refund.
	IdempotencyKey string
	// PaymentID and PaymentReference are our and the gateway's name of the
	// payment that is given back, wholly or in part.
	PaymentID        string
	PaymentReference string
	AmountMinor      payment.Minor
	Currency         string
	Descriptor       string
	// At is the service's time, SendBefore its last moment, both as in a Charge.
	At         time.Time
	SendBefore clock.Deadline
}

// Refunder is a gateway that can give money back. It may answer that the refund
// is pending, and is asked about it with Status then.
type Refunder interface {
	Refund(ctx context.Context, r Refund) (payment.Outcome, error)
}

// CanRefund tells whether Refund may be called.
func (c *Client) CanRefund() bool { return c.refunder != nil }

// Refund hands a refund to the gateway, under the same rules as Submit: an error
// wraps ErrUnknownOutcome, and then the money may have been given back.
func (c *Client) Refund(ctx context.Context, r Refund) (payment.Outcome, error) {
	if c.refunder == nil {
		return payment.Outcome{}, fmt.Errorf("gateway: %s cannot refund: %w", c.kind.Name, errors.ErrUnsupported)
	}
	if r.IdempotencyKey == "" {
		r.IdempotencyKey = r.MerchantTransactionID
	}
	return c.put(ctx, question{
		operation: operationRefund, merchantTransactionID: r.MerchantTransactionID, sendBefore: r.SendBefore, breaker: c.payments,
		ask: func(ctx context.Context) (payment.Outcome, error) { return c.refunder.Refund(ctx, r) },
	})
}
