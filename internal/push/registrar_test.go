package push_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/push"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/task"
	"github.com/agent-taskbay/taskbay/internal/vault"
)

const keyOne = "one:1111111111111111111111111111111111111111111111111111111111111111"

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// call is what an agent was asked, and the answer to give.
type call struct {
	what   string
	config remote.PushConfig
	answer chan error
}

// fakeAgents is a catalogue of one agent, and that agent. Each of its calls waits for
// the test to answer it.
type fakeAgents struct {
	calls chan call

	mu     sync.Mutex
	pushes bool
}

func (f *fakeAgents) Any(context.Context, string) (agent.Agent, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return agent.Agent{Card: agent.Card{PushNotifications: f.pushes}, Pinned: &remote.Interface{URL: "http://127.0.0.1/", Binding: remote.JSONRPC, ProtocolVersion: "1.0"}}, nil
}

func (f *fakeAgents) ask(ctx context.Context, what string, config remote.PushConfig) (remote.PushConfig, error) {
	c := call{what, config, make(chan error, 1)}
	select {
	case f.calls <- c:
	case <-ctx.Done():
		return config, ctx.Err()
	}
	select {
	case err := <-c.answer:
		return config, err
	case <-ctx.Done():
		return config, ctx.Err()
	}
}

func (f *fakeAgents) CreatePushConfig(ctx context.Context, _ remote.Target, config remote.PushConfig) (remote.PushConfig, error) {
	return f.ask(ctx, "create", config)
}

func (f *fakeAgents) GetPushConfig(ctx context.Context, _ remote.Target, taskID, id string) (remote.PushConfig, error) {
	return f.ask(ctx, "get", remote.PushConfig{TaskID: taskID, ID: id})
}

func (f *fakeAgents) DeletePushConfig(ctx context.Context, _ remote.Target, taskID, id string) error {
	_, err := f.ask(ctx, "delete", remote.PushConfig{TaskID: taskID, ID: id})
	return err
}

func answered(code string) error {
	return &remote.Error{Delivery: remote.Answered, Code: code, Message: "It says " + code + "."}
}

// bench is a database with an agent.
type bench struct {
	t       *testing.T
	db      *store.DB
	agents  *fakeAgents
	agentID string
}

