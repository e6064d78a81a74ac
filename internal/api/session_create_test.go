package api_test

import (
	"net/http"
	"strings"
	"testing"

	"sepad/internal/app/apptest"
	"sepad/internal/store/storetest"
)

// body and fields are short for what most lines here are about.
type (
	body   = apptest.Body
	fields = apptest.Fields
)

func TestCreateAnswers201(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		t.Run("the answer has a token of 47 characters, PENDING and the page's full address (contract 2.3)", func(t *testing.T) {
			answer := s.TryCreate(t, apptest.InCampaign(apptest.HostedCampaign)).Want(t, http.StatusCreated, fields{"status": "PENDING"})
			token := answer.Text(t, "session_token")
			if len(token) != 47 || !strings.HasPrefix(token, "ps_") {
				t.Errorf("the token is %q", token)
			}
			answer.Want(t, http.StatusCreated, fields{"payment_url": s.URL + "/pay/" + token + "/"})
		})
		t.Run("each session has a token of its own", func(t *testing.T) {
			first, second := s.Create(t, apptest.Direct()), s.Create(t, apptest.Direct())
			if first == second {
				t.Error("two sessions have one token")
			}
		})
		t.Run("fields that are not known are ignored, and null counts as absent", func(t *testing.T) {
			token := s.Create(t, apptest.InCampaign(apptest.ServerCampaign).With(body{
				"colour": "blue", "Amount": "1.00", "amount": nil, "currency": nil, "billing_type": nil, "billing_frequency": nil,
				"trial_interval_unit": nil, "trial_period": nil, "trial_price": nil, "gateway_id": nil, "max_payment_attempts": nil,
				"webhook_profile_id": nil, "hosted_page_id": nil, "customer_ip": nil,
			}))
			s.Retrieve(t, token).Want(t, http.StatusOK, fields{"amount": "19.90", "attempts_remaining": 3})
		})
	})
}

func TestCampaignModeOverrides(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		for _, test := range []struct {
			name, campaign string
			change         body
			want           fields
		}{
			{
				"an amount is the regular price of this purchase", apptest.ServerCampaign,
				body{"amount": "12.34"},
				fields{"amount": "12.34", "offer.price": "12.34", "offer.billing_type": "one_off"},
			},
			{"an amount may be a number", apptest.ServerCampaign, body{"amount": 7.5}, fields{"amount": "7.50"}},
			{
				"an amount leaves the trial's price alone", apptest.TrialCampaign,
				body{"amount": "99.00"},
				fields{"amount": "1.00", "offer.price": "99.00"},
			},
			{
				"a currency is taken in any case", apptest.ServerCampaign,
				body{"currency": "eUr"},
				fields{"currency": "EUR", "offer.currency": "EUR", "amount": "19.90"},
			},
			{
				"a billing type", apptest.ServerCampaign,
				body{"billing_type": "RECURRING", "billing_frequency": "WEEKLY"},
				fields{"offer.billing_type": "recurring", "amount": "19.90"},
			},
			{
				"a billing type that has no trial drops the offer's", apptest.TrialCampaign,
				body{"billing_type": "RECURRING"},
				fields{"offer.billing_type": "recurring", "amount": "29.99"},
			},
			{
				"a trial over an offer that has none", apptest.MonthlyCampaign,
				body{"billing_type": "TRIAL_RECURRING", "trial_period": 1, "trial_interval_unit": "month", "trial_price": "2.50"},
				fields{"offer.billing_type": "trial_recurring", "amount": "2.50", "offer.price": "29.99"},
			},
			{"a trial price alone", apptest.TrialCampaign, body{"trial_price": "3.00"}, fields{"amount": "3.00"}},
			{"a trial price of zero", apptest.TrialCampaign, body{"trial_price": 0}, fields{"amount": "0.00"}},
			{"max_payment_attempts", apptest.ServerCampaign, body{"max_payment_attempts": 10}, fields{"attempts_remaining": 10}},
			{
				"a hosted page", apptest.ServerCampaign,
				body{"hosted_page_id": apptest.Page},
				fields{"campaign.name": "By server", "campaign.branding.primary_color": "#112233"},
			},
			{
				"another page than the campaign's", apptest.HostedCampaign,
				body{"hosted_page_id": apptest.PlainPage},
				fields{"campaign.name": "Spring", "campaign.branding.logo_url": nil, "campaign.offer_overrides": body{"name": "Spring poster"}},
			},
		} {
			t.Run("overridden: "+test.name, func(t *testing.T) {
				token := s.Create(t, apptest.InCampaign(test.campaign).With(test.change))
				s.Retrieve(t, token).Want(t, http.StatusOK, test.want)
			})
		}
	})
}

