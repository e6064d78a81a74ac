package store_test

import (
	"errors"
	"testing"
	"time"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// What a gateway may say.
var (
	approved = payment.Outcome{Verdict: payment.VerdictApproved, GatewayReference: "GW-1"}
	pending  = payment.Outcome{Verdict: payment.VerdictPending, GatewayReference: "GW-1"}
	declined = payment.Outcome{Verdict: payment.VerdictDeclined, GatewayReference: "GW-1", Decline: payment.Decline{
		Code: payment.InsufficientFunds, Message: "Not enough.", GatewayCode: "AM04", GatewayMessage: "balance too low",
	}}
	final  = payment.Outcome{Verdict: payment.VerdictDeclined, Final: true}
	unsent = payment.Outcome{Verdict: payment.VerdictUnsent}
	lost   = payment.Outcome{Verdict: payment.VerdictLost}
)

func TestSettle(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		terms   payment.Terms
		outcome payment.Outcome
	}{
		{"an approved sale", storetest.OneOff, approved},
		{"an approved subscription", storetest.Monthly, approved},
		{"an approved trial", storetest.PaidTrial, approved},
		{"a sale that settles later", storetest.OneOff, pending},
		{"a subscription that settles later", storetest.Monthly, pending},
		{"a decline with attempts left", storetest.OneOff, declined},
		{"a decline for good", storetest.OneOff, final},
		{"a payment that was never sent", storetest.OneOff, unsent},
		{"a payment that was lost", storetest.OneOff, lost},
		{"a mandate to verify", storetest.Monthly, storetest.Verification},
	} {
		t.Run(test.name+" is written with all that follows from it", func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, env *storetest.Env) {
				claimed := env.Attempt(t, env.Session(t, env.Shop(t), storetest.WithTerms(test.terms)))
				env.Now = env.Now.Add(time.Second)
				wantSettled(t, env, env.Settle(t, claimed, test.outcome))
			})
		})
	}
}

func wantSettled(t *testing.T, env *storetest.Env, settled payment.Change) {
	t.Helper()
	storetest.Equal(t, env.Debit(t, settled.Transaction), settled.Debit)
	storetest.Equal(t, env.Find(t, settled.Session.Token).Session, *settled.Session)
	if got := env.Count(t, "events"); got != len(settled.Events) {
		t.Errorf("%d events are there, want %d", got, len(settled.Events))
	}
	for _, event := range storetest.Events(settled) {
		wantEvent(t, env, settled, event)
	}
	subscriptions := 0
	if settled.Subscription != nil {
		subscriptions = 1
		sealed := storetest.Scalar[string](t, env, "SELECT iban_sealed FROM subscriptions")
		if iban, err := env.Vault.Open(sealed, store.BindIBAN(settled.Session.TenantID, settled.Session.MandateReference)); err != nil || string(iban) != storetest.IBAN {
			t.Errorf("the subscription's account cannot be opened: %v", err)
		}
	}
	if got := env.Count(t, "subscriptions"); got != subscriptions {
		t.Errorf("%d subscriptions are there, want %d", got, subscriptions)
	}
}

func wantEvent(t *testing.T, env *storetest.Env, settled payment.Change, event store.EventRow) {
	t.Helper()
	var kind, key, payload, profile string
	var createdAt int64
	row := env.DB(t).QueryRowContext(t.Context(), `
		SELECT kind, event_key, payload, webhook_profile_id, created_at FROM events WHERE tenant_id = $1 AND id = $2`,
		settled.Session.TenantID.String(), event.ID.String())
	if err := row.Scan(&kind, &key, &payload, &profile, &createdAt); err != nil {
		t.Fatal(err)
	}
	if kind != string(event.Kind) || key != event.Key || payload != event.Payload ||
		profile != event.WebhookProfileID.String() || createdAt != env.Now.UnixMicro() {
		t.Errorf("the event came back as %s, %s, %q, %s, %d", kind, key, payload, profile, createdAt)
	}
}

func trySettle(t *testing.T, env *storetest.Env, process *store.Store, settled payment.Change) error {
	t.Helper()
	return process.Write(t.Context(), env.Now, func(tx *store.Tx) error {
		tx.Apply(settled, storetest.Events(settled))
		return nil
	})
}

// wantStale expects a settlement to come too late and to change nothing.
func wantStale(t *testing.T, env *storetest.Env, settled payment.Change) {
	t.Helper()
	before := env.Dump(t)
	if err := trySettle(t, env, env.Store, settled); !errors.Is(err, store.ErrStale) {
		t.Errorf("got %v", err)
	}
	if env.Dump(t) != before {
		t.Error("a settlement that came too late has changed something")
	}
}

