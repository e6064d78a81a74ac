package admin_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"sepad/internal/app/apptest"
	"sepad/internal/gateway/sandbox"
	"sepad/internal/gateway/sandbox/ledgerdb"
	"sepad/internal/payment"
	"sepad/internal/store/storetest"
)

const (
	transactions = "/admin/v1/transactions/"
	chargebacks  = "/admin/v1/chargebacks/"
)

// operator is a call of the admin API.
func operator(path string, body any) apptest.Request {
	return apptest.Request{Path: path, Key: apptest.AdminToken, Body: body}
}

// refunds is a refund of a transaction; without fields, of all that is left.
func refunds(id string, fields apptest.Body) apptest.Request {
	r := operator(transactions+id+"/refunds/", fields)
	if fields == nil {
		r.Body = nil
	}
	r.Method = http.MethodPost
	return r
}

// sale pays a direct session of 49.00 and gives its token and transaction.
func sale(t *testing.T, s *apptest.Server, iban string) (token, id string) {
	t.Helper()
	return paid(t, s, apptest.Direct(), iban)
}

func paid(t *testing.T, s *apptest.Server, body apptest.Body, iban string) (token, id string) {
	t.Helper()
	token = s.Create(t, body)
	return token, s.Pay(t, token, iban).Want(t, http.StatusOK, apptest.Fields{"status": "completed"}).Text(t, "transaction.id")
}

// wantTransaction expects a transaction to stand somewhere, with its order.
func wantTransaction(t *testing.T, s *apptest.Server, id string, fields apptest.Fields) apptest.Answer {
	t.Helper()
	return s.Do(t, operator(transactions+id+"/", nil)).Want(t, http.StatusOK, fields)
}

// events gives the kinds of all events in order, those of completed payments
// left out.
func events(t *testing.T, s *apptest.Server) string {
	t.Helper()
	db := s.Env.DB(t)
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), `SELECT kind, payload FROM events ORDER BY created_at, id`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var told []string
	for rows.Next() {
		var kind, payload string
		if err := rows.Scan(&kind, &payload); err != nil {
			t.Fatal(err)
		}
		isSale := kind == "transaction.created" && strings.Contains(payload, `"type":"sdd_sale"`) && !strings.Contains(payload, `"source":"webhook"`)
		if isSale || kind == "payment_session.completed" {
			continue
		}
		record := apptest.Answer{Raw: []byte(payload)}
		line := kind + " " + record.Text(t, "status")
		if kind == "transaction.status_changed" {
			line += " was " + record.Text(t, "previous_status")
		}
		told = append(told, line)
	}
	return strings.Join(told, ", ")
}

func wantEvents(t *testing.T, s *apptest.Server, want ...string) {
	t.Helper()
	if got := events(t, s); got != strings.Join(want, ", ") {
		t.Errorf("the events are\n%s, want\n%s", got, strings.Join(want, ", "))
	}
}

// refundEntries are what the gateway was asked to give back.
func refundEntries(t *testing.T, s *apptest.Server) (entries []sandbox.Entry) {
	t.Helper()
	all, err := ledgerdb.New(s.Env.Store.DB, s.Env.Vault).Entries(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if e.Type == payment.Refund {
			entries = append(entries, e)
		}
	}
	return entries
}

// givenBack is how much the gateway has given back in all.
func givenBack(t *testing.T, s *apptest.Server) (sum payment.Minor) {
	t.Helper()
	for _, e := range refundEntries(t, s) {
		if e.State == sandbox.StateApproved {
			sum += e.AmountMinor
		}
	}
	return sum
}

func revenue(t *testing.T, s *apptest.Server) int {
	t.Helper()
	return storetest.Scalar[int](t, s.Env, `SELECT revenue_minor FROM subscriptions`)
}

func compactJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAPaymentThatWasNeverSentIsShown: no gateway has answered it, and its documents say so.
func TestAPaymentThatWasNeverSentIsShown(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		id := s.Pay(t, s.Create(t, apptest.Direct()), apptest.GatewayUnavailable).Want(t, http.StatusOK, nil).Text(t, "transaction.id")
		wantTransaction(t, s, id, apptest.Fields{"status": "declined", "date_processed": nil})
		s.Do(t, operator(transactions, nil)).Want(t, http.StatusOK, apptest.Fields{"results.0.id": id, "results.0.date_processed": nil})
	})
}
