package dashboard_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/app/apptest"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// counter is a shop with a subscription of a person, and a rival with a payment from
// the same account.
type counter struct {
	email                                                                 string
	session, transaction, subscription, lead, chargeback, event, campaign string
	reference, order, mandate                                             string
	rivals                                                                []string
}

func openCounter(t *testing.T, s *apptest.Server) (c counter) {
	t.Helper()
	c.email = apptest.Email()
	lead := apptest.Lead().With(apptest.Body{"email": c.email, "last_name": "Österling"})
	token := s.Create(t, apptest.InCampaign(apptest.MonthlyCampaign).With(apptest.Body{"lead": lead}))
	c.transaction = s.Pay(t, token, apptest.Approved, apptest.Body{"tenant_reference_id": "order-7"}).Want(t, http.StatusOK, nil).Text(t, "transaction.id")
	rival := s.Do(t, apptest.Request{Path: apptest.Sessions, Key: s.RivalKey, Body: apptest.InCampaign(apptest.RivalCampaign)}).Text(t, "session_token")
	rivalSale := s.Pay(t, rival, apptest.Approved).Want(t, http.StatusOK, nil).Text(t, "transaction.id")
	read := func(query string, args ...any) string { return storetest.Scalar[string](t, s.Env, query, args...) }
	const shop = `tenant_id = '` + apptest.Shop + `'`
	c.session = read(`SELECT CAST(id AS TEXT) FROM sessions WHERE ` + shop)
	c.lead = read(`SELECT CAST(lead_id AS TEXT) FROM sessions WHERE ` + shop)
	c.subscription = read(`SELECT CAST(id AS TEXT) FROM subscriptions WHERE ` + shop)
	c.reference = read(`SELECT merchant_transaction_id FROM transactions WHERE ` + shop)
	c.mandate = read(`SELECT mandate_reference FROM transactions WHERE ` + shop)
	c.order = read(`SELECT order_number FROM orders WHERE ` + shop)
	c.event = read(`SELECT CAST(id AS TEXT) FROM events WHERE kind = 'transaction.created' AND ` + shop)
	const other = ` WHERE tenant_id = '` + apptest.Rival + `'`
	c.rivals = []string{
		rivalSale, read(`SELECT CAST(id AS TEXT) FROM sessions` + other), read(`SELECT CAST(lead_id AS TEXT) FROM sessions` + other),
		read(`SELECT merchant_transaction_id FROM transactions` + other), read(`SELECT mandate_reference FROM transactions` + other),
		read(`SELECT email FROM leads` + other),
	}
	return c
}

// exported reads a list as JSON and gives what it holds in a column.
func exported(t *testing.T, s *apptest.Server, cookie, address, column string) (values []string) {
	t.Helper()
	join := "?"
	if strings.Contains(address, "?") {
		join = "&"
	}
	answer := s.Do(t, browse(s, http.MethodGet, address+join+"format=json&columns="+column, cookie)).Want(t, http.StatusOK, nil)
	var rows []map[string]string
	if err := json.Unmarshal(answer.Raw, &rows); err != nil {
		t.Fatalf("%s is no JSON: %v\n%s", address, err, answer.Raw)
	}
	for _, row := range rows {
		values = append(values, row[column])
	}
	return values
}

func TestTheSearchFieldFindsWhateverIsTyped(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		c := openCounter(t, s)
		s.Do(t, apptest.Request{
			Path: "/admin/v1/chargebacks/", Key: apptest.AdminToken, Body: apptest.Body{"transaction_id": c.transaction, "reason_code": "AM04"},
		}).Want(t, http.StatusCreated, nil)
		cookie := signedIn(t, s, store.Finance, apptest.Shop)
		last4 := apptest.Approved[len(apptest.Approved)-4:]
		amount := storetest.Scalar[string](t, s.Env, `SELECT CAST(amount_minor AS TEXT) FROM transactions WHERE tenant_id = '`+apptest.Shop+`'`)
		amount = amount[:len(amount)-2] + "," + amount[len(amount)-2:] + " €"
		typed := []string{
			c.email, strings.ToUpper(c.email), last4, "…" + last4, apptest.Approved, amount, c.reference, strings.ToLower(c.reference), c.order, c.mandate,
			c.transaction, "order-7", apptest.HolderName, "Österling", "österling", apptest.FirstName + " österling",
		}
		for list, column := range map[string]string{
			"transactions": "merchant_transaction_id", "sessions": "id", "subscriptions": "id", "leads": "id", "mandates": "mandate_reference_id",
			"chargebacks": "merchant_transaction_id",
		} {
			want := map[string]string{"sessions": c.session, "subscriptions": c.subscription, "leads": c.lead, "mandates": c.mandate}[list]
			if want == "" {
				want = c.reference
			}
			for _, text := range typed {
				if skips(list, text) {
					continue
				}
				if got := exported(t, s, cookie, "/dashboard/"+list+"/?q="+url.QueryEscape(text), column); !slices.Equal(got, []string{want}) {
					t.Errorf("%s: %q finds %v, want %s", list, text, got, want)
				}
			}
			if got := exported(t, s, cookie, "/dashboard/"+list+"/?q=nobody+has+this", column); got != nil {
				t.Errorf("%s: what nobody has is found: %v", list, got)
			}
		}
		for _, text := range []string{c.transaction, c.reference, c.email} {
			if got := exported(t, s, cookie, "/dashboard/events/?q="+url.QueryEscape(text), "about"); !slices.Contains(got, c.transaction) {
				t.Errorf("events: %q finds what is about %v", text, got)
			}
		}
	})
}

