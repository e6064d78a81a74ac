//go:build unix

package main

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sepad/internal/store"
)

//go:embed sql/subscriptions.sql
var subscriptionsSQL string

var rebillGrowthWork = work{
	name:    "rebill-growth",
	what:    "picks of due subscriptions among many, one in twenty due; then two processes bill them",
	against: "the same pick among 10,000",
	unit:    "picks per second",
	better:  moreIsBetter,
	floor:   0.85,
	goal:    0.95,
	measure: measureRebillGrowth,
}

const (
	fewSubscriptions      = 10_000
	manySubscriptions     = 50_000
	manySubscriptionsFull = 1_000_000
	// oneInDue is how many subscriptions there are for each that is due.
	oneInDue = 20
	// picked is how many a lane takes at a time.
	picked = 8
	// billingPatience is for two hundred thousand rebills on a slow machine.
	billingPatience = time.Hour
)

func measureRebillGrowth(ctx context.Context, l *lab, w work) (measurement, error) {
	count := manySubscriptions
	if l.full {
		count = manySubscriptionsFull
	}
	few, err := l.openSubscribers(ctx, "subscribers_few", fewSubscriptions, oneInDue)
	if err != nil {
		return measurement{}, err
	}
	many, err := l.openSubscribers(ctx, "subscribers_many", count, oneInDue)
	if err != nil {
		return measurement{}, err
	}
	m, err := alternate(ctx, l, w, l.rounds(), many.pick(l), few.pick(l))
	if err != nil {
		return m, err
	}
	for _, s := range []*subscribers{few, many} {
		b, err := s.billByTwo(ctx, l)
		if err != nil {
			return m, err
		}
		m.notes = append(m.notes, fmt.Sprintf("of %d subscriptions %d were due and billed once each in %.1f s, by two processes: %d and %d, peak memory %.0f and %.0f MB",
			s.count, s.due, b.seconds, b.made[0], b.made[1], b.memory[0], b.memory[1]))
	}
	return m, nil
}

// subscribers is a database with subscriptions, which no server is billing yet.
type subscribers struct {
	databaseURL string
	count, due  int
}

// openSubscribers copies a subscription; one in so many is due.
func (l *lab) openSubscribers(ctx context.Context, name string, count, oneInDue int) (*subscribers, error) {
	server, databaseURL, err := l.openPaid(ctx, name)
	if err != nil {
		return nil, err
	}
	server.stop()
	l.say("%s: writing %d subscriptions", name, count)
	today := time.Now().UTC().Truncate(24 * time.Hour)
	return &subscribers{databaseURL, count, count / oneInDue},
		fill(ctx, databaseURL, fmt.Sprintf(subscriptionsSQL, count, oneInDue, today.Format(time.DateOnly), today.UnixMicro()))
}

// errGivenBack ends a unit that has only looked.
var errGivenBack = errors.New("given back")

// pick measures how fast the subscriptions that are due longest are found and
// taken; they are given back.
func (s *subscribers) pick(l *lab) side {
	return func(ctx context.Context) (sample, error) {
		books, err := store.Open(ctx, s.databaseURL, store.Options{})
		if err != nil {
			return sample{}, err
		}
		began, picks := time.Now(), 0
		for ; err == nil && time.Since(began) < l.roundTime(); picks++ {
			err = pickOnce(ctx, books)
		}
		return sample{figure: float64(picks) / time.Since(began).Seconds()}, errors.Join(err, books.Close())
	}
}

func pickOnce(ctx context.Context, books *store.Store) error {
	now := time.Now()
	found := 0
	err := books.Write(ctx, now, func(tx *store.Tx) error {
		due, err := tx.SubscriptionsDue(now, picked)
		if found = len(due); err != nil {
			return err
		}
		return errGivenBack
	})
	if !errors.Is(err, errGivenBack) {
		return err
	}
	if found != picked {
		return fmt.Errorf("%d subscriptions are due", found)
	}
	return nil
}

// billed is what two processes needed for all that was due.
type billed struct {
	seconds float64
	made    [2]int
	memory  [2]float64 // at most, in megabytes
}

// billByTwo starts two servers, waits until nothing is due, and tells what they
// needed. Each subscription that was due must have been billed once.
func (s *subscribers) billByTwo(ctx context.Context, l *lab) (b billed, err error) {
	ctx, cancel := context.WithTimeout(ctx, billingPatience)
	defer cancel()
	var servers [2]*process
	for i := range servers {
		folder, err := l.subfolder("billing")
		if err != nil {
			return b, err
		}
		if servers[i], err = l.startSepad(ctx, s.databaseURL, folder); err != nil {
			return b, err
		}
		defer servers[i].stop()
	}
	if err := s.awaitBilled(ctx); err != nil {
		return b, err
	}
	for i, server := range servers {
		if b.memory[i], err = server.peakMemory(); err != nil {
			return b, err
		}
		if b.made[i], err = submissions(ctx, server); err != nil {
			return b, err
		}
	}
	if b.seconds, err = s.checkBilled(ctx); err != nil {
		err = fmt.Errorf("%w; the servers say: %s %s", err, servers[0].complaints(), servers[1].complaints())
	}
	return b, err
}

// submissions is how many payments a server says it has sent to its gateways.
func submissions(ctx context.Context, server *process) (sum int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+server.address+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+adminToken)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("/metrics answers %s", response.Status)
	}
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		line := lines.Text()
		if !strings.HasPrefix(line, "sepad_gateway_calls_total{") || !strings.Contains(line, `operation="submit"`) {
			continue
		}
		n, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
		if err != nil {
			return 0, err
		}
		sum += int(n)
	}
	return sum, nil
}

func (s *subscribers) awaitBilled(ctx context.Context) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		var left int64
		err := readRow(ctx, s.databaseURL, `SELECT (SELECT COUNT(*) FROM subscriptions WHERE due_at <= `+
			fmt.Sprint(time.Now().UnixMicro())+`) + (SELECT COUNT(*) FROM transactions WHERE in_flight IS NOT NULL)`, &left)
		if err != nil || left == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d subscriptions were not billed: %w", left, ctx.Err())
		case <-tick.C:
		}
	}
}

func (s *subscribers) checkBilled(ctx context.Context) (seconds float64, err error) {
	var rebills, subscriptions, approved, micros int64
	var others string
	err = readRow(ctx, s.databaseURL, `SELECT COUNT(*), COUNT(DISTINCT subscription_id), COUNT(*) FILTER (WHERE status = 'approved'),
		MAX(processed_at) - MIN(created_at), COALESCE(STRING_AGG(DISTINCT status || ' ' || decline_code || ' ' || decline_message, ', ')
		FILTER (WHERE status <> 'approved'), 'none') FROM transactions WHERE type = 'sdd_rebill'`, &rebills, &subscriptions, &approved, &micros, &others)
	want := int64(s.due)
	if err == nil && (rebills != want || subscriptions != want || approved != want) {
		err = fmt.Errorf("%d rebills of %d subscriptions, %d approved, want %d; others: %s", rebills, subscriptions, approved, want, others)
	}
	return float64(micros) / float64(time.Second/time.Microsecond), err
}
