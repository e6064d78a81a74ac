package dashboard_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/app/apptest"
	"sepad/internal/clock"
	"sepad/internal/config"
	"sepad/internal/dashboard"
	"sepad/internal/merchant"
	"sepad/internal/people"
	"sepad/internal/store"
)

// ticketOf is what a link carries.
func ticketOf(t *testing.T, link people.Link) merchant.Secret {
	t.Helper()
	parsed, err := url.Parse(link.URL)
	if err != nil {
		t.Fatal(err)
	}
	return merchant.Secret(parsed.Query().Get("ticket"))
}

// signedIn adds somebody with a role and gives the cookie of their browser.
func signedIn(t *testing.T, s *apptest.Server, role store.Role, tenants ...string) string {
	t.Helper()
	set := store.TenantSet{All: len(tenants) == 0}
	for _, id := range tenants {
		set.IDs = append(set.IDs, uuid.MustParse(id))
	}
	link, err := s.App.People.DeveloperLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cookie, err := s.App.People.SignInByLink(t.Context(), ticketOf(t, link), "192.0.2.1")
	if err != nil {
		t.Fatal(err)
	}
	who, err := s.App.Store.OperatorByEmail(t.Context(), people.DeveloperEmail)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.App.People.Change(t.Context(), who.ID, func(o *store.Operator) { o.Role, o.Tenants = role, set }); err != nil {
		t.Fatal(err)
	}
	return "sepad=" + cookie.Text.Reveal()
}

// browse is a request of a browser that is signed in, from a page of ours.
func browse(s *apptest.Server, method, path, cookie string) apptest.Request {
	r := apptest.Request{Method: method, Path: path, Header: map[string]string{"Cookie": cookie, "Origin": s.URL}}
	if method == http.MethodPost {
		r.Body, r.Header["Content-Type"] = "", "application/x-www-form-urlencoded"
	}
	return r
}

// screens are the routes of the dashboard that have a right.
func screens(t *testing.T) (rights []people.Right) {
	t.Helper()
	named := map[string]bool{}
	for _, route := range (&dashboard.Dashboard{People: &people.People{}}).Routes() {
		named[route.Method+" "+route.Pattern] = true
	}
	for _, right := range people.Rights {
		if _, pattern, _ := strings.Cut(right.Route, " "); !strings.HasPrefix(pattern, "/dashboard/") {
			continue
		}
		if !named[right.Route] {
			t.Errorf("the rights table names %s, and there is no such screen", right.Route)
		}
		rights = append(rights, right)
	}
	return rights
}

func filled(right people.Right) (method, path string) {
	method, path, _ = strings.Cut(right.Route, " ")
	return method, strings.NewReplacer("{id}", uuid.NewString(), "{tenant_id}", apptest.Shop, "{kind}", "offers", "{hosted_page_id}", uuid.NewString(), "{reference}", "MND-NOBODYHASIT1").Replace(path)
}

// TestEveryScreenHasItsRight walks every screen with every role.
func TestEveryScreenHasItsRight(t *testing.T) {
	t.Parallel()
	for _, role := range store.Roles {
		for name, tenants := range map[string][]string{"of all tenants": nil, "of one tenant": {apptest.Shop}} {
			t.Run("a "+string(role)+" "+name+" sees what the table says", func(t *testing.T) {
				t.Parallel()
				s := apptest.SQLite(t, apptest.Options{})
				for _, right := range screens(t) {
					method, path := filled(right)
					if strings.Contains(path, "sign-out") {
						continue
					}
					answer := s.Do(t, browse(s, method, path, signedIn(t, s, role, tenants...)))
					mayBe := role.Includes(right.Least) && (tenants == nil || !right.Everywhere)
					if isRefused := answer.Status == http.StatusForbidden; isRefused == mayBe || answer.Status == http.StatusSeeOther || answer.Status >= http.StatusInternalServerError {
						t.Errorf("%s is answered %d: %s", right.Route, answer.Status, answer.Raw)
					}
				}
			})
		}
	}
}

