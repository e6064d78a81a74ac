package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/clock"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// longAgo is an instant after everything that a test has made, by either clock.
func longAgo(env *storetest.Env) store.Past {
	return store.Past{Service: env.Now.Add(time.Hour), Real: clock.Real{}.Now().Add(time.Hour)}
}

// TestSessionsThatNobodyPaidAreForgotten, with whoever they were of where nothing else is known of them, and with what
// events say of that.
func TestSessionsThatNobodyPaidAreForgotten(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		end := func(found store.Found) store.Found {
			if err := endSession(t, env, found.Session); err != nil {
				t.Fatal(err)
			}
			return found
		}
		gone, repeated := end(env.Session(t, shop)), end(env.Session(t, shop))
		open := env.Session(t, shop, storetest.WithEmail(repeated.Lead.Email))
		asked := end(env.Session(t, shop))
		env.Exec(t, `UPDATE leads SET erase_due_at = 5 WHERE id = $1`, asked.Lead.ID.String())
		paid, late := env.Settled(t, shop), end(env.Session(t, shop, storetest.ExpiresIn(3*time.Hour)))
		about := func(id uuid.UUID) uuid.UUID {
			event := store.EventRow{Event: payment.Event{ID: payment.NewID(), Kind: "session.ended", Key: "session.ended:" + id.String()}, Payload: "Anna", WebhookProfileID: &shop.Profile.ID}
			env.Write(t, func(tx *store.Tx) error {
				tx.AddEvents(shop.ID, []store.EventRow{event})
				tx.RecordDeliveries(endpointOf(shop), []store.DeliveryResult{{Attempt: store.Attempt{EventID: event.ID, Number: 1, At: env.Now, Answer: "Anna"}, Status: store.DeliveryFailed}})
				return nil
			})
			return event.ID
		}
		told, other := about(gone.Session.ID), about(open.Session.ID)
		before := env.Now.Add(2 * time.Hour)
		unreadable := errors.New("unreadable")
		dump := env.Dump(t)
		_, err := env.Store.ForgetSessions(t.Context(), env.Now, before, 10, func(string) (string, error) { return "", unreadable })
		if !errors.Is(err, unreadable) || env.Dump(t) != dump {
			t.Errorf("with an event that cannot be read: %v", err)
		}
		for _, want := range []int{2, 1, 0} {
			if n, err := env.Store.ForgetSessions(t.Context(), env.Now, before, 2, nobody); err != nil || n != want {
				t.Errorf("%d are forgotten, want %d: %v", n, want, err)
			}
		}
		for what, c := range map[string]struct {
			table  string
			id     uuid.UUID
			isKept bool
		}{
			"who came once": {"leads", gone.Lead.ID, false}, "who came again": {"leads", open.Lead.ID, true}, "who is to be erased": {"leads", asked.Lead.ID, true},
			"what ran out": {"sessions", gone.Session.ID, false}, "what ran out before": {"sessions", repeated.Session.ID, false},
			"what is open": {"sessions", open.Session.ID, true}, "what was paid": {"sessions", paid.Session.ID, true}, "what runs out later": {"sessions", late.Session.ID, true},
		} {
			if isKept := storetest.Scalar[int](t, env, `SELECT COUNT(*) FROM `+c.table+` WHERE id = $1`, c.id.String()) == 1; isKept != c.isKept {
				t.Errorf("%s is kept: %v", what, isKept)
			}
		}
		wantPayload(t, env, told, "somebody")
		wantPayload(t, env, other, "Anna")
		for id, want := range map[uuid.UUID]string{told: "", other: "Anna"} {
			if got := storetest.Scalar[string](t, env, `SELECT answer FROM webhook_attempts WHERE event_id = $1`, id.String()); got != want {
				t.Errorf("a receiver has answered %q, want %q", got, want)
			}
		}
	})
}

