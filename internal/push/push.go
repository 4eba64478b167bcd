// Package push has agents tell by themselves what happens on a task: it asks them to
// post it here (A2A 1.0, 4.3), and takes in what they post. A push is the fourth
// source of observations and takes the one way in, task.Ingest. Nothing depends on
// it: every task is asked about as well, more rarely while pushes come.
package push

import (
	"context"
	"encoding/base64"
	"time"

	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// State is how far a registration has come.
type State string

// The states. A registration that failed is left alone, and the task is only polled.
const (
	StateWanted     State = "wanted"     // the agent is to be asked
	StateRegistered State = "registered" // the agent has it
	StateFailed     State = "failed"     // the agent does not take it
	StateRemoving   State = "removing"   // the task has ended; the agent is to forget it
	StateRemoved    State = "removed"    // the agent was told to, as far as it could be
)

// Registration is what an agent was asked to push about one task.
type Registration struct {
	ID             string // UUIDv7; in the address that the agent posts to
	TaskID         string // local
	OrganisationID string
	AgentID        string
	Tenant         string
	RemoteTaskID   string
	State          State
	Ended          bool   // the task has
	Origin         string // that the agent was given
	KeyID          string // of the key that its secrets are derived from
	ConfigID       string // the agent's
	Attempts       int    // of what is to be done now
	Due            time.Time
	Problem        string // what went wrong last, in words; "" for nothing
}

// Tx is a transaction of the record as the package needs it.
type Tx interface {
	task.Tx
	ScheduleCheck(taskID string, at time.Time, interval time.Duration) error
	HastenCheck(taskID string, at time.Time) error
	// UnregisteredAgents returns the agents of open tasks that no registration is for,
	// but for those that refused with the card that they have now.
	UnregisteredAgents() (agentIDs []string, err error)
	// UnregisteredTasks returns such tasks of an agent, at most limit.
	UnregisteredTasks(agentID string, limit int) (taskIDs []string, err error)
	// WantRegistration makes a registration for a task, due at once, unless the task
	// has one, has ended, or its agent refused.
	WantRegistration(id, taskID string) error
	// RetireRegistration has the registration of a task removed at the agent.
	RetireRegistration(taskID string) error
	// RetireOthers has all registrations made anew that have another origin; with the
	// origin "" all are removed instead.
	RetireOthers(origin string) error
	// DueRegistrations returns the agents that have some which are due.
	DueRegistrations() (agentIDs []string, err error)
	// ClaimRegistrations returns registrations of an agent that are due, and puts
	// their next turn at next, in case that this one does not end.
	ClaimRegistrations(agentID string, limit int, next time.Time) ([]Registration, error)
	// NextRegistration is when the next one is due that is not yet; zero if none is.
	NextRegistration() (time.Time, error)
	// StoreRegistration stores what became of one, unless it has another state than
	// was by now. It reports whether it did.
	StoreRegistration(was State, r Registration) (bool, error)
	// RefusePushes notes that an agent, with the card that it has now, pushes nothing.
	RefusePushes(agentID, problem string) error
	// Registration returns fault.NotFound if there is none of that ID.
	Registration(id string) (Registration, error)
	// CountPush counts a push of a registration, and reports false if there were as
	// many as allowed in the minute. It returns fault.NotFound if there is none.
	CountPush(id string, allowed int) (bool, error)
	// Pushed notes that the agent pushes.
	Pushed(id string) error
	// PushProblem notes what was wrong with a push.
	PushProblem(id, problem string) error
}

// Remote is the way to the agents as the package needs it.
type Remote interface {
	CreatePushConfig(ctx context.Context, t remote.Target, config remote.PushConfig) (remote.PushConfig, error)
	GetPushConfig(ctx context.Context, t remote.Target, taskID, id string) (remote.PushConfig, error)
	DeletePushConfig(ctx context.Context, t remote.Target, taskID, id string) error
}

// Agents is the catalogue as the package needs it.
type Agents interface {
	// Any returns an agent, for work that is for nobody.
	Any(ctx context.Context, id string) (agent.Agent, error)
}

// Keys derive the secrets of registrations, so that none is stored. All processes
// that share a database have the same.
type Keys interface {
	MAC(purpose, text string) (keyID string, code []byte)
	CheckMAC(purpose, text string, code []byte) bool
	Holds(keyID string) bool
}

// What a secret is for. One is in the address, as some agents send no headers; the
// other is what an agent shows in a header.
const (
	inAddress = "taskbay push address v1"
	inHeader  = "taskbay push token v1"
)

// Path is where pushes are taken in: the ID of a registration follows, and its secret.
const Path = "/push/"

// secret returns the secret of a registration for a purpose, in 43 characters, and
// the ID of the key that it is derived from.
func secret(keys Keys, purpose, id string) (keyID, text string) {
	keyID, code := keys.MAC(purpose, id)
	return keyID, base64.RawURLEncoding.EncodeToString(code)
}

// proves reports whether a text is the secret of a registration for a purpose.
func proves(keys Keys, purpose, id, text string) bool {
	code, err := base64.RawURLEncoding.DecodeString(text)
	return err == nil && keys.CheckMAC(purpose, id, code)
}
