package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"sepad/internal/clock"
	"sepad/internal/payment"
)

// question is one call to an adapter.
type question struct {
	operation             operation
	merchantTransactionID string
	charge                *Charge  // nil for questions that name no payer
	private               redactor // filled by put
	canVerify             bool
	sendBefore            clock.Deadline
	breaker               *breaker
	ask                   func(context.Context) (payment.Outcome, error)
}

// put asks the adapter, on a context of its own: once money may be moving, a
// browser that hangs up must not cut the answer off.
func (c *Client) put(ctx context.Context, q question) (payment.Outcome, error) {
	q.private = redactor{charge: q.charge, secrets: c.secrets}
	began := c.options.Now()
	outcome, err := c.send(ctx, q)
	if errors.Is(err, ErrNotSent) {
		outcome, err = c.unsent(q, err)
	}
	c.report(ctx, q, outcome, err, c.options.Now().Sub(began))
	return outcome, err
}

// send lets the call pass if it is not too late and the breaker is closed.
func (c *Client) send(ctx context.Context, q question) (payment.Outcome, error) {
	if q.sendBefore.IsSet() && q.sendBefore.Left() <= 0 {
		return payment.Outcome{}, fmt.Errorf("%w: the time to send it is over", ErrNotSent)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.options.Timeout)
	defer cancel()
	if q.sendBefore.IsSet() {
		ctx = context.WithValue(ctx, sendBeforeKey{}, q.sendBefore)
	}
	return q.breaker.pass(func() (payment.Outcome, error) { return c.answer(ctx, q) })
}

// answer turns whatever an adapter does into an outcome that is surely known,
// or an error that says in which way it is not.
func (c *Client) answer(ctx context.Context, q question) (outcome payment.Outcome, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			c.options.Logger.LogAttrs(ctx, slog.LevelError, "gateway adapter panicked",
				slog.String("adapter", c.kind.Name), slog.String("stack", string(debug.Stack())))
			outcome, err = payment.Outcome{}, c.unknown(q, fmt.Errorf("panic: %v", fault))
		}
	}()
	outcome, err = q.ask(ctx)
	if err == nil {
		outcome, err = q.accept(outcome)
	}
	switch {
	case err == nil:
		return outcome, nil
	case errors.Is(err, ErrNotSent):
		return payment.Outcome{}, err
	case q.operation == operationVerify && errors.Is(err, ErrUnknownVerification):
		return payment.Outcome{}, ErrUnknownVerification
	default:
		return payment.Outcome{}, c.unknown(q, err)
	}
}

// unsent is the answer when nothing left this machine. For a question about an
// earlier payment that decides nothing.
func (c *Client) unsent(q question, why error) (payment.Outcome, error) {
	if q.operation == operationStatus {
		return payment.Outcome{}, c.unknown(q, why)
	}
	return payment.Outcome{
		Verdict: payment.VerdictUnsent, Decline: payment.Decline{Code: payment.GatewayUnavailable},
	}, nil
}

func (c *Client) unknown(q question, cause error) error {
	return &unknownError{
		adapter: c.kind.Name, operation: q.operation, words: q.private.clean(cause.Error()),
		timedOut: errors.Is(cause, context.DeadlineExceeded),
	}
}

// report writes the log line and counts the call. Everything in it is ours or
// was cleaned.
func (c *Client) report(ctx context.Context, q question, o payment.Outcome, err error, took time.Duration) {
	verdict, level := string(o.Verdict), slog.LevelInfo
	attrs := []slog.Attr{
		slog.String("adapter", c.kind.Name), slog.String("account_id", c.account.ID.String()),
		slog.String("operation", string(q.operation)), slog.String("merchant_transaction_id", q.merchantTransactionID),
		slog.Float64("duration_ms", float64(took.Microseconds())/1000),
	}
	switch {
	case errors.Is(err, ErrUnknownVerification):
		verdict = "unknown_verification"
	case err != nil:
		verdict, level = "unknown", slog.LevelWarn
		attrs = append(attrs, slog.String("error", err.Error()))
	case o.Verdict == payment.VerdictUnsent:
		level = slog.LevelWarn
	case o.Verdict == payment.VerdictDeclined:
		attrs = append(attrs, slog.String("decline_code", string(o.Decline.Code)))
	}
	c.options.Logger.LogAttrs(ctx, level, "gateway call", append(attrs, slog.String("verdict", verdict))...)
	c.options.Observe(c.kind.Name, string(q.operation), verdict, took)
}
