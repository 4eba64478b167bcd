package web

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/httpguard/guardtest"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// console is all services in memory, with the server on top of them.
type console struct {
	*server
	http.Handler
	hub   live.Hub
	wire  fakeWire
	trail fakeTrail

	people fakePeople

	mu        sync.Mutex
	agents    []agent.Agent
	tasks     []task.Task
	blobs     map[string]string
	submitted []submission
	resent    []string           // commands that a person had sent again
	checked   []string           // tasks about which the agent was asked
	merged    map[string]string  // tasks that became others, by ID
	given     []access.Allowance // on any agent, to whoever looks
	refusal   error              // what commands and lists get instead of being served
}

// submission is one call of Submit.
type submission struct {
	AgentID string
	Key     string
	Body    command.Body
}

// newConsole returns a console with some agents and tasks in it, see samples.
func newConsole(t *testing.T) *console {
	t.Helper()
	c := &console{agents: sampleAgents(), tasks: sampleTasks(), blobs: map[string]string{sampleDigest: "a,b\n1,2\n"}}
	c.people.fill(c.agents)
	config := Config{
		Agents: fakeAgents{c}, Credentials: &fakeCredentials{}, Wire: &c.wire, Commands: fakeCommands{c}, Checks: fakeChecks{c}, Tasks: fakeTasks{c}, Blobs: fakeBlobs{c}, Retention: &fakeRetention{}, Trail: &c.trail, Live: &c.hub,
		Members: &c.people, Teams: fakeTeams{&c.people}, Grants: fakeGrants{&c.people}, Tokens: fakeTokens{&c.people}, Sessions: presentPeople{},
		Door: guardtest.Local(), Version: "v1.2.3", Log: slog.New(slog.DiscardHandler),
	}
	c.server = newServer(config)
	c.pace = 0
	c.Handler = c.guarded()
	return c
}

// actAs has every request be made on behalf of somebody.
func (c *console) actAs(p access.Principal) {
	tokens := &guardtest.Identities{}
	tokens.Set("theirs", access.Identity{Principal: p})
	c.Door.Tokens = tokens
	pages := c.Handler
	c.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer theirs")
		pages.ServeHTTP(w, r)
	})
}

// change changes a task as an observation would, and signals it.
func (c *console) change(id string, f func(*task.Task)) {
	c.mu.Lock()
	for i := range c.tasks {
		if c.tasks[i].ID == id {
			c.tasks[i].Version++
			f(&c.tasks[i])
		}
	}
	c.mu.Unlock()
	c.hub.Publish(live.TaskTopic(id), live.OrganisationTopic(access.LocalOrganisation))
}

// merge makes one task have become another.
func (c *console) merge(id, into string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.merged = map[string]string{id: into}
}

// refuse makes commands and lists fail.
func (c *console) refuse(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refusal = err
}

// sent returns what was submitted.
func (c *console) sent() []submission {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.submitted)
}

func (c *console) task(id string) (task.Task, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if into := c.merged[id]; into != "" {
		id = into
	}
	for _, t := range c.tasks {
		if t.ID == id {
			return t, nil
		}
	}
	return task.Task{}, fault.New(fault.NotFound, "There is no such task.")
}

type fakeAgents struct{ *console }

func (f fakeAgents) List(context.Context, access.Principal) ([]agent.Agent, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.agents), f.refusal
}

func (f fakeAgents) Get(_ context.Context, _ access.Principal, id string) (agent.Agent, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range f.agents {
		if a.ID == id {
			return a, nil
		}
	}
	return agent.Agent{}, fault.New(fault.NotFound, "There is no such agent.")
}

func (f fakeAgents) Reach(_ context.Context, p access.Principal, _ string) (access.Reach, error) {
	return access.NewReach(p, f.given), nil
}

