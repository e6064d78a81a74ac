package store_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sepad/internal/store"
	"sepad/internal/store/storetest"
	"sepad/internal/vault"
)

// TestEveryColumnIsKnownToErasing holds the list of what tables hold to the schema:
// whoever adds a column says whether it names a person.
func TestEveryColumnIsKnownToErasing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		listed := map[string][]string{}
		for _, table := range store.PersonalTables {
			listed[table.Name] = table.All()
		}
		db, found := env.DB(t), 0
		for _, table := range env.Tables(t, db) {
			query := `SELECT name FROM pragma_table_info($1)`
			if env.Engine == "postgres" {
				query = `SELECT column_name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = $1`
			}
			var columns []string
			each(t, db, query, table, func(r *sql.Rows) error {
				var name string
				err := r.Scan(&name)
				columns = append(columns, name)
				return err
			})
			found += len(columns)
			for _, column := range columns {
				if !slices.Contains(listed[table], column) {
					t.Errorf("%s.%s: store.PersonalTables does not say what it holds", table, column)
				}
			}
			for i, column := range listed[table] {
				if !slices.Contains(columns, column) || slices.Contains(listed[table][:i], column) {
					t.Errorf("%s.%s: store.PersonalTables has it and the schema has not, or it stands there twice", table, column)
				}
			}
		}
		if found < 200 {
			t.Errorf("only %d columns were found", found)
		}
	})
}

// TestEverySealedColumnHasATreatment keeps what was sealed because it names somebody
// from being kept by mistake.
func TestEverySealedColumnHasATreatment(t *testing.T) {
	t.Parallel()
	for _, table := range store.PersonalTables {
		for _, column := range table.Kept.Names() {
			if strings.HasSuffix(column, "_sealed") || strings.HasSuffix(column, "_hash") && column != "content_hash" {
				t.Errorf("%s.%s is kept and shown", table.Name, column)
			}
		}
	}
}

// TestWhatCannotBeOpenedIsNotShownAsIfItWereNothing to a person who asks what is known of them.
func TestWhatCannotBeOpenedIsNotShownAsIfItWereNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		paid := env.Settled(t, shop)
		show := func(st *store.Store) error {
			who, err := st.Tenant(shop.ID).Person(t.Context(), *paid.Transaction.LeadID)
			if err != nil {
				t.Fatal(err)
			}
			return st.PersonalRows(t.Context(), who, func(string) error { return nil }, func(store.PersonalRow) error { return nil })
		}
		if err := show(env.Store); err != nil {
			t.Error(err)
		}
		if err := show(opened(t, env, vault.GenerateKey())); err == nil {
			t.Error("with other keys nothing is missing")
		}
		env.Exec(t, `UPDATE transactions SET iban_sealed = ''`)
		env.Exec(t, `UPDATE subscriptions SET iban_sealed = ''`)
		if err := show(env.Store); err != nil {
			t.Errorf("where nothing was sealed: %v", err)
		}
	})
}

// TestWhoTakesAnExportSlowlyIsInNobodysWay: an administrator of one tenant who did not read four exports of a person held all
// connections by which SQLite is read, and nobody else could pay.
func TestWhoTakesAnExportSlowlyIsInNobodysWay(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		leadID := *env.Settled(t, shop).Transaction.LeadID
		taken, isTaken, read := make(chan struct{}), make(chan struct{}), make(chan error)
		const slow = 24 // as many as either engine has connections for
		for range slow {
			who, err := env.Store.Tenant(shop.ID).Person(t.Context(), leadID)
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				stands := sync.OnceFunc(func() { taken <- struct{}{}; <-isTaken })
				read <- env.Store.PersonalRows(t.Context(), who, func(string) error { return nil }, func(store.PersonalRow) error { stands(); return nil })
			}()
		}
		patient, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		for range slow {
			select {
			case <-taken:
			case <-patient.Done():
				t.Fatal("who takes a row keeps others from theirs")
			}
		}
		if _, err := env.Store.Tenant(shop.ID).Lead(patient, leadID); err != nil {
			t.Errorf("somebody else: %v", err)
		}
		close(isTaken)
		for range slow {
			if err := <-read; err != nil {
				t.Error(err)
			}
		}
	})
}

// TestWhomFilesAloneKnowIsFoundByAddress, however its letters are written: databases change the case of plain letters
// alone.
func TestWhomFilesAloneKnowIsFoundByAddress(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		paid := env.Settled(t, shop).Transaction
		for written, asked := range map[string]string{"Anna@Shop.example": "anna@shop.EXAMPLE", "\u00c4nne@Shop.example": "\u00c4NNE@shop.example", "\u00e4nne@Shop.example": "\u00c4NNE@shop.example"} {
			env.Exec(t, `UPDATE transactions SET lead_id = NULL, email = $1 WHERE id = $2`, written, paid.ID.String())
			who, err := env.Store.Tenant(shop.ID).PersonByEmail(t.Context(), asked)
			if err != nil || who.Count("transactions") != 1 {
				t.Errorf("%s is not found as %s: %v", written, asked, err)
			}
		}
		if _, err := env.Store.Tenant(shop.ID).PersonByEmail(t.Context(), "nobody@shop.example"); !errors.Is(err, store.ErrNoLead) {
			t.Errorf("nobody is found: %v", err)
		}
		env.Exec(t, `ALTER TABLE chargebacks RENAME COLUMN email TO hidden`)
		who, err := env.Store.Tenant(shop.ID).PersonByEmail(t.Context(), "\u00c4NNE@shop.example")
		env.Exec(t, `ALTER TABLE chargebacks RENAME COLUMN hidden TO email`)
		if err == nil {
			t.Errorf("somebody is found in part, with %d payments", who.Count("transactions"))
		}
	})
}
