package limit

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// FreeGuesses are wrong passwords that cost nothing: people mistype.
	FreeGuesses = 5
	firstWait   = time.Second
	longestWait = 15 * time.Minute
	// doublings lead beyond the longest wait.
	doublings = 10
	// forgottenAfter ends the memory of wrong passwords.
	forgottenAfter = time.Hour
)

// Patience lets whoever guesses wait longer with every wrong guess. Processes that share
// a Redis count together; each counts for itself as well, so that while Redis is away
// nobody begins anew. The zero value counts alone.
type Patience struct {
	shared *shared
	scope  Scope

	mu      sync.Mutex
	guesses map[string]guesses
	// sweptAt is when those whose time is over were last looked for.
	sweptAt time.Time
}

type guesses struct {
	wrong int
	last  time.Time
}

// Share has all processes on the limiter's Redis count together what is called scope.
func (p *Patience) Share(l *Limiter, scope Scope) { p.shared, p.scope = l.shared, scope }

// Attempt counts a guess, and is how long its maker has to wait before one is heard, 0
// for not at all. It counts before anybody knows whether the guess is right, so that
// many at once do not all pass before the first is counted; Forget takes them back. A
// guess that has to wait is not counted.
func (p *Patience) Attempt(ctx context.Context, key string, now time.Time) time.Duration {
	if p.shared != nil {
		if wait, answered := p.shared.attempt(ctx, caller{p.scope, key}, now); answered && wait > 0 {
			return wait
		}
	}
	return p.attempt(key, now)
}

// Forget ends the memory of somebody whose guess was right.
func (p *Patience) Forget(ctx context.Context, key string, now time.Time) {
	if p.shared != nil {
		p.shared.forget(ctx, caller{p.scope, key}, now)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.guesses, key)
}

// until is when somebody is heard again.
func (g guesses) until() time.Time {
	if g.wrong < FreeGuesses {
		return g.last
	}
	wait := firstWait << min(g.wrong-FreeGuesses, doublings)
	return g.last.Add(min(wait, longestWait))
}

// attempt is what this process knows alone.
func (p *Patience) attempt(key string, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.guesses[key]
	if now.Sub(g.last) > forgottenAfter {
		g = guesses{}
	}
	if wait := g.until().Sub(now); wait > 0 {
		return wait
	}
	if p.guesses == nil {
		p.guesses = map[string]guesses{}
	}
	if _, known := p.guesses[key]; !known {
		makeRoom(p.guesses, &p.sweptAt, now, func(g guesses) bool { return now.Sub(g.last) > forgottenAfter })
	}
	p.guesses[key] = guesses{g.wrong + 1, now}
	return 0
}

// wait does the same in Redis, by its own time as slide does.
var wait = redis.NewScript(`
local now = tonumber(ARGV[1])
local free, first, longest, doublings, life = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end
local kept = redis.pcall('HMGET', KEYS[1], 'wrong', 'last')
if kept.err then
  redis.call('DEL', KEYS[1])
  kept = {}
end
local wrong, last = tonumber(kept[1] or 0) or 0, tonumber(kept[2] or 0) or 0
if now - last > life or last - now > life then
  wrong, last = 0, now
end
if wrong >= free then
  local left = last + math.min(first * 2 ^ math.min(wrong - free, doublings), longest) - now
  if left > 0 then
    return left
  end
end
redis.call('HSET', KEYS[1], 'wrong', wrong + 1, 'last', string.format('%.0f', math.max(now, last)))
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', life / 1000))
return 0
`)

// attempt asks Redis about a guess; answered is false when it could not be asked.
func (s *shared) attempt(ctx context.Context, who caller, now time.Time) (time.Duration, bool) {
	micros := func(d time.Duration) string { return strconv.FormatInt(d.Microseconds(), 10) }
	return s.ask(ctx, now, longestWait+forgottenAfter, func(ctx context.Context) (int64, error) {
		return wait.Run(ctx, s.client, []string{who.redisKey()}, s.time(now), strconv.Itoa(FreeGuesses), micros(firstWait), micros(longestWait),
			strconv.Itoa(doublings), micros(forgottenAfter)).Int64()
	})
}

func (s *shared) forget(ctx context.Context, who caller, now time.Time) {
	s.ask(ctx, now, 0, func(ctx context.Context) (int64, error) { return 0, s.client.Del(ctx, who.redisKey()).Err() })
}
