package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"sepad/internal/webhook"
)

func TestSpans(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 15, 8, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"36h": "2026-01-16T20:00:00Z", "10d": "2026-01-25T08:00:00Z", "2w": "2026-01-29T08:00:00Z", "1month": "2026-02-15T08:00:00Z",
		"2 months": "2026-03-15T08:00:00Z", "1month3d12h": "2026-02-18T20:00:00Z", "90min": "2026-01-15T09:30:00Z", "1h30m": "2026-01-15T09:30:00Z",
	} {
		var s span
		if err := s.UnmarshalText([]byte(text)); err != nil || s.after(at).Format(time.RFC3339) != want {
			t.Errorf("%s leads to %s, want %s: %v", text, s.after(at).Format(time.RFC3339), want, err)
		}
	}
	for _, text := range []string{"", "soon", "3", "-1d", "1d1w", "1y", "h"} {
		if err := new(span).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestADevelopersDay(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	welcome := startDev(t, folder, nil).welcome
	type delivery struct {
		header http.Header
		body   string
	}
	got := make(chan delivery, 100)
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- delivery{r.Header, string(body)}
		w.WriteHeader(http.StatusNoContent)
	}))
	defer shop.Close()
	call := func(args ...string) result {
		t.Helper()
		return sepad(t, folder, args...)
	}
	for _, event := range []string{"payment_session.completed", "transaction.status_changed", "chargeback.created"} {
		if r := call("trigger", event); r.code != 0 {
			t.Fatalf("trigger %s: %s", event, r.stderr)
		}
	}
	if r := call("trigger", "subscription.created"); r.code != 0 || !strings.Contains(r.stderr, "does not ask for subscription.created") {
		t.Errorf("what nobody asks for: %d %s", r.code, r.stderr)
	}
	if r := call("trigger", "payment_session.complete"); r.code == 0 || !strings.Contains(r.stderr, "Did you mean payment_session.completed?") {
		t.Errorf("what there is not: %d %s", r.code, r.stderr)
	}
	listened := call("listen", "--forward", shop.URL, "--last", "100", "--once")
	secret := after(listened.stdout, "Signing secret: ")
	if listened.code != 0 || !strings.Contains(welcome, secret) || !strings.Contains(listened.stdout, "payment_session.completed") || !strings.Contains(listened.stdout, "204 No Content") {
		t.Errorf("listen: %d\n%s\n%s", listened.code, listened.stdout, listened.stderr)
	}
	close(got)
	var kinds []string
	for d := range got {
		kinds = append(kinds, d.header.Get("X-Service-Event"))
		want := webhook.SignStandard(secret, d.header.Get("Webhook-Id"), d.header.Get("Webhook-Timestamp"), []byte(d.body))
		if d.header.Get("Webhook-Signature") != want || d.header.Get("X-Service-Signature") != webhook.Sign(secret, []byte(d.body)) {
			t.Errorf("%s is not signed with the secret that is shown", d.header.Get("X-Service-Event"))
		}
	}
	for _, kind := range []string{"payment_session.completed", "transaction.created", "transaction.status_changed", "chargeback.created"} {
		if !slices.Contains(kinds, kind) {
			t.Errorf("%s was not sent: %v", kind, kinds)
		}
	}
	if r := call("events", "tail", "--last", "2", "--once"); r.code != 0 || strings.Count(r.stdout, "\n") != 2 || !strings.Contains(r.stdout, `"data":{`) {
		t.Errorf("tail: %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if r := call("listen", "--forward", "localhost:3000"); r.code == 0 || !strings.Contains(r.stderr, "--forward") {
		t.Errorf("an address that is none: %d %s", r.code, r.stderr)
	}
	day := time.Now().UTC().AddDate(0, 2, 0).Format(time.DateOnly)
	if r := call("clock", "--to", day); r.code != 0 || !strings.HasPrefix(r.stdout, day) {
		t.Errorf("clock --to: %d %s%s", r.code, r.stdout, r.stderr)
	}
	if r := call("clock", "--to", "2020-01-01"); r.code == 0 || !strings.Contains(r.stderr, "never moved back") {
		t.Errorf("back: %d %s", r.code, r.stderr)
	}
	if r := call("clock", "--advance", "1w"); r.code != 0 {
		t.Errorf("a week: %s", r.stderr)
	}
}

func after(text, mark string) string {
	_, rest, _ := strings.Cut(text, mark)
	line, _, _ := strings.Cut(rest, "\n")
	return line
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		words string
		want  []string
	}{
		{"subsc", []string{"subscriptions"}}, {"subscriptions pa", []string{"pause"}}, {"clock --ad", []string{"--advance"}}, {"completion ", []string{"bash", "fish", "zsh"}},
		{"trigger subscription.c", []string{"subscription.cancelled", "subscription.changed", "subscription.created"}},
		{"reconcile --kind t", []string{"transactions"}}, {"__", nil},
	} {
		r := sepad(t, t.TempDir(), append([]string{"__complete"}, strings.Split(c.words, " ")...)...)
		if got := strings.Fields(r.stdout); !slices.Equal(got, c.want) || r.code != 0 {
			t.Errorf("%q is completed by %v, want %v: %s", c.words, got, c.want, r.stderr)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		r := sepad(t, t.TempDir(), "completion", shell)
		if !strings.Contains(r.stdout, "sepad __complete") {
			t.Errorf("%s: %s%s", shell, r.stdout, r.stderr)
		}
	}
}
