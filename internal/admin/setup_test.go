package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/app/apptest"
)

const tenants = "/admin/v1/tenants/"

// ofShop is an address below the shop.
func ofShop(path string) string { return tenants + apptest.Shop + "/" + path + "/" }

func calling(method, path string, body any) apptest.Request {
	r := operator(path, body)
	r.Method = method
	return r
}

func TestTenantsAreMadeAndChanged(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		id := s.Do(t, calling("POST", tenants, apptest.Body{"name": "New Shop"})).
			Want(t, http.StatusCreated, apptest.Fields{"name": "New Shop", "creditor": nil}).Text(t, "id")
		one := tenants + id + "/"
		s.Do(t, calling("PATCH", one, apptest.Body{"creditor": apptest.Body{"name": "New Shop GmbH", "identifier": "DE98ZZZ09999999999"}})).
			Want(t, http.StatusOK, apptest.Fields{"name": "New Shop", "creditor.name": "New Shop GmbH"})
		s.Do(t, operator(one, nil)).Want(t, http.StatusOK, apptest.Fields{"id": id, "creditor.identifier": "DE98ZZZ09999999999"})
		if listed := s.Do(t, operator(tenants, nil)).Want(t, http.StatusOK, nil); strings.Count(string(listed.Raw), `"creditor"`) != 3 {
			t.Errorf("listed are %s", listed.Raw)
		}
		s.Do(t, calling("POST", tenants, apptest.Body{"id": id, "name": "Again"})).WantBad(t, map[string]string{"id": "This id is already taken."})
		s.Do(t, calling("POST", tenants, apptest.Body{"creditor": apptest.Body{"name": "X", "identifier": "x"}, "offers": []any{}})).
			WantBad(t, map[string]string{"name": "name is required.", "creditor.identifier": "", "offers": "This field is not known."})
		s.Do(t, calling("PATCH", one, apptest.Body{"id": apptest.Shop})).WantBad(t, map[string]string{"id": "An id cannot be changed."})
		s.Do(t, operator(tenants+uuid.NewString()+"/", nil)).WantDetail(t, http.StatusNotFound, "Tenant not found")
	})
}

func TestKeysAreMadeAndRevoked(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		made := s.Do(t, calling("POST", ofShop("api-keys"), apptest.Body{"name": "reports"})).
			Want(t, http.StatusCreated, apptest.Fields{"name": "reports", "revoked_at": nil, "last_used_at": nil})
		key, one := made.Text(t, "key"), ofShop("api-keys")+made.Text(t, "id")+"/"
		if !strings.HasPrefix(key, "rk_test_") {
			t.Errorf("the key is not one of a sandbox")
		}
		listing := apptest.Request{Path: "/api/v1/reconciliation/subscriptions/?start_date=2026-01-01", Key: key}
		s.Do(t, listing).Want(t, http.StatusOK, nil)
		if shown := s.Do(t, operator(one, nil)).Want(t, http.StatusOK, nil); strings.Contains(string(shown.Raw), key) {
			t.Error("the key can be read back")
		}
		if listed := s.Do(t, operator(ofShop("api-keys"), nil)); strings.Contains(string(listed.Raw), key) || !strings.Contains(string(listed.Raw), "reports") {
			t.Errorf("listed are %s", listed.Raw)
		}
		for range 2 {
			s.Do(t, calling("DELETE", one, nil)).Want(t, http.StatusNoContent, nil)
		}
		s.Do(t, listing).Want(t, http.StatusUnauthorized, nil)
		s.Do(t, operator(one, nil)).Want(t, http.StatusOK, apptest.Fields{"revoked_at": apptest.Any})
		s.Do(t, calling("POST", ofShop("api-keys"), apptest.Body{})).WantBad(t, map[string]string{"name": "name is required."})
		s.Do(t, calling("POST", ofShop("api-keys"), apptest.Body{"name": "x", "key": "rk_test_0123456789abcdef"})).WantBad(t, map[string]string{"key": ""})
		s.Do(t, calling("DELETE", ofShop("api-keys")+uuid.NewString()+"/", nil)).WantDetail(t, http.StatusNotFound, "API key not found")
	})
}

