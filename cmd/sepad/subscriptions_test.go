package main

import (
	"net/http"
	"strings"
	"testing"
)

func TestSubscriptionsCommand(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := startDev(t, folder, nil)
	status, body := s.call(http.MethodPost, "/api/v1/payment-sessions/", s.key, `{"campaign_id": "018f0000-0000-7000-8000-000000000053",
		"billing_type": "RECURRING", "billing_frequency": "WEEKLY",
		"lead": {"first_name": "Ada", "last_name": "Byron", "email": "ada@shop.example", "country": "DE"}}`)
	if status != http.StatusCreated {
		t.Fatalf("create: %d: %s", status, body)
	}
	token := firstMatch(body, `"session_token":"([^"]+)"`)
	if status, body = s.call(http.MethodPost, "/api/v1/payment-sessions/"+token+"/pay/", s.key,
		`{"iban": "DE89370400440532013000", "iban_holder_name": "Ada Byron"}`); status != http.StatusOK {
		t.Fatalf("pay: %d: %s", status, body)
	}
	id := firstMatch(body, `"subscription":\{"id":"([^"]+)"`)
	payment := firstMatch(body, `"transaction":\{"id":"([^"]+)"`)
	mustSepad(t, folder, "clock", "--advance", "360h")
	want(t, mustSepad(t, folder, "subscriptions", "list", "--status", "ACTIVE"), id, "WEEKLY", "19.90 EUR", "59.70")
	if dates := strings.Count(mustSepad(t, folder, "subscriptions", "preview", id), "\n"); dates != 24 {
		t.Errorf("%d dates are previewed", dates)
	}
	pausedByBank(t, s, folder, payment)
	want(t, mustSepad(t, folder, "subscriptions", "pause", id), id+" is paused since ")
	want(t, mustSepad(t, folder, "subscriptions", "resume", id), id+" is billed next on 20")
	want(t, mustSepad(t, folder, "subscriptions", "change", id, "--amount", "12.50"), id+" costs 12.50 EUR")
	expectOneLine(t, sepad(t, folder, "subscriptions", "change", id), 1, "say what changes with --amount or --next-billing-date")
	expectOneLine(t, sepad(t, folder, "subscriptions", "change", id, "--next-billing-date", "soon"), 1, "is no date in the form YYYY-MM-DD")
	want(t, mustSepad(t, folder, "subscriptions", "cancel", id, "--at", "period_end"), id+" ends on 20")
	want(t, mustSepad(t, folder, "subscriptions", "cancel", id), id+" is CANCELLED since ")
	expectOneLine(t, sepad(t, folder, "subscriptions", "cancel", id), 1, "sepad: The subscription is cancelled already.")
	want(t, mustSepad(t, folder, "subscriptions", "preview", id, "--format", "json"), "[]")
	expectOneLine(t, sepad(t, folder, "subscriptions", "preview", "018f0000-0000-7000-8000-0000000000ff"), 1, "there is no subscription")
	expectOneLine(t, sepad(t, folder, "subscriptions", "cancel", "this"), 1, `"this" is no id of a subscription`)
}

// pausedByBank has a bank blame the creditor for a payment, and a person let the
// account's rebills go on.
func pausedByBank(t *testing.T, s *running, folder, payment string) {
	t.Helper()
	want(t, sepad(t, folder, "gateways", "paused").stderr, "There are none.")
	want(t, mustSepad(t, folder, "gateways", "paused", "--json"), "[]")
	if status, body := s.call(http.MethodPost, "/admin/v1/chargebacks/", adminToken(s), `{"transaction_id": "`+payment+`", "reason_code": "BE05"}`); status != http.StatusCreated {
		t.Fatalf("chargeback: %d: %s", status, body)
	}
	paused := mustSepad(t, folder, "gateways", "paused", "--json")
	gateway := firstMatch(paused, `"payment_gateway_id": "([^"]+)"`)
	want(t, mustSepad(t, folder, "gateways", "paused"), "NEEDS PERSON", gateway, "creditor", "BE05", "true")
	want(t, paused, `"reason_code": "BE05"`, `"paused_until": null`, `"needs_person": true`)
	want(t, mustSepad(t, folder, "gateways", "resume", gateway), "The rebills of the gateway account go on.")
	expectOneLine(t, sepad(t, folder, "gateways", "resume", gateway), 1, "The rebills of this gateway account are not paused.")
	expectOneLine(t, sepad(t, folder, "gateways", "resume", "this"), 1, "Gateway not found")
}
