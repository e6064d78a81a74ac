package listing

import (
	"context"
	"sync"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
)

// ChargebackFilter says which chargebacks are listed; what is empty admits all.
type ChargebackFilter struct {
	GatewayID *uuid.UUID
}

var chargebackListing = listing[payment.Chargeback]{
	table: "chargebacks", instant: "reported_at", spare: &sync.Pool{},
	columns: `id, gateway_reference, merchant_transaction_id, tenant_reference_id, amount_minor, currency, reported_at,
		transaction_at, reason_code, reason_message, report_type, report_message, report_info, arn, iban_masked, bic,
		email, country, source, bank_fee_minor, transaction_id, lead_id, gateway_id, created_at, updated_at`,
	scan: func(row *listedRow, c *payment.Chargeback) {
		c.ID, c.GatewayReference, c.MerchantTransactionID = row.id(), row.text(), row.text()
		c.TenantReferenceID, c.AmountMinor, c.Currency = row.textIfAny(), row.minor(), row.text()
		c.ReportedAt, c.TransactionAt = row.instant(), row.instant()
		c.ReasonCode, c.ReasonMessage = row.text(), row.text()
		c.ReportType, c.ReportMessage, c.ReportInfo, c.ARN = row.text(), row.text(), row.text(), row.text()
		c.MaskedIBAN, c.BIC, c.Email, c.Country = row.text(), row.text(), row.text(), row.text()
		c.Source, c.BankFeeMinor = payment.ChargebackSource(row.text()), row.minorIfAny()
		c.TransactionID, c.LeadID, c.GatewayID = row.idIfAny(), row.idIfAny(), row.id()
		c.CreatedAt, c.UpdatedAt = row.instant(), row.instant()
	},
}

func (f ChargebackFilter) filters() []filter {
	return []filter{equal("gateway_id", given(f.GatewayID))}
}

// Chargebacks lists chargebacks by the instant of their report.
func Chargebacks(ctx context.Context, t store.Tenant, w Window, f ChargebackFilter) (Listed[payment.Chargeback], error) {
	return chargebackListing.read(ctx, t, w, f.filters())
}
