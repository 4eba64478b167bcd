package store

import (
	"fmt"
	"time"

	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/signin"
)

// UseSignIn implements signin.Tx.
func (tx *Tx) UseSignIn(digest string, until time.Time) (first bool, err error) {
	n, err := tx.exec("INSERT INTO used_sign_in (sha256, expires_us) VALUES (?, ?) ON CONFLICT (sha256) DO NOTHING", digest, us(until))
	if err != nil {
		return false, fmt.Errorf("store a sign-in: %w", err)
	}
	return n > 0, nil
}

// MemberByIdentity implements signin.Tx. Both databases compare texts byte for byte.
func (tx *Tx) MemberByIdentity(issuer, subject string) (signin.Member, error) {
	found, err := collect(tx, func(s scanner) (signin.Member, error) {
		var m signin.Member
		err := s.Scan(&m.ID, &m.Disabled)
		return m, err
	}, "SELECT id, disabled_us IS NOT NULL FROM membership WHERE kind = 'person' AND issuer = ? AND subject = ?", issuer, subject)
	switch {
	case err != nil:
		return signin.Member{}, fmt.Errorf("look for a member by their identity: %w", err)
	case len(found) == 0:
		return signin.Member{}, fault.New(fault.NotFound, "There is no such member.")
	}
	return found[0], nil
}
