package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	oteltrace "go.opentelemetry.io/otel/trace"
)

// steppingClock moves on by a millisecond with every look.
type steppingClock struct {
	mu    sync.Mutex
	looks int
}

func (c *steppingClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looks++
	return time.UnixMilli(int64(c.looks))
}

const token = "ps_secretsecretsecretsecretsecretsecretsecretse"

func TestEveryRequestLeavesOneLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		target, route, session string
		status                 int
	}{
		"a known route":    {"/" + token + "/?iban=DE89370400440532013000", "/{token}/", "ps_secr", 418},
		"no token of ours": {"/anna@example.com/", "/{token}/", "", 418},
		"an unknown path":  {"/" + token + "/anna@example.com", "unmatched", "", 404},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			answer := behindFront(t, &log, httptest.NewRequest(http.MethodGet, c.target, nil), func(w http.ResponseWriter, _ *http.Request) error {
				w.WriteHeader(http.StatusTeapot)
				return nil
			})
			var line struct {
				Msg, Method, Route, Session string
				Status                      int
				DurationMS                  float64 `json:"duration_ms"`
				ClientIP                    string  `json:"client_ip"`
				RequestID                   string  `json:"request_id"`
			}
			if err := json.Unmarshal(log.Bytes(), &line); err != nil {
				t.Fatalf("%v in %s", err, &log)
			}
			if line.Msg != "request" || line.Method != http.MethodGet || line.Route != c.route || line.Status != c.status || line.Session != c.session ||
				line.DurationMS != 1 || line.ClientIP != "192.0.2.1" || line.RequestID != answer.Header().Get("X-Request-Id") {
				t.Errorf("got %s", &log)
			}
			for _, secret := range []string{token, "anna", "DE89"} {
				if strings.Contains(log.String(), secret) {
					t.Errorf("the log shows %s: %s", secret, &log)
				}
			}
		})
	}
}

func TestNothingIsGivenInPieces(t *testing.T) {
	t.Parallel()
	document := strings.Repeat("a line of a document\n", 1000)
	asked := httptest.NewRequest(http.MethodGet, "/document/", nil)
	asked.Header.Set("Range", "bytes=0-0"+strings.Repeat(",3-3", 1000))
	answer := behindFront(t, &bytes.Buffer{}, asked, func(w http.ResponseWriter, r *http.Request) error {
		http.ServeContent(w, r, "document.txt", time.Time{}, strings.NewReader(document))
		return nil
	})
	if answer.Code != http.StatusOK || answer.Body.String() != document {
		t.Errorf("it is answered %d with %d bytes", answer.Code, answer.Body.Len())
	}
}

func TestLinesOfATraceCarryItsID(t *testing.T) {
	t.Parallel()
	span := oteltrace.NewSpanContext(oteltrace.SpanContextConfig{TraceID: oteltrace.TraceID{15: 7}, SpanID: oteltrace.SpanID{7: 1}})
	traced := func(_ string, next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r.WithContext(oteltrace.ContextWithSpanContext(r.Context(), span)))
		})
	}
	var log bytes.Buffer
	front := Front{Logger: jsonLogger(t, &log), Clock: &steppingClock{}}
	mux := NewMux([]Route{{Method: "GET", Pattern: "/x/", Handler: func(_ http.ResponseWriter, r *http.Request) error {
		front.Logger.InfoContext(r.Context(), "deep below")
		return nil
	}}}, traced)
	call(t, front.Wrap(mux), "GET", "/x/")
	if n := strings.Count(log.String(), `"trace_id":"`+span.TraceID().String()+`"`); n != 2 {
		t.Errorf("%d lines have the id of the trace: %s", n, &log)
	}
}

func TestQuietRoutesStayOutOfTheOrdinaryLog(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	front := Front{Logger: jsonLogger(t, &log), Clock: &steppingClock{}}
	mux := NewMux([]Route{{Method: "GET", Pattern: "/healthz", Handler: Plain(http.NotFoundHandler()), Quiet: true}})
	call(t, front.Wrap(mux), "GET", "/healthz")
	if log.Len() != 0 {
		t.Errorf("log %s", &log)
	}
}

