package browser

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/audit/trail"
	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/httpguard/guardtest"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/task"
	"github.com/agent-taskbay/taskbay/internal/web"
)

// stage is the product's own pages over one task that a test changes as it
// likes: real agents seldom do much while they wait for an answer.
type stage struct {
	*httptest.Server
	mu   sync.Mutex
	task task.Task
	hub  live.Hub
}

const stagedTask = "01890000-0000-7000-8000-000000000001"

func newStage(t *testing.T, definition string) *stage {
	t.Helper()
	f := mustParse(t, []byte(definition))
	parts := []a2a.Part{a2a.TextPart("A few questions."), a2a.DataPart([]byte(definition), form.MediaType)}
	now := time.Now()
	s := &stage{task: task.Task{
		ID: stagedTask, RemoteTaskID: "remote", OrganisationID: access.LocalOrganisation, AgentID: "agent", AgentName: "Agent",
		Kind: task.KindTask, State: a2a.StateInputRequired, Title: "Staged", NeedsYou: true, Version: 1,
		CreatedAt: now, UpdatedAt: now,
		Messages: []task.Message{{Seq: 1, Version: 1, ID: "asked", Role: a2a.RoleAgent, Parts: parts, At: now, Current: true}},
		Question: &task.Question{MessageID: "asked", Prompt: "A few questions.", Parts: parts, Form: f, FormPart: 1},
	}}
	s.Server = httptest.NewUnstartedServer(web.New(web.Config{
		Agents: s, Commands: s, Tasks: stagedTasks{s}, Trail: stagedTrail{}, Live: &s.hub, Blobs: s,
		Door: guardtest.Local(), Version: "test", Log: slog.New(slog.DiscardHandler),
	}))
	// Streams last as long as their request, which ends with the server.
	ctx, stop := context.WithCancel(context.Background())
	s.Config.BaseContext = func(net.Listener) context.Context { return ctx }
	s.Start()
	t.Cleanup(func() {
		stop()
		s.Close()
	})
	return s
}

// change changes the task and tells everyone who watches.
func (s *stage) change(what func(*task.Task)) {
	s.mu.Lock()
	s.task.Version++
	s.task.UpdatedAt = time.Now()
	what(&s.task)
	s.mu.Unlock()
	s.hub.Publish(live.TaskTopic(stagedTask), live.OrganisationTopic(access.LocalOrganisation))
}

// progress adds an artifact, and makes every entry that is there new.
func (s *stage) progress(text string) {
	s.change(func(t *task.Task) {
		// Pages that are being written hold the lists as they were.
		t.Messages = slices.Clone(t.Messages)
		for i := range t.Messages {
			t.Messages[i].Version = t.Version
		}
		t.Artifacts = append(t.Artifacts, task.Artifact{
			Seq: t.Version, Version: t.Version, ID: fmt.Sprint("artifact-", t.Version), Name: text,
			Parts: []a2a.Part{a2a.TextPart(text)}, Complete: true, At: time.Now(),
		})
	})
}

// progressEvery makes progress again and again until the test ends.
func (s *stage) progressEvery(t *testing.T, pause time.Duration) {
	t.Helper()
	ticker := time.NewTicker(pause)
	ended := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for {
			select {
			case <-ended:
				return
			case <-ticker.C:
				s.progress("update")
			}
		}
	})
	t.Cleanup(func() {
		ticker.Stop()
		close(ended)
		running.Wait()
	})
}

// open opens the page of the task and waits until it is live.
func (s *stage) open(t *testing.T, options ...tabOption) *tab {
	t.Helper()
	p := openTab(t, options...)
	p.visit(s.URL + "/tasks/" + stagedTask)
	p.until(`document.querySelector("structured-form")?.fields && document.querySelector("live-region").isLive`)
	return p
}

// stagedTasks reads the one task of a stage.
type stagedTasks struct{ *stage }

func (s stagedTasks) List(context.Context, access.Principal, task.Filter) (task.Page, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return task.Page{Items: []task.Task{s.task}}, nil
}

func (s stagedTasks) Get(_ context.Context, _ access.Principal, id string) (task.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id != stagedTask {
		return task.Task{}, fault.New(fault.NotFound, "There is no such task.")
	}
	return s.task, nil
}

func (s stagedTasks) Changes(ctx context.Context, p access.Principal, id string, since int64) (task.Delta, error) {
	t, err := s.Get(ctx, p, id)
	delta := task.Delta{Since: since, Task: t}
	delta.Task.Messages, delta.Task.Artifacts = nil, nil
	for _, m := range t.Messages {
		if m.Version > since {
			delta.Task.Messages = append(delta.Task.Messages, m)
		}
	}
	for _, a := range t.Artifacts {
		if a.Version > since {
			delta.Task.Artifacts = append(delta.Task.Artifacts, a)
		}
	}
	return delta, err
}

func (s stagedTasks) Counts(context.Context, access.Principal) (task.Counts, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return task.Counts{NeedsYou: int(s.task.Version)}, nil
}

// The rest of what pages need: one agent, and nothing that can be sent.

func (s *stage) List(context.Context, access.Principal) ([]agent.Agent, error) {
	return []agent.Agent{{ID: "agent", Name: "Agent"}}, nil
}

func (s *stage) Reach(_ context.Context, p access.Principal, _ string) (access.Reach, error) {
	return access.NewReach(p, nil), nil
}

// stagedTrail is the trail of a task with which nobody has done anything. Nothing else
// of a trail is asked for here.
type stagedTrail struct{ web.Trail }

func (stagedTrail) OfTask(context.Context, access.Principal, string, trail.Filter) (trail.Page, error) {
	return trail.Page{}, nil
}

func (s *stage) Get(context.Context, access.Principal, string) (agent.Agent, error) {
	return agent.Agent{ID: "agent", Name: "Agent"}, nil
}

func (s *stage) Register(context.Context, access.Principal, string) (agent.Agent, bool, error) {
	return agent.Agent{}, false, errStaged
}

func (s *stage) Discover(context.Context, access.Principal, string) (agent.Agent, error) {
	return agent.Agent{}, errStaged
}

func (s *stage) Submit(context.Context, access.Principal, string, string, command.Body) (command.Command, error) {
	return command.Command{}, errStaged
}

func (s *stage) Resend(context.Context, access.Principal, string) (command.Command, error) {
	return command.Command{}, errStaged
}

func (s *stage) Open(context.Context, access.Principal, string) (io.ReadSeekCloser, task.BlobInfo, error) {
	return nil, task.BlobInfo{}, errStaged
}

var errStaged = fault.New(fault.Unavailable, "This is a stage.")
