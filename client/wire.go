package client

import (
	"context"
	"net/http"
	"time"
)

// Exchange is one call of an agent, or one request for its card.
type Exchange struct {
	ID         string     `json:"id"`
	AgentID    string     `json:"agentId"`
	TaskID     string     `json:"taskId,omitempty"`
	CommandID  string     `json:"commandId,omitempty"`
	Operation  string     `json:"operation"` // the A2A method, or AgentCard
	Binding    string     `json:"binding,omitempty"`
	Version    string     `json:"version,omitempty"` // of A2A
	Method     string     `json:"method,omitempty"`  // "" if nothing was sent
	URL        string     `json:"url,omitempty"`
	Status     int        `json:"status,omitempty"` // of HTTP; 0 without an answer
	GRPCStatus string     `json:"grpcStatus,omitempty"`
	Events     int        `json:"events"`
	Error      string     `json:"error,omitempty"`
	StartedAt  time.Time  `json:"startedAt"`
	AnsweredAt *time.Time `json:"answeredAt"`
	EndedAt    *time.Time `json:"endedAt"`
}

// ExchangeList is the latest exchanges, newest first.
type ExchangeList struct {
	Items []Exchange `json:"items"`
	Total int        `json:"total"` // how many are kept
}

// ExchangeContent is an exchange with all that is kept of it. Secrets are replaced.
type ExchangeContent struct {
	Exchange Exchange    `json:"exchange"`
	Request  WireMessage `json:"request"`
	Response WireMessage `json:"response"`
	Stream   []WireEvent `json:"stream"`
	Curl     string      `json:"curl,omitempty"`
}

// WireMessage is a request or a response.
type WireMessage struct {
	Header map[string][]string `json:"header"`
	Body   string              `json:"body"`
	Size   int64               `json:"size"` // of all of the body, which need not be kept whole
}

// WireEvent is one event of a stream.
type WireEvent struct {
	Number int       `json:"number"`
	At     time.Time `json:"at"`
	ID     string    `json:"id,omitempty"`
	Type   string    `json:"type,omitempty"`
	Body   string    `json:"body"`
	Size   int64     `json:"size"`
}

// AgentExchanges returns what went over the wire to an agent last.
func (c *Client) AgentExchanges(ctx context.Context, agentID string) (ExchangeList, error) {
	return fetch[ExchangeList](ctx, c, call{method: http.MethodGet, path: pathOf("/agents/{}/exchanges", agentID)})
}

// TaskExchanges returns what went over the wire for a task last.
func (c *Client) TaskExchanges(ctx context.Context, taskID string) (ExchangeList, error) {
	return fetch[ExchangeList](ctx, c, call{method: http.MethodGet, path: pathOf("/tasks/{}/exchanges", taskID)})
}

// Exchange returns one exchange with all that is kept of it.
func (c *Client) Exchange(ctx context.Context, id string) (ExchangeContent, error) {
	return fetch[ExchangeContent](ctx, c, call{method: http.MethodGet, path: pathOf("/exchanges/{}", id)})
}
