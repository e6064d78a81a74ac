package metrics_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sepad/internal/clock"
	"sepad/internal/metrics"
)

// shown is what Prometheus would read.
func shown(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if answer.Code != http.StatusOK {
		t.Fatalf("status %d: %s", answer.Code, answer.Body)
	}
	return answer.Body.String()
}

func mustShow(t *testing.T, m *metrics.Metrics, lines ...string) {
	t.Helper()
	text := shown(t, m)
	for _, line := range lines {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("not shown: %s", line)
		}
	}
}

func TestRequestsAreCountedByRouteAndStatusClass(t *testing.T) {
	t.Parallel()
	m := metrics.New(clock.Real{})
	m.ObserveRequest("POST", "/api/v1/payment-sessions/", 201, 3*time.Millisecond)
	m.ObserveRequest("POST", "/api/v1/payment-sessions/", 200, 30*time.Second)
	m.ObserveRequest("POST", "/api/v1/payment-sessions/", 499, time.Millisecond)
	m.ObserveRequest("POST", "/api/v1/payment-sessions/", 700, time.Millisecond)
	const labels = `{method="POST",route="/api/v1/payment-sessions/",status=`
	mustShow(t, m,
		`sepad_http_requests_total`+labels+`"2xx"} 2`,
		`sepad_http_requests_total`+labels+`"4xx"} 1`,
		`sepad_http_requests_total`+labels+`"other"} 1`,
		`sepad_http_request_duration_seconds_bucket`+labels+`"2xx",le="0.0025"} 0`,
		`sepad_http_request_duration_seconds_bucket`+labels+`"2xx",le="0.005"} 1`,
		`sepad_http_request_duration_seconds_count`+labels+`"2xx"} 2`)
}

func TestMethodsOfStrangersShareOneLabel(t *testing.T) {
	t.Parallel()
	m := metrics.New(clock.Real{})
	m.ObserveRequest("FIRST", "unmatched", 405, 0)
	m.ObserveRequest("SECOND", "unmatched", 405, 0)
	mustShow(t, m, `sepad_http_requests_total{method="other",route="unmatched",status="4xx"} 2`)
}

func TestGatewayCallsAreCountedByVerdict(t *testing.T) {
	t.Parallel()
	m := metrics.New(clock.Real{})
	m.ObserveGatewayCall("sandbox", "submit", "approved", 40*time.Millisecond)
	m.ObserveGatewayCall("sandbox", "submit", "declined", 60*time.Millisecond)
	mustShow(t, m,
		`sepad_gateway_calls_total{adapter="sandbox",operation="submit",verdict="approved"} 1`,
		`sepad_gateway_calls_total{adapter="sandbox",operation="submit",verdict="declined"} 1`,
		`sepad_gateway_call_duration_seconds_bucket{adapter="sandbox",operation="submit",le="0.05"} 1`,
		`sepad_gateway_call_duration_seconds_count{adapter="sandbox",operation="submit"} 2`)
}

func TestWebhookAttemptsAreCountedByOutcome(t *testing.T) {
	t.Parallel()
	m := metrics.New(clock.Real{})
	m.ObserveDelivery("delivered", 40*time.Millisecond)
	m.ObserveDelivery("retry", 15*time.Second)
	m.WatchDeliveries(func(context.Context) (map[string]int, error) { return map[string]int{"in_line": 3, "waiting": 1}, nil })
	mustShow(t, m,
		`sepad_webhook_attempts_total{outcome="delivered"} 1`, `sepad_webhook_attempts_total{outcome="retry"} 1`,
		`sepad_webhook_attempt_duration_seconds_bucket{le="0.05"} 1`,
		`sepad_webhook_backlog{state="in_line"} 3`, `sepad_webhook_backlog{state="waiting"} 1`)
}

func TestLimitsAreCounted(t *testing.T) {
	t.Parallel()
	m := metrics.New(clock.Real{})
	m.CountLimitRefusal("browser_pay")
	m.CountRedisOutage()
	mustShow(t, m, `sepad_limit_refusals_total{scope="browser_pay"} 1`, `sepad_redis_outages_total 1`)
}

