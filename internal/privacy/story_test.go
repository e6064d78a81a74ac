package privacy_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/app/apptest"
	"sepad/internal/config"
	"sepad/internal/gateway/bank/playedbank"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

const houseBank = "019d0000-0000-7000-8000-0000000000b1"

// The person of the story, in words that stand nowhere else.
const (
	firstName  = "Wilhelmine"
	lastName   = "Ostertagen"
	holder     = firstName + " " + lastName
	email      = "Wilhelmine.Ostertagen@Nebelpost.example"
	street     = "Nebelgasse 77"
	city       = "Lindenhausen"
	postalCode = "NX9 8ZW" // with a space: five digits stand in one of some thousand hashes
	phone      = "+49 30 99817445"
	clientIP   = "203.0.113.77"
	account    = "AT611904300234573201"
)

// traces are what must not be found anywhere after the erasure, in lower case.
var traces = []string{
	strings.ToLower(firstName), strings.ToLower(lastName), "nebelpost", "nebelgasse", "lindenhausen", strings.ToLower(postalCode), "99817445", clientIP,
	"at611904300234573201", "***3201", "netscape/77", "de35370400440532013002", "de56370400440532013012",
}

func lead() apptest.Body {
	return apptest.Body{
		"first_name": firstName, "last_name": lastName, "email": email, "country": "AT", "address": street, "city": city,
		"postal_code": postalCode, "phone": phone,
	}
}

// story is a shop at which a person has done all that a person can do.
type story struct {
	*apptest.Server
	leadID uuid.UUID
	// bystander has bought as well, and is not asked about.
	bystander uuid.UUID
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// options let webhooks reach the test.
var options = apptest.Options{Change: func(s *config.Settings) { s.WebhookAllowPrivate = "true" }}

func tell(t *testing.T, s *apptest.Server) *story {
	t.Helper()
	// The receiver repeats what it was sent, and its answer is kept.
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusOK)
		fmt.Fprintf(w, "thanks for %s", sent)
	}))
	t.Cleanup(receiver.Close)
	folder := filepath.Join(t.TempDir(), "bank")
	t.Cleanup(func() { s.Stop(t) }) // before its folder is taken away
	s.Apply(t, fmt.Sprintf(`tenants:
  - id: %s
    name: Bergladen
    creditor: {name: Bergladen GmbH, address: "Hangweg 1, 83471 Berchtesgaden, DE", identifier: DE98ZZZ09999999999}
    webhook_profiles:
      - {id: %s, name: Backend, url: %q, default: true, events: ["*"]}
    gateways:
      - {id: %s, name: House bank, adapter: bank, test_mode: true, descriptor: BERGLADEN, settings: {account_iban: DE89370400440532013000, folder: %q}}
`, apptest.Shop, apptest.Profile, receiver.URL, houseBank, folder))
	told := &story{Server: s}
	s.Completed(t, apptest.Direct())
	told.bystander = leadID(t, s, "SELECT CAST(id AS TEXT) FROM leads")
	told.buy(t)
	told.collectThroughBank(t)
	told.importLines(t)
	told.leadID = leadID(t, s, "SELECT CAST(id AS TEXT) FROM leads WHERE first_name = '"+firstName+"'")
	apptest.Eventually(t, "every event was delivered", func() bool {
		return storetest.Scalar[int](t, s.Env, `SELECT (SELECT COUNT(*) FROM events_in_line) + (SELECT COUNT(*) FROM events WHERE delivery_status <> 'delivered' AND webhook_profile_id IS NOT NULL)`) == 0
	})
	return told
}

func leadID(t *testing.T, s *apptest.Server, query string) uuid.UUID {
	t.Helper()
	return uuid.MustParse(storetest.Scalar[string](t, s.Env, query))
}

