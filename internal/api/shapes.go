package api

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/command"
)

// Agent is one agent of the catalogue.
type Agent struct {
	ID              string          `json:"id" doc:"A UUID; empty in a preview."`
	CardURL         string          `json:"cardUrl" doc:"As registered."`
	ResolvedCardURL string          `json:"resolvedCardUrl" doc:"Where the card was found; empty if it never was."`
	Name            string          `json:"name" doc:"The card's, or the host of cardUrl."`
	Description     string          `json:"description"`
	Card            json.RawMessage `json:"card" doc:"The latest stored Agent Card as the agent sent it; null if there is none."`
	CardFetchedAt   *time.Time      `json:"cardFetchedAt" doc:"null if there is no card."`
	Trust           string          `json:"trust" enum:"unsigned,verified,untrusted,invalid" doc:"What is known about the card's signatures."`
	Health          AgentHealth     `json:"health"`
	Listing         AgentListing    `json:"listing"`
	Source          string          `json:"source" enum:"managed,config"`
	Extensions      []Extension     `json:"extensions" nullable:"false" doc:"The protocol extensions that the card lists."`
	RemovedAt       *time.Time      `json:"removedAt" doc:"When it was removed from the catalogue; null if it is there."`
}

// AgentHealth says whether an agent's card could be fetched the last time.
type AgentHealth struct {
	Status    string     `json:"status" enum:"reachable,unreachable,mismatch,unknown" doc:"mismatch: a card was fetched that is trusted less than the one before, which stays."`
	CheckedAt *time.Time `json:"checkedAt" doc:"null if never."`
	Error     string     `json:"error,omitempty" doc:"Why it is unreachable, or its new card was not accepted, in words."`
}

// AgentListing says whether an agent lists its tasks (ListTasks).
type AgentListing struct {
	Status  string     `json:"status" enum:"unknown,listed,failing,refused" doc:"unknown: it was not asked yet. refused: it is asked again when its card, interface or credential is another one."`
	LastAt  *time.Time `json:"lastAt" doc:"When it last did; null if never."`
	Problem string     `json:"problem,omitempty" doc:"Why it does not, in words."`
}

// Extension is a protocol extension that an agent advertises.
type Extension struct {
	URI        string `json:"uri"`
	Required   bool   `json:"required"`
	Understood bool   `json:"understood" doc:"Whether Taskbay gives meaning to it."`
}

// AgentList is a page of agents.
type AgentList struct {
	Items []Agent `json:"items" nullable:"false"`
	Next  *string `json:"next" doc:"The cursor of the next page; null on the last."`
}

// Command is one send or cancel.
type Command struct {
	ID        string         `json:"id" format:"uuid"`
	AgentID   string         `json:"agentId" format:"uuid"`
	TaskID    string         `json:"taskId,omitempty" format:"uuid" doc:"The task that it belongs to or starts."`
	Action    string         `json:"action" enum:"send,cancel"`
	MessageID string         `json:"messageId" doc:"The A2A messageId that is sent."`
	Status    string         `json:"status" enum:"pending,dispatching,succeeded,failed,uncertain" doc:"uncertain: it may have reached the agent, and is never sent again by itself."`
	Result    *CommandResult `json:"result,omitempty" doc:"What came of it, once it succeeded."`
	Error     string         `json:"error,omitempty" doc:"Why it failed or is uncertain, in words."`
	CreatedAt time.Time      `json:"createdAt"`
	UpdatedAt time.Time      `json:"updatedAt"`
}

// CommandResult is what came of a command that succeeded.
type CommandResult struct {
	TaskID string `json:"taskId,omitempty" format:"uuid" doc:"The task where the agent's answer is."`
}

func agentShape(a agent.Agent) Agent {
	out := Agent{
		ID:              a.ID,
		CardURL:         a.CardURL,
		ResolvedCardURL: a.ResolvedCardURL,
		Name:            a.Name,
		Description:     a.Description,
		Card:            a.CardRaw,
		CardFetchedAt:   moment(a.CardFetchedAt),
		Trust:           string(a.Trust),
		Health:          AgentHealth{Status: string(a.Health.Status), CheckedAt: moment(a.Health.CheckedAt), Error: a.Health.Error},
		Listing:         AgentListing{Status: string(cmp.Or(a.Listing.Status, agent.ListingUnknown)), LastAt: moment(a.Listing.LastAt), Problem: a.Listing.Problem},
		Source:          "managed",
		Extensions:      []Extension{},
		RemovedAt:       moment(a.RemovedAt),
	}
	for _, e := range a.Card.Extensions {
		out.Extensions = append(out.Extensions, Extension{URI: e.URI, Required: e.Required, Understood: agent.Understood(e.URI)})
	}
	return out
}

func commandShape(c command.Command) Command {
	out := Command{
		ID:        c.ID,
		AgentID:   c.AgentID,
		TaskID:    c.TaskID,
		Action:    string(c.Action),
		MessageID: c.MessageID,
		Status:    string(c.Status),
		Error:     c.Error,
		CreatedAt: c.CreatedAt.UTC(),
		UpdatedAt: c.UpdatedAt.UTC(),
	}
	if c.Status == command.Succeeded {
		out.Result = &CommandResult{TaskID: c.TaskID}
	}
	return out
}

// moment returns t in UTC, or nil if it is zero.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
