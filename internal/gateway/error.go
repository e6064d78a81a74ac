package gateway

import (
	"context"
	"errors"
)

// ErrUnknownOutcome is wrapped by every error of a Client after which a payment
// may have been taken: ask later, never submit again.
var ErrUnknownOutcome = errors.New("gateway: the outcome is unknown")

// unknownError says why an outcome is not known. It keeps the adapter's words
// with everything personal struck out, and not the adapter's error: that one
// could be printed by whoever unwraps it.
type unknownError struct {
	adapter   string
	operation operation
	words     string
	timedOut  bool
}

func (e *unknownError) Error() string {
	return ErrUnknownOutcome.Error() + ": " + e.adapter + " " + string(e.operation) + ": " + e.words
}

// Is lets callers tell an unknown outcome, and a timeout among them.
func (e *unknownError) Is(target error) bool {
	return target == ErrUnknownOutcome || e.timedOut && target == context.DeadlineExceeded
}
