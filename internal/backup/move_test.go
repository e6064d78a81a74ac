package backup_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/backup"
	"sepad/internal/clock"
	"sepad/internal/config"
	"sepad/internal/db"
	"sepad/internal/gateway"
	"sepad/internal/gateway/sandbox"
	"sepad/internal/merchant"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
	"sepad/internal/testenv"
)

// otherPlace is an address of the other engine at which nothing is.
func otherPlace(t *testing.T, env *storetest.Env) *storetest.Env {
	t.Helper()
	other := &storetest.Env{Engine: "sqlite", URL: "sqlite:" + filepath.Join(t.TempDir(), "moved.db"), Vault: env.Vault, Now: env.Now}
	if env.Engine == "sqlite" {
		other.Engine, other.URL = "postgres", testenv.PostgresURL(t)
	}
	return other
}

func moving(from, to *storetest.Env) backup.Move {
	from.LookAway()
	to.LookAway()
	return backup.Move{
		From: from.URL, To: to.URL, Vault: from.Vault, Environment: merchant.Sandbox, Now: clock.Real{}.Now(), Told: func(string, int64, int64) {},
	}
}

// letGo closes the test's own connections, which count as somebody else's.
func letGo(t *testing.T, env *storetest.Env) {
	t.Helper()
	if err := env.Store.Close(); err != nil {
		t.Fatal(err)
	}
	env.Store = env.ReopenWith(t, store.Options{Vault: env.Vault, Options: db.Options{Name: "sepad move"}})
}

// TestAMovedShopGoesOn moves a shop with all that it has to the other engine and back,
// and goes on selling, billing and delivering at each place.
func TestAMovedShopGoesOn(t *testing.T) {
	t.Parallel()
	storetest.EachFresh(t, func(t *testing.T, env *storetest.Env) {
		ledger := &processor{MemoryLedger: sandbox.NewMemoryLedger()}
		options := apptest.Options{Adapters: map[string]gateway.Kind{sandbox.Name: sandbox.Kind(ledger, sandbox.Options{})}}
		first := apptest.Open(t, env, options)
		subscribe(t, first, apptest.Approved, apptest.RebillDeclinedOnce)
		first.Completed(t, apptest.Direct())
		body := apptest.Direct()
		create := apptest.Request{Path: apptest.Sessions, Key: first.Key, Body: body, Header: map[string]string{"Idempotency-Key": "the-same"}}
		open := first.Do(t, create).Want(t, http.StatusCreated, nil).Text(t, "session_token")
		today := first.Now(t).Format(time.DateOnly)
		listing := apptest.Request{Path: "/api/v1/reconciliation/transactions/?start_date=" + today + "&end_date=" + today, Key: first.Key}
		listed := string(first.Do(t, listing).Want(t, http.StatusOK, nil).Raw)
		first.Stop(t)
		letGo(t, env)

		here := env
		for round := range 2 {
			there := otherPlace(t, here)
			sums, err := moving(here, there).Run(t.Context())
			if err != nil {
				t.Fatalf("move %d: %v", round+1, err)
			}
			if sums["transactions.amount_minor EUR"] == 0 || sums["api_keys"] != 2 {
				t.Errorf("it counted %v", sums)
			}
			there.Store = there.Reopen(t)
			s := apptest.Start(t, there, options)
			s.Key = first.Key
			if again := string(s.Do(t, listing).Want(t, http.StatusOK, nil).Raw); round == 0 && withoutAddress(again) != withoutAddress(listed) {
				t.Errorf("got %s, want %s", again, listed)
			}
			if round == 0 { // later its day is over
				if repeated := s.Do(t, create).Want(t, http.StatusCreated, nil).Text(t, "session_token"); repeated != open {
					t.Error("the Idempotency-Key was forgotten")
				}
			}
			collected := ledger.count()
			s.Advance(t, 31*24*time.Hour) // both subscriptions are due: sealed accounts are opened, each is billed once
			periods := storetest.Scalar[int](t, there, `SELECT COUNT(*) FROM (SELECT subscription_id, billing_period FROM transactions
				WHERE billing_period IS NOT NULL AND status <> 'declined' GROUP BY subscription_id, billing_period HAVING COUNT(*) > 1) AS twice`)
			if periods != 0 || ledger.count()-collected < 2 {
				t.Errorf("%d periods were billed twice; %d debits were sent", periods, ledger.count()-collected)
			}
			s.Stop(t)
			letGo(t, there)
			here = there
		}
		for _, finding := range unknownTo(t, here, ledger) {
			t.Error(finding)
		}
	})
}

