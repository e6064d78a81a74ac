package app_test

import (
	"sync/atomic"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/clock"
	"sepad/internal/jobs"
	"sepad/internal/store/storetest"
)

// stepped is a machine's clock that a test puts forward and back.
type stepped struct{ ahead atomic.Int64 }

func (s *stepped) Now() time.Time { return clock.Real{}.Now().Add(time.Duration(s.ahead.Load())) }

// TestAClockThatIsFarOffBillsNobody steps a server's clock by more than a year: by that clock a year of rebills is due.
func TestAClockThatIsFarOffBillsNobody(t *testing.T) {
	t.Parallel()
	env, world := storetest.Postgres(t), &stepped{}
	s := apptest.Open(t, env, apptest.Options{World: world})
	s.Completed(t, apptest.Direct().With(apptest.Body{"billing_type": "RECURRING", "billing_frequency": "MONTHLY"}))
	world.ahead.Store(int64(400 * 24 * time.Hour))
	env.Exec(t, `INSERT INTO river_job (kind, args, max_attempts) VALUES ($1, '{}', 1)`, jobs.BillJob{}.Kind())
	apptest.Eventually(t, "the sweep is over", func() bool {
		return storetest.Scalar[int](t, env, `SELECT COUNT(*) FROM river_job WHERE kind = $1 AND finalized_at IS NULL`, jobs.BillJob{}.Kind()) == 0
	})
	if rebills := storetest.Scalar[int](t, env, `SELECT COUNT(*) FROM transactions WHERE type = 'sdd_rebill'`); rebills != 0 {
		t.Errorf("%d rebills", rebills)
	}
}

// TestSweepsWaitForNoClock: the queue's leader, whose clock may be ahead, does not say when a sweep may begin.
func TestSweepsWaitForNoClock(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		count := func(condition string) int {
			return storetest.Scalar[int](t, s.Env, `SELECT COUNT(*) FROM river_job WHERE kind = 'run_due'`+condition)
		}
		apptest.Eventually(t, "there is a sweep", func() bool { return count("") > 0 })
		if dated := count(` AND scheduled_at > '2000-01-01'`); dated > 0 {
			t.Errorf("%d sweeps have a date", dated)
		}
		apptest.Eventually(t, "it is done", func() bool { return count(` AND finalized_at IS NOT NULL`) > 0 })
	})
}
