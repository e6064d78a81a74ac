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
		staged := make([]store.Staged, lines)
		for i := range staged {
			staged[i] = store.Staged{Line: i + 2, Transaction: known[i]}
		}
		importID := payment.NewID()
		env.Write(t, func(tx *store.Tx) error { return tx.Stage(importID, staged) })
		env.Write(t, func(tx *store.Tx) error {
			tx.CountStaged()
			tx.Analyze("transactions")
			return nil
		})
		match := store.Match{TenantID: shop.ID, ImportID: importID, GatewayID: shop.Gateway.ID, From: env.Now.Add(-time.Hour), To: env.Now.Add(time.Hour)}
		sums, err := match.Sums(t.Context(), env.Store)
		if err != nil || len(sums) != 2 || sums[0].Count != lines || sums[1].Count != records-lines {
			t.Fatalf("%+v: %v", sums, err)
		}
		all := []any{shop.ID.String(), importID.String(), shop.Gateway.ID.String(), match.From.UnixMicro(), match.To.UnixMicro(), 100}
		for _, statement := range match.Statements() {
			args := all[:3:3]
			switch {
			case strings.Contains(statement, "$6"):
				args = all
			case strings.Contains(statement, "$5"):
				args = all[:5]
			case strings.Contains(statement, "$4"):
				args = append(args, 100)
			}
			plan := env.Explain(t, statement, args)
			if strings.Contains(plan, "Nested Loop") || strings.Contains(plan, "SCAN t\n") && !strings.Contains(plan, "SEARCH s ") || strings.Contains(plan, "AUTOMATIC") {
				t.Errorf("%s\nhas the plan\n%s", statement, plan)
			}
		}
	})
}
