package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/credential"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

var _ credential.Tx = (*Tx)(nil)

const credentialQuery = `SELECT c.id, c.organisation_id, c.agent_id, a.name, a.card_url, c.kind, c.origins, c.header, c.token_url, c.expires_us,
		COALESCE(c.sealed, ''), c.key_id, c.created_by, c.created_by_name, c.created_us, c.used_us,
		COALESCE(c.ended, ''), COALESCE(c.ended_by, ''), COALESCE(c.ended_by_name, ''), c.ended_us
	FROM credential c JOIN agent a ON a.id = c.agent_id `

func scanCredential(s scanner) (credential.Record, error) {
	var r credential.Record
	var origins string
	var expires, created, used, ended micros
	err := s.Scan(&r.ID, &r.OrganisationID, &r.AgentID, &r.AgentName, &r.AgentCardURL, &r.Kind, &origins, &r.Header, &r.TokenURL, &expires,
		&r.Sealed, &r.Key, &r.CreatedBy.ID, &r.CreatedBy.Name, &created, &used,
		&r.Ended, &r.EndedBy.ID, &r.EndedBy.Name, &ended)
	if errors.Is(err, sql.ErrNoRows) {
		return r, fault.New(fault.NotFound, "This agent has no credential.")
	}
	if err != nil {
		return r, fmt.Errorf("read a credential: %w", err)
	}
	if err := json.Unmarshal([]byte(origins), &r.Origins); err != nil {
		return r, fmt.Errorf("read the origins of credential %s: %w", r.ID, err)
	}
	r.Expires, r.CreatedAt, r.UsedAt, r.EndedAt = expires.Time, created.Time, used.Time, ended.Time
	return r, nil
}

// Credential implements credential.Tx.
func (tx *Tx) Credential(agentID string) (credential.Record, error) {
	return scanCredential(tx.row(credentialQuery+"WHERE c.agent_id = ? ORDER BY c.ended IS NULL DESC, c.created_us DESC, c.id DESC LIMIT 1", agentID))
}

// AgentCredentials implements credential.Tx.
func (tx *Tx) AgentCredentials(agentID string) ([]credential.Record, error) {
	return collect(tx, scanCredential, credentialQuery+"WHERE c.agent_id = ? ORDER BY c.ended IS NULL DESC, c.created_us DESC, c.id DESC", agentID)
}

// LatestCredentials implements credential.Tx.
func (tx *Tx) LatestCredentials(organisationID string) ([]credential.Record, error) {
	records, err := collect(tx, scanCredential, credentialQuery+`WHERE c.organisation_id = ? AND c.id =
		(SELECT l.id FROM credential l WHERE l.agent_id = c.agent_id ORDER BY l.ended IS NULL DESC, l.created_us DESC, l.id DESC LIMIT 1)`, organisationID)
	slices.SortFunc(records, func(a, b credential.Record) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.AgentName), strings.ToLower(b.AgentName)), strings.Compare(a.AgentID, b.AgentID))
	})
	return records, err
}

