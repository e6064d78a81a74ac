package store

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// ErrNoChargeback is the answer for a chargeback that nobody has.
var ErrNoChargeback = &payment.Error{Kind: payment.NotFound, Detail: "Chargeback not found"}

const ChargebackColumns = `tenant_id, id, gateway_id, transaction_id, lead_id, merchant_transaction_id,
	tenant_reference_id, gateway_reference, amount_minor, currency, reported_at, transaction_at, reason_code,
	reason_message, report_type, report_message, report_info, arn, iban_masked, bic, email, country, source,
	bank_fee_minor, created_at, updated_at`

// putChargeback writes a new chargeback, or links a known one to its payment.
// The same merchant reference from another source is the same chargeback: then
// nothing is written and Write gives ErrStale.
func (tx *Tx) putChargeback(c payment.Chargeback) {
	values := chargebackValues(c)
	tx.Require(ErrStale, `
		INSERT INTO chargebacks (`+ChargebackColumns+`) VALUES `+db.Placeholders(1, 1, len(values))+`
		ON CONFLICT (tenant_id, merchant_transaction_id) DO UPDATE SET transaction_id = excluded.transaction_id,
			lead_id = excluded.lead_id, tenant_reference_id = excluded.tenant_reference_id,
			gateway_reference = excluded.gateway_reference,
			transaction_at = excluded.transaction_at, iban_masked = excluded.iban_masked, bic = excluded.bic,
			email = excluded.email, country = excluded.country, updated_at = excluded.updated_at
		WHERE chargebacks.id = excluded.id AND chargebacks.transaction_id IS NULL`, values...)
}

// chargebackValues are those of ChargebackColumns.
func chargebackValues(c payment.Chargeback) []any {
	return []any{
		c.TenantID, c.ID, c.GatewayID, c.TransactionID, c.LeadID, c.MerchantTransactionID, ifAny(c.TenantReferenceID),
		c.GatewayReference, int64(c.AmountMinor), c.Currency, db.Micros(c.ReportedAt), db.Micros(c.TransactionAt), c.ReasonCode,
		c.ReasonMessage, c.ReportType, c.ReportMessage, c.ReportInfo, c.ARN, c.MaskedIBAN, c.BIC, c.Email, c.Country,
		string(c.Source), ifAny((*int64)(c.BankFeeMinor)), db.Micros(c.CreatedAt), db.Micros(c.UpdatedAt),
	}
}

// ifAny is NULL where there is no value.
func ifAny[T any](value *T) any {
	if value == nil {
		return nil
	}
	return *value
}

func ScanChargeback(r db.Rows) (payment.Chargeback, error) {
	var c payment.Chargeback
	return c, r.Scan(&c.TenantID, &c.ID, &c.GatewayID, &c.TransactionID, &c.LeadID, &c.MerchantTransactionID,
		&c.TenantReferenceID, &c.GatewayReference, &c.AmountMinor, &c.Currency, db.Instant{To: &c.ReportedAt},
		db.Instant{To: &c.TransactionAt}, &c.ReasonCode, &c.ReasonMessage, &c.ReportType, &c.ReportMessage, &c.ReportInfo, &c.ARN,
		&c.MaskedIBAN, &c.BIC, &c.Email, &c.Country, &c.Source, &c.BankFeeMinor, db.Instant{To: &c.CreatedAt},
		db.Instant{To: &c.UpdatedAt})
}

// Chargeback reads one chargeback.
func (t Tenant) Chargeback(ctx context.Context, id uuid.UUID) (payment.Chargeback, error) {
	found, err := t.chargeback(ctx, ` AND id = $2`, id)
	if err == nil && found == nil {
		err = ErrNoChargeback
	}
	if err != nil {
		return payment.Chargeback{}, err
	}
	return *found, nil
}

// ChargebackByMerchantID finds a chargeback by what tells one from another, nil
// where there is none.
func (t Tenant) ChargebackByMerchantID(ctx context.Context, merchantTransactionID string) (*payment.Chargeback, error) {
	return t.chargeback(ctx, ` AND merchant_transaction_id = $2`, merchantTransactionID)
}

// UnlinkedChargeback finds a chargeback that came before its payment, by either
// of the payment's names, nil where there is none.
func (t Tenant) UnlinkedChargeback(ctx context.Context, of payment.Transaction) (*payment.Chargeback, error) {
	return t.chargeback(ctx, ` AND gateway_id = $2 AND transaction_id IS NULL AND (merchant_transaction_id = $3
		OR gateway_reference = $4 AND gateway_reference <> '') ORDER BY id LIMIT 1`,
		of.GatewayID, of.MerchantTransactionID, of.GatewayReference)
}

func (t Tenant) chargeback(ctx context.Context, where string, args ...any) (*payment.Chargeback, error) {
	result, err := t.Query(ctx, `SELECT `+ChargebackColumns+` FROM chargebacks WHERE tenant_id = $1`+where, args...)
	found, err := db.One(result, err, ScanChargeback)
	if errors.Is(err, db.ErrNoRow) {
		return nil, nil
	}
	return &found, err
}
