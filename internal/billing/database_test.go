package billing_test

import (
	"context"
	"strings"
	"testing"

	"sepad/internal/checkout/checkouttest"
	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store/storetest"
)

// TestARecallThatFailsIsNotDone: what a gateway has collected since the backup would be collected once more.
func TestARecallThatFailsIsNotDone(t *testing.T) {
	t.Parallel()
	for name, breaks := range map[string]func(*testing.T, desk, payment.Subscription){
		"the set-up cannot be read": func(t *testing.T, d desk, _ payment.Subscription) {
			d.SetGateway(t, d.Shop, func(a *merchant.GatewayAccount) { a.Name = "read anew" })
			d.Env.Exec(t, `ALTER TABLE setup_records RENAME TO hidden`)
		},
		"what was reported cannot be recognized": func(t *testing.T, d desk, sub payment.Subscription) {
			d.reported(t, sub, 1, payment.TransactionApproved)
			d.Env.Exec(t, `ALTER TABLE chargebacks RENAME TO hidden`)
		},
		"what it owes cannot be read": func(t *testing.T, d desk, _ payment.Subscription) {
			d.Env.Exec(t, `ALTER TABLE rebill_pauses RENAME TO hidden`)
		},
		"the debit cannot be written down": func(t *testing.T, d desk, _ payment.Subscription) {
			d.Env.Exec(t, `CREATE TRIGGER full BEFORE INSERT ON transactions BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`)
		},
		"the debit cannot be settled": func(t *testing.T, d desk, _ payment.Subscription) {
			d.Env.Exec(t, `ALTER TABLE events RENAME TO hidden`)
		},
		"whether it was charged back cannot be read": func(t *testing.T, d desk, _ payment.Subscription) {
			d.Env.Exec(t, `ALTER TABLE chargebacks RENAME TO hidden`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(checkouttest.Open(t, storetest.SQLite(t)))
			sub := d.due(t)
			d.restore(t)
			d.Gateway.Answer(approved)
			breaks(t, d, sub)
			if err := d.Recall(t.Context(), d.Time.Now()); err == nil {
				t.Error("the recall is done")
			}
		})
	}
}

// TestAnAnswerToARebillThatCouldNotBeWrittenIsTold, and the gateway is asked later.
func TestAnAnswerToARebillThatCouldNotBeWrittenIsTold(t *testing.T) {
	t.Parallel()
	d := newDesk(checkouttest.Open(t, storetest.SQLite(t)))
	sub := d.due(t)
	d.Gateway.Answer(approved)
	d.Env.Exec(t, `ALTER TABLE events RENAME TO hidden`)
	if _, err := d.Billing.RunDue(t.Context(), d.Time.Now()); err == nil {
		t.Error("all is well")
	}
	d.Env.Exec(t, `ALTER TABLE hidden RENAME TO events`)
	if rebills := d.rebills(t, sub); len(rebills) != 1 || !rebills[0].InFlight() {
		t.Errorf("the rebills are %+v", rebills)
	}
}

// TestATryThatCannotBeGivenBackIsTold: it was not sent, and stays open until its gateway has been asked about it.
func TestATryThatCannotBeGivenBackIsTold(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(*testing.T, desk, payment.Subscription){
		"the gateway was away": func(_ *testing.T, d desk, _ payment.Subscription) {
			d.Gateway.Fail(gateway.ErrNotSent)
		},
		"the payer's account cannot be read": func(t *testing.T, d desk, _ payment.Subscription) {
			d.Env.Exec(t, `UPDATE subscriptions SET iban_sealed = 'broken'`)
		},
		"the account is not used any more": func(t *testing.T, d desk, _ payment.Subscription) {
			d.SetGateway(t, d.Shop, func(a *merchant.GatewayAccount) { a.Active = false })
		},
		"the gateway has a later try": func(t *testing.T, d desk, sub payment.Subscription) {
			d.restore(t)
			known := map[string]payment.Outcome{payment.RebillReference(sub, 1): declined}
			d.Gateway.AnswerEach(known)
			d.recallAll(t)
			known[payment.RebillReference(sub, 3)] = approved
			d.Gateway.AnswerEach(known)
			d.Time.Set(d.Subscription(t, sub.ID).NextBillingDate.Start())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(checkouttest.Open(t, storetest.SQLite(t)))
			before(t, d, d.due(t))
			d.Env.Exec(t, `CREATE TRIGGER full BEFORE UPDATE ON transactions BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`)
			if _, err := d.Billing.RunDue(t.Context(), d.Time.Now()); err == nil || !strings.Contains(err.Error(), "the disk is full") {
				t.Errorf("whoever bills hears %v", err)
			}
			if sent := len(d.Gateway.Submitted()); sent > 2 {
				t.Errorf("%d payments were sent", sent)
			}
		})
	}
}

// TestARebillWhoseAccountCannotBeReadIsGivenBack: nothing was sent, so that nobody is to be asked about it, and a person
// is told.
func TestARebillWhoseAccountCannotBeReadIsGivenBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.due(t)
		d.Gateway.Answer(approved)
		d.Env.Exec(t, `UPDATE subscriptions SET iban_sealed = 'broken'`)
		d.bill(t, 1)
		if sent := len(d.Gateway.Submitted()); sent != 1 || !strings.Contains(d.Log(), "needs a person") {
			t.Errorf("%d payments were sent, and a person hears %q", sent, d.Log())
		}
		after := d.Subscription(t, sub.ID)
		if rebills := d.rebills(t, sub); len(rebills) != 1 || rebills[0].InFlight() || after.OpenTransactionID != nil || after.DueAt().IsZero() {
			t.Errorf("the rebills are %+v, due at %s", rebills, after.DueAt())
		}
	})
}

