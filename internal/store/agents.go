package store

import (
	"cmp"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/remote"
)

const agentQuery = `SELECT a.id, a.organisation_id, a.card_url, a.resolved_card_url, a.health_status, a.health_error, a.health_attempts,
		a.checked_us, a.created_us, a.updated_us, a.removed_us, a.removed_by_name, a.interface, k.raw, k.fetched_us,
		CASE WHEN w.push_refused = a.card_id THEN w.push_problem ELSE '' END,
		w.swept_us, COALESCE(w.sweep_refused, ''), COALESCE(w.sweep_problem, ''), ` + listWay + `
	FROM agent a LEFT JOIN agent_card k ON k.id = a.card_id LEFT JOIN agent_watch w ON w.agent_id = a.id `

func errNoAgent() error { return fault.New(fault.NotFound, "There is no such agent.") }

func scanAgent(s scanner) (agent.Agent, error) {
	var a agent.Agent
	var checked, created, updated, removed, fetched, swept micros
	var attempts, pinned, refused, problem, way string
	var raw []byte
	err := s.Scan(&a.ID, &a.OrganisationID, &a.CardURL, &a.ResolvedCardURL, &a.Health.Status, &a.Health.Error, &attempts,
		&checked, &created, &updated, &removed, &a.RemovedBy, &pinned, &raw, &fetched, &a.PushProblem,
		&swept, &refused, &problem, &way)
	if errors.Is(err, sql.ErrNoRows) {
		return a, errNoAgent()
	}
	if err != nil {
		return a, fmt.Errorf("read an agent: %w", err)
	}
	if err := json.Unmarshal([]byte(attempts), &a.Health.Attempts); err != nil {
		return a, fmt.Errorf("read what the last discovery tried: %w", err)
	}
	if a.Health.Status == agent.HealthReachable && a.Health.Error != "" {
		a.Health.Status = agent.HealthMismatch
	}
	a.Health.CheckedAt, a.CardFetchedAt = checked.Time, fetched.Time
	a.CreatedAt, a.UpdatedAt, a.RemovedAt = created.Time, updated.Time, removed.Time
	if pinned != "" {
		a.Pinned = new(remote.Interface)
		if err := json.Unmarshal([]byte(pinned), a.Pinned); err != nil {
			return a, fmt.Errorf("read the interface of agent %s: %w", a.ID, err)
		}
	}
	a.Listing = listingOf(swept.Time, refused, way, problem)
	a.CardRaw = raw
	a.Load()
	return a, nil
}

// listingOf says how an agent lists its tasks, which is called in a way now and refused
// to list in another, or the same.
func listingOf(swept time.Time, refused, way, problem string) agent.Listing {
	l := agent.Listing{Status: agent.ListingUnknown, LastAt: swept, Problem: problem}
	switch {
	case refused != "" && refused != way:
		l.Problem = "" // of the former way
	case refused != "":
		l.Status = agent.ListingRefused
	case problem != "":
		l.Status = agent.ListingFails
	case !swept.IsZero():
		l.Status = agent.ListingWorks
	}
	return l
}

// ListAgents implements agent.Tx.
func (tx *Tx) ListAgents(v access.View) ([]agent.Agent, error) {
	w := seenAgents(v)
	agents, err := collect(tx, scanAgent, agentQuery+"WHERE a.removed_us IS NULL AND "+w.sql(), w.args...)
	slices.SortFunc(agents, func(a, b agent.Agent) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), strings.Compare(a.ID, b.ID))
	})
	return agents, err
}

// Agent implements agent.Tx.
func (tx *Tx) Agent(v access.View, id string) (agent.Agent, error) {
	w := seenAgents(v)
	w.and("a.id = ?", id)
	return scanAgent(tx.row(agentQuery+"WHERE "+w.sql(), w.args...))
}

// AnyAgent implements agent.Tx.
func (tx *Tx) AnyAgent(id string) (agent.Agent, error) {
	return scanAgent(tx.row(agentQuery+"WHERE a.id = ?", id))
}

// AgentByCardURL implements agent.Tx.
func (tx *Tx) AgentByCardURL(organisationID, cardURL string) (agent.Agent, error) {
	return scanAgent(tx.row(agentQuery+"WHERE a.organisation_id = ? AND a.card_url = ?", organisationID, cardURL))
}