// skips tells what a list cannot know.
func skips(list, text string) bool {
	switch {
	case text == "order-7": // a merchant's own reference is a session's or a payment's
		return list != "transactions" && list != "sessions"
	case strings.HasPrefix(text, "ORD-"): // and an order's number not a person's
		return list == "leads"
	default:
		return false
	}
}

func TestListsAreNarrowedByTheirAddress(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		c := openCounter(t, s)
		declined := s.Create(t, apptest.InCampaign(apptest.ServerCampaign))
		s.Pay(t, declined, apptest.DeclinedInsufficientFunds)
		cookie := signedIn(t, s, store.Finance)
		for address, want := range map[string]int{
			"/dashboard/transactions/":                                            3,
			"/dashboard/transactions/?status=declined":                            1,
			"/dashboard/transactions/?status=approved&tenant_id=" + apptest.Shop:  1,
			"/dashboard/transactions/?payment_gateway_id=" + apptest.RivalGateway: 1,
			"/dashboard/transactions/?from=2999-01-01":                            0,
			"/dashboard/transactions/?subscription_id=" + c.subscription:          1,
			"/dashboard/sessions/?status=COMPLETED":                               2,
			"/dashboard/sessions/?campaign_id=" + apptest.MonthlyCampaign:         1,
			"/dashboard/subscriptions/?status=ACTIVE":                             1,
			"/dashboard/leads/?tenant_id=" + apptest.Rival:                        1,
			"/dashboard/mandates/":                                                2,
			"/dashboard/imports/":                                                 0,
			"/dashboard/chargebacks/?reason_code=AM04":                            0,
		} {
			if got := exported(t, s, cookie, address, "tenant"); len(got) != want {
				t.Errorf("%s has %d records, want %d", address, len(got), want)
			}
		}
		for _, address := range []string{"/dashboard/transactions/?status=nonsense", "/dashboard/sessions/?campaign_id=7", "/dashboard/leads/?from=yesterday"} {
			s.Do(t, browse(s, http.MethodGet, address, cookie)).Want(t, http.StatusBadRequest, nil)
		}
		page := string(s.Do(t, browse(s, http.MethodGet, "/dashboard/transactions/?columns=amount,iban", cookie)).Want(t, http.StatusOK, nil).Raw)
		if strings.Count(page, `<th scope="col"`) != 2 || !strings.Contains(page, `data-label="Account"`) || strings.Contains(page, `data-label="Status"`) {
			t.Errorf("of two columns this is shown:\n%s", page)
		}
	})
}

func TestAListIsReadPageByPage(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const count = 120
		for i := range count {
			id := uuid.Must(uuid.NewV7()).String()
			s.Env.Exec(t, `INSERT INTO leads (tenant_id, id, email, email_key, first_name, last_name, country, address, city, postal_code, phone, created_at, updated_at)
				VALUES ($1, $2, $3, $4, 'A', 'B', 'DE', '', '', '', '', $5, 1)`, apptest.Shop, id, id, id, i+1)
		}
		cookie, address, seen := signedIn(t, s, store.Viewer), "/dashboard/leads/", 0
		for list, want := range map[string]string{"leads": ">120 found<", "sessions": "Not counted"} { // their leads are too many to follow all of them
			if page := string(s.Do(t, browse(s, http.MethodGet, "/dashboard/"+list+"/?q=B", cookie)).Want(t, http.StatusOK, nil).Raw); !strings.Contains(page, want) {
				t.Errorf("the search in %s does not say %q", list, want)
			}
		}
		for pages := 1; ; pages++ {
			page := string(s.Do(t, browse(s, http.MethodGet, address, cookie)).Want(t, http.StatusOK, nil).Raw)
			seen += strings.Count(page, "<tr>") - 1
			before, _, more := strings.Cut(page, `" rel="next"`)
			if !more {
				if pages != 3 || seen != count || !strings.Contains(page, ">120<") {
					t.Errorf("%d records on %d pages, want %d on 3", seen, pages, count)
				}
				break
			}
			address = "/dashboard/leads/" + strings.ReplaceAll(before[strings.LastIndex(before, `href="`)+len(`href="`):], "&amp;", "&")
		}
	})
}