func TestRecordsAreMadeChangedAndSwitchedOff(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		create := func(kind string, body apptest.Body, fields apptest.Fields) string {
			t.Helper()
			return s.Do(t, calling("POST", ofShop(kind), body)).Want(t, http.StatusCreated, fields).Text(t, "id")
		}
		gateway := create("gateways", apptest.Body{"name": "Second", "adapter": "sandbox", "settings": apptest.Body{"notification_secret": "hush"}},
			apptest.Fields{"test_mode": true, "active": true})
		profile := create("webhook-profiles", apptest.Body{"name": "Backend", "url": "http://127.0.0.1:9/x"},
			apptest.Fields{"signing_secret": apptest.Any, "default": false})
		page := create("hosted-pages", apptest.Body{"name": "Page", "content": apptest.Body{"headline": "Grüße 😀"}}, apptest.Fields{"show_product_name": true})
		offer := create("offers", apptest.Body{"name": "Weekly", "price": 4.5, "currency": "eur", "billing_type": "RECURRING", "billing_frequency": "WEEKLY"},
			apptest.Fields{"price": "4.50", "currency": "EUR"})
		campaign := create("campaigns", apptest.Body{"name": "Summer", "offer_id": offer, "gateway_id": gateway, "dunning_days": []int{1}},
			apptest.Fields{"max_payment_attempts": 3.0, "hosted_page_id": nil})
		token := s.Create(t, apptest.InCampaign(campaign))
		s.Pay(t, token, apptest.Approved).Want(t, http.StatusOK, apptest.Fields{"status": "completed", "amount": "4.50"})

		one := ofShop("campaigns") + campaign + "/"
		s.Do(t, calling("PATCH", one, apptest.Body{"session_ttl": "90m", "hosted_page_id": page, "webhook_profile_id": profile})).
			Want(t, http.StatusOK, apptest.Fields{"name": "Summer", "session_ttl": "1h30m0s", "hosted_page_id": page})
		s.Do(t, calling("PATCH", ofShop("gateways")+gateway+"/", apptest.Body{"descriptor": "SHOP"})).Want(t, http.StatusOK, apptest.Fields{"descriptor": "SHOP"})
		shown := s.Do(t, operator(ofShop("gateways")+gateway+"/", nil)).Want(t, http.StatusOK, nil)
		hooks := s.Do(t, operator(ofShop("webhook-profiles"), nil)).Want(t, http.StatusOK, nil)
		if strings.Contains(string(shown.Raw), "hush") || strings.Contains(string(hooks.Raw), "secret\"") {
			t.Errorf("secrets are shown: %s %s", shown.Raw, hooks.Raw)
		}
		s.Do(t, calling("DELETE", one, nil)).Want(t, http.StatusNoContent, nil)
		s.Do(t, operator(one, nil)).Want(t, http.StatusOK, apptest.Fields{"active": false})
		s.Do(t, apptest.Request{Path: "/api/v1/payment-sessions/", Key: s.Key, Body: apptest.InCampaign(campaign)}).
			WantBad(t, map[string]string{"campaign_id": ""})
	})
}

func TestRecordsAreRefused(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	for name, c := range map[string]struct {
		request apptest.Request
		bad     map[string]string
	}{
		"every mistake at once": {
			calling("POST", ofShop("offers"), apptest.Body{"name": "", "price": "1e3", "currency": "XYZ", "billing_type": "SOMETIMES", "colour": 1}),
			map[string]string{"name": "", "price": "", "currency": "", "billing_type": "", "colour": "This field is not known."},
		},
		"an id of another tenant's": {
			calling("POST", ofShop("campaigns"), apptest.Body{"name": "X", "offer_id": apptest.PosterOffer, "gateway_id": apptest.RivalGateway}),
			map[string]string{"gateway_id": "The tenant has no gateway with this id."},
		},
		"an id that is taken":          {calling("POST", ofShop("gateways"), apptest.Body{"id": apptest.Gateway, "name": "X", "adapter": "sandbox"}), map[string]string{"id": "This id is already taken."}},
		"an id that is another's":      {calling("POST", ofShop("gateways"), apptest.Body{"id": apptest.RivalGateway, "name": "X", "adapter": "sandbox"}), map[string]string{"id": ""}},
		"an id that is none":           {calling("POST", ofShop("gateways"), apptest.Body{"id": 7, "name": "X", "adapter": "sandbox"}), map[string]string{"id": "id must be a UUID."}},
		"an adapter that is not there": {calling("POST", ofShop("gateways"), apptest.Body{"name": "X", "adapter": "paper"}), map[string]string{"adapter": ""}},
		"another id":                   {calling("PATCH", ofShop("gateways")+apptest.Gateway+"/", apptest.Body{"id": uuid.NewString()}), map[string]string{"id": "An id cannot be changed."}},
		"a wrong type":                 {calling("PATCH", ofShop("gateways")+apptest.Gateway+"/", apptest.Body{"test_mode": "perhaps"}), map[string]string{"test_mode": ""}},
		"a page size":                  {operator(ofShop("offers")+"?page_size=0", nil), map[string]string{"page_size": ""}},
	} {
		t.Run(name, func(t *testing.T) { s.Do(t, c.request).WantBad(t, c.bad) })
	}
	t.Run("records that the tenant does not have", func(t *testing.T) {
		s.Do(t, operator(ofShop("gateways")+apptest.RivalGateway+"/", nil)).WantDetail(t, http.StatusNotFound, "Gateway not found")
		s.Do(t, calling("DELETE", ofShop("offers")+"x/", nil)).WantDetail(t, http.StatusNotFound, "Offer not found")
		s.Do(t, operator(tenants+uuid.NewString()+"/offers/", nil)).WantDetail(t, http.StatusNotFound, "Tenant not found")
	})
	t.Run("the merchant's key", func(t *testing.T) {
		r := operator(ofShop("offers"), nil)
		r.Key = s.Key
		s.Do(t, r).Want(t, http.StatusUnauthorized, nil)
	})
}

