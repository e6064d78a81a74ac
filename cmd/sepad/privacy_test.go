package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"sepad/internal/gateway/sandbox"
	"sepad/internal/testenv"
	"sepad/internal/vault"
)

// site is a folder with a database, as an operator has one.
type site struct {
	t        *testing.T
	folder   string
	settings []string
}

func newSite(t *testing.T, folder, keys, database string) site {
	t.Helper()
	return site{t, folder, []string{"SEPAD_DATABASE_URL=" + database, "SEPAD_ENCRYPTION_KEYS=" + keys}}
}

// run calls the program on the site's database.
func (s site) run(args ...string) result {
	s.t.Helper()
	return execute(s.t, command(s.t, s.folder, s.settings, append(args, "--data", s.folder)...))
}

func (s site) must(args ...string) string {
	s.t.Helper()
	r := s.run(args...)
	if r.code != 0 {
		s.t.Fatalf("sepad %v: exit %d\n%s", args, r.code, r.stderr)
	}
	return r.stdout
}

// refused expects that a command fails in one line that says why.
func (s site) refused(why string, args ...string) {
	s.t.Helper()
	expectOneLine(s.t, s.run(args...), 1, why)
}

// trade lets customers buy something, and stops the server again.
func (s site) trade(customers ...string) {
	s.t.Helper()
	server := startDev(s.t, s.folder, s.settings, "--data", s.folder)
	for _, customer := range customers {
		_, token := server.create(server.key, customer)
		if status, body := server.pay(token, sandbox.Approved); status != http.StatusOK {
			s.t.Fatalf("%d %s", status, body)
		}
	}
	server.stop(syscall.SIGTERM)
}

// TestAPersonIsErasedAndStaysSo goes the way of a request to be forgotten, command by
// command: export, erasure, and the restore of a backup that is older.
func TestAPersonIsErasedAndStaysSo(t *testing.T) {
	t.Parallel()
	for engine, url := range databases {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			const ada, bob, account = "ada@shop.example", "bob@shop.example", "Ada Byron"
			folder, backups, keys := t.TempDir(), t.TempDir(), vault.GenerateKey()
			s := newSite(t, folder, keys, url(t))
			s.trade("ada", "bob")

			exported := s.run("leads", "export", ada)
			var all map[string]any
			if err := json.Unmarshal([]byte(exported.stdout), &all); err != nil || exported.code != 0 {
				t.Fatalf("the export: %v %s", err, exported.stderr)
			}
			for _, table := range []string{"leads", "sessions", "orders", "transactions", "events"} {
				if rows, _ := all[table].([]any); len(rows) == 0 {
					t.Errorf("the export has no %s", table)
				}
			}
			if !strings.Contains(exported.stdout, account) || strings.Contains(exported.stdout, bob) || !strings.Contains(exported.stderr, "the data of a person was exported") {
				t.Errorf("the export is of somebody else, or nobody was told: %s", exported.stderr)
			}
			s.refused("not found", "leads", "export", "nobody@shop.example")

			backup := filepath.Join(backups, "early.backup")
			s.must("backup", backup)
			asked := s.run("leads", "erase", ada)
			if asked.code != 1 || !strings.Contains(asked.stderr, "nothing was erased") {
				t.Errorf("nobody answered, and: %d %s", asked.code, asked.stderr)
			}
			if done := s.must("leads", "erase", ada, "--yes"); !strings.Contains(done, "The person was erased from 1 sessions, 1 transactions") {
				t.Errorf("it says %s", done)
			}
			s.refused("not found", "leads", "export", ada)
			s.must("leads", "export", bob)

			list := filepath.Join(t.TempDir(), "later.erased")
			if printed := s.must("leads", "erased"); printed == "" || strings.Contains(printed, ada) {
				t.Errorf("the list is %q", printed)
			}
			if said := s.must("leads", "erased", "--export", list); !strings.Contains(said, "names of erased persons") {
				t.Errorf("it says %s", said)
			}
			if about, err := os.Stat(list); err != nil || about.Mode().Perm() != 0o600 {
				t.Errorf("the list is %v, %v", about, err)
			}
			s.refused("exists", "leads", "erased", "--export", list)

			forgetful := newSite(t, folder, keys, url(t))
			forgetful.must("restore", backup)
			forgetful.must("leads", "export", ada) // as an older backup has it: the lists are what keeps her erased
			if released := forgetful.run("restore", "--release", "--erased", list); released.code != 2 || !strings.Contains(released.stderr, "--erased goes with") {
				t.Errorf("a list where nothing is restored: %d %s", released.code, released.stderr)
			}
			const again = "1 persons who had been erased since were erased again"
			if said := forgetful.must("restore", "--mark", "2026-03-31T12:00:00Z", "--erased", list); !strings.Contains(said, again) {
				t.Errorf("restored by other means it says %s", said)
			}
			forgetful.refused("not found", "leads", "export", ada)
			forgetful.must("leads", "export", bob)
			restored := newSite(t, folder, keys, url(t))
			if said := restored.must("restore", backup, "--erased", list); !strings.Contains(said, again) {
				t.Errorf("it says %s", said)
			}
			restored.refused("not found", "leads", "export", ada)
			restored.must("leads", "export", bob)
		})
	}
}

