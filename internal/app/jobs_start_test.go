package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/config"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// heldFor is what the dead server still holds at the start: its payment may not
// be asked about for so long, and its lease of the endpoint lasts.
const heldFor = 1500 * time.Millisecond

// receiver takes events once it is told to.
type receiver struct {
	*httptest.Server
	open atomic.Bool
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !r.open.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) profile() string {
	return fmt.Sprintf("tenants:\n  - id: %s\n    name: Bergladen\n    webhook_profiles:\n"+
		"      - {id: %s, name: Backend, url: %q, default: true}\n", apptest.Shop, apptest.Profile, r.URL)
}

// killed turns a server that has stopped into one that was killed: it holds what
// it held, and was the leader of the queue, whose lease lasts for longer than the
// test. The queue's periodic sweeps do not come then, so that whatever happens is
// the start's own doing.
func killed(t *testing.T, env *storetest.Env) {
	t.Helper()
	const written = "2006-01-02 15:04:05.000"
	now := time.Now().UTC()
	until := now.Add(heldFor).UnixMicro()
	env.Exec(t, `UPDATE transactions SET next_lookup_at = $1 WHERE in_flight IS NOT NULL`, until)
	env.Exec(t, `UPDATE events SET next_attempt_at = $1 WHERE next_attempt_at IS NOT NULL`, until)
	env.Exec(t, `UPDATE webhook_endpoints SET leased_until = $1, lease_owner = $2`, until, payment.NewID().String())
	env.Exec(t, `INSERT INTO river_leader (elected_at, expires_at, leader_id) VALUES ($1, $2, 'killed')`,
		now.Format(written), now.Add(48*time.Hour).Format(written))
}

func TestAStartSweepsWhatACrashLeft(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		receiver := newReceiver(t)
		options := apptest.Options{Change: func(s *config.Settings) {
			s.WebhookAllowPrivate, s.WebhookSchedule, s.GatewayTimeout = "true", "1h", "3s"
		}}
		before := apptest.Open(t, env, options)
		before.Apply(t, receiver.profile())
		forgotten := before.Create(t, apptest.InCampaign(apptest.ShortCampaign))
		unknown := before.Create(t, apptest.Direct())
		before.Pay(t, unknown, apptest.TimeoutApproved).Want(t, http.StatusInternalServerError, nil)
		before.Completed(t, apptest.Direct())
		undelivered := func() int {
			return storetest.Scalar[int](t, env, `SELECT (SELECT COUNT(*) FROM events_in_line) + (SELECT COUNT(*) FROM events WHERE delivery_status = 'pending')`)
		}
		apptest.Eventually(t, "both events were refused", func() bool {
			return storetest.Scalar[int](t, env, `SELECT COUNT(*) FROM events WHERE next_attempt_at IS NOT NULL`) == 2
		})
		before.Stop(t)
		killed(t, env)
		env.Exec(t, `UPDATE service_clock SET offset_us = $1`, (2 * time.Hour).Microseconds())
		receiver.open.Store(true)

		after := before.Beside(t, options)
		t.Run("a session that ran out meanwhile is ended", func(t *testing.T) {
			apptest.Eventually(t, "the session is ended in its row", func() bool {
				return storetest.Scalar[string](t, env, `SELECT status FROM sessions WHERE token = $1`, store.TokenKey(forgotten)) == "EXPIRED"
			})
		})
		t.Run("a payment left open is asked about once its sender must be silent", func(t *testing.T) {
			apptest.Eventually(t, "the outcome is known", func() bool { return after.Retrieve(t, unknown).Text(t, "status") == "COMPLETED" })
			after.WantLedger(t, unknown, 1, 1)
		})
		t.Run("events are delivered when their time comes, once the lease of the dead is over", func(t *testing.T) {
			apptest.Eventually(t, "nothing is left to deliver", func() bool { return undelivered() == 0 })
		})
		t.Run("all of it without the queue's own sweeps", func(t *testing.T) {
			if leader := storetest.Scalar[string](t, env, `SELECT leader_id FROM river_leader`); leader != "killed" {
				t.Errorf("%s leads the queue", leader)
			}
		})
	})
}
