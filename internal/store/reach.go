package store

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// granted is the condition that a grant g is enabled and one of a member's: their own,
// one of their teams', or everybody's in the organisation. See grantedTo.
const granted = `g.enabled AND g.organisation_id = ? AND (g.membership_id = ? OR g.membership_id IS NULL
	AND (g.team_id IS NULL OR g.team_id IN (SELECT m.team_id FROM team_member m WHERE m.membership_id = ?)))`

// grantedTo returns the arguments of granted.
func grantedTo(v access.View) []any { return []any{v.OrganisationID, v.MembershipID, v.MembershipID} }

// What somebody sees without seeing everything: agents a, whole ones, and tasks t.
const (
	grantOnAgent = "EXISTS (SELECT 1 FROM access_grant g WHERE g.agent_id = a.id AND " + granted + ")"
	grantOnWhole = "EXISTS (SELECT 1 FROM access_grant g WHERE g.agent_id = a.id AND g.skill_id = '' AND " + granted + ")"
	grantOnTask  = "EXISTS (SELECT 1 FROM access_grant g WHERE g.agent_id = t.agent_id AND g.skill_id IN ('', t.skill_id) AND " + granted + ")"
)

// seen is the condition that something in an organisation is in a view: column names
// the organisation, and grant is one of those above. Of an administrator it asks no
// more than before there were grants, so that the indexes serve.
func seen(v access.View, column, grant string) (w where) {
	w.and(column+" = ?", v.OrganisationID)
	if !v.All {
		w.and(grant, grantedTo(v)...)
	}
	return w
}

func seenAgents(v access.View) where { return seen(v, "a.organisation_id", grantOnAgent) }
func seenTasks(v access.View) where  { return seen(v, "t.organisation_id", grantOnTask) }

// SeesTask implements command.Tx, observe.Tx and wire.Tx.
func (tx *Tx) SeesTask(v access.View, taskID string) error {
	w := seenTasks(v)
	w.and("t.id = ?", taskID)
	return tx.isThere("SELECT 1 FROM task t WHERE "+w.sql(), w.args, errNoTask())
}

// SeesRemoteTask implements command.Tx.
func (tx *Tx) SeesRemoteTask(v access.View, agentID, tenant, remoteTaskID string) error {
	w := seenTasks(v)
	w.and("t.agent_id = ? AND t.tenant = ? AND t.remote_task_id = ?", agentID, tenant, remoteTaskID)
	return tx.isThere("SELECT 1 FROM task t WHERE "+w.sql(), w.args, errNoTask())
}

// ReadsWhole implements wire.Tx.
func (tx *Tx) ReadsWhole(v access.View, agentID string) error {
	w := seen(v, "a.organisation_id", grantOnWhole)
	w.and("a.id = ?", agentID)
	return tx.isThere("SELECT 1 FROM agent a WHERE "+w.sql(), w.args, errNoAgent())
}

// isThere returns an error if a query finds nothing.
func (tx *Tx) isThere(query string, args []any, missing error) error {
	var one int
	err := tx.row(query+" LIMIT 1", args...).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return missing
	}
	return err
}

// Reach implements access.ReachTx.
func (tx *Tx) Reach(p access.Principal, agentID string) (access.Reach, error) {
	p, err := tx.presently(p)
	if err != nil {
		return access.Reach{}, err
	}
	v := p.View()
	if v.All {
		err := tx.isThere("SELECT 1 FROM agent a WHERE a.organisation_id = ? AND a.id = ?", []any{v.OrganisationID, agentID}, errNoAgent())
		return access.NewReach(p, nil), err
	}
	given, err := collect(tx, func(s scanner) (g access.Allowance, err error) {
		err = s.Scan(&g.SkillID, &g.Permission)
		return g, err
	}, "SELECT g.skill_id, g.permission FROM access_grant g WHERE g.agent_id = ? AND "+granted, append([]any{agentID}, grantedTo(v)...)...)
	if err != nil {
		return access.Reach{}, fmt.Errorf("read what is granted on agent %s: %w", agentID, err)
	}
	if len(given) == 0 {
		return access.Reach{}, errNoAgent()
	}
	return access.NewReach(p, given), nil
}

// presently returns a member as the record has them now: what somebody may do changes
// while a request is under way.
func (tx *Tx) presently(p access.Principal) (access.Principal, error) {
	if p.Kind != access.KindPerson && p.Kind != access.KindService {
		return p, nil
	}
	var disabled micros
	err := tx.row("SELECT role, disabled_us FROM membership WHERE id = ? AND organisation_id = ?", p.PersonID, p.OrganisationID).Scan(&p.Role, &disabled)
	if errors.Is(err, sql.ErrNoRows) || err == nil && !disabled.IsZero() {
		return p, fault.New(fault.SignedOut, "You are not signed in.")
	}
	if err != nil {
		return p, fmt.Errorf("read a membership: %w", err)
	}
	return p, nil
}
