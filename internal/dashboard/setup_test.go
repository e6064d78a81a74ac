package dashboard_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/app/apptest"
	"sepad/internal/config"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

const shopSetup = "/dashboard/setup/tenants/" + apptest.Shop + "/"

// desk is a browser in which somebody sets up.
type desk struct {
	t      *testing.T
	s      *apptest.Server
	cookie string
}

func (d desk) get(path string, status int) string {
	d.t.Helper()
	return string(d.s.Do(d.t, browse(d.s, http.MethodGet, path, d.cookie)).Want(d.t, status, nil).Raw)
}

// post sends a form and gives the answer.
func (d desk) post(path string, form url.Values, status int) apptest.Answer {
	d.t.Helper()
	r := browse(d.s, http.MethodPost, path, d.cookie)
	r.Body = form.Encode()
	return d.s.Do(d.t, r).Want(d.t, status, nil)
}

// made is where a form that was taken leads.
func (d desk) made(path string, form url.Values) string {
	d.t.Helper()
	at, _, _ := strings.Cut(d.post(path, form, http.StatusSeeOther).Header.Get("Location"), "?")
	return at
}

var versionField = regexp.MustCompile(`name="version" value="(\d+)"`)

func (d desk) version(path string) string {
	d.t.Helper()
	found := versionField.FindStringSubmatch(d.get(path, http.StatusOK))
	if found == nil {
		d.t.Fatalf("%s has no version", path)
	}
	return found[1]
}

func (d desk) wants(page string, parts ...string) {
	d.t.Helper()
	for _, part := range parts {
		if !strings.Contains(page, part) {
			d.t.Errorf("the page has no %s:\n%s", part, page)
		}
	}
}

func TestAMerchantIsSetUpInTheBrowser(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		d := desk{t, s, signedIn(t, s, store.Administrator)}
		refused := string(d.post("/dashboard/setup/", url.Values{"name": {""}, "creditor.name": {"Neuladen GmbH"}, "creditor.identifier": {"DE00ZZZ"}}, http.StatusBadRequest).Raw)
		d.wants(refused, `value="Neuladen GmbH"`, `id="problem-creditor.identifier"`, `id="problem-name"`)

		tenant := d.made("/dashboard/setup/", url.Values{
			"name": {"Neuladen"}, "creditor.name": {"Neuladen GmbH"}, "creditor.address": {"Weg 1, Ulm, DE"}, "creditor.identifier": {"DE98ZZZ09999999999"}, "allowed_origins": {"https://neu.example\r\nhttps://shop.example"},
		})
		gateway := d.made(tenant+"gateways/", url.Values{"name": {"Account"}, "adapter": {"sandbox"}, "test_mode": {"true"}, "settings.notification_secret": {"a very secret secret"}})
		if page := d.get(gateway, http.StatusOK); strings.Contains(page, "a very secret secret") || !strings.Contains(page, "is set; type to replace it") {
			t.Errorf("a secret is shown, or not told of:\n%s", page)
		}
		offer := d.made(tenant+"offers/", url.Values{"name": {"Monthly"}, "price": {"29.99"}, "currency": {"eur"}, "billing_type": {"RECURRING"}, "billing_frequency": {"MONTHLY"}, "product_name": {"Premium"}})
		page := d.made(tenant+"hosted-pages/", url.Values{
			"name": {"Page"}, "branding.primary_color": {"#123456"}, "branding.accent_color": {"#654321"}, "show_product_name": {"true"}, "content.headline": {"Hello"}, "links.terms": {"https://neu.example/terms"},
		})
		id := func(path string) string { return strings.Split(strings.Trim(path, "/"), "/")[5] }
		campaign := d.made(tenant+"campaigns/", url.Values{
			"name": {"First"}, "offer_id": {id(offer)}, "gateway_id": {id(gateway)}, "hosted_page_id": {id(page)}, "max_payment_attempts": {"2"}, "mandate_acceptance_mode": {"checkbox"}, "dunning_days": {"2\n4"},
		})
		d.wants(d.get(campaign, http.StatusOK), `value="First"`, "2\n4\n", "/preview/?campaign="+id(campaign))
		profile := string(d.post(tenant+"webhook-profiles/", url.Values{"name": {"Hooks"}, "url": {"http://127.0.0.1:9/hooks"}, "events": {"transaction.created", "chargeback.created"}, "payload": {"full"}, "default": {"true"}}, http.StatusOK).Raw)
		d.wants(profile, "whsec_", `value="transaction.created" checked`)
		key := string(d.post(tenant+"api-keys/", url.Values{"name": {"backend"}, "scopes": {"payments"}}, http.StatusOK).Raw)
		text := regexp.MustCompile(`rk_test_[A-Za-z0-9_-]{20,}`).FindString(key)
		made := s.Do(t, apptest.Request{Path: apptest.Sessions, Key: text, Body: apptest.InCampaign(id(campaign))}).Want(t, http.StatusCreated, nil).Text(t, "session_token")
		s.Pay(t, made, apptest.Approved).Want(t, http.StatusOK, apptest.Fields{"status": "completed"})
		all := d.get(tenant, http.StatusOK)
		d.wants(all, "Monthly", "29.99 EUR recurring monthly", "Monthly through Account", "http://127.0.0.1:9/hooks (default)")
		if strings.Contains(all, text) || strings.Contains(all, "whsec_") {
			t.Error("a secret is shown again")
		}
		t.Run("what was clicked is applied elsewhere", func(t *testing.T) {
			file := d.get(tenant+"export/", http.StatusOK)
			if strings.Contains(file, "a very secret secret") || strings.Contains(file, "whsec_") || strings.Contains(file, "rk_test_") {
				t.Errorf("the file has a secret:\n%s", file)
			}
			elsewhere := apptest.Open(t, storetest.SQLite(t), apptest.Options{})
			elsewhere.Apply(t, file)
			there := desk{t, elsewhere, signedIn(t, elsewhere, store.Administrator)}
			if again := there.get(tenant+"export/", http.StatusOK); strings.Replace(file, "# To be filled in below settings: notification_secret\n", "", 1) == file || withoutComments(again) != withoutComments(file) {
				t.Errorf("applied elsewhere it is\n%s\nand was\n%s", again, file)
			}
		})
	})
}

