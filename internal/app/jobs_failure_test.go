package app_test

import (
	"strings"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/jobs"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestWorkThatFailsIsTold breaks a table away under the background work: whoever reads the log or the metrics hears of it.
func TestWorkThatFailsIsTold(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		server := apptest.Open(t, env, apptest.Options{})
		env.Exec(t, `ALTER TABLE idempotency_keys RENAME TO elsewhere`)
		env.Write(t, func(tx *store.Tx) error { return tx.Enqueue(jobs.TidyJob{}, time.Now()) })
		apptest.Eventually(t, "the log tells of it", func() bool {
			return strings.Contains(server.Log(), `"background work failed","kind":"tidy","error":`)
		})
		metrics := server.Do(t, apptest.Request{Path: "/metrics", Key: apptest.AdminToken, Undocumented: true}).Raw
		if !strings.Contains(string(metrics), `sepad_failed_jobs_total{kind="tidy"} 1`) {
			t.Error("the metrics do not tell of it")
		}
	})
}
