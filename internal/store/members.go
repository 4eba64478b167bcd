package store

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// Organisation implements access.MemberTx.
func (tx *Tx) Organisation(id string) (access.Organisation, error) {
	o := access.Organisation{ID: id}
	var created micros
	err := tx.row("SELECT name, created_us FROM organisation WHERE id = ?"+tx.forUpdate(), id).Scan(&o.Name, &created)
	o.CreatedAt = created.Time
	if errors.Is(err, sql.ErrNoRows) {
		return o, fault.New(fault.NotFound, "There is no such organisation.")
	}
	if err != nil {
		return o, fmt.Errorf("read an organisation: %w", err)
	}
	return o, nil
}

// InsertOrganisation implements access.MemberTx.
func (tx *Tx) InsertOrganisation(o access.Organisation) error {
	_, err := tx.exec("INSERT INTO organisation (id, name, created_us) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING", o.ID, o.Name, us(o.CreatedAt))
	if err != nil {
		return fmt.Errorf("store an organisation: %w", err)
	}
	return nil
}

const memberColumns = `m.id, m.organisation_id, m.kind, COALESCE(m.issuer, ''), COALESCE(m.subject, ''), m.name, m.role, m.created_us, m.disabled_us`

// memberInto returns where the memberColumns of a row go, and what completes the
// member once they are there.
func memberInto(m *access.Member) (dest []any, complete func()) {
	var created, disabled micros
	dest = []any{&m.ID, &m.OrganisationID, &m.Kind, &m.Issuer, &m.Subject, &m.Name, &m.Role, &created, &disabled}
	return dest, func() { m.CreatedAt, m.DisabledAt = created.Time, disabled.Time }
}

func scanMember(s scanner) (access.Member, error) {
	var m access.Member
	dest, complete := memberInto(&m)
	err := s.Scan(dest...)
	complete()
	if errors.Is(err, sql.ErrNoRows) {
		return m, fault.New(fault.NotFound, "There is no such member.")
	}
	return m, err
}

// Members implements access.MemberTx.
func (tx *Tx) Members(organisationID string) ([]access.Member, error) {
	all, err := collect(tx, scanMember, "SELECT "+memberColumns+" FROM membership m WHERE m.organisation_id = ? ORDER BY m.name, m.id", organisationID)
	if err != nil {
		return nil, fmt.Errorf("read the members: %w", err)
	}
	return all, nil
}

// Member implements access.MemberTx.
func (tx *Tx) Member(organisationID, id string) (access.Member, error) {
	return scanMember(tx.row("SELECT "+memberColumns+" FROM membership m WHERE m.organisation_id = ? AND m.id = ?", organisationID, id))
}

// InsertMember implements access.MemberTx.
func (tx *Tx) InsertMember(m access.Member) error {
	_, err := tx.exec(`INSERT INTO membership (id, organisation_id, kind, issuer, subject, name, role, created_us)
		VALUES (?, ?, ?, NULLIF(?, ''), NULLIF(?, ''), ?, ?, ?)`,
		m.ID, m.OrganisationID, string(m.Kind), m.Issuer, m.Subject, m.Name, string(m.Role), us(m.CreatedAt))
	if tx.dialect.isUnique(err) {
		return fault.New(fault.Conflict, "This person is a member already, disabled ones counted: of this organisation, or of another one of this Taskbay.")
	}
	if err != nil {
		return fmt.Errorf("store a member: %w", err)
	}
	return nil
}

// UpdateMember implements access.MemberTx.
func (tx *Tx) UpdateMember(m access.Member) error {
	if err := tx.execOne("UPDATE membership SET name = ?, role = ?, disabled_us = ? WHERE id = ?", m.Name, string(m.Role), us(m.DisabledAt), m.ID); err != nil {
		return fmt.Errorf("store member %s: %w", m.ID, err)
	}
	return nil
}

// EndAccess implements access.MemberTx.
func (tx *Tx) EndAccess(memberID string) error {
	_, err := tx.exec("UPDATE session SET ended_us = ? WHERE membership_id = ? AND ended_us IS NULL", us(tx.now), memberID)
	if err == nil {
		_, err = tx.exec("UPDATE api_token SET revoked_us = ? WHERE membership_id = ? AND revoked_us IS NULL", us(tx.now), memberID)
	}
	if err != nil {
		return fmt.Errorf("end the access of member %s: %w", memberID, err)
	}
	return nil
}
