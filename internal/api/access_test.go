package api_test

import (
	"net/http"
	"strings"
	"testing"

	"sepad/internal/app/apptest"
)

func TestAuthentication(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		token := s.Create(t, apptest.Direct())
		needKey := map[string]apptest.Request{
			"create": {Path: apptest.Sessions, Body: apptest.Direct()},
			"cancel": {Method: http.MethodPost, Path: apptest.Path(token, "cancel")},
		}
		for name, request := range needKey {
			send := func(t *testing.T, header string) apptest.Answer {
				t.Helper()
				if header != "" {
					request.Header = map[string]string{"Authorization": header}
				}
				return s.Do(t, request)
			}
			t.Run(name+" without a credential", func(t *testing.T) {
				const detail = "Authentication credentials were not provided"
				for _, header := range []string{"", "Basic cms6cms=", "Bearer", "Bearer  ", "Token " + s.Key, s.Key} {
					answer := send(t, header).WantDetail(t, http.StatusUnauthorized, detail)
					if answer.Header.Get("WWW-Authenticate") != "Bearer" {
						t.Error("the answer names no scheme")
					}
				}
			})
			t.Run(name+" with anything but a valid API key", func(t *testing.T) {
				live := "rk_live_" + strings.TrimPrefix(s.Key, "rk_test_")
				for _, credential := range []string{"rk_test_nobody", s.Key + "x", s.Key[:len(s.Key)-1], strings.ToUpper(s.Key), live, token, "ps_x", apptest.AdminToken, "rk_", "x\tü"} {
					send(t, "Bearer "+credential).WantDetail(t, http.StatusUnauthorized, "Invalid or revoked API key")
				}
			})
		}
		t.Run("the session is untouched", func(t *testing.T) { s.WantStatus(t, token, "PENDING") })
		t.Run("the scheme may be written in any case", func(t *testing.T) {
			s.Do(t, apptest.Request{Path: apptest.Sessions, Body: apptest.Direct(), Header: map[string]string{"Authorization": "bearer " + s.Key}}).
				Want(t, http.StatusCreated, nil)
		})
		t.Run("a revoked key stops working at once", func(t *testing.T) {
			key := s.NewKey(t, apptest.Shop, "short-lived")
			request := apptest.Request{Path: apptest.Sessions, Key: key, Body: apptest.Direct()}
			s.Do(t, request).Want(t, http.StatusCreated, nil)
			s.RevokeKey(t, apptest.Shop, "short-lived")
			s.Do(t, request).WantDetail(t, http.StatusUnauthorized, "Invalid or revoked API key")
			validate(t, s, key, body{"iban": apptest.Approved}).Want(t, http.StatusUnauthorized, nil)
		})
		t.Run("a key reaches its own tenant only", func(t *testing.T) {
			s.Do(t, apptest.Request{Path: apptest.Sessions, Key: s.RivalKey, Body: apptest.InCampaign(apptest.ServerCampaign)}).
				WantBad(t, map[string]string{"campaign_id": ""})
		})
	})
}

func TestTheTokenInThePathIsTheCredential(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		other := s.Create(t, apptest.Direct())
		for name, header := range map[string]string{
			"no": "", "a wrong key in the": "Bearer rk_test_nobody", "another tenant's key in the": "Bearer " + s.RivalKey, "its own key in the": "Bearer " + s.Key,
			"another session's token in the": "Bearer " + other, "a Basic": "Basic cms6cms=", "a broken": "Bearer ps_",
		} {
			t.Run("retrieve, pay and verify work with "+name+" Authorization header", func(t *testing.T) {
				token := s.Create(t, apptest.Direct())
				headers := map[string]string{"Authorization": header}
				if header == "" {
					headers = nil
				}
				s.Do(t, apptest.Request{Path: apptest.Path(token), Header: headers}).Want(t, http.StatusOK, nil)
				pay := apptest.PayRequest(token, apptest.VerificationApproved)
				pay.Header = headers
				s.Do(t, pay).Want(t, http.StatusOK, fields{"status": "awaiting_verification"})
				s.Do(t, apptest.Request{Method: http.MethodPost, Path: apptest.Path(token, "verify"), Header: headers}).
					Want(t, http.StatusOK, fields{"status": "completed"})
			})
		}
	})
}
