package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"sepad/internal/app/apptest"
	"sepad/internal/config"
)

func TestCreateTakesOptions(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		t.Run("a session's reference is that of attempts that bring none, however many", func(t *testing.T) {
			ask := apptest.Direct().With(body{"tenant_reference_id": "basket 1"})
			token := s.Create(t, ask)
			s.Pay(t, token, apptest.DeclinedInsufficientFunds).Want(t, http.StatusOK, fields{"transaction.tenant_reference_id": "basket 1"})
			s.Pay(t, token, apptest.DeclinedInsufficientFunds, body{"tenant_reference_id": "try 2"}).Want(t, http.StatusOK, fields{"transaction.tenant_reference_id": "try 2"})
			s.Pay(t, token, apptest.Approved).Want(t, http.StatusOK, fields{"status": "completed", "transaction.tenant_reference_id": "basket 1"})
			again := s.Create(t, ask)
			s.Pay(t, again, apptest.Approved).Want(t, http.StatusOK, fields{"transaction.tenant_reference_id": "basket 1"})
			if got := findSessions(t, s, s.Key, url.Values{"tenant_reference_id": {"basket 1"}}); !slices.Equal(got, []string{again, token}) {
				t.Errorf("found %v", got)
			}
			if got := findSessions(t, s, s.Key, url.Values{"tenant_reference_id": {"try 2"}}); !slices.Equal(got, []string{token}) {
				t.Errorf("found %v", got)
			}
			listed := s.Do(t, apptest.Request{Path: "/admin/v1/transactions/?tenant_reference_id=basket+1", Key: apptest.AdminToken})
			if all := listed.Get(t, "results").([]any); len(all) != 3 {
				t.Errorf("an operator finds %d transactions", len(all))
			}
		})
		t.Run("a reference of a pay call stays that call's alone", func(t *testing.T) {
			s.Pay(t, s.Create(t, apptest.Direct()), apptest.Approved, body{"tenant_reference_id": "only one"}).Want(t, http.StatusOK, nil)
			s.Pay(t, s.Create(t, apptest.Direct()), apptest.Approved, body{"tenant_reference_id": "only one"}).
				WantDetail(t, http.StatusConflict, "tenant_reference_id already in use for this tenant")
		})
		t.Run("product, redirects and metadata are shown again", func(t *testing.T) {
			token := s.Create(t, apptest.InCampaign(apptest.HostedCampaign).With(body{
				"product_name": "Print", "product_description": "Signed\nby hand", "success_redirect_url": "https://shop.example/ok",
				"failure_redirect_url": "https://shop.example/no", "metadata": body{"b": "2 & 3", "a": ""}, "language": "de",
			}))
			s.Retrieve(t, token).Want(t, http.StatusOK, fields{
				"offer.product_name": "Print", "offer.product_description": "Signed by hand",
				"campaign.success_redirect_url": "https://shop.example/ok", "campaign.failure_redirect_url": "https://shop.example/no",
			})
			result(s, t, s.Key, token).Want(t, http.StatusOK, fields{"metadata": body{"a": "", "b": "2 & 3"}, "tenant_reference_id": nil})
			s.Do(t, apptest.Request{Path: apptest.Sessions + "?page_size=1", Key: s.Key}).Want(t, http.StatusOK, fields{"results.0.metadata": body{"a": "", "b": "2 & 3"}})
		})
		t.Run("what cannot be taken is named", func(t *testing.T) {
			many := body{}
			for i := range 21 {
				many[fmt.Sprint(i)] = "x"
			}
			s.TryCreate(t, apptest.Direct().With(body{
				"tenant_reference_id": " ", "return_url": "shop.example/back", "success_redirect_url": "https://user@shop.example/",
				"failure_redirect_url": "javascript:alert(1)", "product_name": strings.Repeat("a", 256), "language": "tlh", "metadata": many,
			})).WantBad(t, map[string]string{
				"tenant_reference_id": "", "return_url": "", "success_redirect_url": "", "failure_redirect_url": "", "product_name": "", "language": "", "metadata": "",
			})
			for _, bad := range []any{"text", []string{"a"}, body{"a": 1}, body{"": "x"}, body{strings.Repeat("n", 41): "x"}, body{"a": strings.Repeat("x", 501)}, body{"a": "\u0007"}} {
				s.TryCreate(t, apptest.Direct().With(body{"metadata": bad})).WantBad(t, map[string]string{"metadata": ""})
			}
		})
	})
	t.Run("in production a payer is sent to https alone", func(t *testing.T) {
		s := apptest.SQLite(t, apptest.Options{Change: func(settings *config.Settings) {
			settings.Environment, settings.PublicURL, settings.AllowTestGateways = "production", "https://pay.shop.example", "true"
		}})
		s.TryCreate(t, apptest.Direct().With(body{"return_url": "http://shop.example/back"})).
			WantBad(t, map[string]string{"return_url": "In production an address begins with https://."})
		s.Create(t, apptest.Direct().With(body{"return_url": "https://shop.example/back"}))
		s.TryCreate(t, apptest.Direct().With(body{"return_url": "https://shop.example/" + strings.Repeat("€", 2000)})).
			WantBad(t, map[string]string{"return_url": "As browsers are sent there, an address has at most 2048 bytes."})
	})
}
