package api_test

import (
	"net/http"
	"strings"
	"testing"

	"sepad/internal/app/apptest"
)

const (
	conflictPaying = "A payment for this session is being processed."
	gone           = "Session expired or completed"
	referenceInUse = "tenant_reference_id already in use for this tenant"
)

func TestAttempts(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		t.Run("declined while attempts are left, failed with the last one (contract 3.1)", func(t *testing.T) {
			token := s.Create(t, apptest.Direct())
			for range 2 {
				s.Pay(t, token, apptest.DeclinedInsufficientFunds).Want(t, http.StatusOK, fields{"status": "declined", "retry_allowed": true})
			}
			s.Pay(t, token, apptest.DeclinedInsufficientFunds).Want(t, http.StatusOK, fields{
				"status": "failed", "retry_allowed": false, "error_details.code": "insufficient_funds", "order.status": "FAILED",
			})
			s.WantStatus(t, token, "FAILED")
			s.WantEvents(t, token)
			s.WantLedger(t, token, 3, 0)
			for _, answer := range []apptest.Answer{s.Pay(t, token, apptest.Approved), s.Verify(t, token), s.Cancel(t, token)} {
				answer.WantDetail(t, http.StatusGone, gone)
			}
		})
		t.Run("each attempt is a transaction of its own, and all share one order and mandate", func(t *testing.T) {
			token := s.Create(t, apptest.Direct())
			first, second := s.Pay(t, token, apptest.DeclinedInsufficientFunds), s.Pay(t, token, apptest.Approved)
			second.Want(t, http.StatusOK, fields{
				"order.id": first.Text(t, "order.id"), "order_number": first.Text(t, "order_number"), "order.status": "COMPLETED",
				"sepa.mandate_reference": first.Text(t, "sepa.mandate_reference"),
			})
			for _, key := range []string{"transaction.id", "transaction.merchant_transaction_id", "transaction.gateway_reference"} {
				if first.Text(t, key) == second.Text(t, key) {
					t.Errorf("two attempts share the %s", key)
				}
			}
		})
		t.Run("a gateway that cannot be connected to costs no attempt", func(t *testing.T) {
			token := s.Create(t, apptest.InCampaign(apptest.OneTryCampaign))
			for range 2 {
				s.Pay(t, token, apptest.GatewayUnavailable).Want(t, http.StatusOK, fields{
					"status": "declined", "retry_allowed": true, "error_details.code": "gateway_unavailable", "transaction.gateway_reference": nil,
				})
			}
			s.Retrieve(t, token).Want(t, http.StatusOK, fields{"status": "PENDING", "attempts_remaining": 1})
			s.WantLedger(t, token, 0, 0)
			s.Pay(t, token, apptest.Approved).Want(t, http.StatusOK, fields{"status": "completed"})
			s.WantLedger(t, token, 1, 1)
		})
		t.Run("a completed session takes no more calls", func(t *testing.T) {
			token, _ := s.Completed(t, apptest.Direct())
			for _, answer := range []apptest.Answer{s.Pay(t, token, apptest.Approved), s.Verify(t, token), s.Cancel(t, token)} {
				answer.WantDetail(t, http.StatusGone, gone)
			}
			s.WantEvents(t, token, apptest.Completed...)
			s.WantLedger(t, token, 1, 1)
		})
		t.Run("a gateway that was switched off since is a 409", func(t *testing.T) {
			token := s.Create(t, apptest.Direct().With(body{"gateway_id": apptest.PlainGateway}))
			s.Apply(t, `tenants: [{id: `+apptest.Shop+`, name: Bergladen, gateways: [{id: `+apptest.PlainGateway+`, name: Plain account, adapter: sandbox, active: false}]}]`)
			s.Pay(t, token, apptest.Approved).Want(t, http.StatusConflict, nil)
			s.WantLedger(t, token, 0, 0)
		})
	})
}

