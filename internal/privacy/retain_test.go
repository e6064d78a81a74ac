package privacy_test

import (
	"log/slog"
	"testing"
	"time"

	"sepad/internal/clock"
	"sepad/internal/payment"
	"sepad/internal/privacy"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

const day = 24 * time.Hour

var usual = privacy.Retention{Sessions: 90 * day, Events: 90 * day, DeliveryLogs: 30 * day, Evidence: 1500 * day, BankFiles: 3650 * day}

// later is a sweep after a time.
func later(t *testing.T, env *storetest.Env, by time.Duration, observe func(string, int)) {
	t.Helper()
	sweep := sweepAfter(env, by)
	sweep.Observe = observe
	must(t, sweep.Retain(t.Context()))
}

func sweepAfter(env *storetest.Env, by time.Duration) *privacy.Privacy {
	return &privacy.Privacy{
		Store: env.Store, Clock: fixed(env.Now.Add(by)), Real: fixed(clock.Real{}.Now().Add(by)), Logger: slog.New(slog.DiscardHandler), Keep: usual,
	}
}

// TestWhatIsStillNeededIsKept lets years pass over a shop, and looks after each sweep
// what is left.
func TestWhatIsStillNeededIsKept(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		left := env.Session(t, shop) // and never came back
		env.Session(t, shop, storetest.ExpiresIn(400*day))
		env.Exec(t, `UPDATE sessions SET status = 'EXPIRED', holds_lead = FALSE WHERE id = $1`, left.Session.ID.String())
		live, ended, open := agreed(t, env, shop), agreed(t, env, shop), agreed(t, env, shop)
		env.Exec(t, `UPDATE subscriptions SET status = 'CANCELLED', due_at = NULL WHERE id = $1`, ended.Subscription.ID.String())
		env.Exec(t, `UPDATE subscriptions SET status = 'CANCELLED', due_at = NULL WHERE id = $1`, open.Subscription.ID.String())
		env.Exec(t, `UPDATE transactions SET refunding_minor = 1 WHERE id = $1`, open.Transaction.ID.String())
		env.Exec(t, `DELETE FROM events_in_line WHERE event_id IN (SELECT id FROM events WHERE kind = 'transaction.created')`)
		env.OutOfLine(t)
		env.Exec(t, `INSERT INTO webhook_attempts (tenant_id, event_id, id, number, attempted_at, duration_us, status_code, error, answer)
			SELECT tenant_id, id, id, 1, $1, 1, 200, '', 'taken' FROM events WHERE delivery_status = 'delivered'`, clock.Real{}.Now().UnixMicro())
		counted := map[string]int{}
		for _, test := range []struct {
			after                                     time.Duration
			sessions, leads, events, attempts, proofs int
		}{
			{29 * day, 5, 5, 6, 3, 3},
			{31 * day, 5, 5, 6, 0, 3},
			{89 * day, 5, 5, 6, 0, 3},
			{91 * day, 4, 4, 3, 0, 3}, // what waits for its receiver stays
			{1499 * day, 4, 4, 3, 0, 3},
			{1501 * day, 4, 4, 3, 0, 2}, // that of the mandate that nobody can use any more has gone
		} {
			later(t, env, test.after, func(kind string, rows int) { counted[kind] += rows })
			for table, want := range map[string]int{
				"sessions": test.sessions, "leads": test.leads, "events": test.events, "webhook_attempts": test.attempts, "mandate_acceptances": test.proofs,
			} {
				if got := env.Count(t, table); got != want {
					t.Errorf("after %s there are %d %s, want %d", test.after, got, table, want)
				}
			}
		}
		if got := env.Count(t, "transactions"); got != 3 {
			t.Errorf("there are %d transactions", got)
		}
		if counted["sessions"] != 1 || counted["events"] != 3 || counted["delivery_logs"] != 3 || counted["evidence"] != 1 {
			t.Errorf("it counted %v", counted)
		}
		for what, needed := range map[string]payment.Change{"a live mandate": live, "a refund under way": open} {
			if proof, err := env.Store.Tenant(shop.ID).Acceptance(t.Context(), needed.Transaction.ID); err != nil || proof == nil {
				t.Errorf("the evidence of %s is gone: %v", what, err)
			}
		}
	})
}

