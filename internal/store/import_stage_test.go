package store_test

import (
	"bytes"
	"fmt"
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
		// One more is known by its processor's name alone, and one has found its payment.
		for i, linked := range []*uuid.UUID{nil, new(payment.NewID())} {
			c := waiting[0]
			c.ID, c.MerchantTransactionID, c.GatewayReference, c.TransactionID = payment.NewID(), fmt.Sprint("CB-", i), fmt.Sprint("GW-", i), linked
			line := lines[0]
			line.Line, line.ID, line.MerchantTransactionID, line.GatewayReference = len(lines)+1, payment.NewID(), fmt.Sprint("TXN-", i), c.GatewayReference
			waiting, lines = append(waiting, c), append(lines, line)
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
			slices.SortFunc(found, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
			if want := []uuid.UUID{lines[0].ID, lines[2].ID}; !slices.Equal(found, want) {
				t.Errorf("found %v, want %v", found, want)
			}
			return err
		})
	})
}

// TestALineOfAnotherKindDiffers, also where all else is the same.
func TestALineOfAnotherKindDiffers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		known, importID := collected(t, env, shop).Transaction, payment.NewID()
		env.Write(t, func(tx *store.Tx) error {
			err := tx.Stage(importID, []store.Staged{{Line: 2, Transaction: payment.Transaction{
				ID: payment.NewID(), TenantID: shop.ID, MerchantTransactionID: known.MerchantTransactionID, Status: known.Status, Type: payment.Refund,
				AmountMinor: known.AmountMinor, Currency: known.Currency, ProcessedAt: env.Now,
			}}})
			if err != nil {
				return err
			}
			found, err := tx.DifferentStaged(shop.ID, importID, shop.Gateway.ID)
			if len(found) != 1 || found[0].Reported.Type != payment.Refund {
				t.Errorf("%d lines differ", len(found))
			}
			return err
		})
	})
}

// TestAChargebackWaitsForItsOwnPayment, which it knows by either name.
func TestAChargebackWaitsForItsOwnPayment(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		env.InsertChargebacks(t, []payment.Chargeback{{
			ID: payment.NewID(), TenantID: shop.ID, GatewayID: shop.Gateway.ID, MerchantTransactionID: "TXN-HERE", GatewayReference: "GW-HERE", AmountMinor: 100,
			Currency: "EUR", ReportedAt: env.Now, Source: payment.ChargebackImported, CreatedAt: env.Now, UpdatedAt: env.Now,
		}})
		for of, want := range map[payment.Transaction]bool{
			{MerchantTransactionID: "TXN-HERE"}:                                true,
			{MerchantTransactionID: "TXN-OTHER", GatewayReference: "GW-HERE"}:  true,
			{MerchantTransactionID: "TXN-OTHER", GatewayReference: "GW-OTHER"}: false,
			{MerchantTransactionID: "TXN-OTHER"}:                               false,
		} {
			of.GatewayID = shop.Gateway.ID
			if found, err := env.Store.Tenant(shop.ID).UnlinkedChargeback(t.Context(), of); err != nil || (found != nil) != want {
				t.Errorf("%s %s: found %t, want %t: %v", of.MerchantTransactionID, of.GatewayReference, found != nil, want, err)
			}
		}
	})
}
