package observe_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/artifact/artifacttest"
	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/observe"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/task"
)

func newID() string { return uuid.Must(uuid.NewV7()).String() }

func said(payload string) remote.Observation {
	return remote.Observation{Raw: []byte(payload), Payload: json.RawMessage(payload), Received: time.Now()}
}

func statusOf(state string) string {
	return fmt.Sprintf(`{"statusUpdate":{"taskId":"r","status":{"state":"TASK_STATE_%s"}}}`, state)
}

func taskIn(state string) string {
	return fmt.Sprintf(`{"task":{"id":"r","contextId":"c","status":{"state":"TASK_STATE_%s"}}}`, state)
}

// fakeAgent answers checks with its state, and subscriptions with what the test
// sends on its stream.
type fakeAgent struct {
	streaming  bool
	advertises bool
	stream     chan string // closed: the agent ends the stream
	subscribed chan struct{}

	mu    sync.Mutex
	state string
	task  string // the answer to a check, if it is more than the state
	err   error
	cards int
}

func (f *fakeAgent) set(state string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state, f.err = state, err
}

func (f *fakeAgent) Get(context.Context, remote.Target, string, *int) (remote.Observation, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return said(cmp.Or(f.task, taskIn(f.state))), f.err
}

func (f *fakeAgent) Subscribe(ctx context.Context, _ remote.Target, _ string) iter.Seq2[remote.Observation, error] {
	return func(yield func(remote.Observation, error) bool) {
		f.subscribed <- struct{}{}
		for {
			select {
			case payload, ok := <-f.stream:
				if !ok || !yield(said(payload), nil) {
					return
				}
			case <-ctx.Done():
				yield(remote.Observation{}, &remote.Error{Delivery: remote.Answered, Message: "ended", Err: ctx.Err()})
				return
			}
		}
	}
}

// List gives the one task that the agent has, without its history.
func (f *fakeAgent) List(context.Context, remote.Target, remote.ListRequest) (remote.Page, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return remote.Page{Tasks: []remote.Observation{said(taskIn(f.state))}}, f.err
}

func (f *fakeAgent) FetchCard(context.Context, string, string) (remote.CardFetch, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cards++
	extensions := ""
	if f.advertises {
		extensions = fmt.Sprintf(`,"extensions":[{"uri":%q}]`, form.URI)
	}
	return remote.CardFetch{URL: "http://127.0.0.1/card.json", Raw: fmt.Appendf(nil,
		`{"name":"Ada","supportedInterfaces":[{"url":"http://127.0.0.1/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{"streaming":%v%s}}`,
		f.streaming, extensions)}, nil
}

// bench is an observer on a database of its own, with one task at work.
type bench struct {
	t        *testing.T
	db       *store.DB
	live     *live.Hub
	agents   *agent.Catalogue
	observer *observe.Observer
	tasks    *task.Reader
	taskID   string
	away     atomic.Bool   // the database, for the observer
	refused  chan struct{} // as it is, the first times
}

func setUp(t *testing.T, f *fakeAgent) *bench {
	t.Helper()
	return setUpLogging(t, f, slog.New(slog.DiscardHandler))
}

