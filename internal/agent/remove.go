package agent

import (
	"context"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
)

// Credentials ends what is shown to agents.
type Credentials interface {
	// Revoke returns fault.NotFound if the agent has no credential.
	Revoke(ctx context.Context, p access.Principal, agentID string) error
}

// errRemoved answers what can no longer be done with a removed agent.
func errRemoved() error {
	return fault.New(fault.Conflict, "This agent was removed, so nothing is sent to it. Add it again to work with it.")
}

// Removed reports whether the agent is no longer in the catalogue.
func (a Agent) Removed() bool { return !a.RemovedAt.IsZero() }

// Remove takes an agent out of the catalogue: its credential is revoked, nothing more
// is sent to it, and it is not asked about its tasks any more. These stay, with all
// that was said. Registering its address brings it back. An agent that was removed
// already stays so. fault.NotFound if there is none of that ID. Only administrators do it.
func (c *Catalogue) Remove(ctx context.Context, p access.Principal, id string) error {
	if err := access.Allow(p, access.NeedAdminister); err != nil {
		return err
	}
	a, err := c.Get(ctx, p, id)
	if err != nil || a.Removed() {
		return err
	}
	if err := c.Credentials.Revoke(ctx, p, id); err != nil && fault.KindOf(err) != fault.NotFound {
		return err
	}
	return c.Update(ctx, func(tx Tx) error {
		if a, err = tx.Agent(p.View(), id); err != nil || a.Removed() {
			return err
		}
		tx.Signal(live.OrganisationTopic(p.OrganisationID))
		if err := tx.RemoveAgent(id, p); err != nil {
			return err
		}
		return tx.Audit(a.entry(p, audit.AgentRemoved))
	})
}
