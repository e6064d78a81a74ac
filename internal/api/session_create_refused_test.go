package api_test

import (
	"net/http"
	"strings"
	"testing"

	"sepad/internal/app/apptest"
	"sepad/internal/store/storetest"
)

func TestCreateRefusesRecordsThatAreNotTheTenants(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const unknown = "019d0000-0000-7000-8000-00000000ffff"
		before := s.Footprint(t)
		for _, test := range []struct{ field, what, id string }{
			{"campaign_id", "an unknown", unknown},
			{"campaign_id", "an inactive", apptest.ClosedCampaign},
			{"campaign_id", "another tenant's", apptest.RivalCampaign},
			{"campaign_id", "another kind of", apptest.Gateway},
			{"gateway_id", "an unknown", unknown},
			{"gateway_id", "an inactive", apptest.ClosedGateway},
			{"gateway_id", "another tenant's", apptest.RivalGateway},
			{"hosted_page_id", "an unknown", unknown},
			{"hosted_page_id", "an inactive", apptest.ClosedPage},
			{"hosted_page_id", "another tenant's", apptest.RivalPage},
			{"webhook_profile_id", "an unknown", unknown},
			{"webhook_profile_id", "an inactive", apptest.ClosedProfile},
			{"webhook_profile_id", "another tenant's", apptest.RivalProfile},
		} {
			t.Run(test.field+" with "+test.what+" id is a 400 on it", func(t *testing.T) {
				request := apptest.InCampaign(apptest.ServerCampaign)
				if test.field == "gateway_id" {
					request = apptest.Direct()
				}
				s.TryCreate(t, request.With(body{test.field: test.id})).WantBad(t, map[string]string{test.field: ""})
			})
		}
		t.Run("a campaign whose offer is inactive is a 400 on campaign_id", func(t *testing.T) {
			s.TryCreate(t, apptest.InCampaign(apptest.ClosedOfferCampaign)).WantBad(t, map[string]string{"campaign_id": ""})
		})
		t.Run("a campaign whose gateway is inactive is a 400 on campaign_id", func(t *testing.T) {
			s.TryCreate(t, apptest.InCampaign(apptest.ClosedGatewayCampaign)).WantBad(t, map[string]string{"campaign_id": ""})
		})
		t.Run("nothing was left behind", func(t *testing.T) {
			if after := s.Footprint(t); after != before {
				t.Errorf("%s became %s", before, after)
			}
		})
	})
}

func TestCreateReportsEveryBadFieldAtOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		before := s.Footprint(t)
		t.Run("wrong values", func(t *testing.T) {
			s.TryCreate(t, body{
				"campaign_id": "spring", "amount": "1e3", "currency": "EURO", "billing_type": "one_off", "billing_frequency": "DAILY",
				"trial_interval_unit": "year", "trial_period": 0, "trial_price": "-1", "gateway_id": "x", "max_payment_attempts": 11,
				"webhook_profile_id": "{}", "hosted_page_id": strings.Repeat("0", 36), "customer_ip": "300.1.1.1",
				"lead": body{
					"first_name": " ", "last_name": strings.Repeat("x", 256), "email": "ada@", "country": "XX", "address": strings.Repeat("x", 501),
					"city": strings.Repeat("x", 256), "postal_code": strings.Repeat("1", 21), "phone": strings.Repeat("1", 51),
				},
			}).WantBad(t, allCreateFields)
		})
		t.Run("wrong types", func(t *testing.T) {
			s.TryCreate(t, body{
				"campaign_id": 7, "amount": true, "currency": []any{"EUR"}, "billing_type": 1, "billing_frequency": body{}, "trial_interval_unit": 1.5,
				"trial_period": "14", "trial_price": body{"amount": 1}, "gateway_id": []any{}, "max_payment_attempts": 2.5, "webhook_profile_id": false,
				"hosted_page_id": 1, "customer_ip": 127,
				"lead": body{
					"first_name": 1, "last_name": []any{nil}, "email": body{}, "country": 49, "address": true, "city": 1.5, "postal_code": 10115, "phone": []any{},
				},
			}).WantBad(t, allCreateFields)
		})
		t.Run("a missing object is keyed by its own name", func(t *testing.T) {
			for _, lead := range []body{{}, {"lead": nil}} {
				s.TryCreate(t, body{"campaign_id": apptest.ServerCampaign}.With(lead)).WantBad(t, map[string]string{"lead": "lead is required."})
			}
		})
		t.Run("a lead that is no object", func(t *testing.T) {
			for _, lead := range []any{"Ada", 1, []any{}, true} {
				s.TryCreate(t, body{"campaign_id": apptest.ServerCampaign, "lead": lead}).WantBad(t, map[string]string{"lead": ""})
			}
		})
		t.Run("a missing field of the lead is keyed with a dot", func(t *testing.T) {
			want := map[string]string{}
			for _, name := range []string{"first_name", "last_name", "email", "country"} {
				want["lead."+name] = "lead." + name + " is required."
			}
			s.TryCreate(t, body{"campaign_id": apptest.ServerCampaign, "lead": body{}}).WantBad(t, want)
			s.TryCreate(t, body{"campaign_id": apptest.ServerCampaign, "lead": body{"first_name": nil, "phone": nil}}).WantBad(t, want)
		})
		t.Run("fields and records together", func(t *testing.T) {
			s.TryCreate(t, body{"gateway_id": apptest.RivalGateway, "hosted_page_id": apptest.ClosedPage, "lead": apptest.Lead().Without("email")}).
				WantBad(t, map[string]string{
					"gateway_id": "", "hosted_page_id": "", "lead.email": "lead.email is required.",
					"amount":       "amount is required when campaign_id is not provided.",
					"currency":     "currency is required when campaign_id is not provided.",
					"billing_type": "billing_type is required when campaign_id is not provided.",
				})
		})
		if after := s.Footprint(t); after != before {
			t.Errorf("something was left behind: %s became %s", before, after)
		}
	})
}