// TestALeadGoesWithItsSessions has the sweep broken off between the two, and has somebody buy again at the same moment:
// nobody is left of whom no session tells any more.
func TestALeadGoesWithItsSessions(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		again := env.Session(t, shop)
		env.Session(t, shop)
		env.Exec(t, `UPDATE sessions SET status = 'EXPIRED', holds_lead = FALSE`)
		sweep := func() error { return sweepAfter(env, 91*day).Retain(t.Context()) }
		mend := breakOff(t, env, "leads")
		if err := sweep(); err == nil {
			t.Error("the sweep was not broken off")
		}
		mend()
		if env.Engine == "postgres" { // SQLite has one writer, so that there is no such moment
			env.Write(t, func(tx *store.Tx) error {
				tx.HoldLead(shop.ID, again.Session.LeadID)
				held, err := tx.Query(`SELECT 1`)
				must(t, err)
				held.Close()
				return sweep()
			})
			if leads, sessions := env.Count(t, "leads"), env.Count(t, "sessions"); leads != 1 || sessions != 1 {
				t.Errorf("while somebody buys, %d leads and %d sessions are kept", leads, sessions)
			}
		}
		must(t, sweep())
		if leads, sessions := env.Count(t, "leads"), env.Count(t, "sessions"); leads != 0 || sessions != 0 {
			t.Errorf("there are still %d leads and %d sessions", leads, sessions)
		}
	})
}

// TestAForgottenSessionIsNotToldOf: events may be kept for longer than the sessions that they are about, and nothing leads
// to them then, neither from the address nor from a lead who is erased.
func TestAForgottenSessionIsNotToldOf(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		left := env.Session(t, env.Shop(t))
		env.Exec(t, `UPDATE sessions SET status = 'EXPIRED', holds_lead = FALSE`)
		event, now := payment.NewID().String(), clock.Real{}.Now().UnixMicro()
		env.Exec(t, `INSERT INTO events (tenant_id, id, event_key, kind, payload, created_at, delivery_status)
			VALUES ($1, $2, 'payment_session.expired:' || $3, 'payment_session.expired', '{"email":"ada@shop.example","status":"EXPIRED"}', $4, 'delivered')`,
			left.Session.TenantID.String(), event, left.Session.ID.String(), now)
		env.Exec(t, `INSERT INTO webhook_attempts (tenant_id, event_id, id, number, attempted_at, duration_us, status_code, error, answer)
			VALUES ($1, $2, $2, 1, $3, 1, 200, 'malformed HTTP response "ada@shop.example"', 'ada@shop.example was heard of')`, left.Session.TenantID.String(), event, now)
		sweep := sweepAfter(env, 91*day)
		sweep.Keep.Events, sweep.Keep.DeliveryLogs = 365*day, 365*day
		must(t, sweep.Retain(t.Context()))
		payload, answer := storetest.Scalar[string](t, env, `SELECT payload FROM events`), storetest.Scalar[string](t, env, `SELECT error || answer FROM webhook_attempts`)
		if env.Count(t, "sessions") != 0 || payload != `{"email":"","status":"EXPIRED"}` || answer != "" {
			t.Errorf("%d sessions are left, and it is told that %s, %q", env.Count(t, "sessions"), payload, answer)
		}
	})
}

// breakOff has no row of a table removed, as by a process that ends before it, and gives what takes that back.
func breakOff(t *testing.T, env *storetest.Env, table string) (mend func()) {
	t.Helper()
	if env.Engine == "sqlite" {
		env.Exec(t, `CREATE TRIGGER broken BEFORE DELETE ON `+table+` BEGIN SELECT RAISE(ABORT, 'broken off'); END`)
		return func() { env.Exec(t, `DROP TRIGGER broken`) }
	}
	env.Exec(t, `CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'broken off'; END $$`)
	env.Exec(t, `CREATE TRIGGER broken BEFORE DELETE ON `+table+` FOR EACH ROW EXECUTE FUNCTION broken()`)
	return func() { env.Exec(t, `DROP FUNCTION broken CASCADE`) }
}

