package webhook

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sepad/internal/merchant"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

func TestADelivery(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := setup(t, env)
		b.receiver.answers(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusAccepted)
			fmt.Fprint(w, "thanks \x00 \xff")
		})
		id := b.events(t, b.endpoint, 1)[0]
		if ahead := b.work(t); !ahead.next.IsZero() {
			t.Errorf("there is something left: %+v", ahead)
		}
		call := b.receiver.wantCalls(t, 1)[0]
		if call.body != `{"number":0}` {
			t.Errorf("the body is %s", call.body)
		}
		for name, want := range map[string]string{
			"Content-Type": "application/json", "User-Agent": "sepad/test", "X-Service-Event": "payment_session.completed",
			"X-Service-Event-Id": id.String(), "X-Service-Delivery-Attempt": "1", "X-Service-Signature-Previous": "",
			"X-Service-Signature": Sign(secret, []byte(call.body)), "Accept-Encoding": "",
		} {
			if got := call.header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		wantStandard(t, call, secret)
		record := b.wantStatus(t, id, store.DeliveryDelivered, 1)
		want := store.Attempt{EventID: id, Number: 1, At: b.clock.Now(), StatusCode: 202, Answer: "thanks \uFFFD \uFFFD"}
		if record.Attempts[0] != want || !record.NextAttemptAt.IsZero() {
			t.Errorf("the log says %+v, want %+v", record.Attempts[0], want)
		}
		b.work(t)
		b.receiver.wantCalls(t, 1)
	})
}

func TestManyDeliveries(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := setup(t, env)
		b.clock.ticks = true
		ids := b.events(t, b.endpoint, 1300)
		b.work(t)
		wantEach(t, b.receiver.got(t), ids)
		b.wantInOrder(t, ids, 0)
		if left := storetest.Scalar[int](t, env, `SELECT (SELECT COUNT(*) FROM events_in_line) + (SELECT COUNT(*) FROM events WHERE delivery_status <> 'delivered' OR attempt_count <> 1)`); left != 0 {
			t.Errorf("%d deliveries are not recorded", left)
		}
		if n := env.Count(t, "webhook_attempts"); n != len(ids) {
			t.Errorf("%d attempts are recorded", n)
		}
	})
}

func TestARotatedSecretSignsToo(t *testing.T) {
	t.Parallel()
	b := setup(t, storetest.SQLite(t))
	const old = "whsec_before"
	tenant := b.env.Tenant(t)
	profile := b.env.WebhookProfile(t, tenant.ID, func(p *merchant.WebhookProfile) {
		p.URL, p.SigningSecret, p.PreviousSecret = b.receiver.URL, secret, old
		p.PreviousSecretUntil = b.clock.Now().Add(24 * time.Hour)
	})
	b.endpoint = store.Endpoint{TenantID: tenant.ID, ProfileID: profile.ID}
	b.events(t, b.endpoint, 1)
	b.work(t)
	call := b.receiver.wantCalls(t, 1)[0]
	if got := call.header.Get("X-Service-Signature-Previous"); got != Sign(old, []byte(call.body)) {
		t.Errorf("the second signature is %q", got)
	}
	for _, known := range []string{secret, old} { // a receiver may know either of them
		wantStandard(t, call, known)
	}
	b.clock.pass(24 * time.Hour)
	b.events(t, b.endpoint, 1)
	b.work(t)
	if got := b.receiver.wantCalls(t, 2)[1].header.Values("X-Service-Signature-Previous"); got != nil {
		t.Errorf("a day later it is %q", got)
	}
	containsNone(t, b.log.String(), secret, old)
}

