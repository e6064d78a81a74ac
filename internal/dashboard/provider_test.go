package dashboard_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"sepad/internal/app/apptest"
	"sepad/internal/config"
	"sepad/internal/people"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
	"sepad/internal/testenv"
)

// providerPackage is an OpenID provider that the foundation has certified.
const providerPackage = "oidc-provider@9.13.3"

// provider is an OpenID provider that runs beside a test.
type provider struct {
	t        *testing.T
	issuer   string
	accounts string
	input    io.Writer
}

// claims are what the provider says of its people, by their names there.
type claims map[string]map[string]any

func startProvider(t *testing.T, says claims) *provider {
	t.Helper()
	p := &provider{t: t, accounts: filepath.Join(t.TempDir(), "accounts.json")}
	p.say(says)
	command := exec.CommandContext(t.Context(), "node", "testdata/provider.mjs", testenv.NPM(t, providerPackage), p.accounts)
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { input.Close(); _ = command.Wait() })
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatalf("the provider does not start: %v", err)
	}
	p.issuer, p.input = strings.TrimSpace(line), input
	return p
}

// say changes what is claimed of people.
func (p *provider) say(says claims) {
	p.t.Helper()
	text, err := json.Marshal(says)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(p.accounts, text, 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// options make a server that asks the provider.
func (p *provider) options() apptest.Options {
	return apptest.Options{Change: func(s *config.Settings) {
		s.OIDC = config.OIDCSettings{Issuer: p.issuer, ClientID: "counter", ClientSecret: "a secret of the counter"}
	}}
}

// open starts a server, which the provider then knows.
func (p *provider) open(env *storetest.Env) *apptest.Server {
	p.t.Helper()
	s := apptest.Open(p.t, env, p.options())
	if _, err := io.WriteString(p.input, s.URL+people.ProviderPath+"\n"); err != nil {
		p.t.Fatal(err)
	}
	return s
}

// signInAt goes through the provider's own pages.
func (p *tab) signInAt(name string) {
	p.t.Helper()
	p.do(chromedp.Click(chromedp.CSS("main a.button")))
	p.await(`document.querySelector("input[name=login]")`)
	p.do(chromedp.Focus(chromedp.CSS("input[name=login]")), chromedp.KeyEvent(name))
	p.do(chromedp.Focus(chromedp.CSS("input[name=password]")), chromedp.KeyEvent("whatever"))
	p.do(chromedp.Click(chromedp.CSS("button[type=submit]")))
	p.await(`document.querySelector("input[name=prompt][value=consent]")`)
	p.do(chromedp.Click(chromedp.CSS("button[type=submit]")))
}

// forgetEverything makes the browser a stranger everywhere.
func (p *tab) forgetEverything() {
	p.t.Helper()
	call(p, network.ClearBrowserCookies, cdp.Empty{})
}

func TestSignInByProvider(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		ada := map[string]any{"email": "ada@office.example", "email_verified": true, "sepad_role": "finance", "sepad_tenants": []string{"Bergladen", "Nobody"}}
		op := startProvider(t, claims{"ada": ada})
		s := op.open(env)
		p := openTab(t, s)

		p.do(chromedp.Navigate(s.URL + "/dashboard/account/"))
		p.awaitHead("Sign in")
		p.picture("sign-in-provider")
		p.signInAt("ada")
		p.awaitHead("Your account") // where one wanted to go
		if text := p.text(); !strings.Contains(text, "finance") || !strings.Contains(text, "Bergladen") || strings.Contains(text, "Talmarkt") {
			t.Errorf("the account is\n%s", text)
		}
		o, err := s.App.Store.OperatorByEmail(t.Context(), "ada@office.example")
		if err != nil || o.ProviderSubject != op.issuer+" ada" || o.PasswordHash != "" {
			t.Fatalf("kept as %q, %v", o.ProviderSubject, err)
		}
		_, token, err := s.App.People.CreateToken(t.Context(), o, "script", o.ProviderSeenAt.AddDate(0, 0, 1))
		if err != nil {
			t.Fatal(err)
		}

		ada["sepad_role"] = "sepad-viewer"
		delete(ada, "sepad_tenants")
		op.say(claims{"ada": ada})
		p.forgetEverything()
		p.do(chromedp.Navigate(s.URL + "/dashboard/account/"))
		p.awaitHead("Sign in")
		p.signInAt("ada")
		p.awaitHead("Your account")
		if changed, err := s.App.Store.Operator(t.Context(), o.ID); err != nil || changed.Role != store.Viewer || !changed.Tenants.All {
			t.Errorf("the claims of today do not hold: %v, %v", changed.Role, err)
		}

		delete(ada, "sepad_role")
		op.say(claims{"ada": ada})
		p.forgetEverything()
		p.do(chromedp.Navigate(s.URL + "/dashboard/account/"))
		p.awaitHead("Sign in")
		p.signInAt("ada")
		p.await(`document.querySelector(".problem")?.innerText.includes("names no role")`)
		p.picture("sign-in-refused")
		if _, err := s.App.Store.Operator(t.Context(), o.ID); !errors.Is(err, store.ErrNoOperator) {
			t.Errorf("whoever lost the role is still there: %v", err)
		}
		if _, isGood, err := s.App.People.Bearer(t.Context(), token.Reveal()); isGood || err != nil {
			t.Errorf("the token still opens: %v", err)
		}
		if err := s.App.People.Chain(t.Context()); err != nil {
			t.Fatal(err)
		}
		trail := string(s.Do(t, apptest.Request{Path: "/admin/v1/audit/?object_id=" + o.ID.String(), Key: apptest.AdminToken}).Want(t, http.StatusOK, nil).Raw)
		for _, action := range []string{"operator.create", "operator.sign_in", "operator.update", "operator.remove"} {
			if !strings.Contains(trail, `"`+action+`"`) {
				t.Errorf("the trail has no %s: %s", action, trail)
			}
		}
	})
}

