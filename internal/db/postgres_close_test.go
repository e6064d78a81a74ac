package db_test

import (
	"testing"

	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestClosingDoesNotWaitForWhatHangs: a process that was told to end ends, also while something of it waits for a database
// that does not answer.
func TestClosingDoesNotWaitForWhatHangs(t *testing.T) {
	t.Parallel()
	env := storetest.FreshPostgres(t)
	process := env.ReopenWith(t, store.Options{Vault: env.Vault})
	underWay, err := process.Query(t.Context(), "SELECT 1")
	if err != nil {
		t.Fatal(err)
	}
	defer underWay.Close()
	if err := process.Close(); err != nil {
		t.Error(err)
	}
}

// TestConnectionsThatOnlyReadAreGivenUp: a session that began while the database only read, as during maintenance or at a
// standby, would refuse to write for as long as it is kept.
func TestConnectionsThatOnlyReadAreGivenUp(t *testing.T) {
	t.Parallel()
	env := storetest.FreshPostgres(t)
	whole := func(text string) {
		t.Helper()
		err := env.Store.Write(t.Context(), env.Now, func(tx *store.Tx) error {
			tx.Then("SET TRANSACTION READ WRITE")
			tx.Then(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I ` + text + `', current_database()); END $$`)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	whole("SET default_transaction_read_only = on")
	process := env.ReopenWith(t, store.Options{Vault: env.Vault})
	const lanes = 3 // as many connections as a few writes at once take
	together := func() (refused int) {
		came := make(chan error, lanes)
		for range lanes {
			go func() { came <- process.ProveWrite(t.Context(), env.Now) }()
		}
		for range lanes {
			if <-came != nil {
				refused++
			}
		}
		return refused
	}
	if refused := together(); refused != lanes {
		t.Fatalf("%d of %d writes are refused by a database that only reads", refused, lanes)
	}
	whole("RESET default_transaction_read_only")
	refused := together()
	for range lanes { // another of them may have been used for reading alone
		if refused > 0 {
			refused = together()
		}
	}
	if refused != 0 {
		t.Errorf("%d of %d writes are refused by a database that writes", refused, lanes)
	}
}
