package api_test

import (
	"net/http"
	"testing"

	"sepad/internal/app/apptest"
)

func TestCancel(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		t.Run("a PENDING session becomes EXPIRED, and later calls get 410 (contract 4.5)", func(t *testing.T) {
			token := s.Create(t, apptest.Direct())
			s.Cancel(t, token).Want(t, http.StatusOK, fields{"session_token": token, "status": "EXPIRED"})
			s.WantStatus(t, token, "EXPIRED")
			for _, answer := range []apptest.Answer{s.Cancel(t, token), s.Pay(t, token, apptest.Approved), s.Verify(t, token)} {
				answer.WantDetail(t, http.StatusGone, gone)
			}
			s.WantLedger(t, token, 0, 0)
			s.WantEvents(t, token)
		})
		t.Run("after a decline it can be cancelled", func(t *testing.T) {
			token := s.Create(t, apptest.Direct())
			s.Pay(t, token, apptest.DeclinedInsufficientFunds)
			s.Cancel(t, token).Want(t, http.StatusOK, nil)
		})
		t.Run("a session that awaits verification is a 409 and stays so", func(t *testing.T) {
			token, _ := s.Awaiting(t, apptest.Direct(), apptest.VerificationApproved)
			s.Cancel(t, token).Want(t, http.StatusConflict, nil)
			s.Verify(t, token).Want(t, http.StatusOK, fields{"status": "completed"})
		})
		t.Run("another tenant's token is a 404, and its session goes on", func(t *testing.T) {
			token := s.Create(t, apptest.Direct())
			s.Do(t, apptest.Request{Method: http.MethodPost, Path: apptest.Path(token, "cancel"), Key: s.RivalKey}).
				WantDetail(t, http.StatusNotFound, "Session not found")
			s.WantStatus(t, token, "PENDING")
		})
		t.Run("a body is not read", func(t *testing.T) {
			token := s.Create(t, apptest.Direct())
			s.Do(t, apptest.Request{
				Path: apptest.Path(token, "cancel"), Key: s.Key, Body: "{ not JSON", Header: map[string]string{"Content-Type": "text/plain"},
			}).Want(t, http.StatusOK, nil)
		})
		t.Run("of many cancels at once one is answered 200", func(t *testing.T) {
			token := s.Create(t, apptest.Direct())
			answers := s.AtOnce(t, apptest.Request{Method: http.MethodPost, Path: apptest.Path(token, "cancel"), Key: s.Key}.Times(6)...)
			if len(answers[http.StatusOK]) != 1 || len(answers[http.StatusConflict])+len(answers[http.StatusGone]) != 5 {
				t.Errorf("the answers are %v", answers)
			}
		})
	})
}
