package store

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

const teamQuery = "SELECT t.id, t.organisation_id, t.name, t.created_us FROM team t WHERE t.organisation_id = ?"

func scanTeam(s scanner) (access.Team, error) {
	var t access.Team
	var created micros
	err := s.Scan(&t.ID, &t.OrganisationID, &t.Name, &created)
	t.CreatedAt = created.Time
	if errors.Is(err, sql.ErrNoRows) {
		return t, fault.New(fault.NotFound, "There is no such team.")
	}
	return t, err
}

// Teams implements access.TeamTx.
func (tx *Tx) Teams(organisationID string) ([]access.Team, error) {
	all, err := collect(tx, scanTeam, teamQuery+" ORDER BY t.name, t.id", organisationID)
	if err != nil {
		return nil, fmt.Errorf("read the teams: %w", err)
	}
	for i := range all {
		if all[i].MemberIDs, err = tx.teamMembers(all[i].ID); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Team implements access.TeamTx.
func (tx *Tx) Team(organisationID, id string) (access.Team, error) {
	t, err := scanTeam(tx.row(teamQuery+" AND t.id = ?", organisationID, id))
	if err == nil {
		t.MemberIDs, err = tx.teamMembers(id)
	}
	return t, err
}

func (tx *Tx) teamMembers(id string) ([]string, error) {
	ids, err := collect(tx, scanString, "SELECT m.id FROM team_member tm JOIN membership m ON m.id = tm.membership_id WHERE tm.team_id = ? ORDER BY m.name, m.id", id)
	if err != nil {
		return nil, fmt.Errorf("read the members of team %s: %w", id, err)
	}
	return ids, nil
}

// PutTeam implements access.TeamTx.
func (tx *Tx) PutTeam(t access.Team) error {
	_, err := tx.exec("INSERT INTO team (id, organisation_id, name, created_us) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET name = excluded.name",
		t.ID, t.OrganisationID, t.Name, us(t.CreatedAt))
	if tx.dialect.isUnique(err) {
		return fault.New(fault.Conflict, "Another team has this name.")
	}
	if err == nil {
		_, err = tx.exec("DELETE FROM team_member WHERE team_id = ?", t.ID)
	}
	for _, id := range t.MemberIDs {
		if err == nil {
			_, err = tx.exec("INSERT INTO team_member (team_id, membership_id) VALUES (?, ?)", t.ID, id)
		}
	}
	if err != nil {
		return fmt.Errorf("store team %s: %w", t.ID, err)
	}
	return nil
}

// RemoveTeam implements access.TeamTx.
func (tx *Tx) RemoveTeam(id string) error {
	if err := tx.execOne("DELETE FROM team WHERE id = ?", id); err != nil {
		return fmt.Errorf("remove team %s: %w", id, err)
	}
	return nil
}
