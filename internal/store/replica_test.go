package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/merchant"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
	"sepad/internal/testenv"
)

// TestAReplicaIsOneOfThisDatabase: what is read from a replica is believed, so that nothing else may stand in its place.
func TestAReplicaIsOneOfThisDatabase(t *testing.T) {
	t.Parallel()
	primary := adopted(t, merchant.Production)
	begins(t, primary)
	id := storetest.Scalar[uuid.UUID](t, primary, `SELECT id FROM audit_entries WHERE place = 1`)
	standby := adopted(t, merchant.Production)
	standby.Exec(t, `INSERT INTO audit_entries (id, at, actor, address, action, object_type, object_id, place) VALUES ($1, 0, '', '', '', '', '', 1)`, id)
	moved := adopted(t, merchant.Production)
	if err := moved.Store.Move(t.Context(), merchant.Production, moved.Now); err != nil {
		t.Fatal(err)
	}
	other := adopted(t, merchant.Production)
	begins(t, other)

	const away = "postgres://nobody@127.0.0.1:1/none?connect_timeout=1"
	wantReplica(t, primary, "", "")
	wantReplica(t, primary, standby.URL, "")
	wantReplica(t, primary, away, "")
	wantReplica(t, adopted(t, merchant.Production), storetest.Postgres(t).URL, "")
	wantReplica(t, primary, adopted(t, merchant.Sandbox).URL, `it belongs to the environment "sandbox"`)
	wantReplica(t, primary, testenv.PostgresURL(t), "it has no schema")
	wantReplica(t, primary, moved.URL, `it belongs to the environment "moved/production"`)
	wantReplica(t, primary, other.URL, "its audit trail begins otherwise")
	wantReplica(t, adopted(t, merchant.Production), other.URL, "it has an audit trail that is not ours")

	primary.Write(t, func(tx *store.Tx) error { tx.MarkRestored(primary.Now.Add(-time.Hour)); return nil })
	wantReplica(t, primary, standby.URL, "it does not know of the last restore")
}

// adopted is a database of an environment.
func adopted(t *testing.T, environment merchant.Environment) *storetest.Env {
	t.Helper()
	env := storetest.Postgres(t)
	if err := env.Store.Adopt(t.Context(), environment, env.Now); err != nil {
		t.Fatal(err)
	}
	return env
}

// begins gives a database the first entry of its audit trail.
func begins(t *testing.T, env *storetest.Env) {
	t.Helper()
	env.Write(t, func(tx *store.Tx) error {
		tx.Audit(store.Deed{Action: "tenant.create", ObjectType: "tenant", ObjectID: "1"})
		return nil
	})
	if _, err := env.Store.ChainAudit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func wantReplica(t *testing.T, primary *storetest.Env, replica, sentence string) {
	t.Helper()
	both := primary.ReopenWith(t, store.Options{Vault: primary.Vault, Options: db.Options{MaxConnections: 2, ReplicaURL: replica}})
	err := both.CheckReplica(t.Context(), merchant.Production)
	if (err == nil) != (sentence == "") || err != nil && !strings.Contains(err.Error(), sentence) {
		t.Errorf("%s: got %v, want %q", replica, err, sentence)
	}
}
