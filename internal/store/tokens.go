package store

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// InsertToken implements access.TokenTx.
func (tx *Tx) InsertToken(t access.Token, sha256 string) error {
	_, err := tx.exec(`INSERT INTO api_token (id, sha256, membership_id, name, scope, created_by, created_by_name, created_us, expires_us)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		t.ID, sha256, t.MembershipID, t.Name, string(t.Scope), t.CreatedBy, t.CreatedByName, us(t.CreatedAt), us(t.ExpiresAt))
	if err != nil {
		return fmt.Errorf("store a token: %w", err)
	}
	return nil
}

// TokenIdentities implements access.TokenTx.
func (tx *Tx) TokenIdentities(sha256 []string) (map[string]access.Identity, error) {
	return tx.identities(`SELECT t.sha256, '', t.id, m.organisation_id, m.id, m.name, m.kind, m.role, t.scope, t.expires_us
		FROM api_token t JOIN membership m ON m.id = t.membership_id
		WHERE t.revoked_us IS NULL AND (t.expires_us IS NULL OR t.expires_us > ?) AND m.disabled_us IS NULL AND t.sha256 IN `, sha256)
}

const tokenQuery = `SELECT t.id, m.organisation_id, m.id, m.name, m.kind, t.name, t.scope, t.created_by, t.created_by_name, t.created_us, t.expires_us, t.used_us
	FROM api_token t JOIN membership m ON m.id = t.membership_id
	WHERE t.revoked_us IS NULL AND m.organisation_id = ? AND (m.id = ? OR ? = '') `

func scanToken(s scanner) (access.Token, error) {
	var t access.Token
	var created, expires, used micros
	err := s.Scan(&t.ID, &t.OrganisationID, &t.MembershipID, &t.MemberName, &t.MemberKind, &t.Name, &t.Scope, &t.CreatedBy, &t.CreatedByName, &created, &expires, &used)
	t.CreatedAt, t.ExpiresAt, t.UsedAt = created.Time, expires.Time, used.Time
	return t, err
}

// Tokens implements access.TokenTx.
func (tx *Tx) Tokens(organisationID, membershipID string) ([]access.Token, error) {
	all, err := collect(tx, scanToken, tokenQuery+"ORDER BY t.created_us DESC, t.id DESC", organisationID, membershipID, membershipID)
	if err != nil {
		return nil, fmt.Errorf("read the tokens: %w", err)
	}
	return all, nil
}

// RevokeToken implements access.TokenTx.
func (tx *Tx) RevokeToken(organisationID, membershipID, id string) (access.Token, error) {
	t, err := scanToken(tx.row(tokenQuery+"AND t.id = ?", organisationID, membershipID, membershipID, id))
	if errors.Is(err, sql.ErrNoRows) {
		return t, fault.New(fault.NotFound, "There is no such token.")
	}
	if err == nil {
		_, err = tx.exec("UPDATE api_token SET revoked_us = ? WHERE id = ? AND revoked_us IS NULL", us(tx.now), id)
	}
	if err != nil {
		return t, fmt.Errorf("revoke token %s: %w", id, err)
	}
	return t, nil
}

// TouchToken implements access.TokenTx.
func (tx *Tx) TouchToken(id string, since time.Time) error {
	if _, err := tx.exec("UPDATE api_token SET used_us = ? WHERE id = ? AND (used_us IS NULL OR used_us <= ?)", us(tx.now), id, us(since)); err != nil {
		return fmt.Errorf("store that token %s was used: %w", id, err)
	}
	return nil
}
