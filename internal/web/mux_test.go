package web

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func sampleMux(t *testing.T) *Mux {
	t.Helper()
	echo := func(name string) Handler {
		return func(w http.ResponseWriter, r *http.Request) error {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return err
			}
			WriteJSON(w, r, http.StatusOK, map[string]string{"route": name, "token": r.PathValue("token"), "body": string(body)})
			return nil
		}
	}
	return NewMux([]Route{
		{Method: "POST", Pattern: "/api/v1/payment-sessions/", Handler: echo("create")},
		{Method: "GET", Pattern: "/api/v1/payment-sessions/{token}/", Handler: echo("retrieve")},
		{Method: "POST", Pattern: "/api/v1/payment-sessions/{token}/pay/", Handler: echo("pay")},
		{Method: "GET", Pattern: "/admin/v1/clock/", Handler: echo("read clock")},
		{Method: "POST", Pattern: "/admin/v1/clock/", Handler: echo("move clock")},
		{Method: "GET", Pattern: "/healthz", Handler: echo("health")},
		{Method: "GET", Pattern: "/docs/{rest...}", Handler: Plain(http.NotFoundHandler())},
		{Method: "GET", Pattern: "/panic/", Handler: func(http.ResponseWriter, *http.Request) error { panic("Anna Müller") }},
		{Method: "GET", Pattern: "/index/", Handler: func(_ http.ResponseWriter, r *http.Request) error {
			words := strings.Fields(r.Method)
			_ = words[len(words)]
			return nil
		}},
	})
}

// call sends a request that went through the parser of net/http.
func call(t *testing.T, h http.Handler, method, target string) *httptest.ResponseRecorder {
	t.Helper()
	text := method + " " + target + " HTTP/1.1\r\nHost: sepad.example\r\n\r\n"
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	r.RemoteAddr = "192.0.2.1:1234"
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, r)
	return answer
}

