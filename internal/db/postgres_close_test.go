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
	env := storetest.Postgres(t)
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
