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

	"github.com/jackc/pgx/v5"

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
	// billingPatience is for fifty thousand rebills on a slow machine.
	billingPatience = 30 * time.Minute
)

func measureRebillGrowth(ctx context.Context, l *lab, w work) (measurement, error) {
	count := manySubscriptions
	if l.full {
		count = manySubscriptionsFull
	}
	few, err := l.openSubscribers(ctx, "subscribers_few", fewSubscriptions)
	if err != nil {
		return measurement{}, err
	}
	many, err := l.openSubscribers(ctx, "subscribers_many", count)
	if err != nil {
		return measurement{}, err
	}
	m, err := alternate(ctx, l, w, l.rounds(), many.pick(l), few.pick(l))
	if err != nil {
		return m, err
	}
	for _, s := range []*subscribers{few, many} {
		note, err := s.billByTwo(ctx, l)
		if err != nil {
			return m, err
		}
		m.notes = append(m.notes, note)
	}
	return m, nil
}

// subscribers is a database with subscriptions, which no server is billing yet.
type subscribers struct {
	databaseURL string
	count       int
}

// openSubscribers has one subscription paid for, so that every row is as the
// program writes it, and copies it.
func (l *lab) openSubscribers(ctx context.Context, name string, count int) (*subscribers, error) {
	databaseURL, err := l.database(ctx, name)
	if err != nil {
		return nil, err
	}
	server, shop, err := l.openSepad(ctx, databaseURL)
	if err != nil {
		return nil, err
	}
	result, err := load(ctx, loadJob{Kind: "pay", Address: server.address, Connections: 1, Count: 1, Merchants: shop.Merchants})
	server.stop()
	if err == nil && result.errors > 0 {
		err = errors.New(result.trouble)
	}
	if err != nil {
		return nil, err
	}
	l.say("%s: writing %d subscriptions", name, count)
	return &subscribers{databaseURL, count}, fillSubscriptions(ctx, databaseURL, count)
}

func fillSubscriptions(ctx context.Context, databaseURL string, count int) error {
	connection, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return err
	}
	defer connection.Close(ctx)
	today := time.Now().UTC().Truncate(24 * time.Hour)
	statement := fmt.Sprintf(subscriptionsSQL, count, oneInDue, today.Format(time.DateOnly), today.UnixMicro())
	for _, text := range []string{"SET session_replication_role = replica", statement, "VACUUM (ANALYZE)"} {
		if _, err := connection.Exec(ctx, text); err != nil {
			return err
		}
	}
	return nil
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

// billByTwo starts two servers, waits until nothing is due, and tells what they
// needed. Each subscription that was due must have been billed once.
func (s *subscribers) billByTwo(ctx context.Context, l *lab) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, billingPatience)
	defer cancel()
	var memory [2]float64
	var made [2]int
	var servers [2]*process
	for i := range servers {
		folder, err := l.subfolder("billing")
		if err != nil {
			return "", err
		}
		if servers[i], err = l.startSepad(ctx, s.databaseURL, folder); err != nil {
			return "", err
		}
		defer servers[i].stop()
	}
	err := s.awaitBilled(ctx)
	if err != nil {
		return "", err
	}
	for i, server := range servers {
		if memory[i], err = server.peakMemory(); err != nil {
			return "", err
		}
		if made[i], err = submissions(ctx, server); err != nil {
			return "", err
		}
	}
	seconds, err := s.checkBilled(ctx)
	return fmt.Sprintf("of %d subscriptions %d were due and billed once each in %.1f s, by two processes: %d and %d, peak memory %.0f and %.0f MB",
		s.count, s.count/oneInDue, seconds, made[0], made[1], memory[0], memory[1]), err
}

// submissions is how many payments a server says it has sent to its gateways.
func submissions(ctx context.Context, server *process) (sum int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+server.address+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
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
	err = readRow(ctx, s.databaseURL, `SELECT COUNT(*), COUNT(DISTINCT subscription_id), COUNT(*) FILTER (WHERE status = 'approved'),
		MAX(processed_at) - MIN(created_at) FROM transactions WHERE type = 'sdd_rebill'`, &rebills, &subscriptions, &approved, &micros)
	want := int64(s.count / oneInDue)
	if err == nil && (rebills != want || subscriptions != want || approved != want) {
		err = fmt.Errorf("%d rebills of %d subscriptions, %d approved, want %d", rebills, subscriptions, approved, want)
	}
	return float64(micros) / float64(time.Second/time.Microsecond), err
}
