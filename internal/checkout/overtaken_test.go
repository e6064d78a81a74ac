package checkout_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"sepad/internal/checkout"
	"sepad/internal/checkout/checkouttest"
	"sepad/internal/gateway"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestOneWhoIsAskedAboutElsewhereHoldsUpNobody: another process was faster, and what comes behind is asked about all the same.
func TestOneWhoIsAskedAboutElsewhereHoldsUpNobody(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t), checkouttest.WithSandboxRules)
	first, second := rebilling(t, till), rebilling(t, till)
	till.Gateway.Answer(approved)
	overtaken := first
	if second.Transaction.ID.String() < first.Transaction.ID.String() {
		overtaken = second
	}
	till.Env.Exec(t, `CREATE TRIGGER overtaken BEFORE UPDATE ON transactions WHEN NEW.merchant_transaction_id = '`+
		overtaken.Transaction.MerchantTransactionID+`' BEGIN SELECT RAISE(IGNORE); END`)
	if err := till.AskAboutRebills(t.Context()); err != nil {
		t.Error(err)
	}
	if n := len(till.Gateway.Asked()); n != 1 {
		t.Errorf("%d of two were asked about, of which one was overtaken", n)
	}
}

// TestWhoIsAskedAboutElsewhereIsAskedAboutOnceMore: whoever moves the clock goes on only when every rebill has come to its end, and
// the one who was faster may still wait for its answer.
func TestWhoIsAskedAboutElsewhereIsAskedAboutOnceMore(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t), checkouttest.WithSandboxRules)
	rebill := rebilling(t, till)
	till.Gateway.Answer(approved)
	meanwhile(till, func() { till.Env.Exec(t, `UPDATE transactions SET lookup_count = lookup_count + 1`) })
	if err := till.AskAboutRebills(t.Context()); err != nil {
		t.Error(err)
	}
	if d := till.Debit(t, rebill.Transaction.ID); d.Transaction.Status != payment.TransactionApproved || len(till.Gateway.Asked()) != 1 {
		t.Errorf("the rebill is %s, asked about %d times", d.Transaction.Status, len(till.Gateway.Asked()))
	}
}

// TestAnAnswerThatSomebodyElseMayHaveBrought: who cannot read what became of the payment has not settled it.
func TestAnAnswerThatSomebodyElseMayHaveBrought(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t))
	rebill, setup := rebilling(t, till), till.Setup(t, till.Shop)
	till.Env.Exec(t, `CREATE TRIGGER overtaken BEFORE UPDATE ON transactions BEGIN SELECT RAISE(IGNORE); END`)
	var last error
	checkouttest.Interrupt(t, func(ctx context.Context) error {
		last = till.SettleRebill(ctx, setup, rebill, approved)
		return last
	}, func(err error) bool { return errors.Is(err, store.ErrStale) })
	if last == nil {
		t.Error("it is held for settled")
	}
}

// TestALeadIsLetGoByWhoeverIsFirst: the session that has run out was ended by the sweep while a new one was being made.
func TestALeadIsLetGoByWhoeverIsFirst(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t))
	request := order(till)
	first, err := till.Create(t.Context(), till.Setup(t, till.Shop), request, payment.Fields{})
	if err != nil {
		t.Fatal(err)
	}
	till.Time.Pass(checkout.DefaultSessionTTL)
	// Whoever makes a new session writes the lead first; whoever ends one does not.
	till.Env.Exec(t, `CREATE TRIGGER overtaken BEFORE UPDATE ON sessions
		WHEN (SELECT updated_at FROM leads WHERE id = OLD.lead_id) < NEW.updated_at BEGIN SELECT RAISE(IGNORE); END`)
	second, err := till.Create(t.Context(), till.Setup(t, till.Shop), request, payment.Fields{})
	if err != nil || second.Token == first.Token {
		t.Errorf("no other session was made: %v", err)
	}
}

// TestWhatCouldNotBeReadIsNotDone: it is said, or set aside for a person, and not held for what somebody else has done.
func TestWhatCouldNotBeReadIsNotDone(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		awaiting := till.Paid(t, storetest.Verification)
		till.Unknown(t)
		till.World.Pass(silence)
		without(t, till, "orders", func() {
			if _, err := till.Verify(t.Context(), awaiting.Session.Token, ""); err == nil || payment.KindOf(err) == payment.Conflict {
				t.Errorf("the payer who has verified hears %v", err)
			}
			if n, err := till.RunLookups(t.Context()); n != 0 || err != nil || till.Aside.Len(till.World.Now()) != 1 {
				t.Errorf("asked about %d, %d set aside: %v", n, till.Aside.Len(till.World.Now()), err)
			}
		})
		taken := till.Paid(t, pending)
		till.Env.Exec(t, `UPDATE transactions SET settle_due_at = 1 WHERE id = $1`, taken.Transaction.ID.String())
		without(t, till, "orders", func() {
			patience, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if n, err := till.RunDue(patience, till.Time.Now()); n != 0 || err != nil || till.Aside.Len(till.World.Now()) != 2 {
				t.Errorf("settled %d, %d set aside: %v", n, till.Aside.Len(till.World.Now()), err)
			}
		})
	})
}

