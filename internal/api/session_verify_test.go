package api_test

import (
	"net/http"
	"path"
	"strings"
	"testing"

	"sepad/internal/app/apptest"
)

func TestVerify(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		t.Run("success completes the session (contract 4.4)", func(t *testing.T) {
			token, paid := s.Awaiting(t, apptest.InCampaign(apptest.ServerCampaign), apptest.VerificationApproved)
			s.WantEvents(t, token)
			s.Verify(t, token).Want(t, http.StatusOK, with(envelope(token, apptest.VerificationApproved), approved)).Want(t, http.StatusOK, fields{
				"transaction.id": paid.Text(t, "transaction.id"), "order.id": paid.Text(t, "order.id"), "created_at": paid.Text(t, "created_at"),
			})
			s.WantStatus(t, token, "COMPLETED")
			s.WantEvents(t, token, apptest.Completed...)
			s.WantLedger(t, token, 1, 1)
			s.Verify(t, token).WantDetail(t, http.StatusGone, gone)
		})
		t.Run("rejection with attempts left is failed, may be retried, and the session is PENDING", func(t *testing.T) {
			token, _ := s.Awaiting(t, apptest.InCampaign(apptest.ServerCampaign), apptest.VerificationRejected)
			s.Verify(t, token).Want(t, http.StatusOK, with(declined("mandate_rejected", "MD01"), fields{"status": "failed", "retry_allowed": true}))
			s.WantStatus(t, token, "PENDING")
			s.WantEvents(t, token)
			s.Verify(t, token).Want(t, http.StatusConflict, nil)
			s.Pay(t, token, apptest.Approved).Want(t, http.StatusOK, fields{"status": "completed", "order.status": "COMPLETED"})
			s.WantLedger(t, token, 2, 1)
		})
		t.Run("rejection of the last attempt fails the session", func(t *testing.T) {
			token, _ := s.Awaiting(t, apptest.InCampaign(apptest.OneTryCampaign), apptest.VerificationRejected)
			s.Verify(t, token).Want(t, http.StatusOK, fields{"status": "failed", "retry_allowed": false, "order.status": "FAILED"})
			s.WantStatus(t, token, "FAILED")
			s.Verify(t, token).WantDetail(t, http.StatusGone, gone)
		})
		t.Run("a session that does not await verification is a 409", func(t *testing.T) {
			token := s.Create(t, apptest.Direct())
			s.Verify(t, token).WantDetail(t, http.StatusConflict, "The session does not await verification.")
			s.Pay(t, token, apptest.DeclinedInsufficientFunds)
			s.Verify(t, token).WantDetail(t, http.StatusConflict, "The session does not await verification.")
		})
		t.Run("a session that awaits verification cannot be paid", func(t *testing.T) {
			token, _ := s.Awaiting(t, apptest.Direct(), apptest.VerificationApproved)
			s.Pay(t, token, apptest.Approved).WantDetail(t, http.StatusConflict, "The session awaits verification of the mandate.")
			s.WantLedger(t, token, 1, 0)
		})
		t.Run("of many calls at once one is answered 200, and one event tells of it", func(t *testing.T) {
			token, _ := s.Awaiting(t, apptest.Direct(), apptest.VerificationApproved)
			answers := s.AtOnce(t, apptest.Request{Method: http.MethodPost, Path: apptest.Path(token, "verify")}.Times(8)...)
			if len(answers[http.StatusOK]) != 1 || len(answers[http.StatusConflict])+len(answers[http.StatusGone]) != 7 {
				t.Errorf("the answers are %v", answers)
			}
			s.WantEvents(t, token, apptest.Completed...)
		})
	})
}

func TestVerifyTakesABodyOrNone(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		verify := func(token string, content any) apptest.Request {
			return apptest.Request{Method: http.MethodPost, Path: apptest.Path(token, "verify"), Body: content}
		}
		for name, content := range map[string]any{
			"no body": nil, "an empty one": "", "an empty object": "{}", "a null": `{"verification_id":null}`, "something unknown": `{"id":5}`,
		} {
			t.Run(name+" uses the stored reference", func(t *testing.T) {
				token, _ := s.Awaiting(t, apptest.Direct(), apptest.VerificationApproved)
				s.Do(t, verify(token, content)).Want(t, http.StatusOK, fields{"status": "completed"})
			})
		}
		token, paid := s.Awaiting(t, apptest.Direct(), apptest.VerificationApproved)
		reference := path.Base(paid.Text(t, "verification_url"))
		for name, content := range map[string]string{"a number": `{"verification_id":5}`, "an object": `{"verification_id":{}}`, "too long": `{"verification_id":"` + strings.Repeat("x", 256) + `"}`} {
			t.Run("verification_id that is "+name+" is a 400", func(t *testing.T) {
				s.Do(t, verify(token, content)).WantBad(t, map[string]string{"verification_id": ""})
			})
		}
		t.Run("verification_id of something else is a 400, and the session goes on waiting", func(t *testing.T) {
			s.Do(t, verify(token, body{"verification_id": "VRF-OTHER"})).WantBad(t, map[string]string{"verification_id": ""})
			s.WantStatus(t, token, "AWAITING_VERIFICATION")
		})
		t.Run("the right verification_id is taken", func(t *testing.T) {
			s.Do(t, verify(token, body{"verification_id": reference})).Want(t, http.StatusOK, fields{"status": "completed"})
		})
	})
}

func TestVerifyAfterTheBanksPage(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		t.Run("before the payer's decision verify is a 409, and nothing changes", func(t *testing.T) {
			token, paid := s.Awaiting(t, apptest.Direct(), apptest.VerificationPage)
			page := paid.Text(t, "verification_url")
			if !strings.HasPrefix(page, s.URL+"/sandbox/bank/") {
				t.Fatalf("the payer is sent to %s", page)
			}
			s.Do(t, apptest.Request{Path: strings.TrimPrefix(page, s.URL)}).Want(t, http.StatusOK, nil)
			for range 2 {
				s.Verify(t, token).WantDetail(t, http.StatusConflict, "The mandate has not been confirmed yet.")
			}
			s.WantStatus(t, token, "AWAITING_VERIFICATION")
			s.WantEvents(t, token)
		})
		t.Run("after approval it completes", func(t *testing.T) {
			token, paid := s.Awaiting(t, apptest.Direct(), apptest.VerificationPage)
			s.Decide(t, paid.Text(t, "verification_url"), "approve").Want(t, http.StatusSeeOther, nil)
			s.WantStatus(t, token, "AWAITING_VERIFICATION")
			s.Verify(t, token).Want(t, http.StatusOK, fields{"status": "completed"})
			s.WantEvents(t, token, apptest.Completed...)
		})
		t.Run("after rejection it fails and may be paid again", func(t *testing.T) {
			token, paid := s.Awaiting(t, apptest.Direct(), apptest.VerificationPage)
			page := paid.Text(t, "verification_url")
			s.Decide(t, page, "reject").Want(t, http.StatusSeeOther, nil)
			s.Decide(t, page, "approve").Want(t, http.StatusConflict, nil)
			s.Verify(t, token).Want(t, http.StatusOK, fields{"status": "failed", "retry_allowed": true, "error_details.code": "mandate_rejected"})
			s.Pay(t, token, apptest.Approved).Want(t, http.StatusOK, fields{"status": "completed"})
		})
	})
}
