package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Agent is one agent of the catalogue.
type Agent struct {
	ID              string          `json:"id"`
	CardURL         string          `json:"cardUrl"`         // as registered
	ResolvedCardURL string          `json:"resolvedCardUrl"` // where the card was found; "" if it never was
	Name            string          `json:"name"`
	Description     string          `json:"description"`
	Card            json.RawMessage `json:"card"`          // the latest as the agent sent it; null if there is none
	CardFetchedAt   *time.Time      `json:"cardFetchedAt"` // nil if there is no card
	Trust           string          `json:"trust"`         // unsigned, verified, untrusted or invalid
	Health          AgentHealth     `json:"health"`
	Listing         AgentListing    `json:"listing"`
	Source          string          `json:"source"` // managed or config
	Extensions      []Extension     `json:"extensions"`
	RemovedAt       *time.Time      `json:"removedAt"` // nil while it is in the catalogue
}

// AgentHealth says whether an agent's card could be fetched the last time.
type AgentHealth struct {
	Status    string     `json:"status"` // reachable, unreachable, mismatch or unknown
	CheckedAt *time.Time `json:"checkedAt"`
	Error     string     `json:"error,omitempty"`
}

// AgentListing says whether an agent lists its tasks.
type AgentListing struct {
	Status  string     `json:"status"` // unknown, listed, failing or refused
	LastAt  *time.Time `json:"lastAt"`
	Problem string     `json:"problem,omitempty"`
}

// Extension is a protocol extension that an agent advertises.
type Extension struct {
	URI        string `json:"uri"`
	Required   bool   `json:"required"`
	Understood bool   `json:"understood"` // by Taskbay
}

// Interface is a way to call an agent.
type Interface struct {
	Binding         string `json:"binding"`         // JSONRPC, HTTP+JSON or GRPC
	ProtocolVersion string `json:"protocolVersion"` // of A2A, as in 1.0
	URL             string `json:"url"`
	Tenant          string `json:"tenant,omitempty"`
}

// ChosenInterface says by which interface an agent is called.
type ChosenInterface struct {
	Interface *Interface `json:"interface"` // nil if the agent cannot be called
	Pinned    bool       `json:"pinned"`    // chosen by a person in the place of what the card decides
	Problem   string     `json:"problem,omitempty"`
}

// Preview is an agent that is not registered, with what its card does not keep to.
type Preview struct {
	Agent     Agent      `json:"agent"` // as it would be registered; its ID is ""
	Attempts  []Attempt  `json:"attempts"`
	Interface *Interface `json:"interface"` // nil if it could not be called
	Problem   string     `json:"problem,omitempty"`
	Score     int        `json:"score"` // how well the card keeps to A2A, from 0 to 100
	Findings  []Finding  `json:"findings"`
}

// Attempt is one address that was asked for a card.
type Attempt struct {
	URL     string `json:"url"`
	Problem string `json:"problem,omitempty"` // "" for the one that brought the card
}

// Finding is one remark about a card.
type Finding struct {
	Severity string `json:"severity"` // error, warning or info
	Path     string `json:"path"`     // JSON Pointer into the card
	Message  string `json:"message"`
	Section  string `json:"section"` // of the A2A specification
}

// page is a list that pages by cursor.
type page[T any] struct {
	Items []T     `json:"items"`
	Next  *string `json:"next"`
}

// Agents returns the agents that the caller may see, by name.
func (c *Client) Agents(ctx context.Context) ([]Agent, error) {
	list, err := fetch[page[Agent]](ctx, c, call{method: http.MethodGet, path: "/agents"})
	return list.Items, err
}

// Agent returns one agent.
func (c *Client) Agent(ctx context.Context, id string) (Agent, error) {
	return fetch[Agent](ctx, c, call{method: http.MethodGet, path: pathOf("/agents/{}", id)})
}

type registration struct {
	CardURL string `json:"cardUrl"`
}

// RegisterAgent adds an agent by its address, or by that of its card. One that
// cannot be reached is added all the same, and its health says why; one that is
// there already is returned.
func (c *Client) RegisterAgent(ctx context.Context, cardURL string) (Agent, error) {
	return fetch[Agent](ctx, c, call{method: http.MethodPost, path: "/agents", body: registration{cardURL}})
}

// PreviewAgent fetches and checks an agent's card, and keeps nothing.
func (c *Client) PreviewAgent(ctx context.Context, cardURL string) (Preview, error) {
	return fetch[Preview](ctx, c, call{method: http.MethodPost, path: "/agents/preview", body: registration{cardURL}})
}

// DiscoverAgent has the agent's card fetched now. That it cannot be reached is no
// error: its health says so.
func (c *Client) DiscoverAgent(ctx context.Context, id string) (Agent, error) {
	return fetch[Agent](ctx, c, call{method: http.MethodPost, path: pathOf("/agents/{}/discover", id)})
}

// RemoveAgent takes an agent out of the catalogue. Its tasks stay, and registering
// it again brings it back.
func (c *Client) RemoveAgent(ctx context.Context, id string) (Agent, error) {
	return fetch[Agent](ctx, c, call{method: http.MethodDelete, path: pathOf("/agents/{}", id)})
}

// Interface returns by which interface an agent is called.
func (c *Client) Interface(ctx context.Context, agentID string) (ChosenInterface, error) {
	return fetch[ChosenInterface](ctx, c, call{method: http.MethodGet, path: pathOf("/agents/{}/interface", agentID)})
}

// SetInterface chooses the interface that an agent is called by, in the place of
// what its card decides.
func (c *Client) SetInterface(ctx context.Context, agentID string, i Interface) (ChosenInterface, error) {
	return fetch[ChosenInterface](ctx, c, call{method: http.MethodPut, path: pathOf("/agents/{}/interface", agentID), body: i})
}

// ResetInterface leaves an agent's interface to its card again.
func (c *Client) ResetInterface(ctx context.Context, agentID string) (ChosenInterface, error) {
	return fetch[ChosenInterface](ctx, c, call{method: http.MethodDelete, path: pathOf("/agents/{}/interface", agentID)})
}
