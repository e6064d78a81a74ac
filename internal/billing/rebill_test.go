package billing_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"sepad/internal/billing"
	"sepad/internal/checkout/checkouttest"
	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

var (
	approved = payment.Outcome{Verdict: payment.VerdictApproved, GatewayReference: "GW-R"}
	declined = payment.Outcome{Verdict: payment.VerdictDeclined, Decline: payment.Decline{Code: payment.InsufficientFunds}}
	closed   = payment.Outcome{Verdict: payment.VerdictDeclined, Decline: payment.Decline{Code: payment.AccountClosed}}
)

// desk is a till with the billing of its subscriptions.
type desk struct {
	*checkouttest.Till
	*billing.Billing
}

func each(t *testing.T, test func(t *testing.T, d desk), change ...func(*checkouttest.Gateway)) {
	t.Helper()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		t.Helper()
		test(t, newDesk(till))
	}, change...)
}

func newDesk(till *checkouttest.Till) desk {
	return desk{till, &billing.Billing{Checkout: till.Checkout}}
}

// bill runs what is due at the present time and expects so much to be done.
func (d desk) bill(t *testing.T, want int) {
	t.Helper()
	if done, err := d.Billing.RunDue(t.Context(), d.Time.Now()); done != want || err != nil {
		t.Fatalf("%d were billed, want %d: %v", done, want, err)
	}
}

// due is a subscription whose next period has come.
func (d desk) due(t *testing.T, change ...func(*storetest.Draft)) payment.Subscription {
	t.Helper()
	sub := d.Subscribed(t, change...)
	d.Time.Set(sub.NextBillingDate.Start())
	return sub
}

func TestWhatAGatewayIsToldOfARebill(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.due(t)
		d.Gateway.Answer(approved)
		d.bill(t, 1)
		sent := d.Gateway.Submitted()
		if len(sent) != 2 {
			t.Fatalf("%d payments were sent", len(sent))
		}
		first, rebill := sent[0], d.rebills(t, sub)[0]
		storetest.Equal(t, sendable(t, sent[1]), gateway.Charge{
			MerchantTransactionID: payment.RebillReference(sub, 1), IdempotencyKey: payment.RebillKey(rebill),
			AmountMinor: storetest.Monthly.PriceMinor, Currency: "EUR", Type: payment.Rebill, SequenceType: payment.SequenceRecurring,
			Instrument: first.Instrument, Lead: first.Lead, MandateReference: first.MandateReference, MandateAt: first.MandateAt,
			Descriptor: d.Shop.Gateway.Descriptor, MerchantName: d.Shop.Name, PeriodTry: 1,
			At: d.Time.Now(),
		})
	})
}

func TestASubscriptionIsBilledOnItsDayAndOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.due(t)
		d.Gateway.Answer(approved)
		day := d.Time.Now()
		d.Time.Set(day.Add(-time.Microsecond))
		d.bill(t, 0)
		d.Time.Set(day)
		d.bill(t, 1)
		d.bill(t, 0)
		after := d.Subscription(t, sub.ID)
		if after.SuccessfulCount != 1 || after.Period != 2 || after.NextBillingDate != sub.PeriodStart(2) || after.OpenTransactionID != nil {
			t.Errorf("after its day: %d billed, period %d, next on %s", after.SuccessfulCount, after.Period, after.NextBillingDate)
		}
		if after.RevenueMinor != 2*storetest.Monthly.PriceMinor || !after.LastBilledAt.Equal(day) {
			t.Errorf("%s have come in, last at %s", after.RevenueMinor, after.LastBilledAt)
		}
		rebill := d.rebills(t, sub)[0]
		if rebill.Status != payment.TransactionApproved || *rebill.Period != 1 || rebill.InFlight() {
			t.Errorf("the rebill is %s", rebill.Status)
		}
		if told := d.Events(t)[payment.EventTransactionCreated]; told != 2 {
			t.Errorf("%d transactions were told of", told)
		}
	})
}