func TestTheDashboardIsClosed(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	t.Run("whoever is not signed in is led to the way in, and back", func(t *testing.T) {
		for _, right := range screens(t) {
			method, path := filled(right)
			answer := s.Do(t, browse(s, method, path, "sepad=nothing")).Want(t, http.StatusSeeOther, nil)
			want := "/dashboard/sign-in/"
			if method == http.MethodGet {
				want += "?next=" + url.QueryEscape(path)
			}
			if got := answer.Header.Get("Location"); got != want {
				t.Errorf("%s leads to %s, want %s", right.Route, got, want)
			}
		}
	})
	t.Run("a form from elsewhere is refused", func(t *testing.T) {
		cookie := signedIn(t, s, store.Administrator)
		for _, headers := range []map[string]string{
			{"Origin": "https://evil.example"}, {"Origin": "null"}, {}, {"Origin": s.URL, "Sec-Fetch-Site": "cross-site"},
		} {
			for _, path := range []string{"/dashboard/sign-out/", "/dashboard/sign-in/", "/dashboard/welcome/", "/dashboard/people/"} {
				r := browse(s, http.MethodPost, path, cookie)
				delete(r.Header, "Origin")
				for name, value := range headers {
					r.Header[name] = value
				}
				s.Do(t, r).Want(t, http.StatusForbidden, nil)
			}
		}
		s.Do(t, browse(s, http.MethodGet, "/dashboard/", cookie)).Want(t, http.StatusOK, nil)
	})
	t.Run("pages load nothing of others, and are kept nowhere", func(t *testing.T) {
		answer := s.Do(t, apptest.Request{Path: "/dashboard/sign-in/"}).Want(t, http.StatusOK, nil)
		for name, want := range map[string]string{"Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self';", "Cache-Control": "no-store", "Referrer-Policy": "same-origin", "X-Content-Type-Options": "nosniff"} {
			if got := answer.Header.Get(name); !strings.HasPrefix(got, want) {
				t.Errorf("%s is %q", name, got)
			}
		}
	})
}

// TestNoPageIsMadeForWhoHasLeft: made for everybody who leaves at once, pages were a third of what a flood of them cost.
func TestNoPageIsMadeForWhoHasLeft(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	gone, leave := context.WithCancel(t.Context())
	leave()
	r := httptest.NewRequestWithContext(gone, http.MethodGet, s.URL+"/dashboard/", nil)
	r.AddCookie(&http.Cookie{Name: "sepad", Value: "anything"})
	answer := httptest.NewRecorder()
	s.App.Handler().ServeHTTP(answer, r)
	if made := answer.Body.String(); strings.Contains(made, "<html") {
		t.Errorf("a page of %d bytes was made for nobody", len(made))
	}
}

// TestWhoDoesNotWaitForTheAnswerIsCounted: to leave before a password is judged costs as
// much as a wrong one.
func TestWhoDoesNotWaitForTheAnswerIsCounted(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	const many = 25 // more than are heard in a minute
	signIn := func(ctx context.Context, address, email string) int {
		t.Helper()
		form := url.Values{"email": {email}, "password": {"not the right one"}}.Encode()
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/dashboard/sign-in/", strings.NewReader(form))
		r.RemoteAddr = address + ":4711"
		r.Header.Set("Origin", s.URL)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		answer := httptest.NewRecorder()
		s.App.Handler().ServeHTTP(answer, r)
		return answer.Code
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	for i := range many {
		signIn(gone, "198.51.100.7", fmt.Sprintf("name-%d@counter.example", i))
	}
	if got := signIn(t.Context(), "198.51.100.7", "ada@counter.example"); got != http.StatusTooManyRequests {
		t.Errorf("after %d that left the next one is a %d", many, got)
	}
	if got := signIn(t.Context(), "198.51.100.8", "ada@counter.example"); got != http.StatusBadRequest {
		t.Errorf("somebody else is a %d", got)
	}
}

func TestSignInLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	cookie := signedIn(t, s, store.Viewer)
	for next, want := range map[string]string{
		"/dashboard/account/":             "/dashboard/account/",
		"/dashboard/audit/?actor=root":    "/dashboard/audit/?actor=root",
		"https://evil.example/dashboard/": "/dashboard/", "//evil.example/dashboard/": "/dashboard/", `/\evil.example/dashboard/`: "/dashboard/",
		`/dashboard/\evil.example`: "/dashboard/", "/dashboard/../pay/": "/dashboard/", "/pay/": "/dashboard/", "javascript:alert(1)": "/dashboard/", "": "/dashboard/",
		"/dashboard/sign-in/": "/dashboard/",
	} {
		r := browse(s, http.MethodGet, "/dashboard/sign-in/?next="+url.QueryEscape(next), cookie)
		if got := s.Do(t, r).Want(t, http.StatusSeeOther, nil).Header.Get("Location"); got != want {
			t.Errorf("%q leads to %q, want %q", next, got, want)
		}
	}
}

