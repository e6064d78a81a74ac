package store_test

import (
	"strings"
	"testing"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestAPaymentFindsItsChargebackByIndexes: whoever brings payments in asks for each of them, and SQLite takes every tenant for one
// with few chargebacks.
func TestAPaymentFindsItsChargebackByIndexes(t *testing.T) {
	t.Parallel()
	env := storetest.SQLite(t)
	plan := env.Explain(t, store.UnlinkedStatement, []any{env.Tenant(t).ID.String(), payment.NewID().String(), "TXN-1", "GW-1"})
	for line := range strings.Lines(plan) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "SCAN") || strings.HasSuffix(line, "(tenant_id=?)") {
			t.Errorf("%s:\n%s", line, plan)
		}
	}
}
