package web

import (
	"context"
	"time"

	"sepad/internal/limit"
)

// Throttle counts a call and gives the answer to one too many, nil to others.
// The key is the API key's id when the caller has one, else ClientKey.
func Throttle(ctx context.Context, l *limit.Limiter, scope limit.Scope, key string, now time.Time) error {
	if wait, ok := l.Allow(ctx, scope, key, now); !ok {
		return Throttled(wait)
	}
	return nil
}

// ClientKey is the limits' name of a caller who is known only by address.
func ClientKey(ctx context.Context) string { return limit.NameOf(ClientIP(ctx)) }
