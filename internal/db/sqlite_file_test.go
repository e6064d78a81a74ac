package db

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestDatabaseFilesAreTheirOwnersAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sepad.db")
	for _, before := range []os.FileMode{0, 0o644} {
		if before != 0 { // one that an older version has made
			if err := os.Chmod(path, before); err != nil {
				t.Fatal(err)
			}
		}
		engine, err := openSQLite(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := engine.writer.ExecContext(t.Context(), "CREATE TABLE IF NOT EXISTS x (a)"); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{path, path + "-wal", path + "-shm"} {
			if about, err := os.Stat(name); err != nil || about.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", name, about, err)
			}
		}
		if err := engine.close(); err != nil {
			t.Error(err)
		}
	}
}

// TestFilesOfOthersKeepTheirRights: whoever mistypes the address of the database takes nothing away from anybody, not even as root.
func TestFilesOfOthersKeepTheirRights(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	text, short, pipe := filepath.Join(folder, "hosts"), filepath.Join(folder, "short"), filepath.Join(folder, "null")
	err := errors.Join(os.WriteFile(text, []byte(strings.Repeat("127.0.0.1 localhost\n", 9)), 0o644), os.WriteFile(short, []byte("a"), 0o644), syscall.Mkfifo(pipe, 0o644))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{text, short, pipe} {
		before, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := openSQLite(t.Context(), path, Options{}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: opened, or no word of it: %v", path, err)
		}
		if after, err := os.Stat(path); err != nil || after.Mode() != before.Mode() || after.Size() != before.Size() {
			t.Errorf("%s was changed: %v, %v", path, after, err)
		}
	}
}

// TestAFileThatSomebodyElseMakesIsWaitedFor: whoever comes second to a new file is not told that it is locked. SQLite
// itself does not wait there, whatever its busy timeout: whoever turns to a log beside the file reads it already.
func TestAFileThatSomebodyElseMakesIsWaitedFor(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sepad.db")
	maker, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer maker.Close()
	maker.SetMaxOpenConns(1)
	for _, text := range []string{"BEGIN IMMEDIATE", "CREATE TABLE x (a)"} {
		if _, err := maker.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}

	patience, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := openSQLite(patience, path, Options{}); err == nil || patience.Err() == nil {
		t.Errorf("while somebody else writes, with patience left (%v): %v", patience.Err(), err)
	}

	if _, err := maker.ExecContext(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	engine, err := openSQLite(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := engine.close(); err != nil {
		t.Error(err)
	}
}

func TestAFileThatIsReplacedIsNoticed(t *testing.T) {
	t.Parallel()
	for what, spoil := range map[string]func(path string) error{
		"removed": os.Remove,
		"replaced": func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, nil, 0o600))
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "sepad.db")
			engine, err := openSQLite(t.Context(), path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer engine.close()
			write := func() error {
				return engine.write(t.Context(), time.Unix(0, 0), func(tx *Tx) error {
					tx.Then("CREATE TABLE IF NOT EXISTS x (a)")
					return nil
				})
			}
			if err := write(); err != nil {
				t.Fatal(err)
			}
			if err := spoil(path); err != nil {
				t.Fatal(err)
			}
			if err := write(); !errors.Is(err, ErrReplaced) {
				t.Errorf("a write says %v", err)
			}
			if err := (&DB{engine: engine}).Intact(); !errors.Is(err, ErrReplaced) {
				t.Errorf("a look says %v", err)
			}
		})
	}
}

func TestAFileThatWasRemovedIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sepad.db")
	engine, err := openSQLite(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.close()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if rows, err := engine.query(t.Context(), "SELECT 1"); err == nil { // its first connection
		rows.Close()
		t.Error("somebody reads what is not there")
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is there again: %v", err)
	}
}

