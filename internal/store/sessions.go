package store

import (
	"fmt"
	"slices"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// InsertSession implements access.SessionTx.
func (tx *Tx) InsertSession(s access.Session, sha256 string) error {
	n, err := tx.exec(`INSERT INTO session (id, sha256, membership_id, client, created_us, expires_us)
		SELECT ?, ?, m.id, ?, ?, ? FROM membership m WHERE m.id = ? AND m.kind = 'person' AND m.disabled_us IS NULL`,
		s.ID, sha256, s.Client, us(s.CreatedAt), us(s.ExpiresAt), s.MembershipID)
	if err != nil {
		return fmt.Errorf("store a session: %w", err)
	}
	if n == 0 {
		return fault.New(fault.Forbidden, "You may not sign in here.")
	}
	return nil
}

// inUse is a condition on a session s.
const inUse = "s.ended_us IS NULL AND s.expires_us > ?"

// SessionIdentities implements access.SessionTx.
func (tx *Tx) SessionIdentities(sha256 []string) (map[string]access.Identity, error) {
	return tx.identities(`SELECT s.sha256, s.id, '', m.organisation_id, m.id, m.name, m.kind, m.role, 'administer', s.expires_us
		FROM session s JOIN membership m ON m.id = s.membership_id
		WHERE `+inUse+` AND m.kind = 'person' AND m.disabled_us IS NULL AND s.sha256 IN `, sha256)
}

// maxIn is how many values one statement is given at most.
const maxIn = 500

// identities runs a query that takes the time and then digests of secrets.
func (tx *Tx) identities(query string, sums []string) (map[string]access.Identity, error) {
	found := make(map[string]access.Identity, len(sums))
	for some := range slices.Chunk(sums, maxIn) {
		args := []any{us(tx.now)}
		for _, sum := range some {
			args = append(args, sum)
		}
		_, err := collect(tx, func(s scanner) (struct{}, error) {
			var sum string
			var who access.Identity
			var expires micros
			p := &who.Principal
			err := s.Scan(&sum, &p.SessionID, &p.TokenID, &p.OrganisationID, &p.PersonID, &p.Name, &p.Kind, &p.Role, &p.Scope, &expires)
			who.ExpiresAt = expires.Time
			found[sum] = who
			return struct{}{}, err
		}, query+places(len(some)), args...)
		if err != nil {
			return nil, fmt.Errorf("look whom secrets are of: %w", err)
		}
	}
	return found, nil
}

// Sessions implements access.SessionTx.
func (tx *Tx) Sessions(membershipID string) ([]access.Session, error) {
	all, err := collect(tx, func(s scanner) (access.Session, error) {
		var found access.Session
		var created, expires micros
		err := s.Scan(&found.ID, &found.MembershipID, &found.Client, &created, &expires)
		found.CreatedAt, found.ExpiresAt = created.Time, expires.Time
		return found, err
	}, "SELECT s.id, s.membership_id, s.client, s.created_us, s.expires_us FROM session s WHERE "+inUse+` AND s.membership_id = ?
		ORDER BY s.created_us DESC, s.id DESC`, us(tx.now), membershipID)
	if err != nil {
		return nil, fmt.Errorf("read the sessions of a member: %w", err)
	}
	return all, nil
}

// EndSession implements access.SessionTx.
func (tx *Tx) EndSession(membershipID, id string) (bool, error) {
	n, err := tx.exec("UPDATE session SET ended_us = ? WHERE id = ? AND membership_id = ? AND ended_us IS NULL", us(tx.now), id, membershipID)
	if err != nil {
		return false, fmt.Errorf("end session %s: %w", id, err)
	}
	return n > 0, nil
}

// EndOtherSessions implements access.SessionTx.
func (tx *Tx) EndOtherSessions(membershipID, except string) (int64, error) {
	n, err := tx.exec("UPDATE session SET ended_us = ? WHERE membership_id = ? AND id <> ? AND ended_us IS NULL AND expires_us > ?",
		us(tx.now), membershipID, except, us(tx.now))
	if err != nil {
		return 0, fmt.Errorf("end the other sessions of a member: %w", err)
	}
	return n, nil
}

// Presences implements access.SessionTx.
func (tx *Tx) Presences(organisationID, memberID string) (map[string]access.Presence, error) {
	found := map[string]access.Presence{}
	_, err := collect(tx, func(s scanner) (struct{}, error) {
		var id string
		var present access.Presence
		var last micros
		err := s.Scan(&id, &present.Sessions, &last)
		present.LastAt = last.Time
		found[id] = present
		return struct{}{}, err
	}, `SELECT m.id, (SELECT COUNT(*) FROM session s WHERE s.membership_id = m.id AND `+inUse+`),
			(SELECT e.at_us FROM audit_entry e WHERE e.organisation_id = m.organisation_id AND e.actor_id = m.id AND e.action = ? ORDER BY e.at_us DESC, e.id DESC LIMIT 1)
		FROM membership m WHERE m.organisation_id = ? AND m.kind = 'person' AND (m.id = ? OR ? = '')`,
		us(tx.now), string(audit.SignedIn), organisationID, memberID, memberID)
	if err != nil {
		return nil, fmt.Errorf("read how people are signed in: %w", err)
	}
	return found, nil
}
