package backup_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sepad/internal/backup"
	"sepad/internal/db"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
	"sepad/internal/testenv"
	"sepad/internal/vault"
)

// business gives a database something to lose.
func business(t *testing.T, env *storetest.Env) storetest.Shop {
	t.Helper()
	shop := env.Shop(t)
	env.Settle(t, env.Attempt(t, env.Session(t, shop)), payment.Outcome{Verdict: payment.VerdictApproved})
	env.Session(t, shop)
	if err := env.Store.Adopt(t.Context(), merchant.Sandbox, env.Now); err != nil {
		t.Fatal(err)
	}
	return shop
}

func write(t *testing.T, env *storetest.Env) (path string, made backup.Manifest) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "sepad.backup")
	made, err := source(env).Write(t.Context(), path, func(int64) {})
	if err != nil {
		t.Fatal(err)
	}
	return path, made
}

func source(env *storetest.Env) backup.Source {
	return backup.Source{Store: env.Store, Address: env.URL, Vault: env.Vault, Environment: merchant.Sandbox, Now: env.Now}
}

// elsewhere is a place for a restored database of the same engine.
func elsewhere(t *testing.T, env *storetest.Env) backup.Target {
	t.Helper()
	address := "sqlite:" + filepath.Join(t.TempDir(), "restored.db")
	if env.Engine == "postgres" {
		address = testenv.PostgresURL(t)
	}
	return backup.Target{Address: address, Vault: env.Vault, Environment: merchant.Sandbox, Now: env.Now.Add(time.Hour)}
}

func TestABackupIsRestoredAsItWas(t *testing.T) {
	t.Parallel()
	storetest.EachFresh(t, func(t *testing.T, env *storetest.Env) {
		business(t, env)
		path, made := write(t, env)
		before := env.Dump(t)
		if about, err := os.Stat(path); err != nil || about.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", about, err)
		}
		if made.Tally["sessions"] != 2 || made.Tally["transactions.amount_minor"] == 0 {
			t.Errorf("the manifest counts %v", made.Tally)
		}
		target := elsewhere(t, env)
		if _, err := target.Restore(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		restored := &storetest.Env{Engine: env.Engine, URL: target.Address, Vault: env.Vault, Now: env.Now}
		restored.Store = restored.Reopen(t)
		if to, err := restored.Store.RestoredTo(t.Context()); err != nil || !to.Equal(env.Now) {
			t.Errorf("it is of %s: %v", to, err)
		}
		if open := storetest.Scalar[int](t, restored, `SELECT COUNT(*) FROM sessions WHERE status = 'PENDING'`); open != 0 {
			t.Errorf("%d sessions can still be paid", open)
		}
		// But for what a restore changes, every row is as it was.
		micros := target.Now.UnixMicro()
		restored.Exec(t, `UPDATE sessions SET status = 'PENDING', holds_lead = TRUE, updated_at = created_at WHERE updated_at = $1`, micros)
		restored.Exec(t, `UPDATE deployment SET restored_to = NULL, banks_restored_to = NULL`)
		restored.Exec(t, `UPDATE tenants SET setup_version = setup_version - $1, version = version - $1`, micros)
		restored.Exec(t, `UPDATE setup_records SET version = version - $1`, micros)
		if entries := restored.Count(t, "audit_entries WHERE action = 'database.restore'"); entries != 1 {
			t.Errorf("%d entries tell of the restore", entries)
		}
		restored.Exec(t, `DELETE FROM audit_entries`)
		if after := restored.Dump(t); after != before {
			t.Errorf("got\n%s\nwant\n%s", after, before)
		}
		for _, suffix := range []string{"", "-wal", "-shm"} {
			file := strings.TrimPrefix(target.Address, "sqlite:") + suffix
			if about, err := os.Stat(file); env.Engine == "sqlite" && err == nil && about.Mode().Perm() != 0o600 {
				t.Errorf("%s is %s", file, about.Mode())
			}
		}
	})
}

