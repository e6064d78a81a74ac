package gateway

import (
	"errors"
	"fmt"
	"time"

	"github.com/sony/gobreaker/v2"

	"sepad/internal/payment"
)

const (
	// failuresToOpen calls without an answer in a row stop further ones for
	// openFor; then a single call tries the door.
	failuresToOpen = 5
	openFor        = 30 * time.Second
)

// breaker spares payers the full timeout at a gateway that does not answer. A
// nil breaker lets everything pass.
type breaker struct {
	circuit *gobreaker.CircuitBreaker[payment.Outcome]
}

func newBreaker() *breaker {
	return &breaker{gobreaker.NewCircuitBreaker[payment.Outcome](gobreaker.Settings{
		Timeout:      openFor,
		ReadyToTrip:  func(counts gobreaker.Counts) bool { return counts.ConsecutiveFailures >= failuresToOpen },
		IsSuccessful: func(err error) bool { return err == nil || errors.Is(err, ErrUnknownVerification) },
	})}
}

// pass makes the call, or says that it was not sent.
func (b *breaker) pass(call func() (payment.Outcome, error)) (payment.Outcome, error) {
	if b == nil {
		return call()
	}
	outcome, err := b.circuit.Execute(call)
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		return payment.Outcome{}, fmt.Errorf("%w: the gateway has not answered lately", ErrNotSent)
	}
	return outcome, err
}