func setUpLogging(t *testing.T, f *fakeAgent, log *slog.Logger) *bench {
	t.Helper()
	ctx := context.Background()
	hub := &live.Hub{}
	db, err := store.OpenSQLite(ctx, t.TempDir(), hub)
	if err != nil {
		t.Fatal(err)
	}
	agents := &agent.Catalogue{Update: store.For[agent.Tx](db.Update), View: store.For[agent.Tx](db.View), Remote: f, NewID: newID, Log: log}
	a, _, err := agents.Register(ctx, access.LocalOperator(), "http://127.0.0.1/card.json")
	if err != nil {
		t.Fatal(err)
	}
	bytes := artifacttest.Keeper(db, artifacttest.Memory(t), 1<<20)
	b := &bench{
		t: t, db: db, live: hub, agents: agents, taskID: newID(),
		observer: &observe.Observer{Update: store.For[observe.Tx](db.Update), Agents: agents, Remote: f, Bytes: bytes, NewID: newID, Owner: newID(), Poll: time.Minute, Live: hub, Log: log},
		tasks:    &task.Reader{View: store.For[task.ReadTx](db.View), Agents: agents},
		refused:  make(chan struct{}, 10),
	}
	update := b.observer.Update
	b.observer.Update = func(ctx context.Context, f func(observe.Tx) error) error {
		if !b.away.Load() {
			return update(ctx, f)
		}
		select {
		case b.refused <- struct{}{}:
		default:
		}
		return fault.New(fault.Unavailable, "The database does not answer.")
	}
	b.update(func(tx *store.Tx) error {
		return tx.CreateTask(task.Head{TaskID: b.taskID, RemoteTaskID: "r", Kind: task.KindTask, State: a2a.StateWorking},
			task.Owner{OrganisationID: access.LocalOrganisation, AgentID: a.ID, Title: "t"})
	})
	b.update(func(tx *store.Tx) error { return tx.ScheduleCheck(b.taskID, tx.Now(), 0) })
	ctx, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- b.observer.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return b
}

func (b *bench) update(f func(*store.Tx) error) {
	b.t.Helper()
	if err := b.db.Update(context.Background(), f); err != nil {
		b.t.Fatal(err)
	}
}

// waitFor waits until the task is as is says.
func (b *bench) waitFor(what string, is func(task.Task) bool) task.Task {
	b.t.Helper()
	changed, stop := b.live.Watch(live.TaskTopic(b.taskID))
	defer stop()
	late := time.After(time.Minute)
	for {
		got, err := b.tasks.Get(context.Background(), access.LocalOperator(), b.taskID)
		if err != nil {
			b.t.Fatal(err)
		}
		if is(got) {
			return got
		}
		select {
		case <-changed:
		case <-late:
			b.t.Fatalf("the task is %+v; waited in vain until %s", got, what)
		}
	}
}

func (b *bench) waitForState(s a2a.State) task.Task {
	b.t.Helper()
	return b.waitFor("it is "+string(s), func(got task.Task) bool { return got.State == s })
}

func TestChecksATaskWithoutStreams(t *testing.T) {
	t.Parallel()
	f := &fakeAgent{state: "WORKING"}
	b := setUp(t, f)
	f.set("COMPLETED", nil)
	b.waitForState(a2a.StateCompleted)
	b.update(func(tx *store.Tx) error {
		next, err := tx.NextCheck()
		if !next.IsZero() {
			t.Errorf("an ended task is checked again at %v", next)
		}
		return err
	})
}

func TestFollowsAStream(t *testing.T) {
	t.Parallel()
	f := &fakeAgent{streaming: true, state: "WORKING", stream: make(chan string), subscribed: make(chan struct{}, 10)}
	b := setUp(t, f)
	<-f.subscribed
	f.stream <- `{"artifactUpdate":{"taskId":"r","artifact":{"artifactId":"a","parts":[{"text":"hi"}]}}}`
	b.waitFor("its artifact is there", func(got task.Task) bool { return len(got.Artifacts) == 1 })
	f.stream <- statusOf("COMPLETED")
	b.waitForState(a2a.StateCompleted)
}

func TestAStreamThatEndsIsMadeGoodByACheck(t *testing.T) {
	t.Parallel()
	f := &fakeAgent{streaming: true, state: "WORKING", stream: make(chan string), subscribed: make(chan struct{}, 10)}
	b := setUp(t, f)
	<-f.subscribed
	f.stream <- `{"artifactUpdate":{"taskId":"r","artifact":{"artifactId":"a","parts":[{"text":"hi"}]}}}`
	f.set("COMPLETED", nil)
	close(f.stream)
	b.waitForState(a2a.StateCompleted)
}

