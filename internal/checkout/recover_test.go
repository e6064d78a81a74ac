package checkout_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"sepad/internal/checkout"
	"sepad/internal/checkout/checkouttest"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// silence is how long nobody but the sender asks about a payment.
const silence = 5*time.Second + checkouttest.GatewayTimeout + 2*time.Second

func TestAnUnknownOutcomeIsAskedForWhenItsTimeHasCome(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		open := till.Unknown(t)
		till.Gateway.Answer(approved)
		till.World.Pass(silence - time.Microsecond)
		if n, err := till.RunLookups(t.Context()); n != 0 || err != nil {
			t.Errorf("asked about %d before the time: %v", n, err)
		}
		till.World.Pass(time.Microsecond)
		if n, err := till.RunLookups(t.Context()); n != 1 || err != nil {
			t.Errorf("asked about %d, %v", n, err)
		}
		asked := till.Gateway.Asked()
		if len(asked) != 1 || asked[0].MerchantTransactionID != open.Transaction.MerchantTransactionID || asked[0].Abandon || !asked[0].At.Equal(till.Time.Now()) {
			t.Errorf("the question was %+v", asked)
		}
		if d := till.Debit(t, open.Transaction.ID); d.Transaction.Status != payment.TransactionApproved || d.Session.Status != payment.SessionCompleted {
			t.Errorf("the payment is %s, the session %s", d.Transaction.Status, d.Session.Status)
		}
	})
}

func TestWhatTheAnswerToAQuestionComesTo(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		for _, c := range []struct {
			name   string
			answer payment.Outcome
			want   payment.TransactionStatus
			used   int
		}{
			{"collected", approved, payment.TransactionApproved, 1},
			{"taken in", pending, payment.TransactionPending, 1},
			{"refused", declined, payment.TransactionDeclined, 1},
			{"never received", lost, payment.TransactionDeclined, 1},
		} {
			t.Run(c.name, func(t *testing.T) {
				open := till.Unknown(t)
				till.Gateway.Answer(c.answer)
				till.World.Pass(silence)
				if n, err := till.RunLookups(t.Context()); n != 1 || err != nil {
					t.Fatalf("asked about %d, %v", n, err)
				}
				d := till.Debit(t, open.Transaction.ID)
				if d.Transaction.Status != c.want || d.Transaction.InFlight() || d.Session.InFlight() || d.Session.AttemptsUsed != c.used {
					t.Errorf("the payment is %s after %d attempts", d.Transaction.Status, d.Session.AttemptsUsed)
				}
			})
		}
	})
}

// TestAGatewayThatStaysSilentIsAskedByTheSchedule also holds that the next date is
// written before the question: whoever dies over it delays the answer and no more.
func TestAGatewayThatStaysSilentIsAskedByTheSchedule(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		open := till.Unknown(t)
		till.World.Pass(silence)
		for lookup, wait := range []time.Duration{checkouttest.SecondLookup, checkouttest.SecondLookup, checkouttest.SecondLookup} {
			if n, err := till.RunLookups(t.Context()); n != 1 || err != nil {
				t.Fatalf("asked about %d, %v", n, err)
			}
			attempt := till.Debit(t, open.Transaction.ID).Transaction.Attempt
			if want := till.World.Now().Add(wait + checkouttest.GatewayTimeout); !attempt.NextLookupAt.Equal(want) || attempt.LookupCount != lookup+2 {
				t.Errorf("question %d: %+v, want the next at %s", lookup, attempt, want)
			}
			till.World.Set(attempt.NextLookupAt)
		}
		if strings.Contains(till.Log(), "needs a person") {
			t.Error("somebody is called within a day")
		}
		till.Time.Pass(24 * time.Hour)
		ask := func() {
			t.Helper()
			till.World.Pass(time.Hour)
			if n, err := till.RunLookups(t.Context()); n != 1 || err != nil {
				t.Fatalf("asked about %d, %v", n, err)
			}
		}
		if ask(); strings.Contains(till.Log(), "needs a person") {
			t.Error("somebody is called after exactly a day")
		}
		till.Time.Pass(time.Microsecond)
		if ask(); !strings.Contains(till.Log(), "needs a person") || !strings.Contains(till.Log(), open.Transaction.MerchantTransactionID) {
			t.Errorf("nobody is called: %s", till.Log())
		}
		told := strings.Count(till.Log(), "needs a person")
		till.Clock = &busyClock{Clock: till.Time, quiet: 1, changes: 1, change: ask} // another process, when this one has read what is due
		ask()
		if again := strings.Count(till.Log(), "needs a person") - told; again != 1 {
			t.Errorf("where two come by at once somebody is called %d times", again)
		}
	})
}