func TestRetries(t *testing.T) {
	t.Parallel()

	t.Run("a failure is tried again when its wait is over, as the same event", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			b := setup(t, env)
			b.receiver.answers(func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, "out of order", http.StatusInternalServerError)
			})
			id := b.events(t, b.endpoint, 1)[0]
			ahead := b.work(t)
			wait := ahead.next.Sub(b.clock.Now())
			if wait < 4500*time.Millisecond || wait > 5500*time.Millisecond || ahead.paused {
				t.Errorf("the next attempt is in %s", wait)
			}
			record := b.wantStatus(t, id, store.DeliveryPending, 1)
			if a := record.Attempts[0]; a.StatusCode != http.StatusInternalServerError || a.Answer != "out of order\n" || !record.NextAttemptAt.Equal(ahead.next) {
				t.Errorf("the log says %+v, next %s", a, record.NextAttemptAt)
			}
			b.clock.pass(wait - time.Millisecond)
			b.work(t)
			b.receiver.wantCalls(t, 1)
			b.clock.pass(time.Millisecond)
			b.receiver.status(200)
			b.work(t)
			calls := b.receiver.wantCalls(t, 2)
			if calls[1].event() != calls[0].event() || calls[1].body != calls[0].body || calls[1].header.Get("X-Service-Delivery-Attempt") != "2" {
				t.Errorf("the second attempt is %v", calls[1])
			}
			b.wantStatus(t, id, store.DeliveryDelivered, 2)
		})
	})

	t.Run("after the last wait the delivery has failed, some three days later", func(t *testing.T) {
		t.Parallel()
		b := setup(t, storetest.SQLite(t))
		b.receiver.status(503)
		id := b.events(t, b.endpoint, 1)[0]
		began := b.clock.Now()
		for ahead := b.work(t); !ahead.next.IsZero(); ahead = b.work(t) {
			b.clock.pass(ahead.next.Sub(b.clock.Now()))
		}
		b.wantStatus(t, id, store.DeliveryFailed, 13)
		if took := b.clock.Now().Sub(began); took < 63*time.Hour || took > 78*time.Hour {
			t.Errorf("it was given up after %s", took)
		}
	})

	t.Run("410 stops that delivery and no other", func(t *testing.T) {
		t.Parallel()
		b := setup(t, storetest.SQLite(t))
		b.receiver.answers(func(w http.ResponseWriter, r *http.Request) {
			if r.ContentLength == int64(len(`{"number":0}`)) && r.Header.Get("X-Service-Event-Id") != "" && len(b.receiver.calls) == 1 {
				w.WriteHeader(http.StatusGone)
			}
		})
		ids := b.events(t, b.endpoint, 2)
		b.work(t)
		b.wantStatus(t, ids[0], store.DeliveryFailed, 1)
		b.wantStatus(t, ids[1], store.DeliveryDelivered, 1)
	})
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, header string
		least, most  time.Duration
	}{
		{"a receiver's wish in seconds is honoured", "120", 2 * time.Minute, 2 * time.Minute},
		{"a shorter wish does not hurry us", "1", 4500 * time.Millisecond, 5500 * time.Millisecond},
		{"an endless wish is bounded", "999999999999", 24 * time.Hour, 24 * time.Hour},
		{"nonsense is ignored", "soon", 4500 * time.Millisecond, 5500 * time.Millisecond},
		{"a negative wish is ignored", "-5", 4500 * time.Millisecond, 5500 * time.Millisecond},
		{"a date is understood", "date", 59 * time.Minute, time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, storetest.SQLite(t))
			text := c.header
			if text == "date" {
				text = b.clock.Now().Add(time.Hour).Format(http.TimeFormat)
			}
			b.receiver.answers(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", text)
				w.WriteHeader(http.StatusTooManyRequests)
			})
			b.events(t, b.endpoint, 1)
			if wait := b.work(t).next.Sub(b.clock.Now()); wait < c.least || wait > c.most {
				t.Errorf("the wait is %s", wait)
			}
		})
	}
}

func TestAnInactiveProfileGetsNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, storetest.SQLite(t))
	tenant := b.env.Tenant(t)
	profile := b.env.WebhookProfile(t, tenant.ID, func(p *merchant.WebhookProfile) { p.URL, p.Active = b.receiver.URL, false })
	b.endpoint = store.Endpoint{TenantID: tenant.ID, ProfileID: profile.ID}
	ids := b.events(t, b.endpoint, 30)
	b.work(t)
	b.receiver.wantCalls(t, 0)
	for _, id := range ids {
		if record := b.wantStatus(t, id, store.DeliveryFailed, 1); !strings.Contains(record.Attempts[0].Error, "not active") {
			t.Errorf("the log says %q", record.Attempts[0].Error)
		}
	}
	if _, err := Resend(t.Context(), b.Store, ids[0], b.clock.Now()); err == nil {
		t.Error("it can be resent")
	}
}
