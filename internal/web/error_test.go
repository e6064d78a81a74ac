package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sepad/internal/payment"
)

func TestErrorsHaveOneStatusAndBodyEach(t *testing.T) {
	t.Parallel()
	fields := payment.Fields{"lead.email": "lead.email is required."}
	for name, c := range map[string]struct {
		err    error
		status int
		body   string
	}{
		"bad fields":       {fields.Err(), 400, `{"detail":{"lead.email":"lead.email is required."},"status_code":400}`},
		"bad input":        {errNotJSON, 400, `{"detail":"The request body is not valid JSON.","status_code":400}`},
		"wrapped":          {fmt.Errorf("creating: %w", payment.ErrGone), 410, `{"detail":"Session expired or completed","status_code":410}`},
		"unknown session":  {payment.ErrSessionNotFound, 404, `{"detail":"Session not found","status_code":404}`},
		"conflict":         {payment.Conflicting("a < b & c > d"), 409, `{"detail":"a < b & c > d","status_code":409}`},
		"reference in use": {payment.ErrReferenceInUse, 409, `{"detail":"tenant_reference_id already in use for this tenant","status_code":409}`},
		"unknown outcome": {
			&payment.Error{Kind: payment.OutcomeUnknown, Detail: "The outcome is not known yet."}, 500,
			`{"detail":"The outcome is not known yet.","status_code":500}`,
		},
		"our own mistake":      {errors.New("disk full"), 500, `{"detail":"Internal server error","status_code":500}`},
		"a kind of its own":    {&payment.Error{Kind: 99, Detail: "secret"}, 500, `{"detail":"Internal server error","status_code":500}`},
		"a time-out":           {context.DeadlineExceeded, 500, `{"detail":"Internal server error","status_code":500}`},
		"no credential":        {ErrNoCredential, 401, `{"detail":"Authentication credentials were not provided","status_code":401}`},
		"invalid key":          {ErrInvalidAPIKey, 401, `{"detail":"Invalid or revoked API key","status_code":401}`},
		"invalid session":      {ErrInvalidSession, 401, `{"detail":"Invalid or expired session token","status_code":401}`},
		"throttled":            {Throttled(time.Millisecond), 429, `{"detail":"Request was throttled. Expected available in 1 seconds.","status_code":429}`},
		"throttled for longer": {Throttled(1001 * time.Millisecond), 429, `{"detail":"Request was throttled. Expected available in 2 seconds.","status_code":429}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := behindFront(t, &bytes.Buffer{}, httptest.NewRequest(http.MethodGet, "/x/", nil),
				func(http.ResponseWriter, *http.Request) error { return c.err })
			if answer.Code != c.status || answer.Body.String() != c.body+"\n" {
				t.Errorf("got %d %s", answer.Code, answer.Body)
			}
			for header, want := range map[string]string{
				"Content-Type": "application/json", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
			} {
				if got := answer.Header().Get(header); got != want {
					t.Errorf("%s is %q", header, got)
				}
			}
		})
	}
}

func TestErrorsCarryTheirHeaders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err          error
		header, want string
	}{
		{ErrInvalidAPIKey, "WWW-Authenticate", "Bearer"},
		{Throttled(0), "Retry-After", "1"},
		{Throttled(60 * time.Second), "Retry-After", "60"},
		{MethodNotAllowed("GET, HEAD"), "Allow", "GET, HEAD"},
	} {
		answer := httptest.NewRecorder()
		WriteError(answer, httptest.NewRequest(http.MethodGet, "/", nil), c.err)
		if got := answer.Header().Get(c.header); got != c.want {
			t.Errorf("%s is %q, want %q", c.header, got, c.want)
		}
	}
}

// behindFront serves one request to a handler behind a Front that logs to the
// given buffer.
func behindFront(t *testing.T, log *bytes.Buffer, r *http.Request, h Handler) *httptest.ResponseRecorder {
	t.Helper()
	front := Front{Logger: jsonLogger(t, log), Clock: &steppingClock{}}
	answer := httptest.NewRecorder()
	mux := NewMux([]Route{{Method: r.Method, Pattern: "/{token}/", Handler: h}})
	front.Wrap(mux).ServeHTTP(answer, r)
	return answer
}

func jsonLogger(t *testing.T, log *bytes.Buffer) *slog.Logger {
	t.Helper()
	logger, err := NewLogger("json", log)
	if err != nil {
		t.Fatal(err)
	}
	return logger
}

func TestAnUnexpectedErrorIsLoggedUnderTheRequestsID(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	answer := behindFront(t, &log, httptest.NewRequest(http.MethodGet, "/x/", nil), func(http.ResponseWriter, *http.Request) error {
		return errors.New("disk full")
	})
	id := answer.Header().Get("X-Request-Id")
	line, _, _ := strings.Cut(log.String(), "\n")
	if id == "" || !strings.Contains(line, "disk full") || !strings.Contains(line, `"request_id":"`+id+`"`) {
		t.Errorf("request %q, log %s", id, line)
	}
	if strings.Contains(answer.Body.String(), "disk") {
		t.Errorf("the caller learned %s", answer.Body)
	}
}

func TestRefusalsAreNotLoggedAsErrors(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	behindFront(t, &log, httptest.NewRequest(http.MethodGet, "/x/", nil), func(http.ResponseWriter, *http.Request) error {
		return payment.ErrGone
	})
	if strings.Contains(log.String(), "ERROR") || strings.Count(log.String(), "\n") != 1 {
		t.Errorf("log %s", &log)
	}
}

func TestAClientThatDidNotWaitIsNoFailureOfOurs(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var log bytes.Buffer
	r := httptest.NewRequest(http.MethodGet, "/x/", nil).WithContext(ctx)
	behindFront(t, &log, r, func(_ http.ResponseWriter, r *http.Request) error { return fmt.Errorf("query: %w", r.Context().Err()) })
	if !strings.Contains(log.String(), `"status":499`) || strings.Contains(log.String(), "ERROR") {
		t.Errorf("log %s", &log)
	}
}

func TestAnAnswerThatHasBegunIsBrokenOff(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	defer func() {
		if cause, _ := recover().(error); !errors.Is(cause, http.ErrAbortHandler) {
			t.Errorf("got %v", cause)
		}
		if !strings.Contains(log.String(), "disk full") || !strings.Contains(log.String(), `"msg":"request"`) {
			t.Errorf("log %s", &log)
		}
	}()
	behindFront(t, &log, httptest.NewRequest(http.MethodGet, "/x/", nil), func(w http.ResponseWriter, _ *http.Request) error {
		_, _ = w.Write([]byte("half of it"))
		return errors.New("disk full")
	})
}

func TestAValueThatCannotBeEncodedIsACleanFailure(t *testing.T) {
	t.Parallel()
	answer := behindFront(t, &bytes.Buffer{}, httptest.NewRequest(http.MethodGet, "/x/", nil), func(w http.ResponseWriter, r *http.Request) error {
		WriteJSON(w, r, http.StatusOK, map[string]any{"a": 1, "b": func() {}})
		return nil
	})
	if answer.Code != http.StatusInternalServerError || answer.Body.String() != `{"detail":"Internal server error","status_code":500}`+"\n" {
		t.Errorf("got %d %s", answer.Code, answer.Body)
	}
}