func (f fakeAgents) Register(_ context.Context, _ access.Principal, cardURL string) (agent.Agent, bool, error) {
	if !strings.HasPrefix(cardURL, "http") {
		return agent.Agent{}, false, fault.New(fault.Invalid, "An address begins with http:// or https://.")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range f.agents {
		if a.CardURL == cardURL {
			return a, false, nil
		}
	}
	a := agent.Agent{ID: "new-agent", CardURL: cardURL, Name: "new"}
	f.agents = append(f.agents, a)
	return a, true, nil
}

func (f fakeAgents) Discover(ctx context.Context, p access.Principal, id string) (agent.Agent, error) {
	return f.Get(ctx, p, id)
}

type fakeTasks struct{ *console }

func (f fakeTasks) List(_ context.Context, _ access.Principal, filter task.Filter) (task.Page, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var page task.Page
	for _, t := range f.tasks {
		if filter.NeedsYou && !t.NeedsYou || filter.State != "" && t.State != filter.State ||
			filter.Standing == task.StandingNotSent && (t.Sent == nil || t.Sent.Status != "failed") ||
			filter.AgentID != "" && t.AgentID != filter.AgentID || !strings.Contains(t.Title, filter.Query) {
			continue
		}
		t.Messages, t.Artifacts, t.Transitions, t.Cancels, t.Question = nil, nil, nil, nil, nil
		page.Items = append(page.Items, t)
	}
	slices.SortStableFunc(page.Items, func(a, b task.Task) int { return cmp.Compare(b.UpdatedAt.UnixNano(), a.UpdatedAt.UnixNano()) })
	if filter.Cursor == "" && len(page.Items) > 7 {
		page.Items, page.Next = page.Items[:7], "older"
	}
	return page, f.refusal
}

func (f fakeTasks) Get(_ context.Context, _ access.Principal, id string) (task.Task, error) {
	return f.task(id)
}

func (f fakeTasks) Changes(_ context.Context, _ access.Principal, id string, since int64) (task.Delta, error) {
	t, err := f.task(id)
	t.Messages = slices.DeleteFunc(slices.Clone(t.Messages), func(m task.Message) bool { return m.Version <= since })
	t.Artifacts = slices.DeleteFunc(slices.Clone(t.Artifacts), func(a task.Artifact) bool { return a.Version <= since })
	t.Transitions = slices.DeleteFunc(slices.Clone(t.Transitions), func(x task.Transition) bool { return x.Version <= since })
	t.Cancels = slices.DeleteFunc(slices.Clone(t.Cancels), func(x task.CancelRequest) bool { return x.Version <= since })
	return task.Delta{Since: since, Task: t}, err
}

func (f fakeTasks) Counts(context.Context, access.Principal) (task.Counts, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var counts task.Counts
	for _, t := range f.tasks {
		if t.NeedsYou {
			counts.NeedsYou++
		}
	}
	return counts, nil
}

type fakeCommands struct{ *console }

func (f fakeCommands) Resend(_ context.Context, _ access.Principal, id string) (command.Command, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.resent = append(f.resent, id)
	return command.Command{ID: id, TaskID: workingTask}, nil
}

type fakeChecks struct{ *console }

func (f fakeChecks) CheckNow(_ context.Context, _ access.Principal, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.checked = append(f.checked, id)
	return nil
}

func (f fakeCommands) Submit(_ context.Context, _ access.Principal, agentID, key string, body command.Body) (command.Command, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refusal != nil {
		return command.Command{}, f.refusal
	}
	f.submitted = append(f.submitted, submission{agentID, key, body})
	taskID := body.TaskID
	if taskID == "" {
		taskID = "new-task"
	}
	return command.Command{ID: "command", AgentID: agentID, TaskID: taskID, Action: body.Action, Status: command.Pending}, nil
}

type fakeBlobs struct{ *console }

func (f fakeBlobs) Open(_ context.Context, _ access.Principal, sha256 string) (io.ReadSeekCloser, task.BlobInfo, error) {
	if sha256 == lostDigest {
		return nil, task.BlobInfo{}, fault.New(fault.Gone, "Its bytes are missing.")
	}
	content, ok := f.blobs[sha256]
	if !ok {
		return nil, task.BlobInfo{}, fault.New(fault.NotFound, "There is no such file.")
	}
	info := task.BlobInfo{SHA256: sha256, Size: int64(len(content)), Filename: "figures\r\n\"2026\".csv", MediaType: "text/html"}
	return readSeekCloser{bytes.NewReader([]byte(content))}, info, nil
}

type readSeekCloser struct{ *bytes.Reader }

func (readSeekCloser) Close() error { return nil }

// at is a time in the samples: so many minutes before a fixed moment.
func at(minutes int) time.Time {
	return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC).Add(-time.Duration(minutes) * time.Minute)
}
