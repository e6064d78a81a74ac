package api_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/gateway"
	"sepad/internal/payment"
	"sepad/internal/store/storetest"
)

func TestTwoProcessesAreOneService(t *testing.T) {
	t.Parallel()
	g := &scripted{}
	one := apptest.Open(t, storetest.Postgres(t), g.options(gateway.Kind{}))
	two := one.Beside(t, g.options(gateway.Kind{}))
	addScripted(t, one, "")
	t.Run("what one makes the other retrieves, pays and verifies", func(t *testing.T) {
		token := one.Create(t, apptest.Direct())
		two.WantStatus(t, token, "PENDING")
		two.Pay(t, token, apptest.VerificationApproved).Want(t, http.StatusOK, fields{"status": "awaiting_verification"})
		one.Verify(t, token).Want(t, http.StatusOK, fields{"status": "completed"})
		two.Cancel(t, token).WantDetail(t, http.StatusGone, gone)
	})
	t.Run("of pay calls at once on both, exactly one reaches the gateway", func(t *testing.T) {
		token := one.Create(t, onScript())
		under, finish := g.hold()
		first := one.Later(t, apptest.PayRequest(token, apptest.Approved))
		<-under
		here, there := apptest.PayRequest(token, apptest.Approved), apptest.PayRequest(token, apptest.Approved)
		there.Server = two
		if answers := one.AtOnce(t, append(here.Times(5), there.Times(6)...)...); len(answers[http.StatusConflict]) != 11 {
			t.Errorf("the answers are %v", answers)
		}
		finish()
		(<-first).Want(t, http.StatusOK, fields{"status": "completed"})
		if received := len(g.received()); received != 1 {
			t.Errorf("the gateway received %d payments", received)
		}
		two.WantEvents(t, token, apptest.Completed...)
	})
	t.Run("of creates at once on both for one lead, exactly one is answered 201", func(t *testing.T) {
		here := apptest.Request{Path: apptest.Sessions, Key: one.Key, Body: apptest.Direct()}
		there := here
		there.Server = two
		answers := one.AtOnce(t, append(here.Times(5), there.Times(5)...)...)
		if len(answers[http.StatusCreated]) != 1 || len(answers[http.StatusConflict]) != 9 {
			t.Errorf("%d were created", len(answers[http.StatusCreated]))
		}
	})
	t.Run("an idempotency key holds on both", func(t *testing.T) {
		request := apptest.Direct()
		token := one.Do(t, named(one, "both", request)).Text(t, "session_token")
		two.Do(t, named(two, "both", request)).Want(t, http.StatusCreated, fields{"session_token": token})
	})
	t.Run("a key that is revoked stops working on both at once", func(t *testing.T) {
		key := one.NewKey(t, apptest.Shop, "revoked")
		request := apptest.Request{Path: apptest.Sessions, Key: key, Body: apptest.Direct()}
		two.Do(t, request).Want(t, http.StatusCreated, nil)
		validate(t, two, key, body{"iban": apptest.Approved}).Want(t, http.StatusOK, nil)
		one.RevokeKey(t, apptest.Shop, "revoked")
		validate(t, two, key, body{"iban": apptest.Approved}).Want(t, http.StatusUnauthorized, nil) // although it has found the key a moment ago
		two.Do(t, request).Want(t, http.StatusUnauthorized, nil)
	})
	t.Run("a change of the set-up holds on both at once", func(t *testing.T) {
		two.Create(t, apptest.Direct().With(body{"gateway_id": apptest.PlainGateway}))
		one.Apply(t, `tenants: [{id: `+apptest.Shop+`, name: Bergladen, gateways: [{id: `+apptest.PlainGateway+`, name: Plain account, adapter: sandbox, active: false}]}]`)
		two.TryCreate(t, apptest.Direct().With(body{"gateway_id": apptest.PlainGateway})).WantBad(t, map[string]string{"gateway_id": ""})
	})
	t.Run("the clock is the same", func(t *testing.T) {
		token := two.Create(t, apptest.InCampaign(apptest.ShortCampaign))
		moved := one.Advance(t, 2*time.Hour)
		if now := two.Now(t); now.Before(moved) {
			t.Errorf("one shows %v and the other %v", moved, now)
		}
		two.WantStatus(t, token, "EXPIRED")
	})
}

func TestAStopLetsAPaymentFinish(t *testing.T) {
	t.Parallel()
	eachScripted(t, func(t *testing.T, s *apptest.Server, g *scripted) {
		token := s.Create(t, onScript())
		under, finish := g.hold()
		paid := s.Later(t, apptest.PayRequest(token, apptest.Approved))
		<-under
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			s.Stop(t)
		}()
		apptest.Eventually(t, "nothing new is taken", func() bool {
			_, err := s.TryDo(t, apptest.Request{Path: "/healthz"})
			return err != nil
		})
		finish()
		(<-paid).Want(t, http.StatusOK, fields{"status": "completed"})
		<-stopped
		s.WantEvents(t, token, apptest.Completed...)
		again := apptest.Start(t, s.Env, g.options(gateway.Kind{}))
		again.WantStatus(t, token, "COMPLETED")
	})
}

func TestAGatewayThatAProcessDoesNotKnow(t *testing.T) {
	t.Parallel()
	g := &scripted{submit: func(context.Context, gateway.Charge) (payment.Outcome, error) {
		return payment.Outcome{Verdict: payment.VerdictPending}, nil
	}}
	knowing := apptest.Open(t, storetest.Postgres(t), g.options(gateway.Kind{}))
	addScripted(t, knowing, "")
	stuck := knowing.Create(t, onScript())
	knowing.Pay(t, stuck, apptest.Approved).Want(t, http.StatusOK, fields{"transaction.status": "pending"})
	settled := knowing.Create(t, apptest.Direct())
	knowing.Pay(t, settled, apptest.PendingApproved).Want(t, http.StatusOK, fields{"transaction.status": "pending"})
	knowing.Stop(t)
	t.Run("holds up nothing of the others", func(t *testing.T) {
		other := knowing.Beside(t, apptest.Options{})
		other.Advance(t, 25*time.Hour)
		other.WantEvents(t, settled, append(apptest.Completed, "transaction.status_changed")...)
		other.WantEvents(t, stuck, apptest.Completed...)
	})
}