// TestOldEventsAreForgotten once they were delivered, have failed or go nowhere, with the attempts at them, and not while they are
// in line or are to be tried again.
func TestOldEventsAreForgotten(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop, other := env.Shop(t), env.Shop(t)
		ids, theirs := inLine(t, env, shop, 4), inLine(t, env, other, 1)
		deliver := func(of storetest.Shop, id uuid.UUID) {
			env.Write(t, func(tx *store.Tx) error {
				tx.RecordDeliveries(endpointOf(of), []store.DeliveryResult{{
					Attempt: store.Attempt{EventID: id, Number: 1, At: env.Now}, Status: store.DeliveryDelivered,
				}})
				return nil
			})
		}
		deliver(shop, ids[0])
		deliver(shop, ids[1])
		deliver(other, theirs[0])
		env.Write(t, func(tx *store.Tx) error { // it is in no line until its time has come
			tx.RecordDeliveries(endpointOf(shop), []store.DeliveryResult{{
				Attempt: store.Attempt{EventID: ids[3], Number: 1, At: env.Now}, Status: store.DeliveryPending, FailureCount: 1, NextAttemptAt: env.Now.Add(time.Minute),
			}})
			return nil
		})
		env.Exec(t, `UPDATE events SET webhook_profile_id = NULL, delivery_status = 'pending' WHERE id = $1`, ids[1].String())
		forget := func(before store.Past, limit, want int) {
			t.Helper()
			if n, err := env.Store.ForgetEvents(t.Context(), shop.ID, env.Now, before, limit); err != nil || n != want {
				t.Errorf("%d are forgotten, want %d: %v", n, want, err)
			}
		}
		before := longAgo(env)
		forget(store.Past{Service: env.Now, Real: before.Real}, 10, 0)
		forget(store.Past{Service: before.Service, Real: before.Real.Add(-2 * time.Hour)}, 10, 0)
		if n, err := env.Store.ForgetAttempts(t.Context(), shop.ID, env.Now, before.Real.Add(-2*time.Hour), 10); err != nil || n != 0 {
			t.Errorf("%d attempts of today are forgotten: %v", n, err)
		}
		forget(before, 1, 1)
		forget(before, 10, 1)
		forget(before, 10, 0)
		if events, attempts := env.Count(t, "events"), env.Count(t, "webhook_attempts"); events != 3 || attempts != 2 {
			t.Errorf("kept are %d events and %d attempts", events, attempts)
		}
		if left := storetest.Scalar[string](t, env, `SELECT CAST(event_id AS TEXT) FROM events_in_line`); left != ids[2].String() {
			t.Errorf("in line is %s", left)
		}
		deliver(shop, ids[2])
		if n, err := env.Store.ForgetAttempts(t.Context(), shop.ID, env.Now, before.Real, 10); err != nil || n != 2 || env.Count(t, "webhook_attempts") != 1 {
			t.Errorf("%d attempts are forgotten, of another one %d are left: %v", n, env.Count(t, "webhook_attempts"), err)
		}
	})
}

// TestEvidenceIsKeptWhileAMandateCanBeDisputed or used, and is forgotten then.
func TestEvidenceIsKeptWhileAMandateCanBeDisputed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop, other := env.Shop(t), env.Shop(t)
		agree := func(of storetest.Shop, terms payment.Terms) payment.Change {
			paid := env.Settled(t, of, storetest.WithTerms(terms))
			env.Write(t, func(tx *store.Tx) error {
				tx.RecordAcceptance(paid.Transaction, acceptanceOf(env, paid.Transaction))
				return nil
			})
			return paid
		}
		over, later, open, unknown, back, live, ended, theirs := agree(shop, storetest.OneOff), agree(shop, storetest.OneOff), agree(shop, storetest.OneOff),
			agree(shop, storetest.OneOff), agree(shop, storetest.OneOff), agree(shop, storetest.Monthly), agree(shop, storetest.Monthly), agree(other, storetest.OneOff)
		since := agree(shop, storetest.OneOff)
		env.Exec(t, `UPDATE mandate_acceptances SET accepted_at = accepted_at + 7200000000 WHERE transaction_id = $1`, since.Transaction.ID.String())
		for id, sql := range map[uuid.UUID]string{
			later.Transaction.ID: `created_at = created_at + 7200000000`, open.Transaction.ID: `status = 'pending'`,
			unknown.Transaction.ID: `in_flight = 'submit', next_lookup_at = 1`, back.Transaction.ID: `refunding_minor = 1`,
		} {
			env.Exec(t, `UPDATE transactions SET `+sql+` WHERE id = $1`, id.String())
		}
		env.Exec(t, `UPDATE subscriptions SET status = 'CANCELLED' WHERE id = $1`, ended.Subscription.ID.String())
		before := longAgo(env)
		look := func(before store.Past, after uuid.UUID, limit, want int) uuid.UUID {
			t.Helper()
			gone, last, err := env.Store.ForgetEvidence(t.Context(), shop.ID, env.Now, before, after, limit)
			if err != nil || gone != want {
				t.Errorf("%d are forgotten, want %d: %v", gone, want, err)
			}
			return last
		}
		look(store.Past{Service: env.Now, Real: before.Real}, uuid.Nil, 10, 0)
		look(store.Past{Service: before.Service, Real: before.Real.Add(-2 * time.Hour)}, uuid.Nil, 10, 0)
		if last := look(before, over.Transaction.ID, 1, 0); last != later.Transaction.ID {
			t.Errorf("the last that was looked at is %s", last)
		}
		if last := look(before, uuid.Nil, 10, 2); last != uuid.Nil {
			t.Errorf("there is more after %s", last)
		}
		for what, c := range map[string]struct {
			of     payment.Change
			isKept bool
		}{
			"of what is over": {over, false}, "of what ended": {ended, false}, "of what was collected since": {later, true}, "of what is open": {open, true},
			"of what nobody knows": {unknown, true}, "of what is given back": {back, true}, "of what is billed": {live, true}, "of another tenant": {theirs, true}, "of what was agreed since": {since, true},
		} {
			kept, err := env.Store.Tenant(c.of.Transaction.TenantID).Acceptance(t.Context(), c.of.Transaction.ID)
			if isKept := kept != nil; err != nil || isKept != c.isKept {
				t.Errorf("the evidence %s is kept: %v, %v", what, isKept, err)
			}
		}
	})
}

