package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"sepad/internal/clock"
	"sepad/internal/payment"
)

// DefaultTimeout is how long a gateway may take to answer.
const DefaultTimeout = 30 * time.Second

// Options are what all clients of a process share. The zero value is usable.
type Options struct {
	// Timeout bounds each call in real time; 0 means DefaultTimeout.
	Timeout time.Duration
	// Logger gets one line per call; nil means slog.Default().
	Logger *slog.Logger
	// Observe is told of every call, for metrics; nil means nobody is.
	// The verdict is "unknown" when there is none.
	Observe func(adapter, operation, verdict string, took time.Duration)
	// Now is real time; nil means the world's.
	Now func() time.Time
}

// Client is an adapter for one account with everything around it that is the
// same for all gateways. It is safe for concurrent use, and meant to be kept:
// its circuit breakers remember.
type Client struct {
	kind     Kind
	account  Account
	adapter  Adapter
	verifier Verifier     // nil when the adapter has no such ability
	reader   StatusReader // nil when the adapter has no such ability
	refunder Refunder
	receiver NotificationReceiver
	local    Announcer
	secrets  []string // of the account's settings
	payments *breaker // nil for gateways that never move money
	lookups  *breaker
	options  Options
}

// NewClient makes the adapter for an account and finds out what it can do.
func NewClient(kind Kind, account Account, options Options) (*Client, error) {
	values, read := readSettings(kind.Settings, account.Settings)
	if len(read.wrong) > 0 {
		return nil, fmt.Errorf("gateway account %s: %w", account.ID, read.wrong[0])
	}
	adapter, err := kind.New(account, values)
	if err != nil {
		return nil, fmt.Errorf("gateway account %s: %w", account.ID, err)
	}
	c := &Client{kind: kind, account: account, adapter: adapter, secrets: values.secrets(), options: options.filled()}
	c.verifier, _ = adapter.(Verifier)
	c.reader, _ = adapter.(StatusReader)
	c.refunder, _ = adapter.(Refunder)
	c.receiver, _ = adapter.(NotificationReceiver)
	c.local, _ = adapter.(Announcer)
	if kind.Real {
		// Lookups have a breaker of their own: an answer that is owed for an
		// old payment must not close the door to new ones.
		c.payments, c.lookups = newBreaker(), newBreaker()
	}
	return c, nil
}

func (o Options) filled() Options {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Observe == nil {
		o.Observe = func(string, string, string, time.Duration) {}
	}
	if o.Now == nil {
		o.Now = clock.Steady
	}
	return o
}

// Adapter is the adapter itself, for whoever knows more of it than every gateway has.
func (c *Client) Adapter() Adapter { return c.adapter }

// Kind describes the adapter.
func (c *Client) Kind() Kind { return c.kind }

// CanVerify tells whether Verify may be called.
func (c *Client) CanVerify() bool { return c.verifier != nil }

// CanReadStatus tells whether Status may be called.
func (c *Client) CanReadStatus() bool { return c.reader != nil }

// Submit hands a payment to the gateway. The outcome is VerdictUnsent when the
// gateway surely got nothing; an error wraps ErrUnknownOutcome, and then the
// payment may have been taken. A caller that goes away does not stop it.
func (c *Client) Submit(ctx context.Context, charge Charge) (payment.Outcome, error) {
	if charge.IdempotencyKey == "" {
		charge.IdempotencyKey = charge.MerchantTransactionID
	}
	return c.put(ctx, question{
		operation: operationSubmit, merchantTransactionID: charge.MerchantTransactionID,
		charge: &charge, canVerify: c.CanVerify(), sendBefore: charge.SendBefore, breaker: c.payments,
		ask: func(ctx context.Context) (payment.Outcome, error) { return c.adapter.Submit(ctx, charge) },
	})
}

// Verify asks whether the payer has confirmed the mandate. VerdictVerify means
// not decided yet, VerdictUnsent that the question did not reach the gateway.
// ErrUnknownVerification is passed on; other errors wrap ErrUnknownOutcome.
func (c *Client) Verify(ctx context.Context, v Verification) (payment.Outcome, error) {
	if c.verifier == nil {
		return payment.Outcome{}, fmt.Errorf("gateway: %s cannot verify mandates: %w", c.kind.Name, errors.ErrUnsupported)
	}
	return c.put(ctx, question{
		operation: operationVerify, merchantTransactionID: v.MerchantTransactionID, breaker: c.payments,
		ask: func(ctx context.Context) (payment.Outcome, error) { return c.verifier.Verify(ctx, v) },
	})
}

// Status asks what became of a payment. It never answers VerdictUnsent: that
// this question was not sent says nothing about the payment, so that it is an
// error like every other and wraps ErrUnknownOutcome.
func (c *Client) Status(ctx context.Context, l Lookup) (payment.Outcome, error) {
	if c.reader == nil {
		return payment.Outcome{}, fmt.Errorf("gateway: %s cannot be asked about payments: %w", c.kind.Name, errors.ErrUnsupported)
	}
	return c.put(ctx, question{
		operation: operationStatus, merchantTransactionID: l.MerchantTransactionID, breaker: c.lookups,
		ask: func(ctx context.Context) (payment.Outcome, error) { return c.reader.Status(ctx, l) },
	})
}
