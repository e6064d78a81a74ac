// Package metrics counts what an operator watches and shows it to Prometheus.
//
// The parts of the service that have something to report are given one of the
// functions here and know nothing of Prometheus; what lies in the database is
// read when somebody looks. Labels are ours alone (routes, scopes, adapters,
// verdicts): no text of a caller becomes one, so that nobody can fill the
// memory with labels or put a person's data into them.
package metrics

import (
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"sepad/internal/clock"
)

// Metrics is a registry of our own: two in one process do not meet.
type Metrics struct {
	registry *prometheus.Registry
	clock    clock.Clock

	ofRequests     sync.Map // figures by kind
	requests       *prometheus.CounterVec
	requestTook    *prometheus.HistogramVec
	gatewayCalls   *prometheus.CounterVec
	gatewayTook    *prometheus.HistogramVec
	deliveries     *prometheus.CounterVec
	deliveryTook   prometheus.Histogram
	limitRefusals  *prometheus.CounterVec
	turnedAway     prometheus.Counter
	redisOutages   prometheus.Counter
	forgotten      *prometheus.CounterVec
	failedJobs     *prometheus.CounterVec
	failedReadings prometheus.Counter
}

// New makes the collectors, with those of the Go runtime and the process. The clock is
// one that never jumps, so that figures do not stand still after a step back.
func New(own clock.Clock) *Metrics {
	m := &Metrics{
		clock:          own,
		registry:       prometheus.NewRegistry(),
		requests:       counters("sepad_http_requests_total", "Requests answered.", "method", "route", "status"),
		requestTook:    histograms("sepad_http_request_duration_seconds", "Time to answer a request.", requestBuckets, "method", "route", "status"),
		gatewayCalls:   counters("sepad_gateway_calls_total", "Calls to payment gateways.", "adapter", "operation", "verdict"),
		gatewayTook:    histograms("sepad_gateway_call_duration_seconds", "Time that payment gateways took.", gatewayBuckets, "adapter", "operation"),
		deliveries:     counters("sepad_webhook_attempts_total", "Attempts to deliver an event.", "outcome"),
		deliveryTook:   prometheus.NewHistogram(prometheus.HistogramOpts{Name: "sepad_webhook_attempt_duration_seconds", Help: "Time that receivers of events took.", Buckets: gatewayBuckets}),
		limitRefusals:  counters("sepad_limit_refusals_total", "Requests refused because of a rate limit.", "scope"),
		turnedAway:     counter("sepad_http_turned_away_total", "Requests that were not begun because they could not have been answered in time."),
		redisOutages:   counter("sepad_redis_outages_total", "Times that Redis went away and limits were kept per process."),
		forgotten:      counters("sepad_forgotten_rows_total", "Rows removed because their time was over.", "kind"),
		failedJobs:     counters("sepad_failed_jobs_total", "Times that background work failed.", "kind"),
		failedReadings: counter("sepad_metrics_failed_readings_total", "Figures that could not be read from the database."),
	}
	m.registry.MustRegister(
		m.requests, m.requestTook, m.gatewayCalls, m.gatewayTook, m.deliveries, m.deliveryTook,
		m.limitRefusals, m.turnedAway, m.redisOutages, m.forgotten, m.failedJobs, m.failedReadings,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

// A request that reaches a gateway takes as long as the gateway may.
var (
	requestBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	gatewayBuckets = []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20, 30}
)

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

// Handler shows everything as Prometheus text.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

// ObserveRequest counts an answered request. The route is a pattern.
func (m *Metrics) ObserveRequest(method, route string, status int, took time.Duration) {
	kind := requestKind{methodLabel(method), route, statusClass(status)}
	of, known := m.ofRequests.Load(kind)
	if !known {
		of, _ = m.ofRequests.LoadOrStore(kind, requestFigures{
			count: m.requests.WithLabelValues(kind.method, kind.route, kind.class),
			took:  m.requestTook.WithLabelValues(kind.method, kind.route, kind.class),
		})
	}
	figures := of.(requestFigures)
	figures.count.Inc()
	figures.took.Observe(took.Seconds())
}

// requestKind is what requests are told apart by. There are as many as routes allow.
type requestKind struct{ method, route, class string }

// requestFigures are those of one kind: finding them by their labels takes longer than counting.
type requestFigures struct {
	count prometheus.Counter
	took  prometheus.Observer
}

// ObserveGatewayCall counts a call to a gateway and what came of it.
func (m *Metrics) ObserveGatewayCall(adapter, operation, verdict string, took time.Duration) {
	m.gatewayCalls.WithLabelValues(adapter, operation, verdict).Inc()
	m.gatewayTook.WithLabelValues(adapter, operation).Observe(took.Seconds())
}

// ObserveDelivery counts an attempt to deliver an event and what came of it.
func (m *Metrics) ObserveDelivery(outcome string, took time.Duration) {
	m.deliveries.WithLabelValues(outcome).Inc()
	m.deliveryTook.Observe(took.Seconds())
}

// CountLimitRefusal counts a request that came too soon.
func (m *Metrics) CountLimitRefusal(scope string) { m.limitRefusals.WithLabelValues(scope).Inc() }

// CountTurnedAway counts a request that was not begun.
func (m *Metrics) CountTurnedAway() { m.turnedAway.Inc() }

// CountRedisOutage counts a time that Redis went away.
func (m *Metrics) CountRedisOutage() { m.redisOutages.Inc() }

// CountFailedJob counts a time that background work failed.
func (m *Metrics) CountFailedJob(kind string) { m.failedJobs.WithLabelValues(kind).Inc() }

// CountForgotten counts rows of a kind that were removed because their time was over.
func (m *Metrics) CountForgotten(kind string, rows int) {
	m.forgotten.WithLabelValues(kind).Add(float64(rows))
}

// methodLabel keeps the words that strangers send as methods out of labels.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	default:
		return "other"
	}
}

func statusClass(status int) string {
	classes := [...]string{"1xx", "2xx", "3xx", "4xx", "5xx"}
	if i := status/100 - 1; i >= 0 && i < len(classes) {
		return classes[i]
	}
	return "other"
}