// TestADebitThatWasReportedAndCannotBeReadIsNotMadeAgain, least of all under another name: it waits for a person.
func TestADebitThatWasReportedAndCannotBeReadIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	for name, breaks := range map[string]func(*testing.T, desk){
		"the set-up": func(t *testing.T, d desk) {
			d.SetGateway(t, d.Shop, func(a *merchant.GatewayAccount) { a.Name = "read anew" })
			d.Env.Exec(t, `ALTER TABLE setup_records RENAME TO hidden`)
		},
		"the state of its subscription": func(t *testing.T, d desk) { d.Env.Exec(t, `UPDATE subscriptions SET status = 'GONE'`) },
		"the payment":                   func(t *testing.T, d desk) { d.Env.Exec(t, `ALTER TABLE orders RENAME TO hidden`) },
		"what its merchant has attached": func(t *testing.T, d desk) {
			d.Env.WebhookProfile(t, d.Shop.ID, func(p *merchant.WebhookProfile) { *p = d.Shop.Profile; p.FullPayload = true })
			d.Env.Exec(t, `UPDATE sessions SET options = '{"metadata":"{"}'`)
		},
		"its chargebacks": func(t *testing.T, d desk) { d.Env.Exec(t, `ALTER TABLE chargebacks RENAME TO hidden`) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(checkouttest.Open(t, storetest.SQLite(t)))
			sub := d.due(t)
			d.reported(t, sub, 1, payment.TransactionApproved)
			d.Gateway.Answer(approved)
			breaks(t, d)
			d.bill(t, 0)
			claimed := storetest.Scalar[int](t, d.Env, `SELECT COUNT(*) FROM transactions WHERE type = 'sdd_rebill'`)
			if sent := len(d.Gateway.Submitted()); sent != 1 || claimed != 0 || !d.Billing.Checkout.Aside.Holds(sub.ID, d.World.Now()) {
				t.Errorf("%d payments were sent, %d rebills are claimed: %s", sent, claimed, d.Log())
			}
		})
	}
}

// TestWhoIsInterruptedSetsNobodyAside: a process that is told to end while it ends subscriptions leaves them to the next sweep.
func TestWhoIsInterruptedSetsNobodyAside(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.Subscribed(t)
		d.Time.Set(sub.MandateUsedAt.AddDate(3, 0, 1))
		checkouttest.Interrupt(t, func(ctx context.Context) error {
			_, err := d.Billing.RunDue(ctx, d.Time.Now())
			return err
		}, func(error) bool { return d.Subscription(t, sub.ID).Status == payment.SubscriptionCancelled })
		if n := d.Billing.Checkout.Aside.Len(d.World.Now()); n != 0 {
			t.Errorf("%d are set aside: %s", n, d.Log())
		}
	})
}

// TestARebillWhoseSetUpCannotBeReadStaysOpen: it is claimed, and its gateway is asked about it later.
func TestARebillWhoseSetUpCannotBeReadStaysOpen(t *testing.T) {
	t.Parallel()
	d := newDesk(checkouttest.Open(t, storetest.SQLite(t)))
	sub := d.due(t)
	d.SetGateway(t, d.Shop, func(a *merchant.GatewayAccount) { a.Name = "read anew" })
	d.Env.Exec(t, `ALTER TABLE setup_records RENAME TO hidden`)
	_, err := d.Billing.RunDue(t.Context(), d.Time.Now())
	d.Env.Exec(t, `ALTER TABLE hidden RENAME TO setup_records`)
	if rebills := d.rebills(t, sub); err == nil || len(rebills) != 1 || !rebills[0].InFlight() || len(d.Gateway.Submitted()) != 1 {
		t.Errorf("%d payments were sent, the rebills are %+v: %v", len(d.Gateway.Submitted()), rebills, err)
	}
}

// TestWhatCannotBePreparedIsToldOf: payers would not hear of a collection in time, and nobody would know.
func TestWhatCannotBePreparedIsToldOf(t *testing.T) {
	t.Parallel()
	prepare := func(t *testing.T, d desk) error { _, err := d.Billing.RunDue(t.Context(), d.Time.Now()); return err }
	next := func(t *testing.T, d desk) error {
		_, _, err := d.NextPreparation(t.Context(), d.Time.Now())
		return err
	}
	for name, c := range map[string]struct {
		table string
		act   func(*testing.T, desk) error
	}{
		"which accounts there are":        {"setup_records", prepare},
		"that a collection is announced":  {"events", prepare},
		"at which accounts is more to do": {"setup_records", next},
		"when a subscription is next":     {"subscriptions", next},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(checkouttest.Open(t, storetest.SQLite(t), checkouttest.WithNotice(noticeDays)))
			sub := d.Subscribed(t)
			d.Gateway.Answer(takenIn)
			d.Time.Set(sub.NextBillingDate.Start().AddDate(0, 0, -noticeDays))
			d.Env.Exec(t, `ALTER TABLE `+c.table+` RENAME TO hidden`)
			if err := c.act(t, d); err == nil {
				t.Error("all is well")
			}
		})
	}
}