// InsertCredential implements credential.Tx.
func (tx *Tx) InsertCredential(r credential.Record) error {
	origins, err := json.Marshal(r.Origins)
	if err != nil {
		return fmt.Errorf("write the origins of a credential: %w", err)
	}
	if _, err := tx.EndCredential(r.AgentID, credential.Replaced, r.CreatedBy); err != nil {
		return err
	}
	_, err = tx.exec(`INSERT INTO credential (id, organisation_id, agent_id, kind, origins, header, token_url, expires_us, sealed, key_id,
			created_by, created_by_name, created_us) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.ID, r.OrganisationID, r.AgentID, string(r.Kind), string(origins), r.Header, r.TokenURL, us(r.Expires), r.Sealed, r.Key,
		r.CreatedBy.ID, r.CreatedBy.Name, us(r.CreatedAt))
	if err != nil {
		return fmt.Errorf("store a credential: %w", err)
	}
	return nil
}

// EndCredential implements credential.Tx.
func (tx *Tx) EndCredential(agentID string, as credential.Ending, by credential.Person) (bool, error) {
	n, err := tx.exec(`UPDATE credential SET sealed = NULL, ended = ?, ended_by = ?, ended_by_name = ?, ended_us = ? WHERE agent_id = ? AND ended IS NULL`,
		string(as), by.ID, by.Name, us(tx.now), agentID)
	if err != nil {
		return false, fmt.Errorf("end the credential of agent %s: %w", agentID, err)
	}
	return n > 0, nil
}

// ResealCredential implements credential.Tx.
func (tx *Tx) ResealCredential(id, sealed, fresh, key string) (bool, error) {
	n, err := tx.exec("UPDATE credential SET sealed = ?, key_id = ? WHERE id = ? AND sealed = ?", fresh, key, id, sealed)
	if err != nil {
		return false, fmt.Errorf("store credential %s, encrypted anew: %w", id, err)
	}
	return n > 0, nil
}

// TouchCredential implements credential.Tx.
func (tx *Tx) TouchCredential(id string) error {
	_, err := tx.exec("UPDATE credential SET used_us = ? WHERE id = ? AND ended IS NULL", us(tx.now), id)
	if err != nil {
		return fmt.Errorf("store that credential %s was used: %w", id, err)
	}
	return nil
}

// RefreshSoon implements credential.Tx.
func (tx *Tx) RefreshSoon(agentID string) error {
	if err := tx.execOne("UPDATE agent SET refresh_us = ? WHERE id = ?", us(tx.now), agentID); err != nil {
		return fmt.Errorf("make the card of agent %s due: %w", agentID, err)
	}
	return nil
}

// InsertFormer implements credential.Tx.
func (tx *Tx) InsertFormer(f credential.Former) error {
	_, err := tx.exec("INSERT INTO former_secret (credential_id, organisation_id, agent_id, sealed, ended_us) VALUES (?, ?, ?, ?, ?)",
		f.CredentialID, f.OrganisationID, f.AgentID, f.Sealed, us(f.EndedAt))
	if err == nil {
		_, err = tx.exec("DELETE FROM former_secret WHERE ended_us < ?", us(tx.now.Add(-credential.FormerAge)))
	}
	if err == nil {
		_, err = tx.exec(`DELETE FROM former_secret WHERE agent_id = ? AND credential_id NOT IN
			(SELECT credential_id FROM former_secret WHERE agent_id = ? ORDER BY ended_us DESC, credential_id DESC LIMIT ?)`, f.AgentID, f.AgentID, credential.MaxFormer)
	}
	if err != nil {
		return fmt.Errorf("keep the secrets of credential %s, which ends: %w", f.CredentialID, err)
	}
	return nil
}

// Formers implements credential.Tx.
func (tx *Tx) Formers(agentID string) ([]credential.Former, error) {
	return tx.formers("agent_id", agentID)
}

// OrganisationFormers implements credential.Tx.
func (tx *Tx) OrganisationFormers(organisationID string) ([]credential.Former, error) {
	return tx.formers("organisation_id", organisationID)
}

func (tx *Tx) formers(column, value string) ([]credential.Former, error) {
	all, err := collect(tx, func(s scanner) (credential.Former, error) {
		var f credential.Former
		var ended micros
		err := s.Scan(&f.CredentialID, &f.OrganisationID, &f.AgentID, &f.Sealed, &ended)
		f.EndedAt = ended.Time
		return f, err
	}, "SELECT credential_id, organisation_id, agent_id, sealed, ended_us FROM former_secret WHERE "+column+` = ? AND ended_us >= ?
		ORDER BY ended_us DESC, credential_id DESC`, value, us(tx.now.Add(-credential.FormerAge)))
	if err != nil {
		err = fmt.Errorf("read the secrets of credentials that have ended: %w", err)
	}
	return all, err
}

// ResealFormer implements credential.Tx.
func (tx *Tx) ResealFormer(credentialID, sealed, fresh string) (bool, error) {
	n, err := tx.exec("UPDATE former_secret SET sealed = ? WHERE credential_id = ? AND sealed = ?", fresh, credentialID, sealed)
	if err != nil {
		return false, fmt.Errorf("store former secrets of credential %s, encrypted anew: %w", credentialID, err)
	}
	return n > 0, nil
}

// CredentialKeys returns the IDs of the vault keys that credentials in use are
// encrypted with.
func (db *DB) CredentialKeys(ctx context.Context) (ids []string, err error) {
	err = db.View(ctx, func(tx *Tx) (err error) {
		ids, err = collect(tx, scanString, "SELECT DISTINCT key_id FROM credential WHERE ended IS NULL ORDER BY key_id")
		return err
	})
	if err != nil {
		err = fmt.Errorf("look which keys credentials need: %w", err)
	}
	return ids, err
}
