package limit

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	// defaultPatience is how long a call waits for Redis before it counts for
	// itself.
	defaultPatience = 100 * time.Millisecond
	// coolDown is how long Redis is left alone after it did not answer, so
	// that an outage costs one call the patience and not all of them.
	coolDown = 2 * time.Second
)

// slide keeps the instants of accepted calls in a list, newest first. It takes
// Redis's own time in microseconds, so that processes whose clocks differ
// agree; a test gives a time of its own. The result is the wait, 0 for a call
// that is let in, and counted if it is to be. A clock that steps back is treated as
// in memory. What somebody else has put there goes: it would be in the way for ever.
var slide = redis.NewScript(`
local rate = tonumber(ARGV[1])
local now = tonumber(ARGV[2])
local window = tonumber(ARGV[3])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end
local newest = redis.pcall('LINDEX', KEYS[1], 0) or '0'
if type(newest) == 'table' or not tonumber(newest) then
  redis.call('DEL', KEYS[1])
  newest = '0'
end
newest = tonumber(newest)
if newest >= now + window then
  redis.call('DEL', KEYS[1])
elseif newest > now then
  now = newest
end
local oldest = tonumber(redis.call('LINDEX', KEYS[1], rate - 1) or '')
if oldest then
  local wait = oldest + window - now
  if wait > 0 then
    return wait
  end
end
if ARGV[4] == '0' then
  return 0
end
redis.call('LPUSH', KEYS[1], string.format('%.0f', now))
redis.call('LTRIM', KEYS[1], 0, rate - 1)
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', window / 1000 * 1.5))
return 0
`)

// shared counts in Redis, for all processes together.
type shared struct {
	client   *redis.Client
	logger   *slog.Logger
	onOutage func()
	patience time.Duration
	// time is what the script is told of the time: "" for Redis's own.
	time func(now time.Time) string

	// awayUntil is 0 while Redis answers, else when to try it again, in
	// nanoseconds.
	awayUntil atomic.Int64
}

func newShared(settings Settings) (*shared, error) {
	options, err := redis.ParseURL(settings.RedisURL)
	if err != nil {
		// What the library says may repeat the password.
		return nil, errors.New("SEPAD_REDIS_URL must be an address such as redis://host:6379/0")
	}
	patience := cmp.Or(settings.patience, defaultPatience)
	options.DialTimeout, options.ReadTimeout, options.WriteTimeout = patience, patience, patience
	options.PoolTimeout, options.ContextTimeoutEnabled = patience, true
	options.MaxRetries, options.DialerRetries = -1, 1
	options.DisableIdentity = true
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	// The library writes a line of its own for each failed attempt.
	logging.Disable()
	return &shared{
		client: redis.NewClient(options), logger: cmp.Or(settings.Logger, slog.Default()), onOutage: settings.OnOutage, patience: patience,
		time: func(time.Time) string { return "" },
	}, nil
}

// greet finds out at the start whether Redis is there, so that the log says so
// before the first call does.
func (s *shared) greet(ctx context.Context, now time.Time) {
	ctx, cancel := s.withPatience(ctx)
	defer cancel()
	if err := s.client.Ping(ctx).Err(); err != nil {
		s.away(ctx, err, now)
	}
}

// admit counts a call; answered is false when Redis could not be asked.
func (s *shared) admit(ctx context.Context, who caller, rate int, now time.Time) (wait time.Duration, answered bool) {
	return s.slide(ctx, who, rate, window, true, now)
}

// slide asks Redis about a caller, of whom so many calls are taken within a time.
func (s *shared) slide(ctx context.Context, who caller, rate int, within time.Duration, counts bool, now time.Time) (wait time.Duration, answered bool) {
	flag := "0"
	if counts {
		flag = "1"
	}
	return s.ask(ctx, now, within, func(ctx context.Context) (int64, error) {
		return slide.Run(ctx, s.client, []string{who.redisKey()}, strconv.Itoa(rate), s.time(now), strconv.FormatInt(within.Microseconds(), 10), flag).Int64()
	})
}

// forgive takes the newest call of a caller back.
func (s *shared) forgive(ctx context.Context, who caller, now time.Time) {
	s.ask(ctx, now, 0, func(ctx context.Context) (int64, error) {
		err := s.client.LPop(ctx, who.redisKey()).Err()
		if errors.Is(err, redis.Nil) {
			err = nil // its time is over
		}
		return 0, err
	})
}

// redisKey is what a caller's window is kept under.
func (c caller) redisKey() string { return "sepad:limit:" + string(c.scope) + ":" + c.key }

// errNonsense is an answer that no script of ours gives.
var errNonsense = errors.New("the answer is no time that anybody could have to wait")

// ask puts a question to Redis, which answers with microseconds, unless it is away. Whatever
// says that somebody has to wait longer than most is no Redis that counts for us.
func (s *shared) ask(ctx context.Context, now time.Time, most time.Duration, question func(context.Context) (micros int64, err error)) (wait time.Duration, answered bool) {
	isWorth, probe := s.worthAsking(now)
	if !isWorth {
		return 0, false
	}
	ctx, cancel := s.withPatience(ctx)
	defer cancel()
	micros, err := question(ctx)
	if err == nil && (micros < 0 || micros > most.Microseconds()) {
		err = errNonsense
	}
	if err != nil {
		s.away(ctx, err, now)
		return 0, false
	}
	// An answer to what was asked before the outage says nothing of now.
	if probe {
		s.back(ctx)
	}
	return time.Duration(micros) * time.Microsecond, true
}

// withPatience bounds a question to Redis. A client that goes away must not
// look like an outage, so its cancellation stays outside.
func (s *shared) withPatience(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), s.patience)
}

// worthAsking is true while Redis answers. During an outage it is true for one
// call per coolDown, the probe, which finds out for all.
func (s *shared) worthAsking(now time.Time) (ask, probe bool) {
	until := s.awayUntil.Load()
	if until == 0 {
		return true, false
	}
	at := now.UnixNano()
	// A time far before the end of the cool-down is a clock that was set back.
	waiting := at < until && until-at <= int64(coolDown)
	probe = !waiting && s.awayUntil.CompareAndSwap(until, at+int64(coolDown))
	return probe, probe
}

func (s *shared) away(ctx context.Context, err error, now time.Time) {
	if s.awayUntil.Swap(now.Add(coolDown).UnixNano()) != 0 {
		return
	}
	s.logger.LogAttrs(ctx, slog.LevelWarn, "Redis is away, each process now limits for itself", slog.Any("error", err))
	if s.onOutage != nil {
		s.onOutage()
	}
}

func (s *shared) back(ctx context.Context) {
	if s.awayUntil.Swap(0) != 0 {
		s.logger.LogAttrs(ctx, slog.LevelInfo, "Redis is back, processes limit together again")
	}
}
