package limit

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sepad/internal/testenv"
)

var start = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

func newLimiter(t testing.TB, settings Settings) *Limiter {
	t.Helper()
	l, err := New(t.Context(), settings, start)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return l
}

// holdsTheRate tries random calls of random callers against the rule itself: a
// call is accepted exactly when fewer than the rate were accepted in the second
// before it, and the wait that is told is the wait that is needed.
func holdsTheRate(t *rapid.T, allow func(key string, rate int, now time.Time) time.Duration) {
	rate := rapid.IntRange(1, 7).Draw(t, "rate")
	accepted := map[string][]time.Time{}
	now := start
	for range rapid.IntRange(1, 80).Draw(t, "calls") {
		step := rapid.OneOf(rapid.Just(0), rapid.IntRange(0, 300_000), rapid.SampledFrom([]int{1, 999_999, 1_000_000})).Draw(t, "microseconds")
		now = now.Add(time.Duration(step) * time.Microsecond)
		key := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "caller")
		recent := 0
		for _, at := range accepted[key] {
			if now.Sub(at) < time.Second {
				recent++
			}
		}
		wait := allow(key, rate, now)
		if recent < rate {
			if wait != 0 {
				t.Fatalf("refused with %d of %d calls in the last second", recent, rate)
			}
			accepted[key] = append(accepted[key], now)
			continue
		}
		needed := accepted[key][len(accepted[key])-rate].Add(time.Second).Sub(now)
		if wait != needed {
			t.Fatalf("with %d of %d calls in the last second the wait is %s, want %s", recent, rate, wait, needed)
		}
	}
}

func TestMemoryTakesExactlyTheRateInAnySecond(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := newMemory()
		holdsTheRate(t, func(key string, rate int, now time.Time) time.Duration {
			return m.admit(caller{Page, key}, rate, now)
		})
	})
}

func TestConcurrentCallsDoNotPassTheRate(t *testing.T) {
	t.Parallel()
	l := newLimiter(t, Settings{})
	if got := acceptedAtOnce(t, start, l); got != 50 {
		t.Errorf("%d calls were accepted", got)
	}
}

// acceptedAtOnce lets many callers in at the same instant, through one limiter
// after the other, and counts who passed.
func acceptedAtOnce(t *testing.T, now time.Time, limiters ...*Limiter) int64 {
	t.Helper()
	var accepted atomic.Int64
	var all sync.WaitGroup
	for i := range 300 {
		all.Go(func() {
			if _, ok := limiters[i%len(limiters)].Allow(context.Background(), APIKeyCreate, "key", now); ok {
				accepted.Add(1)
			}
		})
	}
	all.Wait()
	return accepted.Load()
}

func TestScopesAndCallersAreCountedApart(t *testing.T) {
	t.Parallel()
	refused := []Scope{}
	l := newLimiter(t, Settings{OnRefusal: func(s Scope) { refused = append(refused, s) }})
	for _, c := range []struct {
		scope Scope
		key   string
		want  bool
	}{
		{BrowserPay, "192.0.2.1", true},
		{BrowserPay, "192.0.2.1", false},
		{BrowserPay, "192.0.2.2", true},
		{BrowserRead, "192.0.2.1", true},
		{BrowserVerify, "192.0.2.1", true},
		{APIKeyPay, "192.0.2.1", true},
		{APIKeyPay, "192.0.2.1", true},
	} {
		if _, ok := l.Allow(t.Context(), c.scope, c.key, start); ok != c.want {
			t.Errorf("%s of %s: got %t", c.scope, c.key, ok)
		}
	}
	if len(refused) != 1 || refused[0] != BrowserPay {
		t.Errorf("refusals told: %v", refused)
	}
}

func TestWhoKeepsKnockingIsLetInOnTime(t *testing.T) {
	t.Parallel()
	l := newLimiter(t, Settings{})
	l.Allow(t.Context(), BrowserPay, "a", start)
	for knock := time.Duration(0); knock < time.Second; knock += 10 * time.Millisecond {
		if wait, ok := l.Allow(t.Context(), BrowserPay, "a", start.Add(knock)); ok || wait != time.Second-knock {
			t.Fatalf("after %s: %s, %t", knock, wait, ok)
		}
	}
	if _, ok := l.Allow(t.Context(), BrowserPay, "a", start.Add(time.Second)); !ok {
		t.Error("refused after a second")
	}
}

func TestWhoHasUsedUpItsCallsIsKnownWithoutCounting(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{"in memory": "", "in Redis": testenv.RedisURL(t)} {
		t.Run(name, func(t *testing.T) {
			l := newLimiter(t, Settings{Rates: Rates{AuthFailure: 2, Page: 0}, RedisURL: url, patience: unhurried})
			if url != "" {
				byOurTime(l)
			}
			ask := func(after time.Duration) time.Duration {
				return l.Wait(t.Context(), AuthFailure, "a", start.Add(after))
			}
			for range 5 {
				if wait := ask(0); wait != 0 {
					t.Fatalf("before any call it waits %s", wait)
				}
			}
			for i := range 2 {
				if _, ok := l.Allow(t.Context(), AuthFailure, "a", start); !ok {
					t.Fatalf("call %d was refused", i)
				}
			}
			for after, want := range map[time.Duration]time.Duration{0: time.Second, 400 * time.Millisecond: 600 * time.Millisecond} {
				if wait := ask(after); wait != want {
					t.Errorf("after %s it waits %s", after, wait)
				}
			}
			if wait := l.Wait(t.Context(), AuthFailure, "b", start); wait != 0 {
				t.Errorf("another one waits %s", wait)
			}
			if wait := l.Wait(t.Context(), Page, "a", start); wait != 0 {
				t.Errorf("where nothing is limited it waits %s", wait)
			}
			for _, after := range []time.Duration{time.Second, -time.Hour} {
				if wait := ask(after); wait != 0 {
					t.Errorf("after %s it waits %s", after, wait)
				}
			}
		})
	}
}

