package page_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"sepad/internal/app/apptest"
	"sepad/internal/store"
)

func TestASessionHasOptionsOfItsOwn(t *testing.T) {
	t.Parallel()
	eachShop(t, apptest.Options{}, func(t *testing.T, s *shop) {
		options := apptest.Body{
			"product_name": "A single print", "product_description": "Signed by hand", "language": "de",
			"success_redirect_url": "https://print.example/thanks?x=1", "failure_redirect_url": "https://print.example/sorry", "tenant_reference_id": "print 7",
		}
		token := s.Create(t, apptest.InCampaign(posterCampaign).With(options))
		t.Run("what is bought, in the language that the merchant asks for", func(t *testing.T) {
			s.get(t, path(token)).want(t, http.StatusOK, "A single print", "Signed by hand", "Zurück zu Bergladen")
			s.get(t, path(token), "Accept-Language", "fr").want(t, http.StatusOK, "Zurück zu Bergladen")
		})
		t.Run("a payer's own choice counts more", func(t *testing.T) {
			s.get(t, path(token)+"?lang=en").want(t, http.StatusOK, "Back to Bergladen")
			s.get(t, path(token), "Cookie", "sepad_language=en").want(t, http.StatusOK, "Back to Bergladen")
		})
		t.Run("the way on is the session's, and the payment has its reference", func(t *testing.T) {
			s.submit(t, token, apptest.Approved).wantBack(t, token)
			if page := s.get(t, path(token)).want(t, http.StatusOK, "A single print"); !strings.Contains(page.body, "https://print.example/thanks?x=1&amp;session_token="+token) {
				t.Errorf("no way on in %s", page.text)
			}
			s.WantEvents(t, token, apptest.Completed...)[1].Payload.Want(t, 0, apptest.Fields{"tenant_reference_id": "print 7"})
		})
		t.Run("so is the way back from a failure, and a second session may have the same reference", func(t *testing.T) {
			failed := s.Create(t, apptest.InCampaign(posterCampaign).With(options))
			s.submit(t, failed, apptest.DeclinedFinal).wantBack(t, failed)
			if page := s.get(t, path(failed)); !strings.Contains(page.body, "https://print.example/sorry?session_token="+failed) {
				t.Errorf("no way back in %s", page.text)
			}
		})
	})
}

func TestTheBankSendsThePayerToTheMerchant(t *testing.T) {
	t.Parallel()
	eachShop(t, apptest.Options{}, func(t *testing.T, s *shop) {
		ask := func() apptest.Body {
			return apptest.Direct().With(apptest.Body{"return_url": "https://shop.example/back?basket=4"})
		}
		t.Run("after a payment by the merchant's server, with token and verification", func(t *testing.T) {
			token, paid := s.Awaiting(t, ask(), apptest.VerificationPage)
			bank := s.Decide(t, paid.Text(t, "verification_url"), "approve").Want(t, http.StatusSeeOther, nil)
			back := s.get(t, strings.TrimPrefix(bank.Header.Get("Location"), s.URL))
			target, err := url.Parse(back.Header.Get("Location"))
			if err != nil || back.StatusCode != http.StatusSeeOther {
				t.Fatalf("%d to %q: %v", back.StatusCode, target, err)
			}
			query := target.Query()
			if target.Host != "shop.example" || query.Get("basket") != "4" || query.Get("session_token") != token || query.Get("verification_id") == "" {
				t.Errorf("it leads to %s", target)
			}
			s.Do(t, apptest.Request{Path: apptest.Path(token, "verify"), Body: apptest.Body{"verification_id": query.Get("verification_id")}}).
				Want(t, http.StatusOK, apptest.Fields{"status": "completed"})
		})
		t.Run("from the hosted page it leads back to the page", func(t *testing.T) {
			token := s.Create(t, ask())
			s.submit(t, token, apptest.VerificationPage).wantBack(t, token)
			address := scalar[string](t, s, `SELECT verification_url FROM transactions t JOIN sessions s ON s.id = t.session_id WHERE s.token = $1`, store.TokenKey(token))
			if to := s.Decide(t, address, "approve").Header.Get("Location"); to != s.URL+path(token) {
				t.Errorf("it leads to %s", to)
			}
		})
		t.Run("without an address of the merchant's the page is shown", func(t *testing.T) {
			token := s.session(t, posterCampaign)
			if to := s.get(t, path(token)+"return/").Header.Get("Location"); to != s.URL+path(token) {
				t.Errorf("it leads to %s", to)
			}
			s.get(t, path(token[:len(token)-3]+"xyz")+"return/").want(t, http.StatusNotFound)
		})
	})
}
