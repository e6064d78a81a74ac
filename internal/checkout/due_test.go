package checkout_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"sepad/internal/checkout/checkouttest"
	"sepad/internal/payment"
	"sepad/internal/store/storetest"
)

func TestSessionsRunOut(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		found := till.Session(t, storetest.ExpiresIn(time.Hour))
		till.Time.Pass(time.Hour - time.Microsecond)
		if n, err := till.RunDue(t.Context(), till.Time.Now()); n != 0 || err != nil {
			t.Errorf("%d were ended before their time: %v", n, err)
		}
		till.Time.Pass(time.Microsecond)
		if n, err := till.RunDue(t.Context(), till.Time.Now()); n != 1 || err != nil {
			t.Errorf("%d were ended: %v", n, err)
		}
		if s := till.Env.Find(t, found.Session.Token).Session; s.Status != payment.SessionExpired || s.HoldsLead {
			t.Errorf("the session is %s, holds its lead: %t", s.Status, s.HoldsLead)
		}
		if n, err := till.RunDue(t.Context(), till.Time.Now()); n != 0 || err != nil {
			t.Errorf("%d were ended twice: %v", n, err)
		}
	})
}

// TestASessionWhoseRowIsHeldHoldsUpNoOther: whoever forgets a transaction in psql stops what is due of that row alone.
func TestASessionWhoseRowIsHeldHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.FreshPostgres(t))
	held := till.Session(t, storetest.ExpiresIn(time.Hour)).Session
	free := till.Session(t, storetest.ExpiresIn(2*time.Hour)).Session
	holder, err := till.Env.DB(t).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := holder.ExecContext(t.Context(), `SELECT 1 FROM sessions WHERE id = $1 FOR UPDATE`, held.ID.String()); err != nil {
		t.Fatal(err)
	}
	till.Patience = time.Second
	till.Time.Pass(2 * time.Hour)
	if n, err := till.RunDue(t.Context(), till.Time.Now()); n != 1 || err != nil || till.Aside.Len(till.World.Now()) != 1 {
		t.Errorf("%d were ended, %d are set aside: %v", n, till.Aside.Len(till.World.Now()), err)
	}
	if err := holder.Rollback(); err != nil {
		t.Fatal(err)
	}
	if s := till.Env.Find(t, free.Token).Session; s.Status != payment.SessionExpired {
		t.Errorf("the other one is %s", s.Status)
	}
	till.World.Pass(time.Minute)
	if n, err := till.RunDue(t.Context(), till.Time.Now()); n != 1 || err != nil {
		t.Errorf("%d were ended afterwards: %v", n, err)
	}
}

// TestASessionThatNobodyVerifiedIsEndedByItsGateway: it may have collected
// meanwhile, and is told to give up otherwise.
func TestASessionThatNobodyVerifiedIsEndedByItsGateway(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		for _, c := range []struct {
			name    string
			answer  func()
			session payment.SessionStatus
			paid    payment.TransactionStatus
			open    bool
		}{
			{"collected after all", func() { till.Gateway.Answer(approved) }, payment.SessionCompleted, payment.TransactionApproved, false},
			{"given up", func() { till.Gateway.Answer(storetest.Verification) }, payment.SessionExpired, payment.TransactionDeclined, false},
			{"no answer", func() { till.Gateway.Silence() }, payment.SessionAwaiting, payment.TransactionPending, true},
		} {
			t.Run(c.name, func(t *testing.T) {
				awaiting := till.Paid(t, storetest.Verification, storetest.ExpiresIn(time.Hour))
				c.answer()
				till.Time.Pass(time.Hour)
				if n, err := till.RunDue(t.Context(), till.Time.Now()); n != 1 || err != nil {
					t.Fatalf("%d were ended: %v", n, err)
				}
				asked := till.Gateway.Asked()
				if last := asked[len(asked)-1]; !last.Abandon || last.MerchantTransactionID != awaiting.Transaction.MerchantTransactionID || last.GatewayReference != "GW-1" {
					t.Errorf("the gateway was asked %+v", last)
				}
				d := till.Debit(t, awaiting.Transaction.ID)
				if d.Session.Status != c.session || d.Transaction.Status != c.paid || d.Transaction.InFlight() != c.open {
					t.Errorf("session %s, payment %s, in flight: %t", d.Session.Status, d.Transaction.Status, d.Transaction.InFlight())
				}
				if c.open && !d.Transaction.Attempt.NextLookupAt.Equal(till.World.Now().Add(silence)) {
					t.Errorf("the question is %+v", d.Transaction.Attempt)
				}
			})
		}
	})
}

