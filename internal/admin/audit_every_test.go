package admin_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/app/apptest"
	"sepad/internal/payment"
	"sepad/internal/people"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// walk makes one changing call after the other, as an administrator's program.
type walk struct {
	t     *testing.T
	s     *apptest.Server
	key   string
	shop  objects
	calls map[string]bool
}

// trail counts the entries that name who did something from where, to what, and what it
// changed.
func (w *walk) trail() int {
	return storetest.Scalar[int](w.t, w.s.Env, `SELECT COUNT(*) FROM audit_entries WHERE actor = 'token:script' AND operator_id IS NOT NULL AND address = '127.0.0.1'
		AND action <> '' AND object_type <> '' AND object_id <> '' AND (was IS NOT NULL OR became IS NOT NULL)`)
}

// does makes the call of a route, which is to leave an entry.
func (w *walk) does(route string, status int, r apptest.Request) apptest.Answer {
	w.t.Helper()
	method, pattern, _ := strings.Cut(route, " ")
	if r.Path == "" {
		r.Path = w.shop.address(pattern)
	}
	r.Method, r.Key = method, w.key
	before := w.trail()
	answer := w.s.Do(w.t, r).Want(w.t, status, nil)
	if w.trail() == before {
		w.t.Errorf("%s leaves nothing in the audit trail", route)
	}
	w.calls[route] = true
	return answer
}

func withBody(body any) apptest.Request { return apptest.Request{Body: body} }

func at(path string, body any) apptest.Request { return apptest.Request{Path: path, Body: body} }