// TestListsBesideABackup: whatever the folder is called, no list in it is passed over.
func TestListsBesideABackup(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), `[2026] what* is\kept?`)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.backup", "a.backup.erased", "later.erased"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lists, err := erasedBeside(filepath.Join(folder, "a.backup"))
	if want := []string{filepath.Join(folder, "a.backup.erased"), filepath.Join(folder, "later.erased")}; err != nil || !slices.Equal(lists, want) {
		t.Errorf("got %q: %v", lists, err)
	}
	if _, err := erasedBeside(filepath.Join(folder, "gone", "a.backup")); err == nil {
		t.Error("a folder that cannot be looked through is passed over")
	}
	if err := os.Symlink(os.DevNull, filepath.Join(folder, "odd.erased")); err != nil {
		t.Fatal(err)
	}
	if _, err := erasedBeside(filepath.Join(folder, "a.backup")); err == nil {
		t.Error("what is no file is waited for, or passed over")
	}
}

// TestADatabaseIsMovedAndBack moves from SQLite to PostgreSQL and back into another
// file, by the program.
func TestADatabaseIsMovedAndBack(t *testing.T) {
	t.Parallel()
	folder, keys := t.TempDir(), vault.GenerateKey()
	file := newSite(t, folder, keys, "sqlite:"+filepath.Join(folder, "sepad.db"))
	server := newSite(t, folder, keys, testenv.PostgresURL(t))
	back := newSite(t, folder, keys, "sqlite:"+filepath.Join(folder, "back.db"))
	address := func(s site) string { return strings.TrimPrefix(s.settings[0], "SEPAD_DATABASE_URL=") }
	known := func(s site) string {
		t.Helper()
		_, rows, _ := strings.Cut(s.must("leads", "export", "ada@shop.example"), "\n") // the first line has the time
		return rows
	}
	file.trade("ada", "bob")

	running := startDev(t, folder, file.settings, "--data", folder)
	file.refused("stop it first", "move", "--to", address(server))
	running.stop(syscall.SIGTERM)
	before := known(file) // with the deliveries that it tried meanwhile
	for _, way := range []struct{ from, to site }{{file, server}, {server, back}} {
		said := way.from.must("move", "--to", address(way.to))
		if !strings.Contains(said, "transactions.amount_minor: ") || !strings.Contains(said, " EUR") || !strings.Contains(said, "every value is what it was") {
			t.Errorf("it says %s", said)
		}
		if after := known(way.to); after != before {
			t.Errorf("moved is\n%s\nwant\n%s", after, before)
		}
		way.from.refused("was moved", "keys", "list")
		way.from.refused("was moved", "dev", "--listen", "127.0.0.1:0")
	}
	back.refused("", "move", "--to", address(server)) // which is not empty
	back.trade("cleo")

	file.must("move", "--release")
	file.must("keys", "list")
}

// TestKeysAreRotatedByTheProgram takes the three documented steps with the commands
// that an operator has.
func TestKeysAreRotatedByTheProgram(t *testing.T) {
	t.Parallel()
	for engine, url := range databases {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			folder, database, old, fresh := t.TempDir(), url(t), vault.GenerateKey(), vault.GenerateKey()
			with := func(keys ...string) site { return newSite(t, folder, strings.Join(keys, ","), database) }
			with(old).trade("ada")
			with(old, fresh).trade("bob")
			both := with(fresh, old)
			both.trade("cleo")
			name, _, _ := strings.Cut(old, ":")
			with(fresh).refused(name, "keys", "list") // which it still needs
			if said := both.must("keys", "rotate-encryption"); strings.HasPrefix(said, "0 rows") || !strings.Contains(said, "The others can be taken out") {
				t.Errorf("it says %s", said)
			}
			if again := both.must("keys", "rotate-encryption"); !strings.HasPrefix(again, "0 rows") {
				t.Errorf("once more it says %s", again)
			}
			for _, customer := range []string{"ada", "bob", "cleo"} {
				with(fresh).must("leads", "export", customer+"@shop.example")
			}
			with(old).refused("SEPAD_ENCRYPTION_KEYS", "keys", "list")
		})
	}
}