func TestCampaignModeOverridesOfWhatIsPaid(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		t.Run("gateway_id says who collects", func(t *testing.T) {
			_, result := s.Completed(t, apptest.InCampaign(apptest.ServerCampaign).With(body{"gateway_id": apptest.PlainGateway}))
			result.Want(t, http.StatusOK, fields{
				"payment_gateway": body{"id": apptest.PlainGateway, "name": "Plain account", "descriptor": nil, "test_mode": false}, "livemode": false,
			})
		})
		t.Run("gateway_id stands in for the campaign's inactive gateway", func(t *testing.T) {
			s.Completed(t, apptest.InCampaign(apptest.ClosedGatewayCampaign).With(body{"gateway_id": apptest.Gateway}))
		})
		t.Run("webhook_profile_id says where events go", func(t *testing.T) {
			token, _ := s.Completed(t, apptest.InCampaign(apptest.ServerCampaign).With(body{"webhook_profile_id": apptest.QuietProfile}))
			wantProfiles(t, s, token, "", apptest.QuietProfile)
		})
		t.Run("the campaign's webhook profile is used otherwise, and only for the events it wants", func(t *testing.T) {
			token, _ := s.Completed(t, apptest.InCampaign(apptest.QuietCampaign))
			wantProfiles(t, s, token, "", apptest.QuietProfile)
		})
		t.Run("the tenant's default profile is used where neither names one", func(t *testing.T) {
			token, _ := s.Completed(t, apptest.InCampaign(apptest.ServerCampaign))
			wantProfiles(t, s, token, apptest.Profile, apptest.Profile)
		})
		t.Run("an overridden amount is what rebills will collect", func(t *testing.T) {
			_, result := s.Completed(t, apptest.InCampaign(apptest.TrialCampaign).With(body{"amount": "15.00", "billing_frequency": "YEARLY"}))
			result.Want(t, http.StatusOK, fields{"amount": "1.00", "subscription.billing_frequency": "YEARLY"})
			amount := storetest.Scalar[int](t, s.Env, `SELECT amount_minor FROM subscriptions WHERE CAST(id AS TEXT) = $1`, result.Text(t, "subscription.id"))
			if amount != 15_00 {
				t.Errorf("the subscription collects %d", amount)
			}
		})
	})
}

// wantProfiles expects the two events of a completed session to go somewhere.
func wantProfiles(t *testing.T, s *apptest.Server, token, created, completed string) {
	t.Helper()
	events := s.WantEvents(t, token, apptest.Completed...)
	if len(events) == 2 && (events[0].ProfileID != created || events[1].ProfileID != completed) {
		t.Errorf("the events go to %q and %q, want %q and %q", events[0].ProfileID, events[1].ProfileID, created, completed)
	}
}

func TestDirectMode(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		t.Run("each required field that is missing has the contract's message", func(t *testing.T) {
			want := map[string]string{}
			for _, name := range []string{"gateway_id", "amount", "currency", "billing_type"} {
				want[name] = name + " is required when campaign_id is not provided."
			}
			s.TryCreate(t, body{"lead": apptest.Lead()}).WantBad(t, want)
			s.TryCreate(t, body{"lead": apptest.Lead(), "campaign_id": nil, "amount": nil}).WantBad(t, want)
		})
		t.Run("only what is missing is named", func(t *testing.T) {
			s.TryCreate(t, apptest.Direct().Without("currency")).WantBad(t, map[string]string{
				"currency": "currency is required when campaign_id is not provided.",
			})
		})
		t.Run("there are 3 attempts unless the request says otherwise", func(t *testing.T) {
			s.Retrieve(t, s.Create(t, apptest.Direct())).Want(t, http.StatusOK, fields{"attempts_remaining": 3})
			token := s.Create(t, apptest.Direct().With(body{"max_payment_attempts": 1}))
			s.Retrieve(t, token).Want(t, http.StatusOK, fields{"attempts_remaining": 1})
		})
		t.Run("the webhook profile of the request is used, else the default", func(t *testing.T) {
			token, _ := s.Completed(t, apptest.Direct().With(body{"webhook_profile_id": apptest.QuietProfile}))
			wantProfiles(t, s, token, "", apptest.QuietProfile)
			token, _ = s.Completed(t, apptest.Direct())
			wantProfiles(t, s, token, apptest.Profile, apptest.Profile)
		})
		t.Run("a trial is sold with its fields", func(t *testing.T) {
			token := s.Create(t, apptest.Direct().With(body{
				"billing_type": "TRIAL_RECURRING", "billing_frequency": "QUARTERLY", "trial_period": 3, "trial_interval_unit": "week", "trial_price": "0.50",
			}))
			s.Retrieve(t, token).Want(t, http.StatusOK, fields{"amount": "0.50", "offer.price": "49.00", "offer.billing_type": "trial_recurring"})
		})
		t.Run("a trial without its period and unit is refused", func(t *testing.T) {
			s.TryCreate(t, apptest.Direct().With(body{"billing_type": "TRIAL_RECURRING"})).WantBad(t, map[string]string{
				"trial_period":        "trial_period is required when billing_type is TRIAL_RECURRING.",
				"trial_interval_unit": "trial_interval_unit is required when billing_type is TRIAL_RECURRING.",
			})
		})
	})
}
