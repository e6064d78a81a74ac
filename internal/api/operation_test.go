package api_test

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sepad"
	"sepad/internal/app/apptest"
	"sepad/internal/config"
	"sepad/internal/db"
)

func TestWhatAnOperatorLooksAt(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		get := func(t *testing.T, path string) apptest.Answer {
			t.Helper()
			return s.Do(t, apptest.Request{Path: path})
		}
		t.Run("/healthz answers while the process lives", func(t *testing.T) {
			get(t, "/healthz").Want(t, http.StatusOK, fields{"status": "ok"})
		})
		t.Run("/metrics counts requests by route, and calls of gateways by outcome", func(t *testing.T) {
			token, _ := s.Completed(t, apptest.Direct())
			s.Pay(t, s.Create(t, apptest.Direct()), apptest.DeclinedInsufficientFunds)
			lines := []string{
				`sepad_http_requests_total{method="POST",route="/api/v1/payment-sessions/{token}/pay/",status="2xx"} 2`,
				`sepad_gateway_calls_total{adapter="sandbox",operation="submit",verdict="approved"} 1`,
				`sepad_gateway_calls_total{adapter="sandbox",operation="submit",verdict="declined"} 1`,
				`sepad_http_request_duration_seconds_count{method="POST",route="/api/v1/payment-sessions/",status="2xx"} 2`,
			}
			text := ""
			// A request is counted when its answer is already on its way.
			apptest.Eventually(t, strings.Join(lines, "\n"), func() bool {
				text = string(s.Do(t, apptest.Request{Path: "/metrics", Key: apptest.AdminToken, Undocumented: true}).Want(t, http.StatusOK, nil).Raw)
				return !slices.ContainsFunc(lines, func(line string) bool { return !strings.Contains(text, line+"\n") })
			})
			if strings.Contains(text, token) {
				t.Error("a token is in the metrics")
			}
		})
		t.Run("/metrics counts who had to wait for a connection, and for how long", func(t *testing.T) {
			waits, seconds := waitedFor(t, s)
			apptest.Eventually(t, "a wait is counted", func() bool {
				askOneTooMany(t, s)
				nowWaits, nowSeconds := waitedFor(t, s)
				return nowWaits > waits && nowSeconds > seconds
			})
		})
		t.Run("/openapi.yaml is the document", func(t *testing.T) {
			if answer := get(t, "/openapi.yaml").Want(t, http.StatusOK, nil); !bytes.Contains(answer.Raw, sepad.OpenAPI[:64]) {
				t.Errorf("the document begins with %.80s", answer.Raw)
			}
		})
		t.Run("/docs is a page that asks nobody else for anything", func(t *testing.T) {
			for path, shown := range map[string]string{"/docs": "Start in five minutes", "/docs/": "Start in five minutes", "/docs/api-payment-sessions.html": "Retrieve a session"} {
				page := get(t, path).Want(t, http.StatusOK, nil)
				policy := page.Header.Get("Content-Security-Policy")
				if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(string(page.Raw), shown) {
					t.Errorf("the policy of %s is %q", path, policy)
				}
			}
		})
		t.Run("a failure of our own is a 500 that names nothing internal", func(t *testing.T) {
			token := s.Create(t, apptest.Direct())
			s.Env.Exec(t, `ALTER TABLE orders RENAME TO hidden_orders`)
			s.Pay(t, token, apptest.Approved).WantDetail(t, http.StatusInternalServerError, "Internal server error")
			s.Env.Exec(t, `ALTER TABLE hidden_orders RENAME TO orders`)
			s.WantLedger(t, token, 0, 0)
			s.Pay(t, token, apptest.Approved).Want(t, http.StatusOK, fields{"status": "completed"})
		})
	})
}

func TestTheLog(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		token, _ := s.Completed(t, apptest.Direct())
		failed := s.Create(t, apptest.Direct())
		s.Pay(t, failed, apptest.TimeoutLost)
		id := s.Retrieve(t, failed).Header.Get("X-Request-Id")
		s.Do(t, apptest.Request{Path: "/api/v1/" + token + "/" + apptest.Approved + "/", Key: s.Key})
		apptest.Eventually(t, "the last line is written", func() bool { return strings.Contains(s.Log(), `"route":"unmatched"`) })
		t.Run("each request leaves a line with its route, status and id", func(t *testing.T) {
			for _, piece := range []string{
				`"method":"POST","route":"/api/v1/payment-sessions/{token}/pay/","status":200`, `"status":500`, `"request_id":"` + id + `"`,
				`"session":"` + apptest.ShortToken(token) + `"`, `"msg":"gateway call"`, `"verdict":"unknown"`,
			} {
				if !strings.Contains(s.Log(), piece) {
					t.Errorf("the log has no %s", piece)
				}
			}
		})
		// That it holds nothing personal and no secret is looked at when the
		// server stops, as after every test.
	})
}

