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
		return storetest.Scalar[int](t, env, "SELECT COUNT(*) FROM pg_stat_user_tables WHERE relname = 'leads' AND last_analyze IS NOT NULL")
	}
	if err := env.Store.AnalyzeYoung(t.Context(), env.Now); err != nil || analyzed() != 0 {
		t.Fatalf("a table without rows was analyzed: %v", err)
	}
	env.Exec(t, `INSERT INTO leads (tenant_id, id, email, email_key, first_name, last_name, country, address, city, postal_code,
		phone, created_at, updated_at) SELECT $1, gen_random_uuid(), 'x', n, '', '', 'DE', '', '', '', '', 1, 1
		FROM generate_series(1, 600) n`, tenant.ID.String())
	patience := time.After(time.Minute) // PostgreSQL counts rows behind our back
	for look := time.NewTicker(20 * time.Millisecond); analyzed() == 0; {
		select {
		case <-look.C:
			if err := env.Store.AnalyzeYoung(t.Context(), env.Now); err != nil {
				t.Fatal(err)
			}
		case <-patience:
			t.Fatal("a table of 600 rows was not analyzed")
		}
	}
}