// withoutComments is a file as a program reads it.
func withoutComments(file string) string {
	return regexp.MustCompile(`(?m)^(\s*(- )?)#.*\n\s*`).ReplaceAllString(file, "$1")
}

func TestRecordsAreChangedInTheBrowser(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		d := desk{t, s, signedIn(t, s, store.Administrator)}
		const page = shopSetup + "hosted-pages/" + standardPage + "/"
		sent := url.Values{
			"version": {d.version(page)}, "name": {"Standard page"}, "branding.primary_color": {"#abcdef"}, "branding.accent_color": {"#445566"},
			"content.headline": {"Another headline"}, "success_redirect_url": {"https://shop.example/thanks"},
		}
		d.made(page, sent)
		setup, err := s.App.Store.SetupOfPage(t.Context(), uuid.MustParse(standardPage))
		if err != nil {
			t.Fatal(err)
		}
		changed := setup.HostedPages[uuid.MustParse(standardPage)]
		if changed.Branding.PrimaryColor != "#abcdef" || changed.Branding.LogoURL != nil || changed.Content["headline"] != "Another headline" || changed.ShowProductName || changed.FailureRedirectURL != nil {
			t.Errorf("the page is %+v", changed)
		}
		if deep, kept := changed.Content["deep"].(map[string]any); !kept || deep["note"] != "Ärmel & <b>" {
			t.Errorf("what the form does not show is gone: %v", changed.Content)
		}
		t.Run("somebody else's change is not written over unseen", func(t *testing.T) {
			sent.Set("content.headline", "Mine")
			answer := string(d.post(page, sent, http.StatusConflict).Raw)
			d.wants(answer, "Somebody else has changed this meanwhile", `value="Mine"`, "By now: <b>Another headline</b>")
			sent.Set("version", versionField.FindStringSubmatch(answer)[1])
			d.made(page, sent)
		})
		t.Run("every bad field is told where it stands", func(t *testing.T) {
			const offer = shopSetup + "offers/019d0000-0000-7000-8000-000000000040/"
			answer := string(d.post(offer, url.Values{"version": {d.version(offer)}, "name": {""}, "price": {"free"}, "currency": {"EUR"}, "billing_type": {"ONE_OFF"}, "trial_period": {"many"}}, http.StatusBadRequest).Raw)
			d.wants(answer, `id="problem-name"`, `id="problem-price"`, `id="problem-trial_period"`, `value="free"`, `aria-invalid="true"`)
		})
		t.Run("a record is switched off and on", func(t *testing.T) {
			const campaign = shopSetup + "campaigns/019d0000-0000-7000-8000-000000000050/"
			d.made(campaign+"off/", nil)
			s.TryCreate(t, apptest.InCampaign("019d0000-0000-7000-8000-000000000050")).Want(t, http.StatusBadRequest, nil)
			d.made(campaign+"on/", nil)
			s.Create(t, apptest.InCampaign("019d0000-0000-7000-8000-000000000050"))
		})
		t.Run("what another tenant has is not there", func(t *testing.T) {
			bound := desk{t, s, signedIn(t, s, store.Administrator, apptest.Shop)}
			for _, path := range []string{"/dashboard/setup/tenants/" + apptest.Rival + "/", shopSetup + "hosted-pages/" + rivalPage + "/", shopSetup + "nonsense/" + standardPage + "/", "/dashboard/setup/tenants/" + apptest.Rival + "/export/"} {
				bound.get(path, http.StatusNotFound)
			}
			bound.post("/dashboard/setup/tenants/"+apptest.Rival+"/", url.Values{"name": {"Mine"}}, http.StatusNotFound)
		})
	})
}