func TestAnswersAreObserved(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	var seen []string
	front := Front{Logger: jsonLogger(t, &log), Clock: &steppingClock{}, Observe: func(method, route string, status int, took time.Duration) {
		seen = append(seen, method+" "+route+" "+http.StatusText(status)+" "+took.String())
	}}
	mux := NewMux([]Route{{Method: "GET", Pattern: "/{token}/", Handler: func(http.ResponseWriter, *http.Request) error { return nil }}})
	call(t, front.Wrap(mux), "GET", "/x/")
	call(t, front.Wrap(mux), "POST", "/x/")
	if got := strings.Join(seen, ", "); got != "GET /{token}/ OK 1ms, POST /{token}/ Method Not Allowed 1ms" {
		t.Errorf("got %s", got)
	}
}

func TestBrowsersAreToldToComeOverHTTPS(t *testing.T) {
	t.Parallel()
	for only, want := range map[bool]string{true: "max-age=31536000", false: ""} {
		var log bytes.Buffer
		front := Front{Logger: jsonLogger(t, &log), Clock: &steppingClock{}, HTTPSOnly: only}
		answer := call(t, front.Wrap(NewMux(nil)), "GET", "/nothing/")
		if got := answer.Header().Get("Strict-Transport-Security"); got != want {
			t.Errorf("HTTPSOnly %t sends %q", only, got)
		}
	}
}

func TestARequestIDIsTakenFromTrustedProxiesOnly(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		peer, sent string
		taken      bool
	}{
		"a proxy of ours":            {"10.0.0.1:5", "abc-DEF_1.2", true},
		"a stranger":                 {"192.0.2.1:5", "abc", false},
		"a proxy that sends none":    {"10.0.0.1:5", "", false},
		"an id with a line break":    {"10.0.0.1:5", "a\nb", false},
		"an id with strange letters": {"10.0.0.1:5", "ä", false},
		"an overlong id":             {"10.0.0.1:5", strings.Repeat("a", 129), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxies, err := ParseTrustedProxies("10.0.0.0/8")
			if err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			front := Front{Proxies: proxies, Logger: jsonLogger(t, &log), Clock: &steppingClock{}}
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RemoteAddr = c.peer
			r.Header.Set("X-Request-Id", c.sent)
			answer := httptest.NewRecorder()
			inside := ""
			front.Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { inside = RequestID(r.Context()) })).ServeHTTP(answer, r)
			id := answer.Header().Get("X-Request-Id")
			if id != inside {
				t.Errorf("the handler knows %q, the caller %q", inside, id)
			}
			if taken := id == c.sent; taken != c.taken {
				t.Errorf("the id is %q", id)
			}
			if _, err := uuid.Parse(id); !c.taken && err != nil {
				t.Errorf("an id of our own is %q", id)
			}
		})
	}
}

func TestLogFormats(t *testing.T) {
	t.Parallel()
	for format, begins := range map[string]string{"text": "time=", "json": `{"time"`, "": `{"time"`} {
		var log bytes.Buffer
		logger, err := NewLogger(format, &log)
		if err != nil {
			t.Fatal(err)
		}
		logger.With("a", 1).WithGroup("g").Info("x")
		if !strings.HasPrefix(log.String(), begins) {
			t.Errorf("%q writes %s", format, &log)
		}
	}
	if _, err := NewLogger("xml", &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "SEPAD_LOG_FORMAT") {
		t.Errorf("got %v", err)
	}
}

func TestAnInterimAnswerIsNotTheAnswer(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	behindFront(t, &log, httptest.NewRequest(http.MethodGet, "/x/", nil), func(w http.ResponseWriter, _ *http.Request) error {
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusAccepted)
		return http.NewResponseController(w).Flush()
	})
	if !strings.Contains(log.String(), `"status":202`) {
		t.Errorf("log %s", &log)
	}
}
