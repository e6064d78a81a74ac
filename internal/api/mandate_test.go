package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/checkout"
	"sepad/internal/merchant"
)

func TestAMerchantReadsAMandate(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		paid := s.Pay(t, s.Create(t, apptest.InCampaign(apptest.MonthlyCampaign)), apptest.Approved).Want(t, http.StatusOK, nil)
		one := "/api/v1/mandates/" + paid.Text(t, "sepa.mandate_reference") + "/"
		look := apptest.Request{Path: one, Key: s.Key}
		s.Do(t, look).WantDetail(t, http.StatusNotFound, checkout.ErrNoEvidence.Detail)

		// The same payment, had it been made on the page.
		s.Env.Exec(t, `UPDATE transactions SET source = 'hosted_page'`)
		s.Env.Exec(t, `INSERT INTO mandate_acceptances (tenant_id, transaction_id, session_id, acceptance_mode, language, text_version,
			text, text_hash, client_ip, user_agent, accepted_at)
			SELECT tenant_id, id, session_id, 'checkbox', 'de', '2', 'Ich ermächtige …', 'ab12', '192.0.2.7', '', mandate_at FROM transactions`)
		shown := s.Do(t, look).Want(t, http.StatusOK, fields{
			"subscription_id": paid.Text(t, "subscription.id"), "acceptances.0.transaction_id": paid.Text(t, "transaction.id"),
			"acceptances.0.text": "Ich ermächtige …", "acceptances.0.client_ip": "192.0.2.7", "acceptances.0.user_agent": nil,
		})
		if strings.Contains(string(shown.Raw), apptest.Approved) || strings.Contains(string(shown.Raw), "tenant_id") {
			t.Errorf("it shows %s", shown.Raw)
		}
		if !strings.Contains(s.Log(), `"reader":"merchant_api"`) || strings.Contains(s.Log(), "192.0.2.7") {
			t.Error("the look is not logged, or with the payer")
		}
		for name, wrong := range map[string]struct {
			request apptest.Request
			status  int
		}{
			"the rival's look":         {apptest.Request{Path: one, Key: s.RivalKey}, http.StatusNotFound},
			"no key":                   {apptest.Request{Path: one}, http.StatusUnauthorized},
			"a look without the scope": {apptest.Request{Path: one, Key: keyWith(t, s, merchant.ScopePayments)}, http.StatusForbidden},
			"one that nobody has":      {apptest.Request{Path: "/api/v1/mandates/MND-NOBODYHASIT1/", Key: s.Key}, http.StatusNotFound},
			"one that cannot be":       {apptest.Request{Path: "/api/v1/mandates/%00/", Key: s.Key}, http.StatusNotFound},
		} {
			if got := s.Do(t, wrong.request); got.Status != wrong.status {
				t.Errorf("%s is answered %d, want %d: %s", name, got.Status, wrong.status, got.Raw)
			}
		}
	})
}

func TestReconciliationFollowsChanges(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		first := s.Now(t)
		sale := s.Pay(t, s.Create(t, apptest.InCampaign(apptest.MonthlyCampaign)), apptest.Chargeback).Want(t, http.StatusOK, nil)
		s.Advance(t, 2*24*time.Hour)
		other := s.Pay(t, s.Create(t, apptest.Direct()), apptest.Approved).Want(t, http.StatusOK, nil)
		second := s.Now(t)
		s.Advance(t, 8*24*time.Hour) // the first one comes back
		day := func(at time.Time) string { return at.UTC().Format(time.DateOnly) }
		list := func(endpoint, query string) apptest.Answer {
			t.Helper()
			return s.Do(t, apptest.Request{Path: "/api/v1/reconciliation/" + endpoint + "/?" + query, Key: s.Key}).Want(t, http.StatusOK, nil)
		}
		since := "start_date=" + day(second) + "&date_field=updated_at"
		changed := list("transactions", since+"&page_size=1")
		changed.Want(t, http.StatusOK, fields{"results.0.id": sale.Text(t, "transaction.id"), "results.0.status": "charged_back"})
		next := s.Do(t, apptest.Request{Path: strings.TrimPrefix(changed.Text(t, "next"), s.URL), Key: s.Key})
		next.Want(t, http.StatusOK, fields{"results.0.id": other.Text(t, "transaction.id"), "next": nil})
		back := s.Do(t, apptest.Request{Path: strings.TrimPrefix(next.Text(t, "previous"), s.URL), Key: s.Key})
		back.Want(t, http.StatusOK, fields{"results.0.id": sale.Text(t, "transaction.id")})
		list("transactions", since+"&status=charged_back,refunded&type=sdd_sale").Want(t, http.StatusOK, fields{"results.0.id": sale.Text(t, "transaction.id"), "next": nil})
		if rows := list("transactions", "start_date="+day(first)+"&end_date="+day(first)+"&date_field=updated_at").Get(t, "results").([]any); len(rows) != 0 {
			t.Errorf("on the day of the sale nothing was changed last, and there are %v", rows)
		}
		if rows := list("transactions", "start_date="+day(first)+"&end_date="+day(first)+"&date_field=date_processed").Get(t, "results").([]any); len(rows) != 1 {
			t.Errorf("on the day of the sale one was processed, and there are %v", rows)
		}
		list("subscriptions", since).Want(t, http.StatusOK, fields{"results.0.status": "CANCELLED"})
		list("chargebacks", since).Want(t, http.StatusOK, fields{"results.0.transaction_id": sale.Text(t, "transaction.id")})
		for endpoint, field := range map[string]string{"transactions": "report_date", "chargebacks": "created_at", "subscriptions": "date_processed"} {
			s.Do(t, apptest.Request{Path: "/api/v1/reconciliation/" + endpoint + "/?start_date=2026-01-01&date_field=" + field, Key: s.Key}).
				WantBad(t, map[string]string{"date_field": ""})
		}
		// A cursor of one order does not read the other.
		foreign := strings.Replace(strings.TrimPrefix(changed.Text(t, "next"), s.URL), "date_field=updated_at", "date_field=date_processed", 1)
		s.Do(t, apptest.Request{Path: foreign, Key: s.Key}).WantBad(t, map[string]string{"cursor": ""})
	})
}

