package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/google/uuid"

	"sepad/internal/payment"
)

// ErrNoTransaction is the answer for a transaction that nobody has.
var ErrNoTransaction = &payment.Error{Kind: payment.NotFound, Detail: "Transaction not found"}

const collectionQuery = `SELECT ` + transactionColumns + `, ` + orderColumns + `, l.country, s.webhook_profile_id
	FROM transactions t
	LEFT JOIN orders o ON o.tenant_id = t.tenant_id AND o.id = t.order_id
	LEFT JOIN sessions s ON s.tenant_id = o.tenant_id AND s.id = o.session_id
	LEFT JOIN leads l ON l.tenant_id = t.tenant_id AND l.id = t.lead_id
	WHERE t.tenant_id = $1`

// Collection reads a transaction with all that hangs on it.
func (t Tenant) Collection(ctx context.Context, transactionID uuid.UUID) (payment.Collection, error) {
	return t.collection(ctx, ` AND t.id = $2`, transactionID)
}

// CollectionByMerchantID finds one by the reference that we gave it.
func (t Tenant) CollectionByMerchantID(ctx context.Context, merchantTransactionID string) (payment.Collection, error) {
	return t.collection(ctx, ` AND t.merchant_transaction_id = $2`, merchantTransactionID)
}

// CollectionByGatewayReference finds one by the id that its gateway gave it. It
// finds none where two have the same.
func (t Tenant) CollectionByGatewayReference(ctx context.Context, gatewayID uuid.UUID, reference string) (payment.Collection, error) {
	return t.collection(ctx, ` AND t.gateway_reference = $2 AND t.gateway_id = $3`+onlyReference, reference, gatewayID)
}

// onlyReference leaves out payments whose gateway gave another one the same id.
const onlyReference = ` AND t.gateway_reference <> ''
	AND NOT EXISTS (SELECT 1 FROM transactions x WHERE x.tenant_id = t.tenant_id
		AND x.gateway_reference = t.gateway_reference AND x.gateway_reference <> ''
		AND x.gateway_id = t.gateway_id AND x.id <> t.id)`

func (t Tenant) collection(ctx context.Context, where string, args ...any) (payment.Collection, error) {
	result, err := t.query(ctx, collectionQuery+where, args...)
	c, err := one(result, err, scanCollection)
	if errors.Is(err, errNoRow) {
		return payment.Collection{}, ErrNoTransaction
	}
	if err == nil {
		c.Subscription, err = t.subscriptionOf(ctx, c.Transaction)
	}
	return c, err
}

func scanCollection(r rows) (c payment.Collection, err error) {
	var row transactionRow
	var order orderIfAny
	var country sql.NullString
	if err := r.Scan(slices.Concat(row.fields(), order.fields(), []any{&country, &c.WebhookProfileID})...); err != nil {
		return c, err
	}
	c.Transaction, c.Order, c.LeadCountry = row.transaction(), order.order(), country.String
	return c, nil
}

// ApplyChange writes what happened to a collection, with its events. Every row
// must still be as it was read; otherwise nothing is written and Write gives
// ErrStale. A change without a transaction adds a chargeback alone.
func (tx *Tx) ApplyChange(before payment.Collection, refund *payment.Transaction, after payment.Change, events []EventRow) {
	tenantID := after.Transaction.TenantID
	if before.Transaction.ID != uuid.Nil {
		tx.changeCollection(before, after.Collection)
	} else {
		tenantID = after.Chargeback.TenantID
	}
	if refund != nil {
		tx.updateTransaction(ErrStale, *after.Refund, refund.Attempt.Phase, refund.Status)
	}
	if after.Chargeback != nil {
		tx.putChargeback(*after.Chargeback)
	}
	tx.AddEvents(tenantID, events)
}

// changeCollection writes transaction, order and subscription.
func (tx *Tx) changeCollection(before, after payment.Collection) {
	b, a := before.Transaction, after.Transaction
	decline := payment.Decline{}
	if a.Decline != nil {
		decline = *a.Decline
	}
	tx.require(ErrStale, `
		UPDATE transactions SET status = $7, gateway_reference = $8, settle_due_at = $9, refunded_minor = $10,
			refunding_minor = $11, decline_code = $12, decline_message = $13, gateway_code = $14, gateway_message = $15,
			updated_at = $16, in_flight = $17, lookup_count = $18, next_lookup_at = $19, processed_at = $20
		WHERE tenant_id = $1 AND id = $2 AND status = $3 AND COALESCE(in_flight, '') = $4 AND refunded_minor = $5
			AND refunding_minor = $6`,
		b.TenantID, b.ID, string(b.Status), string(b.Attempt.Phase), b.RefundedMinor, b.RefundingMinor,
		string(a.Status), a.GatewayReference, micros(a.SettleDueAt), a.RefundedMinor, a.RefundingMinor,
		string(decline.Code), decline.Message, decline.GatewayCode, decline.GatewayMessage, micros(tx.At),
		phase(a.Attempt.Phase), a.Attempt.LookupCount, micros(a.Attempt.NextLookupAt), micros(a.ProcessedAt))
	tx.changeRest(before, after)
}

