package app

import (
	"context"
	"log/slog"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/agui"
	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// newAGUI makes what serves AG-UI front ends: beside the command service, the reader
// of tasks and the hub it has only threads of its own.
func newAGUI(db *store.DB, agents *agent.Catalogue, tasks *task.Reader, commands *command.Service, hub *live.Hub, origin string, log *slog.Logger) *agui.Service {
	return &agui.Service{
		Update: store.For[agui.Tx](db.Update), View: store.For[agui.Tx](db.View),
		Agents: agents, Tasks: tasks, Commands: aguiCommands{commands}, Live: hub, NewID: newID, Origin: origin, Log: log,
	}
}

// aguiCommands is the command service with the transactions that agui declares.
type aguiCommands struct{ service *command.Service }

// Submit implements agui.Commands.
func (c aguiCommands) Submit(ctx context.Context, p access.Principal, agentID, key string, body command.Body, also func(agui.Tx, command.Command) error) (command.Command, error) {
	return c.service.SubmitWith(ctx, p, agentID, key, body, func(tx command.Tx, accepted command.Command) error {
		return also(tx.(agui.Tx), accepted) // a transaction of the store is one to every noun
	})
}