// TestWhatWasDoneIsSaidOnce has the dashboard say what a form did, and nothing that an
// address asks for.
func TestWhatWasDoneIsSaidOnce(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	cookie := signedIn(t, s, store.Administrator)
	somebody, _, err := s.App.People.Add(t.Context(), "eve@counter.example", store.Viewer, store.TenantSet{All: true})
	if err != nil {
		t.Fatal(err)
	}
	answer := s.Do(t, browse(s, http.MethodPost, "/dashboard/people/"+somebody.ID.String()+"/remove/", cookie)).Want(t, http.StatusSeeOther, nil)
	if got := answer.Header.Get("Location"); got != "/dashboard/people/" {
		t.Errorf("it leads to %q", got)
	}
	given, err := http.ParseSetCookie(answer.Header.Get("Set-Cookie"))
	if err != nil || !given.HttpOnly || given.SameSite != http.SameSiteLaxMode {
		t.Fatalf("the cookie is %q: %v", answer.Header.Get("Set-Cookie"), err)
	}
	const sentence = "eve@counter.example was removed."
	page := s.Do(t, browse(s, http.MethodGet, "/dashboard/people/", cookie+"; "+given.Name+"="+given.Value)).Want(t, http.StatusOK, nil)
	if !strings.Contains(string(page.Raw), sentence) {
		t.Error("nothing is said")
	}
	if taken := page.Header.Get("Set-Cookie"); !strings.Contains(taken, "Max-Age=0") {
		t.Errorf("it would be said again: %q", taken)
	}
	page = s.Do(t, browse(s, http.MethodGet, "/dashboard/people/?done="+url.QueryEscape("Call 0900 123"), cookie)).Want(t, http.StatusOK, nil)
	if strings.Contains(string(page.Raw), "0900 123") {
		t.Error("an address has the page say something")
	}
}

// TestHostileTextsAtTheDashboard throws what no database takes at every screen.
func TestHostileTextsAtTheDashboard(t *testing.T) {
	inBraces := regexp.MustCompile(`\{[a-z_]+\}`)
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		cookie := signedIn(t, s, store.Administrator)
		for _, text := range []string{"a\x00b", "\xff\xfe", strings.Repeat("x", 5000), "'; DROP TABLE operators; --", "9999-12-31", "\u202eabc"} {
			sent := url.Values{}
			for _, name := range []string{
				"email", "password", "again", "ticket", "code", "next", "name", "days", "role", "tenant", "actor", "action", "object_type", "object_id",
				"tenant_id", "from", "to", "before", "after", "campaign", "state", "lang", "width",
			} {
				sent.Set(name, text)
			}
			for _, route := range (&dashboard.Dashboard{People: &people.People{}}).Routes() {
				if strings.Contains(route.Pattern, "sign-out") {
					continue
				}
				path := inBraces.ReplaceAllString(route.Pattern, strings.ReplaceAll(url.PathEscape(text), "$", "$$"))
				requests := []apptest.Request{browse(s, route.Method, path, cookie), browse(s, route.Method, path, cookie)}
				if route.Method == http.MethodPost {
					requests[1].Body = sent.Encode()
				} else {
					requests[1].Path += "?" + sent.Encode()
				}
				for _, r := range requests {
					if answer := s.Do(t, r); answer.Status >= http.StatusInternalServerError {
						t.Errorf("%s %s with %.20q answered %d: %s", route.Method, route.Pattern, text, answer.Status, answer.Raw)
					}
				}
			}
		}
	})
}

// TestOperatorsCookiesAreGuarded signs in where browsers come by https.
func TestOperatorsCookiesAreGuarded(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{Change: func(c *config.Settings) { c.OperatorURL = "https://counter.example" }})
	link, err := s.App.People.DeveloperLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	answer := s.Do(t, apptest.Request{Path: "/dashboard/welcome/?ticket=" + ticketOf(t, link).Reveal()}).Want(t, http.StatusSeeOther, nil)
	given, err := http.ParseSetCookie(answer.Header.Get("Set-Cookie"))
	if err != nil || given.Name != "__Host-sepad" || !given.Secure || !given.HttpOnly || given.SameSite != http.SameSiteLaxMode || given.Path != "/" || given.Domain != "" {
		t.Fatalf("the cookie is %q: %v", answer.Header.Get("Set-Cookie"), err)
	}
	t.Run("a form that came over http is refused", func(t *testing.T) {
		for origin, want := range map[string]int{s.URL: http.StatusForbidden, "https://counter.example": http.StatusSeeOther} {
			r := browse(s, http.MethodPost, "/dashboard/sign-out/", given.Name+"="+given.Value)
			r.Header["Origin"] = origin
			s.Do(t, r).Want(t, want, nil)
		}
	})
}