func TestWhatBecomesOfARebill(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		for _, c := range []struct {
			name   string
			answer func()
			rebill payment.TransactionStatus
			sub    payment.SubscriptionStatus
			open   bool
			next   int // days from now, 0 for none or the regular day
		}{
			{"taken in", func() { d.Gateway.Answer(payment.Outcome{Verdict: payment.VerdictPending}) }, payment.TransactionPending, payment.SubscriptionActive, true, 0},
			{"refused", func() { d.Gateway.Answer(declined) }, payment.TransactionDeclined, payment.SubscriptionPastDue, false, 3},
			{"refused for good", func() { d.Gateway.Answer(closed) }, payment.TransactionDeclined, payment.SubscriptionCancelled, false, 0},
			{"not sent", func() { d.Gateway.Fail(gateway.ErrNotSent) }, payment.TransactionDeclined, payment.SubscriptionActive, false, 0},
			{"without an answer", func() { d.Gateway.Silence() }, payment.TransactionPending, payment.SubscriptionActive, true, 0},
			{"to be verified, which nobody can", func() { d.Gateway.Answer(storetest.Verification) }, payment.TransactionPending, payment.SubscriptionActive, true, 0},
		} {
			t.Run(c.name, func(t *testing.T) {
				sub := d.due(t)
				c.answer()
				d.bill(t, 1)
				rebill, after := d.rebills(t, sub)[0], d.Subscription(t, sub.ID)
				if rebill.Status != c.rebill || after.Status != c.sub || (after.OpenTransactionID != nil) != c.open {
					t.Errorf("the rebill is %s, the subscription %s, waits: %t", rebill.Status, after.Status, after.OpenTransactionID != nil)
				}
				if want := payment.DateOf(d.Time.Now()).AddDays(c.next); c.next > 0 && after.NextBillingDate != want {
					t.Errorf("the next try is on %s, want %s", after.NextBillingDate, want)
				}
				d.bill(t, 0) // what waits for an answer, or for another day, is not due
				if _, err := d.Billing.Cancel(t.Context(), sub.TenantID, sub.ID, payment.CancelledByOperator); err != nil && payment.KindOf(err) != payment.Conflict {
					t.Fatal(err) // the next case looks at its own alone
				}
			})
		}
	})
}

// TestARebillWithoutAnAnswerIsAskedAbout: not before its sender must be silent,
// where what was sent may still arrive.
func TestARebillWithoutAnAnswerIsAskedAbout(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.due(t)
		d.Gateway.Silence()
		d.bill(t, 1)
		rebill := d.rebills(t, sub)[0]
		if want := d.World.Now().Add(time.Minute + checkouttest.GatewayTimeout + 2*time.Second); !rebill.Attempt.NextLookupAt.Equal(want) {
			t.Errorf("it is asked about at %s, want %s", rebill.Attempt.NextLookupAt, want)
		}
		d.Gateway.Answer(approved)
		d.World.Set(rebill.Attempt.NextLookupAt)
		if n, err := d.RunLookups(t.Context()); n != 1 || err != nil {
			t.Fatalf("%d were asked about: %v", n, err)
		}
		if asked := d.Gateway.Asked(); !asked[0].Abandon {
			t.Error("a gateway that waits for the payer is not told to give up")
		}
		if after := d.Subscription(t, sub.ID); after.SuccessfulCount != 1 || after.OpenTransactionID != nil {
			t.Errorf("%d were billed, waits: %t", after.SuccessfulCount, after.OpenTransactionID != nil)
		}
	})
}

func TestARebillIsTriedAgainByTheDunning(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		d.Dunning = payment.Dunning{2, 4}
		sub := d.due(t)
		d.Gateway.Answer(declined)
		for try, wait := range []int{2, 4} {
			d.bill(t, 1)
			after := d.Subscription(t, sub.ID)
			if want := payment.DateOf(d.Time.Now()).AddDays(wait); after.NextBillingDate != want || after.Tries != try+1 {
				t.Errorf("after try %d: the next on %s, want %s", after.Tries, after.NextBillingDate, want)
			}
			d.Time.Set(after.NextBillingDate.Start())
		}
		d.bill(t, 1)
		if after := d.Subscription(t, sub.ID); after.Status != payment.SubscriptionCancelled || after.FailedCount != 3 {
			t.Errorf("after the last try it is %s with %d refusals", after.Status, after.FailedCount)
		}
		for try, rebill := range d.rebills(t, sub) {
			if *rebill.Period != 1 || rebill.Attempt.Number != try+1 {
				t.Errorf("try %d is number %d of period %d", try+1, rebill.Attempt.Number, *rebill.Period)
			}
		}
	})
}