func TestARateOfZeroIsUnlimited(t *testing.T) {
	t.Parallel()
	l := newLimiter(t, Settings{Rates: Rates{BrowserPay: 0}})
	for range 1000 {
		if _, ok := l.Allow(t.Context(), BrowserPay, "a", start); !ok {
			t.Fatal("refused")
		}
	}
	l.Allow(t.Context(), BrowserRead, "a", start)
	if _, ok := l.Allow(t.Context(), BrowserRead, "a", start); ok {
		t.Error("a scope that was not set is unlimited too")
	}
}

func TestAClockThatWasSetBackLocksNobodyOut(t *testing.T) {
	t.Parallel()
	l := newLimiter(t, Settings{})
	l.Allow(t.Context(), BrowserPay, "a", start)
	if _, ok := l.Allow(t.Context(), BrowserPay, "a", start.Add(-time.Millisecond)); ok {
		t.Error("a call that was overtaken by another passed")
	}
	if _, ok := l.Allow(t.Context(), BrowserPay, "a", start.Add(-time.Hour)); !ok {
		t.Error("refused an hour earlier")
	}
	if _, ok := l.Allow(t.Context(), BrowserPay, "a", start.Add(-time.Hour)); ok {
		t.Error("the rate does not hold after the clock was set back")
	}
}

func TestAFloodOfAddressesIsForgotten(t *testing.T) {
	t.Parallel()
	m := newMemory()
	const perSecond, seconds = 5000, 20
	for i := range perSecond * seconds {
		m.admit(caller{Page, "address " + strconv.Itoa(i)}, 20, start.Add(time.Duration(i)*time.Second/perSecond))
		if kept := m.kept(); i%perSecond == 0 && kept > 5*perSecond {
			t.Fatalf("after %d addresses %d are kept", i, kept)
		}
	}
	m.admit(caller{Page, "later"}, 20, start.Add(time.Minute))
	m.admit(caller{Page, "even later"}, 20, start.Add(2*time.Minute))
	if kept := m.kept(); kept > 2 {
		t.Errorf("%d addresses are kept for ever", kept)
	}
}

func (m *memory) kept() int {
	kept := 0
	for i := range m.shards {
		kept += len(m.shards[i].young) + len(m.shards[i].old)
	}
	return kept
}

func TestAnOverflowingGenerationForgetsNoWindowInUse(t *testing.T) {
	t.Parallel()
	m := newMemory()
	// A call every 1.9 s crosses every boundary between generations.
	for i := range 100 {
		now := start.Add(time.Duration(i) * 1900 * time.Millisecond)
		if m.admit(caller{BrowserPay, "a"}, 1, now) != 0 {
			t.Fatalf("call %d was refused", i)
		}
		m.admit(caller{BrowserPay, "somebody else"}, 1, now.Add(time.Millisecond))
		if m.admit(caller{BrowserPay, "a"}, 1, now.Add(999*time.Millisecond)) == 0 {
			t.Fatalf("call %d was forgotten", i)
		}
	}
}

func TestAWindowGrowsNoLargerThanItsRateAsksFor(t *testing.T) {
	t.Parallel()
	w := instants{}
	for i := range 100_000 {
		w.admit(50, int64(i)*int64(20*time.Millisecond))
	}
	if cap(w.at) > 256 {
		t.Errorf("a window for 50 calls holds %d", cap(w.at))
	}
}

func TestRatesAreThoseOfTheContract(t *testing.T) {
	t.Parallel()
	want := map[Scope]int{
		"api_key_create": 50, "api_key_cancel": 50, "browser_read": 1, "browser_pay": 1, "browser_verify": 1,
		"iban_validate": 50, "api_key_reconciliation": 50, "api_key_manage": 50, "api_key_events": 10,
		"api_key_read": 50, "api_key_pay": 50, "api_key_verify": 50, "page": 20, "auth_failure": 20,
	}
	rates := DefaultRates()
	if len(rates) != len(want) || len(Scopes()) != len(want) {
		t.Errorf("%d scopes, want %d", len(rates), len(want))
	}
	for scope, rate := range want {
		if rates[scope] != rate {
			t.Errorf("%s is %d", scope, rates[scope])
		}
	}
}

func TestRatesAreNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"100": 100, "0": 0} {
		if got, err := ParseRate(text); got != want || err != nil {
			t.Errorf("%s: got %d, %v", text, got, err)
		}
	}
	for _, wrong := range []string{"", "-1", "1.5", "many", "1000001", "1/s"} {
		if _, err := ParseRate(wrong); err == nil {
			t.Errorf("%s is taken", wrong)
		}
	}
}

func BenchmarkAllowInMemory(b *testing.B) {
	l := newLimiter(b, Settings{})
	b.ReportAllocs()
	now := start
	for b.Loop() {
		now = now.Add(time.Millisecond)
		l.Allow(b.Context(), APIKeyCreate, "key", now)
	}
}
