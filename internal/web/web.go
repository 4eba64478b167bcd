// Package web is the console in a browser: pages that the server renders and
// that work without JavaScript, made live by small modules. Pages call the same
// services as the API does. Everything an agent wrote is escaped text here.
package web

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/httpguard"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/task"
	"github.com/agent-taskbay/taskbay/internal/web/static"
)

//go:generate go tool -modfile=../../tools/go.mod templ generate -path views
//go:generate go tool -modfile=../../tools/go.mod templ generate -path formview

// Agents is the catalogue. Every method sees only what the principal may see;
// what it may not see is fault.NotFound.
type Agents interface {
	List(ctx context.Context, p access.Principal) ([]agent.Agent, error)
	Get(ctx context.Context, p access.Principal, id string) (agent.Agent, error)
	// Reach says how far the principal may go with an agent.
	Reach(ctx context.Context, p access.Principal, id string) (access.Reach, error)
	// Register adds an agent by the address of its card and discovers it at once.
	// An agent that does not answer is registered with its error; an address that
	// is known already returns its agent and created=false. An address that cannot
	// be used is fault.Invalid.
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

// Commands is the one way out. A command that Submit returned is durable, and
// its TaskID is set. The same key with the same content returns the same
// command; with other content it is fault.Conflict, as is a task or question
// that has moved on. A form's answer that does not pass its checks is
// fault.Unprocessable with a field for each fault.
type Commands interface {
	Submit(ctx context.Context, p access.Principal, agentID, idempotencyKey string, body command.Body) (command.Command, error)
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
	Counts(ctx context.Context, p access.Principal) (task.Counts, error)
}

// Live wakes watchers: a signal follows every change of a topic, and signals
// that nobody has received yet are one.
type Live interface {
	Watch(topics ...string) (signals <-chan struct{}, stop func())
}

// Blobs opens bytes that a task holds, if the principal may read one that does;
// fault.NotFound otherwise. They are read as they are asked for, until ctx ends.
// fault.Gone if they are lost, fault.Unavailable if they cannot be had now.
type Blobs interface {
	Open(ctx context.Context, p access.Principal, sha256 string) (io.ReadSeekCloser, task.BlobInfo, error)
}

// Config is what the pages need. All but Demo and SignIn must be set.
type Config struct {
	Agents        Agents
	AgentSettings AgentSettings
	Credentials   Credentials
	Commands      Commands
	Checks        Checks
	Tasks         Tasks
	Live          Live
	Blobs         Blobs
	Wire          Wire
	Retention     Retention
	Trail         Trail
	Door          *httpguard.Door // lets requests in
	Version       string          // of the program, shown in the footer
	Log           *slog.Logger
	SignIn        SignIn // nil where nobody signs in
	Sessions      Sessions
	Members       Members
	Teams         Teams
	Grants        Grants
	Tokens        Tokens
	Demo          bool // the sample agents are running: say what to click first
}

// server answers the requests of one Config.
type server struct {
	Config
	assets  static.Assets
	mux     *http.ServeMux
	pace    time.Duration // between two passes of one live stream
	silence time.Duration // after which a live stream says that it is there
}

// New returns the handler of all pages, live streams and assets. Live streams
// end with their request's context: whoever shuts the server down cancels it.
func New(c Config) http.Handler {
	return newServer(c).guarded()
}

// guarded is the server behind what holds for every request and answer.
func (s *server) guarded() http.Handler {
	return s.Door.Guard(s.recoverPanics(http.HandlerFunc(s.route)), s.refuse)
}

// Principal is on whose behalf a request is made; the zero one if nobody is signed in.
func (s *server) Principal(r *http.Request) access.Principal { return httpguard.Principal(r.Context()) }

func newServer(c Config) *server {
	s := &server{
		Config:  c,
		assets:  static.New(),
		mux:     http.NewServeMux(),
		pace:    80 * time.Millisecond,
		silence: 15 * time.Second,
	}
	for _, r := range s.routes() {
		s.mux.Handle(r.pattern, s.Door.Admit(r.need, s.serve(r.handle), s.refuse))
	}
	s.mux.Handle("GET /static/", s.assets)
	return s
}