// TestAVerificationThatCouldNotBeEndedIsSetAside: nobody has asked its gateway, and it is not done.
func TestAVerificationThatCouldNotBeEndedIsSetAside(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		till.Paid(t, storetest.Verification, storetest.ExpiresIn(time.Hour))
		till.Time.Pass(time.Hour)
		without(t, till, "orders", func() {
			if n, err := till.RunDue(t.Context(), till.Time.Now()); n != 0 || err != nil || till.Aside.Len(till.World.Now()) != 1 {
				t.Errorf("%d were ended, %d set aside: %v", n, till.Aside.Len(till.World.Now()), err)
			}
		})
		if asked := till.Gateway.Asked(); len(asked) != 0 {
			t.Errorf("the gateway was asked %d times", len(asked))
		}
	})
}

func TestAPendingPaymentIsAskedAboutOnItsDay(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		for _, c := range []struct {
			name   string
			answer func()
			want   payment.TransactionStatus
			again  time.Duration
		}{
			{"collected", func() { till.Gateway.Answer(approved) }, payment.TransactionApproved, 0},
			{"refused", func() { till.Gateway.Answer(declined) }, payment.TransactionDeclined, 0},
			{"still pending", func() { till.Gateway.Answer(pending) }, payment.TransactionPending, 24 * time.Hour},
			{"no answer", func() { till.Gateway.Silence() }, payment.TransactionPending, 24 * time.Hour},
			{"denied", func() { till.Gateway.Answer(lost) }, payment.TransactionPending, 24 * time.Hour},
		} {
			t.Run(c.name, func(t *testing.T) {
				settles := till.Time.Now().Add(time.Hour)
				paid := till.Paid(t, payment.Outcome{Verdict: payment.VerdictPending, GatewayReference: "GW-7", SettlesAt: settles})
				till.Time.Set(settles.Add(-time.Microsecond))
				if n, err := till.RunDue(t.Context(), till.Time.Now()); n != 0 || err != nil {
					t.Fatalf("asked about %d before the day: %v", n, err)
				}
				till.Time.Set(settles)
				c.answer()
				if n, err := till.RunDue(t.Context(), till.Time.Now()); n != 1 || err != nil {
					t.Fatalf("asked about %d: %v", n, err)
				}
				var due time.Time
				if c.again > 0 {
					due = settles.Add(c.again)
				}
				if got := till.Debit(t, paid.Transaction.ID).Transaction; got.Status != c.want || !got.SettleDueAt.Equal(due) {
					t.Errorf("the payment is %s, due at %s", got.Status, got.SettleDueAt)
				}
				if isTold := strings.Contains(till.Log(), "contradicts our records"); isTold != (c.name == "denied") {
					t.Errorf("a person is told: %t", isTold)
				}
				till.Gateway.Answer(declined)
				till.Time.Pass(48 * time.Hour)
				if _, err := till.RunDue(t.Context(), till.Time.Now()); err != nil {
					t.Fatal(err)
				}
			})
		}
	})
}

// TestWhatFailsDoesNotHoldUpTheRest has one tenant's gateway speak nonsense.
func TestWhatFailsDoesNotHoldUpTheRest(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		broken := till.Unknown(t)
		sound := till.Unknown(t)
		till.Env.Exec(t, `UPDATE sessions SET status = 'COMPLETED' WHERE id = $1`, broken.Session.ID.String())
		till.World.Pass(silence)
		till.Gateway.Answer(approved)
		n, err := till.RunLookups(t.Context())
		if n != 1 || err != nil || !strings.Contains(till.Log(), "set aside") {
			t.Errorf("%d were asked about, %v", n, err)
		}
		if d := till.Debit(t, sound.Transaction.ID); d.Transaction.Status != payment.TransactionApproved {
			t.Errorf("the payment behind it is %s", d.Transaction.Status)
		}
	})
}

func TestTheEndOfASessionIsToldOnce(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		first := order(till)
		create(t, till, first)
		till.Time.Pass(24 * time.Hour)
		create(t, till, first) // before the sweep has come by
		if _, err := till.RunDue(t.Context(), till.Time.Now()); err != nil {
			t.Fatal(err)
		}
		if told := till.Events(t)[payment.EventSessionExpired]; told != 1 {
			t.Errorf("the end of the session that made way was told %d times", told)
		}
		if got := storetest.Scalar[int](t, till.Env, `SELECT COUNT(*) FROM sessions WHERE status = 'EXPIRED'`); got != 1 {
			t.Errorf("%d sessions have ended", got)
		}
	})
}

// TestWhatIsSetAsideTakesNobodysPlace, however much of it there is.
func TestWhatIsSetAsideTakesNobodysPlace(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		till.Session(t, storetest.ExpiresIn(time.Hour))
		for range 200 { // as many as are read at a time
			till.SetAside(t.Context(), till.Shop.ID, payment.NewID(), errors.New("something else"))
		}
		till.Time.Pass(time.Hour)
		if n, err := till.RunDue(t.Context(), till.Time.Now()); n != 1 || err != nil {
			t.Errorf("%d were ended beside them: %v", n, err)
		}
	})
}
