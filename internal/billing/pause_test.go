package billing_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"sepad/internal/checkout/checkouttest"
	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/payment"
)

// A bank that blames us would refuse every other debit as well: nothing more is
// sent until a person has mended it, and nobody's subscription suffers.
func TestACreditorsMistakePausesTheAccount(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		first, second := d.due(t), d.due(t)
		d.Lanes, d.PerLane = 1, 1
		d.Gateway.Answer(payment.Outcome{Verdict: payment.VerdictDeclined, Decline: payment.Decline{Code: payment.DeclineUnknown, GatewayCode: "AC03"}})
		d.bill(t, 1)
		for _, sub := range []payment.Subscription{first, second} {
			if after := d.Subscription(t, sub.ID); after.Status != payment.SubscriptionActive || after.FailedCount != 0 || after.Tries != 0 {
				t.Errorf("it is %s, failed %d times, try %d", after.Status, after.FailedCount, after.Tries)
			}
		}
		paused, err := d.Store.Tenant(first.TenantID).RebillPauses(t.Context())
		if err != nil || len(paused) != 1 || paused[0].Code != "AC03" || !paused[0].NeedsPerson(d.Time.Now()) {
			t.Fatalf("paused are %+v: %v", paused, err)
		}
		d.Time.Set(d.Time.Now().Add(24 * time.Hour))
		d.bill(t, 0)

		if _, err := d.Resume(t.Context(), first.TenantID, first.GatewayID); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			d.Gateway.Answer(approved)
		}
		d.bill(t, 3) // the first of them has missed a month, which is made up for
		if _, err := d.Resume(t.Context(), first.TenantID, first.GatewayID); payment.KindOf(err) != payment.Conflict {
			t.Errorf("resumed twice: %v", err)
		}
		if _, err := d.Resume(t.Context(), d.NewShop(t).ID, first.GatewayID); payment.KindOf(err) != payment.Conflict {
			t.Errorf("resumed by another tenant: %v", err)
		}
	})
}

func TestWhoResumesAnAccountIsOnRecord(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.due(t)
		d.Gateway.Answer(payment.Outcome{Verdict: payment.VerdictDeclined, Decline: payment.Decline{Code: payment.DeclineUnknown, GatewayCode: "AC03"}})
		d.bill(t, 1)
		checkouttest.Interrupt(t, func(ctx context.Context) error {
			ended, err := d.Resume(ctx, sub.TenantID, sub.GatewayID)
			if err == nil && (ended.GatewayID != sub.GatewayID || ended.Code != "AC03") {
				t.Errorf("resumed is %+v", ended)
			}
			return err
		}, func(error) bool {
			if strings.Contains(d.Log(), "go on") {
				t.Error("it is said to go on, and it does not")
			}
			return false
		})
		if paused, err := d.Store.Tenant(sub.TenantID).RebillPauses(t.Context()); err != nil || len(paused) != 0 {
			t.Errorf("paused are %+v: %v", paused, err)
		}
		if !strings.Contains(d.Log(), "the rebills of a gateway account go on") || !strings.Contains(d.Log(), sub.GatewayID.String()) {
			t.Errorf("the log does not say so: %s", d.Log())
		}
		if n := d.Env.Count(t, "audit_entries WHERE action = 'gateway.resume' AND object_id = '"+sub.GatewayID.String()+"' AND tenant_id = '"+sub.TenantID.String()+"'"); n != 1 {
			t.Errorf("%d entries in the audit trail", n)
		}
	})
}

