package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/api"
	"github.com/agent-taskbay/taskbay/internal/httpguard/guardtest"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/task"
	"github.com/agent-taskbay/taskbay/internal/web"
)

const (
	watchTime = time.Minute            // after which a change that did not come is given up
	apart     = 120 * time.Millisecond // from one change to the next: more than a page waits between two
)

// watched is the record with the pages and the API over it, in this process, so
// that the moment of a commit is known to the clock of those who watch.
type watched struct {
	db     *store.DB
	server *http.Server
	url    string
	failed chan error
	cancel context.CancelFunc // ends what is being served
}

func startWatched(ctx context.Context, b *bench) (*watched, error) {
	hub := &live.Hub{}
	db, err := b.place.open(ctx, hub)
	if err != nil {
		return nil, err
	}
	if err := db.Exec(ctx, insertAgent, benchAgent, access.LocalOrganisation); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	agents := &agent.Catalogue{Update: store.For[agent.Tx](db.Update), View: store.For[agent.Tx](db.View), NewID: newID, Log: quietLog()}
	tasks := &task.Reader{View: store.For[task.ReadTx](db.View), Agents: agents}
	door := guardtest.Local()
	mux := http.NewServeMux()
	mux.Handle("/api/", api.New(api.Config{Agents: agents, Tasks: tasks, Live: hub, Door: door, Log: quietLog()}))
	mux.Handle("/", web.New(web.Config{Agents: agents, Tasks: tasks, Live: hub, Door: door, Log: quietLog()}))
	served, cancel := context.WithCancel(ctx)
	w := &watched{db: db, url: "http://" + listener.Addr().String(), failed: make(chan error, 1), cancel: cancel}
	w.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return served }}
	go func() { w.failed <- w.server.Serve(listener) }()
	return w, nil
}

func (w *watched) stop() error {
	w.cancel()
	err := w.server.Close()
	if served := <-w.failed; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return errors.Join(err, w.db.Close())
}

// measureWatchers commits changes of a task, and waits each time until everyone who
// watches it has been told.
func measureWatchers(ctx context.Context, b *bench) (err error) {
	w, err := startWatched(ctx, b)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.stop()) }()
	for _, n := range b.size.watchers {
		for _, stream := range []struct{ what, path string }{{"API events", "/api/v1/tasks/%s/events"}, {"live page", "/tasks/%s/events"}} {
			times, err := w.watch(ctx, n, b.size.changes, stream.path)
			if err != nil {
				return fmt.Errorf("%d watchers of the %s: %w", n, stream.what, err)
			}
			b.add(stream.what+", "+counted(n, "watcher"), append([]figure{{Name: "told", Value: float64(len(times))}}, quantiles(times)...)...)
		}
	}
	return nil
}

// seen is what a watcher has been told: the task's version, and when.
type seen struct {
	version int64
	at      time.Time
	err     error
}

func (w *watched) watch(ctx context.Context, watchers, changes int, path string) (times []time.Duration, err error) {
	taskID, err := (&taking{db: w.db}).newTask(ctx)
	if err != nil {
		return nil, err
	}
	if _, err = w.change(ctx, taskID, 0); err != nil {
		return nil, err
	}
	c, err := newCaller(w.url, watchers)
	if err != nil {
		return nil, err
	}
	var open sync.WaitGroup
	ctx, stop := context.WithCancel(ctx)
	defer func() {
		stop()
		open.Wait()
		c.close()
	}()
	told := make(chan seen, watchers)
	for range watchers {
		open.Go(func() { c.events(ctx, fmt.Sprintf(path, taskID), told) })
	}
	if err := everyone(ctx, told, watchers, func(seen) {}); err != nil { // has seen the task as it is
		return nil, err
	}
	for n := range changes {
		if err := rest(ctx, apart); err != nil {
			return nil, err
		}
		committed, err := w.change(ctx, taskID, int64(2*n+2))
		if err != nil {
			return nil, err
		}
		if err := everyone(ctx, told, watchers, func(s seen) { times = append(times, s.at.Sub(committed)) }); err != nil {
			return nil, err
		}
	}
	return times, nil
}

// change takes one event in. The moment that it returns is just before the commit:
// the time that this takes counts.
func (w *watched) change(ctx context.Context, taskID string, n int64) (committing time.Time, err error) {
	o := task.Observed{TaskID: taskID, Source: task.SourceStream, SourceKey: task.EventKey("stream", int(n)), Observation: said(taskID, n)}
	prepared, err := task.Prepare(ctx, noBytes{}, o)
	if err != nil {
		return committing, err
	}
	err = w.db.Update(ctx, func(tx *store.Tx) error {
		_, err := task.Ingest(tx, newID, prepared)
		committing = time.Now()
		return err
	})
	return committing, err
}

// everyone calls f with what each watcher is told next.
func everyone(ctx context.Context, told <-chan seen, watchers int, f func(seen)) error {
	limit := time.NewTimer(watchTime)
	defer limit.Stop()
	for n := range watchers {
		select {
		case s := <-told:
			if s.err != nil {
				return s.err
			}
			f(s)
		case <-ctx.Done():
			return ctx.Err()
		case <-limit.C:
			return fmt.Errorf("only %d of %d were told in %s", n, watchers, watchTime)
		}
	}
	return nil
}

// events follows a stream of events and tells of each later version once.
func (c *caller) events(ctx context.Context, path string, told chan<- seen) {
	tell := func(s seen) {
		select {
		case told <- s:
		case <-ctx.Done():
		}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+path, nil)
	if err != nil {
		tell(seen{err: err})
		return
	}
	response, err := c.http.Do(request)
	if err != nil {
		tell(seen{err: err})
		return
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		tell(seen{err: fmt.Errorf("GET %s answered %d", path, response.StatusCode)})
		return
	}
	last := int64(0)
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		id, found := strings.CutPrefix(lines.Text(), "id: ")
		if !found {
			continue
		}
		if version, err := strconv.ParseInt(id, 10, 64); err == nil && version > last {
			last = version
			tell(seen{version: version, at: time.Now()})
		}
	}
	tell(seen{err: fmt.Errorf("a stream of events ended: %w", errors.Join(lines.Err(), ctx.Err()))})
}
