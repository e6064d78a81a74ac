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
	wantIndexes(t, env.Explain(t, store.UnlinkedStatement, []any{env.Tenant(t).ID.String(), payment.NewID().String(), "TXN-1", "GW-1"}))
}

// TestAFileFindsItsChargebacksByIndexes: each of its lines was held against all chargebacks of the account that wait for their
// payments, and with 50,000 of these everybody else waited for SQLite's writer for more than a minute.
func TestAFileFindsItsChargebacksByIndexes(t *testing.T) {
	t.Parallel()
	env := storetest.SQLite(t)
	wantIndexes(t, env.Explain(t, store.StagedStatement, []any{env.Tenant(t).ID.String(), payment.NewID().String(), payment.NewID().String()}))
}

// wantIndexes expects a plan that goes through neither a table nor all that a tenant or an account has.
func wantIndexes(t *testing.T, plan string) {
	t.Helper()
	for line := range strings.Lines(plan) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "SCAN") || strings.HasSuffix(line, "(tenant_id=?)") || strings.Contains(line, "gateway_id=?") {
			t.Errorf("%s:\n%s", line, plan)
		}
	}
}

// TestAPersonsOpenSessionsAreFoundByTheLead: by their status SQLite went through all sessions of the tenant that await payment, while
// everybody waited for its writer.
func TestAPersonsOpenSessionsAreFoundByTheLead(t *testing.T) {
	t.Parallel()
	env := storetest.SQLite(t)
	plan := env.Explain(t, store.OpenSessionsStatement, []any{env.Tenant(t).ID.String(), payment.NewID().String()})
	if wantIndexes(t, plan); !strings.Contains(plan, "lead_id=?") {
		t.Errorf("the lead's index is not used:\n%s", plan)
	}
}