func TestOnlyTheNamedSitesMayCall(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		tenant := "/admin/v1/tenants/" + apptest.Shop + "/"
		change := func(origins ...string) apptest.Answer {
			t.Helper()
			return s.Do(t, apptest.Request{Method: http.MethodPatch, Path: tenant, Key: apptest.AdminToken, Body: body{"allowed_origins": origins}})
		}
		for _, wrong := range []string{
			"shop.example", "https://shop.example/", "https://Shop.example", "ftp://shop.example", "*", "https://shop.example/a",
			"https://*.shop.example", "https://shöp.example", "https://shop.example:443", "http://localhost:80", "https://shop.example:",
		} {
			change(wrong).WantBad(t, map[string]string{"allowed_origins[0]": ""})
		}
		change("https://shop.example", "http://localhost:3000").Want(t, http.StatusOK, fields{"allowed_origins.0": "https://shop.example"})
		token := s.Create(t, apptest.Direct())
		calls := []apptest.Request{
			{Path: apptest.Path(token)}, apptest.PayRequest(token, "x"), {Method: http.MethodPost, Path: apptest.Path(token, "verify")},
			{Path: ibanPath, Key: token, Body: body{"iban": apptest.Approved}},
		}
		for origin, allowed := range map[string]bool{"https://shop.example": true, "http://localhost:3000": true, s.URL: true, "https://thief.example": false, "null": false, "http:": false, "http:/": false} {
			for _, call := range calls {
				call.Header = map[string]string{"Origin": origin}
				answer := s.Do(t, call)
				if got := answer.Header.Get("Access-Control-Allow-Origin"); (got == origin) != allowed || (answer.Status == http.StatusForbidden) == allowed {
					t.Errorf("%s from %s is answered %d for %q", call.Path, origin, answer.Status, got)
				}
			}
			asked := s.Do(t, apptest.Request{Method: http.MethodOptions, Path: apptest.Path(token, "pay"), Header: map[string]string{
				"Origin": origin, "Access-Control-Request-Method": http.MethodPost,
			}})
			if got := asked.Header.Get("Access-Control-Allow-Origin"); (got == origin) != allowed {
				t.Errorf("before a call from %s it is allowed for %q", origin, got)
			}
		}
		s.Do(t, apptest.Request{Path: apptest.Path(token)}).Want(t, http.StatusOK, nil)
		change().Want(t, http.StatusOK, nil)
		free := s.Do(t, apptest.Request{Path: apptest.Path(token), Header: map[string]string{"Origin": "https://thief.example"}})
		if free.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Error("without a list not all are admitted")
		}
	})
}