func TestTheProviderIsNotTrustedBlindly(t *testing.T) {
	t.Parallel()
	op := startProvider(t, claims{})
	s := op.open(storetest.SQLite(t))
	get := func(path, cookie string) apptest.Answer {
		return s.Do(t, apptest.Request{Path: path, Header: map[string]string{"Cookie": cookie}})
	}
	begun := get("/dashboard/sign-in/oidc/?next=/dashboard/audit/", "").Want(t, http.StatusSeeOther, nil)
	address, err := url.Parse(begun.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	query := address.Query()
	for name, want := range map[string]string{"response_type": "code", "code_challenge_method": "S256", "redirect_uri": s.URL + people.ProviderPath} {
		if query.Get(name) != want {
			t.Errorf("%s is %q", name, query.Get(name))
		}
	}
	for _, name := range []string{"state", "nonce", "code_challenge"} {
		if len(query.Get(name)) < 40 {
			t.Errorf("%s is %q", name, query.Get(name))
		}
	}
	cookie, _, _ := strings.Cut(begun.Header.Get("Set-Cookie"), ";")
	for name, attempt := range map[string]struct {
		query, cookie string
		status        int
		says          string
	}{
		"an answer that nobody asked for is refused":   {"?code=x&state=" + query.Get("state"), "", http.StatusForbidden, "not begun in this browser"},
		"another sign-in's state is refused":           {"?code=x&state=other", cookie, http.StatusForbidden, "not begun in this browser"},
		"a cookie that cannot be read is none":         {"?code=x&state=", "sepad-oidc=%%%", http.StatusForbidden, "not begun in this browser"},
		"a code that the provider did not give is bad": {"?code=x&state=" + query.Get("state"), cookie, http.StatusBadGateway, "does not answer as it should"},
		"a refusal is told by its name":                {"?error=access_denied&error_description=Call+0900", cookie, http.StatusForbidden, "(access_denied)"},
		"a refusal's own text is not shown":            {"?error=Call+0900+now", cookie, http.StatusForbidden, "for an unknown reason"},
	} {
		t.Run(name, func(t *testing.T) {
			answer := get(people.ProviderPath+attempt.query, attempt.cookie).Want(t, attempt.status, nil)
			if !strings.Contains(string(answer.Raw), attempt.says) || strings.Contains(string(answer.Raw), "0900") {
				t.Errorf("it says\n%s", answer.Raw)
			}
			if set := answer.Header.Get("Set-Cookie"); !strings.Contains(set, "sepad-oidc=;") {
				t.Errorf("the browser keeps its errand: %s", set)
			}
		})
	}
}

// TestAnswersOfAProviderAreCountedFirst has a stranger come back with more codes at once than he may guess in a
// minute, while the provider takes its time over each.
func TestAnswersOfAProviderAreCountedFirst(t *testing.T) {
	t.Parallel()
	const strangers, guesses = 30, 20
	var done sync.WaitGroup // who waits at the provider, or has been turned away
	done.Add(strangers)
	var asked sync.Map // by code, for each is sent once more in another form
	slow := http.NewServeMux()
	provider := httptest.NewServer(slow)
	t.Cleanup(provider.Close)
	slow.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{
			"issuer": provider.URL, "authorization_endpoint": provider.URL + "/auth", "token_endpoint": provider.URL + "/token", "jwks_uri": provider.URL + "/keys",
		})
	})
	slow.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		if _, isKnown := asked.LoadOrStore(r.FormValue("code"), true); !isKnown {
			done.Done()
			done.Wait()
		}
		w.WriteHeader(http.StatusBadRequest)
	})
	s := apptest.SQLite(t, apptest.Options{Change: func(s *config.Settings) {
		s.OIDC = config.OIDCSettings{Issuer: provider.URL, ClientID: "counter", ClientSecret: "secret"}
	}})
	errand := "sepad-oidc=" + base64.RawURLEncoding.EncodeToString([]byte(`{"State":"s","Nonce":"n","Verifier":"v"}`))
	var all sync.WaitGroup
	for i := range strangers {
		all.Go(func() {
			answer, err := s.TryDo(t, apptest.Request{Path: people.ProviderPath + "?state=s&code=" + strconv.Itoa(i), Header: map[string]string{"Cookie": errand}})
			if err != nil {
				t.Error(err)
			}
			if answer.Status == http.StatusTooManyRequests {
				done.Done()
			}
		})
	}
	all.Wait()
	codes := 0
	asked.Range(func(any, any) bool { codes++; return true })
	if codes != guesses {
		t.Errorf("the provider was asked about %d codes", codes)
	}
}

