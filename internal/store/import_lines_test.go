package store_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/clock"
	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestALineThatRepeatsAnotherIsLeftOut: of two lines with a reference the first counts, within one file.
func TestALineThatRepeatsAnotherIsLeftOut(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop, foreign := env.Shop(t), env.Shop(t)
		line := func(number int, reference string) store.Compared {
			return store.Compared{
				Line: number, MerchantTransactionID: reference, Status: payment.TransactionApproved, Type: payment.Sale,
				AmountMinor: payment.Minor(number), Currency: "EUR", ProcessedAt: env.Now,
			}
		}
		match := store.Match{TenantID: shop.ID, ImportID: payment.NewID(), GatewayID: shop.Gateway.ID, From: env.Now, To: env.Now.Add(time.Hour)}
		once, theirs := match, match
		once.ImportID, theirs.TenantID = payment.NewID(), foreign.ID
		env.Write(t, func(tx *store.Tx) error {
			for of, lines := range map[store.Match][]store.Compared{
				match: {line(2, "one"), line(3, "two"), line(4, "one"), line(5, "one")}, once: {line(1, "one"), line(2, "two")}, theirs: {line(1, "one"), line(2, "one")},
			} {
				if err := tx.AddCompared(of, lines); err != nil {
					return err
				}
			}
			return nil
		})
		for of, want := range map[store.Match]bool{match: true, once: false, theirs: true} {
			if has, err := of.HasRepeated(t.Context(), env.Store); err != nil || has != want {
				t.Errorf("a file has repeated lines: %v, want %v: %v", has, want, err)
			}
		}
		var dropped []store.Compared
		if err := env.Store.DropRepeated(t.Context(), env.Now, match, func(c store.Compared) { dropped = append(dropped, c) }); err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(dropped, func(a, b store.Compared) int { return a.Line - b.Line })
		want := []store.Compared{{Line: 4, MerchantTransactionID: "one", Type: payment.Sale, AmountMinor: 4, Currency: "EUR"}, {Line: 5, MerchantTransactionID: "one", Type: payment.Sale, AmountMinor: 5, Currency: "EUR"}}
		if !slices.Equal(dropped, want) || env.Count(t, "compared_lines") != 6 {
			t.Errorf("left out are %v, and %d are kept", dropped, env.Count(t, "compared_lines"))
		}
		if err := env.Store.DropCompared(t.Context(), env.Now, match); err != nil {
			t.Fatal(err)
		}
		if env.Count(t, "compared_lines") != 4 {
			t.Errorf("of other files %d lines are kept", env.Count(t, "compared_lines"))
		}
	})
}

// TestALineThatSaysSomethingElseIsFound, and what it leaves behind is removed with its import or once it is old.
func TestALineThatSaysSomethingElseIsFound(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		known, same := collected(t, env, shop).Transaction, collected(t, env, shop).Transaction
		staged := func(line int, of payment.Transaction, change func(*payment.Transaction)) store.Staged {
			x := payment.Transaction{
				ID: payment.NewID(), TenantID: shop.ID, MerchantTransactionID: of.MerchantTransactionID, Status: of.Status, Type: of.Type, AmountMinor: of.AmountMinor,
				Currency: of.Currency, GatewayReference: "reported", ProcessorID: "P-1", MandateAt: env.Now, ProcessedAt: env.Now,
			}
			change(&x)
			return store.Staged{Line: line, Transaction: x}
		}
		importID, other := payment.NewID(), payment.NewID()
		lines := []store.Staged{staged(2, same, func(*payment.Transaction) {}), staged(3, known, func(x *payment.Transaction) { x.AmountMinor++ })}
		var found []store.Difference
		env.Write(t, func(tx *store.Tx) error {
			if err := tx.Stage(importID, lines); err != nil {
				return err
			}
			if err := tx.Stage(other, lines[:1]); err != nil {
				return err
			}
			if made, err := tx.InsertStaged(shop.ID, importID, shop.Gateway.ID, payment.SourceImport); err != nil || len(made) != 0 {
				t.Errorf("%d are new: %v", len(made), err)
			}
			var err error
			found, err = tx.DifferentStaged(shop.ID, importID, shop.Gateway.ID)
			return err
		})
		if len(found) != 1 {
			t.Fatalf("%d lines differ", len(found))
		}
		storetest.Equal(t, found[0], store.Difference{
			Line: 3,
			Known: payment.Transaction{
				ID: known.ID, TenantID: shop.ID, GatewayID: shop.Gateway.ID, MerchantTransactionID: known.MerchantTransactionID, Status: known.Status, Type: known.Type,
				AmountMinor: known.AmountMinor, Currency: known.Currency,
			},
			Reported: payment.Transaction{
				MerchantTransactionID: known.MerchantTransactionID, Status: known.Status, Type: known.Type, AmountMinor: known.AmountMinor + 1, Currency: known.Currency,
				GatewayReference: "reported", ProcessorID: "P-1", ProcessedAt: env.Now,
			},
		})
		if at := storetest.Scalar[int64](t, env, `SELECT mandate_at FROM staged_transactions WHERE line = 3`); at != env.Now.UnixMicro() {
			t.Errorf("the mandate is of %d", at)
		}
		left := func(want int, what string, remove func() error) {
			t.Helper()
			if err := remove(); err != nil {
				t.Fatal(err)
			}
			if got := env.Count(t, "staged_transactions"); got != want {
				t.Errorf("%s: %d are left, want %d", what, got, want)
			}
		}
		now := clock.Real{}.Now()
		unstage := func(tenantID uuid.UUID) func() error {
			return func() error {
				return env.TryWrite(t, func(tx *store.Tx) error { tx.Unstage(tenantID, importID); return nil })
			}
		}
		left(3, "by another tenant", unstage(uuid.New()))
		left(1, "with the import", unstage(shop.ID))
		left(1, "while it is new", func() error { return env.Store.ForgetStaged(t.Context(), env.Now, now.Add(-time.Hour)) })
		left(0, "once it is old", func() error { return env.Store.ForgetStaged(t.Context(), env.Now, now.Add(time.Hour)) })
	})
}

