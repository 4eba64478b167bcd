package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/observe"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/task"
)

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// quietLog says what goes wrong, and nothing else.
func quietLog() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
}

// taking is a record, and an observer that takes events in as it does in the
// product: with the stream's epoch, the next check, and the limits far away.
type taking struct {
	db       *store.DB
	observer *observe.Observer
	meter    *meter
}

// meter is told of each event that is taken in, once it is committed.
type meter struct {
	taken atomic.Int64
	mu    sync.Mutex
	told  map[string]chan struct{} // by task
}

// Observed implements observe.Meter.
func (m *meter) Observed(_ task.Source, _ int, o task.Outcome) {
	m.taken.Add(1)
	m.mu.Lock()
	told := m.told[o.TaskID]
	m.mu.Unlock()
	if told != nil {
		told <- struct{}{}
	}
}

func startTaking(ctx context.Context, b *bench) (*taking, error) {
	hub := &live.Hub{}
	db, err := b.place.open(ctx, hub)
	if err != nil {
		return nil, err
	}
	if err := db.Exec(ctx, insertAgent, benchAgent, access.LocalOrganisation); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	const never = 1 << 50
	m := &meter{told: map[string]chan struct{}{}}
	return &taking{db: db, meter: m, observer: &observe.Observer{
		Update: store.For[observe.Tx](db.Update), NewID: newID, Owner: newID(), Poll: time.Minute, Live: hub, Log: quietLog(), Bytes: noBytes{}, Meter: m,
		Limits: task.Limits{Bytes: never, Events: never},
	}}, nil
}

// newTask makes a task that is at work, and returns its ID.
func (t *taking) newTask(ctx context.Context) (string, error) {
	head := task.Head{TaskID: newID(), Kind: task.KindTask, State: a2a.StateWorking}
	head.RemoteTaskID = "remote-" + head.TaskID
	owner := task.Owner{OrganisationID: access.LocalOrganisation, AgentID: benchAgent, Title: "Take events in"}
	return head.TaskID, t.db.Update(ctx, func(tx *store.Tx) error { return tx.CreateTask(head, owner) })
}

// noBytes keeps nothing: the events bring none.
type noBytes struct{ task.Bytes }

// MaxSize implements task.Bytes.
func (noBytes) MaxSize() int64 { return 1 << 20 }

// said is one event of a task's stream: by turns a status with a message of its
// own, and a piece of an artifact.
func said(taskID string, n int64) remote.Observation {
	payload := `{"artifactUpdate":{"taskId":"remote-` + taskID + `","contextId":"c","append":true,"artifact":{"artifactId":"report","name":"Report","parts":[{"text":"And so on, and so forth. "}]}}}`
	if n%2 == 0 {
		payload = `{"statusUpdate":{"taskId":"remote-` + taskID + `","contextId":"c","status":{"state":"TASK_STATE_WORKING","message":{"messageId":"m-` +
			strconv.FormatInt(n, 10) + `","role":"ROLE_AGENT","parts":[{"text":"Step ` + strconv.FormatInt(n, 10) + ` of the work is done."}]}}}}`
	}
	raw := []byte(payload)
	return remote.Observation{Raw: raw, Payload: json.RawMessage(raw), Received: time.Now()}
}

// measureIngest has streams bring events as fast as they are taken in.
func measureIngest(ctx context.Context, b *bench) (err error) {
	t, err := startTaking(ctx, b)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.db.Close()) }()
	for _, tasks := range b.size.eventTasks {
		if err := t.events(ctx, b, tasks); err != nil {
			return err
		}
	}
	return nil
}