// InsertAgent implements agent.Tx.
func (tx *Tx) InsertAgent(a agent.Agent) error {
	_, err := tx.exec(`INSERT INTO agent (id, organisation_id, card_url, name, health_status, refresh_us, created_us, updated_us) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		a.ID, a.OrganisationID, a.CardURL, a.Name, string(a.Health.Status), us(tx.now), us(a.CreatedAt), us(a.UpdatedAt))
	if err != nil {
		return fmt.Errorf("store an agent: %w", err)
	}
	return nil
}

// RemoveAgent implements agent.Tx.
func (tx *Tx) RemoveAgent(id string, by access.Principal) error {
	err := tx.execOne("UPDATE agent SET removed_us = ?, removed_by = ?, removed_by_name = ?, updated_us = ? WHERE id = ?",
		us(tx.now), by.PersonID, by.Name, us(tx.now), id)
	if err == nil {
		_, err = tx.exec("UPDATE task SET check_us = NULL, needs_you = FALSE, version = version + 1 WHERE agent_id = ?", id)
	}
	if err != nil {
		return fmt.Errorf("remove agent %s: %w", id, err)
	}
	return nil
}

// ReviveAgent implements agent.Tx.
func (tx *Tx) ReviveAgent(id string) error {
	err := tx.execOne("UPDATE agent SET removed_us = NULL, removed_by = '', removed_by_name = '', updated_us = ? WHERE id = ?", us(tx.now), id)
	if err == nil {
		_, err = tx.exec("UPDATE task SET needs_you = (answered_by = '' AND state IN ('TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED') AND "+notForgotten+"), version = version + 1 WHERE agent_id = ? AND merged_into IS NULL", id)
	}
	if err == nil {
		_, err = tx.exec("UPDATE task SET check_us = ?, check_interval = 0 WHERE agent_id = ? AND remote_task_id IS NOT NULL AND merged_into IS NULL AND state NOT IN ("+terminalStates+")",
			us(tx.now), id)
	}
	if err != nil {
		return fmt.Errorf("bring agent %s back: %w", id, err)
	}
	return nil
}

// StoreDiscovery implements agent.Tx.
func (tx *Tx) StoreDiscovery(agentID string, d agent.Discovery) error {
	status := d.Health.Status
	if status == agent.HealthMismatch { // to the table a reachable agent that has an error
		status = agent.HealthReachable
	}
	attempts, err := json.Marshal(d.Health.Attempts)
	if err != nil {
		return fmt.Errorf("write what a discovery tried: %w", err)
	}
	if err := tx.execOne(`UPDATE agent SET health_status = ?, health_error = ?, health_attempts = ?, checked_us = ?, refresh_us = ?, updated_us = ? WHERE id = ?`,
		string(status), d.Health.Error, string(attempts), us(d.Health.CheckedAt), us(d.NextTurn), us(tx.now), agentID); err != nil {
		return fmt.Errorf("store the health of agent %s: %w", agentID, err)
	}
	if d.Raw == nil {
		return nil
	}
	sum := sha256.Sum256(d.Raw)
	return tx.storeCard(agentID, d, hex.EncodeToString(sum[:]))
}

func (tx *Tx) storeCard(agentID string, d agent.Discovery, digest string) error {
	var latest string
	err := tx.row("SELECT k.sha256 FROM agent a JOIN agent_card k ON k.id = a.card_id WHERE a.id = ?", agentID).Scan(&latest)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("read the card of agent %s: %w", agentID, err)
	}
	if latest == digest {
		_, err := tx.exec("UPDATE agent_card SET fetched_us = ?, url = ? WHERE id = (SELECT card_id FROM agent WHERE id = ?)", us(tx.now), d.URL, agentID)
		if err == nil {
			_, err = tx.exec("UPDATE agent SET resolved_card_url = ? WHERE id = ?", d.URL, agentID)
		}
		return err
	}
	if _, err := tx.exec("INSERT INTO agent_card (id, agent_id, url, raw, sha256, fetched_us) VALUES (?, ?, ?, ?, ?, ?)",
		d.CardID, agentID, d.URL, d.Raw, digest, us(tx.now)); err != nil {
		return fmt.Errorf("store a card: %w", err)
	}
	if err := tx.execOne("UPDATE agent SET card_id = ?, resolved_card_url = ?, name = ? WHERE id = ?", d.CardID, d.URL, d.Name, agentID); err != nil {
		return fmt.Errorf("store a card: %w", err)
	}
	return tx.touchWaiting(agentID)
}

// touchWaiting marks the agent's waiting tasks and their questions as changed.
func (tx *Tx) touchWaiting(agentID string) error {
	ids, err := collect(tx, scanString, "UPDATE task SET version = version + 1 WHERE agent_id = ? AND question_id <> '' RETURNING id", agentID)
	if err != nil {
		return fmt.Errorf("mark the waiting tasks of agent %s: %w", agentID, err)
	}
	for _, id := range ids {
		if _, err := tx.exec(`UPDATE message SET version = (SELECT version FROM task WHERE id = task_id)
			WHERE task_id = ? AND message_id = (SELECT question_id FROM task WHERE id = task_id)`, id); err != nil {
			return fmt.Errorf("mark the question of task %s: %w", id, err)
		}
		tx.Signal(live.TaskTopic(id))
	}
	return nil
}

// ClaimRefresh implements agent.Tx.
func (tx *Tx) ClaimRefresh(limit int, next time.Time) ([]string, error) {
	ids, err := collect(tx, scanString, `UPDATE agent SET refresh_us = ?
		WHERE id IN (SELECT id FROM agent WHERE refresh_us <= ? AND removed_us IS NULL ORDER BY refresh_us LIMIT ?`+tx.skipLocked()+`) RETURNING id`, us(next), us(tx.now), limit)
	if err != nil {
		return nil, fmt.Errorf("find cards to refresh: %w", err)
	}
	return ids, nil
}
