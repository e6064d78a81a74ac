package billing_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestALaterTryOfWhatIsInTheBooksHoldsNobodyUp: behind a period that came back and was owed another one had been collected, which came
// back and was tried again in the lost time. Of that the books know nothing until a file tells of it.
func TestALaterTryOfWhatIsInTheBooksHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		weekly := storetest.Monthly
		weekly.Frequency = payment.Weekly
		sub := d.due(t, storetest.WithTerms(weekly))
		next := sub
		next.Period++
		d.Gateway.Answer(approved)
		d.bill(t, 1)
		d.Time.Set(d.Subscription(t, sub.ID).NextBillingDate.Start())
		d.bill(t, 1)
		d.returned(t, d.rebills(t, sub)[0])
		backupAt := d.Time.Now()
		d.Time.Pass(9 * 24 * time.Hour)
		d.restoreTo(t, backupAt)
		d.Gateway.AnswerEach(map[string]payment.Outcome{
			payment.RebillReference(sub, 1): approved, payment.RebillReference(sub, 2): approved,
			payment.RebillReference(next, 1): approved, payment.RebillReference(next, 2): approved,
		})
		d.recallAll(t)
		d.returned(t, d.rebills(t, sub)[1])
		d.Time.Set(d.Subscription(t, sub.ID).NextBillingDate.Start())
		sent := len(d.Gateway.Submitted())
		d.bill(t, 1)
		rebills := d.rebills(t, sub)
		if last := rebills[len(rebills)-1].MerchantTransactionID; len(rebills) != 4 || last != payment.RebillReference(next, 2) || len(d.Gateway.Submitted()) != sent {
			t.Errorf("%d rebills, the last is %s; %d were sent again", len(rebills), last, len(d.Gateway.Submitted())-sent)
		}
	})
}

// TestATryThatNoFileNamesIsAskedAbout: a rebill has come back in the lost time and was tried again, which the gateway has taken in.
// Its chargeback is told after the restore, once the gateways have been asked, and that next try is in no file.
func TestATryThatNoFileNamesIsAskedAbout(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.due(t)
		d.restore(t)
		known := map[string]payment.Outcome{
			payment.RebillReference(sub, 1): approved,
			payment.RebillReference(sub, 2): {Verdict: payment.VerdictPending, GatewayReference: "GW-2", SettlesAt: d.Time.Now().AddDate(0, 0, 14)},
		}
		d.Gateway.AnswerEach(known)
		d.recallAll(t)
		d.returned(t, d.rebills(t, sub)[0])
		d.Time.Set(d.Subscription(t, sub.ID).NextBillingDate.Start())
		d.Gateway.Silence()
		d.Gateway.AnswerEach(nil)
		d.bill(t, 1)
		if after := d.Subscription(t, sub.ID); len(d.Gateway.Submitted()) != 1 || after.OpenTransactionID != nil || after.Tries != 1 {
			t.Fatalf("without an answer %d payments were sent, and it waits after %d tries", len(d.Gateway.Submitted()), after.Tries)
		}
		if unsent := d.rebills(t, sub)[1]; !strings.Contains(unsent.Decline.Message, "did not say whether it has the rebill") {
			t.Errorf("why nothing was sent reads %q", unsent.Decline.Message)
		}
		d.Gateway.AnswerEach(known)
		d.Gateway.Answer(approved)
		d.Time.Pass(time.Hour)
		d.bill(t, 1)
		rebills, after := d.rebills(t, sub), d.Subscription(t, sub.ID)
		last := rebills[len(rebills)-1]
		if len(d.Gateway.Submitted()) != 1 || last.MerchantTransactionID != payment.RebillReference(sub, 2) || last.GatewayReference != "GW-2" ||
			after.OpenTransactionID == nil || *after.OpenTransactionID != last.ID {
			t.Errorf("%d payments were sent, the last rebill is %s and %s", len(d.Gateway.Submitted()), last.MerchantTransactionID, last.Status)
		}
	})
}

// TestATryBehindALostOneIsAskedAbout: of the tries of a period that came back in the lost time the gateway has lost one and got the next.
func TestATryBehindALostOneIsAskedAbout(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.due(t)
		d.restore(t)
		known := map[string]payment.Outcome{payment.RebillReference(sub, 1): approved}
		d.Gateway.AnswerEach(known)
		d.recallAll(t)
		d.returned(t, d.rebills(t, sub)[0])
		known[payment.RebillReference(sub, 4)] = payment.Outcome{
			Verdict: payment.VerdictPending, GatewayReference: "GW-4", SettlesAt: d.Time.Now().AddDate(0, 0, 14),
		}
		d.Gateway.AnswerEach(known)
		d.Time.Set(d.Subscription(t, sub.ID).NextBillingDate.Start())
		d.Gateway.Answer(approved)
		d.bill(t, 1)
		rebills, after := d.rebills(t, sub), d.Subscription(t, sub.ID)
		last := rebills[len(rebills)-1]
		if len(d.Gateway.Submitted()) != 1 || last.MerchantTransactionID != payment.RebillReference(sub, 4) || last.GatewayReference != "GW-4" ||
			after.OpenTransactionID == nil || *after.OpenTransactionID != last.ID {
			t.Errorf("%d payments were sent, the last rebill is %s and %s", len(d.Gateway.Submitted()), last.MerchantTransactionID, last.Status)
		}
	})
}