// buy pays on the page, verifies a mandate, subscribes, is billed and takes money back.
func (s *story) buy(t *testing.T) {
	t.Helper()
	hosted := s.Create(t, apptest.Body{"campaign_id": apptest.HostedCampaign, "lead": lead(), "customer_ip": clientIP})
	s.payOnPage(t, hosted)
	verified := s.Create(t, apptest.Direct().With(apptest.Body{"lead": lead()}))
	s.Pay(t, verified, apptest.VerificationApproved, apptest.Body{"iban_holder_name": holder}).Want(t, http.StatusOK, nil)
	s.Verify(t, verified).Want(t, http.StatusOK, apptest.Fields{"status": "completed"})
	monthly := s.Create(t, apptest.Body{"campaign_id": apptest.MonthlyCampaign, "lead": lead(), "customer_ip": clientIP})
	s.Pay(t, monthly, account, apptest.Body{"iban_holder_name": holder}).Want(t, http.StatusOK, apptest.Fields{"status": "completed"})
	back := s.Create(t, apptest.Direct().With(apptest.Body{"lead": lead()}))
	s.Pay(t, back, apptest.Chargeback, apptest.Body{"iban_holder_name": holder}).Want(t, http.StatusOK, apptest.Fields{"status": "completed"})
	refused := s.Create(t, apptest.Direct().With(apptest.Body{"lead": lead()}))
	s.Pay(t, refused, apptest.DeclinedInsufficientFunds, apptest.Body{"iban_holder_name": holder})
	s.Cancel(t, refused)
	s.Advance(t, 32*24*time.Hour)
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([a-z_]+)" value="([^"]*)">`)

func (s *story) payOnPage(t *testing.T, token string) {
	t.Helper()
	path := "/pay/" + token + "/"
	page := s.Do(t, apptest.Request{Path: path})
	form := url.Values{"iban": {account}, "iban_holder_name": {holder}, "mandate": {"agreed"}}
	for _, field := range hidden.FindAllStringSubmatch(string(page.Raw), -1) {
		form.Set(field[1], html.UnescapeString(field[2]))
	}
	s.Do(t, apptest.Request{
		Path: path, Body: form.Encode(),
		Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded", "User-Agent": "Netscape/77", "Origin": s.URL},
	}).Want(t, http.StatusSeeOther, nil)
	s.WantStatus(t, token, "COMPLETED")
}

// collectThroughBank has a payment go to the bank and come back in a statement.
func (s *story) collectThroughBank(t *testing.T) {
	t.Helper()
	token := s.Create(t, apptest.Direct().With(apptest.Body{"gateway_id": houseBank, "lead": lead()}))
	s.Pay(t, token, apptest.Chargeback, apptest.Body{"iban_holder_name": holder}).Want(t, http.StatusOK, nil)
	bank, err := s.App.Banking.Find(t.Context(), "House bank")
	must(t, err)
	now := s.Now(t)
	s.Advance(t, bank.Terms.NextCutOff(now).Sub(now)+time.Second)
	for range 2 {
		s.Advance(t, 7*24*time.Hour)
		_, err = s.App.Banking.Answer(bank, playedbank.Shapes[0], nil, s.Now(t))
		must(t, err)
		_, err = s.App.Banking.Receive(t.Context(), bank)
		must(t, err)
	}
	if lines := s.Env.Count(t, "bank_lines"); lines == 0 {
		t.Fatal("the bank said nothing")
	}
}

const (
	paymentLine    = "IMPORTED-77,GW-77,approved,sdd_sale,12.00,EUR,2026-02-01T10:00:00Z,AT61 1904 3002 3457 3201,Wilhelmine Ostertagen,wilhelmine.OSTERTAGEN@nebelpost.example\n"
	chargebackLine = "UNKNOWN-77,GW-78,12.00,EUR,2026-03-01T10:00:00Z,MD06,AT611904300234573201,Wilhelmine.Ostertagen@nebelpost.example,Frau Ostertagen war es nicht\n"
	paymentHead    = "merchant_transaction_id,adapter_unique_id,status,type,amount,currency,date_processed,iban,customer_name_csv,customer_email_csv\n"
	chargebackHead = "merchant_transaction_id,adapter_unique_id,amount,currency,report_date,reason_code,iban,email,report_message\n"
)

// importLines takes in what processors say of the person: a payment and a chargeback
// that no session of ours has to do with.
func (s *story) importLines(t *testing.T) {
	t.Helper()
	s.take(t, "transactions", paymentHead+paymentLine)
	s.take(t, "chargebacks", chargebackHead+chargebackLine)
}

func (s *story) take(t *testing.T, kind, file string) apptest.Answer {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, value := range map[string]string{"tenant_id": apptest.Shop, "gateway_id": apptest.Gateway, "kind": kind, "send_events": "true"} {
		must(t, form.WriteField(name, value))
	}
	part, err := form.CreateFormFile("file", "report.csv")
	must(t, err)
	_, err = part.Write([]byte(file))
	must(t, err)
	must(t, form.Close())
	return s.Do(t, apptest.Request{
		Path: "/admin/v1/imports/", Key: apptest.AdminToken, Body: body.String(),
		Header: map[string]string{"Content-Type": form.FormDataContentType()},
	}).Want(t, http.StatusCreated, apptest.Fields{"counts.rejected": 0})
}

func (s *story) export(t *testing.T, leadID uuid.UUID) (all map[string]any) {
	t.Helper()
	answer := s.Do(t, apptest.Request{Path: "/admin/v1/leads/" + leadID.String() + "/export/", Key: apptest.AdminToken}).Want(t, http.StatusOK, nil)
	must(t, json.Unmarshal(answer.Raw, &all))
	delete(all, "exported_at")
	return all
}

func (s *story) erase(t *testing.T) apptest.Answer {
	t.Helper()
	return s.Do(t, apptest.Request{
		Method: http.MethodPost, Path: "/admin/v1/leads/" + s.leadID.String() + "/erase/", Key: apptest.AdminToken,
	})
}

// found lists where a trace of the person stands in the database: every value of
// every column of every table, but for the files that were exchanged with banks.
func (s *story) found(t *testing.T) (places []string) {
	t.Helper()
	archived := map[string][]string{}
	for _, table := range store.PersonalTables {
		archived[table.Name] = table.Archived.Names()
	}
	db := s.Env.DB(t)
	defer db.Close()
	for _, table := range s.Env.Tables(t, db) {
		places = append(places, tracesIn(t, db, table, archived[table])...)
	}
	return places
}

func tracesIn(t *testing.T, db *sql.DB, table string, leftOut []string) (places []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT * FROM "+table)
	must(t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	must(t, err)
	for rows.Next() {
		values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		must(t, rows.Scan(into...))
		for i, value := range values {
			if slices.Contains(leftOut, columns[i]) || strings.HasSuffix(columns[i], "_at") || strings.HasSuffix(columns[i], "id") {
				continue
			}
			for _, trace := range traces {
				if strings.Contains(strings.ToLower(value.String), trace) {
					places = append(places, table+"."+columns[i]+": "+trace)
				}
			}
		}
	}
	must(t, rows.Err())
	return places
}

// sealed counts the person's sealed values that are left.
func (s *story) sealed(t *testing.T) int {
	t.Helper()
	return storetest.Scalar[int](t, s.Env, `SELECT
		(SELECT COUNT(*) FROM transactions WHERE iban_sealed <> '' AND CAST(lead_id AS TEXT) = $1) +
		(SELECT COUNT(*) FROM subscriptions WHERE iban_sealed <> '' AND CAST(lead_id AS TEXT) = $1) +
		(SELECT COUNT(*) FROM bank_lines l JOIN transactions t ON t.id = l.transaction_id WHERE l.text_sealed <> '' AND CAST(t.lead_id AS TEXT) = $1)`,
		s.leadID.String())
}
