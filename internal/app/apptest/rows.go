package apptest

import (
	"encoding/json"
	"strings"
	"testing"

	"sepad/internal/gateway/sandbox"
	"sepad/internal/gateway/sandbox/ledgerdb"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// Event is a row of the outbox.
type Event struct {
	Kind string
	// ProfileID is where it goes, "" for nowhere.
	ProfileID string
	Payload   Answer
	// Text is the payload as it will be signed.
	Text string
}

// Events gives what was reported of a session, in order.
func (s *Server) Events(t testing.TB, token string) (events []Event) {
	t.Helper()
	order := storetest.Scalar[string](t, s.Env, `SELECT COALESCE(MAX(CAST(o.id AS TEXT)), 'none') FROM orders o
		JOIN sessions s ON s.tenant_id = o.tenant_id AND s.id = o.session_id WHERE s.token = $1`, store.TokenKey(token))
	db := s.Env.DB(t)
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), `
		SELECT kind, COALESCE(CAST(webhook_profile_id AS TEXT), ''), payload FROM events ORDER BY created_at, id`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var e Event
		if err := rows.Scan(&e.Kind, &e.ProfileID, &e.Text); err != nil {
			t.Fatal(err)
		}
		// The store keeps the token apart, and a delivery puts it back.
		e.Text = strings.Replace(e.Text, `"session_token":"`+ShortToken(token)+`"`, `"session_token":"`+token+`"`, 1)
		if strings.Contains(e.Text, token) || strings.Contains(e.Text, order) {
			e.Payload = Answer{Raw: []byte(e.Text)}
			events = append(events, e)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return events
}

// WantEvents expects exactly these kinds of events for a session, in order.
func (s *Server) WantEvents(t testing.TB, token string, kinds ...string) []Event {
	t.Helper()
	events := s.Events(t, token)
	got := make([]string, len(events))
	for i, e := range events {
		got[i] = e.Kind
	}
	if strings.Join(got, " ") != strings.Join(kinds, " ") {
		t.Errorf("the events are %v, want %v", got, kinds)
	}
	return events
}

// Completed are the events of a payment that is taken at once.
var Completed = []string{"transaction.created", "payment_session.completed"}

// Ledger gives what the gateway has received for a session.
func (s *Server) Ledger(t testing.TB, token string) (entries []sandbox.Entry) {
	t.Helper()
	all, err := ledgerdb.New(s.Env.Store.DB, s.Env.Vault).Entries(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if strings.Contains(e.ReturnURL, token) {
			entries = append(entries, e)
		}
	}
	return entries
}

// WantLedger expects how many payments of a session the gateway has received,
// and how many of them it has collected.
func (s *Server) WantLedger(t testing.TB, token string, received, collected int) {
	t.Helper()
	entries, taken := s.Ledger(t, token), 0
	for _, e := range entries {
		if e.State == sandbox.StateApproved {
			taken++
		}
	}
	if len(entries) != received || taken != collected {
		t.Errorf("the gateway received %d payments and collected %d, want %d and %d", len(entries), taken, received, collected)
	}
}

// Footprint counts the rows of everything that a call may leave behind.
func (s *Server) Footprint(t testing.TB) string {
	t.Helper()
	counts := map[string]int{}
	for _, table := range []string{"leads", "sessions", "orders", "transactions", "subscriptions", "events", "idempotency_keys", "sandbox_payments"} {
		counts[table] = s.Env.Count(t, table)
	}
	text, err := json.Marshal(counts)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