// allCreateFields are all that a create can be refused for at once.
var allCreateFields = map[string]string{
	"campaign_id": "", "amount": "", "currency": "", "billing_type": "", "billing_frequency": "", "trial_interval_unit": "",
	"trial_period": "", "trial_price": "", "gateway_id": "", "max_payment_attempts": "", "webhook_profile_id": "",
	"hosted_page_id": "", "customer_ip": "", "lead.first_name": "", "lead.last_name": "", "lead.email": "", "lead.country": "",
	"lead.address": "", "lead.city": "", "lead.postal_code": "", "lead.phone": "",
}

func TestAmountsAreReadFromTheirLiteralText(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	send := func(t *testing.T, field, literal string) apptest.Answer {
		t.Helper()
		text := `{"` + field + `":` + literal + `,"campaign_id":"` + apptest.TrialCampaign + `","lead":{"first_name":"A","last_name":"B","country":"DE","email":"` + apptest.Email() + `"}}`
		return s.Do(t, apptest.Request{Path: apptest.Sessions, Key: s.Key, Body: text})
	}
	for _, literal := range []string{
		`1e3`, `1E3`, `"1e3"`, `0.001`, `1.000`, `"1.999"`, `-1`, `"-1"`, `"+1"`, `99999999999.99`, `100000000`, `"100000000.00"`, `0`, `0.00`, `"0"`,
		`""`, `" "`, `"1,00"`, `"1.2.3"`, `".5"`, `"5."`, `"0x10"`, `"１"`, `"NaN"`, `"Infinity"`, `true`, `[]`, `[1]`, `{}`, `"1\u0000"`,
	} {
		t.Run("an amount of "+literal+" is a 400 on amount", func(t *testing.T) {
			send(t, "amount", literal).WantBad(t, map[string]string{"amount": ""})
		})
	}
	for _, literal := range []string{`-0.01`, `"1e0"`, `1.005`, `"x"`} {
		t.Run("a trial price of "+literal+" is a 400 on trial_price", func(t *testing.T) {
			send(t, "trial_price", literal).WantBad(t, map[string]string{"trial_price": ""})
		})
	}
	for literal, price := range map[string]string{
		`0.01`: "0.01", `"0.1"`: "0.10", `99999999.99`: "99999999.99", `"99999999.99"`: "99999999.99", `1`: "1.00", `70368744.17`: "70368744.17", `4.35`: "4.35",
	} {
		t.Run("an amount of "+literal+" is taken to the cent", func(t *testing.T) {
			token := send(t, "amount", literal).Want(t, http.StatusCreated, nil).Text(t, "session_token")
			s.Retrieve(t, token).Want(t, http.StatusOK, fields{"offer.price": price, "amount": "1.00"})
		})
	}
}