// changeRest writes what hangs on a transaction, where it has changed.
func (tx *Tx) changeRest(before, after payment.Collection) {
	tenantID := before.Transaction.TenantID
	if after.Order != nil && after.Order.Status != before.Order.Status {
		tx.require(ErrStale, `
			UPDATE orders SET status = $3, updated_at = $4 WHERE tenant_id = $1 AND id = $2 AND status = $5`,
			tenantID, after.Order.ID, string(after.Order.Status), micros(tx.At), string(before.Order.Status))
	}
	if after.Subscription != nil && *after.Subscription != *before.Subscription {
		tx.ChangeSubscription(*before.Subscription, *after.Subscription)
	}
}

// AddEvents writes events of a unit that rests on something else.
func (tx *Tx) AddEvents(tenantID uuid.UUID, events []EventRow) {
	for _, e := range events {
		tx.insertEvent(tenantID, e)
	}
}

// AddTransaction writes a transaction that was not made by paying a session: a
// refund, or one that a report brought in. One with the same merchant reference
// must not exist, else Write gives ErrStale.
func (tx *Tx) AddTransaction(t payment.Transaction, events []EventRow) {
	decline := payment.Decline{}
	if t.Decline != nil {
		decline = *t.Decline
	}
	tx.require(ErrStale, `
		INSERT INTO transactions (tenant_id, id, order_id, subscription_id, lead_id, gateway_id, merchant_transaction_id,
			gateway_reference, status, type, amount_minor, currency, sequence_type, source, iban_sealed, iban_masked,
			iban_country, bic, bank_name, holder_name, email, mandate_reference, mandate_at, attempt_number, in_flight,
			lookup_count, next_lookup_at, verification_url, verification_reference, decline_code, decline_message,
			gateway_code, gateway_message, processed_at, created_at, updated_at, refund_of)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, '', $13, '', $14, $15, $16, $17, $18, $19, $20, $21,
			$22, $23, 0, $24, '', '', $25, $26, $27, $28, $29, $30, $30, $31)
		ON CONFLICT (tenant_id, merchant_transaction_id) DO NOTHING`,
		t.TenantID, t.ID, t.OrderID, t.SubscriptionID, t.LeadID, t.GatewayID, t.MerchantTransactionID,
		t.GatewayReference, string(t.Status), string(t.Type), t.AmountMinor, t.Currency, string(t.Source), t.MaskedIBAN,
		t.IBANCountry, t.BIC, t.BankName, t.HolderName, t.Email, t.MandateReference, micros(t.MandateAt),
		t.Attempt.Number, phase(t.Attempt.Phase), micros(t.Attempt.NextLookupAt), string(decline.Code), decline.Message,
		decline.GatewayCode, decline.GatewayMessage, micros(t.ProcessedAt), micros(tx.At), t.RefundOf)
	tx.AddEvents(t.TenantID, events)
}

// ClaimRefund sets the amount aside and records the refund before the gateway is
// called. Of two that together would give back too much, one gets ErrStale.
func (tx *Tx) ClaimRefund(before payment.Collection, after payment.Change) {
	tx.changeCollection(before, after.Collection)
	tx.AddTransaction(*after.Refund, nil)
}

// Transaction reads one transaction.
func (t Tenant) Transaction(ctx context.Context, id uuid.UUID) (payment.Transaction, error) {
	result, err := t.query(ctx, `SELECT `+transactionColumns+` FROM transactions t WHERE t.tenant_id = $1 AND t.id = $2`, id)
	found, err := one(result, err, scanTransaction)
	if errors.Is(err, errNoRow) {
		return found, ErrNoTransaction
	}
	return found, err
}

func scanTransaction(r rows) (payment.Transaction, error) {
	var row transactionRow
	err := r.Scan(row.fields()...)
	return row.transaction(), err
}
