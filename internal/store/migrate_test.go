package store_test

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	"sepad/internal/store"
	"sepad/internal/store/storetest"
	"sepad/internal/testenv"
)

// eachEmpty runs a test on an empty database of each engine. Its environment
// has a store, but no schema yet.
func eachEmpty(t *testing.T, test func(t *testing.T, env *storetest.Env)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		env := &storetest.Env{Engine: "sqlite", URL: "sqlite:" + filepath.Join(t.TempDir(), "sepad.db"), Now: storetest.Start}
		env.Store = env.Reopen(t)
		test(t, env)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		env := &storetest.Env{Engine: "postgres", URL: testenv.PostgresURL(t), Now: storetest.Start}
		env.Store = env.Reopen(t)
		test(t, env)
	})
}

// migrationsOf gives goose the files of an environment's engine.
func migrationsOf(t *testing.T, env *storetest.Env) *goose.Provider {
	t.Helper()
	files, err := fs.Sub(store.Schema().Migrations, env.Engine)
	if err != nil {
		t.Fatal(err)
	}
	dialect := map[string]goose.Dialect{"sqlite": goose.DialectSQLite3, "postgres": goose.DialectPostgres}[env.Engine]
	provider, err := goose.NewProvider(dialect, env.DB(t), files)
	if err != nil {
		t.Fatal(err)
	}
	return provider
}

func wantReady(t *testing.T, process *store.Store, sentence string) {
	t.Helper()
	err := process.Ready(t.Context())
	switch {
	case sentence == "" && err != nil:
		t.Errorf("not ready: %v", err)
	case sentence != "" && (err == nil || !strings.Contains(err.Error(), sentence)):
		t.Errorf("got %v, want %q", err, sentence)
	}
}

// TestMigrateASerializableDatabase: an index that is built beside writers would wait for ever for the lock's own transaction.
func TestMigrateASerializableDatabase(t *testing.T) {
	t.Parallel()
	env := &storetest.Env{Engine: "postgres", URL: testenv.PostgresURL(t) + "&default_transaction_isolation=serializable", Now: storetest.Start}
	env.Store = env.Reopen(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := env.Store.Migrate(ctx); err != nil {
		t.Error(err)
	}
}

func TestMigrate(t *testing.T) {
	t.Parallel()

	t.Run("processes that migrate at once all succeed", func(t *testing.T) {
		t.Parallel()
		eachEmpty(t, func(t *testing.T, env *storetest.Env) {
			processes := []*store.Store{env.Store, env.Reopen(t), env.Reopen(t)}
			wins := race(t, len(processes), func(i int) error { return processes[i].Migrate(t.Context()) }, func(error) bool { return false })
			if wins != len(processes) {
				t.Errorf("%d of %d processes migrated", wins, len(processes))
			}
			for _, process := range processes {
				wantReady(t, process, "")
			}
			applied := storetest.Scalar[int](t, env, "SELECT COUNT(*) FROM goose_db_version WHERE version_id > 0")
			if applied != store.SchemaVersion {
				t.Errorf("%d migrations are on record", applied)
			}
		})
	})

	t.Run("migrating again changes nothing and keeps the data", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			env.Settled(t, env.Shop(t))
			before := env.Dump(t)
			if err := env.Store.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			if env.Dump(t) != before {
				t.Error("something has changed")
			}
		})
	})

	t.Run("the known version is that of the newest migration", func(t *testing.T) {
		t.Parallel()
		for _, engine := range []string{"sqlite", "postgres"} {
			files, err := fs.Glob(store.Schema().Migrations, engine+"/*.sql")
			if err != nil || len(files) != store.SchemaVersion {
				t.Fatalf("%s has %d migrations (error %v), want %d", engine, len(files), err, store.SchemaVersion)
			}
			if newest := path.Base(files[len(files)-1]); !strings.HasPrefix(newest, fmt.Sprintf("%05d_", store.SchemaVersion)) {
				t.Errorf("the newest migration of %s is %s", engine, newest)
			}
		}
	})

	t.Run("every step can be undone and done again", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, testDownAndUp)
	})

	t.Run("a new SQLite database writes with care once it is migrated", func(t *testing.T) {
		t.Parallel()
		env := &storetest.Env{Engine: "sqlite", URL: "sqlite:" + filepath.Join(t.TempDir(), "sepad.db"), Now: storetest.Start}
		env.Store = env.Reopen(t)
		if err := env.Store.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		env.Write(t, func(tx *store.Tx) error {
			for setting, want := range map[string]int64{"synchronous": 2, "foreign_keys": 1, "busy_timeout": 10_000} {
				if got, err := tx.Int("PRAGMA " + setting); err != nil || got != want {
					t.Errorf("%s is %d (error %v), want %d", setting, got, err, want)
				}
			}
			return nil
		})
	})
}

func testDownAndUp(t *testing.T, env *storetest.Env) {
	provider := migrationsOf(t, env)
	whole := schemaOf(t, env)
	for range store.SchemaVersion {
		if _, err := provider.Down(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	db := env.DB(t)
	if left := env.Tables(t, db); len(left) != 0 {
		t.Errorf("undoing left %v", left)
	}
	if err := env.Store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantReady(t, env.Store, "")
	wantSameSchema(t, schemaOf(t, env), whole)
}

func TestReady(t *testing.T) {
	t.Parallel()

	t.Run("an empty database is to be migrated", func(t *testing.T) {
		t.Parallel()
		eachEmpty(t, func(t *testing.T, env *storetest.Env) { wantReady(t, env.Store, "run sepad migrate") })
	})

	t.Run("an older schema is to be migrated", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			wantReady(t, env.Store, "")
			if _, err := migrationsOf(t, env).Down(t.Context()); err != nil {
				t.Fatal(err)
			}
			wantReady(t, env.Store, "run sepad migrate")
		})
	})

	t.Run("a newer schema that can still be used is used", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			raiseSchema(t, env)
			if err := env.Store.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			wantReady(t, env.Store, "")
		})
	})

	t.Run("a schema that is too new is refused and left alone", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			raiseSchema(t, env)
			env.Exec(t, "UPDATE schema_compatibility SET oldest_version = $1", store.SchemaVersion+1)
			if err := env.Store.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			wantReady(t, env.Store, fmt.Sprintf("needs a sepad that knows schema %d or newer; this one knows %d",
				store.SchemaVersion+1, store.SchemaVersion))
		})
	})

	t.Run("a database that cannot be reached says so", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			closed := env.Reopen(t)
			closed.Close()
			wantReady(t, closed, "the database cannot be used")
		})
	})
}

// raiseSchema makes the database one that a newer program has migrated.
func raiseSchema(t *testing.T, env *storetest.Env) {
	t.Helper()
	env.Exec(t, "INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, $2)", store.SchemaVersion+1, true)
}
