package db

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// TestALongListCostsWhatItsPartsDo: a list of a thousand names took SQLite far longer than ten of a hundred, and an erasure of somebody
// with very many rows, which names all of them in one unit, had everybody wait.
func TestALongListCostsWhatItsPartsDo(t *testing.T) {
	t.Parallel()
	opened, err := openSQLite(t.Context(), filepath.Join(t.TempDir(), "listed.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { opened.close() })
	names := make([]any, 4096)
	for i := range names {
		names[i] = fmt.Sprint(i)
	}
	list := func(some []any) {
		result, err := opened.query(t.Context(), `SELECT 1 WHERE 'nobody' IN `+Placeholders(1, 1, len(some)), some...)
		if _, err := Collect(result, err, func(Rows) (int, error) { return 0, nil }); err != nil {
			t.Fatal(err)
		}
	}
	took := func(what func()) time.Duration {
		began := time.Now()
		what()
		return time.Since(began)
	}
	lists, parts := time.Hour, time.Hour
	for round := 0; round < 100 && (round < 8 || lists > 3*parts); round++ { // others have this machine too: the quickest counts
		parts = min(parts, took(func() {
			for some := range InBatches(names) {
				list(some)
			}
		}))
		lists = min(lists, took(func() {
			for some := range InLists(names) {
				list(some)
			}
		}))
	}
	if lists > 3*parts {
		t.Errorf("as long lists they take %v, in parts %v", lists, parts)
	}
}
