package db

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"
)

// TestListsAreInNobodysWay: a handful of sums over half a million payments, or of lists for what is rare, took every
// connection that reads, and nobody of any tenant could pay meanwhile.
func TestListsAreInNobodysWay(t *testing.T) {
	t.Parallel()
	opened, err := openSQLite(t.Context(), filepath.Join(t.TempDir(), "browsed.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { opened.close() })
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	browse := func(whose string) Rows {
		rows, err := opened.browse(ctx, whose, `SELECT 1`)
		if err != nil {
			t.Fatalf("a list of %s: %v", whose, err)
		}
		t.Cleanup(rows.Close)
		return rows
	}
	first := browse("one")
	browse("one")
	gone, leave := context.WithCancel(t.Context())
	leave()
	if rows, err := opened.browse(gone, "one", `SELECT 1`); !errors.Is(err, context.Canceled) {
		rows.Close()
		t.Errorf("a third list of one tenant at a time: %v", err)
	}
	browse("other")
	browse("other")
	for range maxReaders {
		rows, err := opened.query(ctx, `SELECT 1`)
		if err != nil {
			t.Fatalf("a read beside lists: %v", err)
		}
		t.Cleanup(rows.Close)
	}
	first.Close()
	first.Close()
	browse("one")
}
