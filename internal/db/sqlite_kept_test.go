package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"unsafe"

	sqlitecode "modernc.org/sqlite/lib"
)

// keepingDB is a database with one connection and some rows.
func keepingDB(t *testing.T) (*sql.DB, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kept.db")
	opened, err := openKeeping(sqliteDSN(path, writerPragmas))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { opened.Close() })
	opened.SetMaxOpenConns(1)
	if _, err := opened.ExecContext(t.Context(), `CREATE TABLE notes (id INTEGER PRIMARY KEY, state TEXT NOT NULL);
		CREATE INDEX notes_state_idx ON notes (state);
		INSERT INTO notes VALUES (1, 'new'), (2, 'new'), (3, 'old')`); err != nil {
		t.Fatal(err)
	}
	return opened, path
}

// withConn looks into the only connection.
func withConn(t *testing.T, opened *sql.DB, look func(*keepingConn)) {
	t.Helper()
	connection, err := opened.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if err := connection.Raw(func(conn any) error { look(conn.(*keepingConn)); return nil }); err != nil {
		t.Fatal(err)
	}
}

// compiledAgain is SQLite's own count of how often a statement that is kept was compiled anew.
func compiledAgain(t *testing.T, opened *sql.DB, text string) (times int64) {
	t.Helper()
	withConn(t, opened, func(c *keepingConn) {
		known, ok := c.kept[text]
		if !ok {
			t.Fatalf("%s is not kept", text)
		}
		private := func(of any, name string) reflect.Value {
			field := reflect.ValueOf(of).Elem().FieldByName(name)
			return reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
		}
		count := reflect.ValueOf(sqlitecode.Xsqlite3_stmt_status).Call([]reflect.Value{
			private(c.bareConn, "tls"), private(known.statement, "pstmt"),
			reflect.ValueOf(int32(sqlitecode.SQLITE_STMTSTATUS_REPREPARE)), reflect.ValueOf(int32(0)),
		})
		times = count[0].Int()
	})
	return times
}

func mustScan(t *testing.T, opened *sql.DB, text string, args ...any) (all []int) {
	t.Helper()
	rows, err := opened.QueryContext(t.Context(), text, args...)
	all, err = Collect(Rows(sqliteRows{rows}), err, func(r Rows) (n int, err error) { return n, r.Scan(&n) })
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return all
}

func TestStatementsAreCompiledOnce(t *testing.T) {
	t.Parallel()
	for what, text := range map[string]string{
		"a query":                "SELECT id FROM notes WHERE state = $1 ORDER BY id",
		"a query with a limit":   "SELECT id FROM notes WHERE state = $1 ORDER BY id LIMIT $2",
		"a limit of the queue's": "SELECT id FROM notes WHERE state = ?1 ORDER BY id LIMIT ?2",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			opened, _ := keepingDB(t)
			for _, want := range [][]int{{1, 2}, {1, 2}, {1, 2}} {
				if got := mustScan(t, opened, text, "new", 5); !reflect.DeepEqual(got, want) {
					t.Errorf("%v, want %v", got, want)
				}
			}
			if times := compiledAgain(t, opened, text); times != 0 {
				t.Errorf("it was compiled again %d times", times)
			}
		})
	}
}

func TestALimitHolds(t *testing.T) {
	t.Parallel()
	opened, _ := keepingDB(t)
	for _, limit := range []int{1, 2, 0, 5} {
		want := []int{1, 2, 3}[:min(limit, 3)]
		if got := mustScan(t, opened, "SELECT id FROM notes ORDER BY id LIMIT $1", limit); len(got) != len(want) {
			t.Errorf("with limit %d: %v", limit, got)
		}
	}
}

func TestAStatementRunsWhileItsRowsAreRead(t *testing.T) {
	t.Parallel()
	opened, _ := keepingDB(t)
	tx, err := opened.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	const text = "SELECT id FROM notes WHERE state = $1 ORDER BY id"
	outer, err := tx.QueryContext(t.Context(), text, "new")
	if err != nil {
		t.Fatal(err)
	}
	defer outer.Close()
	var seen []int
	for outer.Next() {
		var id, inner int
		if err := errors.Join(outer.Scan(&id), tx.QueryRowContext(t.Context(), text, "old").Scan(&inner)); err != nil {
			t.Fatal(err)
		}
		seen = append(seen, id, inner)
	}
	if want := []int{1, 3, 2, 3}; outer.Err() != nil || !reflect.DeepEqual(seen, want) {
		t.Errorf("%v, %v, want %v", seen, outer.Err(), want)
	}
}

func TestKeptStatementsOutliveAChangeOfTheSchema(t *testing.T) {
	t.Parallel()
	opened, path := keepingDB(t)
	const read, write = "SELECT id FROM notes WHERE state = $1 ORDER BY id", "UPDATE notes SET state = $1 WHERE id = $2"
	work := func(state string) {
		t.Helper()
		if _, err := opened.ExecContext(t.Context(), write, state, 3); err != nil {
			t.Fatal(err)
		}
		if got := mustScan(t, opened, read, state); len(got) == 0 || got[len(got)-1] != 3 {
			t.Errorf("%s: %v", state, got)
		}
	}
	work("old")
	other, err := openKeeping(sqliteDSN(path, writerPragmas)) // as a migration run from elsewhere
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.ExecContext(t.Context(), "DROP INDEX notes_state_idx; ALTER TABLE notes ADD COLUMN place INTEGER"); err != nil {
		t.Fatal(err)
	}
	work("older")
}

func TestKeptStatementsAreBounded(t *testing.T) {
	t.Parallel()
	opened, _ := keepingDB(t)
	const often = "SELECT id FROM notes WHERE state = $1 ORDER BY id"
	for i := range 2 * maxKept {
		mustScan(t, opened, often, "new")
		mustScan(t, opened, fmt.Sprintf("SELECT id + %d FROM notes WHERE state = $1", i), "new")
	}
	withConn(t, opened, func(c *keepingConn) {
		if _, ok := c.kept[often]; !ok || len(c.kept) != maxKept {
			t.Errorf("%d are kept, the one that runs often among them: %t", len(c.kept), ok)
		}
	})
}

func TestWhatFailedIsNotKept(t *testing.T) {
	t.Parallel()
	opened, _ := keepingDB(t)
	const insert = "INSERT INTO notes VALUES ($1, $2)"
	if _, err := opened.ExecContext(t.Context(), insert, 1, "twice"); err == nil {
		t.Error("a key was given twice")
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := opened.QueryContext(cancelled, "SELECT id FROM notes WHERE state = $1", "new"); !errors.Is(err, context.Canceled) {
		t.Errorf("a query that was given up says %v", err)
	}
	if _, err := opened.ExecContext(t.Context(), insert, 4, "once"); err != nil {
		t.Error(err)
	}
}

// TestAClosedDatabaseLeavesNoLog: SQLite takes its log away with the last connection,
// unless a statement is left that nobody has ended.
func TestAClosedDatabaseLeavesNoLog(t *testing.T) {
	t.Parallel()
	opened, path := keepingDB(t)
	mustScan(t, opened, "SELECT id FROM notes WHERE state = $1", "new")
	if err := opened.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the log is left: %v", err)
	}
}