// withoutAddress leaves out the links of a page, which say where it was read.
func withoutAddress(page string) string { return page[strings.Index(page, `"results"`):] }

// TestTablesOfOthersAreNotMoved is for a database whose log a program copies elsewhere,
// which keeps tables of its own in it.
func TestTablesOfOthersAreNotMoved(t *testing.T) {
	t.Parallel()
	env := storetest.SQLite(t)
	business(t, env)
	env.Exec(t, `CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)`)
	env.Exec(t, `INSERT INTO _litestream_seq VALUES (1, 17)`)
	letGo(t, env)
	if sums, err := moving(env, otherPlace(t, env)).Run(t.Context()); err != nil || sums["sessions"] != 2 {
		t.Errorf("it counted %v: %v", sums, err)
	}
}

// withoutMoves takes the entries out of a dump that say that the database was moved.
func withoutMoves(dump string) (rest string, moves int) {
	lines := slices.DeleteFunc(strings.SplitAfter(dump, "\n"), func(line string) bool {
		return strings.HasPrefix(line, "audit_entries ") && strings.Contains(line, " action=database.move ")
	})
	return strings.Join(lines, ""), strings.Count(dump, " action=database.move ")
}

func TestAMoveChangesNoValue(t *testing.T) {
	t.Parallel()
	storetest.EachFresh(t, func(t *testing.T, env *storetest.Env) {
		business(t, env)
		before := env.Dump(t)
		letGo(t, env)
		there, back := otherPlace(t, env), (*storetest.Env)(nil)
		if _, err := moving(env, there).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		back = otherPlace(t, there)
		if _, err := moving(there, back).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		after, moves := withoutMoves(back.Dump(t))
		if after != before || moves != 2 {
			t.Errorf("after %d moves on record got\n%s\nwant\n%s", moves, after, before)
		}
		if _, err := moving(env, otherPlace(t, env)).Run(t.Context()); err != nil {
			t.Errorf("a move that may have been broken off cannot be made again: %v", err)
		}
		if _, err := moving(env, there).Run(t.Context()); err == nil {
			t.Error("it was moved over what it had been moved to")
		}
		if err := env.Store.CheckEnvironment(t.Context(), merchant.Sandbox); err == nil {
			t.Error("the old database can still be used")
		}
		if err := moving(env, there).Release(t.Context()); err != nil {
			t.Error(err)
		}
		if err := env.Store.CheckEnvironment(t.Context(), merchant.Sandbox); err != nil {
			t.Errorf("released: %v", err)
		}
	})
}

