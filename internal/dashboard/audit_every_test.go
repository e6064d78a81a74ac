package dashboard_test

import (
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/app/apptest"
	"sepad/internal/payment"
	"sepad/internal/people"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// walk sends one form after the other, as an administrator.
type walk struct {
	desk
	c     counter
	forms map[string]bool
}

// walkedElsewhere are forms that change nothing, or that take a browser.
var walkedElsewhere = map[string]string{
	"POST /dashboard/account/passkeys/question/": "asks a browser for a passkey, and changes nothing",
	"POST /dashboard/account/passkeys/":          "takes a browser: TestPasskeys",
}

// trail counts the entries that name who did something from where, to what.
func (w *walk) trail() int {
	return storetest.Scalar[int](w.t, w.s.Env, `SELECT COUNT(*) FROM audit_entries WHERE actor = 'operator:`+people.DeveloperEmail+`' AND operator_id IS NOT NULL
		AND address = '127.0.0.1' AND action <> '' AND object_type <> '' AND object_id <> ''`)
}

// does sends the form of a route, which is to leave an entry.
func (w *walk) does(route, path string, status int, r apptest.Request) apptest.Answer {
	w.t.Helper()
	before := w.trail()
	r.Path = path
	answer := w.s.Do(w.t, r).Want(w.t, status, nil)
	if w.trail() == before {
		w.t.Errorf("%s leaves nothing in the audit trail", route)
	}
	w.forms["POST /dashboard/"+route] = true
	return answer
}

func (w *walk) form(fields url.Values) apptest.Request {
	r := browse(w.s, http.MethodPost, "", w.cookie)
	r.Body = fields.Encode()
	return r
}

func (w *walk) file(content string, fields map[string]string) apptest.Request {
	return handIn(w.t, w.s, "", w.cookie, "file", []byte(content), fields)
}

// on is a route below a record.
func (w *walk) on(list, id, verb string, fields url.Values) {
	w.t.Helper()
	w.does(list+"/{id}/"+verb+"/", "/dashboard/"+list+"/"+id+"/"+verb+"/", http.StatusSeeOther, w.form(fields))
}

// TestEveryFormLeavesAnEntry sends every form that the rights table names, and fails for
// one that it does not know.
func TestEveryFormLeavesAnEntry(t *testing.T) {
	t.Parallel()
	apptest.EachWith(t, allowPrivate, func(t *testing.T, s *apptest.Server) {
		w := &walk{desk{t, s, signedIn(t, s, store.Administrator)}, openCounter(t, s), map[string]bool{}}
		w.money()
		w.bank()
		w.setup()
		w.does("sandbox/pay/", "/dashboard/sandbox/pay/", http.StatusSeeOther, w.form(url.Values{"campaign": {apptest.MonthlyCampaign}, "iban": {apptest.Approved}}))
		w.does("sandbox/clock/", "/dashboard/sandbox/clock/", http.StatusSeeOther, w.form(url.Values{"by": {"day"}}))
		w.people()
		for _, right := range screens(t) {
			if strings.HasPrefix(right.Route, "POST ") && !w.forms[right.Route] && walkedElsewhere[right.Route] == "" {
				t.Errorf("nobody has looked whether %s leaves an entry", right.Route)
			}
		}
	})
}

func (w *walk) money() {
	w.on("subscriptions", w.c.subscription, "pause", nil)
	w.on("subscriptions", w.c.subscription, "resume", nil)
	w.on("subscriptions", w.c.subscription, "change", url.Values{"amount": {"31.50"}})
	w.on("subscriptions", w.c.subscription, "cancel", url.Values{"at": {"now"}})
	w.on("transactions", w.c.transaction, "refund", url.Values{"amount": {"1.00"}})
	w.on("transactions", w.c.transaction, "chargeback", url.Values{"reason_code": {"MD06"}})
	w.on("events", w.c.event, "resend", nil)
	w.s.Env.OutOfLine(w.t)
	w.s.Env.Exec(w.t, `UPDATE events SET delivery_status = 'failed', next_attempt_at = NULL`)
	w.does("events/resend/", "/dashboard/events/resend/", http.StatusSeeOther, w.form(url.Values{"webhook_profile_id": {apptest.Profile}}))
	const line = "merchant_transaction_id,status,amount,currency,date_processed\nP-1,approved,12.50,EUR,2026-03-01\n"
	fields := map[string]string{"tenant_id": apptest.Shop, "gateway_id": apptest.Gateway, "kind": "transactions"}
	w.does("imports/", "/dashboard/imports/", http.StatusOK, w.file(line, fields))
	fields["apply"] = "true"
	w.does("imports/matching/", "/dashboard/imports/matching/", http.StatusOK, w.file(line, fields))
}

func (w *walk) bank() {
	reference := openBank(w.t, w.s)
	statement, err := os.ReadFile("../iso20022/testdata/dutch-batch.camt.053.001.02.xml")
	if err != nil {
		w.t.Fatal(err)
	}
	w.does("bank-statements/", "/dashboard/bank-statements/", http.StatusOK, w.file(string(statement), map[string]string{"gateway_id": houseBank}))
	entry := storetest.Scalar[string](w.t, w.s.Env, `SELECT CAST(id AS TEXT) FROM bank_lines WHERE kind = 'returned' AND result = 'unmatched' ORDER BY id LIMIT 1`)
	w.on("bank-entries", entry, "assign", url.Values{"payment": {reference}})
	pause := payment.RebillPause{TenantID: uuid.MustParse(apptest.Shop), GatewayID: uuid.MustParse(apptest.Gateway), Reason: payment.PausedByCreditorCode, Code: "RC01", Since: w.s.Env.Now}
	w.s.Env.Write(w.t, func(tx *store.Tx) error { tx.PauseRebills(pause); return nil })
	w.on("setup/paused", apptest.Gateway, "resume", nil)
}

func (w *walk) setup() {
	const route = "setup/tenants/{tenant_id}/"
	w.does("setup/", "/dashboard/setup/", http.StatusSeeOther, w.form(url.Values{"name": {"Neuladen"}}))
	w.does(route, shopSetup, http.StatusSeeOther, w.form(url.Values{
		"version": {w.version(shopSetup)}, "name": {"Bergladen"}, "creditor.name": {"Bergladen AG"}, "creditor.address": {"Hangweg 1, 83471 Berchtesgaden, DE"}, "creditor.identifier": {"DE98ZZZ09999999999"},
	}))
	w.does(route+"api-keys/", shopSetup+"api-keys/", http.StatusOK, w.form(url.Values{"name": {"walk"}, "scopes": {"payments"}}))
	key := storetest.Scalar[string](w.t, w.s.Env, `SELECT CAST(id AS TEXT) FROM api_keys WHERE name = 'walk'`)
	w.does(route+"api-keys/{id}/revoke/", shopSetup+"api-keys/"+key+"/revoke/", http.StatusSeeOther, w.form(nil))
	offer := url.Values{"name": {"Second"}, "price": {"4.50"}, "currency": {"EUR"}, "billing_type": {"ONE_OFF"}}
	made, _, _ := strings.Cut(w.does(route+"{kind}/", shopSetup+"offers/", http.StatusSeeOther, w.form(offer)).Header.Get("Location"), "?")
	offer.Set("price", "5.00")
	offer.Set("version", w.version(made))
	w.does(route+"{kind}/{id}/", made, http.StatusSeeOther, w.form(offer))
	w.does(route+"{kind}/{id}/off/", made+"off/", http.StatusSeeOther, w.form(nil))
	w.does(route+"{kind}/{id}/on/", made+"on/", http.StatusSeeOther, w.form(nil))
	w.does(route+"{kind}/{id}/try/", shopSetup+"gateways/"+apptest.Gateway+"/try/", http.StatusOK, w.form(nil))
	profile := shopSetup + "webhook-profiles/" + apptest.Profile + "/"
	w.does(route+"{kind}/{id}/rotate/", profile+"rotate/", http.StatusOK, w.form(url.Values{"version": {w.version(profile)}}))
}

// people comes last: it ends with signing out.
func (w *walk) people() {
	w.does("people/", "/dashboard/people/", http.StatusOK, w.form(url.Values{"email": {"bob@counter.example"}, "role": {"viewer"}}))
	bob, err := w.s.App.Store.OperatorByEmail(w.t.Context(), "bob@counter.example")
	if err != nil {
		w.t.Fatal(err)
	}
	w.on("people", bob.ID.String(), "role", url.Values{"role": {"support"}})
	w.does("people/{id}/reset/", "/dashboard/people/"+bob.ID.String()+"/reset/", http.StatusOK, w.form(nil))
	w.on("people", bob.ID.String(), "remove", nil)
	w.does("account/tokens/", "/dashboard/account/tokens/", http.StatusOK, w.form(url.Values{"name": {"walk"}, "days": {"1"}}))
	token := storetest.Scalar[string](w.t, w.s.Env, `SELECT CAST(id AS TEXT) FROM operator_tokens WHERE name = 'walk'`)
	w.on("account/tokens", token, "revoke", nil)
	me, err := w.s.App.Store.OperatorByEmail(w.t.Context(), people.DeveloperEmail)
	if err != nil {
		w.t.Fatal(err)
	}
	key := store.Passkey{ID: payment.NewID(), OperatorID: me.ID, Name: "Key ring", CredentialID: "x", Credential: "{}", CreatedAt: w.s.Env.Now}
	w.s.Env.Write(w.t, func(tx *store.Tx) error { tx.AddPasskey(key); return nil })
	w.on("account/passkeys", key.ID.String(), "remove", nil)
	w.does("sign-out/", "/dashboard/sign-out/", http.StatusSeeOther, w.form(nil))
	w.cookie = signedIn(w.t, w.s, store.Administrator)
	w.does("sign-out-everywhere/", "/dashboard/sign-out-everywhere/", http.StatusSeeOther, w.form(nil))
}
