package sepad_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	sepad "sepad/sdk/go"
	"sepad/sdk/go/sepadtest"
)

const secret = "whsec_c2VjcmV0LW9mLXRoZS10ZXN0cw=="

func TestDeliveriesAreVerified(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	receiver := &sepad.Receiver{Secrets: []string{"the old one", secret}, Now: func() time.Time { return now }}
	delivery := sepadtest.Delivery{Secret: secret, ID: "e1", Type: "payment_session.completed", Data: []byte(`{"amount":"29.99"}`), SentAt: now}
	cases := []struct {
		name   string
		change func(r *http.Request, body *string)
		sentAt time.Time
		want   error
	}{
		{"one of now", func(*http.Request, *string) {}, now, nil},
		{"one with two signatures", func(r *http.Request, _ *string) {
			r.Header.Set("Webhook-Signature", "v1,AAAA "+r.Header.Get("Webhook-Signature"))
		}, now, nil},
		{"another body", func(_ *http.Request, body *string) { *body = strings.Replace(*body, "29.99", "0.01", 1) }, now, sepad.ErrBadSignature},
		{"another event's id", func(r *http.Request, _ *string) { r.Header.Set("Webhook-Id", "e2") }, now, sepad.ErrBadSignature},
		{"another time", func(r *http.Request, _ *string) { r.Header.Set("Webhook-Timestamp", "1") }, now, sepad.ErrBadSignature},
		{"no signature", func(r *http.Request, _ *string) { r.Header.Del("Webhook-Signature") }, now, sepad.ErrNotSigned},
		{"one that was seen an hour ago", func(*http.Request, *string) {}, now.Add(-time.Hour), sepad.ErrTooOld},
		{"one of the future", func(*http.Request, *string) {}, now.Add(time.Hour), sepad.ErrTooOld},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sent := delivery
			sent.SentAt = c.sentAt
			request, body := sent.Request("/"), `{"amount":"29.99"}`
			c.change(request, &body)
			event, err := receiver.Verify(request.Header, []byte(body))
			if !errors.Is(err, c.want) || c.want == nil && (event.ID != "e1" || event.Type != "payment_session.completed") {
				t.Errorf("%+v, %v", event, err)
			}
		})
	}
}

func TestAHandlerHandlesAnEventOnce(t *testing.T) {
	t.Parallel()
	handled, fails := 0, true
	receiver := &sepad.Receiver{Secrets: []string{secret}}
	done := map[string]bool{}
	receiver.Handled = func(_ context.Context, id string) (bool, error) { return done[id], nil }
	handler := receiver.Handler(func(_ context.Context, e sepad.Event) error {
		if fails {
			return errors.New("no")
		}
		handled++
		done[e.ID] = true
		return nil
	})
	delivery := sepadtest.Delivery{Secret: secret, ID: "e1", Type: "transaction.created", Data: map[string]string{"id": "t1"}}
	if code := delivery.Deliver(handler).Code; code != http.StatusInternalServerError {
		t.Errorf("a failure is answered %d", code)
	}
	fails = false
	for range 3 {
		if code := delivery.Deliver(handler).Code; code != http.StatusNoContent {
			t.Errorf("it is answered %d", code)
		}
	}
	delivery.Secret = "another"
	if code := delivery.Deliver(handler).Code; code != http.StatusUnauthorized || handled != 1 {
		t.Errorf("a stranger is answered %d, handled %d times", code, handled)
	}
}

func TestRememberForgetsTheOldest(t *testing.T) {
	t.Parallel()
	known := sepad.Remember(2)
	for i, c := range []struct {
		id   string
		want bool
	}{{"a", false}, {"b", false}, {"a", true}, {"c", false}, {"a", false}, {"c", true}} {
		if got, _ := known(t.Context(), c.id); got != c.want {
			t.Errorf("%d: %s is known: %t", i, c.id, got)
		}
	}
}

func TestWhatCouldNotBeHandledIsNotRemembered(t *testing.T) {
	t.Parallel()
	receiver := &sepad.Receiver{Secrets: []string{secret}, Handled: sepad.Remember(10)}
	handled, fault := 0, errors.New("the database is away")
	var during func()
	handler := receiver.Handler(func(context.Context, sepad.Event) error {
		if during != nil {
			during()
		}
		if fault == nil {
			handled++
		}
		return fault
	})
	delivery := sepadtest.Delivery{Secret: secret, ID: "e1", Type: "transaction.created", Data: map[string]string{"id": "t1"}}
	deliver := func(want int) {
		t.Helper()
		if code := delivery.Deliver(handler).Code; code != want {
			t.Errorf("answered %d in place of %d", code, want)
		}
	}
	deliver(http.StatusInternalServerError)
	deliver(http.StatusInternalServerError)
	during = func() { during = nil; deliver(http.StatusInternalServerError) } // nobody knows yet whether it will be handled
	deliver(http.StatusInternalServerError)
	fault = nil
	deliver(http.StatusNoContent)
	deliver(http.StatusNoContent)
	if handled != 1 {
		t.Errorf("handled %d times", handled)
	}
}

func TestAHandlerThatPanicsHasHandledNothing(t *testing.T) {
	t.Parallel()
	receiver := &sepad.Receiver{Secrets: []string{secret}, Handled: sepad.Remember(10)}
	handled, panics := 0, true
	handler := receiver.Handler(func(context.Context, sepad.Event) error {
		if panics {
			panic("a fault of the shop's")
		}
		handled++
		return nil
	})
	delivery := sepadtest.Delivery{Secret: secret, ID: "e1", Type: "transaction.created", Data: map[string]string{"id": "t1"}}
	func() {
		defer func() { _ = recover() }()
		delivery.Deliver(handler)
	}()
	panics = false
	if code := delivery.Deliver(handler).Code; code != http.StatusNoContent || handled != 1 {
		t.Errorf("answered %d, handled %d times", code, handled)
	}
}

func TestASecretThatIsMissingSignsNothing(t *testing.T) {
	t.Parallel()
	for _, missing := range []string{"", "whsec_", "\n", "whsec_\n"} {
		receiver := &sepad.Receiver{Secrets: []string{missing}}
		delivery := sepadtest.Delivery{Secret: missing, ID: "e1", Type: "payment_session.completed", Data: map[string]string{}}
		handled := receiver.Handler(func(context.Context, sepad.Event) error { return nil })
		if code := delivery.Deliver(handled).Code; code != http.StatusUnauthorized {
			t.Errorf("%q: answered %d", missing, code)
		}
	}
}