// quietly keeps what a handler logs out of the test's output.
func quietly(t *testing.T, h http.Handler) http.Handler {
	t.Helper()
	return Front{Logger: jsonLogger(t, &bytes.Buffer{}), Clock: &steppingClock{}}.Wrap(h)
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	mux := sampleMux(t)
	const sessions = "/api/v1/payment-sessions/"
	for name, c := range map[string]struct {
		method, target string
		status         int
		says           string
	}{
		"a known path":                     {"POST", sessions, 200, `"route":"create"`},
		"a path with a token":              {"GET", sessions + "ps_x/", 200, `"token":"ps_x"`},
		"two methods of one path":          {"POST", "/admin/v1/clock/", 200, "move clock"},
		"an escaped slash in the token":    {"GET", sessions + "ps_a%2Fb/", 200, `"token":"ps_a/b"`},
		"escaped dots in the token":        {"GET", sessions + "%2e%2e/", 200, `"token":".."`},
		"a line break in the token":        {"GET", sessions + "a%0d%0ab/", 200, `"token":"a\r\nb"`},
		"broken bytes in the token":        {"GET", sessions + "%ff%fe/", 200, `"route":"retrieve"`},
		"an overlong token":                {"GET", sessions + strings.Repeat("a", 100_000) + "/", 200, `"route":"retrieve"`},
		"a path below a known one":         {"GET", sessions + "ps_x/else/", 404, `"detail":"Not found","status_code":404`},
		"an unknown path":                  {"GET", "/nowhere", 404, `"detail":"Not found","status_code":404`},
		"the root":                         {"GET", "/", 404, `"status_code":404`},
		"two slashes":                      {"GET", "/api//v1/payment-sessions/", 404, `"status_code":404`},
		"two slashes in front":             {"GET", "//evil.example/api/v1", 404, `"status_code":404`},
		"an empty token":                   {"GET", sessions + "/", 404, `"status_code":404`},
		"dots":                             {"GET", "/api/v1/../v1/payment-sessions/", 404, `"status_code":404`},
		"a single dot":                     {"GET", "/api/./v1/payment-sessions/", 404, `"status_code":404`},
		"no path":                          {"CONNECT", "sepad.example:443", 404, `"status_code":404`},
		"an asterisk":                      {"OPTIONS", "*", 404, `"status_code":404`},
		"a path that needs no slash":       {"GET", "/healthz", 200, "health"},
		"a slash where none belongs":       {"GET", "/healthz/", 404, `"status_code":404`},
		"the wrong method":                 {"DELETE", sessions, 405, `"detail":"Method not allowed","status_code":405`},
		"a method nobody knows":            {"BREW", sessions, 405, `"status_code":405`},
		"a get where only a post is known": {"GET", sessions + "ps_x/pay/", 405, `"status_code":405`},
		"a tunnel":                         {"CONNECT", sessions, 405, `"status_code":405`},
		"a question for the methods":       {"OPTIONS", sessions, 204, ""},
		"a head":                           {"HEAD", sessions + "ps_x/", 200, `"route":"retrieve"`},
		"a head where only a post is":      {"HEAD", sessions, 405, `"status_code":405`},
		"a panic":                          {"GET", "/panic/", 500, `{"detail":"Internal server error","status_code":500}`},
		"a defect":                         {"GET", "/index/", 500, `{"detail":"Internal server error","status_code":500}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := call(t, quietly(t, mux), c.method, c.target)
			if answer.Code != c.status || !strings.Contains(answer.Body.String(), c.says) {
				t.Errorf("got %d %s", answer.Code, answer.Body)
			}
		})
	}
}

func TestTheMethodsOfAPathAreTold(t *testing.T) {
	t.Parallel()
	mux := sampleMux(t)
	for target, want := range map[string]string{
		"/api/v1/payment-sessions/":      "OPTIONS, POST",
		"/api/v1/payment-sessions/ps_x/": "GET, HEAD, OPTIONS",
		"/admin/v1/clock/":               "GET, HEAD, OPTIONS, POST",
	} {
		for _, method := range []string{"DELETE", "OPTIONS"} {
			if got := call(t, mux, method, target).Header().Get("Allow"); got != want {
				t.Errorf("%s %s: got %q", method, target, got)
			}
		}
	}
}

func TestAPathWithoutItsSlashLeadsToTheOneWithIt(t *testing.T) {
	t.Parallel()
	mux := sampleMux(t)
	for target, want := range map[string]string{
		"/api/v1/payment-sessions":                 "/api/v1/payment-sessions/",
		"/api/v1/payment-sessions/ps_x/pay?a=1&b=": "/api/v1/payment-sessions/ps_x/pay/?a=1&b=",
		"/api/v1/payment-sessions/a%2Fb%0d%0a":     "/api/v1/payment-sessions/a%2Fb%0d%0a/",
	} {
		answer := call(t, mux, "POST", target)
		if got := answer.Header().Get("Location"); answer.Code != http.StatusPermanentRedirect || got != want {
			t.Errorf("%s: got %d to %q", target, answer.Code, got)
		}
	}
}

// TestALongAddressIsNotRepeated asks for what a proxy could not read the answer's head of.
func TestALongAddressIsNotRepeated(t *testing.T) {
	t.Parallel()
	mux := sampleMux(t)
	for name, target := range map[string]string{
		"a query": "/api/v1/payment-sessions?" + strings.Repeat("a", 5000), "a token": "/api/v1/payment-sessions/" + strings.Repeat("a", 5000),
	} {
		answer := call(t, mux, "GET", target)
		if answer.Code != http.StatusRequestURITooLong || answer.Header().Get("Location") != "" || !strings.Contains(answer.Body.String(), `"status_code":414`) {
			t.Errorf("%s: %d, %d bytes: %s", name, answer.Code, len(answer.Header().Get("Location")), answer.Body)
		}
	}
	fits := "/api/v1/payment-sessions?" + strings.Repeat("a", 1900)
	if answer := call(t, mux, "GET", fits); answer.Code != http.StatusPermanentRedirect {
		t.Errorf("one that fits: %d", answer.Code)
	}
}

func TestARedirectKeepsMethodAndBodyOverARealConnection(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(sampleMux(t))
	t.Cleanup(server.Close)
	answer, err := http.Post(server.URL+"/api/v1/payment-sessions?x=1", "application/json", strings.NewReader(`{"a":1}`))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusOK || !strings.Contains(string(body), `"body":"{\"a\":1}"`) {
		t.Errorf("got %d %s", answer.StatusCode, body)
	}
	if got := answer.Request.URL.RawQuery; got != "x=1" {
		t.Errorf("the query became %q", got)
	}
}

func TestAPanicIsLoggedWithoutWhatWasSaid(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{"/panic/": "panic with string", "/index/": "index out of range"} {
		var log bytes.Buffer
		front := Front{Logger: jsonLogger(t, &log), Clock: &steppingClock{}}
		call(t, front.Wrap(sampleMux(t)), "GET", target)
		if !strings.Contains(log.String(), want) || !strings.Contains(log.String(), "mux_test.go") {
			t.Errorf("%s: log %s", target, &log)
		}
		if strings.Contains(log.String(), "Anna") {
			t.Errorf("the log names a person: %s", &log)
		}
	}
}

func TestTwoRoutesForOneMethodAndPathAreADefect(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("nobody noticed")
		}
	}()
	NewMux([]Route{{Method: "GET", Pattern: "/a/"}, {Method: "GET", Pattern: "/a/"}})
}

func TestWrapsGoAroundTheHandlerInTheirOrder(t *testing.T) {
	t.Parallel()
	var order []string
	wrap := func(name string) Wrap {
		return func(pattern string, next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				order = append(order, name+" "+pattern)
				next.ServeHTTP(w, r)
			})
		}
	}
	mux := NewMux([]Route{{Method: "GET", Pattern: "/{token}/", Handler: Plain(http.NotFoundHandler())}}, wrap("outer"), wrap("inner"))
	call(t, mux, "GET", "/x/")
	if got := strings.Join(order, ", "); got != "outer /{token}/, inner /{token}/" {
		t.Errorf("got %s", got)
	}
}