// TestAMoveWaitsForWhoIsLeaving: a server that was told to stop is still listed for a moment after it has ended.
func TestAMoveWaitsForWhoIsLeaving(t *testing.T) {
	t.Parallel()
	env := storetest.FreshPostgres(t)
	business(t, env)
	letGo(t, env)
	server := env.ReopenWith(t, store.Options{Vault: env.Vault, Options: db.Options{Name: "sepad"}})
	if err := server.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(200*time.Millisecond, func() { server.Close() })
	if _, err := moving(env, otherPlace(t, env)).Run(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAMoveIsRefused(t *testing.T) {
	t.Parallel()
	storetest.EachFresh(t, func(t *testing.T, env *storetest.Env) {
		business(t, env)
		t.Run("while a server runs", func(t *testing.T) {
			s := apptest.Start(t, env, apptest.Options{})
			there := otherPlace(t, env)
			if _, err := moving(env, there).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "stop it first") {
				t.Errorf("got %v", err)
			}
			s.Do(t, apptest.Request{Path: "/readyz"}).Want(t, http.StatusOK, nil)
			if err := env.Store.CheckEnvironment(t.Context(), merchant.Sandbox); err != nil {
				t.Errorf("it is left as moved: %v", err)
			}
			s.Stop(t)
		})
		t.Run("while a server runs that its address gives another name", func(t *testing.T) {
			s := apptest.Start(t, env, apptest.Options{Change: func(settings *config.Settings) {
				if env.Engine == "postgres" {
					settings.DatabaseURL += "&application_name=web1"
				}
			}})
			letGo(t, env)
			if _, err := moving(env, otherPlace(t, env)).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "stop it first") {
				t.Errorf("got %v", err)
			}
			s.Stop(t)
		})
		letGo(t, env)
		t.Run("while another move is under way", func(t *testing.T) {
			first, second := moving(env, otherPlace(t, env)), otherPlace(t, env)
			refused := false
			first.Told = func(string, int64, int64) {
				_, err := moving(env, second).Run(t.Context())
				refused = err != nil && strings.Contains(err.Error(), "stop it first")
			}
			if _, err := first.Run(t.Context()); err != nil || !refused {
				t.Errorf("the second is refused: %v; the first ends with %v", refused, err)
			}
			if err := moving(env, second).Release(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
		t.Run("into a database that is in use", func(t *testing.T) {
			for _, taken := range []*storetest.Env{storetest.SQLite(t), storetest.FreshPostgres(t)} {
				business(t, taken)
				before := taken.Dump(t)
				if _, err := moving(env, taken).Run(t.Context()); err == nil {
					t.Errorf("it was moved over another %s database", taken.Engine)
				}
				if taken.Dump(t) != before {
					t.Error("the database there has changed")
				}
			}
		})
		t.Run("to another environment", func(t *testing.T) {
			move := moving(env, otherPlace(t, env))
			move.Environment = merchant.Production
			if _, err := move.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "SEPAD_ENVIRONMENT") {
				t.Errorf("got %v", err)
			}
		})
	})
}

// TestAMoveBesideACommand: one that waits for an answer would go on in the old database, and say what it has done there.
func TestAMoveBesideACommand(t *testing.T) {
	t.Parallel()
	storetest.EachFresh(t, func(t *testing.T, env *storetest.Env) {
		business(t, env)
		command := env.Reopen(t)
		if _, err := command.Tenants(t.Context()); err != nil { // what it has found it asks about
			t.Fatal(err)
		}
		letGo(t, env)
		if _, err := moving(env, otherPlace(t, env)).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "stop it first") {
			t.Errorf("got %v", err)
		}
		if err := env.Store.CheckEnvironment(t.Context(), merchant.Sandbox); err != nil {
			t.Errorf("it is left as moved: %v", err)
		}
		if err := command.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := moving(env, otherPlace(t, env)).Run(t.Context()); err != nil {
			t.Errorf("when it has ended: %v", err)
		}
	})
}

// TestAMoveMayBeTriedAgainAtOnce shows that whoever gave a move up is not in the way of the next one.
func TestAMoveMayBeTriedAgainAtOnce(t *testing.T) {
	t.Parallel()
	env := storetest.FreshPostgres(t)
	others := env.Reopen(t)
	const tries = 100 // the server hears of a client's end a moment later, though not each time
	for try := range tries {
		for _, database := range []*store.Store{env.Store, others} {
			unlock, err := database.LockForMoving(t.Context())
			if err != nil {
				t.Fatalf("try %d: %v", try, err)
			}
			unlock()
		}
	}
}

// TestAServerThatWasOutOfTouch holds no connection while the database is moved, or a backup restored in its place, and
// must not go on with it when it comes back. A file is locked for as long as its server lives.
func TestAServerThatWasOutOfTouch(t *testing.T) {
	t.Parallel()
	for mark, says := range map[string]string{"moved/": "sepad move", "restoring/": "sepad restore"} {
		t.Run(mark, func(t *testing.T) {
			t.Parallel()
			env := storetest.FreshPostgres(t)
			s := apptest.Open(t, env, apptest.Options{})
			s.Completed(t, apptest.Direct())
			letGo(t, env)
			env.Exec(t, `UPDATE deployment SET environment = '`+mark+`' || environment WHERE id = 1`)
			env.Exec(t, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'sepad'`)
			const most = 100 // connections of which it has to find out that they have gone
			for range most {
				_, said := s.App.Store.Tenants(t.Context())
				if said == nil {
					t.Fatal("it goes on")
				}
				if strings.Contains(said.Error(), says) {
					break
				}
			}
			s.Do(t, apptest.Request{Path: "/readyz"}).Want(t, http.StatusServiceUnavailable, nil)
		})
	}
}

// TestAMoveThatIsBrokenOffAtItsEnd is interrupted when everything was copied, while tables are counted: of the two
// databases one can be used, whichever it is.
func TestAMoveThatIsBrokenOffAtItsEnd(t *testing.T) {
	t.Parallel()
	env, there := storetest.SQLite(t), storetest.FreshPostgres(t)
	business(t, env)
	letGo(t, env)
	letGo(t, there)
	there.Vault = env.Vault
	there.URL += "&application_name=sepad%20move" // of its own connections, which count as somebody else's
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	held, err := there.DB(t).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Rollback()
	if _, err := held.ExecContext(t.Context(), `LOCK TABLE sessions IN SHARE UPDATE EXCLUSIVE MODE`); err != nil { // rows can be written
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := moving(env, there).Run(ctx)
		ended <- err
	}()
	apptest.Eventually(t, "the copy is complete", func() bool { return there.Count(t, "sessions") > 0 })
	interrupt()
	failed := <-ended
	usable := 0
	for _, e := range []*storetest.Env{env, there} {
		if e.Store.CheckEnvironment(t.Context(), merchant.Sandbox) == nil {
			usable++
		}
	}
	if failed == nil || usable != 1 {
		t.Errorf("it ended with %v, and %d databases can be used", failed, usable)
	}
}

// TestNobodyUsesANewDatabaseBeforeItIsComplete: a server that is there already would go on with everything as soon as it
// was copied, also where the move is broken off and the old database opened again.
func TestNobodyUsesANewDatabaseBeforeItIsComplete(t *testing.T) {
	t.Parallel()
	env, there := storetest.SQLite(t), storetest.FreshPostgres(t)
	business(t, env)
	letGo(t, env)
	there.Vault = env.Vault
	for range 2 {
		if err := there.Store.CheckEnvironment(t.Context(), merchant.Sandbox); err != nil {
			t.Errorf("whoever uses the new one is told: %v", err)
		}
		if _, err := moving(env, there).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "stop it first") {
			t.Errorf("somebody uses the new one, and the move ends with %v", err)
		}
	}
	letGo(t, there)
	move, refused := moving(env, there), false
	move.Told = func(string, int64, int64) {
		err := there.Store.CheckEnvironment(t.Context(), merchant.Sandbox)
		refused = err != nil && strings.Contains(err.Error(), "being moved")
	}
	if _, err := move.Run(t.Context()); err != nil || !refused {
		t.Errorf("a server that starts there meanwhile is refused: %v; the move ends with %v", refused, err)
	}
}

// TestALargeDatabaseIsMoved takes some rows, to see that it is done by the thousand.
func TestALargeDatabaseIsMoved(t *testing.T) {
	t.Parallel()
	const rows = 20_000 // ten of the steps in which they are copied
	env := storetest.SQLite(t)
	shop := business(t, env)
	env.Exec(t, fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO idempotency_keys (tenant_id, key, request_hash, session_id, expires_at)
		SELECT $1, 'key-' || i, hex(randomblob(32)), $2, i FROM n`, rows), shop.ID.String(), shop.ID.String())
	letGo(t, env)
	there, began := otherPlace(t, env), time.Now()
	if _, err := moving(env, there).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	forth := time.Since(began)
	back := otherPlace(t, there)
	if _, err := moving(there, back).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d rows to PostgreSQL in %s, back in %s", rows, forth, time.Since(began)-forth)
}
