package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sepad/internal/gateway/sandbox"
	"sepad/internal/webhook"
)

func TestWebhooksVerify(t *testing.T) {
	t.Parallel()
	const body = `{"email":"ä&b@shop.example","note":"<b>😀"}`
	signature := webhook.Sign(hookSecret, []byte(body))
	verify := func(stdin string, args ...string) result {
		t.Helper()
		cmd := command(t, t.TempDir(), nil, append([]string{"webhooks", "verify"}, args...)...)
		cmd.Stdin = strings.NewReader(stdin)
		return execute(t, cmd)
	}
	for _, c := range []struct {
		name, body, signature, says string
		code                        int
	}{
		{"the right signature", body, signature, "The signature is right.\n", 0},
		{"a line break too much", body + "\n", signature, "white space", 0},
		{"the same JSON written otherwise", `{"note": "<b>\ud83d\ude00", "email": "\u00e4&b@shop.example"}`, signature, "canonical form", 0},
		{"another body", `{}`, signature, "does not fit", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := verify(c.body, "--secret", hookSecret, "--signature", c.signature)
			if r.code != c.code || !strings.Contains(r.stdout+r.stderr, c.says) || strings.Contains(r.stdout+r.stderr, hookSecret) {
				t.Errorf("exit %d: %s%s", r.code, r.stdout, r.stderr)
			}
		})
	}
	t.Run("without a signature it is computed", func(t *testing.T) {
		t.Parallel()
		if r := verify(body, "--secret", hookSecret); r.stdout != signature+"\n" || r.stderr != "" {
			t.Errorf("got %+v", r)
		}
		if r := verify(" "+body, "--secret", hookSecret); r.stdout != signature+"\n" || !strings.Contains(r.stderr, "canonical") {
			t.Errorf("got %+v", r)
		}
	})
	t.Run("what is no JSON was never sent", func(t *testing.T) {
		t.Parallel()
		expectOneLine(t, verify("hello", "--secret", hookSecret), 1, "not JSON")
		expectOneLine(t, verify(body), 2, "--secret")
	})
}

// TestWebhooksListAndResend works beside a running server.
func TestWebhooksListAndResend(t *testing.T) {
	t.Parallel()
	var status atomic.Int64
	status.Store(http.StatusGone)
	calls := make(chan string, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(int(status.Load()))
		calls <- r.Header.Get("X-Service-Event-Id")
	}))
	t.Cleanup(receiver.Close)
	folder := t.TempDir()
	file := writeFile(t, folder, "hooks.yaml", fmt.Sprintf(hookProfile, receiver.URL, hookSecret))
	s := startDev(t, folder, nil, "--apply", file)
	_, token := s.create(s.key, "ada")
	if code, body := s.pay(token, sandbox.Approved); code != http.StatusOK {
		t.Fatalf("pay: %d %s", code, body)
	}
	failed := listDeliveries(t, folder, "failed", 2)

	status.Store(http.StatusOK)
	for len(calls) > 0 {
		<-calls
	}
	if out := mustSepad(t, folder, "webhooks", "resend", failed[0]); !strings.Contains(out, failed[0]) {
		t.Errorf("resend says %s", out)
	}
	if got := <-calls; got != failed[0] {
		t.Errorf("%s is sent instead of %s", got, failed[0])
	}
	if out := mustSepad(t, folder, "webhooks", "resend", "--failed", "018f0000-0000-7000-8000-000000000020", "--from", "2020-01-01T00:00:00Z"); !strings.HasPrefix(out, "1 ") {
		t.Errorf("resend says %s", out)
	}
	listDeliveries(t, folder, "delivered", 2)
	if table := mustSepad(t, folder, "webhooks", "list", "--tenant", "Demo Shop"); strings.Count(table, "\n") != 3 || !strings.Contains(table, "payment_session.completed") {
		t.Errorf("the table is\n%s", table)
	}
	if out := mustSepad(t, folder, "webhooks", "resend", "--failed", "018f0000-0000-7000-8000-000000000020", "--json"); out != "{\n  \"resent\": 0\n}\n" {
		t.Errorf("resend says %s", out)
	}
	expectOneLine(t, sepad(t, folder, "webhooks", "resend"), 2, "--failed")
	expectOneLine(t, sepad(t, folder, "webhooks", "resend", "x"), 2, "no id")
	expectOneLine(t, sepad(t, folder, "webhooks", "resend", "--failed", "x"), 2, "no id")
	expectOneLine(t, sepad(t, folder, "webhooks", "resend", failed[0], "--from", "2020-01-01T00:00:00Z"), 2, "--failed")
	expectOneLine(t, sepad(t, folder, "webhooks", "resend", "018f0000-0000-7000-8000-000000000020"), 1, "Delivery not found")
}

// listDeliveries waits until so many have a status, and gives their ids.
func listDeliveries(t *testing.T, folder, status string, n int) (ids []string) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		var found []struct{ ID string }
		out := mustSepad(t, folder, "webhooks", "list", "--format", "json", "--status", status)
		if err := json.Unmarshal([]byte(out), &found); err != nil {
			t.Fatal(err)
		}
		if len(found) == n {
			for _, f := range found {
				ids = append(ids, f.ID)
			}
			return ids
		}
		select {
		case <-deadline:
			t.Fatalf("%d deliveries are %s:\n%s", len(found), status, out)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// TestAReceiverThatRepeatsTheEvent has it in no log: what comes after an answer that has no body is nobody's.
func TestAReceiverThatRepeatsTheEvent(t *testing.T) {
	t.Parallel()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		event, _ := io.ReadAll(r.Body)
		connection, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_, _ = fmt.Fprintf(connection, "HTTP/1.1 204 No Content\r\n\r\n%s", event)
		}
	}))
	t.Cleanup(receiver.Close)
	folder := t.TempDir()
	s := startDev(t, folder, nil, "--apply", writeFile(t, folder, "hooks.yaml", fmt.Sprintf(hookProfile, receiver.URL, hookSecret)))
	_, token := s.create(s.key, "ada")
	if code, body := s.pay(token, sandbox.Approved); code != http.StatusOK {
		t.Fatalf("pay: %d %s", code, body)
	}
	const told = "Unsolicited response received on idle HTTP channel"
	for range 5000 {
		if strings.Contains(s.log.String(), told) {
			break
		}
		s.expectOK("/healthz")
	}
	written := s.log.String()
	if !strings.Contains(written, told) {
		t.Errorf("nothing is told of the receiver:\n%s", written)
	}
	for _, private := range []string{token, "ada@", "starting with"} {
		if strings.Contains(written, private) {
			t.Errorf("the log has %q:\n%s", private, written)
		}
	}
}
