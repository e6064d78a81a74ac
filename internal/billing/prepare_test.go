package billing_test

import (
	"context"
	"testing"
	"time"

	"sepad/internal/checkout/checkouttest"
	"sepad/internal/gateway"
	"sepad/internal/payment"
	"sepad/internal/store/storetest"
)

var takenIn = payment.Outcome{Verdict: payment.VerdictPending, GatewayReference: "GW-P"}

// noticeDays is how long before a debit the played bank tells payers.
const noticeDays = 5

func TestRebillsArePreparedSoThatPayersAreToldInTime(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.Subscribed(t)
		told := sub.NextBillingDate.Start().AddDate(0, 0, -noticeDays)
		d.Gateway.Answer(takenIn)
		d.Time.Set(told.Add(-time.Microsecond))
		d.bill(t, 0)
		d.Time.Set(told)
		d.bill(t, 1)
		d.bill(t, 0)
		rebills := d.rebills(t, sub)
		if len(rebills) != 1 || rebills[0].Status != payment.TransactionPending || rebills[0].DueDate != sub.NextBillingDate || !rebills[0].CreatedAt.Equal(told) {
			t.Fatalf("prepared are %+v", rebills)
		}
		if announced := d.Events(t)[payment.EventCollectionAnnounced]; announced != 1 {
			t.Errorf("told %d times", announced)
		}
		d.Time.Set(sub.NextBillingDate.Start())
		d.bill(t, 0) // it is under way
	}, checkouttest.WithNotice(noticeDays))
}

func TestWhatIsPreparedBelongsToEachTenant(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		first := d.Subscribed(t)
		d.Time.Set(d.Time.Now().AddDate(0, 0, 3))
		d.Shop = d.NewShop(t)
		second := d.Subscribed(t)
		d.Time.Set(d.Time.Now().AddDate(0, 0, 1))
		third := d.Subscribed(t)
		d.Gateway.Answer(takenIn)
		d.Time.Set(third.NextBillingDate.Start().AddDate(0, 0, -noticeDays))
		d.bill(t, 3)
		for _, sub := range []payment.Subscription{first, second, third} {
			if n := d.Env.Count(t, "transactions WHERE type = 'sdd_rebill' AND subscription_id = '"+sub.ID.String()+"'"); n != 1 {
				t.Errorf("%d rebills of a subscription of tenant %s", n, sub.TenantID)
			}
		}
	}, checkouttest.WithNotice(noticeDays))
}

func TestWhenRebillsArePreparedNext(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		if _, found, err := d.NextPreparation(t.Context(), d.Time.Now()); found || err != nil {
			t.Errorf("without a subscription: %t, %v", found, err)
		}
		late := d.Subscribed(t, func(draft *storetest.Draft) { draft.Session.Terms.Frequency = payment.Yearly })
		shop := d.Shop
		d.Shop = d.NewShop(t)
		early := d.Subscribed(t)
		d.Shop = shop
		between := d.Subscribed(t, func(draft *storetest.Draft) { draft.Session.Terms.Frequency = payment.Quarterly })
		prepared := func(sub payment.Subscription) time.Time {
			return sub.NextBillingDate.Start().AddDate(0, 0, -noticeDays)
		}
		for name, test := range map[string]struct{ after, want time.Time }{
			"from the beginning":                {time.Time{}, prepared(early)},
			"before the first":                  {prepared(early).AddDate(0, 0, -1), prepared(early)},
			"after the first, of another shop":  {prepared(early), prepared(between)},
			"after those that are told already": {prepared(between), prepared(late)},
		} {
			next, found, err := d.NextPreparation(t.Context(), test.after)
			if err != nil || !found || !next.Equal(test.want) {
				t.Errorf("%s: %s, %t, %v; want %s", name, next, found, err, test.want)
			}
		}
		checkouttest.Interrupt(t, func(ctx context.Context) error {
			next, found, err := d.NextPreparation(ctx, time.Time{})
			if err == nil && (!found || !next.Equal(prepared(early))) {
				t.Errorf("interrupted, it says %s, %t", next, found)
			}
			if err != nil && found {
				t.Error("an error, and yet something is found")
			}
			return err
		}, func(error) bool { return false })
	}, checkouttest.WithNotice(noticeDays))
}

func TestAPreparationThatIsInterruptedSaysSo(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.Subscribed(t)
		d.Gateway.Answer(takenIn)
		d.Time.Set(sub.NextBillingDate.Start().AddDate(0, 0, -noticeDays))
		checkouttest.Interrupt(t, func(ctx context.Context) error {
			_, err := d.RunDue(ctx, d.Time.Now())
			return err
		}, func(error) bool { return len(d.rebills(t, sub)) > 0 })
		if n := len(d.rebills(t, sub)); n != 1 {
			t.Errorf("it was said to be done, and %d rebills are there", n)
		}
	}, checkouttest.WithNotice(noticeDays))
}

func TestARebillBearsTheTimeAtWhichItIsWritten(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		for name, test := range map[string]struct{ clockAhead, want time.Duration }{
			"of a sweep that has taken an hour": {time.Hour, time.Hour},
			"of one that runs before its time":  {-time.Hour, 0},
		} {
			d.Gateway.Answer(approved)
			sub := d.Subscribed(t)
			day := sub.NextBillingDate.Start()
			d.Time.Set(day.Add(test.clockAhead))
			if _, err := d.RunDue(t.Context(), day); err != nil {
				t.Fatal(err)
			}
			if rebills := d.rebills(t, sub); len(rebills) != 1 || !rebills[0].CreatedAt.Equal(day.Add(test.want)) {
				t.Errorf("%s: %+v", name, rebills)
			}
		}
	})
}

func TestADatabaseThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		d.Env.Exec(t, "ALTER TABLE subscriptions RENAME TO gone")
		if done, err := d.RunDue(t.Context(), d.Time.Now()); err == nil || done != 0 {
			t.Errorf("%d were billed: %v", done, err)
		}
	})
}

// TestWhatCannotBeWrittenDownIsAnError breaks the database while the gateway works, so that its answer is not recorded.
func TestWhatCannotBeWrittenDownIsAnError(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(*checkouttest.Gateway){
		"of a rebill that was collected":     func(g *checkouttest.Gateway) { g.Answer(approved) },
		"of a rebill that was refused":       func(g *checkouttest.Gateway) { g.Answer(declined) },
		"of a rebill that could not be sent": func(g *checkouttest.Gateway) { g.Fail(gateway.ErrNotSent) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, d desk) {
				d.due(t)
				answer(d.Gateway)
				d.Gateway.During(func(context.Context) { d.Env.Exec(t, "ALTER TABLE transactions RENAME TO gone") })
				if _, err := d.RunDue(t.Context(), d.Time.Now()); err == nil {
					t.Error("no error")
				}
			})
		})
	}
}
