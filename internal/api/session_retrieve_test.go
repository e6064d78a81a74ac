package api_test

import (
	"net/http"
	"strings"
	"testing"

	"sepad/internal/app/apptest"
)

func TestRetrieveShowsWhatAFormNeeds(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		t.Run("in hosted page mode the campaign has its page (contract 2.5)", func(t *testing.T) {
			request := apptest.InCampaign(apptest.HostedCampaign)
			token := s.Create(t, request)
			s.Retrieve(t, token).Want(t, http.StatusOK, fields{
				"session_token": token, "status": "PENDING", "amount": "19.90", "currency": "EUR", "attempts_remaining": 4,
				"campaign": body{
					"name":              "Spring",
					"branding":          body{"logo_url": "https://shop.example/logo.svg", "primary_color": "#112233", "accent_color": "#445566"},
					"content":           body{"headline": "Your order", "steps": []any{"one", 2}, "deep": body{"note": "Ärmel & <b>"}},
					"show_product_name": true, "show_product_price": false, "show_product_description": true,
					"offer_overrides":      body{"name": "Spring poster"},
					"success_redirect_url": "https://shop.example/thanks", "failure_redirect_url": "https://shop.example/sorry",
				},
				"offer": body{
					"name": "Poster offer", "price": "19.90", "currency": "EUR", "billing_type": "one_off",
					"product_name": "Poster", "product_description": "50 × 70 cm",
				},
				"mandate": body{"acceptance_mode": "checkbox"},
				"lead":    body{"first_name": apptest.FirstName, "last_name": apptest.LastName, "email": request["lead"].(body)["email"]},
			})
		})
		t.Run("in S2S mode the campaign is its name alone, and the mandate may be IMPLICIT", func(t *testing.T) {
			s.Retrieve(t, s.Create(t, apptest.InCampaign(apptest.ServerCampaign))).Want(t, http.StatusOK, fields{
				"campaign": body{"name": "By server"}, "mandate": body{"acceptance_mode": "IMPLICIT"}, "attempts_remaining": 3,
			})
		})
		t.Run("in direct mode campaign and offer have the tenant's name", func(t *testing.T) {
			s.Retrieve(t, s.Create(t, apptest.Direct())).Want(t, http.StatusOK, fields{
				"campaign": body{"name": "Bergladen"}, "mandate": body{"acceptance_mode": "checkbox"},
				"offer": body{"name": "Bergladen", "price": "49.00", "currency": "EUR", "billing_type": "one_off"},
			})
		})
		t.Run("in direct mode with a page the page's fields are there, and its name is the offer's", func(t *testing.T) {
			s.Retrieve(t, s.Create(t, apptest.Direct().With(body{"hosted_page_id": apptest.PlainPage}))).Want(t, http.StatusOK, fields{
				"campaign": body{
					"name": "Bergladen", "branding": body{"logo_url": nil, "primary_color": "#1a56db", "accent_color": "#0e9f6e"}, "content": body{},
					"show_product_name": true, "show_product_price": true, "show_product_description": true, "offer_overrides": body{},
					"success_redirect_url": nil, "failure_redirect_url": nil,
				},
				"offer.name": "Plain page",
			})
		})
		t.Run("product fields are there only when the offer has them", func(t *testing.T) {
			s.Retrieve(t, s.Create(t, apptest.InCampaign(apptest.MonthlyCampaign))).Want(t, http.StatusOK, fields{
				"offer": body{"name": "Premium monthly", "price": "29.99", "currency": "EUR", "billing_type": "recurring", "product_name": "Premium"},
			})
		})
		t.Run("in a trial amount is the trial's price and offer.price the regular one", func(t *testing.T) {
			s.Retrieve(t, s.Create(t, apptest.InCampaign(apptest.TrialCampaign))).Want(t, http.StatusOK, fields{
				"amount": "1.00", "offer": body{"name": "Premium with a trial", "price": "29.99", "currency": "EUR", "billing_type": "trial_recurring"},
			})
			s.Retrieve(t, s.Create(t, apptest.InCampaign(apptest.FreeTrialCampaign))).Want(t, http.StatusOK, fields{"amount": "0.00", "offer.price": "29.99"})
		})
	})
}

func TestRetrieveFollowsTheSession(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		t.Run("status and attempts_remaining change with the payments (contract 3.1)", func(t *testing.T) {
			token := s.Create(t, apptest.Direct())
			s.Pay(t, token, apptest.DeclinedInsufficientFunds)
			s.Retrieve(t, token).Want(t, http.StatusOK, fields{"status": "PENDING", "attempts_remaining": 2})
			s.Pay(t, token, apptest.VerificationRejected)
			s.Retrieve(t, token).Want(t, http.StatusOK, fields{"status": "AWAITING_VERIFICATION", "attempts_remaining": 1})
			s.Verify(t, token)
			s.Retrieve(t, token).Want(t, http.StatusOK, fields{"status": "PENDING", "attempts_remaining": 1})
			s.Pay(t, token, apptest.Approved)
			s.Retrieve(t, token).Want(t, http.StatusOK, fields{"status": "COMPLETED", "attempts_remaining": 0})
		})
		t.Run("a failed session has no attempts left, whatever was left before", func(t *testing.T) {
			token := s.Create(t, apptest.Direct())
			s.Pay(t, token, apptest.DeclinedFinal)
			s.Retrieve(t, token).Want(t, http.StatusOK, fields{"status": "FAILED", "attempts_remaining": 0})
		})
		t.Run("a record that was switched off since still says what was sold", func(t *testing.T) {
			token := s.Create(t, apptest.InCampaign(apptest.HostedCampaign))
			before := s.Retrieve(t, token)
			s.Apply(t, `tenants: [{id: `+apptest.Shop+`, name: Bergladen, offers: [{id: `+apptest.PosterOffer+`, name: Poster offer, price: "19.90",
				currency: EUR, billing_type: ONE_OFF, product_name: Poster, product_description: "50 × 70 cm", active: false}]}]`)
			s.Retrieve(t, token).Want(t, http.StatusOK, fields(before.Object(t)))
			s.TryCreate(t, apptest.InCampaign(apptest.HostedCampaign)).WantBad(t, map[string]string{"campaign_id": ""})
		})
	})
}

func TestUnknownTokens(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		token := s.Create(t, apptest.Direct())
		flipped := strings.NewReplacer("A", "B", "B", "A", "a", "b", "b", "a").Replace(token[3:20])
		for name, unknown := range map[string]string{
			"one character short":     token[:46],
			"one character long":      token + "A",
			"another token":           "ps_" + strings.Repeat("A", 44),
			"the tenant's own number": "ps_" + flipped + "xyz" + token[23:],
			"another prefix":          "rk_" + token[3:],
			"no base64":               "ps_" + strings.Repeat("!", 44),
			"an escaped line break":   token[:40] + "%0A" + token[41:],
			"a null byte":             token[:46] + "%00",
			"no ASCII":                "ps_" + strings.Repeat("%C3%BC", 44),
			"very long":               "ps_" + strings.Repeat("A", 4000),
		} {
			t.Run("retrieve, pay and verify answer 404 for "+name, func(t *testing.T) {
				s.Retrieve(t, unknown).WantDetail(t, http.StatusNotFound, "Session not found")
				s.Pay(t, unknown, apptest.Approved).WantDetail(t, http.StatusNotFound, "Session not found")
				s.Verify(t, unknown).WantDetail(t, http.StatusNotFound, "Session not found")
				s.Cancel(t, unknown).WantDetail(t, http.StatusNotFound, "Session not found")
			})
		}
	})
}