// withPassword adds somebody who signs in by it and a code.
func withPassword(t *testing.T, s *apptest.Server, email string, password merchant.Secret) {
	t.Helper()
	_, link, err := s.App.People.Add(t.Context(), email, store.Viewer, store.TenantSet{All: true})
	if err != nil {
		t.Fatal(err)
	}
	welcome, err := s.App.People.Open(t.Context(), ticketOf(t, link))
	if err != nil {
		t.Fatal(err)
	}
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(welcome.Secret)
	if err != nil {
		t.Fatal(err)
	}
	digest := hmac.New(sha1.New, key) // RFC 6238
	_ = binary.Write(digest, binary.BigEndian, clock.Real{}.Now().Unix()/30)
	sum := digest.Sum(nil)
	code := fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[sum[len(sum)-1]&0xf:])&0x7fffffff%1_000_000)
	if _, err := s.App.People.Accept(t.Context(), ticketOf(t, link), password, code, "192.0.2.1"); err != nil {
		t.Fatal(err)
	}
}

// TestSigningInAnewEndsTheSessionBefore: its cookie is replaced, so that nobody could sign it out any more.
func TestSigningInAnewEndsTheSessionBefore(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const email, password = "grace@counter.example", "a long way to the moon"
		withPassword(t, s, email, password)
		byLink := func() apptest.Request {
			link, err := s.App.People.DeveloperLink(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return browse(s, http.MethodGet, "/dashboard/welcome/?ticket="+ticketOf(t, link).Reveal(), "")
		}
		byPassword := func() apptest.Request {
			form := browse(s, http.MethodPost, "/dashboard/sign-in/", "")
			form.Body = url.Values{"email": {email}, "password": {password}}.Encode()
			return form
		}
		account := func(cookie string) int {
			return s.Do(t, browse(s, http.MethodGet, "/dashboard/account/", cookie)).Status
		}
		for name, anew := range map[string]func() apptest.Request{"by a link": byLink, "by a password": byPassword} {
			before, elsewhere := signedIn(t, s, store.Administrator), signedIn(t, s, store.Administrator)
			request := anew()
			request.Header["Cookie"] = before
			s.Do(t, request).Want(t, http.StatusSeeOther, nil)
			if is, other := account(before), account(elsewhere); is != http.StatusSeeOther || other != http.StatusOK {
				t.Errorf("%s: the session before answers %d, one in another browser %d", name, is, other)
			}
		}
	})
}

// TestASessionThatEndedSendsNoForm: also none whose request was let in before, and was held back.
func TestASessionThatEndedSendsNoForm(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		cookie := signedIn(t, s, store.Administrator)
		form := browse(s, http.MethodPost, "/dashboard/people/", cookie)
		form.Body = "email=eve%40shop.example&role=admin"
		s.DoHeld(t, form, func() {
			s.Do(t, browse(s, http.MethodPost, "/dashboard/sign-out-everywhere/", cookie)).Want(t, http.StatusSeeOther, nil)
		}).Want(t, http.StatusNotFound, nil)
		if _, err := s.App.Store.OperatorByEmail(t.Context(), "eve@shop.example"); !errors.Is(err, store.ErrNoOperator) {
			t.Errorf("somebody was let in: %v", err)
		}
	})
}

// TestNoAnswerRepeatsALongAddress comes from a link whose query no proxy could read in an answer's head.
func TestNoAnswerRepeatsALongAddress(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	long := strings.Repeat("=", 3000)
	code := browse(s, "POST", "/dashboard/sign-in/code/", "")
	code.Body = url.Values{"code": {"123456"}, "next": {"/dashboard/?" + long}}.Encode()
	for name, request := range map[string]apptest.Request{
		"a deep link":                       browse(s, "GET", "/dashboard/transactions/?email="+long, ""),
		"a code without a password":         code,
		"who is signed in and follows next": browse(s, "GET", "/dashboard/sign-in/?next="+url.QueryEscape("/dashboard/?"+long), signedIn(t, s, store.Administrator)),
	} {
		answer := s.Do(t, request)
		if to := answer.Header.Get("Location"); answer.Status != http.StatusSeeOther || len(to) > 2048 || !strings.HasPrefix(to, "/dashboard/") {
			t.Errorf("%s: %d with %d bytes to %.60q", name, answer.Status, len(to), to)
		}
	}
}
