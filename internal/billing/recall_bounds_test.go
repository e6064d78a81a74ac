package billing_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"sepad/internal/checkout/checkouttest"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store/storetest"
)

// TestAPeriodThatWasWaitedForIsCollectedOnce: what is known to have been collected is not asked about again, whatever its
// gateway claims to have.
func TestAPeriodThatWasWaitedForIsCollectedOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.due(t)
		d.Gateway.Answer(takenIn)
		d.bill(t, 1)
		d.restore(t)
		d.Gateway.Answer(approved)
		d.recallAll(t)
		times := map[int]int{}
		for _, rebill := range d.rebills(t, sub) {
			times[*rebill.Period]++
		}
		if times[sub.Period] != 1 || times[sub.Period+1] != 1 {
			t.Errorf("the periods were collected so often: %v", times)
		}
	})
}

// TestAPeriodThatHasNotBegunIsNotRecalled as long as nothing is known of the one before it, which is the only one that may
// have been sent before its day.
func TestAPeriodThatHasNotBegunIsNotRecalled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.due(t)
		d.restore(t)
		next := sub
		next.Period++
		d.Gateway.AnswerEach(map[string]payment.Outcome{payment.RebillReference(next, 1): approved})
		d.recallAll(t)
		if rebills, after := d.rebills(t, sub), d.Subscription(t, sub.ID); len(rebills) != 0 || after.Period != sub.Period {
			t.Errorf("the books have %d rebills, and period %d is next", len(rebills), after.Period)
		}
	})
}

// TestHowLongBeforeItsDayAPeriodMayHaveBeenSent is as long as payers are told beforehand at most, to the instant.
func TestHowLongBeforeItsDayAPeriodMayHaveBeenSent(t *testing.T) {
	t.Parallel()
	const longest = 60 * 24 * time.Hour
	for name, test := range map[string]struct {
		before  time.Duration
		isAsked bool
	}{"so long before": {longest, true}, "longer": {longest + time.Microsecond, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, d desk) {
				sub := d.Subscribed(t, func(draft *storetest.Draft) { draft.Session.Terms.Frequency = payment.Quarterly })
				d.Time.Set(sub.NextBillingDate.Start().Add(-test.before))
				d.restore(t)
				d.Gateway.AnswerEach(map[string]payment.Outcome{})
				d.recallAll(t)
				before := len(d.Gateway.Asked())
				d.Gateway.Answer(approved)
				d.Time.Set(sub.NextBillingDate.Start())
				d.bill(t, 1)
				if asked := len(d.Gateway.Asked()) - before; (asked == 1) != test.isAsked {
					t.Errorf("it was asked %d times before it was sent", asked)
				}
			})
		})
	}
}

// TestABankIsNotAskedBeforeARebillIsSent, also after a restore: its files say what it has collected.
func TestABankIsNotAskedBeforeARebillIsSent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.Subscribed(t)
		d.restore(t)
		d.recallAll(t)
		d.Time.Set(sub.NextBillingDate.Start().AddDate(0, 0, -noticeDays))
		d.Gateway.Answer(takenIn)
		d.bill(t, 1)
		if asked, sent := len(d.Gateway.Asked()), len(d.Gateway.Submitted()); asked != 0 || sent != 2 {
			t.Errorf("it was asked %d times, and %d payments were sent", asked, sent)
		}
	}, checkouttest.WithNotice(noticeDays))
}

// TestAPeriodThatBeginsNowIsRecalled beside one that was lost: it may have been sent on its day.
func TestAPeriodThatBeginsNowIsRecalled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.due(t)
		next := sub
		next.Period++
		d.restore(t)
		d.Gateway.AnswerEach(map[string]payment.Outcome{payment.RebillReference(next, 1): approved})
		d.Time.Set(sub.PeriodStart(next.Period).Start())
		d.recallAll(t)
		if rebills := d.rebills(t, sub); len(rebills) != 1 || *rebills[0].Period != next.Period {
			t.Errorf("the books have %+v", rebills)
		}
	})
}