func TestExportsAreForFinance(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	openCounter(t, s)
	for _, format := range []string{"csv", "json"} {
		address := "/dashboard/transactions/?status=approved&columns=amount,iban_holder_name&format=" + format
		s.Do(t, browse(s, http.MethodGet, address, signedIn(t, s, store.Support))).Want(t, http.StatusForbidden, nil)
		answer := s.Do(t, browse(s, http.MethodGet, address, signedIn(t, s, store.Finance))).Want(t, http.StatusOK, nil)
		if !strings.Contains(answer.Header.Get("Content-Disposition"), "transactions_") || !strings.Contains(string(answer.Raw), apptest.HolderName) {
			t.Errorf("the %s is %v\n%s", format, answer.Header, answer.Raw)
		}
	}
	if got := storetest.Scalar[int](t, s.Env, `SELECT COUNT(*) FROM audit_entries WHERE action = 'list.export'`); got != 2 {
		t.Errorf("%d exports are on record, want 2", got)
	}
}

// TestOtherTenantsAreNotThere walks every list, search, export, page and form as somebody
// who works for one tenant.
func TestOtherTenantsAreNotThere(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		c := openCounter(t, s)
		cookie := signedIn(t, s, store.Administrator, apptest.Shop)
		leaks := func(address string, raw []byte) {
			t.Helper()
			for _, secret := range c.rivals {
				// What was asked for may be said again.
				if strings.Contains(strings.ReplaceAll(string(raw), url.QueryEscape(secret), ""), secret) && !strings.Contains(address, url.QueryEscape(secret)) {
					t.Errorf("%s shows %s of another tenant", address, secret)
				}
			}
		}
		for _, list := range []string{"sessions", "transactions", "subscriptions", "chargebacks", "leads", "mandates", "events", "imports", "bank-files", "bank-statements", "bank-entries"} {
			base := "/dashboard/" + list + "/"
			addresses := []string{base, base + "?tenant_id=" + apptest.Rival}
			for _, secret := range c.rivals {
				addresses = append(addresses, base+"?q="+url.QueryEscape(secret))
			}
			for _, address := range addresses {
				for _, format := range []string{"", "csv", "json"} {
					joined := address + map[bool]string{true: "&", false: "?"}[strings.Contains(address, "?")] + "format=" + format
					answer := s.Do(t, browse(s, http.MethodGet, joined, cookie))
					leaks(joined, answer.Raw)
					if strings.Contains(address, "?") && answer.Status == http.StatusOK && strings.Contains(string(answer.Raw), "<tbody>") {
						t.Errorf("%s finds something", joined)
					}
				}
			}
			for _, secret := range c.rivals[:3] {
				for _, verb := range []string{"", "refund/", "chargeback/", "cancel/", "pause/", "resume/", "change/", "resend/"} {
					method := map[bool]string{true: http.MethodGet, false: http.MethodPost}[verb == ""]
					address := base + secret + "/" + verb
					if answer := s.Do(t, browse(s, method, address, cookie)); answer.Status < 400 {
						t.Errorf("%s %s is answered %d", method, address, answer.Status)
					}
				}
			}
		}
		s.Do(t, browse(s, http.MethodGet, "/dashboard/mandates/"+c.rivals[4]+"/", cookie)).Want(t, http.StatusNotFound, nil)
		for _, kind := range []string{"sessions", "transactions", "subscriptions", "chargebacks", "leads", "mandates", "webhook-deliveries", "imports"} {
			for _, secret := range c.rivals[:5] {
				if answer := s.Do(t, apptest.Request{Path: "/admin/v1/" + kind + "/" + secret + "/timeline/", Key: tokenOf(t, s, apptest.Shop)}); answer.Status != http.StatusNotFound {
					t.Errorf("the timeline of another tenant's %s is answered %d", kind, answer.Status)
				}
			}
		}
		form := browse(s, http.MethodPost, "/dashboard/events/resend/", cookie)
		form.Body = url.Values{"webhook_profile_id": {apptest.RivalProfile}}.Encode()
		s.Do(t, form).Want(t, http.StatusBadRequest, nil)
	})
}

// tokenOf is a personal token of an administrator of some tenants.
func tokenOf(t *testing.T, s *apptest.Server, tenants ...string) string {
	t.Helper()
	cookie := signedIn(t, s, store.Administrator, tenants...)
	form := browse(s, http.MethodPost, "/dashboard/account/tokens/", cookie)
	form.Body = url.Values{"name": {"walk"}, "days": {"1"}}.Encode()
	page := string(s.Do(t, form).Want(t, http.StatusOK, nil).Raw)
	_, rest, _ := strings.Cut(page, "<code>sat_")
	text, _, _ := strings.Cut(rest, "</code>")
	return "sat_" + text
}