func TestTheAdminClock(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		clock := func(t *testing.T, key string, content any) apptest.Answer {
			t.Helper()
			return s.Do(t, apptest.Request{Path: "/admin/v1/clock/", Key: key, Body: content})
		}
		t.Run("only the operator may look at it and move it", func(t *testing.T) {
			for _, content := range []any{nil, body{"advance": "1h"}} {
				clock(t, "", content).WantDetail(t, http.StatusUnauthorized, "Authentication credentials were not provided")
				for _, key := range []string{s.Key, "wrong", apptest.AdminToken + "x", s.Create(t, apptest.Direct())} {
					clock(t, key, content).Want(t, http.StatusUnauthorized, nil)
				}
			}
		})
		t.Run("a move that makes no sense is a 400 on advance", func(t *testing.T) {
			for _, content := range []body{
				{}, {"advance": nil}, {"advance": ""}, {"advance": "tomorrow"}, {"advance": 5}, {"advance": "-1h"}, {"advance": "1000000h"}, {"advance": "99999999999999999h"},
			} {
				clock(t, apptest.AdminToken, content).WantBad(t, map[string]string{"advance": ""})
			}
			clock(t, apptest.AdminToken, "[]").Want(t, http.StatusBadRequest, nil)
		})
		t.Run("it moves forward, and stays moved", func(t *testing.T) {
			before := s.Now(t)
			moved := s.Advance(t, 744*time.Hour)
			if gone := moved.Sub(before); gone < 744*time.Hour || gone > 744*time.Hour+time.Minute {
				t.Errorf("the clock moved by %v", gone)
			}
			if now := s.Now(t); now.Before(moved) {
				t.Errorf("it shows %v after %v", now, moved)
			}
		})
		t.Run("other methods are a 405", func(t *testing.T) {
			s.Do(t, apptest.Request{Method: http.MethodDelete, Path: "/admin/v1/clock/", Key: apptest.AdminToken}).Want(t, http.StatusMethodNotAllowed, nil)
		})
	})
	t.Run("without a token set, the door is closed", func(t *testing.T) {
		s := apptest.SQLite(t, apptest.Options{Change: func(settings *config.Settings) { settings.AdminToken = "" }})
		for _, key := range []string{apptest.AdminToken, "x"} {
			s.Do(t, apptest.Request{Path: "/admin/v1/clock/", Key: key}).Want(t, http.StatusUnauthorized, nil)
		}
	})
}

// askOneTooMany takes every connection that it may, has somebody ask for one more, and gives
// them back.
func askOneTooMany(t *testing.T, s *apptest.Server) {
	t.Helper()
	connections := s.App.Store.Pool().Max
	if s.Env.Engine == "sqlite" {
		connections = (connections - 1) / 2 // one of them is the writer's, and half of the others are for lists
	} else {
		connections /= 2 // no kind of work gets more of them
	}
	held := make([]db.Rows, connections)
	for i := range held {
		rows, err := s.App.Store.Query(t.Context(), "SELECT 1")
		if err != nil {
			t.Fatal(err)
		}
		held[i] = rows
	}
	asks, answered := make(chan struct{}), make(chan error)
	go func() {
		close(asks)
		rows, err := s.App.Store.Query(t.Context(), "SELECT 1")
		if err == nil {
			rows.Close()
		}
		answered <- err
	}()
	<-asks
	for _, rows := range held {
		rows.Close()
	}
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
}

// waitedFor reads how often and how long connections were waited for.
func waitedFor(t *testing.T, s *apptest.Server) (waits, seconds float64) {
	t.Helper()
	text := string(s.Do(t, apptest.Request{Path: "/metrics", Key: apptest.AdminToken, Undocumented: true}).Want(t, http.StatusOK, nil).Raw)
	read := func(name string) float64 {
		_, line, found := strings.Cut(text, "\n"+name+`{pool="main"} `)
		number, _, _ := strings.Cut(line, "\n")
		value, err := strconv.ParseFloat(number, 64)
		if !found || err != nil {
			t.Fatalf("%s is missing: %v", name, err)
		}
		return value
	}
	return read("sepad_db_waits_total"), read("sepad_db_wait_seconds_total")
}