// TestAGatewayThatChangesItsMindIsNotAskedForEver: it has a later try, and says no more, or denies it, when that is to be taken in. The
// rebill that was not sent is due at once, and would be asked about as fast as can be.
func TestAGatewayThatChangesItsMindIsNotAskedForEver(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		questions int // the first two are about the rebill and the one behind it
		says      map[string]payment.Outcome
	}{"it is silent": {3, nil}, "it denies it": {6, map[string]payment.Outcome{}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, d desk) {
				sub := d.due(t)
				d.restore(t)
				known := map[string]payment.Outcome{payment.RebillReference(sub, 1): approved}
				d.Gateway.AnswerEach(known)
				d.recallAll(t)
				d.returned(t, d.rebills(t, sub)[0])
				d.Time.Set(d.Subscription(t, sub.ID).NextBillingDate.Start())
				known[payment.RebillReference(sub, 3)] = approved
				asked := len(d.Gateway.Asked())
				questions := func() int { return len(d.Gateway.Asked()) - asked }
				d.Gateway.Silence()
				d.Gateway.During(func(context.Context) {
					if n := questions(); (n-1)%c.questions >= 2 && n < 10*c.questions {
						d.Gateway.AnswerEach(c.says)
					} else {
						d.Gateway.AnswerEach(known)
					}
				})
				if _, err := d.Billing.RunDue(t.Context(), d.Time.Now()); err != nil || questions() != c.questions {
					t.Errorf("%d questions were asked: %v", questions(), err)
				}
				if isTold := strings.Contains(d.Log(), "the connection broke"); isTold != (c.says == nil) {
					t.Errorf("why it is left alone reads %q", d.Log())
				}
				d.World.Pass(time.Hour)
				d.Gateway.Answer(payment.Outcome{})
				d.Gateway.AnswerEach(known)
				d.bill(t, 1)
				if last := d.rebills(t, sub); len(d.Gateway.Submitted()) != 1 || last[len(last)-1].MerchantTransactionID != payment.RebillReference(sub, 3) {
					t.Errorf("%d payments were sent", len(d.Gateway.Submitted()))
				}
				if n := d.Till.Checkout.Aside.Len(d.World.Now()); n != 0 {
					t.Error("what was taken in is left alone")
				}
			})
		})
	}
}

// TestWhoReleasesADatabaseIsNotHeldUp by a gateway that does not answer: it was asked once, and a person has it go on.
func TestWhoReleasesADatabaseIsNotHeldUp(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.due(t)
		d.restore(t)
		d.Gateway.AnswerEach(map[string]payment.Outcome{payment.RebillReference(sub, 1): declined})
		d.recallAll(t)
		d.Gateway.Silence()
		d.Gateway.AnswerEach(nil)
		d.Time.Set(d.Subscription(t, sub.ID).NextBillingDate.Start())
		d.bill(t, 1)
		sent, asked := len(d.Gateway.Submitted()), len(d.Gateway.Asked())
		d.Env.Write(t, func(tx *store.Tx) error { tx.ForgetRestore(); return nil })
		d.Gateway.Answer(approved)
		d.Time.Pass(time.Hour)
		d.bill(t, 1)
		if now := len(d.Gateway.Submitted()); sent != 1 || now != 2 || len(d.Gateway.Asked()) != asked {
			t.Errorf("%d payments were sent, then %d, and the gateway was asked %d times more", sent, now, len(d.Gateway.Asked())-asked)
		}
	})
}

// TestWhatNobodyCanHaveSentIsNotAskedAbout: periods that begin long after a restore, and those of a database that never was restored.
func TestWhatNobodyCanHaveSentIsNotAskedAbout(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.due(t)
		d.Gateway.Answer(approved)
		d.bill(t, 1)
		d.restore(t)
		d.Gateway.AnswerEach(map[string]payment.Outcome{})
		d.recallAll(t)
		for month, isAsked := range []bool{true, false, false} {
			d.Time.Set(d.Subscription(t, sub.ID).NextBillingDate.Start())
			asked, sent := len(d.Gateway.Asked()), len(d.Gateway.Submitted())
			d.bill(t, 1)
			if now := len(d.Gateway.Asked()) - asked; (now == 1) != isAsked || len(d.Gateway.Submitted()) != sent+1 {
				t.Errorf("month %d: %d questions, %d payments", month, now, len(d.Gateway.Submitted())-sent)
			}
		}
	})
}

