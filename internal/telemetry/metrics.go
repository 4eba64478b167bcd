package telemetry

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/task"
	"github.com/agent-taskbay/taskbay/internal/worker"
)

// backlogTime is how long the database may take to count what waits.
const backlogTime = 5 * time.Second

// Metrics are the metrics of a process, all with the prefix taskbay_ but those of
// the Go runtime and the process.
type Metrics struct {
	registry *prometheus.Registry
	log      *slog.Logger

	dispatchWait *prometheus.HistogramVec
	dispatchTime *prometheus.HistogramVec
	observations *prometheus.CounterVec
	bytes        *prometheus.CounterVec
	requests     *prometheus.HistogramVec
}

// Sources are what metrics are read from when they are asked for. A nil member
// leaves its metrics out.
type Sources struct {
	Backlog  func(context.Context) (worker.Backlog, error)
	Streams  func() int // that this process follows
	Watchers func() int // of changes: browsers, event streams, and this process's own
}

// waits are the bounds of histograms, in seconds: from a message that is sent at
// once to one that takes as long as a call may.
var waits = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}

// NewMetrics returns the metrics of a process.
func NewMetrics(version string, from Sources, log *slog.Logger) *Metrics {
	histogram := func(name, help string, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: waits}, labels)
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &Metrics{
		registry: prometheus.NewRegistry(), log: log,
		dispatchWait: histogram("taskbay_dispatch_wait_seconds", "From when a command was accepted, or was due again, until it is sent.", "action"),
		dispatchTime: histogram("taskbay_dispatch_duration_seconds", "From when a command is sent until its outcome is known, by that outcome.", "action", "status"),
		observations: counter("taskbay_observations_total", "Observations of tasks, by source and by what came of them: new, unchanged, duplicate.", "source", "result"),
		bytes:        counter("taskbay_observation_bytes_total", "Bytes of observations as they were received.", "source"),
		requests:     histogram("taskbay_http_request_duration_seconds", "HTTP requests by route and status; of a stream, until its first byte.", "method", "route", "code"),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "taskbay_build_info", Help: "Always 1; the version is a label.", ConstLabels: prometheus.Labels{"version": version}})
	build.Set(1)
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.dispatchWait, m.dispatchTime, m.observations, m.bytes, m.requests, build)
	gauge := func(name, help string, value func() int) {
		if value != nil {
			m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(value()) }))
		}
	}
	gauge("taskbay_streams", "Streams of tasks that this process follows.", from.Streams)
	gauge("taskbay_live_watchers", "Who waits for changes in this process: browsers, event streams, and its own workers.", from.Watchers)
	if from.Backlog != nil {
		m.registry.MustRegister(&backlog{read: from.Backlog, log: log})
	}
	return m
}

// Handler serves the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(m.log.Handler(), slog.LevelWarn), MaxRequestsInFlight: 4, Timeout: 2 * backlogTime,
	})
}

// Dispatching implements command.Meter.
func (m *Metrics) Dispatching(a command.Action, waited time.Duration) {
	m.dispatchWait.WithLabelValues(string(a)).Observe(waited.Seconds())
}

// Dispatched implements command.Meter.
func (m *Metrics) Dispatched(a command.Action, became command.Status, took time.Duration) {
	m.dispatchTime.WithLabelValues(string(a), string(became)).Observe(took.Seconds())
}

// Observed counts an observation that was taken in.
func (m *Metrics) Observed(source task.Source, size int, outcome task.Outcome) {
	result := "unchanged"
	switch {
	case outcome.Duplicate:
		result = "duplicate"
	case outcome.Changed:
		result = "new"
	}
	m.observations.WithLabelValues(string(source), result).Inc()
	m.bytes.WithLabelValues(string(source)).Add(float64(size))
}

// backlog counts what waits in the database when it is asked for.
type backlog struct {
	read func(context.Context) (worker.Backlog, error)
	log  *slog.Logger
}

var (
	commandsOpen = prometheus.NewDesc("taskbay_commands", "Commands that are not settled, and those whose outcome is uncertain, by status.", []string{"status"}, nil)
	queueDepth   = prometheus.NewDesc("taskbay_queue_depth", "What is due now, of commands and checks.", []string{"queue"}, nil)
	queueAge     = prometheus.NewDesc("taskbay_queue_oldest_seconds", "For how long the oldest has been due; 0 if none is.", []string{"queue"}, nil)
	tasksOpen    = prometheus.NewDesc("taskbay_tasks", "Tasks that agents are asked about (open), and those that wait for a person (needs_you).", []string{"status"}, nil)
	workersAlive = prometheus.NewDesc("taskbay_workers", "Processes that do the work.", nil, nil)
)

// Describe implements prometheus.Collector.
func (b *backlog) Describe(descriptions chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{commandsOpen, queueDepth, queueAge, tasksOpen, workersAlive} {
		descriptions <- d
	}
}

// Collect implements prometheus.Collector. While the database is away its metrics
// are left out, and the others stand.
func (b *backlog) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), backlogTime)
	defer cancel()
	now, err := b.read(ctx)
	if err != nil {
		b.log.Warn("count what waits in the database, for the metrics", "error", err)
		return
	}
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	gauge(commandsOpen, float64(now.Pending), "pending")
	gauge(commandsOpen, float64(now.Dispatching), "dispatching")
	gauge(commandsOpen, float64(now.Uncertain), "uncertain")
	gauge(queueDepth, float64(now.Commands.Due), "commands")
	gauge(queueAge, now.Commands.Oldest.Seconds(), "commands")
	gauge(queueDepth, float64(now.Checks.Due), "checks")
	gauge(queueAge, now.Checks.Oldest.Seconds(), "checks")
	gauge(tasksOpen, float64(now.TasksOpen), "open")
	gauge(tasksOpen, float64(now.TasksNeedYou), "needs_you")
	gauge(workersAlive, float64(now.Workers))
}
