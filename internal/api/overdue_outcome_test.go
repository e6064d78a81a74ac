package api_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/gateway"
	"sepad/internal/payment"
)

func TestAnOutcomeThatStaysUnknownIsAnAlertAfter24Hours(t *testing.T) {
	t.Parallel()
	eachScripted(t, func(t *testing.T, s *apptest.Server, g *scripted) {
		g.tell(func(g *scripted) {
			g.submit = func(context.Context, gateway.Charge) (payment.Outcome, error) { return payment.Outcome{}, errSilent }
			g.status = func(context.Context, gateway.Lookup) (payment.Outcome, error) { return payment.Outcome{}, errSilent }
		})
		token := s.Create(t, onScript())
		s.Pay(t, token, apptest.Approved).Want(t, http.StatusInternalServerError, nil)
		// ask lets the gateway be asked once more, as if the payment had been
		// open for longer, and gives the alerts so far.
		ask := func(t *testing.T, passed time.Duration) []string {
			t.Helper()
			s.Env.Exec(t, `UPDATE transactions SET created_at = created_at - $1, updated_at = updated_at - $1 WHERE in_flight IS NOT NULL`, passed.Microseconds())
			s.LookUp(t)
			return overdueAlerts(s)
		}
		t.Run("the metric shows it from the beginning", func(t *testing.T) { wantUnknown(t, s, "1") })
		t.Run("until then nobody is called", func(t *testing.T) {
			if alerts := append(ask(t, 0), ask(t, 23*time.Hour+50*time.Minute)...); len(alerts) > 0 {
				t.Errorf("there are alerts: %s", alerts)
			}
		})
		t.Run("then each question that stays open is an error in the log, with the payment's ids", func(t *testing.T) {
			ask(t, 20*time.Minute)
			alerts := ask(t, time.Hour)
			// The server's own sweep may have come first, and says so when it has taken the question.
			apptest.Eventually(t, "the second alert", func() bool { alerts = overdueAlerts(s); return len(alerts) > 1 })
			if len(alerts) != 2 {
				t.Fatalf("there are %d alerts: %s", len(alerts), alerts)
			}
			for _, want := range []string{`"level":"ERROR"`, `"transaction_id"`, `"merchant_transaction_id":"TXN-`} {
				if !strings.Contains(alerts[0], want) {
					t.Errorf("%s is missing in %s", want, alerts[0])
				}
			}
			wantUnknown(t, s, "1")
		})
		t.Run("an answer ends it", func(t *testing.T) {
			g.tell(func(g *scripted) { g.status = nil })
			s.LookUp(t)
			s.WantStatus(t, token, "COMPLETED")
			wantUnknown(t, s, "0")
		})
	})
}

// overdueAlerts are the lines of the log that call for a person.
func overdueAlerts(s *apptest.Server) (alerts []string) {
	for line := range strings.Lines(s.Log()) {
		if strings.Contains(line, "still unknown and needs a person") {
			alerts = append(alerts, line)
		}
	}
	return alerts
}

func wantUnknown(t *testing.T, s *apptest.Server, want string) {
	t.Helper()
	line := "\nsepad_unknown_outcomes " + want + "\n"
	apptest.Eventually(t, "the metrics say"+line, func() bool { // they may be some seconds old
		metrics := s.Do(t, apptest.Request{Path: "/metrics", Key: apptest.AdminToken, Undocumented: true})
		return strings.Contains(string(metrics.Raw), line)
	})
}
