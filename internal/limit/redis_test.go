package limit

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sepad/internal/clock"
	"sepad/internal/testenv"
)

var realTime clock.Real

// unhurried is a patience that a busy machine does not use up.
const unhurried = 30 * time.Second

// byOurTime makes a limiter tell Redis the time of the test.
func byOurTime(l *Limiter) *Limiter {
	l.shared.time = func(now time.Time) string { return strconv.FormatInt(now.UnixMicro(), 10) }
	return l
}

func TestRedisTakesExactlyTheRateInAnySecond(t *testing.T) {
	t.Parallel()
	l := byOurTime(newLimiter(t, Settings{RedisURL: testenv.RedisURL(t), patience: unhurried}))
	round := 0
	rapid.Check(t, func(r *rapid.T) {
		round++
		holdsTheRate(r, func(key string, rate int, now time.Time) time.Duration {
			wait, answered := l.shared.admit(t.Context(), caller{Page, key + strconv.Itoa(round)}, rate, now)
			if !answered {
				r.Fatal("Redis did not answer")
			}
			return wait
		})
	})
}

func TestProcessesOnOneRedisCountTogether(t *testing.T) {
	t.Parallel()
	url := testenv.RedisURL(t)
	first, second := byOurTime(newLimiter(t, Settings{RedisURL: url, patience: unhurried})), byOurTime(newLimiter(t, Settings{RedisURL: url, patience: unhurried}))
	if got := acceptedAtOnce(t, start, first, second); got != 50 {
		t.Errorf("%d calls were accepted by two processes", got)
	}
}

func TestRedisTellsTheTimeItself(t *testing.T) {
	t.Parallel()
	l := newLimiter(t, Settings{RedisURL: testenv.RedisURL(t), patience: unhurried})
	began := realTime.Now()
	l.Allow(t.Context(), BrowserPay, "a", start)
	// A process whose clock is an hour ahead is refused all the same.
	wait, ok := l.Allow(t.Context(), BrowserPay, "a", start.Add(time.Hour))
	if took := realTime.Now().Sub(began); ok && took < time.Second || wait > time.Second {
		t.Errorf("after %s: %s, %t", took, wait, ok)
	}
	left, err := l.shared.client.PTTL(t.Context(), "sepad:limit:browser_pay:a").Result()
	if err != nil || left > 1500*time.Millisecond || left == -1 {
		t.Errorf("the key stays for %s, %v", left, err)
	}
}

func TestAMachineThatSetRedisBackLocksNobodyOut(t *testing.T) {
	t.Parallel()
	l := byOurTime(newLimiter(t, Settings{RedisURL: testenv.RedisURL(t), patience: unhurried}))
	for _, c := range []struct {
		at   time.Duration
		want bool
	}{{0, true}, {-time.Millisecond, false}, {-time.Hour, true}, {-time.Hour, false}} {
		if _, ok := l.Allow(t.Context(), BrowserPay, "a", start.Add(c.at)); ok != c.want {
			t.Errorf("at %s: got %t", c.at, ok)
		}
	}
}

func TestWhatOthersHavePutIntoRedisIsNotInTheWay(t *testing.T) {
	t.Parallel()
	l := byOurTime(newLimiter(t, Settings{RedisURL: testenv.RedisURL(t), patience: unhurried}))
	who := caller{Page, t.Name()}
	for name, put := range map[string]func() error{
		"a text": func() error { return l.shared.client.Set(t.Context(), who.redisKey(), "text", 0).Err() },
		"a hash": func() error {
			return l.shared.client.HSet(t.Context(), who.redisKey(), "wrong", "many", "last", "never").Err()
		},
		"a list of words":       func() error { return l.shared.client.LPush(t.Context(), who.redisKey(), "never").Err() },
		"words behind a time":   func() error { return l.shared.client.LPush(t.Context(), who.redisKey(), "never", "1").Err() },
		"a set, without an end": func() error { return l.shared.client.SAdd(t.Context(), who.redisKey(), "never").Err() },
	} {
		for kind, count := range map[string]func() (time.Duration, bool){
			"a call":  func() (time.Duration, bool) { return l.shared.admit(t.Context(), who, 2, start) },
			"a guess": func() (time.Duration, bool) { return l.shared.attempt(t.Context(), who, start) },
		} {
			l.shared.forget(t.Context(), who, start)
			if err := put(); err != nil {
				t.Fatal(err)
			}
			if wait, answered := count(); wait != 0 || !answered {
				t.Errorf("%s: %s waits %s, answered: %t", name, kind, wait, answered)
			}
		}
	}
}

func TestARedisThatAnswersNonsenseIsAway(t *testing.T) {
	t.Parallel()
	for _, micros := range []int64{-1, window.Microseconds() + 1, 1<<63 - 1} {
		l := byOurTime(newLimiter(t, Settings{RedisURL: testenv.RedisURL(t), patience: unhurried}))
		if wait, answered := l.shared.ask(t.Context(), start, window, func(context.Context) (int64, error) { return micros, nil }); wait != 0 || answered {
			t.Errorf("%d: somebody waits %s", micros, wait)
		}
	}
}

// door stands before a Redis and can be shut, and opened again.
type door struct {
	address, behind string
	mute            atomic.Bool // takes in connections and says nothing

	mu       sync.Mutex
	listener net.Listener
	open     []net.Conn
}

func newDoor(t *testing.T, url string) *door {
	t.Helper()
	host, _, _ := strings.Cut(strings.TrimPrefix(url, "redis://"), "/")
	d := &door{behind: host, address: "127.0.0.1:0"}
	d.unlock(t)
	d.address = d.listener.Addr().String()
	t.Cleanup(d.shut)
	return d
}

