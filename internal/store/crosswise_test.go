package store_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// meet has two units come to a row that somebody holds, until both wait, and tells how often they were run in all: twice
// where neither was sacrificed because they had waited for each other.
func meet(t *testing.T, env *storetest.Env, hold string, held []any, units ...func(*store.Tx) error) int {
	t.Helper()
	process := env.Reopen(t)
	holder, err := env.DB(t).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := holder.ExecContext(t.Context(), hold, held...); err != nil {
		t.Fatal(err)
	}
	var runs atomic.Int32
	var group sync.WaitGroup
	for _, unit := range units {
		group.Go(func() {
			err := process.Write(context.WithoutCancel(t.Context()), env.Now, func(tx *store.Tx) error {
				runs.Add(1)
				return unit(tx)
			})
			if err != nil && !errors.Is(err, store.ErrStale) {
				t.Errorf("a unit was given up: %v", err)
			}
		})
	}
	for waiting := 0; waiting < len(units); {
		waiting = storetest.Scalar[int](t, env, `SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`)
	}
	if err := holder.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
		t.Error(err)
	}
	group.Wait()
	return int(runs.Load())
}

// quarrelsome is a PostgreSQL that soon sacrifices one of two units that wait for each other.
func quarrelsome(t *testing.T) *storetest.Env {
	t.Helper()
	env := storetest.FreshPostgres(t)
	separator := "?"
	if strings.Contains(env.URL, "?") {
		separator = "&"
	}
	env.URL += separator + "deadlock_timeout=50"
	return env
}

// TestFilesWithTheSameLinesDoNotWaitCrosswise, in whatever order their lines are.
func TestFilesWithTheSameLinesDoNotWaitCrosswise(t *testing.T) {
	t.Parallel()
	env := quarrelsome(t)
	shop := env.Shop(t)
	file := func(names ...string) func(*store.Tx) error {
		return func(tx *store.Tx) error {
			importID := payment.NewID()
			var lines []store.Staged
			for i, name := range names {
				lines = append(lines, store.Staged{Line: i + 1, Transaction: payment.Transaction{
					ID: payment.NewID(), TenantID: shop.ID, MerchantTransactionID: name, Status: payment.TransactionApproved, Type: payment.Sale,
					AmountMinor: 100, Currency: "EUR", ProcessedAt: env.Now,
				}})
			}
			if err := tx.Stage(importID, lines); err != nil {
				return err
			}
			_, err := tx.InsertStaged(shop.ID, importID, shop.Gateway.ID, payment.SourceImport)
			return err
		}
	}
	paid := collected(t, env, shop).Transaction
	const another = `INSERT INTO transactions SELECT (t2).* FROM (SELECT jsonb_populate_record(t, jsonb_build_object('id', $2::text,
		'merchant_transaction_id', 'B', 'session_id', NULL, 'order_id', NULL, 'tenant_reference_id', NULL)) AS t2 FROM transactions t WHERE id = $1) s`
	if runs := meet(t, env, another, []any{paid.ID.String(), payment.NewID().String()}, file("A", "B", "C"), file("C", "B", "A")); runs != 2 {
		t.Errorf("two files were written in %d runs", runs)
	}
	if count := storetest.Scalar[int](t, env, `SELECT COUNT(*) FROM transactions WHERE merchant_transaction_id IN ('A', 'B', 'C')`); count != 3 {
		t.Errorf("%d payments are there", count)
	}
}

// TestReportsOfTheSameDoNotWaitCrosswise: chargebacks, and returns of the same subscriptions.
func TestReportsOfTheSameDoNotWaitCrosswise(t *testing.T) {
	t.Parallel()

	t.Run("chargebacks of the same names", func(t *testing.T) {
		t.Parallel()
		env := quarrelsome(t)
		shop := env.Shop(t)
		report := func(names ...string) func(*store.Tx) error {
			return func(tx *store.Tx) error {
				var taken []store.Applied
				for _, name := range names {
					taken = append(taken, unlinked(env, shop, name))
				}
				return tx.ApplyAll(shop.ID, taken)
			}
		}
		env.InsertChargebacks(t, []payment.Chargeback{*unlinked(env, shop, "KNOWN").Chargeback})
		const another = `INSERT INTO chargebacks SELECT (c2).* FROM (SELECT jsonb_populate_record(c, jsonb_build_object('id', $1::text,
			'merchant_transaction_id', 'B')) AS c2 FROM chargebacks c) s`
		if runs := meet(t, env, another, []any{payment.NewID().String()}, report("A", "B", "C"), report("C", "B", "A")); runs != 2 {
			t.Errorf("two reports were written in %d runs", runs)
		}
	})

	t.Run("returns of the same subscriptions", func(t *testing.T) {
		t.Parallel()
		env := quarrelsome(t)
		shop := env.Shop(t)
		var firsts, seconds []store.Applied
		var subs []uuid.UUID
		for range 3 {
			paid := collected(t, env, shop, storetest.WithTerms(storetest.Monthly))
			rebill := paid.Transaction
			rebill.ID, rebill.MerchantTransactionID, rebill.Type, rebill.SessionID, rebill.TenantReferenceID = payment.NewID(), payment.NewMerchantTransactionID(env.Now), payment.Rebill, nil, nil
			env.InsertTransactions(t, []payment.Transaction{rebill})
			firsts, seconds = append(firsts, chargedBack(t, env, paid)), append(seconds, chargedBack(t, env, env.Debit(t, rebill)))
			subs = append(subs, paid.Subscription.ID)
		}
		slices.Reverse(seconds)
		report := func(taken []store.Applied) func(*store.Tx) error {
			return func(tx *store.Tx) error { return tx.ApplyAll(shop.ID, taken) }
		}
		if runs := meet(t, env, `SELECT 1 FROM subscriptions WHERE id = $1 FOR UPDATE`, []any{subs[1].String()}, report(firsts), report(seconds)); runs != 2 {
			t.Errorf("two reports were written in %d runs", runs)
		}
	})
}
