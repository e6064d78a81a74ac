package app_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sepad/internal/admin"
	"sepad/internal/api"
	"sepad/internal/app/apptest"
	"sepad/internal/clock"
	"sepad/internal/people"
	"sepad/internal/web"
)

// hostileTexts are what no database, parser or index may choke on.
var hostileTexts = map[string]string{
	"a NUL":                            "a\x00b",
	"bytes that are no UTF-8":          "\xff\xfe",
	"a number beyond 64 bits":          "99999999999999999999999999",
	"a number beyond 32 bits":          "4294967296",
	"a text that is far too long":      strings.Repeat("x", 5000),
	"a quote and a statement":          `'; DROP TABLE sessions; --`,
	"a way up":                         "../../etc/passwd",
	"a date before the calendar":       "0000-00-00",
	"an instant beyond the database's": "9999-12-31T23:59:59.999999999Z",
}

// readsQuery finds the parameters that handlers read, so that a new one is tried too.
var readsQuery = regexp.MustCompile(`(?:q\.(?:text|id|Get)\(|query\.Get\(|Query\(\)\.Get\(|parameters\.Get\(|readOneOf\([\w.]+, |readID\(query, |param\w+ += )"(\w+)"`)

func queryParameters(t *testing.T) []string {
	t.Helper()
	found := map[string]bool{"email": true}
	for _, pattern := range []string{"../admin/*.go", "../api/*.go", "../recon/query.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range readsQuery.FindAllStringSubmatch(string(text), -1) {
				found[name[1]] = true
			}
		}
	}
	if len(found) < 30 {
		t.Fatalf("only %d parameters were found: %v", len(found), found)
	}
	return slices.Sorted(maps.Keys(found))
}

// apis are the routes of merchants and of operators.
func apis() []web.Route {
	operators := &admin.Admin{Movable: &clock.Movable{}, People: &people.People{}}
	return append((&api.API{}).Routes(), operators.Routes()...)
}

var inPath = regexp.MustCompile(`\{\w+\}`)

// addressOf fills a pattern in with what exists.
func addressOf(pattern, token string) string {
	return strings.NewReplacer(
		"{token}", token, "{tenant_id}", apptest.Shop, "{gateway_id}", apptest.Gateway, "{reference}", "MANDATE-1", "{id}", apptest.Gateway,
	).Replace(pattern)
}

// ask makes a call as whoever may, and holds it to not being our fault.
func ask(t *testing.T, s *apptest.Server, route web.Route, path string, body any) {
	t.Helper()
	key := s.Key
	if strings.HasPrefix(route.Pattern, "/admin/") {
		key = apptest.AdminToken
	}
	answer, err := s.TryDo(t, apptest.Request{Method: route.Method, Path: path, Key: key, Body: body, Undocumented: true})
	if err != nil {
		t.Errorf("%s %.200s: %v", route.Method, path, err)
	} else if answer.Status >= http.StatusInternalServerError {
		t.Errorf("%s %.200s answered %d: %s", route.Method, path, answer.Status, answer.Raw)
	}
}

// TestHostileTextsAreNeverTheServersFault throws them at every id in a path and every
// parameter of every call of both APIs.
func TestHostileTextsAreNeverTheServersFault(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		token, _ := s.Completed(t, apptest.InCampaign(apptest.MonthlyCampaign))
		parameters := queryParameters(t)
		t.Run("asked", func(t *testing.T) {
			for _, route := range apis() {
				t.Run(route.Method+" "+route.Pattern, func(t *testing.T) {
					t.Parallel()
					askHostile(t, s, route, token, parametersOf(route, parameters))
				})
			}
		})
		s.Do(t, apptest.Request{Path: "/readyz"}).Want(t, http.StatusOK, nil)
	})
}

// hostileValues are put in the place of every value of a body that is right.
var hostileValues = []string{
	`"a\u0000b"`, `"\ud800"`, `"\u202eabc"`, `"` + strings.Repeat("x", 20_000) + `"`, `1e400`, `-1e400`, `99999999999999999999999`, `-1`, `0.0000000001`,
	`"99999999999999999999.99"`, `"NaN"`, `true`, `null`, `[]`, `{}`, `[[[[[[[[[[]]]]]]]]]]`, `{"a\u0000": {"b": ["\u0000"]}}`, `"2026-02-30"`, `"9999-12-31"`,
}

// askHostile puts hostile texts into the places of one call, one after the other.
func askHostile(t *testing.T, s *apptest.Server, route web.Route, token string, parameters []string) {
	t.Helper()
	whole := addressOf(route.Pattern, token)
	for _, text := range hostileTexts {
		for _, place := range inPath.FindAllString(route.Pattern, -1) {
			ask(t, s, route, addressOf(strings.Replace(route.Pattern, place, url.PathEscape(text), 1), token), nil)
		}
		for _, name := range parameters {
			query := url.Values{name: {text}}
			if name != "start_date" && strings.Contains(route.Pattern, "/reconciliation/") {
				query.Set("start_date", "2026-01-01")
			}
			ask(t, s, route, whole+"?"+query.Encode(), nil)
		}
	}
}

// parametersOf are those that a call may read: of a single record nothing but where to
// go on in what belongs to it.
func parametersOf(route web.Route, all []string) []string {
	switch {
	case route.Method != http.MethodGet:
		return nil
	case strings.HasSuffix(route.Pattern, "}/"):
		return []string{"after"}
	default:
		return all
	}
}

