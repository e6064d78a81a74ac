package payment

import (
	"time"

	"github.com/google/uuid"
)

// ChargebackSource is where we learned of a chargeback.
type ChargebackSource string

const (
	ChargebackImported   ChargebackSource = "csv_import"
	ChargebackNotified   ChargebackSource = "webhook"
	ChargebackReconciled ChargebackSource = "reconciliation"
	ChargebackManual     ChargebackSource = "manual"
)

// ChargebackSources lists every source, in the contract's order.
var ChargebackSources = []ChargebackSource{ChargebackImported, ChargebackNotified, ChargebackReconciled, ChargebackManual}

// A chargeback has one status and one type; the contract shows both.
const (
	ChargebackStatus = string(TransactionChargedBack)
	ChargebackType   = "chargeback"
)

// Chargeback is a collection that the payer's bank took back (contract 2.12).
// MerchantTransactionID tells one from another: the same one from any source is
// the same chargeback.
type Chargeback struct {
	ID        uuid.UUID
	TenantID  uuid.UUID
	GatewayID uuid.UUID
	// TransactionID and LeadID are nil while the original payment is not known.
	TransactionID         *uuid.UUID
	LeadID                *uuid.UUID
	MerchantTransactionID string
	TenantReferenceID     *string // the original transaction's
	GatewayReference      string

	AmountMinor   Minor
	Currency      string
	ReportedAt    time.Time
	TransactionAt time.Time

	ReasonCode    string
	ReasonMessage string
	ReportType    string
	ReportMessage string
	ReportInfo    string
	ARN           string

	MaskedIBAN string
	BIC        string
	Email      string
	Country    string

	Source       ChargebackSource
	BankFeeMinor *Minor

	CreatedAt time.Time
	UpdatedAt time.Time
}
