// Package wire keeps what goes over the wire to agents and back, without secrets
// and for a while, so that a person can see what was really said.
package wire

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// What is kept of exchanges. More of one is counted, and not kept.
const (
	MaxBody     = 64 << 10           // bytes of a body, or of an event
	MaxEvents   = 500                // of one exchange
	maxExchange = 1 << 20            // bytes of the events of one exchange
	maxWaiting  = 32 << 20           // bytes that wait to be stored
	Age         = 7 * 24 * time.Hour // after which an exchange is gone
	MaxPerAgent = 1000               // exchanges; older ones go first
	flushEvery  = time.Second
	pruneEvery  = 10 * time.Minute
	maxListed   = 200 // exchanges of a list
)

// Exchange is one call of an agent, or one request for its card.
type Exchange struct {
	ID        string // UUID
	AgentID   string
	TaskID    string // that it was for; "" for none
	CommandID string // likewise
	Operation string // SendMessage, …, or AgentCard
	Binding   string // JSONRPC, HTTP+JSON or GRPC; "" for a card
	Version   string // of A2A

	Method        string
	URL           string
	RequestHeader http.Header
	RequestBody   []byte // as much of it as is kept
	RequestSize   int64  // of all of it

	Status         int    // of HTTP; 0 without an answer, and for gRPC
	GRPCStatus     string // such as "OK"; "" for HTTP
	ResponseHeader http.Header
	ResponseBody   []byte
	ResponseSize   int64
	Events         int // of a stream, all of them
	Error          string
	Outcome        string // the same for the same answer, in lists; "" where nobody asked, or not all is kept

	StartedAt  time.Time
	AnsweredAt time.Time // zero without an answer
	EndedAt    time.Time // zero while it goes on
}

// Event is one event of a stream.
type Event struct {
	Number int // from 1
	At     time.Time
	ID     string
	Type   string
	Body   []byte
	Size   int64
}

// Refused reports whether the agent turned the caller away.
func (e Exchange) Refused() bool {
	return e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden ||
		slices.Contains([]string{"UNAUTHENTICATED", "PERMISSION_DENIED"}, e.GRPCStatus)
}

// Change is what is new of an exchange.
type Change struct {
	Exchange
	New []Event
}

// Page is the latest exchanges of an agent or a task, newest first.
type Page struct {
	Items []Exchange // without bodies and headers
	Total int        // how many are kept
}

// Tx is a transaction of the record as the package needs it.
type Tx interface {
	Now() time.Time
	// Agent returns fault.NotFound if the view has no such agent.
	Agent(v access.View, id string) (agent.Agent, error)
	// ReadsWhole returns fault.NotFound unless everything of the agent may be read in
	// the view, beyond single skills.
	ReadsWhole(v access.View, agentID string) error
	// TaskRecord returns fault.NotFound if the view has no such task.
	TaskRecord(v access.View, id string) (task.Record, error)
	// SeesTask returns fault.NotFound if the view has no such task.
	SeesTask(v access.View, id string) error
	// StoreExchange stores what is new of an exchange, whose agent is there.
	StoreExchange(Change) error
	// AgentExchanges and TaskExchanges return the newest ones and how many there are.
	AgentExchanges(agentID string, limit int) ([]Exchange, int, error)
	TaskExchanges(taskID string, limit int) ([]Exchange, int, error)
	// Exchange returns one with its events; fault.NotFound if there is none.
	Exchange(id string) (Exchange, []Event, error)
	// Answer returns as much of the body of an exchange's answer as is kept.
	Answer(id string) ([]byte, error)
	// LastAnswered returns the newest call of the agent that was answered;
	// fault.NotFound if there is none.
	LastAnswered(agentID string) (Exchange, error)
	// KeepExchanges drops the oldest of an agent's beyond a number.
	KeepExchanges(agentID string, most int) error
	// PruneExchanges drops those that started before a time.
	PruneExchanges(before time.Time) error
}

// Reader shows what is kept. It shows nothing of agents and tasks that the
// principal may not see.
type Reader struct {
	View func(context.Context, func(Tx) error) error
}

// OfAgent returns the latest exchanges of an agent. Whoever sees single skills of it
// alone gets fault.Forbidden: exchanges of the others are among them.
func (r *Reader) OfAgent(ctx context.Context, p access.Principal, agentID string) (Page, error) {
	var page Page
	err := r.View(ctx, func(tx Tx) (err error) {
		if _, err := tx.Agent(p.View(), agentID); err != nil {
			return err
		}
		if err := tx.ReadsWhole(p.View(), agentID); err != nil {
			if fault.KindOf(err) == fault.NotFound {
				return fault.New(fault.Forbidden, "What goes over the wire to this agent is for those who may read all of it: look at that of a task.")
			}
			return err
		}
		if page.Items, page.Total, err = tx.AgentExchanges(agentID, maxListed); err != nil {
			return err
		}
		return setOutcomes(tx, page.Items)
	})
	return page, err
}

// OfTask returns the latest exchanges that were for a task.
func (r *Reader) OfTask(ctx context.Context, p access.Principal, taskID string) (Page, error) {
	var page Page
	err := r.View(ctx, func(tx Tx) (err error) {
		r, err := tx.TaskRecord(p.View(), taskID) // of the one that it became, if it did
		if err != nil {
			return err
		}
		if page.Items, page.Total, err = tx.TaskExchanges(r.Task.ID, maxListed); err != nil {
			return err
		}
		return setOutcomes(tx, page.Items)
	})
	return page, err
}

// Get returns one exchange with those of its events that are kept.
func (r *Reader) Get(ctx context.Context, p access.Principal, id string) (Exchange, []Event, error) {
	var e Exchange
	var events []Event
	err := r.View(ctx, func(tx Tx) (err error) {
		if e, events, err = tx.Exchange(id); err != nil {
			return err
		}
		return see(tx, p, e)
	})
	if err != nil {
		return Exchange{}, nil, err
	}
	return e, events, nil
}

// see returns the error of an exchange that there is none of unless the principal may
// read all of its agent, or the task that it was for.
func see(tx Tx, p access.Principal, e Exchange) error {
	err := tx.ReadsWhole(p.View(), e.AgentID)
	if fault.KindOf(err) == fault.NotFound && e.TaskID != "" {
		err = tx.SeesTask(p.View(), e.TaskID)
	}
	if fault.KindOf(err) == fault.NotFound {
		return ErrNoExchange()
	}
	return err
}

// ErrNoExchange is the error of an exchange that there is none of.
func ErrNoExchange() error {
	return fault.New(fault.NotFound, "There is no such exchange; exchanges are kept for a week.")
}

// Refusal returns the agent's latest answered call if the agent turned the caller
// away with it, and ok.
func (r *Reader) Refusal(ctx context.Context, p access.Principal, agentID string) (last Exchange, ok bool, err error) {
	err = r.View(ctx, func(tx Tx) (err error) {
		if err := tx.ReadsWhole(p.View(), agentID); err != nil {
			return err
		}
		last, err = tx.LastAnswered(agentID)
		return err
	})
	return last, err == nil && last.Refused(), ignoreNotFound(err)
}