func TestAPayerGivesAnotherAccount(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		key := keyWith(t, s, merchant.ScopeSubscriptions, merchant.ScopeReports)
		hearAll(t, s)
		lead := apptest.Lead()
		paid := s.Pay(t, s.Create(t, apptest.InCampaign(apptest.MonthlyCampaign).With(apptest.Body{"lead": lead})), apptest.RebillDeclined).Want(t, http.StatusOK, nil)
		one := "/api/v1/subscriptions/" + paid.Text(t, "subscription.id") + "/"
		again := apptest.Request{Path: one + "new-mandate/", Key: key, Body: body{"language": "de"}, Header: map[string]string{"Idempotency-Key": "another"}}
		s.Advance(t, 32*days) // the rebill is refused
		s.Do(t, apptest.Request{Path: one, Key: key}).Want(t, http.StatusOK, fields{"status": "PAST_DUE"})

		token := s.Do(t, again).Want(t, http.StatusCreated, fields{"status": "PENDING"}).Text(t, "session_token")
		if repeated := s.Do(t, again).Text(t, "session_token"); repeated != token {
			t.Error("the same request makes two sessions")
		}
		s.Do(t, apptest.Request{Path: again.Path, Key: key, Body: body{}, Header: again.Header}).Want(t, http.StatusConflict, nil)
		s.Retrieve(t, token).Want(t, http.StatusOK, fields{"amount": "0.00", "offer.price": "29.99", "lead.email": lead["email"]})
		s.Pay(t, token, apptest.DeclinedInsufficientFunds).Want(t, http.StatusOK, fields{"status": "declined"})
		s.Do(t, apptest.Request{Path: one, Key: key}).Want(t, http.StatusOK, fields{"mandate_reference_id": paid.Text(t, "sepa.mandate_reference")})
		given := s.Pay(t, token, apptest.Approved).Want(t, http.StatusOK, fields{
			"status": "completed", "amount": "0.00", "subscription.id": paid.Text(t, "subscription.id"), "transaction.type": "sdd_mandate",
		})
		reference := given.Text(t, "sepa.mandate_reference")
		s.Do(t, apptest.Request{Path: one, Key: key}).Want(t, http.StatusOK, fields{"mandate_reference_id": reference, "next_billing_date": s.Now(t).UTC().Format(time.DateOnly)})
		s.Advance(t, time.Minute) // what is owed is collected from the new account
		s.Do(t, apptest.Request{Path: one, Key: key}).Want(t, http.StatusOK, fields{"status": "ACTIVE", "successful_billing_count": 1})
		s.Advance(t, 32*days)
		s.Do(t, apptest.Request{Path: one, Key: key}).Want(t, http.StatusOK, fields{"status": "ACTIVE", "successful_billing_count": 2})

		var rebills []map[string]any
		for _, event := range heard(t, s) {
			data := event["data"].(map[string]any)
			if event["type"] == "transaction.created" && data["mandate_reference_id"] == reference && data["type"] == "sdd_sale" {
				rebills = append(rebills, data)
			}
		}
		if len(rebills) != 2 {
			t.Fatalf("%d rebills were made under the new mandate", len(rebills))
		}
		for i, sequence := range []string{"FRST", "RCUR"} {
			s.Do(t, apptest.Request{Path: "/api/v1/transactions/" + rebills[i]["id"].(string) + "/", Key: key}).
				Want(t, http.StatusOK, fields{"sequence_type": sequence, "amount": "29.99", "iban": "******************" + apptest.Approved[len(apptest.Approved)-4:]})
		}
		for name, wrong := range map[string]struct {
			request apptest.Request
			status  int
		}{
			"a key without the scope": {apptest.Request{Path: one + "new-mandate/", Key: s.Key, Body: body{}}, http.StatusForbidden},
			"no key":                  {apptest.Request{Path: one + "new-mandate/", Body: body{}}, http.StatusUnauthorized},
			"one that nobody has":     {apptest.Request{Path: "/api/v1/subscriptions/this/new-mandate/", Key: key, Body: body{}}, http.StatusNotFound},
			"one of another tenant's": {apptest.Request{Path: "/api/v1/subscriptions/" + apptest.Rival + "/new-mandate/", Key: key, Body: body{}}, http.StatusNotFound},
			"an unknown language":     {apptest.Request{Path: one + "new-mandate/", Key: key, Body: body{"language": "xx"}}, http.StatusBadRequest},
		} {
			if got := s.Do(t, wrong.request); got.Status != wrong.status {
				t.Errorf("%s is answered %d, want %d: %s", name, got.Status, wrong.status, got.Raw)
			}
		}
		late := s.Do(t, apptest.Request{Path: one + "new-mandate/", Key: key, Body: body{}}).Want(t, http.StatusCreated, nil).Text(t, "session_token")
		s.Do(t, apptest.Request{Path: one + "new-mandate/", Key: key, Body: body{}}).WantDetail(t, http.StatusConflict, "The lead already has an active session.")
		s.Do(t, apptest.Request{Path: one + "cancel/", Key: key, Body: body{}}).Want(t, http.StatusOK, nil)
		s.Pay(t, late, apptest.Approved).Want(t, http.StatusConflict, nil)
		s.Do(t, apptest.Request{Path: one + "new-mandate/", Key: key, Body: body{}}).WantDetail(t, http.StatusConflict, "The subscription is cancelled already.")
	})
}

func TestAMandateThatIsRefusedLaterChangesNothing(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		key := keyWith(t, s, merchant.ScopeSubscriptions, merchant.ScopeReports)
		paid := s.Pay(t, s.Create(t, apptest.InCampaign(apptest.MonthlyCampaign)), apptest.Approved).Want(t, http.StatusOK, nil)
		one := "/api/v1/subscriptions/" + paid.Text(t, "subscription.id") + "/"
		token := s.Do(t, apptest.Request{Path: one + "new-mandate/", Key: key, Body: body{}}).Want(t, http.StatusCreated, nil).Text(t, "session_token")
		s.Pay(t, token, apptest.PendingDeclined).Want(t, http.StatusOK, fields{"status": "completed", "transaction.status": "pending"})
		s.Advance(t, 10*days)
		s.Do(t, apptest.Request{Path: one, Key: key}).Want(t, http.StatusOK, fields{
			"status": "ACTIVE", "mandate_reference_id": paid.Text(t, "sepa.mandate_reference"), "next_billing_date": paid.Text(t, "subscription.next_billing_date"),
		})
	})
}