func TestTenantReference(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ref := func(text any) body { return body{"tenant_reference_id": text} }
		t.Run("it is echoed in the result and in the events (contract 4.3)", func(t *testing.T) {
			token := s.Create(t, apptest.Direct())
			s.Pay(t, token, apptest.Approved, ref("order 7 & <ü>")).Want(t, http.StatusOK, fields{"transaction.tenant_reference_id": "order 7 & <ü>"})
			for _, event := range s.WantEvents(t, token, apptest.Completed...) {
				event.Payload.Want(t, 0, fields{"tenant_reference_id": "order 7 & <ü>"})
			}
		})
		t.Run("a used one is a 409 with the contract's words; the session stays PENDING and takes another", func(t *testing.T) {
			token := s.Create(t, apptest.InCampaign(apptest.OneTryCampaign))
			s.Pay(t, token, apptest.Approved, ref(" order 7 & <ü> ")).WantDetail(t, http.StatusConflict, referenceInUse)
			s.Retrieve(t, token).Want(t, http.StatusOK, fields{"status": "PENDING", "attempts_remaining": 1})
			s.WantLedger(t, token, 0, 0)
			s.Pay(t, token, apptest.Approved, ref("order 8")).Want(t, http.StatusOK, fields{"status": "completed", "transaction.tenant_reference_id": "order 8"})
		})
		t.Run("a declined attempt keeps it", func(t *testing.T) {
			token := s.Create(t, apptest.Direct())
			s.Pay(t, token, apptest.DeclinedInsufficientFunds, ref("kept")).Want(t, http.StatusOK, fields{"transaction.tenant_reference_id": "kept"})
			s.Pay(t, token, apptest.Approved, ref("kept")).WantDetail(t, http.StatusConflict, referenceInUse)
			s.Pay(t, token, apptest.GatewayUnavailable, ref("kept too")).Want(t, http.StatusOK, nil)
			s.Pay(t, token, apptest.Approved, ref("kept too")).WantDetail(t, http.StatusConflict, referenceInUse)
		})
		t.Run("it is echoed by verify", func(t *testing.T) {
			token := s.Create(t, apptest.Direct())
			s.Pay(t, token, apptest.VerificationApproved, ref("verified"))
			s.Verify(t, token).Want(t, http.StatusOK, fields{"transaction.tenant_reference_id": "verified"})
		})
		t.Run("blank or longer than 255 characters is a 400", func(t *testing.T) {
			token := s.Create(t, apptest.Direct())
			for _, text := range []string{"", "   ", strings.Repeat("x", 256)} {
				s.Pay(t, token, apptest.Approved, ref(text)).WantBad(t, map[string]string{"tenant_reference_id": ""})
			}
			s.Pay(t, token, apptest.Approved, ref(strings.Repeat("ü", 255))).Want(t, http.StatusOK, nil)
		})
		t.Run("absent or null, there is none, however often", func(t *testing.T) {
			for range 2 {
				s.Pay(t, s.Create(t, apptest.Direct()), apptest.Approved, ref(nil)).Want(t, http.StatusOK, fields{"transaction.tenant_reference_id": nil})
			}
		})
		t.Run("case makes another reference, and so does another tenant", func(t *testing.T) {
			s.Pay(t, s.Create(t, apptest.Direct()), apptest.Approved, ref("Kept")).Want(t, http.StatusOK, nil)
			rival := s.Do(t, apptest.Request{Path: apptest.Sessions, Key: s.RivalKey, Body: apptest.InCampaign(apptest.RivalCampaign)})
			s.Pay(t, rival.Text(t, "session_token"), apptest.Approved, ref("kept")).Want(t, http.StatusOK, nil)
		})
		t.Run("of two sessions that want it at once, one gets it", func(t *testing.T) {
			first, second := s.Create(t, apptest.Direct()), s.Create(t, apptest.Direct())
			answers := s.AtOnce(t, apptest.PayRequest(first, apptest.Approved, ref("one")), apptest.PayRequest(second, apptest.Approved, ref("one")))
			if len(answers[http.StatusOK]) != 1 || len(answers[http.StatusConflict]) != 1 {
				t.Fatalf("the answers are %v", answers)
			}
			answers[http.StatusConflict][0].WantDetail(t, http.StatusConflict, referenceInUse)
		})
	})
}

func TestPayCallsAtOnce(t *testing.T) {
	t.Parallel()
	eachScripted(t, func(t *testing.T, s *apptest.Server, g *scripted) {
		t.Run("exactly one reaches the gateway, the others get 409", func(t *testing.T) {
			token := s.Create(t, onScript())
			under, finish := g.hold()
			first := s.Later(t, apptest.PayRequest(token, apptest.Approved))
			<-under
			answers := s.AtOnce(t, apptest.PayRequest(token, apptest.Approved).Times(11)...)
			if len(answers[http.StatusConflict]) != 11 {
				t.Errorf("the answers are %v", answers)
			}
			finish()
			(<-first).Want(t, http.StatusOK, fields{"status": "completed"})
			if received := len(g.received()); received != 1 {
				t.Errorf("the gateway received %d payments", received)
			}
			s.WantEvents(t, token, apptest.Completed...)
		})
		t.Run("while one is under way the session reads PENDING and can be neither paid, verified nor cancelled", func(t *testing.T) {
			token := s.Create(t, onScript())
			under, finish := g.hold()
			first := s.Later(t, apptest.PayRequest(token, apptest.Approved))
			<-under
			s.WantStatus(t, token, "PENDING")
			s.Pay(t, token, apptest.Approved).WantDetail(t, http.StatusConflict, conflictPaying)
			s.Cancel(t, token).Want(t, http.StatusConflict, nil)
			s.Verify(t, token).Want(t, http.StatusConflict, nil)
			finish()
			(<-first).Want(t, http.StatusOK, fields{"status": "completed"})
		})
		t.Run("a gateway that is quick collects once too", func(t *testing.T) {
			token := s.Create(t, apptest.Direct())
			answers := s.AtOnce(t, apptest.PayRequest(token, apptest.Approved).Times(12)...)
			if len(answers[http.StatusOK]) != 1 || len(answers[http.StatusConflict])+len(answers[http.StatusGone]) != 11 {
				t.Errorf("the answers are %v", answers)
			}
			s.WantLedger(t, token, 1, 1)
			s.WantEvents(t, token, apptest.Completed...)
		})
		t.Run("pay and cancel at once: the session is either paid or cancelled", func(t *testing.T) {
			for range 4 {
				token := s.Create(t, apptest.Direct())
				cancel := apptest.Request{Method: http.MethodPost, Path: apptest.Path(token, "cancel"), Key: s.Key}
				answers := s.AtOnce(t, apptest.PayRequest(token, apptest.Approved), cancel)
				if len(answers[http.StatusOK]) != 1 {
					t.Errorf("the answers are %v", answers)
				}
				status := s.Retrieve(t, token).Text(t, "status")
				if paid := len(s.Ledger(t, token)); paid == 1 != (status == "COMPLETED") {
					t.Errorf("a session that is %s was paid %d times", status, paid)
				}
			}
		})
	})
}