func TestAnAnswerThatSaysNothingOfARebillLeavesItOpen(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		paid := till.Paid(t, approved)
		till.Gateway.Silence()
		refund, err := till.Refund(t.Context(), till.Shop.ID, paid.Transaction.ID, checkout.RefundRequest{}, store.RequestKey{})
		if payment.KindOf(err) != payment.OutcomeUnknown {
			t.Fatalf("refund: %v", err)
		}
		till.Gateway.Answer(storetest.Verification) // nobody verifies a refund
		till.World.Pass(silence)
		if n, err := till.RunLookups(t.Context()); n != 1 || err != nil {
			t.Fatalf("asked about %d, %v", n, err)
		}
		if d := till.Debit(t, refund.ID); !d.Transaction.InFlight() {
			t.Errorf("the refund is %s", d.Transaction.Status)
		}
	})
}

func TestAStartTakesOverWhatADeadServerLeft(t *testing.T) {
	t.Parallel()
	startAfter := func(t *testing.T, till *checkouttest.Till) (open payment.Debit, asked int) {
		t.Helper()
		open = till.Unknown(t)
		till.World.Pass(time.Microsecond)
		till.Gateway.Answer(approved)
		if err := till.TakeOver(t.Context(), till.World.Now()); err != nil {
			t.Fatal(err)
		}
		return till.Debit(t, open.Transaction.ID), len(till.Gateway.Asked())
	}
	t.Run("at once, where the gateway is inside the process and the database its own", func(t *testing.T) {
		t.Parallel()
		till := checkouttest.Open(t, storetest.SQLite(t), checkouttest.WithSandboxRules)
		if open, asked := startAfter(t, till); asked != 1 || open.Transaction.Status != payment.TransactionApproved {
			t.Errorf("asked %d times, the payment is %s", asked, open.Transaction.Status)
		}
	})
	t.Run("not before its time, where what was sent may still arrive", func(t *testing.T) {
		t.Parallel()
		till := checkouttest.Open(t, storetest.SQLite(t))
		if open, asked := startAfter(t, till); asked != 0 || !open.Transaction.InFlight() {
			t.Errorf("asked %d times, the payment is %s", asked, open.Transaction.Status)
		}
	})
	t.Run("not before its time, where another server may be alive", func(t *testing.T) {
		t.Parallel()
		till := checkouttest.Open(t, storetest.Postgres(t), checkouttest.WithSandboxRules)
		if open, asked := startAfter(t, till); asked != 0 || !open.Transaction.InFlight() {
			t.Errorf("asked %d times, the payment is %s", asked, open.Transaction.Status)
		}
	})
	t.Run("or says so, where it cannot", func(t *testing.T) {
		t.Parallel()
		till := checkouttest.Open(t, storetest.SQLite(t), checkouttest.WithSandboxRules)
		till.Unknown(t)
		till.World.Pass(time.Microsecond)
		wantWord := func(why string) {
			t.Helper()
			if err := till.TakeOver(t.Context(), till.World.Now()); err == nil {
				t.Errorf("%s: no word of it", why)
			}
		}
		without(t, till, "tenants", func() { wantWord("the set-up cannot be read") })
		till.SetGateway(t, till.Shop, func(a *merchant.GatewayAccount) { a.Adapter = "of another version" })
		wantWord("the gateway is not known")
	})
	t.Run("not what was claimed since", func(t *testing.T) {
		t.Parallel()
		till := checkouttest.Open(t, storetest.SQLite(t), checkouttest.WithSandboxRules)
		startedAt := till.World.Now()
		claimed := till.Env.Begin(t, till.Session(t))
		claimed.Transaction.Attempt.Silence = silence
		if err := till.Env.Claim(t, claimed); err != nil {
			t.Fatal(err)
		}
		if err := till.TakeOver(t.Context(), startedAt); err != nil || len(till.Gateway.Asked()) != 0 {
			t.Errorf("asked %d times, %v", len(till.Gateway.Asked()), err)
		}
	})
}

func TestAStartStaysUntilEverythingCouldBeAskedAbout(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		startedAt := till.World.Now()
		left := func(askedAt time.Time) bool {
			t.Helper()
			open, err := till.LeftOpen(t.Context(), startedAt, askedAt)
			if err != nil {
				t.Fatal(err)
			}
			return open
		}
		if left(startedAt) {
			t.Error("something is left where nothing was open")
		}
		claimed := till.Env.Begin(t, till.Session(t))
		claimed.Transaction.Attempt.Silence = silence - time.Microsecond
		if err := till.Env.Claim(t, claimed); err != nil {
			t.Fatal(err)
		}
		if !left(startedAt) || !left(startedAt.Add(silence)) {
			t.Error("a payment that was open at the start is forgotten")
		}
		if left(startedAt.Add(silence + time.Microsecond)) {
			t.Error("the start waits for what follows its schedule by now")
		}
	})
}

