package store

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

var _ access.GrantTx = (*Tx)(nil)

const (
	grantColumns = `g.id, g.organisation_id, COALESCE(g.membership_id, ''), COALESCE(g.team_id, ''), COALESCE(gm.name, gt.name, ''),
		g.agent_id, a.name, g.skill_id, g.permission, g.enabled, g.created_us`
	grantSource = `access_grant g JOIN agent a ON a.id = g.agent_id
		LEFT JOIN membership gm ON gm.id = g.membership_id LEFT JOIN team gt ON gt.id = g.team_id`
	grantOrder = " ORDER BY a.name, g.agent_id, g.skill_id, COALESCE(gm.name, gt.name, ''), g.id"
)

func scanGrant(s scanner) (access.Grant, error) {
	var g access.Grant
	dest, complete := grantInto(&g)
	err := s.Scan(dest...)
	complete()
	if errors.Is(err, sql.ErrNoRows) {
		return g, fault.New(fault.NotFound, "There is no such grant.")
	}
	return g, err
}

// grantInto is memberInto for the grantColumns.
func grantInto(g *access.Grant) (dest []any, complete func()) {
	var created micros
	dest = []any{&g.ID, &g.OrganisationID, &g.Subject.MemberID, &g.Subject.TeamID, &g.Subject.Name,
		&g.AgentID, &g.AgentName, &g.SkillID, &g.Permission, &g.Enabled, &created}
	return dest, func() { g.CreatedAt = created.Time }
}

// Grantable implements access.GrantTx.
func (tx *Tx) Grantable(organisationID, agentID string) (access.Grantable, error) {
	a, err := tx.Agent(access.Everything(organisationID), agentID)
	if err != nil {
		return access.Grantable{}, err
	}
	found := access.Grantable{ID: a.ID, Name: a.Name, Removed: a.Removed()}
	for _, s := range a.RoutedSkills() {
		found.Skills = append(found.Skills, s.ID)
	}
	return found, nil
}

// Grants implements access.GrantTx.
func (tx *Tx) Grants(organisationID string) ([]access.Grant, error) {
	all, err := collect(tx, scanGrant, "SELECT "+grantColumns+" FROM "+grantSource+" WHERE g.organisation_id = ?"+grantOrder, organisationID)
	if err != nil {
		return nil, fmt.Errorf("read the grants: %w", err)
	}
	return all, nil
}

// Grant implements access.GrantTx.
func (tx *Tx) Grant(organisationID, id string) (access.Grant, error) {
	return scanGrant(tx.row("SELECT "+grantColumns+" FROM "+grantSource+" WHERE g.organisation_id = ? AND g.id = ?", organisationID, id))
}

// PutGrant implements access.GrantTx.
func (tx *Tx) PutGrant(g access.Grant) error {
	_, err := tx.exec(`INSERT INTO access_grant (id, organisation_id, membership_id, team_id, agent_id, skill_id, permission, enabled, created_us)
		VALUES (?, ?, NULLIF(?, ''), NULLIF(?, ''), ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET permission = excluded.permission, enabled = excluded.enabled`,
		g.ID, g.OrganisationID, g.Subject.MemberID, g.Subject.TeamID, g.AgentID, g.SkillID, string(g.Permission), g.Enabled, us(g.CreatedAt))
	if tx.dialect.isUnique(err) {
		return fault.New(fault.Conflict, "This is granted already, or was and is switched off: change that grant.")
	}
	if err != nil {
		return fmt.Errorf("store a grant: %w", err)
	}
	return nil
}

// RemoveGrant implements access.GrantTx.
func (tx *Tx) RemoveGrant(id string) error {
	if err := tx.execOne("DELETE FROM access_grant WHERE id = ?", id); err != nil {
		return fmt.Errorf("remove grant %s: %w", id, err)
	}
	return nil
}

// GrantedOn implements access.GrantTx.
func (tx *Tx) GrantedOn(organisationID, agentID string) ([]access.Sight, error) {
	return tx.sights("g.agent_id = ?", " ORDER BY m.name, m.id, g.skill_id, g.id", organisationID, agentID)
}

// GrantedTo implements access.GrantTx.
func (tx *Tx) GrantedTo(organisationID, memberID string) ([]access.Sight, error) {
	return tx.sights("m.id = ?", grantOrder, organisationID, memberID)
}

// sights reads each enabled grant with each enabled member that it reaches; see granted
// for the condition the other way about.
func (tx *Tx) sights(condition, order, organisationID, id string) ([]access.Sight, error) {
	all, err := collect(tx, scanSight, "SELECT "+memberColumns+", "+grantColumns+" FROM "+grantSource+` JOIN membership m ON m.organisation_id = g.organisation_id
		WHERE g.organisation_id = ? AND `+condition+` AND g.enabled AND m.disabled_us IS NULL AND m.role <> 'admin'
			AND (g.membership_id = m.id OR g.membership_id IS NULL AND (g.team_id IS NULL
				OR EXISTS (SELECT 1 FROM team_member tm WHERE tm.team_id = g.team_id AND tm.membership_id = m.id)))`+order, organisationID, id)
	if err != nil {
		return nil, fmt.Errorf("read who sees what: %w", err)
	}
	return all, nil
}

func scanSight(s scanner) (access.Sight, error) {
	found := access.Sight{Grant: &access.Grant{}}
	member, memberDone := memberInto(&found.Member)
	grant, grantDone := grantInto(found.Grant)
	err := s.Scan(append(member, grant...)...)
	memberDone()
	grantDone()
	g := found.Grant
	found.AgentID, found.AgentName, found.SkillID, found.Permission = g.AgentID, g.AgentName, g.SkillID, g.Permission
	return found, err
}
