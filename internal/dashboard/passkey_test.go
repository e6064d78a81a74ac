package dashboard_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"sepad/internal/app/apptest"
	"sepad/internal/people"
	"sepad/internal/store"
)

// device is an authenticator of the browser's own making.
type device struct {
	p  *tab
	id webauthn.AuthenticatorID
}

func (p *tab) plugIn() device {
	p.t.Helper()
	call(p, webauthn.Enable, webauthn.EnableParams{})
	made := call(p, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
		Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
		HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
	}})
	return device{p, made.AuthenticatorID}
}

// call sends a command of the browser's protocol.
func call[P, R any](p *tab, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	result, err := chromedp.Call(p.ctx, command, params)
	if err != nil {
		p.t.Fatalf("in the browser: %v", err)
	}
	return result
}

// addCredential is the protocol's command with fewer fields than its Go type sends: devices
// refuse those that they do not know.
var addCredential = cdp.Command[map[string]any, cdp.Empty]{Method: webauthn.CommandAddCredential}

// windBack makes the device's counter say what it said before, as that of a copy would.
func (d device) windBack() {
	d.p.t.Helper()
	for _, credential := range call(d.p, webauthn.GetCredentials, webauthn.GetCredentialsParams{AuthenticatorID: d.id}).Credentials {
		call(d.p, webauthn.RemoveCredential, webauthn.RemoveCredentialParams{AuthenticatorID: d.id, CredentialID: credential.CredentialID})
		call(d.p, addCredential, map[string]any{"authenticatorId": d.id, "credential": map[string]any{
			"credentialId": credential.CredentialID, "privateKey": credential.PrivateKey, "rpId": "localhost", "isResidentCredential": false, "signCount": 0,
		}})
	}
}

// welcomeAtHome lets somebody in by a link, where browsers let passkeys be used: at a name.
func welcomeAtHome(t *testing.T, s *apptest.Server, secret string) (p *tab, home, key string) {
	t.Helper()
	_, link, err := s.App.People.Add(t.Context(), "ada@counter.example", store.Administrator, store.TenantSet{All: true})
	if err != nil {
		t.Fatal(err)
	}
	p, home = openTab(t, s), strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	p.do(chromedp.Navigate(strings.Replace(link.URL, s.URL, home, 1)))
	p.awaitHead("Welcome")
	key = evaluate[string](p, `document.querySelector(".secret code").innerText`)
	p.fill("password", secret)
	p.fill("again", secret)
	p.fill("code", codeOf(t, key, 0))
	p.do(chromedp.Click(chromedp.CSS("main button")))
	p.awaitHead("Overview")
	return p, home, key
}

func TestPasskeys(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const secret = "seven words are a good password"
		p, home, key := welcomeAtHome(t, s, secret)
		mine := p.plugIn()
		p.do(chromedp.Navigate(home + "/dashboard/account/"))
		p.awaitHead("Your account")
		p.fill("passkey-name", "This computer")
		p.do(chromedp.Click(chromedp.CSS(`form[data-passkey] button`)))
		p.await(`document.querySelector(".notice")?.innerText === "The passkey is added."`)
		p.picture("account-passkey")
		p.fill("passkey-name", "The same again")
		p.do(chromedp.Click(chromedp.CSS(`form[data-passkey] button`)))
		p.await(`document.querySelector("form[data-passkey] .problem").innerText.includes("already")`)

		password := func() {
			t.Helper()
			p.do(chromedp.Click(chromedp.CSS(".self summary")), chromedp.Click(chromedp.CSS(".menu form button")))
			p.awaitHead("Sign in")
			p.fill("email", "ada@counter.example")
			p.fill("password", secret)
			p.do(chromedp.Click(chromedp.CSS("main button")))
			p.awaitHead("Second step")
		}
		byPasskey := chromedp.Click(chromedp.CSS(`form[data-passkey] button`))
		password()
		p.picture("second-step-passkey")
		p.do(byPasskey)
		p.awaitHead("Overview")

		password()
		call(p, webauthn.SetUserVerified, webauthn.SetUserVerifiedParams{AuthenticatorID: mine.id, IsUserVerified: false})
		p.do(byPasskey)
		p.await(`!document.querySelector("form[data-passkey] .problem").hidden`) // whoever holds the device is not its owner
		call(p, webauthn.SetUserVerified, webauthn.SetUserVerifiedParams{AuthenticatorID: mine.id, IsUserVerified: true})
		bogus := true
		call(p, webauthn.SetResponseOverrideBits, webauthn.SetResponseOverrideBitsParams{AuthenticatorID: mine.id, IsBogusSignature: &bogus})
		p.do(byPasskey)
		p.await(`document.querySelector(".card > .problem")?.innerText.includes("not accepted")`)
		bogus = false
		call(p, webauthn.SetResponseOverrideBits, webauthn.SetResponseOverrideBitsParams{AuthenticatorID: mine.id, IsBogusSignature: &bogus})

		mine.windBack()
		p.do(byPasskey)
		p.await(`document.querySelector(".card > .problem")?.innerText.includes("may have been copied")`)
		evaluate[bool](p, `document.querySelector(".card > .problem").remove() === undefined`)
		p.do(byPasskey) // also when its counter goes on
		p.await(`document.querySelector(".card > .problem")?.innerText.includes("may have been copied")`)
		p.fill("code", codeOf(t, key, 1))
		p.do(chromedp.Click(chromedp.CSS(`form:not([data-passkey]) button`)))
		p.awaitHead("Overview")
		p.do(chromedp.Navigate(home + "/dashboard/account/"))
		p.await(`document.querySelector("td .bad")?.innerText.includes("may have been copied")`)
		welcomeByPasskey(t, p, home)
		p.do(chromedp.Navigate(home + "/dashboard/audit/"))
		p.awaitHead("Audit trail")
		for _, action := range []string{"passkey.create", "passkey.suspect", "operator.sign_in"} {
			if !strings.Contains(p.text(), action) {
				t.Errorf("the trail does not show %s", action)
			}
		}
	})
}