func TestTheCampaignsDunningComesFirst(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t))
	d := newDesk(till)
	d.Env.Campaign(t, d.Shop.ID, func(c *merchant.Campaign) { *c = d.Shop.Campaign; c.Dunning = payment.Dunning{9} })
	sub := d.due(t)
	d.Gateway.Answer(declined)
	d.bill(t, 1)
	if after := d.Subscription(t, sub.ID); after.NextBillingDate != payment.DateOf(d.Time.Now()).AddDays(9) {
		t.Errorf("the next try is on %s", after.NextBillingDate)
	}
}

func TestTheCampaignSaysWhatAClaimMeans(t *testing.T) {
	t.Parallel()
	for _, keeps := range []bool{true, false} {
		till := checkouttest.Open(t, storetest.SQLite(t))
		d := newDesk(till)
		d.Billing.Checkout.KeepSubscriptions = !keeps // the campaign comes first
		d.Env.Campaign(t, d.Shop.ID, func(c *merchant.Campaign) { *c = d.Shop.Campaign; c.KeepsClaimed = &keeps })
		sub := d.due(t)
		d.Gateway.Answer(approved)
		d.bill(t, 1)
		claim := payment.Chargeback{Source: payment.ChargebackManual, ReasonCode: "MD06"}
		rebill := d.rebills(t, sub)[0]
		if _, err := d.Billing.Checkout.ChargeBack(t.Context(), sub.TenantID, rebill.ID, claim, store.RequestKey{}); err != nil {
			t.Fatal(err)
		}
		after := d.Subscription(t, sub.ID)
		if cancelled := after.Status == payment.SubscriptionCancelled; cancelled == keeps {
			t.Errorf("the campaign keeps: %t, and the subscription is %s (%s)", keeps, after.Status, after.CancelReason)
		}
	}
}

func TestNothingIsSentWithAnAccountNumberThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.due(t)
		d.Gateway.Answer(approved)
		sent := len(d.Gateway.Submitted())
		d.Env.Exec(t, `UPDATE subscriptions SET iban_sealed = 'nothing that a key of ours has sealed'`)
		d.bill(t, 1)
		if after := d.Subscription(t, sub.ID); len(d.Gateway.Submitted()) != sent || after.Status != payment.SubscriptionActive || after.Tries != 0 {
			t.Errorf("the subscription is %s, %d rebills were sent", after.Status, len(d.Gateway.Submitted())-sent)
		}
		if !strings.Contains(d.Log(), "set aside") {
			t.Error("nobody is told")
		}
		d.bill(t, 0) // it is left alone
	})
}

func TestNothingIsSentThatLacksThePayersAddress(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		d.Lanes, d.PerLane = 1, 1 // what is set aside takes nobody's place
		held, sound := d.Subscribed(t), d.Subscribed(t)
		d.Env.Exec(t, `UPDATE transactions SET iban_country = 'CH' WHERE subscription_id = $1`, held.ID.String())
		d.Env.Exec(t, `UPDATE leads SET address = '', city = '' WHERE id = $1`, held.LeadID.String())
		d.Time.Set(sound.NextBillingDate.Start())
		d.Gateway.Answer(approved)
		sent := len(d.Gateway.Submitted())
		d.bill(t, 1)
		after := d.Subscription(t, held.ID)
		if len(d.Gateway.Submitted()) != sent+1 || after.Status != payment.SubscriptionActive || after.Tries != 0 || d.Billing.Checkout.Aside.Total() != 1 {
			t.Errorf("the subscription is %s, %d rebills were sent", after.Status, len(d.Gateway.Submitted())-sent)
		}
		if !strings.Contains(d.Log(), "payer's address is not known") {
			t.Error("nobody is told")
		}
		d.Env.Exec(t, `UPDATE leads SET address = 'Bahnhofstrasse 1', city = 'Zürich' WHERE id = $1`, held.LeadID.String())
		d.World.Pass(time.Hour)
		d.Gateway.Answer(approved)
		d.bill(t, 1)
		if after := d.Subscription(t, held.ID); after.SuccessfulCount != 1 {
			t.Errorf("with an address it was billed %d times", after.SuccessfulCount)
		}
	})
}