// Through an account that was away one rebill is tried: as long as that cannot be
// sent either, the others leave no trace.
func TestOneRebillTriesAnAccountThatWasAway(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		var all []payment.Subscription
		for range 3 {
			all = append(all, d.Subscribed(t))
		}
		d.Time.Set(all[2].DueAt())
		d.Lanes, d.PerLane = 1, 3
		for range 3 {
			d.Gateway.Fail(gateway.ErrNotSent)
		}
		d.bill(t, 3)
		if log := d.Log(); !strings.Contains(log, "could not be sent") || strings.Contains(log, "ERROR") {
			t.Errorf("a person is called at once, or nothing is said: %s", log)
		}
		d.Time.Set(d.Time.Now().Add(11 * time.Minute))
		d.Gateway.Fail(gateway.ErrNotSent)
		d.bill(t, 1)
		d.Time.Set(d.Time.Now().Add(time.Hour))
		for range 3 {
			d.Gateway.Answer(approved)
		}
		d.bill(t, 3)
		if paused, err := d.Store.Tenant(all[0].TenantID).RebillPauses(t.Context()); err != nil || len(paused) != 0 {
			t.Errorf("once one was sent, paused are %+v: %v", paused, err)
		}
		unsent := 0
		for _, sub := range all {
			after := d.Subscription(t, sub.ID)
			if after.Status != payment.SubscriptionActive || after.FailedCount != 0 || after.SuccessfulCount != 1 {
				t.Errorf("it is %s, billed %d times, failed %d times", after.Status, after.SuccessfulCount, after.FailedCount)
			}
			unsent += len(d.rebills(t, sub)) - 1
		}
		if unsent != 4 {
			t.Errorf("%d rebills were written down and not sent, want 4", unsent)
		}
	})
}

func TestAnAccountThatStaysAwayCallsAPerson(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		d.due(t)
		d.Gateway.Fail(gateway.ErrNotSent)
		d.bill(t, 1)
		d.Time.Pass(24 * time.Hour)
		if d.bill(t, 1); strings.Contains(d.Log(), "ERROR") {
			t.Error("a person is called within a day")
		}
		d.Time.Pass(2 * time.Hour)
		if d.bill(t, 1); !strings.Contains(d.Log(), "level=ERROR msg=\"a rebill could not be sent") {
			t.Errorf("nobody is called: %s", d.Log())
		}
	})
}

// TestNothingIsSentThroughAGatewayThatCannotBeUsed: nobody is asked, it costs the
// subscription nothing, and it is tried again within the hour.
func TestNothingIsSentThroughAGatewayThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for name, off := range map[string]func(*merchant.GatewayAccount){
		"it is switched off":     func(a *merchant.GatewayAccount) { a.Active = false },
		"its adapter is unknown": func(a *merchant.GatewayAccount) { a.Adapter = "gone" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, d desk) { testUnusable(t, d, off) })
		})
	}
}

func testUnusable(t *testing.T, d desk, off func(*merchant.GatewayAccount)) {
	t.Helper()
	sub := d.due(t)
	d.Gateway.Answer(approved)
	sent := len(d.Gateway.Submitted())
	d.SetGateway(t, d.Shop, off)
	d.bill(t, 1)
	if len(d.Gateway.Submitted()) != sent {
		t.Error("a rebill was sent")
	}
	after := d.Subscription(t, sub.ID)
	if after.Status != payment.SubscriptionActive || after.FailedCount != 0 || after.Tries != 0 || after.NextBillingDate != sub.NextBillingDate {
		t.Errorf("the subscription is %s, %d failed, next %s", after.Status, after.FailedCount, after.NextBillingDate)
	}
	if !strings.Contains(d.Log(), "could not be sent") {
		t.Error("nobody is told")
	}
	if why := d.rebills(t, sub)[0].Decline; why == nil || why.Message != "The rebill could not be sent." {
		t.Errorf("the rebill was declined for %+v", why)
	}
	d.SetGateway(t, d.Shop, func(*merchant.GatewayAccount) {})
	d.bill(t, 0) // the account is left alone for a while
	d.Time.Pass(time.Hour)
	d.bill(t, 1)
	if after := d.Subscription(t, sub.ID); after.SuccessfulCount != 1 {
		t.Errorf("the next try billed %d", after.SuccessfulCount)
	}
}