// TestADatabaseClockThatIsSetAhead ends the silence of a payment that is on its way, of which its gateway knows nothing yet.
func TestADatabaseClockThatIsSetAhead(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		var ahead time.Duration
		till.Env.DatabaseClock = func() time.Time { return till.World.Now().Add(ahead) }
		look := func(want int) {
			t.Helper()
			if n, err := till.RunLookups(t.Context()); n != want || err != nil {
				t.Errorf("asked about %d, want %d: %v", n, want, err)
			}
		}
		look(0)
		found := till.Session(t)
		till.Gateway.Answer(approved)
		till.Gateway.AnswerEach(map[string]payment.Outcome{})
		till.Gateway.During(func(context.Context) {
			ahead = time.Hour
			look(0)
		})
		if result, err := till.Pay(t.Context(), till.Payment(found)); err != nil || result.Transaction.Status != payment.TransactionApproved {
			t.Errorf("the payment is %s, %v", result.Transaction.Status, err)
		}
		left := till.Unknown(t)
		till.World.Pass(silence)
		look(0) // a rebill may still be under way
		till.World.Pass(time.Minute)
		look(1)
		if d := till.Debit(t, left.Transaction.ID); d.Transaction.InFlight() {
			t.Error("what was never sent stays open")
		}
	})
}

// TestADatabaseClockThatWasAheadFromTheBeginning was not set while anything was under way: nobody waits for it.
func TestADatabaseClockThatWasAheadFromTheBeginning(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t))
	till.Env.DatabaseClock = func() time.Time { return till.World.Now().Add(time.Hour) }
	till.Unknown(t)
	till.Gateway.Answer(approved)
	till.World.Pass(silence)
	if n, err := till.RunLookups(t.Context()); n != 1 || err != nil || strings.Contains(till.Log(), "set ahead") {
		t.Errorf("asked about %d: %v, %s", n, err, till.Log())
	}
}

// TestADatabaseClockThatGoesFast is not one that was set: nobody waits for it, however far it has come.
func TestADatabaseClockThatGoesFast(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t))
	var ahead time.Duration
	till.Env.DatabaseClock = func() time.Time { return till.World.Now().Add(ahead) }
	till.Unknown(t)
	till.Gateway.Answer(approved)
	for range 10 {
		ahead += time.Second / 2
		if n, err := till.RunLookups(t.Context()); n != 0 || err != nil {
			t.Fatalf("asked about %d: %v", n, err)
		}
	}
	till.World.Pass(silence)
	if n, err := till.RunLookups(t.Context()); n != 1 || err != nil {
		t.Errorf("asked about %d: %v", n, err)
	}
	if strings.Contains(till.Log(), "level=ERROR") || strings.Contains(till.Log(), "set ahead") {
		t.Errorf("told: %s", till.Log())
	}
}

// TestADatabaseClockThatWasSetIsSetOnce, also where it took long to say so: the next look does not find it set again.
func TestADatabaseClockThatWasSetIsSetOnce(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t))
	var ahead, takes time.Duration
	till.Env.DatabaseClock = func() time.Time {
		till.World.Pass(takes)
		return till.World.Now().Add(ahead)
	}
	for _, next := range []struct{ ahead, takes time.Duration }{{0, 0}, {time.Hour, 5 * time.Second}, {time.Hour, 0}} {
		ahead, takes = next.ahead, next.takes
		if n, err := till.RunLookups(t.Context()); n != 0 || err != nil {
			t.Fatalf("asked about %d: %v", n, err)
		}
	}
	if n := strings.Count(till.Log(), "set ahead"); n != 1 {
		t.Errorf("it was set %d times: %s", n, till.Log())
	}
}

// TestAnAnswerThatContradictsWhatWasRecorded is that of a sender who was held up, while its gateway said that it never got the payment.
func TestAnAnswerThatContradictsWhatWasRecorded(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		found := till.Session(t)
		till.Gateway.Answer(approved)
		till.Gateway.AnswerEach(map[string]payment.Outcome{})
		till.Gateway.During(func(context.Context) {
			till.Gateway.During(nil)
			till.World.Pass(silence)
			if n, err := till.RunLookups(t.Context()); n != 1 || err != nil {
				t.Errorf("asked about %d, %v", n, err)
			}
		})
		if result, err := till.Pay(t.Context(), till.Payment(found)); err != nil || result.Transaction.Status != payment.TransactionDeclined {
			t.Errorf("the payment is %s, %v", result.Transaction.Status, err)
		}
		if !strings.Contains(till.Log(), "a gateway's answer contradicts our records and needs a person") {
			t.Errorf("nobody is told: %s", till.Log())
		}
	})
}
