package listing

import (
	"context"
	"sync"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
)

// TransactionFilter says which transactions are listed; what is empty admits all.
type TransactionFilter struct {
	Statuses []payment.TransactionStatus
	// Types are standardized ones.
	Types     []string
	GatewayID *uuid.UUID
}

// standardizedType is payment.TransactionType.Standardized in SQL, word for word
// as it stands in the indexes.
const standardizedType = `(CASE WHEN type IN ('sdd_sale', 'sdd_rebill') THEN 'sdd_sale'
	WHEN type = 'sdd_refund' THEN 'sdd_refund' ELSE 'other_type' END)`

var transactionListing = listing[payment.Transaction]{
	table: "transactions", instant: "processed_at", spare: &sync.Pool{},
	columns: `id, gateway_reference, processor_id, merchant_transaction_id, tenant_reference_id, status, type, amount_minor, currency,
		processed_at, iban_masked, bic, email, holder_name, mandate_reference, mandate_at, source, order_id,
		subscription_id, lead_id, gateway_id, created_at, updated_at`,
	scan: func(row *listedRow, t *payment.Transaction) {
		t.ID, t.GatewayReference, t.ProcessorID, t.MerchantTransactionID = row.id(), row.text(), row.text(), row.text()
		t.TenantReferenceID = row.textIfAny()
		t.Status, t.Type = payment.TransactionStatus(row.text()), payment.TransactionType(row.text())
		t.AmountMinor, t.Currency, t.ProcessedAt = row.minor(), row.text(), row.instant()
		t.MaskedIBAN, t.BIC, t.Email, t.HolderName = row.text(), row.text(), row.text(), row.text()
		t.MandateReference, t.MandateAt, t.Source = row.text(), row.instant(), payment.Source(row.text())
		t.OrderID, t.SubscriptionID, t.LeadID, t.GatewayID = row.idIfAny(), row.idIfAny(), row.idIfAny(), row.id()
		t.CreatedAt, t.UpdatedAt = row.instant(), row.instant()
	},
}

// filters are none for the whole listing, which has an index of its own. The
// indexes behind filters have status and type first.
func (f TransactionFilter) filters() []filter {
	if len(f.Statuses) == 0 && len(f.Types) == 0 && f.GatewayID == nil {
		return nil
	}
	return []filter{
		equal("gateway_id", given(f.GatewayID)),
		equal("status", orAll(f.Statuses, payment.TransactionStatuses)),
		equal(standardizedType, orAll(f.Types, payment.StandardizedTypes)),
	}
}

// Transactions lists those that a gateway has answered, by the instant of its
// first answer, with what their public record needs.
func Transactions(ctx context.Context, t store.Tenant, w Window, f TransactionFilter) (Listed[payment.Transaction], error) {
	return transactionListing.read(ctx, t, w, f.filters())
}

// given is a filter's single value, if there is one.
func given(id *uuid.UUID) []uuid.UUID {
	if id == nil {
		return nil
	}
	return []uuid.UUID{*id}
}

func orAll[V any](values, all []V) []V {
	if len(values) == 0 {
		return all
	}
	return values
}