func TestALinkDoesNotLeadPastTheLock(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path, link, second := filepath.Join(folder, "sepad.db"), filepath.Join(folder, "link.db"), filepath.Join(folder, "second.db")
	serve := func(path string) error {
		engine, err := openSQLite(t.Context(), path, Options{})
		if err != nil {
			return err
		}
		t.Cleanup(func() { engine.close() })
		unlock, err := (&DB{engine: engine}).LockForServing()
		if err == nil {
			t.Cleanup(unlock)
		}
		return err
	}
	if err := serve(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := serve(link); !errors.Is(err, ErrInUse) {
		t.Errorf("by a link: %v", err)
	}
	if err := os.Link(path, second); err != nil {
		t.Fatal(err)
	}
	if err := serve(second); err == nil || !strings.Contains(err.Error(), "second name") {
		t.Errorf("by a second name: %v", err)
	}
}

// TestWhatIsRemovedIsBlottedOut reads the file as a thief does.
func TestWhatIsRemovedIsBlottedOut(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sepad.db")
	const secret = "a name that was erased"
	change := func(statements ...string) {
		t.Helper()
		engine, err := openSQLite(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range statements {
			if _, err := engine.writer.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		if err := engine.close(); err != nil {
			t.Fatal(err)
		}
	}
	holds := func() bool {
		t.Helper()
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(content), secret)
	}
	change("CREATE TABLE people (name TEXT UNIQUE)", "INSERT INTO people VALUES ('one'), ('"+secret+"'), ('two')")
	if !holds() {
		t.Fatal("the test cannot find what is there")
	}
	change("UPDATE people SET name = 'x' WHERE name LIKE 'a name%'")
	if holds() {
		t.Error("it can still be read")
	}
}

// TestFilesBesideADatabaseLeadNowhere has whom the folder belongs to put links there, by which a command that root runs
// would give away a file from elsewhere, or change who may read it.
func TestFilesBesideADatabaseLeadNowhere(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{".open", ".turn", ".server", ".migrate", "-wal", "-shm"} {
		folder := t.TempDir()
		path, elsewhere := filepath.Join(folder, "sepad.db"), filepath.Join(folder, "elsewhere")
		const before = 0o640
		if err := errors.Join(os.WriteFile(elsewhere, nil, before), os.Symlink(elsewhere, path+suffix)); err != nil {
			t.Fatal(err)
		}
		engine, err := openSQLite(t.Context(), path, Options{})
		if err == nil {
			_, err = (&DB{engine: engine}).LockForServing()
		}
		if err == nil {
			err = engine.migrate(t.Context(), Schema{WholeSQLite: "CREATE TABLE x (a)"})
		}
		if about, statErr := os.Stat(elsewhere); err == nil || statErr != nil || about.Mode().Perm() != before {
			t.Errorf("%s: %v, %v, %v", suffix, err, about.Mode(), statErr)
		}
	}
}

// TestFilesBesideADatabaseBelongToItsOwner has root run commands on somebody's database.
func TestFilesBesideADatabaseBelongToItsOwner(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("this needs to be root")
	}
	const owner = 65534
	path := filepath.Join(t.TempDir(), "sepad.db")
	if err := errors.Join(os.WriteFile(path, nil, ownerOnly), os.Chown(path, owner, owner)); err != nil {
		t.Fatal(err)
	}
	engine, err := openSQLite(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.close()
	unlock, err := (&DB{engine: engine}).LockForServing()
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if err := engine.migrate(t.Context(), Schema{WholeSQLite: "CREATE TABLE x (a)"}); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{".open", ".turn", ".server", ".migrate"} {
		about, err := os.Stat(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if uid := about.Sys().(*syscall.Stat_t).Uid; uid != owner {
			t.Errorf("%s belongs to %d", suffix, uid)
		}
	}
}

// TestNamesThatKeepNothingAreRefused: SQLite would take the one for memory, and the other for the log of another database.
func TestNamesThatKeepNothingAreRefused(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, name := range []string{":memory:", "./:memory:", "../db/:memory:", filepath.Join(folder, ":memory:"), filepath.Join(folder, "sepad.db-wal"), filepath.Join(folder, "sepad.db-shm"), filepath.Join(folder, "sepad.db-journal")} {
		if engine, err := openSQLite(t.Context(), name, Options{}); err == nil {
			t.Errorf("%s was opened", name)
			_ = engine.close()
		}
		if err := CheckVacant(name); err == nil {
			t.Errorf("a database may be restored or moved to %s", name)
		}
		if _, err := os.Lstat(name); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s lies there: %v", name, err)
		}
	}
}

// TestANameThatIsTooLongIsInNobodysWay: whoever gives it is told so, and not to move away what is not there.
func TestANameThatIsTooLongIsInNobodysWay(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, letters := range []int{250, 300} { // too long with what lies beside it, and by itself
		err := CheckVacant(filepath.Join(folder, strings.Repeat("a", letters)))
		if err == nil || !strings.Contains(err.Error(), "too long") || strings.Contains(err.Error(), "in the way") {
			t.Errorf("%d letters: %v", letters, err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := CheckVacant(filepath.Join(folder, "file", "sepad.db")); err == nil || strings.Contains(err.Error(), "in the way") {
		t.Errorf("in what is no folder: %v", err)
	}
}
