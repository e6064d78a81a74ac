package store_test

import (
	"os"
	"strings"
	"testing"

	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestACreateIsOnFewPages: a commit of SQLite writes whole pages, and the writer waits for
// them. A group of ten, as sixteen connections bring about, of eight tenants takes
// seven pages for each of its sessions while there are few, and took nine before schema 39
// (docs/adr/0053).
func TestACreateIsOnFewPages(t *testing.T) {
	t.Parallel()
	const tenants, group, groups, most = 8, 10, 25, 7.5
	env := storetest.SQLite(t)
	var shops []storetest.Shop
	for range tenants {
		shops = append(shops, env.Shop(t))
	}
	create := func(groups int) {
		for g := range groups {
			env.Write(t, func(tx *store.Tx) error {
				for i := range group {
					d := env.Draft(shops[(g*group+i*3)%tenants])
					tx.CreateSession(env.New(t, d), d.Lead)
				}
				return nil
			})
		}
	}
	create(groups) // so that no tree is a page or two
	before := logPages(t, env)
	create(groups)
	if pages := float64(logPages(t, env)-before) / (group * groups); pages > most {
		t.Errorf("a create takes %.2f pages of the log, at most %.1f are expected", pages, most)
	} else {
		t.Logf("a create takes %.2f pages of the log", pages)
	}
}

// logPages is how many pages have been written into the log, which is brought into the
// file after some thousands and grows until then.
func logPages(t *testing.T, env *storetest.Env) int64 {
	t.Helper()
	const page, head = 4096, 24
	log, err := os.Stat(strings.TrimPrefix(env.URL, "sqlite:") + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	return log.Size() / (page + head)
}