// TestSumsBeyondCounting has amounts that others have sent, which no 64 bits can sum up.
func TestSumsBeyondCounting(t *testing.T) {
	t.Parallel()
	storetest.EachFresh(t, func(t *testing.T, env *storetest.Env) {
		shop := business(t, env)
		env.Settle(t, env.Attempt(t, env.Session(t, shop)), payment.Outcome{Verdict: payment.VerdictApproved})
		env.Exec(t, `UPDATE transactions SET amount_minor = 9000000000000000000`)
		path, _ := write(t, env)
		if _, err := elsewhere(t, env).Restore(t.Context(), path); err != nil {
			t.Error(err)
		}
	})
}

// TestARestoredDatabaseCountsItsDaysAnew backs up counts that are wrong, as whoever loads rows past their triggers has them.
func TestARestoredDatabaseCountsItsDaysAnew(t *testing.T) {
	t.Parallel()
	storetest.EachFresh(t, func(t *testing.T, env *storetest.Env) {
		business(t, env)
		env.Exec(t, `UPDATE count_changes SET records = 7`)
		path, _ := write(t, env)
		target := elsewhere(t, env)
		if _, err := target.Restore(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		restored := &storetest.Env{Engine: env.Engine, URL: target.Address, Vault: env.Vault, Now: env.Now}
		restored.Store = restored.Reopen(t)
		for _, count := range []func(context.Context, time.Time) (bool, error){restored.Store.CountOlder, restored.Store.SumUpDays} {
			for more := true; more; {
				var err error
				if more, err = count(t.Context(), env.Now); err != nil {
					t.Fatal(err)
				}
			}
		}
		if counted := storetest.Scalar[int](t, restored, `SELECT SUM(records) FROM count_days`); counted != 1 {
			t.Errorf("%d payments are counted", counted)
		}
	})
}

// TestARestoreSignsEverybodyOut: whoever has signed out everywhere since, or was put out,
// is not let in again by the cookie, the link or the token that lies in the backup.
func TestARestoreSignsEverybodyOut(t *testing.T) {
	t.Parallel()
	storetest.EachFresh(t, func(t *testing.T, env *storetest.Env) {
		ada := store.Operator{
			ID: payment.NewID(), Email: "ada@counter.example", Role: store.Administrator, Tenants: store.TenantSet{All: true}, Status: store.OperatorActive,
			CreatedAt: env.Now, UpdatedAt: env.Now,
		}
		token := store.OperatorToken{ID: payment.NewID(), OperatorID: ada.ID, Name: "nightly", Hash: "token", CreatedAt: env.Now, ExpiresAt: env.Now.AddDate(0, 0, 90)}
		env.Write(t, func(tx *store.Tx) error {
			tx.AddOperator(ada)
			tx.AddSignIn(store.OperatorSession{Hash: "cookie", OperatorID: ada.ID, IsWhole: true, CreatedAt: env.Now, SeenAt: env.Now, EndsAt: env.Now.Add(time.Hour)})
			tx.AddTicket(store.Ticket{Hash: "link", OperatorID: ada.ID, Kind: store.TicketWelcome, ExpiresAt: env.Now.Add(time.Hour)})
			tx.AddToken(token)
			return nil
		})
		path, _ := write(t, env)
		env.Write(t, func(tx *store.Tx) error {
			tx.EndSignIns(ada.ID) // she signs out everywhere
			tx.RevokeToken(ada.ID, token.ID)
			return nil
		})
		target := elsewhere(t, env)
		if _, err := target.Restore(store.WithActor(t.Context(), store.Actor{Name: "cli:root"}), path); err != nil {
			t.Fatal(err)
		}
		restored := &storetest.Env{Engine: env.Engine, URL: target.Address, Vault: env.Vault, Now: env.Now}
		restored.Store = restored.Reopen(t)
		if _, _, err := restored.Store.SignedIn(t.Context(), "cookie"); !errors.Is(err, store.ErrNoSignIn) {
			t.Errorf("the cookie of before lets in: %v", err)
		}
		if _, err := restored.Store.Ticket(t.Context(), "link", env.Now); !errors.Is(err, store.ErrNoTicket) {
			t.Errorf("the link of before lets in: %v", err)
		}
		if _, _, found, err := restored.Store.TokenBearer(t.Context(), "token", env.Now); err != nil || found {
			t.Errorf("the token that was revoked opens something: %v", err)
		}
		if _, err := restored.Store.OperatorByEmail(t.Context(), ada.Email); err != nil {
			t.Errorf("she can sign in no more: %v", err)
		}
		if who := storetest.Scalar[string](t, restored, `SELECT actor FROM audit_entries WHERE action = 'database.restore'`); who != "cli:root" {
			t.Errorf("the trail says that %s has restored it", who)
		}
	})
}

func TestABackupTellsNothingWithoutItsKey(t *testing.T) {
	t.Parallel()
	storetest.EachFresh(t, func(t *testing.T, env *storetest.Env) {
		business(t, env)
		path, _ := write(t, env)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, private := range []string{"SQLite format", "PGDMP", "example", storetest.IBAN} {
			if bytes.Contains(text, []byte(private)) {
				t.Errorf("%q can be read", private)
			}
		}
		target := elsewhere(t, env)
		other, err := vault.New(vault.GenerateKey())
		if err != nil {
			t.Fatal(err)
		}
		target.Vault = other
		if _, err := target.Restore(t.Context(), path); err == nil || !strings.Contains(err.Error(), "SEPAD_ENCRYPTION_KEYS") {
			t.Errorf("with another key: %v", err)
		}
	})
}

func TestABackupThatWasChangedIsRefused(t *testing.T) {
	t.Parallel()
	storetest.EachFresh(t, func(t *testing.T, env *storetest.Env) {
		business(t, env)
		path, _ := write(t, env)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		const damaged, none = "the backup is damaged or cut off", "this is not a backup"
		head := bytes.IndexByte(whole[len("sepad backup 1\n"):], '\n') + len("sepad backup 1\n") + 1
		for name, c := range map[string]struct {
			text []byte
			says string
		}{
			"another time in the manifest": {bytes.Replace(whole, []byte("2026-03-31"), []byte("2026-03-30"), 1), damaged},
			"cut off":                      {whole[:len(whole)-1], damaged},
			"cut off behind the manifest":  {whole[:head], damaged},
			"a byte in the middle":         {append(append(bytes.Clone(whole[:len(whole)/2]), whole[len(whole)/2]^1), whole[len(whole)/2+1:]...), damaged},
			"no backup at all":             {[]byte("SQLite format 3"), none},
			"nothing but the first line":   {[]byte("sepad backup 1\n"), none},
		} {
			changed := filepath.Join(t.TempDir(), "changed.backup")
			if err := os.WriteFile(changed, c.text, 0o600); err != nil {
				t.Fatal(err)
			}
			target := elsewhere(t, env)
			if _, err := target.Restore(t.Context(), changed); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v", name, err)
			}
			if left, _ := filepath.Glob(strings.TrimPrefix(target.Address, "sqlite:") + "*"); len(left) > 0 {
				t.Errorf("%s: it has left %v", name, left)
			}
			if _, err := target.Restore(t.Context(), path); err != nil {
				t.Errorf("%s: the place cannot be used any more: %v", name, err)
			}
		}
	})
}

