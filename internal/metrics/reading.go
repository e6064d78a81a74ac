package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// readingPatience bounds a figure that is read from the database while somebody
// looks at the metrics.
const readingPatience = 2 * time.Second

// freshFor is how long such a figure is shown before it is read again.
const freshFor = 5 * time.Second

// Pool is the state of a database pool.
type Pool struct {
	Open    int // connections that exist
	InUse   int
	Max     int
	Waits   int64         // times that somebody had to wait for a connection
	Waiting time.Duration // how long in all
}

// WatchPool shows the state of the pool with that name.
func (m *Metrics) WatchPool(name string, read func() Pool) {
	describe := func(metric, help string) *prometheus.Desc {
		return prometheus.NewDesc(metric, help, nil, prometheus.Labels{"pool": name})
	}
	open := describe("sepad_db_connections", "Database connections that are open.")
	inUse := describe("sepad_db_connections_in_use", "Database connections that are in use.")
	limit := describe("sepad_db_connections_max", "Database connections that may be open.")
	waits := describe("sepad_db_waits_total", "Times that a connection had to be waited for.")
	waiting := describe("sepad_db_wait_seconds_total", "Time spent waiting for connections.")
	m.registry.MustRegister(collector(func(show func(prometheus.Metric)) {
		pool := read()
		show(prometheus.MustNewConstMetric(open, prometheus.GaugeValue, float64(pool.Open)))
		show(prometheus.MustNewConstMetric(inUse, prometheus.GaugeValue, float64(pool.InUse)))
		show(prometheus.MustNewConstMetric(limit, prometheus.GaugeValue, float64(pool.Max)))
		show(prometheus.MustNewConstMetric(waits, prometheus.CounterValue, float64(pool.Waits)))
		show(prometheus.MustNewConstMetric(waiting, prometheus.CounterValue, pool.Waiting.Seconds()))
	}))
}

// WatchClockSkew shows how far this machine's clock is ahead of the database's.
func (m *Metrics) WatchClockSkew(read func(context.Context) (time.Duration, error)) {
	ahead := prometheus.NewDesc("sepad_clock_skew_seconds", "How far this machine's clock is ahead of the database's.", nil, nil)
	figure := &reading[time.Duration]{metrics: m, read: read}
	m.registry.MustRegister(collector(func(show func(prometheus.Metric)) {
		if d, ok := figure.get(); ok {
			show(prometheus.MustNewConstMetric(ahead, prometheus.GaugeValue, d.Seconds()))
		}
	}))
}

// WatchQueue shows how many jobs there are in each state.
func (m *Metrics) WatchQueue(read func(context.Context) (map[string]int, error)) {
	m.watchStates("sepad_queue_jobs", "Background jobs by state.", read)
}

// WatchDeliveries shows how many events are in line to be sent, and how many
// wait to be tried again.
func (m *Metrics) WatchDeliveries(read func(context.Context) (map[string]int, error)) {
	m.watchStates("sepad_webhook_backlog", "Events that are to be delivered, by state.", read)
}

// watchStates shows how many of something there are in each state.
func (m *Metrics) watchStates(name, help string, read func(context.Context) (map[string]int, error)) {
	amount := prometheus.NewDesc(name, help, []string{"state"}, nil)
	figure := &reading[map[string]int]{metrics: m, read: read}
	m.registry.MustRegister(collector(func(show func(prometheus.Metric)) {
		states, ok := figure.get()
		if !ok {
			return
		}
		for state, n := range states {
			show(prometheus.MustNewConstMetric(amount, prometheus.GaugeValue, float64(n), state))
		}
	}))
}

// WatchUnknownOutcomes shows how many payments wait for the gateway to say
// whether they were taken.
func (m *Metrics) WatchUnknownOutcomes(read func(context.Context) (int, error)) {
	m.watchFigure("sepad_unknown_outcomes", "Payments whose outcome the gateway still owes.", read)
}

// WatchReplica shows whether a replica is read from.
func (m *Metrics) WatchReplica(isNear func(context.Context) bool) {
	m.watchFigure("sepad_replica_near", "1 while the replica is read from, 0 while it is too far behind, no standby, or away.", func(ctx context.Context) (int, error) {
		if isNear(ctx) {
			return 1, nil
		}
		return 0, nil
	})
}

// watchFigure shows a number that is read when somebody looks.
func (m *Metrics) watchFigure(name, help string, read func(context.Context) (int, error)) {
	amount := prometheus.NewDesc(name, help, nil, nil)
	figure := &reading[int]{metrics: m, read: read}
	m.registry.MustRegister(collector(func(show func(prometheus.Metric)) {
		if n, ok := figure.get(); ok {
			show(prometheus.MustNewConstMetric(amount, prometheus.GaugeValue, float64(n)))
		}
	}))
}

// Mails is how many mails to payers are in line or have failed, and for how long the
// oldest has been in line.
type Mails struct {
	Pending, Failed int
	OldestFor       time.Duration
}

