package store_test

import (
	"database/sql"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sepad/internal/db"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

const wholeSchemaFile = "migrations/sqlite_whole.sql"

var update = flag.Bool("update", false, "write "+wholeSchemaFile+" anew")

// TestTheWholeSchemaIsWhatTheMigrationsMake compares a database that was made at
// once with one that went through every migration: each table, index and row.
func TestTheWholeSchemaIsWhatTheMigrationsMake(t *testing.T) {
	t.Parallel()
	schema := store.Schema()
	schema.WholeSQLite = ""
	stepwise := describe(t, schema)
	if *update {
		if err := os.WriteFile(wholeSchemaFile, []byte(stepwise), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Skip("the file was written; build again and run the test without -update")
	}
	if whole := describe(t, store.Schema()); whole != stepwise {
		t.Errorf("%s is not what the migrations make: go test ./internal/store -run TheWholeSchema -update\ngot\n%s\nwant\n%s",
			wholeSchemaFile, whole, stepwise)
	}
}

// describe is the SQL that makes a database like the one that was migrated.
func describe(t *testing.T, schema db.Schema) string {
	t.Helper()
	env := &storetest.Env{Engine: "sqlite", URL: "sqlite:" + filepath.Join(t.TempDir(), "sepad.db"), Now: storetest.Start}
	process, err := db.Open(t.Context(), env.URL, schema, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = process.Close() })
	if err := process.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	bare := env.DB(t)
	var text strings.Builder
	text.WriteString("-- The schema of a new SQLite database. Not written by hand: see migrate_whole_test.go.\n")
	var tables []string
	each(t, bare, `SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite#_%' ESCAPE '#'
		AND $1 <> '' ORDER BY rowid`, "all", func(r *sql.Rows) error {
		var kind, name, statement string
		err := r.Scan(&kind, &name, &statement)
		text.WriteString(statement + ";\n")
		if kind == "table" {
			tables = append(tables, name)
		}
		return err
	})
	for _, table := range tables {
		text.WriteString(insertsOf(t, bare, table))
	}
	// What the planner is told of indexes stands in a table that ANALYZE makes.
	const plan = "ANALYZE sqlite_schema;\n"
	return text.String() + plan + insertsOf(t, bare, "sqlite_stat1") + plan
}

// insertsOf is the SQL for the rows that a migration has put into a table. Instants
// are left to their defaults.
func insertsOf(t *testing.T, db *sql.DB, table string) (text string) {
	t.Helper()
	var columns []string
	each(t, db, `SELECT name FROM pragma_table_info($1)`, table, func(r *sql.Rows) error {
		var name string
		err := r.Scan(&name)
		if name != "tstamp" && name != "created_at" {
			columns = append(columns, name)
		}
		return err
	})
	values := "quote(" + strings.Join(columns, ") || ', ' || quote(") + ")"
	each(t, db, `SELECT `+values+` FROM `+table+` WHERE $1 <> ''`, table, func(r *sql.Rows) error {
		var row string
		err := r.Scan(&row)
		text += "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES (" + row + ");\n"
		return err
	})
	return text
}
