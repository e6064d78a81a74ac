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

// TestManyRepeatedLinesAreDroppedSomeAtATime: a file of a million lines with one reference had everybody wait for SQLite's writer
// for as long as it took to drop them.
func TestManyRepeatedLinesAreDroppedSomeAtATime(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		match := store.Match{TenantID: shop.ID, ImportID: payment.NewID(), GatewayID: shop.Gateway.ID, From: env.Now, To: env.Now.Add(time.Hour)}
		var lines []store.Compared
		const pairs, same = 3000, 9000
		for i := range pairs + same {
			reference := "the same"
			if i < pairs {
				reference = fmt.Sprint("two of ", i)
				lines = append(lines, store.Compared{Line: same + pairs + i, MerchantTransactionID: reference, Type: payment.Sale, AmountMinor: 1, Currency: "EUR", ProcessedAt: env.Now})
			}
			lines = append(lines, store.Compared{Line: i, MerchantTransactionID: reference, Type: payment.Sale, AmountMinor: 1, Currency: "EUR", ProcessedAt: env.Now})
		}
		env.Write(t, func(tx *store.Tx) error { return tx.AddCompared(match, lines) })
		plan := env.Explain(t, env.Store.RepeatedStatement(), []any{shop.ID.String(), match.ImportID.String(), ""})
		if strings.Contains(plan, "Join") || strings.Contains(plan, "Nested Loop") || strings.Contains(plan, "SCAN") {
			t.Errorf("each line is held against all of its reference:\n%s", plan)
		}
		dropped := map[int]bool{}
		if err := env.Store.DropRepeated(t.Context(), env.Now, match, func(c store.Compared) { dropped[c.Line] = true }); err != nil {
			t.Fatal(err)
		}
		if left := env.Count(t, "compared_lines"); len(dropped) != pairs+same-1 || left != pairs+1 || dropped[pairs] || dropped[0] {
			t.Errorf("%d lines are dropped and %d left, want %d and %d", len(dropped), left, pairs+same-1, pairs+1)
		}
		if err := env.Store.DropCompared(t.Context(), env.Now, match); err != nil || env.Count(t, "compared_lines") != 0 {
			t.Errorf("%d lines are left: %v", env.Count(t, "compared_lines"), err)
		}
	})
}