// WatchMails shows how mails to payers do.
func (m *Metrics) WatchMails(read func(context.Context) (Mails, error)) {
	amount := prometheus.NewDesc("sepad_mails", "Mails to payers that are in line, or that have failed, by state.", []string{"state"}, nil)
	oldest := prometheus.NewDesc("sepad_mails_oldest_seconds", "For how long the oldest mail has been in line.", nil, nil)
	figure := &reading[Mails]{metrics: m, read: read}
	m.registry.MustRegister(collector(func(show func(prometheus.Metric)) {
		if mails, ok := figure.get(); ok {
			show(prometheus.MustNewConstMetric(amount, prometheus.GaugeValue, float64(mails.Pending), "pending"))
			show(prometheus.MustNewConstMetric(amount, prometheus.GaugeValue, float64(mails.Failed), "failed"))
			show(prometheus.MustNewConstMetric(oldest, prometheus.GaugeValue, mails.OldestFor.Seconds()))
		}
	}))
}

// Arrears is what waits longer than it should, or for a person.
type Arrears struct {
	OverdueRebills int
	OverdueFor     time.Duration
	OldestEventFor time.Duration
	UnmatchedLines int
}

// WatchArrears shows what waits.
func (m *Metrics) WatchArrears(read func(context.Context) (Arrears, error)) {
	rebills := prometheus.NewDesc("sepad_rebills_overdue", "Subscriptions that should have been billed more than an hour ago, counted up to 10,000.", nil, nil)
	since := prometheus.NewDesc("sepad_rebills_overdue_seconds", "For how long the first of them has been due.", nil, nil)
	event := prometheus.NewDesc("sepad_webhook_oldest_seconds", "For how long the oldest event that goes out has not been delivered.", nil, nil)
	lines := prometheus.NewDesc("sepad_bank_lines_unmatched", "Lines of banks' answers that belong to nothing and need a person, counted up to 10,000.", nil, nil)
	figure := &reading[Arrears]{metrics: m, read: read}
	m.registry.MustRegister(collector(func(show func(prometheus.Metric)) {
		if a, ok := figure.get(); ok {
			show(prometheus.MustNewConstMetric(rebills, prometheus.GaugeValue, float64(a.OverdueRebills)))
			show(prometheus.MustNewConstMetric(since, prometheus.GaugeValue, a.OverdueFor.Seconds()))
			show(prometheus.MustNewConstMetric(event, prometheus.GaugeValue, a.OldestEventFor.Seconds()))
			show(prometheus.MustNewConstMetric(lines, prometheus.GaugeValue, float64(a.UnmatchedLines)))
		}
	}))
}

// WatchRebillPauses shows through how many gateway accounts nothing is billed for
// now, by the reason, and how many of them have been away for too long.
func (m *Metrics) WatchRebillPauses(read func(context.Context) (map[string]int, error)) {
	m.watchStates("sepad_rebill_pauses", "Gateway accounts whose rebills are held back, by reason.", read)
}

// WatchSetAside counts the records that background work could not do.
func (m *Metrics) WatchSetAside(read func() int64) {
	m.watchTotal("sepad_set_aside_total", "Records that due work failed on and that need a person.", read)
}

// WatchUnreadable counts sealed values that were wanted and did not open.
func (m *Metrics) WatchUnreadable(read func() int64) {
	m.watchTotal("sepad_unreadable_total", "Sealed values that could not be opened: they were changed, or their key is gone.", read)
}

// watchTotal shows a count that this process keeps.
func (m *Metrics) watchTotal(name, help string, read func() int64) {
	total := prometheus.NewDesc(name, help, nil, nil)
	m.registry.MustRegister(collector(func(show func(prometheus.Metric)) {
		show(prometheus.MustNewConstMetric(total, prometheus.CounterValue, float64(read())))
	}))
}

// reading is a figure from the database. However many look, it is read once in
// freshFor: the metrics must not become a load of their own.
type reading[T any] struct {
	metrics *Metrics
	read    func(context.Context) (T, error)

	mu     sync.Mutex
	figure T
	err    error
	until  time.Time
}

// get gives the figure. One that cannot be read is left out and counted: a gap is
// seen, a 0 would be believed.
func (r *reading[T]) get() (T, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := r.metrics.clock.Now(); !now.Before(r.until) {
		ctx, cancel := context.WithTimeout(context.Background(), readingPatience)
		defer cancel()
		if r.figure, r.err = r.read(ctx); r.err != nil {
			r.metrics.failedReadings.Inc()
		}
		r.until = now.Add(freshFor)
	}
	return r.figure, r.err == nil
}

// collector reads figures at the moment that somebody looks.
type collector func(show func(prometheus.Metric))

// Describe says nothing, which registers the collector unchecked: a reading
// that fails is then no inconsistency.
func (collector) Describe(chan<- *prometheus.Desc) {}

func (c collector) Collect(out chan<- prometheus.Metric) {
	c(func(m prometheus.Metric) { out <- m })
}
