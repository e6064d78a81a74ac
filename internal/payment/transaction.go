package payment

import (
	"time"

	"github.com/google/uuid"

	"sepad/internal/sepa"
)

// TransactionStatus is where the money of one attempt, rebill or refund stands.
type TransactionStatus string

const (
	TransactionPending     TransactionStatus = "pending"
	TransactionApproved    TransactionStatus = "approved"
	TransactionDeclined    TransactionStatus = "declined"
	TransactionRefunded    TransactionStatus = "refunded"
	TransactionChargedBack TransactionStatus = "charged_back"
)

// TransactionStatuses lists every status.
var TransactionStatuses = []TransactionStatus{
	TransactionPending, TransactionApproved, TransactionDeclined, TransactionRefunded, TransactionChargedBack,
}

// TransactionType is what a transaction does.
type TransactionType string

const (
	Sale    TransactionType = "sdd_sale"
	Rebill  TransactionType = "sdd_rebill"
	Refund  TransactionType = "sdd_refund"
	Mandate TransactionType = "sdd_mandate" // a free trial: the mandate is set up, nothing is collected
)

// otherType is the standardized type of what is neither a sale nor a refund.
const otherType = "other_type"

// StandardizedTypes lists every type that reconciliation knows.
var StandardizedTypes = []string{string(Sale), string(Refund), otherType}

// Standardized is the type that reconciliation shows (contract 2.11).
func (t TransactionType) Standardized() string {
	switch t {
	case Sale, Rebill:
		return string(Sale)
	case Refund:
		return string(Refund)
	default:
		return otherType
	}
}

// SequenceType is the collection's place in its mandate's life.
type SequenceType string

const (
	SequenceFirst     SequenceType = "FRST"
	SequenceRecurring SequenceType = "RCUR"
)

// Source is where a transaction came from.
type Source string

const (
	SourceAPI        Source = "api_submission"
	SourceHostedPage Source = "hosted_page"
	SourceImport     Source = "csv_import"
	SourceRefund     Source = "admin_refund"
	SourceWebhook    Source = "webhook"
)

// Instrument is the account that is debited. The IBAN itself is held only
// while a payment is being submitted; rows keep it sealed.
type Instrument struct {
	IBAN       sepa.IBAN
	HolderName string
	Bank       sepa.Bank
}

// Phase says which question to the gateway is outstanding.
type Phase string

const (
	// PhaseNone: nothing is outstanding.
	PhaseNone Phase = ""
	// PhaseSubmit: the payment was or may have been submitted.
	PhaseSubmit Phase = "submit"
	// PhaseVerify: the mandate's verification was asked for.
	PhaseVerify Phase = "verify"
	// PhaseExpire: the session's time ran out while it awaited verification,
	// and the gateway is asked whether it has collected.
	PhaseExpire Phase = "expire"
)

// Attempt is the part of a transaction that concerns its submission: one row
// holds both, because each attempt is a transaction of its own.
type Attempt struct {
	Number      int
	Phase       Phase
	LookupCount int
	// NextLookupAt is when somebody may ask the gateway, by the database's clock and
	// never the sandbox's: a gateway that owes an answer is asked in the world's
	// time, and all processes agree on one clock.
	NextLookupAt time.Time
	// Silence is how long nobody may ask, beginning when the attempt is written. It
	// is not kept: the database makes NextLookupAt of it.
	Silence time.Duration
}

// Transaction is one movement of money, or the attempt at one.
type Transaction struct {
	ID                    uuid.UUID
	TenantID              uuid.UUID
	SessionID             *uuid.UUID
	OrderID               *uuid.UUID
	SubscriptionID        *uuid.UUID
	LeadID                *uuid.UUID
	GatewayID             uuid.UUID
	MerchantTransactionID string
	TenantReferenceID     *string
	// InheritsReference tells that the reference is the session's: several attempts may
	// have it, while one that came with a payment is that payment's alone.
	InheritsReference bool
	GatewayReference  string
	// ProcessorID is a second id that a processor's file has for the payment, ""
	// where it has one only.
	ProcessorID string

	Status       TransactionStatus
	Type         TransactionType
	AmountMinor  Minor
	Currency     string
	SequenceType SequenceType // "" when nothing is collected
	Source       Source

	MaskedIBAN       string
	IBANCountry      string
	BIC              string
	BankName         string
	HolderName       string
	Email            string
	MandateReference string
	MandateAt        time.Time

	// Period is the subscription's period that a rebill collects, nil on others.
	Period *int
	// RefundOf names the transaction that a refund gives back.
	RefundOf *uuid.UUID
	// RefundedMinor was given back, RefundingMinor is on its way back.
	RefundedMinor  Minor
	RefundingMinor Minor

	Attempt               Attempt
	VerificationURL       string
	VerificationReference string
	Decline               *Decline
	// SettleDueAt is when the gateway is next asked about a pending
	// transaction; zero when nothing is expected.
	SettleDueAt time.Time
	// DueDate is the day on which a payment that was taken in is collected, as the
	// payer was told; none where the gateway does not say.
	DueDate Date
	// ProcessedAt is when the gateway first answered; it does not move.
	ProcessedAt time.Time
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// InFlight tells that a gateway's answer is outstanding.
func (t Transaction) InFlight() bool { return t.Attempt.Phase != PhaseNone }

// IsDecided tells that the gateway has had its say: collected or refused.
func (t Transaction) IsDecided() bool { return t.Status != TransactionPending }

// AwaitsVerification tells that the payer must confirm the mandate before
// anything is collected. A gateway that has taken a payment in has processed it.
func (t Transaction) AwaitsVerification() bool {
	return !t.IsDecided() && !t.InFlight() && t.SessionID != nil && t.ProcessedAt.IsZero()
}

// IsDeclined tells that nothing was collected, and nothing will be.
func (t Transaction) IsDeclined() bool { return t.Status == TransactionDeclined }

// IsChargedBack tells that the payer's bank has taken the money back.
func (t Transaction) IsChargedBack() bool { return t.Status == TransactionChargedBack }

// MayComeBack tells that a chargeback of it can be recorded by hand: it was collected,
// or taken in to be, and is all there.
func (t Transaction) MayComeBack() bool {
	isThere := t.Status == TransactionApproved || t.Status == TransactionPending
	return isThere && t.Type != Refund && t.AmountMinor > 0 && !t.InFlight() && !t.AwaitsVerification()
}

// IsAbandoned tells that nobody waits for the payer to confirm the mandate, so
// that a gateway which does is told to give up.
func (t Transaction) IsAbandoned() bool { return t.Attempt.Phase == PhaseExpire || t.Type == Rebill }

// SameMoney tells whether a report speaks of the amount that we know; what it
// does not say it does not contradict.
func (t Transaction) SameMoney(reported Transaction) bool {
	return (reported.Currency == "" || reported.Currency == t.Currency) &&
		(reported.AmountMinor == 0 || reported.AmountMinor == t.AmountMinor)
}

// RefundableMinor is how much may still be given back.
func (t Transaction) RefundableMinor() Minor {
	if checkRefundable(t) != nil {
		return 0
	}
	return t.AmountMinor - t.RefundedMinor - t.RefundingMinor
}

// IBANLast4 is the visible end of the masked account.
func (t Transaction) IBANLast4() string { return t.MaskedIBAN[max(0, len(t.MaskedIBAN)-4):] }
