package record

import "sepad/internal/payment"

type chargeback = payment.Chargeback

// Chargebacks is the chargeback record (contract 2.12).
var Chargebacks = Columns[chargeback]{
	{"id", UUID, func(c *chargeback) Value { return ofID(c.ID) }},
	{"adapter_unique_id", Text, func(c *chargeback) Value { return ofText(c.GatewayReference) }},
	{"merchant_transaction_id", Text, func(c *chargeback) Value { return ofText(c.MerchantTransactionID) }},
	{"tenant_reference_id", Text, func(c *chargeback) Value { return ofTextIfAny(c.TenantReferenceID) }},
	{"status", Text, func(*chargeback) Value { return ofText(payment.ChargebackStatus) }},
	{"type", Text, func(*chargeback) Value { return ofText(payment.ChargebackType) }},
	{"amount", Minor, func(c *chargeback) Value { return ofMinor(c.AmountMinor) }},
	{"currency", Text, func(c *chargeback) Value { return ofText(c.Currency) }},
	{"report_date", Instant, func(c *chargeback) Value { return ofInstant(c.ReportedAt) }},
	{"transaction_date", Instant, func(c *chargeback) Value { return ofInstant(c.TransactionAt) }},
	{"reason_code", Text, func(c *chargeback) Value { return ofText(c.ReasonCode) }},
	{"reason_message", Text, func(c *chargeback) Value { return ofText(c.ReasonMessage) }},
	{"report_type", Text, func(c *chargeback) Value { return ofText(c.ReportType) }},
	{"report_message", Text, func(c *chargeback) Value { return ofText(c.ReportMessage) }},
	{"report_info", Text, func(c *chargeback) Value { return ofText(c.ReportInfo) }},
	{"arn", Text, func(c *chargeback) Value { return ofText(c.ARN) }},
	{"iban", Text, func(c *chargeback) Value { return ofText(c.MaskedIBAN) }},
	{"bic", Text, func(c *chargeback) Value { return ofText(c.BIC) }},
	{"email", Text, func(c *chargeback) Value { return ofText(c.Email) }},
	{"country", Text, func(c *chargeback) Value { return ofText(c.Country) }},
	{"source", Text, func(c *chargeback) Value { return ofText(c.Source) }},
	{"cb_bank_fee", Minor, func(c *chargeback) Value { return ofMinorIfAny(c.BankFeeMinor) }},
	{"transaction_id", UUID, func(c *chargeback) Value { return ofIDIfAny(c.TransactionID) }},
	{"lead_id", UUID, func(c *chargeback) Value { return ofIDIfAny(c.LeadID) }},
	{"payment_gateway_id", UUID, func(c *chargeback) Value { return ofID(c.GatewayID) }},
	{"created_at", Instant, func(c *chargeback) Value { return ofInstant(c.CreatedAt) }},
	{"updated_at", Instant, func(c *chargeback) Value { return ofInstant(c.UpdatedAt) }},
}