// TestASweepThatRemovesNothingSaysSo: who has promised that data goes after its time hears that it has not gone. What can be
// removed goes all the same.
func TestASweepThatRemovesNothingSaysSo(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		sweep := func() error { return sweepAfter(env, 1501*day).Retain(t.Context()) }
		tables := []string{"webhook_attempts", "events", "mandate_acceptances"}
		for _, table := range tables {
			agreed(t, env, env.Shop(t))
			env.Exec(t, `UPDATE subscriptions SET status = 'CANCELLED', due_at = NULL`)
			env.Exec(t, `DELETE FROM events_in_line`)
			env.Exec(t, `UPDATE events SET delivery_status = 'delivered'`)
			env.Exec(t, `INSERT INTO webhook_attempts (tenant_id, event_id, id, number, attempted_at, duration_us, status_code, error, answer)
				SELECT tenant_id, id, id, 1, $1, 1, 200, '', 'taken' FROM events`, clock.Real{}.Now().UnixMicro())
			mend := breakOff(t, env, table)
			if err := sweep(); err == nil || env.Count(t, table) == 0 {
				t.Errorf("nobody hears that %d %s are still there", env.Count(t, table), table)
			}
			if last := tables[len(tables)-1]; table != last && env.Count(t, last) != 0 {
				t.Errorf("%s cannot be removed, and keep %d %s", table, env.Count(t, last), last)
			}
			mend()
			must(t, sweep())
			for _, table := range tables {
				if left := env.Count(t, table); left != 0 {
					t.Errorf("%d %s are left", left, table)
				}
			}
		}
	})
}

// TestTheEvidenceOfALaterMandateIsKept has a payer give another account: what is collected under that mandate belongs to
// the order of the first one.
func TestTheEvidenceOfALaterMandateIsKept(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		live, given := agreed(t, env, shop), agreed(t, env, shop)
		env.Exec(t, `UPDATE subscriptions SET status = 'CANCELLED', due_at = NULL WHERE id = $1`, given.Subscription.ID.String())
		env.Exec(t, `UPDATE sessions SET renews_subscription_id = $1 WHERE id = $2`, live.Subscription.ID.String(), given.Session.ID.String())
		env.Exec(t, `UPDATE subscriptions SET mandate_session_id = $1 WHERE id = $2`, given.Session.ID.String(), live.Subscription.ID.String())
		for _, test := range []struct {
			change string
			proofs int
		}{
			{`SELECT 1`, 2},
			{`UPDATE subscriptions SET status = 'CANCELLED', due_at = NULL, mandate_used_at = 9000000000000000`, 2},
			{`UPDATE subscriptions SET mandate_session_id = NULL`, 2},
			{`UPDATE subscriptions SET mandate_used_at = 0`, 0},
		} {
			env.Exec(t, test.change)
			later(t, env, 1501*day, nil)
			if got := env.Count(t, "mandate_acceptances"); got != test.proofs {
				t.Errorf("after %s there are %d, want %d", test.change, got, test.proofs)
			}
		}
	})
}

// agreed is a subscription whose payer agreed on the page.
func agreed(t *testing.T, env *storetest.Env, shop storetest.Shop) payment.Change {
	t.Helper()
	attempt := env.Begin(t, env.Session(t, shop, storetest.WithTerms(storetest.Monthly)))
	env.Write(t, func(tx *store.Tx) error {
		tx.ClaimAttempt(attempt, "")
		tx.RecordAcceptance(attempt.Transaction, payment.Acceptance{Mode: payment.AcceptCheckbox, Text: "agreed"})
		return nil
	})
	env.Written(&attempt.Transaction.Attempt)
	return env.Settle(t, attempt.Debit, payment.Outcome{Verdict: payment.VerdictApproved})
}

// TestLongPastsGoInSmallSteps has two processes remove more than fits into a step.
func TestLongPastsGoInSmallSteps(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		env.Settled(t, shop)
		env.Exec(t, `DELETE FROM events_in_line`)
		env.Exec(t, `UPDATE events SET delivery_status = 'delivered'`)
		id := map[string]string{"sqlite": "printf('00000000-0000-7000-8000-%012x', n)", "postgres": "CAST('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0') AS uuid)"}
		env.Exec(t, `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1700)
			INSERT INTO events (tenant_id, id, event_key, kind, payload, created_at, delivery_status, webhook_profile_id)
			SELECT e.tenant_id, `+id[env.Engine]+`, 'k' || n, e.kind, '{}', 0, 'delivered', e.webhook_profile_id
			FROM numbers, (SELECT * FROM events LIMIT 1) AS e`)
		ended := make(chan error, 2)
		for range cap(ended) {
			go func() {
				sweep := &privacy.Privacy{
					Store: env.Store, Clock: fixed(env.Now), Real: clock.Real{}, Logger: slog.New(slog.DiscardHandler), Keep: usual,
				}
				ended <- sweep.Retain(t.Context())
			}()
		}
		must(t, <-ended)
		must(t, <-ended)
		if got := env.Count(t, "events"); got != 2 {
			t.Errorf("%d events are left", got)
		}
	})
}
