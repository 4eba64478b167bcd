package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Command is one send or cancel.
type Command struct {
	ID        string         `json:"id"`
	AgentID   string         `json:"agentId"`
	TaskID    string         `json:"taskId,omitempty"` // the task that it belongs to or starts
	Action    string         `json:"action"`           // send or cancel
	MessageID string         `json:"messageId"`
	Status    string         `json:"status"` // pending, dispatching, succeeded, failed or uncertain
	Result    *CommandResult `json:"result,omitempty"`
	Error     string         `json:"error,omitempty"` // why it failed or is uncertain, in words
	CreatedAt time.Time      `json:"createdAt"`
	UpdatedAt time.Time      `json:"updatedAt"`
}

// CommandResult is what came of a command that succeeded.
type CommandResult struct {
	TaskID string `json:"taskId,omitempty"`
}

// Settled reports whether the command's status stays as it is. One that is uncertain
// may have reached the agent; only a person has it sent again.
func (c Command) Settled() bool {
	return c.Status == "succeeded" || c.Status == "failed" || c.Status == "uncertain"
}

// CommandBody is what to send to an agent.
type CommandBody struct {
	// IdempotencyKey makes this one command however often it is submitted. Make one
	// yourself, and keep it, to submit the same again after your program has ended;
	// "" has one made for each call of Submit.
	IdempotencyKey string `json:"-"`

	Action    string      `json:"action,omitempty"` // send, which is the default, or cancel
	Text      string      `json:"text,omitempty"`   // becomes the first part
	Parts     []SendPart  `json:"parts,omitempty"`
	TaskID    string      `json:"taskId,omitempty"` // the task to reply to or to cancel; "" starts one
	ContextID string      `json:"contextId,omitempty"`
	SkillID   string      `json:"skillId,omitempty"` // that a new task is held to; "" for none
	Tenant    string      `json:"tenant,omitempty"`
	MessageID string      `json:"messageId,omitempty"` // made if it is ""
	Answers   string      `json:"answers,omitempty"`   // MessageID of the question that this answers
	Config    *SendConfig `json:"config,omitempty"`
}

// SendPart is one part of a message: it has exactly one of Text, Data and URL.
type SendPart struct {
	Text      *string         `json:"text,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"` // any JSON, sent as it is
	URL       *string         `json:"url,omitempty"`
	MediaType string          `json:"mediaType,omitempty"`
	Filename  string          `json:"filename,omitempty"`
	Metadata  json.RawMessage `json:"metadata,omitempty"` // an object
}

// SendConfig tunes a send as A2A has it.
type SendConfig struct {
	HistoryLength       *int            `json:"historyLength,omitempty"`
	AcceptedOutputModes []string        `json:"acceptedOutputModes,omitempty"`
	ReferenceTaskIDs    []string        `json:"referenceTaskIds,omitempty"` // the agent's own
	Extensions          []string        `json:"extensions,omitempty"`
	Metadata            json.RawMessage `json:"metadata,omitempty"` // an object
}

// Answer returns what answers a task's question with data: of a form, an object by
// field key. The task must have a question.
func Answer(t Task, data json.RawMessage) CommandBody {
	return CommandBody{
		TaskID: t.ID, Answers: t.Question.MessageID,
		Parts: []SendPart{{MediaType: "application/json", Data: data}},
	}
}

// Submit sends to an agent, or cancels a task. A command that it returns is accepted
// for good: it is sent at most once, and never lost. It is made again under its
// idempotency key if the connection breaks, which sends nothing twice.
func (c *Client) Submit(ctx context.Context, agentID string, body CommandBody) (Command, error) {
	key := body.IdempotencyKey
	if key == "" {
		key = rand.Text()
	}
	return fetch[Command](ctx, c, call{
		method: http.MethodPost, path: pathOf("/agents/{}/commands", agentID),
		header: http.Header{"Idempotency-Key": {key}}, body: body,
	})
}

// Command returns a command. With a time to wait for, at most a minute, it returns
// once the command is settled or the time is up.
func (c *Client) Command(ctx context.Context, id string, wait time.Duration) (Command, error) {
	query := url.Values{}
	if seconds := int(wait.Seconds()); seconds > 0 {
		query.Set("wait", strconv.Itoa(seconds))
	}
	return fetch[Command](ctx, c, call{method: http.MethodGet, path: pathOf("/commands/{}", id), query: query})
}

// WaitCommand returns a command once it is settled, however long that takes.
func (c *Client) WaitCommand(ctx context.Context, id string) (Command, error) {
	for {
		command, err := c.Command(ctx, id, time.Minute)
		if err != nil || command.Settled() {
			return command, err
		}
	}
}

// Resend sends an uncertain command again, under the same messageId: the agent may
// get it twice. It is a person's own decision, and is never repeated by itself.
func (c *Client) Resend(ctx context.Context, id string) (Command, error) {
	return fetch[Command](ctx, c, call{method: http.MethodPost, path: pathOf("/commands/{}/resend", id), once: true})
}
