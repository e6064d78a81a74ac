package sandbox

import (
	"context"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
)

// State is where a payment stands at the sandbox.
type State string

const (
	StateApproved State = "approved" // collected
	StateDeclined State = "declined"
	StatePending  State = "pending"  // collected or refused at SettlesAt
	StateAwaiting State = "awaiting" // the payer must confirm the mandate
	StateClosed   State = "closed"   // nobody confirmed it in time
)

// Key is how a payment is found. Two accounts may use the same reference.
type Key struct {
	TenantID              uuid.UUID
	AccountID             uuid.UUID
	MerchantTransactionID string
}

// Entry is what the sandbox remembers of a payment it has received. There is
// nothing personal in it and no account number: Outcome says all that follows
// from that.
type Entry struct {
	Key
	// Reference is the sandbox's own name for the payment.
	Reference string
	// VerificationReference also names the bank page; "" when the payer has
	// nothing to confirm.
	VerificationReference string
	Outcome               Outcome
	State                 State
	Type                  payment.TransactionType
	AmountMinor           payment.Minor
	Currency              string
	MandateReference      string
	// MerchantName and ReturnURL are for the bank page.
	MerchantName string
	ReturnURL    string

	ReceivedAt time.Time
	// DecidedAt is when the state last changed.
	DecidedAt time.Time
	// SettlesAt is set for payments taken in as pending.
	SettlesAt time.Time
	// ChargebackAt is when the payer's bank takes the money back.
	ChargebackAt time.Time
	// NotifyAt is when the sandbox reports by itself what has become of the
	// payment; zero when there is nothing to report, or it was heard.
	NotifyAt time.Time
}

// Collected tells that money was taken: what no purchase may show twice.
func (e Entry) Collected() bool {
	return e.State == StateApproved && e.AmountMinor > 0 && e.Type != payment.Refund
}

// Ledger is the sandbox's memory, apart from the service's own records, so that
// a test can hold one against the other. It must outlive the process and be the
// same for every process of an installation.
type Ledger interface {
	// Insert records a payment unless its key is taken, and gives the entry
	// that stands there then.
	Insert(ctx context.Context, e Entry) (stored Entry, inserted bool, err error)
	// Find gives a payment, and false when it never arrived.
	Find(ctx context.Context, key Key) (Entry, bool, error)
	// FindByVerification gives the payment of a bank page. It is the one
	// question without a tenant: a page's address holds nothing else.
	FindByVerification(ctx context.Context, reference string) (Entry, bool, error)
	// Decide changes a state at a time, and says false, changing nothing, when
	// the entry is no longer in the state that the decision came from.
	Decide(ctx context.Context, key Key, from, to State, at time.Time) (bool, error)
}

// PayerDecides records what the payer chose on the bank page, and gives the
// entry as it stands then: another decision may have come first.
func PayerDecides(ctx context.Context, ledger Ledger, e Entry, approve bool, at time.Time) (Entry, error) {
	if e.State != StateAwaiting || !e.Outcome.DecidedByPayer() {
		return e, nil
	}
	to := StateDeclined
	if approve {
		to = StateApproved
	}
	return move(ctx, ledger, e, to, at)
}

// move takes an entry to another state unless somebody was faster, and gives it
// as it stands then.
func move(ctx context.Context, ledger Ledger, e Entry, to State, at time.Time) (Entry, error) {
	moved, err := ledger.Decide(ctx, e.Key, e.State, to, at)
	if err != nil {
		return Entry{}, err
	}
	if moved {
		e.State, e.DecidedAt = to, at
		return e, nil
	}
	e, _, err = ledger.Find(ctx, e.Key)
	return e, err
}