// welcomeByPasskey lets somebody in who chooses a passkey, and no app, for the second step.
func welcomeByPasskey(t *testing.T, p *tab, home string) {
	t.Helper()
	const secret = "a passkey and seven good words"
	_, link, err := p.s.App.People.Add(t.Context(), "grace@counter.example", store.Administrator, store.TenantSet{All: true})
	if err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.Navigate(strings.Replace(link.URL, p.s.URL, home, 1)))
	p.awaitHead("Welcome")
	key := evaluate[string](p, `document.querySelector(".secret code").innerText`)
	p.fill("password", secret)
	p.fill("again", secret)
	p.do(chromedp.Click(chromedp.CSS(`[value="passkey"]`)))
	p.await(`document.querySelector(".by-passkey").checkVisibility() && !document.getElementById("code").checkVisibility()`)
	p.picture("welcome-passkey")
	p.checkAccessible("welcome-passkey")
	p.do(chromedp.Click(chromedp.CSS("main button")))
	p.awaitHead("Overview")

	p.do(chromedp.Click(chromedp.CSS(".self summary")), chromedp.Click(chromedp.CSS(".menu form button")))
	p.awaitHead("Sign in")
	p.fill("email", "grace@counter.example")
	p.fill("password", secret)
	p.do(chromedp.Click(chromedp.CSS("main button")))
	p.awaitHead("Second step")
	if evaluate[bool](p, `!!document.getElementById("code")`) {
		t.Error("a code is asked for that nobody has")
	}
	answered := evaluate[string](p, `fetch("/dashboard/sign-in/code/", {method: "POST", body: new URLSearchParams({code: "`+codeOf(t, key, 0)+`"})}).then((r) => r.text())`)
	if !strings.Contains(answered, "The code is wrong") {
		t.Errorf("the app that was not chosen is answered %s", answered)
	}
	p.do(chromedp.Click(chromedp.CSS(`form[data-passkey] button`)))
	p.awaitHead("Overview")
	p.do(chromedp.Navigate(home + "/dashboard/account/"))
	p.awaitHead("Your account")
	p.do(chromedp.Evaluate[chromedp.Void](`window.confirm = () => true`), chromedp.Click(chromedp.CSS(`form[action*="/passkeys/"][action$="/remove/"] button`)))
	p.await(`document.body.innerText.includes("This is your only second factor")`)
}

// TestPasskeysStayWithTheirOwners holds what no browser does.
func TestPasskeysStayWithTheirOwners(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	t.Run("an answer that nobody asked for is not heard", func(t *testing.T) {
		r := browse(s, http.MethodPost, "/dashboard/account/passkeys/", signedIn(t, s, store.Viewer))
		r.Body = "name=phone&answer=%7B%7D"
		s.Do(t, r).Want(t, http.StatusConflict, nil)
	})
	t.Run("a whole session asks for no second step", func(t *testing.T) {
		for _, path := range []string{"/dashboard/sign-in/passkey/question/", "/dashboard/sign-in/passkey/"} {
			answer := s.Do(t, browse(s, http.MethodPost, path, signedIn(t, s, store.Viewer)))
			if answer.Status != http.StatusNotFound && answer.Status != http.StatusSeeOther {
				t.Errorf("%s is answered %d", path, answer.Status)
			}
		}
	})
	t.Run("an address without a name is told where to go", func(t *testing.T) {
		page := string(s.Do(t, browse(s, http.MethodGet, "/dashboard/account/", signedIn(t, s, store.Viewer))).Want(t, http.StatusOK, nil).Raw)
		if home := strings.Replace(s.URL, "127.0.0.1", "localhost", 1); !strings.Contains(page, home+"/dashboard/account/") || strings.Contains(page, "data-passkey") {
			t.Errorf("the page says\n%s", page)
		}
	})
	t.Run("where there is no name there are no passkeys", func(t *testing.T) {
		for address, want := range map[string]string{
			"https://counter.example": "https://counter.example", "https://counter.example:8443": "https://counter.example:8443", "http://127.0.0.1:8080": "http://localhost:8080",
			"http://[::1]:8080": "http://localhost:8080", "http://localhost:8080": "http://localhost:8080", "http://counter.example": "", "https://192.0.2.1": "", "": "",
		} {
			if got := (&people.People{URL: address}).PasskeyHome(); got != want {
				t.Errorf("%s has its passkeys at %q", address, got)
			}
		}
	})
}