// TestAProcessThatIsStoppingSettlesWhatItHasSent cancels the context while the
// gateway works.
func TestAProcessThatIsStoppingSettlesWhatItHasSent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.due(t)
		ctx, stop := context.WithCancel(t.Context())
		d.Gateway.Answer(approved)
		d.Gateway.During(func(inside context.Context) {
			stop()
			if inside.Err() != nil {
				t.Error("the call to the gateway ends with the process's work")
			}
		})
		if done, err := d.Billing.RunDue(ctx, d.Time.Now()); done != 1 || !errors.Is(err, context.Canceled) {
			t.Errorf("%d were billed: %v", done, err)
		}
		if after := d.Subscription(t, sub.ID); after.SuccessfulCount != 1 || after.OpenTransactionID != nil {
			t.Errorf("%d were billed, waits: %t", after.SuccessfulCount, after.OpenTransactionID != nil)
		}
	})
}

func TestAMandateThatWasNotUsedIsNotUsedAnyMore(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.Subscribed(t)
		d.Time.Set(sub.MandateUsedAt.AddDate(3, 0, 1))
		sent := len(d.Gateway.Submitted())
		d.bill(t, 1)
		if after := d.Subscription(t, sub.ID); after.Status != payment.SubscriptionCancelled || len(d.Gateway.Submitted()) != sent {
			t.Errorf("the subscription is %s, %d rebills were sent", after.Status, len(d.Gateway.Submitted())-sent)
		}
	})
}

// TestManyAreBilledInLanes has more due than a lane takes, and processes side by
// side.
func TestManyAreBilledInLanes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		const many = 13
		d.Lanes, d.PerLane = 2, 3
		var last payment.Subscription
		for range many {
			last = d.Subscribed(t)
		}
		d.Time.Set(last.NextBillingDate.Start())
		d.Gateway.Answer(approved)
		done := make([]int, 2)
		var processes sync.WaitGroup
		for i := range done {
			processes.Go(func() {
				var err error
				if done[i], err = d.Billing.RunDue(t.Context(), d.Time.Now()); err != nil {
					t.Error(err)
				}
			})
		}
		processes.Wait()
		if done[0]+done[1] != many || len(d.Gateway.Submitted()) != 2*many {
			t.Errorf("%v were billed, %d payments sent", done, len(d.Gateway.Submitted()))
		}
	})
}

func TestLanesBoundWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	d := newDesk(checkouttest.Open(t, storetest.SQLite(t)))
	d.Lanes, d.PerLane = 1, 2
	var last payment.Subscription
	for range 5 {
		last = d.Subscribed(t)
	}
	d.Time.Set(last.NextBillingDate.Start())
	d.Gateway.Answer(approved)
	var mu sync.Mutex
	most, now := 0, 0
	d.Gateway.During(func(context.Context) {
		mu.Lock()
		defer mu.Unlock()
		open := storetest.Scalar[int](t, d.Env, `SELECT COUNT(*) FROM transactions WHERE in_flight IS NOT NULL`)
		most, now = max(most, open), now+1
	})
	d.bill(t, 5)
	if most > 2 || now != 5 {
		t.Errorf("up to %d of %d rebills were under way", most, now)
	}
}

