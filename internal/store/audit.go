package store

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/live"
)

// Audit puts an entry on the trail, in this transaction. Which ID it has, when it was
// written and with which others is decided here. Every noun declares it.
func (tx *Tx) Audit(e audit.Entry) error {
	e, err := e.Prepare()
	if err != nil {
		return err
	}
	id, err := uuid.NewV7() // of one process, each is behind the one before
	if err != nil {
		return fmt.Errorf("name an entry of the trail: %w", err)
	}
	e.ID, e.At = id.String(), tx.now
	tx.deed = cmp.Or(tx.deed, e.ID)
	_, err = tx.exec(`INSERT INTO audit_entry (id, organisation_id, deed_id, at_us, actor_kind, actor_id, actor_name, session_id, token_id, action, kind,
			agent_id, agent_name, task_id, command_id, message_id, content_sha256, object_id, object_name, detail)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		e.ID, e.OrganisationID, tx.deed, us(e.At), string(e.Actor.Kind), e.Actor.ID, e.Actor.Name, e.Actor.SessionID, e.Actor.TokenID, string(e.Action), string(e.Kind),
		e.AgentID, e.AgentName, e.TaskID, e.CommandID, e.MessageID, e.ContentSHA256, e.ObjectID, e.ObjectName, e.DetailText())
	if err == nil {
		_, err = tx.exec("INSERT INTO audit_pending (organisation_id, deed_id, entry_id) VALUES (?, ?, ?)", e.OrganisationID, tx.deed, e.ID)
	}
	if err != nil {
		return fmt.Errorf("put %s on the trail: %w", e.Action, err)
	}
	tx.Signal(live.AuditTopic)
	return nil
}

const auditColumns = `e.id, e.organisation_id, e.deed_id, e.at_us, e.actor_kind, e.actor_id, e.actor_name, e.session_id, e.token_id, e.action, e.kind,
	e.agent_id, e.agent_name, e.task_id, e.command_id, e.message_id, e.content_sha256, e.object_id, e.object_name, e.detail`

// auditRow is where an entry is scanned to.
type auditRow struct {
	audit.Entry
	at     micros
	detail string
}

func (r *auditRow) dest() []any {
	return []any{
		&r.ID, &r.OrganisationID, &r.DeedID, &r.at, &r.Actor.Kind, &r.Actor.ID, &r.Actor.Name, &r.Actor.SessionID, &r.Actor.TokenID, &r.Action, &r.Kind,
		&r.AgentID, &r.AgentName, &r.TaskID, &r.CommandID, &r.MessageID, &r.ContentSHA256, &r.ObjectID, &r.ObjectName, &r.detail,
	}
}

func (r *auditRow) entry() audit.Entry {
	r.At = r.at.Time
	r.SetDetail(r.detail)
	return r.Entry
}

func scanAuditEntry(s scanner) (audit.Entry, error) {
	var r auditRow
	err := s.Scan(r.dest()...)
	return r.entry(), err
}

// AuditWaiting implements audit.SealTx.
func (tx *Tx) AuditWaiting() ([]string, error) {
	ids, err := collect(tx, scanString, "SELECT DISTINCT organisation_id FROM audit_pending ORDER BY organisation_id")
	if err != nil {
		return nil, fmt.Errorf("look for entries of the trail to seal: %w", err)
	}
	return ids, nil
}

// LockAuditHead implements audit.SealTx.
func (tx *Tx) LockAuditHead(organisationID string) (h audit.Head, err error) {
	if _, err = tx.exec("INSERT INTO audit_head (organisation_id, seq, hash) VALUES (?, 0, '') ON CONFLICT (organisation_id) DO NOTHING", organisationID); err == nil {
		err = tx.row("SELECT seq, hash FROM audit_head WHERE organisation_id = ?"+tx.forUpdate(), organisationID).Scan(&h.Seq, &h.Hash)
	}
	if err != nil {
		return h, fmt.Errorf("lock the head of the trail: %w", err)
	}
	return h, nil
}

// AuditToSeal implements audit.SealTx.
func (tx *Tx) AuditToSeal(organisationID string, limit int) ([]audit.Entry, error) {
	entries, err := collect(tx, scanAuditEntry, "SELECT "+auditColumns+` FROM audit_pending p JOIN audit_entry e ON e.id = p.entry_id
		WHERE p.organisation_id = ? AND p.deed_id <= (SELECT MAX(d.deed_id) FROM
			(SELECT deed_id FROM audit_pending WHERE organisation_id = ? ORDER BY deed_id, entry_id LIMIT ?) d)
		ORDER BY p.deed_id, p.entry_id`, organisationID, organisationID, limit)
	if err != nil {
		return nil, fmt.Errorf("read entries of the trail to seal: %w", err)
	}
	return entries, nil
}

// SealAudit implements audit.SealTx.
func (tx *Tx) SealAudit(organisationID string, entries []audit.Sealed, head audit.Head) error {
	const rows = 1000 // of one statement: fewer arguments than either database takes
	for some := range slices.Chunk(entries, rows) {
		links, gone := make([]any, 0, 5*len(some)), make([]any, 0, 1+len(some))
		gone = append(gone, organisationID)
		for _, e := range some {
			links = append(links, organisationID, e.Seq, e.ID, e.Previous, e.Hash)
			gone = append(gone, e.ID)
		}
		_, err := tx.exec("INSERT INTO audit_link (organisation_id, seq, entry_id, previous, hash) VALUES "+places(5)+
			strings.Repeat(", "+places(5), len(some)-1), links...)
		if err == nil {
			_, err = tx.exec("DELETE FROM audit_pending WHERE organisation_id = ? AND entry_id IN "+places(len(some)), gone...)
		}
		if err != nil {
			return fmt.Errorf("link entries of the trail: %w", err)
		}
	}
	if err := tx.execOne("UPDATE audit_head SET seq = ?, hash = ? WHERE organisation_id = ?", head.Seq, head.Hash, organisationID); err != nil {
		return fmt.Errorf("note the head of the trail: %w", err)
	}
	return nil
}

// AuditOrganisations implements audit.VerifyTx.
func (tx *Tx) AuditOrganisations() ([]string, error) {
	ids, err := collect(tx, scanString, `SELECT id FROM organisation UNION SELECT organisation_id FROM audit_head UNION SELECT organisation_id FROM audit_link
		UNION SELECT organisation_id FROM audit_entry ORDER BY 1`)
	if err != nil {
		return nil, fmt.Errorf("look whose trails there are: %w", err)
	}
	return ids, nil
}

// AuditHead implements audit.VerifyTx and trail.ReadTx.
func (tx *Tx) AuditHead(organisationID string) (h audit.Head, err error) {
	err = tx.row("SELECT seq, hash FROM audit_head WHERE organisation_id = ?", organisationID).Scan(&h.Seq, &h.Hash)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return h, fmt.Errorf("read the head of the trail: %w", err)
	}
	return h, nil
}

// AuditLinks implements audit.VerifyTx.
func (tx *Tx) AuditLinks(organisationID string, after int64, limit int) ([]audit.Linked, error) {
	links, err := collect(tx, func(s scanner) (audit.Linked, error) {
		var l audit.Linked
		err := s.Scan(&l.Seq, &l.EntryID, &l.Previous, &l.Hash)
		return l, err
	}, "SELECT seq, entry_id, previous, hash FROM audit_link WHERE organisation_id = ? AND seq > ? ORDER BY seq LIMIT ?", organisationID, after, limit)
	if err == nil && len(links) > 0 {
		err = tx.addEntries(links)
	}
	if err != nil {
		return nil, fmt.Errorf("read the links of the trail: %w", err)
	}
	return links, nil
}

// addEntries adds to links the entries that they are of, those that are there.
func (tx *Tx) addEntries(links []audit.Linked) error {
	at, args := make(map[string]int, len(links)), make([]any, len(links))
	for i, l := range links {
		at[l.EntryID], args[i] = i, l.EntryID
	}
	entries, err := collect(tx, scanAuditEntry, "SELECT "+auditColumns+" FROM audit_entry e WHERE e.id IN "+places(len(args)), args...)
	for _, e := range entries {
		links[at[e.ID]].Entry = e
	}
	return err
}

// AuditStray implements audit.VerifyTx.
func (tx *Tx) AuditStray(organisationID string) (unsealed, lost string, err error) {
	for _, q := range []struct {
		query string
		id    *string
	}{
		{`SELECT COALESCE(MIN(e.id), '') FROM audit_entry e WHERE e.organisation_id = ?
			AND NOT EXISTS (SELECT 1 FROM audit_link l WHERE l.entry_id = e.id) AND NOT EXISTS (SELECT 1 FROM audit_pending p WHERE p.entry_id = e.id)`, &unsealed},
		{`SELECT COALESCE(MIN(p.entry_id), '') FROM audit_pending p WHERE p.organisation_id = ?
			AND NOT EXISTS (SELECT 1 FROM audit_entry e WHERE e.id = p.entry_id)`, &lost},
	} {
		if err := tx.row(q.query, organisationID).Scan(q.id); err != nil {
			return "", "", fmt.Errorf("look for entries of the trail without a place: %w", err)
		}
	}
	return unsealed, lost, nil
}