// streamOf is the rest of a stream that says what comes on events, until it is canceled.
func streamOf(events <-chan string) command.Stream {
	ctx, cancel := context.WithCancel(context.Background())
	return command.Stream{
		ID: newID(), Count: 1, Cancel: cancel, Stop: cancel,
		Next: func() (remote.Observation, error, bool) {
			select {
			case event := <-events:
				return said(event), nil, true
			case <-ctx.Done():
				return remote.Observation{}, ctx.Err(), true
			}
		},
	}
}

func TestALaterStreamTakesOver(t *testing.T) {
	t.Parallel()
	f := &fakeAgent{streaming: true, state: "WORKING", stream: make(chan string), subscribed: make(chan struct{}, 10)}
	b := setUp(t, f)
	<-f.subscribed
	events := make(chan string, 1)
	events <- statusOf("COMPLETED")
	b.observer.Follow(b.taskID, streamOf(events))
	b.waitForState(a2a.StateCompleted)
}

func TestAFailedCheckIsShownUntilOneSucceeds(t *testing.T) {
	t.Parallel()
	f := &fakeAgent{state: "WORKING", err: &remote.Error{Delivery: remote.NotSent, Message: "It is asleep."}}
	b := setUp(t, f)
	b.waitFor("the fault is shown", func(got task.Task) bool { return got.CheckError == "It is asleep." })
	f.set("WORKING", nil)
	b.waitFor("the fault is gone", func(got task.Task) bool { return got.CheckError == "" })
}

// TestAStreamThatEndsInAnOutageIsLetGoOf: its owner lets go of it when the database is
// back, whether or not it comes to check the task, so that the others need not wait
// for its end.
func TestAStreamThatEndsInAnOutageIsLetGoOf(t *testing.T) {
	t.Parallel()
	f := &fakeAgent{streaming: true, state: "WORKING", stream: make(chan string), subscribed: make(chan struct{}, 10)}
	b := setUp(t, f)
	<-f.subscribed
	f.stream <- `{"artifactUpdate":{"taskId":"r","artifact":{"artifactId":"a","parts":[{"text":"hi"}]}}}`
	b.waitFor("its artifact is there", func(got task.Task) bool { return len(got.Artifacts) == 1 })
	held := func() (held bool) {
		b.update(func(tx *store.Tx) (err error) {
			held, err = tx.HoldsStream(b.taskID, b.observer.Owner, 1)
			return err
		})
		return held
	}
	if !held() {
		t.Fatal("nobody holds the stream")
	}
	f.set("WORKING", &remote.Error{Delivery: remote.NotSent, Message: "It is asleep."}) // so that no check takes it up again
	b.away.Store(true)
	close(f.stream)
	<-b.refused
	b.away.Store(false)
	late, tick := time.After(time.Minute), time.NewTicker(10*time.Millisecond)
	defer tick.Stop()
	for held() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("the stream is still held, so that the others leave it alone")
		}
	}
}

