package billing_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"sepad/internal/checkout/checkouttest"
	"sepad/internal/clock"
	"sepad/internal/gateway"
	"sepad/internal/store/storetest"
)

// sendable takes the last moment off a charge, which is at most a minute away.
func sendable(t *testing.T, charge gateway.Charge) gateway.Charge {
	t.Helper()
	if left := charge.SendBefore.Left(); left <= 0 || left > time.Minute {
		t.Errorf("it may be sent for another %s", left)
	}
	charge.SendBefore = clock.Deadline{}
	return charge
}

// TestARebillWithoutAnAnswerIsAskedAboutSoonInsideTheProcess: nothing that was sent is still on its way there.
func TestARebillWithoutAnAnswerIsAskedAboutSoonInsideTheProcess(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.due(t)
		d.Gateway.Silence()
		d.bill(t, 1)
		attempt := d.rebills(t, sub)[0].Attempt
		if want := d.World.Now().Add(checkouttest.FirstLookup); !attempt.NextLookupAt.Equal(want) || attempt.LookupCount != 1 {
			t.Errorf("it is asked about at %s, want %s", attempt.NextLookupAt, want)
		}
	}, checkouttest.WithSandboxRules)
}

// TestADatabaseThatDoesNotAnswerSetsNobodyAside: it is no fault of a subscription, which is billed by the next sweep.
func TestADatabaseThatDoesNotAnswerSetsNobodyAside(t *testing.T) {
	t.Parallel()
	d := newDesk(checkouttest.Open(t, storetest.FreshPostgres(t)))
	sub := d.due(t)
	d.Gateway.Answer(approved)
	holder, err := d.Env.DB(t).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := holder.ExecContext(t.Context(), `LOCK TABLE transactions IN SHARE MODE`); err != nil { // rows can be read
		t.Fatal(err)
	}
	d.Patience = 200 * time.Millisecond
	if _, err := d.Billing.RunDue(t.Context(), d.Time.Now()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if n := d.Billing.Checkout.Aside.Len(d.World.Now()); n != 0 {
		t.Errorf("%d are set aside: %s", n, d.Log())
	}
	if err := holder.Rollback(); err != nil {
		t.Fatal(err)
	}
	d.Env.Exec(t, `DO $$ BEGIN LOCK TABLE subscriptions; END $$`) // once the server has let go of what was given up
	d.Patience = 0
	d.bill(t, 1)
	if after := d.Subscription(t, sub.ID); after.SuccessfulCount != 1 {
		t.Errorf("it was billed %d times", after.SuccessfulCount)
	}
}

// TestARowThatIsHeldDoesNotEndBilling: whoever holds one for as long as he likes keeps its rebill from being settled, and no
// other from being sent. The gateway is asked about it later.
func TestARowThatIsHeldDoesNotEndBilling(t *testing.T) {
	t.Parallel()
	d := newDesk(checkouttest.Open(t, storetest.FreshPostgres(t)))
	sub := d.due(t)
	holder, err := d.Env.DB(t).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	d.Gateway.Answer(approved)
	d.Gateway.During(func(ctx context.Context) {
		if _, err := holder.ExecContext(ctx, `SELECT 1 FROM subscriptions FOR UPDATE`); err != nil {
			t.Error(err)
		}
	})
	d.Patience = time.Second
	if _, err := d.Billing.RunDue(t.Context(), d.Time.Now()); err == nil {
		t.Error("all is well")
	}
	if err := holder.Rollback(); err != nil {
		t.Fatal(err)
	}
	if rebills := d.rebills(t, sub); len(rebills) != 1 || !rebills[0].InFlight() {
		t.Errorf("the rebills are %+v", rebills)
	}
}
