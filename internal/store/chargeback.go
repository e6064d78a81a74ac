package store

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// ErrNoChargeback is the answer for a chargeback that nobody has.
var ErrNoChargeback = &payment.Error{Kind: payment.NotFound, Detail: "Chargeback not found"}

// Chargebacks are the rows of chargebacks.
var Chargebacks = db.Table[payment.Chargeback]{Name: "chargebacks", Columns: []db.Column[payment.Chargeback]{
	db.Field("tenant_id", func(c *payment.Chargeback) *uuid.UUID { return &c.TenantID }),
	db.Field("id", func(c *payment.Chargeback) *uuid.UUID { return &c.ID }),
	db.Field("gateway_id", func(c *payment.Chargeback) *uuid.UUID { return &c.GatewayID }),
	db.Optional("transaction_id", func(c *payment.Chargeback) **uuid.UUID { return &c.TransactionID }),
	db.Optional("lead_id", func(c *payment.Chargeback) **uuid.UUID { return &c.LeadID }),
	db.Field("merchant_transaction_id", func(c *payment.Chargeback) *string { return &c.MerchantTransactionID }),
	db.Optional("tenant_reference_id", func(c *payment.Chargeback) **string { return &c.TenantReferenceID }),
	db.Field("gateway_reference", func(c *payment.Chargeback) *string { return &c.GatewayReference }),
	db.Field("amount_minor", func(c *payment.Chargeback) *payment.Minor { return &c.AmountMinor }),
	db.Field("currency", func(c *payment.Chargeback) *string { return &c.Currency }),
	db.Time("reported_at", func(c *payment.Chargeback) *time.Time { return &c.ReportedAt }),
	db.Time("transaction_at", func(c *payment.Chargeback) *time.Time { return &c.TransactionAt }),
	db.Field("reason_code", func(c *payment.Chargeback) *string { return &c.ReasonCode }),
	db.Field("reason_message", func(c *payment.Chargeback) *string { return &c.ReasonMessage }),
	db.Field("report_type", func(c *payment.Chargeback) *string { return &c.ReportType }),
	db.Field("report_message", func(c *payment.Chargeback) *string { return &c.ReportMessage }),
	db.Field("report_info", func(c *payment.Chargeback) *string { return &c.ReportInfo }),
	db.Field("arn", func(c *payment.Chargeback) *string { return &c.ARN }),
	db.Field("iban_masked", func(c *payment.Chargeback) *string { return &c.MaskedIBAN }),
	db.Field("bic", func(c *payment.Chargeback) *string { return &c.BIC }),
	db.Field("email", func(c *payment.Chargeback) *string { return &c.Email }),
	db.Field("country", func(c *payment.Chargeback) *string { return &c.Country }),
	db.Field("source", func(c *payment.Chargeback) *payment.ChargebackSource { return &c.Source }),
	db.Optional("bank_fee_minor", func(c *payment.Chargeback) **payment.Minor { return &c.BankFeeMinor }),
	db.Time("created_at", func(c *payment.Chargeback) *time.Time { return &c.CreatedAt }),
	db.Time("updated_at", func(c *payment.Chargeback) *time.Time { return &c.UpdatedAt }),
}}

// putChargeback writes a new chargeback, or links a known one to its payment.
// The same merchant reference from another source is the same chargeback: then
// nothing is written and Write gives ErrStale.
func (tx *Tx) putChargeback(c payment.Chargeback) {
	tx.Require(ErrStale, putChargeback, Chargebacks.Values(&c)...)
}

var putChargeback = Chargebacks.Insert() + `
	ON CONFLICT (tenant_id, merchant_transaction_id) DO UPDATE SET transaction_id = excluded.transaction_id,
		lead_id = excluded.lead_id, tenant_reference_id = excluded.tenant_reference_id,
		gateway_reference = excluded.gateway_reference,
		transaction_at = excluded.transaction_at, iban_masked = excluded.iban_masked, bic = excluded.bic,
		email = excluded.email, country = excluded.country, updated_at = excluded.updated_at,
		bank_fee_minor = CASE WHEN COALESCE(chargebacks.bank_fee_minor, -1) > COALESCE(excluded.bank_fee_minor, -1)
			THEN chargebacks.bank_fee_minor ELSE excluded.bank_fee_minor END
	WHERE chargebacks.id = excluded.id AND chargebacks.transaction_id IS NULL`

// raiseFee writes what a bank takes for a chargeback, unless somebody has written as much meanwhile.
func (tx *Tx) raiseFee(c payment.Chargeback) {
	tx.Then(`UPDATE chargebacks SET bank_fee_minor = $3, updated_at = $4
		WHERE tenant_id = $1 AND id = $2 AND COALESCE(bank_fee_minor, -1) < $3`, c.TenantID, c.ID, *c.BankFeeMinor, db.Micros(tx.At))
}

func ScanChargeback(r db.Rows) (c payment.Chargeback, err error) {
	return c, r.Scan(Chargebacks.Fields(&c)...)
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
	return t.chargeback(ctx, unlinked, of.GatewayID, of.MerchantTransactionID, of.GatewayReference)
}

// unlinked names the few first, by two indexes: SQLite would hold all chargebacks of the tenant against an OR.
const unlinked = ` AND gateway_id = $2 AND transaction_id IS NULL AND id IN (
	SELECT id FROM chargebacks WHERE tenant_id = $1 AND merchant_transaction_id = $3
	UNION ALL SELECT id FROM chargebacks WHERE tenant_id = $1 AND gateway_reference = $4 AND gateway_reference <> '') ORDER BY id LIMIT 1`

func (t Tenant) chargeback(ctx context.Context, where string, args ...any) (*payment.Chargeback, error) {
	result, err := t.Query(ctx, `SELECT `+Chargebacks.List("")+` FROM chargebacks WHERE tenant_id = $1`+where, args...)
	found, err := db.One(result, err, ScanChargeback)
	if errors.Is(err, db.ErrNoRow) {
		return nil, nil
	}
	return &found, err
}