func TestRulesOfSingleFields(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	for _, test := range []struct {
		name   string
		change body
		field  string
	}{
		{"trial_period with ONE_OFF", body{"trial_period": 1}, "trial_period"},
		{"trial_interval_unit with ONE_OFF", body{"trial_interval_unit": "day"}, "trial_interval_unit"},
		{"trial_price with ONE_OFF", body{"trial_price": "1.00"}, "trial_price"},
		{"a trial price of zero with ONE_OFF", body{"trial_price": 0}, "trial_price"},
		{"a trial of 37 months", body{"billing_type": "TRIAL_RECURRING", "trial_period": 37, "trial_interval_unit": "month"}, "trial_period"},
		{"a trial of 1096 days", body{"billing_type": "TRIAL_RECURRING", "trial_period": 1096, "trial_interval_unit": "day"}, "trial_period"},
		{"a currency that SEPA does not collect", body{"currency": "CHF"}, "currency"},
		{"trial fields with RECURRING", body{"billing_type": "RECURRING", "trial_period": 7}, "trial_period"},
		{"a billing frequency in lower case", body{"billing_frequency": "monthly"}, "billing_frequency"},
		{"no attempt at all", body{"max_payment_attempts": 0}, "max_payment_attempts"},
		{"a whole number written with a point", body{"max_payment_attempts": "3"}, "max_payment_attempts"},
		{"a currency that ISO 4217 does not know", body{"currency": "XYZ"}, "currency"},
		{"an IPv6 address with a zone", body{"customer_ip": "fe80::1%eth0"}, "customer_ip"},
		{"an address with a port", body{"customer_ip": "203.0.113.1:80"}, "customer_ip"},
		{"a UUID in braces", body{"gateway_id": "{" + apptest.Gateway + "}"}, "gateway_id"},
		{"a UUID without hyphens", body{"gateway_id": strings.ReplaceAll(apptest.Gateway, "-", "")}, "gateway_id"},
	} {
		t.Run(test.name+" is a 400 on "+test.field, func(t *testing.T) {
			s.TryCreate(t, apptest.Direct().With(test.change)).WantBad(t, map[string]string{test.field: ""})
		})
	}
	for name, change := range map[string]body{
		"an IPv4 address": {"customer_ip": "203.0.113.1"}, "an IPv6 address": {"customer_ip": "2001:db8::1"}, "the most attempts": {"max_payment_attempts": 10},
		"an id in upper case": {"gateway_id": strings.ToUpper(apptest.Gateway)},
	} {
		t.Run(name+" is taken", func(t *testing.T) { s.Create(t, apptest.Direct().With(change)) })
	}
}

func TestRulesOfTheLeadsFields(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	with := func(change body) body { return apptest.Direct().With(body{"lead": apptest.Lead().With(change)}) }
	for _, control := range []string{"\x00", "\x1f", "\x7f", "\u0085", "\u009f"} {
		for _, field := range []string{"first_name", "last_name", "email", "country", "address", "city", "postal_code", "phone"} {
			s.TryCreate(t, with(body{field: "a" + control + "b"})).WantBad(t, map[string]string{"lead." + field: ""})
		}
	}
	t.Run("line breaks and tabs are refused outside the address", func(t *testing.T) {
		s.TryCreate(t, with(body{"city": "Ber\nlin", "phone": "1\t2"})).WantBad(t, map[string]string{"lead.city": "", "lead.phone": ""})
	})
	t.Run("in the address they become a space, and text is trimmed", func(t *testing.T) {
		lead := apptest.Lead().With(body{"address": "  Weg 1\r\nHaus\t2\n", "country": "de"})
		s.Create(t, apptest.Direct().With(body{"lead": lead}))
		stored := storetest.Scalar[string](t, s.Env, `SELECT address || '|' || country FROM leads WHERE email = $1`, lead["email"])
		if stored != "Weg 1 Haus 2|DE" {
			t.Errorf("stored is %q", stored)
		}
	})
	t.Run("lengths count code points", func(t *testing.T) {
		s.Create(t, with(body{
			"first_name": strings.Repeat("ü", 255), "last_name": strings.Repeat("𝄞", 255), "address": strings.Repeat("ß", 500),
			"city": strings.Repeat("é", 255), "postal_code": strings.Repeat("١", 20), "phone": strings.Repeat("1", 50),
		}))
		s.TryCreate(t, with(body{"first_name": strings.Repeat("ü", 256)})).WantBad(t, map[string]string{"lead.first_name": ""})
	})
	t.Run("an email address has at most 254 characters", func(t *testing.T) {
		long := func(n int) string {
			local, end := strings.Repeat("a", 60), ".example"
			labels := strings.Repeat(strings.Repeat("b", 49)+".", 3)
			return local + "@" + labels + strings.Repeat("c", n-len(local)-1-len(labels)-len(end)) + end
		}
		s.Create(t, with(body{"email": long(254)}))
		s.TryCreate(t, with(body{"email": long(255)})).WantBad(t, map[string]string{"lead.email": ""})
	})
	for _, address := range []string{"ada", "ada@", "@shop.example", "ada@shop", "a b@shop.example", "ada@shop..example", "ada@shop.example, eve@shop.example", "Ada <ada@shop.example>"} {
		t.Run("no email address: "+address, func(t *testing.T) {
			s.TryCreate(t, with(body{"email": address})).WantBad(t, map[string]string{"lead.email": ""})
		})
	}
	t.Run("country is one of ISO 3166-1", func(t *testing.T) {
		for _, country := range []string{"XX", "UK", "DEU", "D", "ſe", "  "} {
			s.TryCreate(t, with(body{"country": country})).WantBad(t, map[string]string{"lead.country": ""})
		}
	})
}
