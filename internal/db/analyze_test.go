package db_test

import (
	"testing"
	"time"

	"sepad/internal/store/storetest"
)

func TestTablesThatHaveGrownAreAnalyzed(t *testing.T) {
	t.Parallel()
	env := storetest.FreshPostgres(t)
	tenant := env.Tenant(t)
	analyzed := func() int {
		return storetest.Scalar[int](t, env, "SELECT analyze_count FROM pg_stat_user_tables WHERE relname = 'leads'")
	}
	if err := env.Store.AnalyzeYoung(t.Context(), env.Now); err != nil || analyzed() != 0 {
		t.Fatalf("a table without rows was analyzed: %v", err)
	}
	rows := 0
	for times, grownTo := range []int{600, 700, 1_500} {
		env.Exec(t, `INSERT INTO leads (tenant_id, id, email, email_key, first_name, last_name, country, address, city, postal_code,
			phone, created_at, updated_at) SELECT $1, gen_random_uuid(), 'x', n, '', '', 'DE', '', '', '', '', 1, 1
			FROM generate_series($2::int, $3::int) n`, tenant.ID.String(), rows+1, grownTo)
		rows = grownTo
		awaitCounted(t, env, rows)
		if err := env.Store.AnalyzeYoung(t.Context(), env.Now); err != nil {
			t.Fatal(err)
		}
		if got, want := analyzed(), []int{1, 1, 2}[times]; got != want {
			t.Errorf("with %d rows the table was analyzed %d times, want %d", rows, got, want)
		}
	}
}

// awaitCounted waits until PostgreSQL, which counts rows behind our back, knows of all.
func awaitCounted(t *testing.T, env *storetest.Env, rows int) {
	t.Helper()
	patience := time.After(time.Minute)
	for look := time.NewTicker(20 * time.Millisecond); ; {
		if storetest.Scalar[int](t, env, "SELECT n_tup_ins FROM pg_stat_user_tables WHERE relname = 'leads'") >= rows {
			return
		}
		select {
		case <-look.C:
		case <-patience:
			t.Fatalf("PostgreSQL does not know of %d rows", rows)
		}
	}
}
