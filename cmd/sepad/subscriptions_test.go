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
	mustSepad(t, folder, "clock", "--advance", "360h")
	want(t, mustSepad(t, folder, "subscriptions", "list", "--status", "ACTIVE"), id, "WEEKLY", "19.90 EUR", "59.70")
	if dates := strings.Count(mustSepad(t, folder, "subscriptions", "preview", id), "\n"); dates != 24 {
		t.Errorf("%d dates are previewed", dates)
	}
	want(t, mustSepad(t, folder, "subscriptions", "cancel", id), id+" is CANCELLED since ")
	expectOneLine(t, sepad(t, folder, "subscriptions", "cancel", id), 1, "sepad: The subscription is cancelled already.")
	want(t, mustSepad(t, folder, "subscriptions", "preview", id, "--format", "json"), "[]")
	expectOneLine(t, sepad(t, folder, "subscriptions", "preview", "018f0000-0000-7000-8000-0000000000ff"), 1, "there is no subscription")
	expectOneLine(t, sepad(t, folder, "subscriptions", "cancel", "this"), 1, `"this" is no id of a subscription`)
}