// TestAnAgentThatForgets: what it twice says not to know waits for nobody. An agent that
// cannot be reached forgets nothing, and what it knows again is as it was.
func TestAnAgentThatForgets(t *testing.T) {
	t.Parallel()
	f := &fakeAgent{state: "INPUT_REQUIRED", task: `{"task":{"id":"r","contextId":"c","status":{"state":"TASK_STATE_INPUT_REQUIRED",
		"message":{"messageId":"q","role":"ROLE_AGENT","parts":[{"text":"Which?"}]}}}}`}
	b := setUp(t, f)
	b.waitFor("it waits", func(got task.Task) bool { return got.NeedsYou })
	check := func() {
		b.update(func(tx *store.Tx) error { return tx.ScheduleCheck(b.taskID, tx.Now(), 0) })
		b.observer.Heard(task.Outcome{})
	}
	fails := func(message string, e remote.Error) {
		t.Helper()
		e.Message = message
		f.set("INPUT_REQUIRED", &e)
		check()
		if got := b.waitFor(message, func(got task.Task) bool { return got.CheckError == message }); !got.NeedsYou || !got.ForgottenAt.IsZero() || got.Question == nil {
			t.Errorf("%s: needs you %v, forgotten at %v", message, got.NeedsYou, got.ForgottenAt)
		}
	}
	unknown := remote.Error{Delivery: remote.Answered, Code: remote.CodeTaskNotFound}
	fails("It is asleep.", remote.Error{Delivery: remote.NotSent, Code: remote.CodeTaskNotFound})
	fails("It hung up.", remote.Error{Delivery: remote.Uncertain, Code: remote.CodeTaskNotFound})
	fails("It is ill.", remote.Error{Delivery: remote.Answered, Code: "HTTP 404"})
	fails("It does not know the task.", unknown)
	fails("It is asleep again.", remote.Error{Delivery: remote.NotSent})
	f.set("INPUT_REQUIRED", &unknown)
	check()
	got := b.waitFor("it is forgotten", func(got task.Task) bool { return !got.ForgottenAt.IsZero() })
	if got.NeedsYou || got.Question != nil || got.State != a2a.StateInputRequired {
		t.Errorf("forgotten: needs you %v, question %v, state %s", got.NeedsYou, got.Question, got.State)
	}
	f.set("INPUT_REQUIRED", nil)
	check()
	got = b.waitFor("it is known again", func(got task.Task) bool { return got.ForgottenAt.IsZero() })
	if !got.NeedsYou || got.Question == nil || got.CheckError != "" {
		t.Errorf("known again: needs you %v, question %v, check error %q", got.NeedsYou, got.Question, got.CheckError)
	}
}

// lines hands on what is logged.
type lines chan string

func (l lines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

func TestAFaultIsAWarningOnce(t *testing.T) {
	t.Parallel()
	fails := func(message string) error { return &remote.Error{Delivery: remote.NotSent, Message: message} }
	f := &fakeAgent{state: "WORKING", err: fails("It is asleep.")}
	log := make(lines, 100)
	b := setUpLogging(t, f, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	next := func(level, message string) bool {
		b.update(func(tx *store.Tx) error { return tx.ScheduleCheck(b.taskID, tx.Now(), 0) })
		b.observer.Heard(task.Outcome{})
		line := <-log
		return strings.Contains(line, "level="+level+" ") && strings.Contains(line, message)
	}
	if !next("WARN", "It is asleep.") {
		t.Error("the first fault is no warning")
	}
	if !next("DEBUG", "It is asleep.") {
		t.Error("the same fault is a warning again")
	}
	f.set("WORKING", fails("It is away."))
	const atWork = 3 // checks may have been under way when the fault changed
	for tries := 0; !next("WARN", "It is away."); tries++ {
		if tries == atWork {
			t.Fatal("another fault is no warning")
		}
	}
}

func TestACardThatLacksTheExtensionIsFetchedAgain(t *testing.T) {
	t.Parallel()
	f := &fakeAgent{state: "WORKING"}
	b := setUp(t, f)
	const asking = `"status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"messageId":"q","role":"ROLE_AGENT",
		"parts":[{"data":{"schema":{"type":"object","properties":{"a":{"type":"string"}}}},"mediaType":"` + form.MediaType + `"}]}}`
	// The card was fetched a moment ago, so it is not fetched again for a minute:
	// let it be older.
	if err := b.db.Exec(context.Background(), "UPDATE agent SET checked_us = checked_us - 61000000"); err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	f.advertises = true
	f.task = `{"task":{"id":"r","contextId":"c",` + asking + `}}` // a check that comes in between sees the same
	f.mu.Unlock()
	events := make(chan string, 1)
	events <- `{"statusUpdate":{"taskId":"r",` + asking + `}}`
	b.observer.Follow(b.taskID, streamOf(events))
	b.waitFor("the form is drawn", func(got task.Task) bool { return got.Question != nil && got.Question.Form != nil })
}