// TestACollectionThatCouldNotBeTakenBackIsSetAside: the bank would get it with the next file.
func TestACollectionThatCouldNotBeTakenBackIsSetAside(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		rebill := rebilling(t, till)
		setup := till.Setup(t, till.Shop)
		announced := payment.Outcome{Verdict: payment.VerdictPending, SettlesAt: till.Time.Now().AddDate(0, 0, 9)}
		if err := till.SettleRebill(t.Context(), setup, rebill, announced); err != nil {
			t.Fatal(err)
		}
		till.Env.Exec(t, `UPDATE subscriptions SET status = 'CANCELLED'`)
		for _, table := range []string{"orders", "tenants"} {
			without(t, till, table, func() {
				if n, err := till.WithdrawEnded(t.Context(), till.Time.Now()); n != 0 || err != nil || till.Aside.Len(till.World.Now()) != 1 {
					t.Errorf("without %s: %d were taken back, %d set aside: %v", table, n, till.Aside.Len(till.World.Now()), err)
				}
			})
			till.World.Pass(24 * time.Hour)
		}
		if n, err := till.WithdrawEnded(t.Context(), till.Time.Now()); n != 1 || err != nil {
			t.Errorf("%d were taken back later: %v", n, err)
		}
		if d := till.Debit(t, rebill.Transaction.ID); d.Transaction.Status != payment.TransactionDeclined {
			t.Errorf("the payment is %s", d.Transaction.Status)
		}
	}, checkouttest.WithNotice(5))
}

// TestASandboxThatCannotReportSaysSo: nobody is to wait for reports that will not come.
func TestASandboxThatCannotReportSaysSo(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t))
	broken := errors.New("the ledger cannot be read")
	till.Announcements = func(context.Context, time.Time, int) ([]gateway.Announcement, error) { return nil, broken }
	if _, err := till.RunDue(t.Context(), till.Time.Now()); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	till.NextAnnouncement = func(_ context.Context, after time.Time) (time.Time, bool, error) {
		return after.Add(time.Second), true, broken
	}
	till.Session(t, storetest.ExpiresIn(time.Hour))
	for _, after := range []time.Duration{0, time.Hour} { // before what runs out, and alone
		if _, _, err := till.NextDue(t.Context(), till.Time.Now().Add(after)); !errors.Is(err, broken) {
			t.Errorf("what is due after %s: %v", after, err)
		}
	}
	till.NextAnnouncement = func(context.Context, time.Time) (time.Time, bool, error) { return time.Time{}, false, broken }
	if _, _, err := till.NextDue(t.Context(), till.Time.Now()); !errors.Is(err, broken) {
		t.Errorf("where the sandbox has nothing to say: %v", err)
	}
	unwritten := errors.New("the ledger cannot be written")
	till.Announcements = func(context.Context, time.Time, int) ([]gateway.Announcement, error) {
		return []gateway.Announcement{{
			TenantID: till.Shop.ID, AccountID: till.Shop.Gateway.ID,
			Acknowledge: func(context.Context, time.Time) error { return unwritten },
		}}, nil
	}
	if _, err := till.RunDue(t.Context(), till.Time.Now()); !errors.Is(err, unwritten) {
		t.Errorf("got %v", err)
	}
}

// TestWhatNobodyElseHasDoneComesOnceMore: one that seems to be done by another, again and again, would be asked about without
// end, and what is due behind it never.
func TestWhatNobodyElseHasDoneComesOnceMore(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t))
	settles := till.Time.Now().Add(time.Hour)
	taken := payment.Outcome{Verdict: payment.VerdictPending, SettlesAt: settles}
	stuck, behind := till.Paid(t, taken), till.Paid(t, taken)
	till.Env.Exec(t, `CREATE TRIGGER overtaken BEFORE UPDATE ON transactions WHEN NEW.merchant_transaction_id = '`+
		stuck.Transaction.MerchantTransactionID+`' BEGIN SELECT RAISE(IGNORE); END`)
	till.Time.Set(settles)
	till.Gateway.Answer(approved)
	patience, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := till.RunDue(patience, till.Time.Now()); err != nil || till.Aside.Len(till.World.Now()) != 1 {
		t.Errorf("%d set aside: %v", till.Aside.Len(till.World.Now()), err)
	}
	if asked := len(till.Gateway.Asked()); asked != 3 {
		t.Errorf("the gateway was asked %d times about two payments", asked)
	}
	if d := till.Debit(t, behind.Transaction.ID); d.Transaction.Status != payment.TransactionApproved {
		t.Errorf("the one behind is %s", d.Transaction.Status)
	}
	for _, wait := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute} { // longer each time
		till.World.Pass(wait - time.Second)
		if n, err := till.RunDue(t.Context(), till.Time.Now()); n != 0 || err != nil {
			t.Errorf("before %s are over %d were done: %v", wait, n, err)
		}
		till.World.Pass(time.Second)
		if n, err := till.RunDue(t.Context(), till.Time.Now()); n != 1 || err != nil {
			t.Errorf("after %s %d were done: %v", wait, n, err)
		}
	}
	till.World.Pass(3 * time.Hour)
	if n := till.Aside.Len(till.World.Now()); n != 0 {
		t.Errorf("%d are set aside that nobody has asked for since", n)
	}
}
