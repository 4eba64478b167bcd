package wire

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/remote"
)

// Recorder takes the records of exchanges and stores them, some at a time. Calls
// never wait for it: what it cannot keep up with is cut.
type Recorder struct {
	Update func(context.Context, func(Tx) error) error
	Log    *slog.Logger

	mu      sync.Mutex
	open    map[string]*recording // by exchange
	waiting int64                 // bytes that are not stored yet
}

// recording is an exchange that goes on, or is not stored yet.
type recording struct {
	change  Change
	changed bool
	bytes   int64 // of events, in all
}

// Record implements remote.Recorder.
func (r *Recorder) Record(record remote.Record) {
	if record.AgentID == "" {
		return // the agent is only looked at
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	current := r.open[record.Exchange]
	if current == nil {
		if r.open == nil {
			r.open = make(map[string]*recording)
		}
		current = &recording{change: Change{Exchange: Exchange{
			ID: record.Exchange, AgentID: record.AgentID, TaskID: record.Labels.TaskID, CommandID: record.Labels.CommandID,
			Operation: record.Operation, Binding: record.Binding, Version: record.Version, StartedAt: record.At,
		}}}
		r.open[record.Exchange] = current
	}
	current.changed = true
	r.add(current, record)
}

func (r *Recorder) add(current *recording, record remote.Record) {
	e := &current.change.Exchange
	switch record.Kind {
	case remote.RecordRequest:
		e.Method, e.URL, e.RequestHeader = record.Method, record.URL, record.Header
		e.RequestBody, e.RequestSize = r.keep(record.Body, MaxBody), int64(len(record.Body))
	case remote.RecordResponse:
		e.Status, e.ResponseHeader, e.AnsweredAt = record.Status, record.Header, record.At
		e.ResponseBody, e.ResponseSize = r.keep(record.Body, MaxBody), int64(len(record.Body))
	case remote.RecordEvent:
		e.Events++
		if e.Events > MaxEvents {
			return
		}
		body := r.keep(record.Body, min(MaxBody, maxExchange-current.bytes))
		current.bytes += int64(len(body))
		current.change.New = append(current.change.New, Event{
			Number: e.Events, At: record.At, ID: record.EventID, Type: record.EventType, Body: body, Size: int64(len(record.Body)),
		})
	case remote.RecordEnd:
		e.Error, e.EndedAt, e.GRPCStatus = record.Err, record.At, record.GRPCStatus
		if len(record.Header) > 0 { // the trailer of gRPC
			e.ResponseHeader = joined(e.ResponseHeader, record.Header)
		}
	}
}

func joined(a, b http.Header) http.Header {
	all := a.Clone()
	if all == nil {
		all = http.Header{}
	}
	for name, values := range b {
		all[name] = append(all[name], values...)
	}
	return all
}

// keep returns as much of a body as is kept.
func (r *Recorder) keep(body []byte, limit int64) []byte {
	limit = min(limit, maxWaiting-r.waiting)
	if int64(len(body)) > limit {
		body = body[:max(limit, 0)]
	}
	r.waiting += int64(len(body))
	return append([]byte(nil), body...)
}

// Run stores what is recorded until ctx ends, and drops what is old.
func (r *Recorder) Run(ctx context.Context) error {
	flush, prune := time.NewTicker(flushEvery), time.NewTicker(pruneEvery)
	defer flush.Stop()
	defer prune.Stop()
	r.prune(ctx)
	for {
		select {
		case <-ctx.Done():
			return nil // Flush stores the rest
		case <-prune.C:
			r.prune(ctx)
		case <-flush.C:
			r.Flush(ctx)
		}
	}
}

func (r *Recorder) prune(ctx context.Context) {
	err := r.Update(ctx, func(tx Tx) error { return tx.PruneExchanges(tx.Now().Add(-Age)) })
	if err != nil && ctx.Err() == nil {
		r.Log.Error("drop old exchanges", "error", err)
	}
}

// Flush stores what has been recorded by now, and drops as much of each agent as is
// too much then, in one transaction: at no time is more there.
func (r *Recorder) Flush(ctx context.Context) {
	changes := r.take()
	if len(changes) == 0 {
		return
	}
	err := r.Update(ctx, func(tx Tx) error {
		agents := map[string]bool{}
		for _, c := range changes {
			if err := tx.StoreExchange(c); err != nil {
				return err
			}
			agents[c.AgentID] = true
		}
		for _, id := range slices.Sorted(maps.Keys(agents)) {
			if err := tx.KeepExchanges(id, MaxPerAgent); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		r.Log.Error("store what went over the wire", "error", err)
	}
}

// take returns what is new, and forgets those exchanges that have ended.
func (r *Recorder) take() []Change {
	r.mu.Lock()
	defer r.mu.Unlock()
	var changes []Change
	for id, current := range r.open {
		if !current.changed {
			continue
		}
		changes = append(changes, current.change)
		current.changed, current.change.New = false, nil
		if !current.change.EndedAt.IsZero() {
			delete(r.open, id)
		}
	}
	r.waiting = 0
	return changes
}

func ignoreNotFound(err error) error {
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	return err
}
