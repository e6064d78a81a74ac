// Package gateway is the contract with payment gateways, and what is written
// once around all of them.
//
// An adapter is a name and Submit. Whatever else a gateway can do is a small
// interface of one method, found by type assertion when the adapter is wrapped
// (client.go). A decline is an Outcome. An error means "we do not know": the
// payment may have been taken, and the caller asks later instead of trying
// again. Only ErrNotSent says for certain that nothing left this machine.
//
// Client is what use cases hold: it adds the timeout, the idempotency key, the
// circuit breaker, the log line without personal data and the count, and turns
// every doubtful answer of an adapter into an unknown one.
package gateway

import (
	"context"
	"errors"
	"reflect"
	"time"

	"github.com/google/uuid"

	"sepad/internal/clock"
	"sepad/internal/merchant"
	"sepad/internal/payment"
)

// ErrNotSent is returned, wrapped or not, when no connection was made: nothing
// can have been taken.
var ErrNotSent = errors.New("gateway: nothing was sent")

// ErrUnknownVerification is returned, wrapped or not, by a Verifier that is
// given a reference which is not one of this payment. It is no decline: the
// payer may still confirm the right one, and a payment refused for a mistyped
// reference could be taken twice.
var ErrUnknownVerification = errors.New("gateway: the verification reference does not belong to this payment")

// Charge is a payment to submit. It deliberately has no field for the
// merchant's own reference, which is never forwarded (contract 4.3).
type Charge struct {
	MerchantTransactionID string
	// IdempotencyKey is the same for every submission of one attempt.
	IdempotencyKey   string
	AmountMinor      payment.Minor // 0 sets up the mandate only
	Currency         string
	Type             payment.TransactionType
	SequenceType     payment.SequenceType
	Instrument       payment.Instrument
	Lead             payment.Lead
	MandateReference string
	MandateAt        time.Time
	Descriptor       string
	// MerchantName is who collects, in words that the payer recognises.
	MerchantName string
	CustomerIP   string
	// ReturnURL is where the payer comes back to after verifying a mandate.
	ReturnURL string
	// PeriodTry counts the tries of a rebill's period from 1; 0 for first payments.
	PeriodTry int
	// At is the service's time, which the sandbox's clock may have moved.
	At time.Time
	// SendBefore is how long it may still be sent, by this process's own clock and
	// from before the payment was written down: after that somebody else may be
	// asking what became of it. Zero means no limit.
	SendBefore clock.Deadline
}

// Verification asks for the result of a mandate's verification.
type Verification struct {
	MerchantTransactionID string
	VerificationReference string
	At                    time.Time
}

// Lookup asks what became of a payment.
type Lookup struct {
	MerchantTransactionID string
	GatewayReference      string
	// Abandon tells the gateway that the payer's time is over: a payment that
	// still awaits verification must not be collected any more.
	Abandon bool
	At      time.Time
}

// Adapter is what every gateway has.
type Adapter interface {
	Submit(ctx context.Context, charge Charge) (payment.Outcome, error)
}

// Verifier is a gateway that can ask the payer to confirm a mandate.
type Verifier interface {
	Verify(ctx context.Context, v Verification) (payment.Outcome, error)
}

// StatusReader is a gateway that can be asked what became of a payment. It
// answers VerdictLost for one that it surely never got: nothing less, for the
// payment is given up then and may be made again.
type StatusReader interface {
	Status(ctx context.Context, l Lookup) (payment.Outcome, error)
}

// Account is a tenant's account at a gateway, ready to be used: its secrets are
// decrypted, which is why it never leaves the process.
type Account struct {
	ID         uuid.UUID
	TenantID   uuid.UUID
	Name       string
	Descriptor string
	TestMode   bool
	// Settings are as they were stored; an adapter is given them as Values.
	Settings merchant.Settings
}

// isSame is asked for every session that is shown. Settings of one set-up are one map, which is seen at a glance.
func (a Account) isSame(other Account) bool {
	return a.ID == other.ID && a.TenantID == other.TenantID && a.Name == other.Name && a.Descriptor == other.Descriptor &&
		a.TestMode == other.TestMode && reflect.DeepEqual(a.Settings, other.Settings)
}

// Kind describes an adapter before any account exists.
type Kind struct {
	// Name is how the resource file calls it.
	Name string
	// DisplayName is what payment results show.
	DisplayName string
	// Real is false for gateways that never move money.
	Real bool
	// Batch tells that payments wait for a file: they are pending when they are
	// taken, and named by the gateway only once the file has been written.
	Batch bool
	// Currencies are all that it can collect.
	Currencies []string
	// Settings are all that an account of it can be told.
	Settings []Setting
	// Report says how the processor's files name things; files with our own
	// names are understood without it.
	Report ReportFormat
	// New makes the adapter for an account, or says which setting is wrong.
	New func(Account, Values) (Adapter, error)
}