// TestAGatewayIsWaitedForWhereARebillIsOpen: of one that the database knows to be on its way nobody can say whether it was
// refused and tried again in the lost time.
func TestAGatewayIsWaitedForWhereARebillIsOpen(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.due(t)
		d.Gateway.Silence()
		d.bill(t, 1)
		d.World.Pass(time.Hour)
		d.restore(t)
		for range 2 { // each time anew, whenever it would be asked by itself
			if err := d.Recall(t.Context(), d.Time.Now()); err == nil {
				t.Fatal("a gateway that does not answer was passed over")
			}
		}
		d.Gateway.AnswerEach(map[string]payment.Outcome{payment.RebillReference(sub, 1): approved})
		d.Gateway.Answer(approved)
		d.recallAll(t)
		if rebills := d.rebills(t, sub); len(rebills) != 1 || rebills[0].Status != payment.TransactionApproved {
			t.Errorf("the books have %v", rebills)
		}
	})
}

// TestATryThatIsThereIsTakenInItself, also where the gateway has a later one as well: nothing is claimed beside it.
func TestATryThatIsThereIsTakenInItself(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.due(t)
		d.restore(t)
		known := map[string]payment.Outcome{payment.RebillReference(sub, 1): approved}
		d.Gateway.AnswerEach(known)
		d.recallAll(t)
		d.returned(t, d.rebills(t, sub)[0])
		known[payment.RebillReference(sub, 2)], known[payment.RebillReference(sub, 3)] = declined, approved
		d.Time.Set(d.Subscription(t, sub.ID).NextBillingDate.Start())
		d.bill(t, 1)
		if rebills := d.rebills(t, sub); len(rebills) != 2 || rebills[1].MerchantTransactionID != payment.RebillReference(sub, 2) {
			t.Errorf("%d rebills are in the books", len(rebills))
		}
	})
}

// TestAGatewayIsWaitedForWhereAPeriodIsOwed, also before its next try is due: it may have been made sooner in the lost time.
func TestAGatewayIsWaitedForWhereAPeriodIsOwed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		d.due(t)
		d.Gateway.Answer(declined)
		d.bill(t, 1)
		d.restore(t)
		d.Gateway.Silence()
		if err := d.Recall(t.Context(), d.Time.Now()); err == nil {
			t.Error("a gateway that does not answer was passed over")
		}
	})
}

// TestATryIsCountedBehindThoseThatCameBack, whether its gateway is asked about it or a file has brought it: the period had to wait
// for its turn, and its count began anew.
func TestATryIsCountedBehindThoseThatCameBack(t *testing.T) {
	t.Parallel()
	for name, find := range map[string]func(*testing.T, desk, payment.Subscription){
		"asked": func(t *testing.T, d desk, sub payment.Subscription) {
			d.restore(t)
			d.Gateway.AnswerEach(map[string]payment.Outcome{payment.RebillReference(sub, 3): approved})
			d.recallAll(t)
		},
		"reported": func(t *testing.T, d desk, sub payment.Subscription) {
			d.reported(t, sub, 3, payment.TransactionApproved)
			d.Time.Set(d.Subscription(t, sub.ID).NextBillingDate.Start())
			d.bill(t, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, d desk) {
				weekly := storetest.Monthly
				weekly.Frequency = payment.Weekly
				sub := d.due(t, storetest.WithTerms(weekly))
				for _, answer := range []payment.Outcome{declined, approved, {Verdict: payment.VerdictPending, SettlesAt: d.Time.Now().AddDate(0, 0, 8)}} {
					d.Time.Set(d.Subscription(t, sub.ID).NextBillingDate.Start())
					d.Gateway.Answer(answer)
					d.bill(t, 1)
				}
				d.returned(t, d.rebills(t, sub)[1])
				d.Gateway.Answer(approved)
				d.Time.Pass(2 * 24 * time.Hour)
				if n, err := d.Till.Checkout.RunDue(t.Context(), d.Time.Now()); n != 1 || err != nil {
					t.Fatalf("%d were settled: %v", n, err)
				}
				find(t, d, sub)
				third := func(one payment.Transaction) bool {
					return one.MerchantTransactionID == payment.RebillReference(sub, 3) && one.Attempt.Number == 3
				}
				if rebills := d.rebills(t, sub); len(rebills) != 4 || !slices.ContainsFunc(rebills, third) || len(d.Gateway.Submitted()) != 4 {
					t.Errorf("the books have %v, %d payments were sent", rebills, len(d.Gateway.Submitted()))
				}
			})
		})
	}
}
