package limit

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"time"
)

// Settings are what a Limiter is made of. The zero value limits by the default
// rates in memory.
type Settings struct {
	Rates  Rates
	Logger *slog.Logger
	// RedisURL makes processes count together; "" counts in memory.
	RedisURL string
	// OnRefusal and OnOutage are told of each refused call and of each time
	// that Redis went away; nil when nobody counts.
	OnRefusal func(Scope)
	OnOutage  func()

	patience time.Duration // with Redis; 0 for the default
}

// An address of Redis may hold a password; printed, settings do not show it.

func (s Settings) String() string { return "limits" }

func (s Settings) Format(w fmt.State, _ rune)   { io.WriteString(w, s.String()) }
func (s Settings) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
func (s Settings) LogValue() slog.Value         { return slog.StringValue(s.String()) }

// Limiter decides whether a call may go on. It is safe for concurrent use.
type Limiter struct {
	rates     Rates
	memory    *memory
	shared    *shared // nil without Redis
	onRefusal func(Scope)
}

// New makes a Limiter. An unreachable Redis is no error: it is logged, and
// tried again.
func New(ctx context.Context, settings Settings, now time.Time) (*Limiter, error) {
	l := &Limiter{rates: DefaultRates(), memory: newMemory(), onRefusal: settings.OnRefusal}
	maps.Copy(l.rates, settings.Rates)
	if settings.RedisURL == "" {
		return l, nil
	}
	shared, err := newShared(settings)
	if err != nil {
		return nil, err
	}
	l.shared = shared
	shared.greet(ctx, now)
	return l, nil
}

// Allow counts a call of key within scope and tells whether it may go on, or
// how long to wait. The key names the caller: the id of an API key or a client
// address, never a secret. Refused calls are not counted, so that somebody who
// keeps knocking is let in as soon as there is room.
//
// Now is the world's time, whatever the sandbox clock shows.
func (l *Limiter) Allow(ctx context.Context, scope Scope, key string, now time.Time) (retryAfter time.Duration, ok bool) {
	rate := l.rates[scope]
	if rate == 0 {
		return 0, true
	}
	wait := l.admit(ctx, caller{scope, key}, rate, now)
	if wait > 0 && l.onRefusal != nil {
		l.onRefusal(scope)
	}
	return wait, wait == 0
}

func (l *Limiter) admit(ctx context.Context, who caller, rate int, now time.Time) time.Duration {
	if l.shared != nil {
		if wait, answered := l.shared.admit(ctx, who, rate, now); answered {
			return wait
		}
	}
	return l.memory.admit(who, rate, now)
}

// Wait is how long a caller has to wait who has used up its calls, 0 for not at all.
// Nothing is counted.
func (l *Limiter) Wait(ctx context.Context, scope Scope, key string, now time.Time) time.Duration {
	rate, who := l.rates[scope], caller{scope, key}
	if rate == 0 {
		return 0
	}
	if l.shared != nil {
		if wait, answered := l.shared.slide(ctx, who, rate, window, false, now); answered {
			return wait
		}
	}
	return l.memory.wait(who, rate, now)
}

// Close lets go of Redis.
func (l *Limiter) Close() error {
	if l.shared == nil {
		return nil
	}
	return l.shared.client.Close()
}

// caller is whom a window belongs to.
type caller struct {
	scope Scope
	key   string
}