// TestAStrangersPageKeepsNobodyOut has a page of somebody else fetch answers of the provider that nobody was sent for: a browser does
// so for any page, as for a picture, and whoever sits at its address may still sign in.
func TestAStrangersPageKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{Change: func(s *config.Settings) {
		s.OIDC = config.OIDCSettings{Issuer: "http://127.0.0.1:9", ClientID: "counter", ClientSecret: "secret"}
	}})
	const pictures = 25
	for range pictures {
		s.Do(t, apptest.Request{Path: people.ProviderPath + "?state=x&code=y", Header: map[string]string{"Sec-Fetch-Site": "cross-site"}}).Want(t, http.StatusForbidden, nil)
	}
	s.Do(t, apptest.Request{Path: "/admin/v1/me/", Key: apptest.AdminToken}).Want(t, http.StatusOK, nil)
}

func TestAProviderThatIsAwayStopsNothing(t *testing.T) {
	t.Parallel()
	away := apptest.Options{Change: func(s *config.Settings) {
		s.OIDC = config.OIDCSettings{Issuer: "http://127.0.0.1:9", ClientID: "counter", ClientSecret: "secret"}
	}}
	s := apptest.SQLite(t, away)
	page := string(s.Do(t, apptest.Request{Path: "/dashboard/sign-in/oidc/"}).Want(t, http.StatusBadGateway, nil).Raw)
	if !strings.Contains(page, "does not answer as it should") || !strings.Contains(page, `id="password"`) {
		t.Errorf("it says\n%s", page)
	}
	if log := s.Log(); !strings.Contains(log, "sign-in provider failed") {
		t.Errorf("the log has no reason: %s", log)
	}
	t.Run("without one there is no such door", func(t *testing.T) {
		s := apptest.SQLite(t, apptest.Options{})
		for _, path := range []string{"/dashboard/sign-in/oidc/", people.ProviderPath} {
			s.Do(t, apptest.Request{Path: path}).Want(t, http.StatusNotFound, nil)
		}
		if page := s.Do(t, apptest.Request{Path: "/dashboard/sign-in/"}); strings.Contains(string(page.Raw), "organisation") {
			t.Error("the sign-in names a provider")
		}
	})
}