func TestFiguresAreReadWhenSomebodyLooks(t *testing.T) {
	t.Parallel()
	m := metrics.New(clock.Real{})
	open := 0
	m.WatchPool("writer", func() metrics.Pool {
		open++
		return metrics.Pool{Open: open, InUse: 2, Max: 9, Waits: 4, Waiting: 1500 * time.Millisecond}
	})
	m.WatchPool("reader", func() metrics.Pool { return metrics.Pool{} })
	m.WatchQueue(func(context.Context) (map[string]int, error) { return map[string]int{"available": 7}, nil })
	m.WatchUnknownOutcomes(func(context.Context) (int, error) { return 3, nil })
	m.WatchReplica(func(context.Context) bool { return true })
	mustShow(t, m, `sepad_db_connections{pool="writer"} 1`)
	mustShow(t, m,
		`sepad_db_connections{pool="writer"} 2`, `sepad_db_connections{pool="reader"} 0`,
		`sepad_db_connections_in_use{pool="writer"} 2`, `sepad_db_connections_max{pool="writer"} 9`,
		`sepad_db_waits_total{pool="writer"} 4`, `sepad_db_wait_seconds_total{pool="writer"} 1.5`,
		`sepad_queue_jobs{state="available"} 7`, `sepad_unknown_outcomes 3`, `sepad_replica_near 1`)
}

func TestFiguresOfTheDatabaseAreReadOnceInFiveSeconds(t *testing.T) {
	t.Parallel()
	now := &hand{time.Unix(1_800_000_000, 0)}
	m := metrics.New(now)
	reads := 0
	m.WatchUnknownOutcomes(func(context.Context) (int, error) {
		reads++
		return reads, nil
	})
	mustShow(t, m, "sepad_unknown_outcomes 1")
	now.Time = now.Add(5*time.Second - time.Millisecond)
	mustShow(t, m, "sepad_unknown_outcomes 1")
	now.Time = now.Add(time.Millisecond)
	mustShow(t, m, "sepad_unknown_outcomes 2")
}

// hand is a clock that a test moves.
type hand struct{ time.Time }

func (h *hand) Now() time.Time { return h.Time }

func TestAFigureThatCannotBeReadIsLeftOutAndCounted(t *testing.T) {
	t.Parallel()
	m := metrics.New(clock.Real{})
	m.WatchUnknownOutcomes(func(context.Context) (int, error) { return 0, errors.New("no database") })
	first := shown(t, m)
	if strings.Contains(first, "sepad_unknown_outcomes") {
		t.Error("a figure that nobody could read is shown")
	}
	if !strings.Contains(first, "go_goroutines") {
		t.Error("the other figures are gone with it")
	}
	if strings.Contains(shown(t, m), "sepad_metrics_failed_readings_total 0\n") {
		t.Error("the failure is not counted")
	}
}

func TestArrearsAreShown(t *testing.T) {
	t.Parallel()
	m := metrics.New(clock.Own{})
	m.WatchArrears(func(context.Context) (metrics.Arrears, error) {
		return metrics.Arrears{OverdueRebills: 2, OverdueFor: 90 * time.Minute, OldestEventFor: time.Minute, UnmatchedLines: 3}, nil
	})
	mustShow(t, m, "sepad_rebills_overdue 2", "sepad_rebills_overdue_seconds 5400", "sepad_webhook_oldest_seconds 60", "sepad_bank_lines_unmatched 3")
}

func TestMailsAreCountedByState(t *testing.T) {
	t.Parallel()
	m := metrics.New(clock.Own{})
	m.WatchMails(func(context.Context) (metrics.Mails, error) {
		return metrics.Mails{Pending: 3, Failed: 1, OldestFor: 90 * time.Second}, nil
	})
	mustShow(t, m, `sepad_mails{state="pending"} 3`, `sepad_mails{state="failed"} 1`, `sepad_mails_oldest_seconds 90`)
}
