package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestAFileIsHeldAgainstOurRecordsInOnePass reads the plans of a matching report: PostgreSQL must not go through the
// file for each of our records, and SQLite finds each record by its reference.
func TestAFileIsHeldAgainstOurRecordsInOnePass(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		const records, lines = 6_000, 3_000
		shop := env.Shop(t)
		known := make([]payment.Transaction, records)
		for i := range known {
			known[i] = payment.Transaction{
				ID: payment.NewID(), TenantID: shop.ID, GatewayID: shop.Gateway.ID, MerchantTransactionID: fmt.Sprintf("TXN-%08d", i*7919%records),
				Status: payment.TransactionApproved, Type: payment.Sale, AmountMinor: 100, Currency: "EUR", Source: payment.SourceImport,
				ProcessedAt: env.Now, CreatedAt: env.Now, UpdatedAt: env.Now,
			}
		}
		env.InsertTransactions(t, known)
		compared := make([]store.Compared, lines)
		for i := range compared {
			compared[i] = store.Compared{
				Line: i + 2, MerchantTransactionID: known[i].MerchantTransactionID, Status: known[i].Status, Type: known[i].Type,
				AmountMinor: known[i].AmountMinor, Currency: known[i].Currency, ProcessedAt: env.Now,
			}
		}
		match := store.Match{TenantID: shop.ID, ImportID: payment.NewID(), GatewayID: shop.Gateway.ID, From: env.Now.Add(-time.Hour), To: env.Now.Add(time.Hour)}
		env.Write(t, func(tx *store.Tx) error { return tx.AddCompared(match, compared) })
		env.Write(t, func(tx *store.Tx) error {
			tx.CountCompared()
			tx.Analyze("transactions")
			return nil
		})
		missingThere := 0
		err := match.Mismatches(t.Context(), env.Store, func(m store.Mismatch) {
			if m.File != nil {
				t.Errorf("%+v does not match %+v", m.File, m.Known)
			}
			missingThere++
		})
		if err != nil || missingThere != records-lines {
			t.Fatalf("%d records are missing there: %v", missingThere, err)
		}
		all := []any{shop.ID.String(), match.ImportID.String(), shop.Gateway.ID.String(), match.From.UnixMicro(), match.To.UnixMicro()}
		for _, statement := range match.Statements() {
			args := all
			if !strings.Contains(statement, "$3") {
				args = all[:2]
			}
			plan := env.Explain(t, statement, args)
			if strings.Contains(plan, "Nested Loop") || strings.Contains(plan, "SCAN t\n") && !strings.Contains(plan, "SEARCH l ") || strings.Contains(plan, "AUTOMATIC") {
				t.Errorf("%s\nhas the plan\n%s", statement, plan)
			}
		}
	})
}
