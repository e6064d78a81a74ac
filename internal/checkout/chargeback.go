package checkout

import (
	"context"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/webhook"
)

// ChargeBack records by hand that a payment was charged back. A second one for
// the same payment is a conflict, unless it is the same request again.
func (c *Checkout) ChargeBack(ctx context.Context, tenantID, transactionID uuid.UUID, report payment.Chargeback, key store.RequestKey) (payment.Chargeback, error) {
	setup, err := c.SetupOf(ctx, tenantID)
	if err != nil {
		return payment.Chargeback{}, err
	}
	return store.Once(ctx, c.Store, key,
		func(id uuid.UUID) (payment.Chargeback, error) { return c.Store.Tenant(tenantID).Chargeback(ctx, id) },
		func() (payment.Chargeback, error) { return c.chargeBack(ctx, setup, transactionID, report, key) })
}

func (c *Checkout) chargeBack(ctx context.Context, setup *merchant.Setup, transactionID uuid.UUID, report payment.Chargeback, key store.RequestKey) (recorded payment.Chargeback, err error) {
	tenantID := setup.Tenant.ID
	err = retry(func() error {
		paid, err := c.Store.Tenant(tenantID).Debit(ctx, transactionID)
		if err != nil {
			return err
		}
		known, err := c.Store.Tenant(tenantID).ChargebackByMerchantID(ctx, paid.Transaction.MerchantTransactionID)
		if err != nil {
			return err
		}
		if known != nil {
			return payment.ErrChargedBack
		}
		now := c.now()
		change, err := paid.ChargeBackByHand(report, c.policy(setup, paid.Subscription), now)
		if err != nil {
			return err
		}
		recorded = *change.Chargeback
		events, err := webhook.Rows(ctx, c.Store, setup, change)
		if err != nil {
			return err
		}
		return c.Store.Write(ctx, now, func(tx *store.Tx) error {
			tx.Remember(key, recorded.ID)
			tx.Apply(change, events)
			tx.Audit(store.Deed{
				Action: "chargeback.create", ObjectType: "chargeback", ObjectID: recorded.ID.String(), TenantID: tenantID,
				After: map[string]any{
					"transaction_id": transactionID, "amount": recorded.AmountMinor.String(), "currency": recorded.Currency, "reason_code": recorded.ReasonCode,
				},
			})
			return nil
		})
	})
	return recorded, err
}

// findPayment finds a payment by either of its names.
func (c *Checkout) findPayment(ctx context.Context, tenant store.Tenant, gatewayID uuid.UUID, merchantTransactionID, reference string) (payment.Debit, error) {
	err := error(store.ErrNoTransaction)
	var found payment.Debit
	if merchantTransactionID != "" {
		found, err = tenant.DebitByMerchantID(ctx, merchantTransactionID)
	}
	if payment.KindOf(err) == payment.NotFound && reference != "" {
		found, err = tenant.DebitByGatewayReference(ctx, gatewayID, reference)
	}
	return found, err
}

// LinkChargebacks applies a chargeback that came before its payment.
func (c *Checkout) LinkChargebacks(ctx context.Context, setup *merchant.Setup, transactionID uuid.UUID) error {
	tenant := c.Store.Tenant(setup.Tenant.ID)
	return retry(func() error {
		paid, err := tenant.Debit(ctx, transactionID)
		if err != nil {
			return err
		}
		waiting, err := tenant.UnlinkedChargeback(ctx, paid.Transaction)
		if err != nil || waiting == nil {
			return err
		}
		var recorded *payment.Chargeback
		others, err := tenant.ChargebacksOf(ctx, []uuid.UUID{transactionID})
		if err != nil {
			return err
		}
		if len(others) > 0 {
			recorded = &others[0]
		}
		now := c.now()
		change, err := paid.LinkChargeback(*waiting, recorded, c.policy(setup, paid.Subscription), now)
		if err != nil {
			return err
		}
		return c.apply(ctx, setup, change, now)
	})
}
