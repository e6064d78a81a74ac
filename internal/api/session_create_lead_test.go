package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/store/storetest"
)

const leadBusy = "The lead already has an active session."

func TestALeadIsKnownByItsEmailAddress(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		lead := apptest.Lead()
		_, first := s.Completed(t, apptest.Direct().With(body{"lead": lead}))
		shouted := lead.With(body{"email": strings.ToUpper(lead["email"].(string)), "first_name": "Adalie"})
		token := s.Create(t, apptest.Direct().With(body{"lead": shouted}))

		t.Run("in any case it is the same person", func(t *testing.T) {
			s.Pay(t, token, apptest.Approved).Want(t, http.StatusOK, fields{"lead.id": first.Text(t, "lead.id")})
		})
		t.Run("a new create updates the other fields", func(t *testing.T) {
			s.Retrieve(t, token).Want(t, http.StatusOK, fields{"lead.first_name": "Adalie", "lead.last_name": apptest.LastName})
		})
		t.Run("in another tenant it is another person", func(t *testing.T) {
			request := apptest.Request{Path: apptest.Sessions, Key: s.RivalKey, Body: body{"campaign_id": apptest.RivalCampaign, "lead": lead}}
			rival := s.Do(t, request).Want(t, http.StatusCreated, nil).Text(t, "session_token")
			result := s.Pay(t, rival, apptest.Approved).Want(t, http.StatusOK, nil)
			if result.Text(t, "lead.id") == first.Text(t, "lead.id") {
				t.Error("two tenants share a lead")
			}
			s.Retrieve(t, token).Want(t, http.StatusOK, fields{"lead.first_name": "Adalie"})
		})
		t.Run("a create that is refused changes nothing of the lead", func(t *testing.T) {
			s.Create(t, apptest.Direct().With(body{"lead": shouted}))
			s.TryCreate(t, apptest.Direct().With(body{"lead": shouted.With(body{"first_name": "Other"})})).WantDetail(t, http.StatusConflict, leadBusy)
			s.Retrieve(t, token).Want(t, http.StatusOK, fields{"lead.first_name": "Adalie"})
		})
	})
}

func TestWhatACreateLeavesOutOfALeadStays(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		known := body{"address": "Hauptstr. 1", "city": "Berlin", "postal_code": "10115", "phone": "030 1"}
		lead := apptest.Lead().With(known)
		kept := func(t *testing.T, given body, address, city, postalCode, phone string) {
			t.Helper()
			token := s.Create(t, apptest.Direct().With(body{"lead": lead.With(body{"address": nil, "city": nil, "postal_code": nil, "phone": nil}).With(given)}))
			s.Cancel(t, token)
			got := storetest.Scalar[string](t, s.Env, `SELECT address || '/' || city || '/' || postal_code || '/' || phone FROM leads`)
			if want := address + "/" + city + "/" + postalCode + "/" + phone; got != want {
				t.Errorf("%v leaves %s, want %s", given, got, want)
			}
		}
		kept(t, known, "Hauptstr. 1", "Berlin", "10115", "030 1")
		kept(t, nil, "Hauptstr. 1", "Berlin", "10115", "030 1")
		kept(t, body{"city": "Bonn"}, "Hauptstr. 1", "Bonn", "10115", "030 1")
		kept(t, body{"address": "", "phone": "  "}, "", "Bonn", "10115", "")

		t.Run("also where the lead's old session makes way", func(t *testing.T) {
			s.Create(t, apptest.Direct().With(body{"lead": lead}))
			s.Advance(t, 25*time.Hour)
			kept(t, nil, "Hauptstr. 1", "Berlin", "10115", "030 1")
		})
	})
}

func TestAnAddressIsOnePersonHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		for composed, other := range map[string]string{
			"jos\u00e9@example.org": "jose\u0301@example.org", "a@b\u00fccher.example": "a@xn--bcher-kva.example",
		} {
			s.Create(t, apptest.Direct().With(body{"lead": apptest.Lead().With(body{"email": composed})}))
			s.TryCreate(t, apptest.Direct().With(body{"lead": apptest.Lead().With(body{"email": other})})).WantDetail(t, http.StatusConflict, leadBusy)
		}
	})
}

func TestALeadHasOneActiveSession(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		again := func(t *testing.T, request body) apptest.Answer {
			t.Helper()
			return s.TryCreate(t, apptest.InCampaign(apptest.ServerCampaign).With(body{"lead": request["lead"]}))
		}
		t.Run("while one is PENDING, another is a 409", func(t *testing.T) {
			request := apptest.Direct()
			s.Create(t, request)
			again(t, request).WantDetail(t, http.StatusConflict, leadBusy)
		})
		t.Run("while one awaits verification, another is a 409", func(t *testing.T) {
			request := apptest.Direct()
			s.Awaiting(t, request, apptest.VerificationApproved)
			again(t, request).WantDetail(t, http.StatusConflict, leadBusy)
		})
		t.Run("after a decline with attempts left, another is a 409", func(t *testing.T) {
			request := apptest.Direct()
			s.Pay(t, s.Create(t, request), apptest.DeclinedInsufficientFunds)
			again(t, request).WantDetail(t, http.StatusConflict, leadBusy)
		})
		t.Run("after completion, failure and cancellation there may be another", func(t *testing.T) {
			completed, failed, cancelled := apptest.Direct(), apptest.Direct(), apptest.Direct()
			s.Completed(t, completed)
			s.Pay(t, s.Create(t, failed), apptest.DeclinedFinal).Want(t, http.StatusOK, fields{"status": "failed"})
			s.Cancel(t, s.Create(t, cancelled)).Want(t, http.StatusOK, nil)
			for _, request := range []body{completed, failed, cancelled} {
				again(t, request).Want(t, http.StatusCreated, nil)
			}
		})
		t.Run("of many creates at once exactly one is answered 201", func(t *testing.T) {
			for range 3 {
				request := apptest.Request{Path: apptest.Sessions, Key: s.Key, Body: apptest.Direct()}
				answers := s.AtOnce(t, request.Times(10)...)
				if len(answers[http.StatusCreated]) != 1 || len(answers[http.StatusConflict]) != 9 {
					t.Errorf("%d were created and %d refused", len(answers[http.StatusCreated]), len(answers[http.StatusConflict]))
				}
			}
		})
	})
}
