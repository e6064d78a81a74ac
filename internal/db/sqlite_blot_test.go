package db

import (
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// BenchmarkBlottingOut measures what it costs that removed rows are blotted out: units that
// write a row, change another one's length and remove a third, each with a commit of its own.
func BenchmarkBlottingOut(b *testing.B) {
	for _, how := range []string{"OFF", "FAST", "ON"} {
		b.Run(how, func(b *testing.B) {
			pragmas := slices.Clone(writerPragmas)
			pragmas[slices.Index(pragmas, "secure_delete(FAST)")] = "secure_delete(" + how + ")"
			writer, err := sql.Open("sqlite", sqliteDSN(filepath.Join(b.TempDir(), "blot.db"), pragmas))
			if err != nil {
				b.Fatal(err)
			}
			defer writer.Close()
			writer.SetMaxOpenConns(1)
			must := func(statement string, arguments ...any) {
				if _, err := writer.ExecContext(b.Context(), statement, arguments...); err != nil {
					b.Fatal(err)
				}
			}
			must("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL)")
			must("CREATE INDEX people_email ON people (email)")
			const kept = 20_000
			must("BEGIN")
			for i := range kept {
				must("INSERT INTO people VALUES (?, ?, ?)", i, strings.Repeat("n", 300), i*7919%kept)
			}
			must("COMMIT")
			b.ResetTimer()
			for i := range b.N {
				must("BEGIN IMMEDIATE")
				must("INSERT INTO people VALUES (?, ?, ?)", kept+i, strings.Repeat("n", 300), i)
				must("UPDATE people SET name = ? WHERE id = ?", strings.Repeat("m", 200+i%200), i+kept/2)
				must("DELETE FROM people WHERE id = ?", i)
				must("COMMIT")
			}
		})
	}
}
