// Package command is the one way out: every message and every cancel that a
// person or program sends to an agent is a durable command, accepted in one
// transaction and sent at most once.
package command

import (
	"encoding/json"
	"time"

	"github.com/agent-taskbay/taskbay/internal/a2a"
)

// Status is where a command stands.
//
//	pending ─▶ dispatching ─▶ succeeded | failed | uncertain ─▶ succeeded
//	   ▲            │                                  │           once the agent shows it
//	   ├────────────┘  only if nothing was sent        │
//	   └───────────────────────────────────────────────┘  only if a person says so
type Status string

// The statuses. A command that may have reached the agent without a known
// outcome is uncertain, and never sent again by itself.
const (
	Pending     Status = "pending"
	Dispatching Status = "dispatching"
	Succeeded   Status = "succeeded"
	Failed      Status = "failed"
	Uncertain   Status = "uncertain"
)

// Settled reports whether the status never changes again by itself.
func (s Status) Settled() bool { return s == Succeeded || s == Failed || s == Uncertain }

// Verdict is what an attempt leaves a command in.
type Verdict struct {
	Status  Status
	Problem string    // public; "" if it succeeded
	Refused bool      // it failed because the agent, which has it, refused it
	RunAt   time.Time // when to try again, for one that is pending
}

// Action is what a command does.
type Action string

// The actions.
const (
	Send   Action = "send"
	Cancel Action = "cancel"
)

// Lane is the commands of one kind to one agent.
type Lane struct {
	AgentID string
	Action  Action
}

// Body is what a caller asks for, in the shape of the HTTP API.
type Body struct {
	Action    Action // "" is Send
	Text      string // becomes the first text/plain part
	Parts     []a2a.Part
	TaskID    string // local UUID of the task that is replied to or canceled; "" starts a new one
	ContextID string // for a new task in a context that exists
	Tenant    string
	MessageID string // the A2A messageId; "" makes one
	Answers   string // message ID of the question that this answers
	SkillID   string `json:",omitempty"` // the skill that a new task is held to; "" for none
	StartForm bool   // the one data part is the filled-in start form of the agent's card
	Config    Config
}

// Config tunes a send (A2A 1.0, SendMessageConfiguration and message members).
type Config struct {
	HistoryLength       *int
	AcceptedOutputModes []string
	ReferenceTaskIDs    []string
	Extensions          []string
	Metadata            json.RawMessage
}

// Command is one send or cancel.
type Command struct {
	ID        string // UUIDv7
	AgentID   string
	TaskID    string // local; of the task it belongs to or starts
	Action    Action
	MessageID string
	Status    Status
	Error     string // public; "" unless failed or uncertain
	Attempts  int
	Author    string
	CreatedAt time.Time
	UpdatedAt time.Time
}
