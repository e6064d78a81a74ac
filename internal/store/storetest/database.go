package storetest

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"
)

// DB is the bare database beside the store, for looking at rows as they lie
// there. Both engines take $1 placeholders.
func (e *Env) DB(t testing.TB) *sql.DB {
	t.Helper()
	driver, address := "pgx", e.URL
	if path, isFile := strings.CutPrefix(e.URL, "sqlite:"); isFile {
		driver, address = "sqlite", "file:"+path+"?_pragma=busy_timeout(10000)"
	}
	db, err := sql.Open(driver, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// glance gives the bare database for a look. The connection of a test's own database is kept for the next one: to make one costs
// more than most of what is looked at, on both engines.
func (e *Env) glance(t testing.TB) *sql.DB {
	t.Helper()
	if e.looks != nil && e.looksAt == e.URL {
		return e.looks
	}
	db := e.DB(t)
	db.SetMaxIdleConns(-1)
	return db
}

// keepLooks keeps one until the test ends.
func (e *Env) keepLooks(t testing.TB) {
	t.Helper()
	e.looks, e.looksAt = e.DB(t), e.URL
	e.looks.SetMaxIdleConns(1)
}

// LookAway ends the connection that is kept, where somebody minds who else is connected.
func (e *Env) LookAway() {
	if e.looks != nil {
		e.looks.SetMaxIdleConns(-1)
		e.looks.SetMaxIdleConns(1)
	}
}

// Scalar reads one value with a statement of the test's own.
func Scalar[T any](t testing.TB, env *Env, query string, args ...any) (value T) {
	t.Helper()
	db := env.glance(t)
	if err := db.QueryRowContext(t.Context(), query, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}

// Count counts the rows of a table.
func (e *Env) Count(t testing.TB, table string) int {
	t.Helper()
	return Scalar[int](t, e, "SELECT COUNT(*) FROM "+table)
}

// Exec changes rows behind the store's back.
func (e *Env) Exec(t testing.TB, statement string, args ...any) {
	t.Helper()
	db := e.glance(t)
	if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// Dump is all rows of all tables of ours as text, to see whether anything at
// all has changed. What a sweep of a running service adds by itself is left out:
// the place of a deed in the chain of all deeds.
func (e *Env) Dump(t testing.TB) string {
	t.Helper()
	db := e.glance(t)
	var dump strings.Builder
	for _, table := range e.Tables(t, db) {
		if !strings.HasPrefix(table, "count_") { // what is counted of other rows is counted anew where those are written
			dumpTable(t, db, table, map[string]bool{"audit_entries.place": true, "audit_entries.hash": true}, &dump)
		}
	}
	return dump.String()
}

// Stolen is what somebody finds who has got hold of the database: all rows of all
// tables, the queue's as well, and on SQLite the very bytes of its files.
func (e *Env) Stolen(t testing.TB) string {
	t.Helper()
	db := e.glance(t)
	var loot strings.Builder
	for _, table := range e.allTables(t, db) {
		dumpTable(t, db, table, nil, &loot)
	}
	if path, isFile := strings.CutPrefix(e.URL, "sqlite:"); isFile {
		for _, name := range []string{path, path + "-wal"} {
			content, err := os.ReadFile(name)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			loot.Write(content)
		}
	}
	return loot.String()
}

// Tables are those of our own schema: the queue's and the list of migrations
// belong to others.
func (e *Env) Tables(t testing.TB, db *sql.DB) []string {
	t.Helper()
	return slices.DeleteFunc(e.allTables(t, db), isForeign)
}

func (e *Env) allTables(t testing.TB, db *sql.DB) (tables []string) {
	t.Helper()
	query := `SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1`
	if e.Engine == "sqlite" {
		query = `SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1`
	}
	result, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	for result.Next() {
		var name string
		if err := result.Scan(&name); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, name)
	}
	if err := result.Err(); err != nil {
		t.Fatal(err)
	}
	return tables
}

func isForeign(table string) bool {
	for _, prefix := range []string{"river_", "goose_", "sqlite_"} {
		if strings.HasPrefix(table, prefix) {
			return true
		}
	}
	return false
}

func allRowsOf(table string) string { return "SELECT * FROM " + table + " ORDER BY 1, 2" }

func dumpTable(t testing.TB, db *sql.DB, table string, without map[string]bool, dump *strings.Builder) {
	t.Helper()
	result, err := db.QueryContext(t.Context(), allRowsOf(table))
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	columns, err := result.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for result.Next() {
		values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := result.Scan(into...); err != nil {
			t.Fatal(err)
		}
		dump.WriteString(table)
		for i, value := range values {
			if value.Valid && !without[table+"."+columns[i]] {
				dump.WriteString(" " + columns[i] + "=" + value.String)
			}
		}
		dump.WriteString("\n")
	}
	if err := result.Err(); err != nil {
		t.Fatal(err)
	}
}

// Explain is the plan that the engine has for a query.
func (e *Env) Explain(t testing.TB, text string, args []any) string {
	t.Helper()
	explain, column := "EXPLAIN ", 0
	if e.Engine == "sqlite" {
		explain, column = "EXPLAIN QUERY PLAN ", 3
	}
	db := e.glance(t)
	rows, err := db.QueryContext(t.Context(), explain+text, args...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var plan strings.Builder
	for rows.Next() {
		values, into := make([]string, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		plan.WriteString(values[column] + "\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan.String()
}