func (d *door) unlock(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", d.address)
	if err != nil {
		t.Fatal(err)
	}
	d.mu.Lock()
	d.listener = listener
	d.mu.Unlock()
	go d.serve(listener)
}

func (d *door) serve(listener net.Listener) {
	for {
		outside, err := listener.Accept()
		if err != nil {
			return
		}
		inside, err := net.Dial("tcp", d.behind)
		if err != nil {
			outside.Close()
			return
		}
		d.mu.Lock()
		d.open = append(d.open, outside, inside)
		d.mu.Unlock()
		if !d.mute.Load() {
			go io.Copy(inside, outside)
		}
		go io.Copy(outside, inside)
	}
}

func (d *door) shut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.listener.Close()
	for _, connection := range d.open {
		connection.Close()
	}
	d.open = nil
}

// outageLog is what the limiter says of outages.
type outageLog struct {
	mu      sync.Mutex
	text    bytes.Buffer
	outages atomic.Int64
}

func (o *outageLog) Write(line []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(line)
}

func (o *outageLog) mustHave(t *testing.T, away, back int) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	gotAway, gotBack := strings.Count(o.text.String(), "Redis is away"), strings.Count(o.text.String(), "Redis is back")
	if gotAway != away || gotBack != back || o.outages.Load() != int64(away) {
		t.Errorf("%d outages counted, log:\n%s", o.outages.Load(), &o.text)
	}
}

// behindDoor is a limiter whose Redis a test can take away.
func behindDoor(t *testing.T, patience time.Duration) (*Limiter, *door, *outageLog) {
	t.Helper()
	url := testenv.RedisURL(t)
	d, log := newDoor(t, url), &outageLog{}
	database := url[strings.LastIndexByte(url, '/'):]
	l := byOurTime(newLimiter(t, Settings{
		RedisURL: "redis://" + d.address + database, Logger: slog.New(slog.NewTextHandler(log, nil)),
		OnOutage: func() { log.outages.Add(1) }, patience: patience,
	}))
	return l, d, log
}

func TestWhileRedisIsAwayEachProcessCountsForItself(t *testing.T) {
	t.Parallel()
	l, d, log := behindDoor(t, unhurried)
	if got := acceptedAtOnce(t, start, l); got != 50 {
		t.Fatalf("%d calls were accepted", got)
	}
	log.mustHave(t, 0, 0)
	d.shut()
	if got := acceptedAtOnce(t, start.Add(time.Second), l); got != 50 {
		t.Errorf("without Redis %d calls were accepted", got)
	}
	l.Allow(t.Context(), Page, "a", start.Add(time.Second+coolDown))
	log.mustHave(t, 1, 0)
}

func TestWhenRedisIsBackProcessesCountTogetherAgain(t *testing.T) {
	t.Parallel()
	l, d, log := behindDoor(t, unhurried)
	d.shut()
	l.Allow(t.Context(), Page, "a", start)
	log.mustHave(t, 1, 0)

	d.unlock(t)
	l.Allow(t.Context(), Page, "a", start.Add(coolDown-time.Microsecond))
	log.mustHave(t, 1, 0)
	l.Allow(t.Context(), Page, "a", start.Add(coolDown))
	log.mustHave(t, 1, 1)
	if there, err := l.shared.client.Exists(t.Context(), "sepad:limit:page:a").Result(); err != nil || there != 1 {
		t.Errorf("Redis does not count again: %d, %v", there, err)
	}

	d.shut()
	l.Allow(t.Context(), Page, "a", start.Add(time.Minute))
	log.mustHave(t, 2, 1)
}

func TestAnOutageCostsOneCallPerCoolDownAWait(t *testing.T) {
	t.Parallel()
	l, d, log := behindDoor(t, defaultPatience)
	d.shut()
	d.mute.Store(true)
	d.unlock(t)
	began := realTime.Now()
	const calls = 500
	for i := range calls {
		l.Allow(t.Context(), Page, strconv.Itoa(i), start)
	}
	if took := realTime.Now().Sub(began); took > calls*defaultPatience/10 {
		t.Errorf("%d calls took %s", calls, took)
	}
	log.mustHave(t, 1, 0)
}

func TestAClientThatGoesAwayIsNoOutage(t *testing.T) {
	t.Parallel()
	l, _, log := behindDoor(t, unhurried)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, ok := l.Allow(ctx, Page, "a", start); !ok {
		t.Error("refused")
	}
	log.mustHave(t, 0, 0)
}

func TestAStartWithoutRedisIsLogged(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := listener.Addr().String()
	listener.Close()
	log := &outageLog{}
	l := newLimiter(t, Settings{
		RedisURL: "redis://" + nobody, Logger: slog.New(slog.NewTextHandler(log, nil)), OnOutage: func() { log.outages.Add(1) },
	})
	log.mustHave(t, 1, 0)
	if got := acceptedAtOnce(t, start, l); got != 50 {
		t.Errorf("%d calls were accepted", got)
	}
	log.mustHave(t, 1, 0)
}

func TestAWrongRedisAddressIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"redis://:hunter2@[::1", "http://:hunter2@host", "redis://:hunter2@host/x", "hunter2"} {
		_, err := New(t.Context(), Settings{RedisURL: url}, start)
		if err == nil || !strings.Contains(err.Error(), "SEPAD_REDIS_URL") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("got %v", err)
		}
	}
}