// TestTheBytesOfOldFilesAreForgotten, of those that have left the house, and that there were such files is not.
func TestTheBytesOfOldFilesAreForgotten(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop, other := env.Shop(t), env.Shop(t)
		answer := func(of storetest.Shop, name string) store.BankStatement {
			s := store.BankStatement{ID: payment.NewID(), TenantID: of.ID, GatewayID: of.Gateway.ID, Name: name, ContentHash: name, State: store.BankStatementReading}
			env.Write(t, func(tx *store.Tx) error {
				tx.PutBankStatement(s)
				tx.AddBankStatementPart(s, 1, "sealed")
				return nil
			})
			return s
		}
		sent, here, theirs := fileWith(t, env, store.BankFileClosed, awaitingFile(t, env, shop)), fileWith(t, env, store.BankFileClosed, awaitingFile(t, env, shop)),
			fileWith(t, env, store.BankFileClosed, awaitingFile(t, env, other))
		env.Write(t, func(tx *store.Tx) error {
			for _, f := range []store.BankFile{sent, here, theirs} {
				tx.AddBankPart(f, 1, "sealed")
				tx.AddBankPart(f, 2, "sealed")
			}
			return nil
		})
		env.Exec(t, `UPDATE bank_files SET state = 'sent' WHERE id <> $1`, here.ID.String())
		answers, foreign := []store.BankStatement{answer(shop, "one"), answer(shop, "two")}, answer(other, "other")
		env.Exec(t, `UPDATE bank_statements SET content_sealed = 'whole'`)
		before := longAgo(env)
		for _, c := range []struct {
			before      store.Past
			limit, want int
		}{
			{store.Past{Service: env.Now, Real: before.Real}, 10, 0}, {store.Past{Service: before.Service, Real: before.Real.Add(-2 * time.Hour)}, 10, 0},
			{before, 1, 1}, {before, 10, 1}, {before, 10, 0},
		} {
			if n, err := env.Store.ForgetBankFiles(t.Context(), shop.ID, env.Now, c.before, c.limit); err != nil || n != c.want {
				t.Errorf("%d are forgotten, want %d: %v", n, c.want, err)
			}
		}
		for what, c := range map[string]struct{ got, want int }{
			"parts of files":   {env.Count(t, "bank_file_parts"), 4},
			"parts of answers": {env.Count(t, "bank_statement_parts"), 1},
			"whole answers":    {storetest.Scalar[int](t, env, `SELECT COUNT(*) FROM bank_statements WHERE content_sealed <> ''`), 1},
			"files":            {env.Count(t, "bank_files"), 3},
			"answers":          {env.Count(t, "bank_statements"), len(answers) + 1},
		} {
			if c.got != c.want {
				t.Errorf("kept are %d %s, want %d", c.got, what, c.want)
			}
		}
		if sealed, err := env.Store.Tenant(other.ID).BankStatementPart(t.Context(), foreign, 1); err != nil || sealed != "sealed" {
			t.Errorf("another tenant's answer is %q: %v", sealed, err)
		}
	})
}

// TestWhatCannotBeReadIsNotForgottenSilently: whoever sweeps would take it for done.
func TestWhatCannotBeReadIsNotForgottenSilently(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		env.Exec(t, `ALTER TABLE leads RENAME TO hidden`)
		if n, err := env.Store.ForgetSessions(t.Context(), env.Now, env.Now, 10, nobody); err == nil {
			t.Errorf("%d sessions are forgotten, and no error", n)
		}
	})
}