// TestHostileBodiesAreNeverTheServersFault changes one value after the other.
func TestHostileBodiesAreNeverTheServersFault(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		_, paid := s.Completed(t, apptest.InCampaign(apptest.MonthlyCampaign))
		transaction, subscription := paid.Text(t, "transaction.id"), paid.Text(t, "subscription.id")
		open := s.Create(t, apptest.Direct())
		shop := "/admin/v1/tenants/" + apptest.Shop
		for address, body := range map[string]apptest.Body{
			"POST " + apptest.Sessions: apptest.Direct().With(apptest.Body{
				"tenant_reference_id": "order 17", "metadata": apptest.Body{"cart": "9"}, "language": "de", "product_name": "Poster", "customer_ip": "203.0.113.9",
				"return_url": "https://shop.example/back", "success_redirect_url": "https://shop.example/thanks", "trial_period": 7, "max_payment_attempts": 2,
			}),
			"POST " + apptest.Path(open, "pay"):                           {"iban": "not one", "iban_holder_name": "A", "bic": "COBADEFF", "tenant_reference_id": "x"},
			"POST " + apptest.Path(open, "verify"):                        {"verification_id": "x"},
			"POST /api/v1/iban-validate/":                                 {"iban": apptest.Approved},
			"POST /api/v1/transactions/" + transaction + "/refunds/":      {"amount": "0.01", "reason": "x"},
			"POST /api/v1/subscriptions/" + subscription + "/change/":     {"amount": "3.00", "next_billing_date": "2030-01-01"},
			"POST /api/v1/subscriptions/" + subscription + "/cancel/":     {"at": "period_end"},
			"POST /gateways/" + apptest.Gateway + "/notifications/":       {"merchant_transaction_id": "x", "status": "approved"},
			"POST /admin/v1/tenants/":                                     {"name": "Other", "creditor": apptest.Body{"name": "Other GmbH", "address": "Way 1", "identifier": "DE98ZZZ09999999999"}},
			"PATCH " + shop + "/":                                         {"name": "Bergladen", "notices": apptest.Body{"from": "shop@shop.example"}},
			"POST " + shop + "/api-keys/":                                 {"name": "reports", "scopes": []any{"reports"}},
			"POST " + shop + "/gateways/":                                 {"name": "Second", "adapter": "sandbox", "descriptor": "SHOP", "settings": apptest.Body{"notification_secret": "hush"}},
			"POST " + shop + "/webhook-profiles/":                         {"name": "Backend", "url": "http://127.0.0.1:9/x", "events": []any{"*"}, "signing_secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
			"POST " + shop + "/hosted-pages/":                             {"name": "Page", "content": apptest.Body{"headline": "Hello"}, "branding": apptest.Body{"primary_color": "#112233"}},
			"POST " + shop + "/offers/":                                   {"name": "Weekly", "price": "4.50", "currency": "EUR", "billing_type": "RECURRING", "billing_frequency": "WEEKLY", "product_name": "P"},
			"PATCH " + shop + "/campaigns/" + apptest.ShortCampaign + "/": {"session_ttl": "90m", "dunning_days": []any{1}, "offer_overrides": apptest.Body{"name": "Z"}},
			"POST /admin/v1/chargebacks/": {"transaction_id": transaction, "reason_code": "MD06", "reason_message": "m", "report_type": "t", "report_date": "2026-01-01",
				"arn": "a", "currency": "EUR", "amount": "0.01", "cb_bank_fee": "1.00"},
			"POST /admin/v1/transactions/" + transaction + "/refunds/":    {"amount": "0.01", "reason": "x"},
			"POST /admin/v1/webhook-deliveries/resend/":                   {"webhook_profile_id": apptest.Profile, "from": "2026-01-01", "to": "2026-01-02"},
			"POST /admin/v1/bank-files/":                                  {"gateway_id": apptest.Gateway},
			"POST /admin/v1/bank-entries/" + apptest.Gateway + "/assign/": {"transaction_id": transaction},
			"POST /admin/v1/clock/":                                       {"advance": "nothing"},
		} {
			method, path, _ := strings.Cut(address, " ")
			route := web.Route{Method: method, Pattern: path}
			t.Run(method+" "+inPath.ReplaceAllString(path, ""), func(t *testing.T) {
				for _, value := range hostileValues {
					changeEach(t, body, value, func(changed string) { ask(t, s, route, path, changed) })
				}
			})
		}
		s.Do(t, apptest.Request{Path: "/readyz"}).Want(t, http.StatusOK, nil)
	})
}

// changeEach gives the text of a body with one of its values replaced, each in turn,
// and with a member beside them that has the value as its name.
func changeEach(t *testing.T, body apptest.Body, value string, send func(text string)) {
	t.Helper()
	const mark = "\"the value that is replaced\""
	text := func(object any) string {
		encoded, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Replace(string(encoded), mark, value, 1)
	}
	unquoted := strings.Trim(mark, `"`)
	for name, kept := range body {
		send(text(body.With(apptest.Body{name: unquoted})))
		if inner, isObject := kept.(apptest.Body); isObject {
			for deep := range inner {
				send(text(body.With(apptest.Body{name: inner.With(apptest.Body{deep: unquoted})})))
			}
		}
	}
	if strings.HasPrefix(value, `"`) {
		send(text(body.With(apptest.Body{unquoted: 1})))
	}
}