// TestAPeriodThatWasRecalledIsNotAskedAboutAgain, also where it has begun since the backup, whatever else its gateway claims to have.
func TestAPeriodThatWasRecalledIsNotAskedAboutAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.due(t)
		d.restoreTo(t, d.Time.Now().Add(-time.Hour))
		d.Gateway.AnswerEach(map[string]payment.Outcome{payment.RebillReference(sub, 1): approved, payment.RebillReference(sub, 2): approved})
		d.recallAll(t)
		if rebills := d.rebills(t, sub); len(rebills) != 1 {
			t.Errorf("it was collected %d times", len(rebills))
		}
	})
}

// TestARecallWhoseDatabaseFailsOnTheWayIsNotDone: of the next try nobody knows whether it is in the books.
func TestARecallWhoseDatabaseFailsOnTheWayIsNotDone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		d.due(t)
		d.restore(t)
		d.Gateway.AnswerEach(map[string]payment.Outcome{})
		d.Gateway.During(func(context.Context) {
			if len(d.Gateway.Asked()) == 1 {
				d.Env.Exec(t, `ALTER TABLE transactions RENAME TO hidden`)
			}
		})
		err := d.Recall(t.Context(), d.Time.Now())
		d.Env.Exec(t, `ALTER TABLE hidden RENAME TO transactions`)
		if err == nil || len(d.Gateway.Asked()) != 1 {
			t.Errorf("after %d questions: %v", len(d.Gateway.Asked()), err)
		}
	})
}

// TestTheLastPeriodThatIsRecalledBesideALostOne begins as long behind that as payers are told beforehand at most, to the day.
func TestTheLastPeriodThatIsRecalledBesideALostOne(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		d.Time.Set(time.Date(2028, time.January, 1, 12, 0, 0, 0, time.UTC))
		sub := d.due(t)
		last := sub
		last.Period += 2 // from 1 February to 1 April of a leap year there are sixty days
		d.restore(t)
		beyond := last
		beyond.Period++
		d.Gateway.AnswerEach(map[string]payment.Outcome{payment.RebillReference(beyond, 1): approved})
		d.Time.Pass(100 * 24 * time.Hour)
		d.recallAll(t)
		if rebills := d.rebills(t, sub); len(rebills) != 0 {
			t.Errorf("of one behind it the books have %+v", rebills)
		}
		d.Gateway.AnswerEach(map[string]payment.Outcome{payment.RebillReference(last, 1): approved})
		d.recallAll(t)
		if rebills := d.rebills(t, sub); len(rebills) != 1 || *rebills[0].Period != last.Period {
			t.Errorf("the books have %+v", rebills)
		}
	})
}

// TestARecallWithoutASetUpIsNotDone for what is owed and not due either: nobody could say whom to ask.
func TestARecallWithoutASetUpIsNotDone(t *testing.T) {
	t.Parallel()
	d := newDesk(checkouttest.Open(t, storetest.SQLite(t)))
	d.due(t)
	d.Gateway.Answer(declined)
	d.bill(t, 1)
	d.restore(t)
	d.SetGateway(t, d.Shop, func(a *merchant.GatewayAccount) { a.Name = "read anew" })
	d.Env.Exec(t, `ALTER TABLE setup_records RENAME TO hidden`)
	if err := d.Recall(t.Context(), d.Time.Now()); err == nil {
		t.Error("the recall is done")
	}
}

// TestWhetherSomebodyElseIsAboutToBill is told of what is due, and not of what could not be read.
func TestWhetherSomebodyElseIsAboutToBill(t *testing.T) {
	t.Parallel()
	d := newDesk(checkouttest.Open(t, storetest.SQLite(t)))
	sub := d.Subscribed(t)
	d.Billing.Checkout.SetAside(t.Context(), d.Shop.ID, payment.NewID(), errors.New("something else"))
	for at, want := range map[time.Time]bool{d.Time.Now(): false, sub.NextBillingDate.Start(): true} {
		if is, err := d.IsBilledElsewhere(t.Context(), at); is != want || err != nil {
			t.Errorf("at %s: %t, %v", at, is, err)
		}
	}
	d.Env.Exec(t, `ALTER TABLE rebill_pauses RENAME TO hidden`)
	if is, err := d.IsBilledElsewhere(t.Context(), d.Time.Now()); is || err == nil {
		t.Errorf("without an answer: %t, %v", is, err)
	}
}
