package store_test

import (
	"slices"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestAFileFindsChargebacksOfItsAccount and none of another one that happens to use the same reference.
func TestAFileFindsChargebacksOfItsAccount(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		elsewhere := env.Gateway(t, shop.ID)
		var waiting []payment.Chargeback
		var lines []store.Staged
		for i, gatewayID := range []uuid.UUID{shop.Gateway.ID, elsewhere.ID} {
			reference := []string{"TXN-HERE", "TXN-ELSEWHERE"}[i]
			waiting = append(waiting, payment.Chargeback{
				ID: payment.NewID(), TenantID: shop.ID, GatewayID: gatewayID, MerchantTransactionID: reference, AmountMinor: 100, Currency: "EUR",
				ReportedAt: env.Now, Source: payment.ChargebackImported, CreatedAt: env.Now, UpdatedAt: env.Now,
			})
			lines = append(lines, store.Staged{Line: i + 1, Transaction: payment.Transaction{
				ID: payment.NewID(), TenantID: shop.ID, MerchantTransactionID: reference, Status: payment.TransactionApproved, Type: payment.Sale,
				AmountMinor: 100, Currency: "EUR", ProcessedAt: env.Now,
			}})
		}
		env.InsertChargebacks(t, waiting)
		importID := payment.NewID()
		env.Write(t, func(tx *store.Tx) error {
			if err := tx.Stage(importID, lines); err != nil {
				return err
			}
			if _, err := tx.InsertStaged(shop.ID, importID, shop.Gateway.ID, payment.SourceImport); err != nil {
				return err
			}
			found, err := tx.StagedWithChargeback(shop.ID, importID, shop.Gateway.ID)
			if want := []uuid.UUID{lines[0].ID}; !slices.Equal(found, want) {
				t.Errorf("found %v, want %v", found, want)
			}
			return err
		})
	})
}
