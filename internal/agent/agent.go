// Package agent is the catalogue: the agents that the console knows, their
// stored cards with every earlier version, their extensions and their health.
package agent

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/remote"
)

// Health says whether the agent's card could be fetched the last time.
type Health struct {
	Status    HealthStatus
	CheckedAt time.Time // zero if never
	Error     string    // public, in words; "" unless unreachable or a mismatch
	Attempts  []Attempt // what the last discovery tried, in order
}

// Attempt is one address that discovery asked for a card, and why it was not used.
type Attempt struct {
	URL     string `json:"url"`
	Problem string `json:"problem,omitempty"` // "" for the one that brought the card
}

// HealthStatus is the short form of Health.
type HealthStatus string

// The health of an agent.
const (
	HealthUnknown     HealthStatus = "unknown"
	HealthReachable   HealthStatus = "reachable"
	HealthUnreachable HealthStatus = "unreachable"
	// HealthMismatch is that of an agent whose card could be fetched and was not
	// taken: it is less trusted than the one that came before, which stays.
	HealthMismatch HealthStatus = "mismatch"
)

// Listing says whether the agent lists its tasks.
type Listing struct {
	Status  ListingStatus
	LastAt  time.Time // when it listed them last; zero if never
	Problem string    // public, in words; why it does not, or what was wrong the last time
}

// ListingStatus is the short form of Listing.
type ListingStatus string

// How an agent lists. One that refused is asked again once its card, interface or
// credential is another one.
const (
	ListingUnknown ListingStatus = "unknown"
	ListingWorks   ListingStatus = "listed"
	ListingFails   ListingStatus = "failing"
	ListingRefused ListingStatus = "refused"
)

// Agent is one agent of the catalogue with its latest stored card.
type Agent struct {
	ID              string // UUIDv7
	OrganisationID  string
	CardURL         string // as registered
	ResolvedCardURL string // where the card was found; "" if it never was
	Name            string // the card's, or the host of CardURL
	Description     string
	Trust           Trust
	TrustedKey      string            // the thumbprint of the pinned key that a verified card is signed with
	Distrust        string            // why the agent is not called for its card's signatures, in words; "" if it may be
	Pinned          *remote.Interface // that an administrator chose; nil for the card's own
	Health          Health

	PushProblem string // why the agent pushes nothing with the card that it has now; "" if it may
	Listing     Listing

	CardRaw       json.RawMessage // exactly as received; nil if no card was ever fetched
	Card          Card            // as far as it could be read
	Findings      []Finding
	CardFetchedAt time.Time

	CreatedAt time.Time
	UpdatedAt time.Time
	RemovedAt time.Time // from the catalogue; zero if it is there
	RemovedBy string    // the name of who did that
}

// HasCard reports whether a card was ever stored.
func (a Agent) HasCard() bool { return a.CardRaw != nil }

// Advertises reports whether the latest stored card lists the extension's URI.
func (a Agent) Advertises(uri string) bool {
	_, ok := a.Card.Extension(uri)
	return ok
}

// entry is what the trail says of something that was done with the agent.
func (a Agent) entry(p access.Principal, action audit.Action) audit.Entry {
	return audit.Entry{
		OrganisationID: p.OrganisationID, Actor: p.Actor(), Action: action, AgentID: a.ID, AgentName: a.Name,
		Detail: map[string]string{"card": withoutQuery(a.CardURL)},
	}
}

// withoutQuery is an address without what some have secrets in.
func withoutQuery(address string) string {
	before, _, _ := strings.Cut(address, "?")
	return before
}
