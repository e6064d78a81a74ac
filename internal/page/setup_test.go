package page_test

import (
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"sepad/internal/app/apptest"
	"sepad/internal/config"
	"sepad/internal/store/storetest"
)

// Campaigns of testdata/shop.yaml.
const (
	posterCampaign  = "019d0000-0000-7000-8000-000000000250"
	premiumCampaign = "019d0000-0000-7000-8000-000000000251"
	trialCampaign   = "019d0000-0000-7000-8000-000000000252" // IMPLICIT
	freeCampaign    = "019d0000-0000-7000-8000-000000000253" // yellow, the merchant's own mandate
	annualCampaign  = "019d0000-0000-7000-8000-000000000254" // yellow, overrides
	hostileCampaign = "019d0000-0000-7000-8000-000000000255"
	bareCampaign    = "019d0000-0000-7000-8000-000000000256"
	openCampaign    = "019d0000-0000-7000-8000-000000000257" // recurring without a rhythm
)

// shop is a service with things to sell.
type shop struct{ *apptest.Server }

func openShop(t testing.TB) *shop {
	t.Helper()
	// As with sepad dev: a test's logos lie on this machine.
	return stock(t, apptest.SQLite(t, apptest.Options{Change: func(s *config.Settings) { s.WebhookAllowPrivate = "true" }}))
}

// eachShop runs a test on both engines.
func eachShop(t *testing.T, options apptest.Options, test func(t *testing.T, s *shop)) {
	t.Helper()
	apptest.EachWith(t, options, func(t *testing.T, server *apptest.Server) { test(t, stock(t, server)) })
}

func stock(t testing.TB, server *apptest.Server) *shop {
	t.Helper()
	file, err := os.ReadFile("testdata/shop.yaml")
	if err != nil {
		t.Fatal(err)
	}
	server.Apply(t, string(file))
	return &shop{server}
}

// session makes a session and gives its token.
func (s *shop) session(t testing.TB, campaign string) string {
	t.Helper()
	return s.Create(t, apptest.InCampaign(campaign))
}

// path is the page of a session.
func path(token string) string { return "/pay/" + token + "/" }

// answer is a page as a browser without scripts gets it.
type answer struct {
	*http.Response
	body string
	// text is the body without markup.
	text string
}

var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

func (s *shop) ask(t testing.TB, method, path string, form url.Values, header ...string) answer {
	t.Helper()
	answered, err := s.try(t, method, path, form, header...)
	if err != nil {
		t.Fatal(err)
	}
	return answered
}

// try is ask for goroutines.
func (s *shop) try(t testing.TB, method, path string, form url.Values, header ...string) (answer, error) {
	t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	request, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, body)
	if err != nil {
		return answer{}, err
	}
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	return answer{response, string(raw), textOf(string(raw))}, err
}

var (
	markup = regexp.MustCompile(`<[^>]*>`)
	spaces = regexp.MustCompile(`[ \n\t]+`)
)

func textOf(page string) string {
	return strings.TrimSpace(spaces.ReplaceAllString(html.UnescapeString(markup.ReplaceAllString(page, " ")), " "))
}

func (s *shop) get(t testing.TB, path string, header ...string) answer {
	t.Helper()
	return s.ask(t, http.MethodGet, path, nil, header...)
}

// want expects a status and texts on the page.
func (a answer) want(t testing.TB, status int, texts ...string) answer {
	t.Helper()
	if a.StatusCode != status {
		t.Fatalf("status %d, want %d: %s", a.StatusCode, status, a.text)
	}
	for _, text := range texts {
		if !strings.Contains(a.text, text) {
			t.Errorf("%q is missing in: %s", text, a.text)
		}
	}
	return a
}

// without expects that texts are not on the page.
func (a answer) without(t testing.TB, texts ...string) answer {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(a.text, text) {
			t.Errorf("%q is in: %s", text, a.text)
		}
	}
	return a
}

// wantBack expects the redirect that ends a form.
func (a answer) wantBack(t testing.TB, token string) {
	t.Helper()
	if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != path(token) {
		t.Fatalf("status %d to %q: %s", a.StatusCode, a.Header.Get("Location"), a.text)
	}
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([a-z_]+)" value="([^"]*)">`)

// form is the form of a page with its hidden fields and a payer's details.
func (a answer) form(iban string) url.Values {
	values := url.Values{"iban": {iban}, "iban_holder_name": {apptest.HolderName}, "mandate": {"agreed"}}
	for _, field := range hidden.FindAllStringSubmatch(a.body, -1) {
		values.Set(field[1], html.UnescapeString(field[2]))
	}
	return values
}

// submit loads a session's page and sends its form.
func (s *shop) submit(t testing.TB, token, iban string) answer {
	t.Helper()
	return s.ask(t, http.MethodPost, path(token), s.get(t, path(token)).form(iban))
}

// scalar reads one value from the database.
func scalar[T any](t testing.TB, s *shop, query string, args ...any) T {
	t.Helper()
	return storetest.Scalar[T](t, s.Env, query, args...)
}