// TestAnImportWhoseProcessHasDiedHasFailed, once nobody can be at it any more.
func TestAnImportWhoseProcessHasDiedHasFailed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		now := clock.Real{}.Now()
		is := map[uuid.UUID]store.ImportStatus{payment.NewID(): store.ImportRunning, payment.NewID(): store.ImportCompleted}
		fail := func(before time.Time) {
			t.Helper()
			env.Write(t, func(tx *store.Tx) error { tx.FailImports(before); return nil })
			for id, want := range is {
				if got, err := env.Store.Tenant(shop.ID).Import(t.Context(), id); err != nil || got.Status != want {
					t.Errorf("it is %s, want %s: %v", got.Status, want, err)
				}
			}
		}
		env.Write(t, func(tx *store.Tx) error {
			for id, status := range is {
				tx.PutImport(store.Import{ID: id, TenantID: shop.ID, GatewayID: shop.Gateway.ID, Kind: "transactions", Status: status, CreatedAt: env.Now, UpdatedAt: env.Now})
			}
			return nil
		})
		fail(now.Add(-time.Hour))
		for id, status := range is {
			if status == store.ImportRunning {
				is[id] = store.ImportFailed
			}
		}
		fail(now.Add(time.Hour))
	})
}

// TestWhatBecameOfLinesIsAdded up, each kind for itself.
func TestWhatBecameOfLinesIsAdded(t *testing.T) {
	t.Parallel()
	counts := store.ImportCounts{New: 1, Updated: 2, Unchanged: 3, Rejected: 4}
	counts.Add(store.ImportCounts{New: 10, Updated: 20, Unchanged: 30, Rejected: 40})
	if want := (store.ImportCounts{New: 11, Updated: 22, Unchanged: 33, Rejected: 44}); counts != want {
		t.Errorf("got %+v", counts)
	}
}

// TestLinesThatCouldNotBeStagedAreToldOf: a file would count as taken in without them.
func TestLinesThatCouldNotBeStagedAreToldOf(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		line := payment.Transaction{ID: payment.NewID(), TenantID: shop.ID, MerchantTransactionID: "TXN-1", Status: payment.TransactionApproved, Type: payment.Sale, ProcessedAt: env.Now}
		env.Exec(t, `ALTER TABLE staged_transactions RENAME TO hidden`)
		err := env.TryWrite(t, func(tx *store.Tx) error {
			return tx.Stage(payment.NewID(), []store.Staged{{Line: 1, Transaction: line}})
		})
		if err == nil {
			t.Error("nothing is wrong")
		}
	})
}

// TestMatchingReportsAreInNobodysWay: four of them took every connection of SQLite that reads, and nobody could pay meanwhile.
func TestMatchingReportsAreInNobodysWay(t *testing.T) {
	t.Parallel()
	env := storetest.SQLite(t)
	var files []store.Match
	for range 2 {
		shop := env.Shop(t)
		match := store.Match{TenantID: shop.ID, ImportID: payment.NewID(), GatewayID: shop.Gateway.ID, From: env.Now, To: env.Now}
		files = append(files, match, match)
		env.Write(t, func(tx *store.Tx) error {
			return tx.AddCompared(match, []store.Compared{{Line: 1, MerchantTransactionID: "one", Type: payment.Sale, Currency: "EUR", ProcessedAt: env.Now}})
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	begun := 0
	var begin func(files []store.Match) error
	begin = func(files []store.Match) (err error) {
		if len(files) == 0 {
			result, err := env.Store.Query(ctx, `SELECT 1`)
			_, err = db.Collect(result, err, func(r db.Rows) (n int, err error) { return n, r.Scan(&n) })
			return err
		}
		gone := files[0].Mismatches(ctx, env.Store, func(store.Mismatch) { begun++; err = begin(files[1:]) })
		return errors.Join(err, gone)
	}
	if err := begin(files); err != nil || begun != len(files) {
		t.Errorf("beside %d reports: %v", begun, err)
	}
}

// TestAPlannerHearsHowMuchAnImportHasBrought: it would take the table for nearly empty, and read a tenant's rows for every batch.
func TestAPlannerHearsHowMuchAnImportHasBrought(t *testing.T) {
	t.Parallel()
	env := storetest.Postgres(t)
	shop := env.Shop(t)
	const brought = 37
	manyPayments(t, env, shop, brought)
	env.Write(t, func(tx *store.Tx) error { tx.Recount(anImport(env, shop)); return nil })
	if known := storetest.Scalar[float64](t, env, `SELECT reltuples FROM pg_class WHERE oid = 'transactions'::regclass`); known != brought {
		t.Errorf("it knows of %.0f rows, of %d", known, brought)
	}
}
