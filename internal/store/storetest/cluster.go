package storetest

import (
	"os"
	"testing"

	"sepad/internal/testenv"
	"sepad/internal/testenv/server"
	"sepad/internal/vault"
)

// OwnPostgres is a cluster that no other test uses: for whoever restarts it, or changes what holds for all of it.
func OwnPostgres(t *testing.T) (*server.Postgres, *Env) {
	t.Helper()
	if os.Getenv(testenv.PostgresVariable) == "" {
		t.Skip("this test starts a PostgreSQL of its own, which make test allows")
	}
	folder, err := os.MkdirTemp("", "sepad-cluster-") // PostgreSQL's own user cannot pass through a test's
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	cluster, err := server.StartPostgres(folder, map[string]string{"fsync": "off"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Stop)
	keys, err := vault.New(vault.GenerateKey())
	if err != nil {
		t.Fatal(err)
	}
	env := &Env{Engine: "postgres", URL: cluster.URL, Vault: keys, Now: Start}
	env.Store = env.Reopen(t)
	if err := env.Store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return cluster, env
}
