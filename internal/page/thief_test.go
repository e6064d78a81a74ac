package page_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"sepad/internal/app/apptest"
	"sepad/internal/config"
)

// TestAThiefOfTheDatabaseCannotPay goes through the whole life of sessions and then
// looks for their tokens in everything that is stored.
func TestAThiefOfTheDatabaseCannotPay(t *testing.T) {
	t.Parallel()
	allowed := apptest.Options{Change: func(s *config.Settings) { s.WebhookAllowPrivate = "true" }}
	eachShop(t, allowed, func(t *testing.T, s *shop) {
		told := make(chan string, 100)
		receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			_, _ = w.Write(body) // as careless receivers do; the beginning is kept
			if r.Header.Get("X-Service-Event") == "payment_session.completed" {
				told <- string(body)
			}
		}))
		t.Cleanup(receiver.Close)
		s.Apply(t, `tenants:
  - id: `+apptest.Shop+`
    name: Nordlicht
    webhook_profiles:
      - {id: `+apptest.Profile+`, name: Backend, url: "`+receiver.URL+`/hooks", signing_secret: whsec_MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0, default: true}
`)
		open := s.session(t, posterCampaign)

		body := apptest.InCampaign(posterCampaign)
		create := apptest.Request{Path: apptest.Sessions, Key: s.Key, Body: body, Header: map[string]string{"Idempotency-Key": "once"}}
		paid := s.Do(t, create).Want(t, http.StatusCreated, nil).Text(t, "session_token")
		if again := s.Do(t, create).Want(t, http.StatusCreated, nil).Text(t, "session_token"); again != paid {
			t.Errorf("the repeat gave %q", apptest.ShortToken(again))
		}
		s.Retrieve(t, paid).Want(t, http.StatusOK, apptest.Fields{"session_token": paid})
		s.Pay(t, paid, apptest.DeclinedInsufficientFunds)
		s.Pay(t, paid, apptest.Approved).Want(t, http.StatusOK, apptest.Fields{"session_token": paid})

		verified := s.session(t, posterCampaign)
		s.ask(t, http.MethodPost, path(verified)+"draft/", s.get(t, path(verified)).form(apptest.VerificationPage))
		s.submit(t, verified, apptest.VerificationPage).wantBack(t, verified)
		bank := between(t, s.get(t, path(verified)).body, `id="to-bank" href="`, `"`)
		if back := s.Decide(t, bank, "approve"); back.Header.Get("Location") != s.URL+path(verified) {
			t.Errorf("the bank leads to %q", back.Header.Get("Location"))
		}
		s.ask(t, http.MethodPost, path(verified), url.Values{"action": {"verify"}}).wantBack(t, verified)

		lost := s.session(t, posterCampaign) // its event is written by whoever asks the gateway later
		s.Pay(t, lost, apptest.TimeoutApproved)
		s.LookUp(t)

		for _, token := range []string{paid, verified, lost} {
			s.WantStatus(t, token, "COMPLETED")
		}
		var events string
		for range 3 {
			events += <-told
		}
		for _, token := range []string{paid, verified, lost} {
			if !strings.Contains(events, `"session_token":"`+token+`"`) {
				t.Error("a merchant was not told the token")
			}
		}
		apptest.Eventually(t, "deliveries are recorded", func() bool {
			return scalar[int](t, s, `SELECT (SELECT COUNT(*) FROM events_in_line) + (SELECT COUNT(*) FROM events WHERE delivery_status = 'pending')`) == 0
		})
		loot := s.Env.Stolen(t)
		for name, token := range map[string]string{"open": open, "paid": paid, "verified": verified, "lost": lost} {
			if strings.Contains(loot, token[:20]) || strings.Contains(loot, token[10:]) {
				at := max(strings.Index(loot, token[:20]), strings.Index(loot, token[10:]))
				t.Errorf("the token of the session %q lies open: …%q…", name, loot[max(0, at-200):at+10])
			}
		}
	})
}
