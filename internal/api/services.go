package api

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/task"
	"github.com/agent-taskbay/taskbay/internal/wire"
)

// Agents is the catalogue. What the principal may not see is fault.NotFound.
type Agents interface {
	List(ctx context.Context, p access.Principal) ([]agent.Agent, error)
	Get(ctx context.Context, p access.Principal, id string) (agent.Agent, error)
	// Register adds an agent by the address of its card and discovers it at once.
	// One that does not answer is registered with its error; an address that is
	// known returns its agent and created=false; one that cannot be used is
	// fault.Unprocessable.
	Register(ctx context.Context, p access.Principal, cardURL string) (a agent.Agent, created bool, err error)
	// Discover fetches the card now. That the agent does not answer is no error:
	// its health says so.
	Discover(ctx context.Context, p access.Principal, id string) (agent.Agent, error)
}

// AgentSettings is what of the catalogue an administrator decides.
type AgentSettings interface {
	// Preview shows the agent at an address as it would be registered, and keeps
	// nothing.
	Preview(ctx context.Context, p access.Principal, cardURL string) (agent.Agent, error)
	// SetInterface chooses the interface that the agent is called by; nil leaves it
	// to the card. One that cannot be used is fault.Unprocessable.
	SetInterface(ctx context.Context, p access.Principal, id string, pinned *remote.Interface) (agent.Agent, error)
	// Pins returns the keys that cards may be signed with; Pin adds one for an
	// origin until a time, and Unpin removes one. One that cannot be pinned is
	// fault.Unprocessable.
	Pins(ctx context.Context, p access.Principal) ([]agent.Pin, error)
	Pin(ctx context.Context, p access.Principal, origin, key, keyID string, expires time.Time) (agent.Pin, error)
	Unpin(ctx context.Context, p access.Principal, id string) error
	// Remove takes an agent out of the catalogue; its tasks stay.
	Remove(ctx context.Context, p access.Principal, id string) error
}

// Commands is the one way out. A command that Submit returned is durable. The
// same key with the same content returns the same command; with other content
// it is fault.Conflict, as is a task or question that has moved on. A form's
// answer that does not pass its checks is fault.Unprocessable with a field for
// each fault.
type Commands interface {
	Submit(ctx context.Context, p access.Principal, agentID, idempotencyKey string, body command.Body) (command.Command, error)
	Get(ctx context.Context, p access.Principal, id string) (command.Command, error)
	// Wait returns the command as soon as it is settled, or as it is after d.
	Wait(ctx context.Context, p access.Principal, id string, d time.Duration) (command.Command, error)
	// Resend has an uncertain command sent again; fault.Conflict if its outcome is
	// known by now or the task has moved on.
	Resend(ctx context.Context, p access.Principal, id string) (command.Command, error)
}

// Checks has agents asked about tasks at once; fault.Conflict for a task about
// which there is nothing to ask.
type Checks interface {
	CheckNow(ctx context.Context, p access.Principal, taskID string) error
}

// Tasks reads the projection of all work. What the principal may not see is
// fault.NotFound.
type Tasks interface {
	List(ctx context.Context, p access.Principal, f task.Filter) (task.Page, error)
	Get(ctx context.Context, p access.Principal, id string) (task.Task, error)
	// Changes returns the task with those entries whose version is above since.
	Changes(ctx context.Context, p access.Principal, id string, since int64) (task.Delta, error)
}

// Wire shows what went over the wire to agents, without secrets. What the principal
// may not see is fault.NotFound.
type Wire interface {
	OfAgent(ctx context.Context, p access.Principal, agentID string) (wire.Page, error)
	OfTask(ctx context.Context, p access.Principal, taskID string) (wire.Page, error)
	// Get returns one exchange with those of its events that are kept.
	Get(ctx context.Context, p access.Principal, id string) (wire.Exchange, []wire.Event, error)
}

// Blobs opens bytes that a task holds, if the principal may read one that does;
// fault.NotFound otherwise. They are read as they are asked for, until ctx ends.
// fault.Gone if they are lost, fault.Unavailable if they cannot be had now.
type Blobs interface {
	Open(ctx context.Context, p access.Principal, sha256 string) (io.ReadSeekCloser, task.BlobInfo, error)
}

// AGUI answers AG-UI front ends by itself: with a stream of events, or an error as
// they read it.
type AGUI interface {
	ServeRun(w http.ResponseWriter, r *http.Request, p access.Principal, agentID string)
	ServeCancel(w http.ResponseWriter, r *http.Request, p access.Principal, agentID, runID, threadID string)
}

// Live wakes watchers: a signal follows every change of a topic, and signals
// that nobody has received yet are one. The caller calls stop at the end.
type Live interface {
	Watch(topics ...string) (signals <-chan struct{}, stop func())
}

// Database is what a server cannot work without.
type Database interface {
	Ping(ctx context.Context) error
}