// TestARestoreThatIsBrokenOff leaves no database that a server would take for a whole one.
func TestARestoreThatIsBrokenOff(t *testing.T) {
	t.Parallel()
	storetest.EachFresh(t, func(t *testing.T, env *storetest.Env) {
		business(t, env)
		path, made := write(t, env)
		target, brokenOff := elsewhere(t, env), errors.New("broken off")
		lookIn := func(st *store.Store) error {
			if env.Engine != "postgres" {
				return brokenOff // nobody finds it before it has its name
			}
			other, err := store.Open(t.Context(), target.Address, store.Options{Vault: env.Vault})
			if err != nil {
				t.Fatal(err)
			}
			defer other.Close()
			if err := other.Adopt(t.Context(), merchant.Sandbox, env.Now); err == nil || !strings.Contains(err.Error(), "is being restored") {
				t.Errorf("meanwhile it can be used: %v", err)
			}
			return brokenOff
		}
		target.Finish = lookIn
		if _, err := target.Restore(t.Context(), path); !errors.Is(err, brokenOff) {
			t.Fatal(err)
		}
		if env.Engine != "postgres" {
			if left, _ := filepath.Glob(strings.TrimPrefix(target.Address, "sqlite:") + "*"); len(left) > 0 {
				t.Errorf("it has left %v", left)
			}
			return
		}
		left, err := store.Open(t.Context(), target.Address, store.Options{Vault: env.Vault})
		if err != nil {
			t.Fatal(err)
		}
		defer left.Close()
		if err := left.CheckEnvironment(t.Context(), merchant.Sandbox); err == nil {
			t.Error("a server would start")
		}
		if to, err := left.RestoredTo(t.Context()); err != nil || !to.Equal(made.CreatedAt) {
			t.Errorf("who is connected would bill: %s, %v", to, err)
		}
	})
}

