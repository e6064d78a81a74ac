package store_test

import (
	"errors"
	"maps"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestOnlyWhoIsCollectedLaterIsToldAnotherDay has a file in which one payment keeps the day that was told.
func TestOnlyWhoIsCollectedLaterIsToldAnotherDay(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		moved, kept := awaitingFile(t, env, shop), awaitingFile(t, env, shop)
		file, taking := take(bankFile(moved), moved, kept)
		env.Write(t, taking)
		env.Exec(t, `UPDATE transactions SET due_date = '2026-11-17' WHERE id = $1`, moved.ID.String())
		env.Exec(t, `UPDATE transactions SET due_date = $1 WHERE id = $2`, file.DueDate, kept.ID.String())
		days, err := env.Store.Tenant(shop.ID).Redated(t.Context(), file.ID, 10)
		if err != nil {
			t.Fatal(err)
		}
		day, err := payment.ParseDate(file.DueDate)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[uuid.UUID]payment.Date{moved.ID: day}; !maps.Equal(days, want) {
			t.Errorf("got %v, want %v", days, want)
		}
	})
}

// TestALineIsAssignedByOneOfTwo who read it at the same time.
func TestALineIsAssignedByOneOfTwo(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		one, other := awaitingFile(t, env, shop), awaitingFile(t, env, shop)
		statement := store.BankStatement{
			ID: payment.NewID(), TenantID: shop.ID, GatewayID: one.GatewayID, Name: "answer.xml", ContentHash: "hash", State: store.BankStatementReading,
		}
		env.Write(t, func(tx *store.Tx) error {
			tx.PutBankStatement(statement)
			tx.AddBankLines(statement, []store.BankLine{{Position: 1, Source: "camt.053", Kind: "returned", Result: store.LineUnmatched}})
			return nil
		})
		id := uuid.MustParse(storetest.Scalar[string](t, env, `SELECT CAST(id AS TEXT) FROM bank_lines`))
		assign := func(to payment.Transaction) error {
			return env.TryWrite(t, func(tx *store.Tx) error {
				tx.AssignBankLine(store.LineUnmatched, store.BankLine{TenantID: shop.ID, ID: id, Result: store.LineAssigned, TransactionID: &to.ID})
				return nil
			})
		}
		if err := assign(one); err != nil {
			t.Fatal(err)
		}
		if err := assign(other); !errors.Is(err, store.ErrBankLineTaken) {
			t.Errorf("the second gave %v", err)
		}
		if got := storetest.Scalar[string](t, env, `SELECT CAST(transaction_id AS TEXT) FROM bank_lines`); got != one.ID.String() {
			t.Errorf("the line belongs to %s, want %s", got, one.ID)
		}
	})
}