func setUp(t *testing.T) *bench {
	t.Helper()
	db, err := store.OpenSQLite(context.Background(), t.TempDir(), &live.Hub{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	b := &bench{t: t, db: db, agents: &fakeAgents{calls: make(chan call), pushes: true}, agentID: newID()}
	b.update(func(tx *store.Tx) error {
		a := agent.Agent{ID: b.agentID, OrganisationID: access.LocalOrganisation, CardURL: "http://127.0.0.1/card", Name: "Ada", Health: agent.Health{Status: agent.HealthReachable}, CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
		if err := tx.InsertAgent(a); err != nil {
			return err
		}
		return tx.StoreDiscovery(b.agentID, agent.Discovery{CardID: newID(), Raw: []byte(`{"name":"Ada"}`), Name: "Ada", Health: a.Health, NextTurn: tx.Now()})
	})
	return b
}

func (b *bench) update(f func(*store.Tx) error) {
	b.t.Helper()
	if err := b.db.Update(context.Background(), f); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) exec(statement string, args ...any) {
	b.t.Helper()
	if err := b.db.Exec(context.Background(), statement, args...); err != nil {
		b.t.Fatal(err)
	}
}

// start makes an open task of the agent's, as its first answer does.
func (b *bench) start(remoteID string) task.Outcome {
	b.t.Helper()
	h := task.Head{TaskID: newID(), RemoteTaskID: remoteID, Kind: task.KindTask, State: a2a.StateWorking}
	b.update(func(tx *store.Tx) error {
		if err := tx.CreateTask(h, task.Owner{OrganisationID: access.LocalOrganisation, AgentID: b.agentID, Title: "t"}); err != nil {
			return err
		}
		return tx.ScheduleCheck(h.TaskID, tx.Now(), 0)
	})
	return task.Outcome{TaskID: h.TaskID, AgentID: b.agentID, Head: h}
}

// run runs a registrar until the test ends, or until stop.
func (b *bench) run(origin, keys string) (r *push.Registrar, stop func()) {
	b.t.Helper()
	ring, err := vault.ParseRing(keys, "")
	if err != nil {
		b.t.Fatal(err)
	}
	r = &push.Registrar{
		Update: store.For[push.Tx](b.db.Update), Agents: b.agents, Remote: b.agents, Keys: ring, Origin: origin,
		NewID: newID, Poll: 20 * time.Millisecond, Log: slog.New(slog.DiscardHandler),
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			b.t.Errorf("Run: %v", err)
		}
	})
	b.t.Cleanup(stop)
	return r, stop
}

// expect waits for a call and answers it.
func (b *bench) expect(what string, answer error) call {
	b.t.Helper()
	select {
	case c := <-b.agents.calls:
		if c.what != what {
			b.t.Fatalf("the agent is asked to %s, want %s", c.what, what)
		}
		c.answer <- answer
		return c
	case <-time.After(time.Minute):
		b.t.Fatalf("the agent is never asked to %s", what)
		return call{}
	}
}

// waitFor waits until the task's is as asked.
func (b *bench) waitFor(taskID, state string) *task.Push {
	b.t.Helper()
	deadline := time.After(time.Minute)
	for {
		var got task.Record
		b.update(func(tx *store.Tx) (err error) {
			got, err = tx.TaskRecord(access.Everything(access.LocalOrganisation), taskID)
			return err
		})
		if p := got.Task.Push; p != nil && p.State == state {
			return p
		}
		select {
		case <-deadline:
			b.t.Fatalf("the registration is %+v, want it %s", got.Task.Push, state)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// waitUntilKept waits until what was due of the one registration is done and stored.
func (b *bench) waitUntilKept() {
	b.t.Helper()
	deadline := time.After(time.Minute)
	for {
		var next time.Time
		b.update(func(tx *store.Tx) (err error) {
			next, err = tx.NextRegistration()
			return err
		})
		if time.Until(next) > 10*time.Minute { // one that is claimed is due in two
			return
		}
		select {
		case <-deadline:
			b.t.Fatalf("the registration is due at %v", next)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

const origin = "https://console.example"

func TestARegistrationFromStartToEnd(t *testing.T) {
	t.Parallel()
	b := setUp(t)
	r, _ := b.run(origin, keyOne)
	started := b.start("r")
	r.Heard(started)
	first := b.expect("create", &remote.Error{Delivery: remote.Uncertain, Message: "It hung up."})
	if p := b.waitFor(started.TaskID, "wanted"); p.Problem != "" && p.Problem != "It hung up." {
		t.Errorf("problem %q", p.Problem)
	}
	made := b.expect("create", nil)
	if made.config != first.config {
		t.Errorf("the second attempt is %+v, want it like the first %+v", made.config, first.config)
	}
	if c := made.config; c.TaskID != "r" || c.Token == "" || c.Credentials != c.Token || c.Scheme != "Bearer" ||
		!strings.HasPrefix(c.URL, origin+push.Path+c.ID+"/") || strings.Contains(c.URL, c.Token) {
		t.Errorf("the agent is given %+v", c)
	}
	b.waitFor(started.TaskID, "registered")

	b.exec("UPDATE push_registration SET due_us = 0")
	b.expect("get", nil)
	b.waitUntilKept()
	b.exec("UPDATE push_registration SET due_us = 0")
	b.expect("get", answered(remote.CodeTaskNotFound))
	b.expect("create", nil)
	b.waitFor(started.TaskID, "registered")

	started.Head.State = a2a.StateCompleted
	b.exec("UPDATE task SET state = 'TASK_STATE_COMPLETED'")
	r.Heard(started)
	if gone := b.expect("delete", nil); gone.config.ID != made.config.ID {
		t.Errorf("deleted is %s, want %s", gone.config.ID, made.config.ID)
	}
	b.waitFor(started.TaskID, "removed")
}

// TestAnAgentThatDoesNotPush is not asked again until its card is another one.
func TestAnAgentThatDoesNotPush(t *testing.T) {
	t.Parallel()
	b := setUp(t)
	first, second := b.start("r-1"), task.Outcome{}
	_, stop := b.run(origin, keyOne)
	b.expect("create", answered(remote.CodePushNotSupported))
	if p := b.waitFor(first.TaskID, "failed"); !strings.Contains(p.Problem, remote.CodePushNotSupported) {
		t.Errorf("problem %q", p.Problem)
	}
	second = b.start("r-2")
	b.update(func(tx *store.Tx) error {
		if err := tx.WantRegistration(newID(), second.TaskID); err != nil {
			return err
		}
		got, err := tx.TaskRecord(access.Everything(access.LocalOrganisation), second.TaskID)
		if got.Task.Push != nil {
			t.Errorf("an agent that refused is to be asked again: %+v", got.Task.Push)
		}
		return err
	})
	stop()
	b.update(func(tx *store.Tx) error {
		return tx.StoreDiscovery(b.agentID, agent.Discovery{CardID: newID(), Raw: []byte(`{"name":"Ada 2"}`), Name: "Ada", Health: agent.Health{Status: agent.HealthReachable}, NextTurn: tx.Now()})
	})
	b.run(origin, keyOne)
	if c := b.expect("create", nil); c.config.TaskID != "r-2" {
		t.Errorf("asked about %s, want r-2", c.config.TaskID)
	}
}

// TestWhatChangesIsRegisteredAnew: another origin, a key that is gone, and no origin.
func TestWhatChangesIsRegisteredAnew(t *testing.T) {
	t.Parallel()
	b := setUp(t)
	started := b.start("r")
	_, stop := b.run(origin, keyOne)
	first := b.expect("create", nil)
	b.waitFor(started.TaskID, "registered")
	stop()

	_, stop = b.run("https://other.example", keyOne)
	if c := b.expect("create", nil); c.config.Token != first.config.Token || !strings.HasPrefix(c.config.URL, "https://other.example/") {
		t.Errorf("with another origin the agent is given %+v", c.config)
	}
	b.waitFor(started.TaskID, "registered")
	stop()

	keyTwo := "two:2222222222222222222222222222222222222222222222222222222222222222"
	b.exec("UPDATE push_registration SET due_us = 0")
	_, stop = b.run("https://other.example", keyTwo)
	if c := b.expect("create", nil); c.config.Token == first.config.Token {
		t.Error("with another key the token is the same")
	}
	b.waitFor(started.TaskID, "registered")
	stop()

	b.run("", keyTwo)
	b.expect("delete", nil)
	b.waitFor(started.TaskID, "removed")
}

// TestATaskThatEndsMeanwhile: what the agent took after the task had ended is removed.
func TestATaskThatEndsMeanwhile(t *testing.T) {
	t.Parallel()
	b := setUp(t)
	started := b.start("r")
	r, _ := b.run(origin, keyOne)
	var c call
	select {
	case c = <-b.agents.calls:
	case <-time.After(time.Minute):
		t.Fatal("the agent is never asked")
	}
	b.exec("UPDATE task SET state = 'TASK_STATE_COMPLETED'")
	started.Head.State = a2a.StateCompleted
	r.Heard(started)
	b.waitFor(started.TaskID, "removed")
	c.answer <- nil
	b.expect("delete", nil)
	b.waitFor(started.TaskID, "removed")
}