func TestConnectionsAndReceiversAreTried(t *testing.T) {
	t.Parallel()
	apptest.EachWith(t, allowPrivate, func(t *testing.T, s *apptest.Server) {
		d := desk{t, s, signedIn(t, s, store.Administrator)}
		d.wants(string(d.post(shopSetup+"gateways/019d0000-0000-7000-8000-000000000010/try/", nil, http.StatusOK).Raw), "The gateway answers.")

		got := make(chan http.Header, 2)
		var status atomic.Int32
		status.Store(http.StatusOK)
		receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got <- r.Header
			w.WriteHeader(int(status.Load()))
			_, _ = w.Write([]byte("heard & noted"))
		}))
		t.Cleanup(receiver.Close)
		answer := string(d.post(shopSetup+"webhook-profiles/", url.Values{"name": {"Tried"}, "url": {receiver.URL}, "payload": {"contract"}}, http.StatusOK).Raw)
		path := regexp.MustCompile(`action="([^"]+/webhook-profiles/[^"]+/)try/"`).FindStringSubmatch(answer)[1]
		d.wants(string(d.post(path+"try/", nil, http.StatusOK).Raw), "Delivered: answered 200", "heard &amp; noted")
		if header := <-got; header.Get("X-Service-Event") != "webhook.test" || header.Get("Webhook-Signature") == "" {
			t.Errorf("the receiver got %v", header)
		}
		status.Store(http.StatusTeapot)
		d.wants(string(d.post(path+"try/", nil, http.StatusOK).Raw), "Not delivered: answered 418")
		secret := regexp.MustCompile(`whsec_[^<"]+`)
		sent := url.Values{"version": {d.version(path)}}
		if before, after := secret.FindString(answer), secret.FindString(string(d.post(path+"rotate/", sent, http.StatusOK).Raw)); after == "" || after == before {
			t.Error("the secret is the old one")
		}
		again := string(d.post(path+"rotate/", sent, http.StatusConflict).Raw) // by loading the answer anew
		if d.wants(again, "no further secret was made"); secret.MatchString(again) {
			t.Error("another secret was made")
		}
	})
	t.Run("a private network is out of reach", func(t *testing.T) {
		s := apptest.SQLite(t, apptest.Options{})
		d := desk{t, s, signedIn(t, s, store.Administrator)}
		tried := string(d.post(shopSetup+"webhook-profiles/019d0000-0000-7000-8000-000000000020/try/", nil, http.StatusOK).Raw)
		d.wants(tried, "There was no answer.", "network that webhooks may not reach")
	})
}

// allowPrivate lets a server send events to this machine.
var allowPrivate = apptest.Options{Change: func(c *config.Settings) { c.WebhookAllowPrivate = "true" }}