func TestARestoreDestroysNothing(t *testing.T) {
	t.Parallel()
	storetest.EachFresh(t, func(t *testing.T, env *storetest.Env) {
		business(t, env)
		path, _ := write(t, env)
		before := env.Dump(t)
		target := elsewhere(t, env)
		target.Address = env.URL
		if _, err := target.Restore(t.Context(), path); err == nil {
			t.Error("it was restored over another database")
		}
		if env.Dump(t) != before {
			t.Error("the database there has changed")
		}
		if _, err := source(env).Write(t.Context(), path, func(int64) {}); err == nil {
			t.Error("a backup was written over another one")
		}
		target = elsewhere(t, env)
		target.Environment = merchant.Production
		if _, err := target.Restore(t.Context(), path); err == nil || !strings.Contains(err.Error(), "SEPAD_ENVIRONMENT") {
			t.Errorf("in another environment: %v", err)
		}
	})
}

// TestTheLogOfAnotherDatabase is what an operator does who copies files by hand
// after a crash.
func TestTheLogOfAnotherDatabase(t *testing.T) {
	t.Parallel()
	env := storetest.SQLite(t)
	shop := business(t, env)
	path := strings.TrimPrefix(env.URL, "sqlite:")
	early := filepath.Join(t.TempDir(), "early.db")
	env.Exec(t, `VACUUM INTO $1`, early)
	for range 20 {
		env.Settle(t, env.Attempt(t, env.Session(t, shop)), payment.Outcome{Verdict: payment.VerdictApproved})
	}
	folder := t.TempDir()
	place := filepath.Join(folder, "sepad.db")
	copyFile(t, early, place)
	copyFile(t, path+"-wal", place+"-wal") // as a killed server leaves it

	t.Run("a restore refuses to put a file beside it", func(t *testing.T) {
		file, _ := write(t, env)
		for _, there := range []string{place, filepath.Join(t.TempDir(), "other.db")} {
			copyFile(t, path+"-wal", there+"-wal")
			target := elsewhere(t, env)
			target.Address = "sqlite:" + there
			if _, err := target.Restore(t.Context(), file); err == nil || !strings.Contains(err.Error(), "in the way") {
				t.Errorf("%v", err)
			}
		}
	})
	t.Run("a server refuses a file that it has spoilt", func(t *testing.T) {
		opened, err := store.Open(t.Context(), "sqlite:"+place, store.Options{Vault: env.Vault})
		if err == nil {
			defer opened.Close()
			err = opened.CheckFile(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), "-wal") {
			t.Errorf("%v", err)
		}
	})
	t.Run("a file beside its own log is sound", func(t *testing.T) {
		if err := env.Reopen(t).CheckFile(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// How what a killed backup left begins.
const begun, copied = "sepad backup 1\n{}\n…", "SQLite format 3\x00 and everything in it"

func exists(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Lstat(path)
	return err == nil
}

func TestWhatAKilledBackupLeft(t *testing.T) {
	t.Parallel()
	env := storetest.SQLite(t)
	business(t, env)
	for name, test := range map[string]struct {
		files map[string]string
		stays bool
	}{
		"goes with the next backup into the folder":             {files: map[string]string{"old.part": begun, "old.copy": copied}},
		"goes when it was killed before it wrote anything":      {files: map[string]string{"old.part": "", "old.copy": copied}},
		"goes when it has the name of the next":                 {files: map[string]string{"new.part": "", "new.copy": ""}},
		"is known by how it begins: other files stay":           {files: map[string]string{"film.part": "RIFF", "film.copy": copied}, stays: true},
		"is known by its part: a copy without one stays":        {files: map[string]string{"shop.copy": copied}, stays: true},
		"is known by its copy: an empty file without one stays": {files: map[string]string{"download.part": ""}, stays: true},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			for name, text := range test.files {
				if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := source(env).Write(t.Context(), filepath.Join(folder, "new"), func(int64) {}); err != nil {
				t.Fatal(err)
			}
			for name := range test.files {
				if got := exists(t, filepath.Join(folder, name)); got != test.stays {
					t.Errorf("%s: there is %t, want %t", name, got, test.stays)
				}
			}
		})
	}
}

func TestWhatIsInTheWayOfABackup(t *testing.T) {
	t.Parallel()
	env := storetest.SQLite(t)
	business(t, env)
	t.Run("a link in its place is not followed", func(t *testing.T) {
		folder := t.TempDir()
		victim := filepath.Join(t.TempDir(), "victim")
		if err := os.WriteFile(victim, []byte(begun), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, suffix := range []string{".part", ".copy"} {
			path := filepath.Join(folder, "new"+suffix)
			if err := os.Symlink(victim, path); err != nil {
				t.Fatal(err)
			}
			if _, err := source(env).Write(t.Context(), filepath.Join(folder, "new"), func(int64) {}); err == nil || exists(t, filepath.Join(folder, "new")) {
				t.Errorf("with a link at %s it was written: %v", suffix, err)
			}
			if text, err := os.ReadFile(victim); err != nil || string(text) != begun {
				t.Errorf("through %s the file behind the link became %q, %v", suffix, text, err)
			}
			if !exists(t, path) {
				t.Errorf("the link %s was taken away", suffix)
			}
			_ = os.Remove(path)
		}
	})
	t.Run("one that is under way is let alone", func(t *testing.T) {
		folder := t.TempDir()
		first := filepath.Join(folder, "first")
		meanwhile := func(int64) {
			if _, err := source(env).Write(t.Context(), first, func(int64) {}); err == nil {
				t.Error("two wrote one file")
			}
			_, err := source(env).Write(t.Context(), filepath.Join(folder, "second"), func(int64) {})
			if err != nil && !exists(t, filepath.Join(folder, "second")) || !exists(t, first+".part") {
				t.Errorf("beside it: %v", err)
			}
		}
		if _, err := source(env).Write(t.Context(), first, meanwhile); err != nil {
			t.Error(err)
		}
		if left, _ := filepath.Glob(filepath.Join(folder, "*.*")); len(left) > 0 {
			t.Errorf("left are %v", left)
		}
	})
	t.Run("a restore that was killed is in nobody's way", func(t *testing.T) {
		path, _ := write(t, env)
		target := elsewhere(t, env)
		if err := os.WriteFile(db.DraftOf(strings.TrimPrefix(target.Address, "sqlite:")), []byte(copied), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := target.Restore(t.Context(), path); err != nil {
			t.Error(err)
		}
	})
}
