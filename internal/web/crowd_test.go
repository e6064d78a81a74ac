package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sepad/internal/store"
)

// TestWhoIsTurnedAwayHearsSoAndIsCounted has a hundred requests that are not begun, at the door and behind it: each is
// answered alike, and all of them share a line.
func TestWhoIsTurnedAwayHearsSoAndIsCounted(t *testing.T) {
	t.Parallel()
	const told = `{"detail":"The service is overloaded. Try again in a moment.","status_code":503}` + "\n"
	for name, busy := range map[string]Handler{
		"at the door": func(w http.ResponseWriter, r *http.Request) error { return TurnAway(w, r, store.ErrBusy) },
		"behind it":   func(http.ResponseWriter, *http.Request) error { return store.ErrBusy },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turnAwayMany(t, busy, told)
		})
	}
}

func turnAwayMany(t *testing.T, busy Handler, told string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		counted := 0
		front := Front{Logger: jsonLogger(t, &log), Clock: &steppingClock{}, Crowd: &Crowd{Logger: jsonLogger(t, &log), Count: func() { counted++ }}}
		handler := front.Wrap(NewMux([]Route{{Method: http.MethodPost, Pattern: "/{token}/", Handler: busy}}))
		const many = 100
		for range many {
			r := httptest.NewRequest(http.MethodPost, "/"+token+"/", strings.NewReader("{}"))
			r.Header.Set("Origin", "https://shop.example")
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, r)
			if answer.Code != http.StatusServiceUnavailable || answer.Header().Get("Retry-After") != "1" || answer.Header().Get("Access-Control-Allow-Origin") != "*" {
				t.Fatalf("it is told %d with %v", answer.Code, answer.Header())
			}
			if header := answer.Header(); answer.Body.String() != told || header.Get("Content-Length") != strconv.Itoa(len(told)) ||
				header.Get("Content-Type") != "application/json" || header.Get("Cache-Control") != "no-store" {
				t.Fatalf("it is told %s with %v", answer.Body, header)
			}
		}
		<-time.After(2 * time.Second) // of the bubble
		synctest.Wait()               // for who writes the line
		var line struct {
			Msg   string
			Count int
		}
		if err := json.Unmarshal(log.Bytes(), &line); err != nil {
			t.Fatalf("%v in %s", err, &log)
		}
		if counted != many || line.Count != many || !strings.Contains(line.Msg, "turned away") {
			t.Errorf("%d were counted, the log says %+v", counted, line)
		}
	})
}

func TestASlowDatabaseIsLoggedForEachRequest(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	r := httptest.NewRequest(http.MethodGet, "/"+token+"/", nil)
	answer := behindFront(t, &log, r, func(http.ResponseWriter, *http.Request) error { return store.ErrSilent })
	if answer.Code != http.StatusServiceUnavailable || answer.Header().Get("Retry-After") != "1" || answer.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("it is told %d with %v", answer.Code, answer.Header())
	}
	if lines := strings.Count(log.String(), "\n"); lines != 2 || !strings.Contains(log.String(), "too slow") {
		t.Errorf("the log says %s", &log)
	}
}
