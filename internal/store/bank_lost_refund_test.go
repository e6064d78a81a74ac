package store_test

import (
	"encoding/base32"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestLostRefundsComeInTheirOrder: one that the bank has refused comes before the one that took its place.
func TestLostRefundsComeInTheirOrder(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		paid := payment.Transaction{TenantID: shop.ID, GatewayID: shop.Gateway.ID, MerchantTransactionID: "TXN-20260101-PAIDPAID"}
		var want []string
		for day := range 40 {
			at := storetest.Start.Add(time.Duration(day) * 24 * time.Hour).UnixMilli()
			var id uuid.UUID
			for i := range 6 {
				id[i] = byte(at >> (8 * (5 - i)))
			}
			name := payment.RefundReference(paid, 1, day)
			want = append(want, name)
			env.Write(t, func(tx *store.Tx) error {
				file := store.BankFile{TenantID: shop.ID, GatewayID: shop.Gateway.ID,
					MessageID: "SD-" + base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(id[:])}
				tx.AddAdopted(file, []store.Adopted{{EndToEndID: name, Position: 100 - day, AmountMinor: 1, BlockID: strconv.Itoa(day)}})
				return nil
			})
		}
		lost, err := env.Store.Tenant(shop.ID).AdoptedRefunds(t.Context(), paid)
		var got []string
		for _, one := range lost {
			got = append(got, one.EndToEndID)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v, want %v", got, err, want)
		}
	})
}