func TestRecordsAreListedInPages(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	var forward []string
	next := s.URL + ofShop("campaigns") + "?page_size=4"
	for pages := 0; next != ""; pages++ {
		if pages > 10 {
			t.Fatal("the list does not end")
		}
		page := s.Do(t, operator(strings.TrimPrefix(next, s.URL), nil)).Want(t, http.StatusOK, nil)
		forward = append(forward, string(page.Raw))
		next, _ = page.Get(t, "next").(string)
	}
	all := strings.Join(forward, "")
	if got := strings.Count(all, `"gateway_id"`); got != 11 || len(forward) != 3 {
		t.Errorf("%d campaigns on %d pages", got, len(forward))
	}
}

// TestFieldsThatAreMostlyEmpty has what is null nearly everywhere set, and held against the document: there
// a client reads of what kind it is.
func TestFieldsThatAreMostlyEmpty(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		shop := tenants + apptest.Shop + "/"
		notices := apptest.Body{"sender": "Shop <billing@shop.example>", "reply_to": "help@shop.example", "send": "first_and_changes"}
		s.Do(t, calling("PATCH", shop, apptest.Body{
			"notices": notices, "allowed_origins": []string{"https://shop.example"},
			"creditor": apptest.Body{"name": "Shop GmbH", "address": "Hauptstr. 1, 10115 Berlin", "identifier": "DE98ZZZ09999999999"},
		})).Want(t, http.StatusOK, apptest.Fields{"notices.send": "first_and_changes", "notices.reply_to": "help@shop.example"})
		s.Do(t, operator(tenants, nil)).Want(t, http.StatusOK, nil)
		s.Do(t, calling("PATCH", shop, apptest.Body{"notices": apptest.Body{"sender": "billing@shop.example"}})).
			Want(t, http.StatusOK, apptest.Fields{"notices.reply_to": nil, "notices.send": "all"})
		campaign := ofShop("campaigns") + apptest.HostedCampaign + "/"
		s.Do(t, calling("PATCH", campaign, apptest.Body{
			"session_ttl": "24h", "dunning_days": []int{3, 5}, "chargeback_keeps_subscription": true, "offer_overrides": apptest.Body{"product_name": "Poster"},
		})).Want(t, http.StatusOK, apptest.Fields{"chargeback_keeps_subscription": true, "session_ttl": "24h0m0s"})
		s.Do(t, operator(ofShop("campaigns"), nil)).Want(t, http.StatusOK, nil)

		// An import knows of a payment what its file says, and of a chargeback perhaps not even the payment.
		file := header + "imported-1,,approved,sdd_sale,12.00,EUR,2026-03-01,,,\n"
		s.Do(t, importing(t, "transactions", file, nil)).Want(t, http.StatusCreated, counts(1, 0, 0, 0))
		returns := returnsHeader + "imported-1,,,12.00,EUR,2026-04-01,\nforeign-1,,,9.00,EUR,2026-04-01,\n"
		s.Do(t, importing(t, "chargebacks", returns, nil)).Want(t, http.StatusCreated, counts(2, 0, 0, 0))
		for _, kind := range []string{"transactions", "chargebacks"} {
			path := "/admin/v1/" + kind + "/"
			listed := s.Do(t, operator(path+"?tenant_id="+apptest.Shop, nil)).Want(t, http.StatusOK, nil)
			one := path + listed.Text(t, "results.0.id") + "/"
			s.Do(t, operator(one, nil)).Want(t, http.StatusOK, nil)
			s.Do(t, operator(one+"timeline/", nil)).Want(t, http.StatusOK, nil)
			reconciled := apptest.Request{Path: "/api/v1/reconciliation/" + kind + "/?start_date=2026-01-01", Key: s.NewKey(t, apptest.Shop, kind)}
			s.Do(t, reconciled).Want(t, http.StatusOK, nil)
		}
	})
}