// TestOneThatIsBrokenDoesNotHoldUpTheRest has a subscription that is said to be
// due and names no date.
func TestOneThatIsBrokenDoesNotHoldUpTheRest(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		broken, sound := d.Subscribed(t), d.Subscribed(t)
		d.Env.Exec(t, `UPDATE subscriptions SET next_billing_date = NULL WHERE id = $1`, broken.ID.String())
		d.Time.Set(sound.NextBillingDate.Start())
		d.Gateway.Answer(approved)
		done, err := d.Billing.RunDue(t.Context(), d.Time.Now())
		if done != 1 || err != nil || !strings.Contains(d.Log(), "set aside") {
			t.Errorf("%d were billed: %v", done, err)
		}
		if after := d.Subscription(t, sound.ID); after.SuccessfulCount != 1 {
			t.Errorf("the one behind it was billed %d times", after.SuccessfulCount)
		}
	})
}

// TestAnotherLaneOpensWhileOneIsFull has each gateway call wait for a second one:
// one lane alone would never come to an end.
func TestAnotherLaneOpensWhileOneIsFull(t *testing.T) {
	t.Parallel()
	d := newDesk(checkouttest.Open(t, storetest.SQLite(t)))
	d.Lanes, d.PerLane = 2, 1
	d.Subscribed(t)
	last := d.Subscribed(t)
	d.Time.Set(last.NextBillingDate.Start())
	d.Gateway.Answer(approved)
	meet := make(chan struct{})
	d.Gateway.During(func(context.Context) {
		select {
		case meet <- struct{}{}:
		case <-meet:
		case <-time.After(20 * time.Second):
			t.Error("a slow gateway holds up what another lane could send")
		}
	})
	d.bill(t, 2)
}

// TestWhatIsInterruptedSaysSo ends the caller's context at every step in turn.
func TestWhatIsInterruptedSaysSo(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		// What is told reads more, which may fail as well.
		d.Env.WebhookProfile(t, d.Shop.ID, func(p *merchant.WebhookProfile) { *p = d.Shop.Profile; p.FullPayload = true })
		t.Run("cancel", func(t *testing.T) {
			sub, told := d.Subscribed(t), d.Events(t)[payment.EventSubscriptionCancelled]
			cancelled := func() bool { return d.Subscription(t, sub.ID).Status == payment.SubscriptionCancelled }
			checkouttest.Interrupt(t, func(ctx context.Context) error {
				_, err := d.Billing.Cancel(ctx, sub.TenantID, sub.ID, payment.CancelledByOperator)
				return err
			}, func(error) bool { return cancelled() })
			if !cancelled() || d.Events(t)[payment.EventSubscriptionCancelled] != told+1 {
				t.Error("a subscription that was said to be cancelled is not, or nobody is told")
			}
		})
		t.Run("preview", func(t *testing.T) {
			sub := d.Subscribed(t)
			checkouttest.Interrupt(t, func(ctx context.Context) error {
				found, dates, err := d.Preview(ctx, sub.TenantID, sub.ID)
				if err == nil && (found.ID != sub.ID || len(dates) == 0) {
					t.Error("nothing is shown, and no error")
				}
				return err
			}, func(error) bool { return false })
		})
		t.Run("billing", func(t *testing.T) {
			sub := d.due(t)
			d.Gateway.Answer(approved)
			sent := len(d.Gateway.Submitted())
			checkouttest.Interrupt(t, func(ctx context.Context) error {
				_, err := d.Billing.RunDue(ctx, d.Time.Now())
				return err
			}, func(error) bool {
				return d.Subscription(t, sub.ID).SuccessfulCount != 0 || d.Subscription(t, sub.ID).OpenTransactionID != nil
			})
			// What was begun was sent: one that is claimed alone would count as lost.
			if after := d.Subscription(t, sub.ID); after.SuccessfulCount != 1 || after.OpenTransactionID != nil {
				t.Errorf("billed %d times, open is %v", after.SuccessfulCount, after.OpenTransactionID)
			}
			claimed := storetest.Scalar[int](t, d.Env, `SELECT COUNT(*) FROM transactions WHERE type = 'sdd_rebill'`)
			if n := len(d.Gateway.Submitted()) - sent; n != claimed {
				t.Errorf("%d rebills were sent of %d that are claimed", n, claimed)
			}
		})
	})
}