func TestSettleOnce(t *testing.T) {
	t.Parallel()

	t.Run("a second settlement comes too late and changes nothing", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			claimed := env.Attempt(t, env.Session(t, env.Shop(t), storetest.WithTerms(storetest.Monthly)))
			env.Settle(t, claimed, approved)
			for _, outcome := range []payment.Outcome{approved, pending, declined, lost, storetest.Verification} {
				wantStale(t, env, env.Decide(t, claimed, outcome))
			}
		})
	})

	t.Run("an answer to the submission comes too late when the verification is being asked about", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			claimed := env.Attempt(t, env.Session(t, env.Shop(t), storetest.WithTerms(storetest.Monthly)))
			env.Settle(t, claimed, storetest.Verification)
			opened, err := env.Debit(t, claimed.Transaction).BeginVerify(env.Now)
			if err != nil {
				t.Fatal(err)
			}
			if err := reopen(t, env, opened); err != nil {
				t.Fatal(err)
			}
			// The session points to the same transaction again, but another
			// question is open.
			wantStale(t, env, env.Decide(t, claimed, approved))
			wantStale(t, env, env.Decide(t, claimed, declined))
			env.Now = env.Now.Add(time.Second)
			wantSettled(t, env, env.Settle(t, opened, approved))
		})
	})

	t.Run("an answer to an earlier attempt does not settle the next one", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			found := env.Session(t, env.Shop(t))
			first := env.Attempt(t, found)
			env.Settle(t, first, declined)
			env.Attempt(t, env.Find(t, found.Session.Token))
			wantStale(t, env, env.Decide(t, first, approved))
		})
	})

	t.Run("of settlements at once exactly one is written, with one completed event", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, testConcurrentSettle)
	})

	t.Run("verification ends in one settlement too", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			awaiting := env.Awaiting(t, env.Shop(t), storetest.WithTerms(storetest.PaidTrial))
			opened, err := awaiting.BeginVerify(env.Now)
			if err != nil {
				t.Fatal(err)
			}
			if err := reopen(t, env, opened); err != nil {
				t.Fatal(err)
			}
			env.Now = env.Now.Add(time.Second)
			settled := env.Settle(t, opened, approved)
			wantSettled(t, env, settled)
			wantStale(t, env, env.Decide(t, opened, declined))
		})
	})
}

func testConcurrentSettle(t *testing.T, env *storetest.Env) {
	claimed := env.Attempt(t, env.Session(t, env.Shop(t), storetest.WithTerms(storetest.Monthly)))
	second := env.Reopen(t)
	outcomes := []payment.Outcome{approved, approved, pending, declined, lost, approved, pending, storetest.Verification}
	settlements := make([]payment.Change, len(outcomes))
	for i, outcome := range outcomes {
		settlements[i] = env.Decide(t, claimed, outcome)
	}
	written := make(chan payment.Change, len(outcomes))
	wins := race(t, len(outcomes), func(i int) error {
		err := trySettle(t, env, []*store.Store{env.Store, second}[i%2], settlements[i])
		if err == nil {
			written <- settlements[i]
		}
		return err
	}, func(err error) bool { return errors.Is(err, store.ErrStale) })
	if wins != 1 {
		t.Fatalf("%d settlements were written", wins)
	}
	wantSettled(t, env, <-written)
}

func TestSettleLate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		terms   payment.Terms
		outcome payment.Outcome
	}{
		{"a sale that is collected after all", storetest.OneOff, approved},
		{"a subscription whose first payment is collected", storetest.Monthly, approved},
		{"a sale that is refused after all", storetest.OneOff, declined},
		{"a subscription whose first payment is refused", storetest.Monthly, declined},
		{"a payment that is still not decided", storetest.Monthly, pending},
	} {
		t.Run(test.name+" is written with all that hangs on it, once", func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, env *storetest.Env) { testSettleLate(t, env, test.terms, test.outcome) })
		})
	}

	t.Run("of late settlements at once one is written", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			after := late(t, env, storetest.Monthly, approved)
			wins := race(t, 6, func(int) error { return env.Apply(t, after) },
				func(err error) bool { return errors.Is(err, store.ErrStale) })
			if wins != 1 || env.Count(t, "events") != 3 {
				t.Errorf("%d settlements were written, %d events are there", wins, env.Count(t, "events"))
			}
			storetest.Equal(t, env.Debit(t, after.Transaction), after.Debit)
		})
	})

	t.Run("an order that was moved meanwhile is left where it is", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			after := late(t, env, storetest.OneOff, approved)
			env.Exec(t, "UPDATE orders SET status = 'CHARGEDBACK'")
			wantStale(t, env, after)
		})
	})

	t.Run("a subscription that was cancelled meanwhile does not come back to life", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			after := late(t, env, storetest.Monthly, approved)
			env.Exec(t, "UPDATE subscriptions SET status = 'CANCELLED'")
			wantStale(t, env, after)
		})
	})
}

// late is a pending purchase and what an outcome a day later makes of it.
func late(t *testing.T, env *storetest.Env, terms payment.Terms, outcome payment.Outcome) payment.Change {
	t.Helper()
	claimed := env.Attempt(t, env.Session(t, env.Shop(t), storetest.WithTerms(terms)))
	before := env.Debit(t, env.Settle(t, claimed, pending).Transaction)
	env.Now = env.Now.Add(24 * time.Hour)
	return env.Decide(t, before, outcome)
}

func testSettleLate(t *testing.T, env *storetest.Env, terms payment.Terms, outcome payment.Outcome) {
	after := late(t, env, terms, outcome)
	if err := env.Apply(t, after); err != nil {
		t.Fatal(err)
	}
	stored := env.Debit(t, after.Transaction)
	if len(after.Events) == 0 {
		// An answer that decides nothing moves the date of the next question and
		// touches the rows beside it.
		if !stored.Transaction.SettleDueAt.Equal(env.Now.Add(24 * time.Hour)) {
			t.Errorf("the gateway is asked again at %s", stored.Transaction.SettleDueAt)
		}
		return
	}
	storetest.Equal(t, stored, after.Debit)
	for _, event := range storetest.Events(after) {
		wantEvent(t, env, after, event)
	}
	wantStale(t, env, after)
}