func (t *taking) events(ctx context.Context, b *bench, tasks int) error {
	ids := make([]string, tasks)
	for i := range ids {
		var err error
		if ids[i], err = t.newTask(ctx); err != nil {
			return err
		}
	}
	before := t.meter.taken.Load()
	var streams sync.WaitGroup
	began := time.Now()
	for _, id := range ids {
		streams.Add(1)
		var brought int64
		share := int64(max(b.size.events/tasks, 1))
		t.observer.Follow(id, command.Stream{ID: newID(), Cancel: func() {}, Stop: streams.Done, Next: func() (remote.Observation, error, bool) {
			if brought == share || time.Since(began) > b.size.eventTime || ctx.Err() != nil {
				return remote.Observation{}, nil, false
			}
			brought++
			return said(id, brought), nil, true
		}})
	}
	streams.Wait()
	took := time.Since(began)
	taken := t.meter.taken.Load() - before
	if taken == 0 {
		return errors.New("no event was taken in")
	}
	b.add("into "+counted(tasks, "task")+" at once", figure{Name: "events", Value: float64(taken)}, perSecond("taken in", int(taken), took))
	return ctx.Err()
}

// feed is a stream that brings an event when it is told to.
type feed struct {
	taskID string
	before int // events that the task has
	events chan remote.Observation
	taken  chan struct{} // an event was
	ended  chan struct{}
	times  map[string][]time.Duration // by kind
}

func (t *taking) feed(taskID string, before int) *feed {
	f := &feed{
		taskID: taskID, before: before, times: map[string][]time.Duration{},
		events: make(chan remote.Observation), taken: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	t.meter.mu.Lock()
	t.meter.told[taskID] = f.taken
	t.meter.mu.Unlock()
	t.observer.Follow(taskID, command.Stream{ID: newID(), Cancel: func() {}, Stop: func() { close(f.ended) }, Next: func() (remote.Observation, error, bool) {
		o, more := <-f.events
		return o, nil, more
	}})
	return f
}

// bring has one event taken in, and keeps how long that took.
func (f *feed) bring(ctx context.Context, kind string, n int64) error {
	began := time.Now()
	bring := f.events
	for event := said(f.taskID, n); ; {
		select {
		case bring <- event:
			bring = nil
		case <-f.taken:
			f.times[kind] = append(f.times[kind], time.Since(began))
			return nil
		case <-f.ended:
			return errors.New("an event was not taken in: the log says why")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// The kinds of event that said brings by turns, and the first one, which waits until
// the stream is claimed.
const (
	firstEvent   = "the first"
	messageEvent = "a message"
	chunkEvent   = "a piece of an artifact"
)

// measureHistory takes single events in on tasks with different histories, by
// turns, so that noise falls on all alike.
func measureHistory(ctx context.Context, b *bench) (err error) {
	t, err := startTaking(ctx, b)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.db.Close()) }()
	var feeds []*feed
	for i, n := range b.size.histories {
		id, err := t.newTask(ctx)
		if err == nil {
			err = b.place.fill(ctx, history(i+1, id, n)...)
		}
		if err != nil {
			return err
		}
		feeds = append(feeds, t.feed(id, n))
	}
	if err := b.place.settle(ctx); err != nil {
		return err
	}
	for _, f := range feeds {
		if err := f.bring(ctx, firstEvent, 0); err != nil {
			return err
		}
	}
	for round := range int64(b.size.historyRounds) {
		for _, f := range feeds {
			for kind, n := range map[string]int64{messageEvent: 2*round + 2, chunkEvent: 2*round + 3} {
				if err := f.bring(ctx, kind, n); err != nil {
					return err
				}
			}
		}
	}
	for _, f := range feeds {
		close(f.events)
		<-f.ended
	}
	for _, kind := range []string{messageEvent, chunkEvent} {
		least := quantile(feeds[0].times[kind], 0.5)
		for _, f := range feeds {
			p50 := quantile(f.times[kind], 0.5)
			b.add(fmt.Sprintf("%s, after %d events", kind, f.before), milliseconds("p50", p50), milliseconds("p99", quantile(f.times[kind], 0.99)),
				figure{Name: fmt.Sprintf("p50 / p50 after %d", feeds[0].before), Value: float64(p50) / float64(least)})
		}
	}
	return nil
}
