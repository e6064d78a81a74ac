package api_test

import (
	"net/http"
	"testing"

	"sepad/internal/app/apptest"
	"sepad/internal/merchant"
)

func result(s *apptest.Server, t *testing.T, key, name string) apptest.Answer {
	t.Helper()
	return s.Do(t, apptest.Request{Path: apptest.Path(name, "result"), Key: key})
}

func TestWhatHasBecomeOfASession(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		t.Run("before the first attempt there is no transaction and no attempt", func(t *testing.T) {
			result(s, t, s.Key, s.Create(t, apptest.Direct())).Want(t, http.StatusOK, fields{
				"status": nil, "session_status": "PENDING", "transaction": nil, "order": nil, "order_number": nil, "attempts": []any{},
				"payment_in_flight": false, "amount": "49.00", "currency": "EUR", "lead.id": apptest.Any, "sepa.mandate_reference": apptest.Any,
			})
		})
		t.Run("a refusal and a success are two attempts, and the envelope is that of pay", func(t *testing.T) {
			token := s.Create(t, apptest.Direct())
			refused := s.Pay(t, token, apptest.DeclinedInsufficientFunds, body{"tenant_reference_id": "first try"})
			result(s, t, s.Key, token).Want(t, http.StatusOK, fields{
				"status": "declined", "retry_allowed": true, "error_details.code": "insufficient_funds", "session_status": "PENDING",
				"transaction.id": refused.Text(t, "transaction.id"), "transaction.tenant_reference_id": "first try",
			})
			paid := s.Pay(t, token, apptest.Approved)
			found := result(s, t, s.Key, token).Want(t, http.StatusOK, fields{
				"session_status": "COMPLETED", "payment_in_flight": false,
				"attempts.0.id": refused.Text(t, "transaction.id"), "attempts.0.status": "declined", "attempts.0.attempt_number": 1,
				"attempts.0.error_details.code": "insufficient_funds", "attempts.0.tenant_reference_id": "first try",
				"attempts.1.id": paid.Text(t, "transaction.id"), "attempts.1.status": "approved", "attempts.1.error_details": nil,
			})
			for name, want := range paid.Object(t) {
				found.Want(t, http.StatusOK, fields{name: want})
			}
			if attempts := found.Get(t, "attempts").([]any); len(attempts) != 2 {
				t.Errorf("there are %d attempts", len(attempts))
			}
			id := found.Text(t, "session_id")
			result(s, t, s.Key, id).Want(t, http.StatusOK, fields{"session_id": id, "session_token": token})
		})
		t.Run("after a 500 it says that the gateway is being asked, and then what it said", func(t *testing.T) {
			token := s.Create(t, apptest.InCampaign(apptest.MonthlyCampaign))
			s.Pay(t, token, apptest.TimeoutApproved).Want(t, http.StatusInternalServerError, nil)
			result(s, t, s.Key, token).Want(t, http.StatusOK, fields{
				"status": nil, "payment_in_flight": true, "session_status": "PENDING", "transaction.status": "pending",
				"attempts.0.in_flight": true, "subscription": nil, "order_number": apptest.Any,
			})
			s.LookUp(t)
			result(s, t, s.Key, token).Want(t, http.StatusOK, fields{
				"status": "completed", "payment_in_flight": false, "transaction.status": "approved", "subscription.id": apptest.Any, "attempts.0.in_flight": false,
			})
		})
		t.Run("one that awaits verification shows where the payer goes", func(t *testing.T) {
			token, paid := s.Awaiting(t, apptest.Direct(), apptest.VerificationApproved)
			result(s, t, s.Key, token).Want(t, http.StatusOK, fields{
				"status": "awaiting_verification", "session_status": "AWAITING_VERIFICATION", "verification_url": paid.Text(t, "verification_url"),
			})
		})
		t.Run("it is its merchant's, by a key that may", func(t *testing.T) {
			token := s.Create(t, apptest.Direct())
			id := result(s, t, s.Key, token).Text(t, "session_id")
			result(s, t, s.RivalKey, token).WantDetail(t, http.StatusNotFound, "Session not found")
			result(s, t, s.RivalKey, id).WantDetail(t, http.StatusNotFound, "Session not found")
			result(s, t, keyWith(t, s, merchant.ScopeReports), token).Want(t, http.StatusForbidden, fields{"detail": apptest.Any})
			result(s, t, "", token).Want(t, http.StatusUnauthorized, nil)
		})
	})
}