// TestEveryChangeLeavesAnEntry makes every changing call that the rights table names, and
// fails for one that it does not know.
func TestEveryChangeLeavesAnEntry(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		w := &walk{t, s, tokenOf(t, s, store.Administrator), own(t, s), map[string]bool{}}
		w.people()
		w.money()
		w.bank()
		w.setup()
		w.does("POST /admin/v1/clock/", http.StatusOK, withBody(apptest.Body{"advance": "1h"}))
		for _, right := range people.Rights {
			method, pattern, _ := strings.Cut(right.Route, " ")
			if method != http.MethodGet && !strings.HasPrefix(pattern, "/dashboard/") && !w.calls[right.Route] {
				t.Errorf("nobody has looked whether %s leaves an entry", right.Route)
			}
		}
		if _, _, err := s.App.Store.VerifyAudit(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func (w *walk) people() {
	const operators, tokens = "/admin/v1/operators/", "/admin/v1/tokens/"
	token := w.does("POST "+tokens, http.StatusCreated, withBody(apptest.Body{"name": "second"})).Text(w.t, "id")
	w.does("DELETE "+tokens+"{id}/", http.StatusNoContent, at(tokens+token+"/", nil))
	person := operators + w.does("POST "+operators, http.StatusCreated, withBody(apptest.Body{"email": apptest.Email(), "role": "viewer"})).Text(w.t, "id") + "/"
	w.does("PATCH "+operators+"{id}/", http.StatusOK, at(person, apptest.Body{"role": "support"}))
	w.does("POST "+operators+"{id}/reset/", http.StatusOK, at(person+"reset/", nil))
	w.does("DELETE "+operators+"{id}/", http.StatusNoContent, at(person, nil))
}

// money is what is done to payments, subscriptions, events and those who paid.
func (w *walk) money() {
	const steer = "POST /admin/v1/subscriptions/{id}/"
	w.does(steer+"pause/", http.StatusOK, withBody(nil))
	w.does(steer+"resume/", http.StatusOK, withBody(nil))
	w.does(steer+"change/", http.StatusOK, withBody(apptest.Body{"amount": "31.00"}))
	w.does(steer+"cancel/", http.StatusOK, withBody(nil))
	w.does("POST /admin/v1/transactions/{id}/refunds/", http.StatusCreated, withBody(apptest.Body{"amount": "1.00"}))
	w.does("POST /admin/v1/mails/{id}/resend/", http.StatusOK, withBody(nil))
	w.does("POST /admin/v1/webhook-deliveries/{id}/resend/", http.StatusOK, withBody(nil))
	w.s.Env.OutOfLine(w.t)
	w.s.Env.Exec(w.t, `UPDATE events SET delivery_status = 'failed', next_attempt_at = NULL`)
	w.does("POST /admin/v1/webhook-deliveries/resend/", http.StatusOK, withBody(apptest.Body{"webhook_profile_id": apptest.Profile}))
	_, back := sale(w.t, w.s, apptest.Approved)
	w.does("POST /admin/v1/chargebacks/", http.StatusCreated, withBody(apptest.Body{"transaction_id": back, "reason_code": "MD06"}))
	_, sold := sale(w.t, w.s, apptest.Approved)
	line := header + wantTransaction(w.t, w.s, sold, nil).Text(w.t, "merchant_transaction_id") + ",,charged_back,,49.00,EUR," + w.s.Now(w.t).Format("2006-01-02") + ",,,\n"
	w.does("POST /admin/v1/imports/", http.StatusCreated, upload(w.t, imports, "transactions", line, nil))
	w.does("POST /admin/v1/reconciliations/", http.StatusOK, upload(w.t, reconciliations, "transactions", line, apptest.Body{"apply": true}))
	w.does("POST /admin/v1/leads/{id}/erase/", http.StatusOK, withBody(nil))
}

// bank is what is done about an account at a bank.
func (w *walk) bank() {
	const house = "018f0000-0000-7000-8000-0000000000b1"
	w.t.Cleanup(func() { w.s.Stop(w.t) }) // before its folder is taken away
	w.s.Apply(w.t, fmt.Sprintf(`tenants:
  - id: %s
    name: Bergladen
    creditor: {name: Bergladen GmbH, address: "Hangweg 1, 83471 Berchtesgaden, DE", identifier: DE98ZZZ09999999999}
    gateways:
      - {id: %s, name: House bank, adapter: bank, test_mode: true, descriptor: BERGLADEN, settings: {account_iban: DE89370400440532013000, folder: %s}}
`, apptest.Shop, house, filepath.Join(w.t.TempDir(), "bank")))
	account := apptest.Body{"gateway_id": house}
	_, sent := paidPending(w.t, w.s, house)
	w.does("POST /admin/v1/bank-connections/test/", http.StatusOK, withBody(account))
	w.does("POST /admin/v1/transactions/{id}/hold/", http.StatusOK, at(transactions+sent+"/hold/", nil))
	w.does("POST /admin/v1/transactions/{id}/release/", http.StatusOK, at(transactions+sent+"/release/", nil))
	file := w.does("POST /admin/v1/bank-files/", http.StatusCreated, withBody(account)).Text(w.t, "results.0.id")
	content := string(w.s.Do(w.t, operator("/admin/v1/bank-files/"+file+"/content/", nil)).Want(w.t, http.StatusOK, nil).Raw)
	message := storetest.Scalar[string](w.t, w.s.Env, `SELECT message_id FROM bank_files WHERE id = $1`, file)
	other := strings.ReplaceAll(content, message, message[:len(message)-1]+"_")
	w.does("POST /admin/v1/bank-files/adopt/", http.StatusCreated, upload(w.t, "/admin/v1/bank-files/adopt/", "", other, account))
	statement, err := os.ReadFile("../iso20022/testdata/dutch-batch.camt.053.001.02.xml")
	if err != nil {
		w.t.Fatal(err)
	}
	w.does("POST /admin/v1/bank-statements/", http.StatusCreated, upload(w.t, "/admin/v1/bank-statements/", "", string(statement), account))
	entry := storetest.Scalar[string](w.t, w.s.Env, `SELECT CAST(id AS TEXT) FROM bank_lines WHERE kind = 'returned' AND result = 'unmatched' ORDER BY id LIMIT 1`)
	w.does("POST /admin/v1/bank-entries/{id}/assign/", http.StatusOK, at("/admin/v1/bank-entries/"+entry+"/assign/", apptest.Body{"transaction_id": sent}))
	w.s.Env.Exec(w.t, `UPDATE deployment SET banks_restored_to = 5`)
	w.does("POST /admin/v1/bank-connections/resume/", http.StatusOK, withBody(account))
}

// paidPending pays through an account that collects later.
func paidPending(t *testing.T, s *apptest.Server, gatewayID string) (token, id string) {
	t.Helper()
	return paid(t, s, apptest.Direct().With(apptest.Body{"gateway_id": gatewayID}), apptest.Approved)
}

// setup makes a record of every kind, changes it and switches it off.
func (w *walk) setup() {
	const one = "/admin/v1/tenants/{tenant_id}/"
	pause := payment.RebillPause{TenantID: uuid.MustParse(apptest.Shop), GatewayID: uuid.MustParse(apptest.Gateway), Reason: payment.PausedByCreditorCode, Code: "RC01", Since: w.s.Env.Now}
	w.s.Env.Write(w.t, func(tx *store.Tx) error { tx.PauseRebills(pause); return nil })
	w.does("POST "+one+"gateways/{id}/resume/", http.StatusOK, withBody(nil))
	w.does("POST /admin/v1/tenants/", http.StatusCreated, withBody(apptest.Body{"name": "New Shop"}))
	w.does("PATCH "+one, http.StatusOK, withBody(apptest.Body{"allowed_origins": []string{"https://shop.example"}}))
	key := w.does("POST "+one+"api-keys/", http.StatusCreated, withBody(apptest.Body{"name": "walk"})).Text(w.t, "id")
	w.does("DELETE "+one+"api-keys/{id}/", http.StatusNoContent, at(ofShop("api-keys")+key+"/", nil))
	records := []struct {
		kind         string
		body, change apptest.Body
	}{
		{"gateways", apptest.Body{"name": "Second", "adapter": "sandbox"}, apptest.Body{"descriptor": "SHOP"}},
		{"webhook-profiles", apptest.Body{"name": "Second", "url": "http://127.0.0.1:9/x"}, apptest.Body{"url": "http://127.0.0.1:9/y"}},
		{"hosted-pages", apptest.Body{"name": "Second"}, apptest.Body{"show_product_name": false}},
		{"offers", apptest.Body{"name": "Second", "price": 4.5, "currency": "EUR", "billing_type": "ONE_OFF"}, apptest.Body{"price": "5.00"}},
		{"campaigns", apptest.Body{"name": "Second", "offer_id": apptest.PosterOffer, "gateway_id": apptest.Gateway}, apptest.Body{"max_payment_attempts": 2}},
	}
	for _, r := range records {
		id := ofShop(r.kind) + w.does("POST "+one+r.kind+"/", http.StatusCreated, withBody(r.body)).Text(w.t, "id") + "/"
		w.does("PATCH "+one+r.kind+"/{id}/", http.StatusOK, at(id, r.change))
		if r.kind == "webhook-profiles" {
			w.does("POST "+one+r.kind+"/{id}/rotate-secret/", http.StatusOK, at(id+"rotate-secret/", nil))
		}
		w.does("DELETE "+one+r.kind+"/{id}/", http.StatusNoContent, at(id, nil))
	}
}
