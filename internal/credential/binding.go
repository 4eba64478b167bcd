// Package credential keeps what Taskbay authenticates to agents with: one
// binding an agent, set by an administrator, encrypted in the database, and sent
// to the origins that it is bound to and nowhere else.
package credential

import (
	"strings"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/credential/scheme"
)

// Binding is a credential of an agent as it may be shown: without its secret.
// What it says does not change; another credential is another binding.
type Binding struct {
	ID             string `json:"id"` // UUIDv7
	OrganisationID string `json:"-"`
	AgentID        string `json:"agentId"`
	AgentName      string `json:"agentName"`
	AgentCardURL   string `json:"agentCardUrl"`

	Kind     scheme.Kind `json:"kind"`
	Origins  []string    `json:"origins"`            // where it may be sent
	Header   string      `json:"header,omitempty"`   // of an API key
	TokenURL string      `json:"tokenUrl,omitempty"` // of OAuth, without its query
	Expires  time.Time   `json:"expires,omitzero"`   // of a client certificate

	Key       string    `json:"key"` // ID of the vault key that it is encrypted with, or was
	CreatedBy Person    `json:"createdBy"`
	CreatedAt time.Time `json:"createdAt"`
	UsedAt    time.Time `json:"usedAt,omitzero"` // to the minute

	Ended   Ending    `json:"ended,omitempty"` // "" while it is in use; its secret is gone otherwise
	EndedBy Person    `json:"endedBy,omitzero"`
	EndedAt time.Time `json:"endedAt,omitzero"`
}

// Person is who did something, with the name that they had then.
type Person struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func personOf(p access.Principal) Person { return Person{ID: p.PersonID, Name: p.Name} }

// entry is what the trail says of something that was done with the binding.
func (b Binding) entry(p access.Principal, action audit.Action) audit.Entry {
	return audit.Entry{
		OrganisationID: p.OrganisationID, Actor: p.Actor(), Action: action, AgentID: b.AgentID, AgentName: b.AgentName, ObjectID: b.ID,
		Detail: map[string]string{"type": string(b.Kind), "origins": strings.Join(b.Origins, " "), "key": b.Key},
	}
}

// Ending says how a binding ended.
type Ending string

// The endings of a binding. After a revoked one the agent is not called until
// another is set.
const (
	Replaced Ending = "replaced"
	Revoked  Ending = "revoked"
)

// Record is a binding as it is stored.
type Record struct {
	Binding
	Sealed string // the whole credential, encrypted for the agent; "" once it has ended
}

// Former is what is kept of a credential that has ended: its secrets, to keep them
// out of what the agent still repeats.
type Former struct {
	CredentialID   string
	OrganisationID string
	AgentID        string
	Sealed         string // encrypted for the agent
	EndedAt        time.Time
}

// What is kept of credentials that have ended: those of an agent that ended last,
// for a while.
const (
	MaxFormer = 8
	FormerAge = 90 * 24 * time.Hour
)

// Tx is a transaction of the record as the package needs it.
type Tx interface {
	Now() time.Time
	// Agent returns one agent; fault.NotFound if the organisation has none of
	// that ID. An empty organisation is any.
	Agent(v access.View, id string) (agent.Agent, error)
	// AnyAgent is Agent without a view, for work that is for nobody.
	AnyAgent(id string) (agent.Agent, error)
	// Credential returns the agent's latest binding, ended or not; fault.NotFound
	// if it never had one.
	Credential(agentID string) (Record, error)
	// AgentCredentials returns every binding that the agent ever had, newest first.
	AgentCredentials(agentID string) ([]Record, error)
	// LatestCredentials returns the latest binding of each agent that ever had
	// one, ended or not, by the agents' names.
	LatestCredentials(organisationID string) ([]Record, error)
	// InsertCredential stores a new binding, which replaces the one that the agent has.
	InsertCredential(Record) error
	// EndCredential ends the agent's binding, and reports whether it had one. The
	// secret is dropped.
	EndCredential(agentID string, as Ending, by Person) (bool, error)
	// InsertFormer stores the secrets of a credential that ends now, and drops those of
	// the agent beyond MaxFormer, and all that are older than FormerAge.
	InsertFormer(Former) error
	// Formers returns those of an agent that are not older than FormerAge, newest first.
	Formers(agentID string) ([]Former, error)
	// OrganisationFormers returns those of all agents.
	OrganisationFormers(organisationID string) ([]Former, error)
	// ResealFormer is ResealCredential for one of them.
	ResealFormer(credentialID, sealed, fresh string) (bool, error)
	// ResealCredential puts another ciphertext in the place of sealed, and reports
	// whether that was still there.
	ResealCredential(id, sealed, fresh, key string) (bool, error)
	// TouchCredential stores that a binding was used now.
	TouchCredential(id string) error
	// RefreshSoon makes the agent's card due.
	RefreshSoon(agentID string) error
	// Audit puts an entry on the trail, if the transaction is committed.
	Audit(audit.Entry) error
	Signal(topics ...string)
}
