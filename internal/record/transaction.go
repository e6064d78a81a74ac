package record

import (
	"cmp"

	"sepad/internal/payment"
)

type transaction = payment.Transaction

// Transactions is the transaction record (contract 2.11).
//
// A processor has one id for a payment that was submitted by us, so that
// adapter_unique_id and transaction_id are both the gateway's reference, and
// null until it has given one; its files may have two. customer_email_csv and customer_name_csv are
// named after a processor's file; for our own submissions they are the
// address of the lead and the account holder as submitted, so that finance
// finds a person in the same column wherever the record came from.
var Transactions = Columns[transaction]{
	{"id", UUID, func(t *transaction) Value { return ofID(t.ID) }},
	{"adapter_unique_id", Text, func(t *transaction) Value { return ofText(t.GatewayReference) }},
	{"merchant_transaction_id", Text, func(t *transaction) Value { return ofText(t.MerchantTransactionID) }},
	{"transaction_id", Text, func(t *transaction) Value { return ofText(cmp.Or(t.ProcessorID, t.GatewayReference)) }},
	{"tenant_reference_id", Text, func(t *transaction) Value { return ofTextIfAny(t.TenantReferenceID) }},
	{"status", Text, func(t *transaction) Value { return ofText(t.Status) }},
	{"type", Text, func(t *transaction) Value { return ofText(t.Type.Standardized()) }},
	{"amount", Minor, func(t *transaction) Value { return ofMinor(t.AmountMinor) }},
	{"currency", Text, func(t *transaction) Value { return ofText(t.Currency) }},
	{"date_processed", Instant, func(t *transaction) Value { return ofInstant(t.ProcessedAt) }},
	{"iban", Text, func(t *transaction) Value { return ofText(t.MaskedIBAN) }},
	{"bic", Text, func(t *transaction) Value { return ofText(t.BIC) }},
	{"customer_email_csv", Text, func(t *transaction) Value { return ofText(t.Email) }},
	{"customer_name_csv", Text, func(t *transaction) Value { return ofText(t.HolderName) }},
	{"mandate_reference_id", Text, func(t *transaction) Value { return ofText(t.MandateReference) }},
	{"mandate_date", Instant, func(t *transaction) Value { return ofInstant(t.MandateAt) }},
	{"source", Text, func(t *transaction) Value { return ofText(t.Source) }},
	{"order_id", UUID, func(t *transaction) Value { return ofIDIfAny(t.OrderID) }},
	{"subscription_id", UUID, func(t *transaction) Value { return ofIDIfAny(t.SubscriptionID) }},
	{"lead_id", UUID, func(t *transaction) Value { return ofIDIfAny(t.LeadID) }},
	{"payment_gateway_id", UUID, func(t *transaction) Value { return ofID(t.GatewayID) }},
	{"created_at", Instant, func(t *transaction) Value { return ofInstant(t.CreatedAt) }},
	{"updated_at", Instant, func(t *transaction) Value { return ofInstant(t.UpdatedAt) }},
}
