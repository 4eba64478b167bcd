package store

import (
	"encoding/json"
	"fmt"

	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/agent/signature"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/remote"
)

// Pins implements agent.Tx.
func (tx *Tx) Pins(organisationID string) ([]agent.Pin, error) {
	pins, err := collect(tx, scanPin, `SELECT id, organisation_id, origin, jwk, expires_us, created_by, created_us
		FROM card_pin WHERE organisation_id = ? ORDER BY origin, created_us, id`, organisationID)
	if err != nil {
		return nil, fmt.Errorf("read the pinned keys: %w", err)
	}
	return pins, nil
}

func scanPin(s scanner) (agent.Pin, error) {
	var pin agent.Pin
	var jwk string
	var expires, created micros
	if err := s.Scan(&pin.ID, &pin.OrganisationID, &pin.Origin, &jwk, &expires, &pin.CreatedBy, &created); err != nil {
		return pin, err
	}
	pin.ExpiresAt, pin.CreatedAt = expires.Time, created.Time
	var err error
	pin.Key, err = signature.ParseKey(jwk, "")
	return pin, err
}

// InsertPin implements agent.Tx.
func (tx *Tx) InsertPin(pin agent.Pin) error {
	jwk, err := pin.Key.JWK()
	if err != nil {
		return fmt.Errorf("write a pinned key: %w", err)
	}
	_, err = tx.exec("INSERT INTO card_pin (id, organisation_id, origin, jwk, expires_us, created_by, created_us) VALUES (?, ?, ?, ?, ?, ?, ?)",
		pin.ID, pin.OrganisationID, pin.Origin, jwk, us(pin.ExpiresAt), pin.CreatedBy, us(pin.CreatedAt))
	if err != nil {
		return fmt.Errorf("store a pinned key: %w", err)
	}
	return nil
}

// RemovePin implements agent.Tx.
func (tx *Tx) RemovePin(organisationID, id string) error {
	n, err := tx.exec("DELETE FROM card_pin WHERE organisation_id = ? AND id = ?", organisationID, id)
	if err != nil {
		return fmt.Errorf("remove the pinned key %s: %w", id, err)
	}
	if n == 0 {
		return fault.New(fault.NotFound, "There is no such pinned key.")
	}
	return nil
}

// SetInterface implements agent.Tx.
func (tx *Tx) SetInterface(agentID string, pinned *remote.Interface) error {
	text := ""
	if pinned != nil {
		raw, err := json.Marshal(pinned)
		if err != nil {
			return fmt.Errorf("write the interface of agent %s: %w", agentID, err)
		}
		text = string(raw)
	}
	if err := tx.execOne("UPDATE agent SET interface = ?, updated_us = ? WHERE id = ?", text, us(tx.now), agentID); err != nil {
		return fmt.Errorf("store the interface of agent %s: %w", agentID, err)
	}
	return nil
}
