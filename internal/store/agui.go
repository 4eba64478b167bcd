package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/agent-taskbay/taskbay/internal/agui"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

const threadColumns = "t.id, t.organisation_id, t.person_id, t.agent_id, t.thread_key, t.created_us"

func scanThread(s scanner, rest ...any) (agui.Thread, error) {
	var t agui.Thread
	var created micros
	err := s.Scan(append([]any{&t.ID, &t.OrganisationID, &t.PersonID, &t.AgentID, &t.Key, &created}, rest...)...)
	t.CreatedAt = created.Time
	if errors.Is(err, sql.ErrNoRows) {
		return t, fault.New(fault.NotFound, "There is no such thread.")
	}
	if err != nil {
		return t, fmt.Errorf("read a thread: %w", err)
	}
	return t, nil
}

// Thread implements agui.Tx.
func (tx *Tx) Thread(organisationID, personID, agentID, key string) (agui.Thread, error) {
	return scanThread(tx.row("SELECT "+threadColumns+` FROM agui_thread t
		WHERE t.organisation_id = ? AND t.person_id = ? AND t.agent_id = ? AND t.thread_key = ?`+tx.forUpdate(),
		organisationID, personID, agentID, key))
}

// HoldThread implements agui.Tx.
func (tx *Tx) HoldThread(t agui.Thread) (agui.Thread, error) {
	_, err := tx.exec(`INSERT INTO agui_thread (id, organisation_id, person_id, agent_id, thread_key, created_us) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (organisation_id, person_id, agent_id, thread_key) DO NOTHING`,
		t.ID, t.OrganisationID, t.PersonID, t.AgentID, t.Key, us(t.CreatedAt))
	if err != nil {
		return t, fmt.Errorf("store a thread: %w", err)
	}
	return tx.Thread(t.OrganisationID, t.PersonID, t.AgentID, t.Key)
}

const runColumns = "r.id, r.thread_id, r.number, r.run_key, r.task_id, r.command_id, r.resume_sha256, r.created_us"

// runFields are where runColumns are read to.
func runFields(r *agui.Run, created *micros) []any {
	return []any{&r.ID, &r.ThreadID, &r.Number, &r.Key, &r.TaskID, &r.CommandID, &r.Resume, created}
}

// RunByKey implements agui.Tx.
func (tx *Tx) RunByKey(organisationID, personID, agentID, key string) (agui.Run, agui.Thread, error) {
	var r agui.Run
	var created micros
	t, err := scanThread(tx.row("SELECT "+threadColumns+", "+runColumns+` FROM agui_run r JOIN agui_thread t ON t.id = r.thread_id
		WHERE r.run_key = ? AND t.organisation_id = ? AND t.person_id = ? AND t.agent_id = ? ORDER BY r.created_us DESC, r.number DESC LIMIT 1`,
		key, organisationID, personID, agentID), runFields(&r, &created)...)
	r.CreatedAt = created.Time
	if fault.KindOf(err) == fault.NotFound {
		err = fault.New(fault.NotFound, "There is no such run.")
	}
	return r, t, err
}

// Runs implements agui.Tx.
func (tx *Tx) Runs(threadID string) ([]agui.Run, error) {
	return collect(tx, func(s scanner) (agui.Run, error) {
		var r agui.Run
		var created micros
		err := s.Scan(runFields(&r, &created)...)
		r.CreatedAt = created.Time
		return r, err
	}, "SELECT "+runColumns+" FROM agui_run r WHERE r.thread_id = ? ORDER BY r.number", threadID)
}

// Said implements agui.Tx.
func (tx *Tx) Said(threadID string) ([]agui.Said, error) {
	return collect(tx, func(s scanner) (agui.Said, error) {
		var m agui.Said
		var content []byte
		if err := s.Scan(&m.ThreadID, &m.MessageID, &m.Number, &m.RunID, &m.Sent, &m.Digest, &m.Plain, &content); err != nil {
			return m, err
		}
		return m, json.Unmarshal(content, &m.Content)
	}, "SELECT thread_id, message_id, number, run_id, sent, sha256, plain, content FROM agui_said WHERE thread_id = ? ORDER BY number", threadID)
}

// Interrupts implements agui.Tx.
func (tx *Tx) Interrupts(threadID string) ([]agui.Asked, error) {
	return collect(tx, scanAsked, "SELECT "+askedColumns+" FROM agui_interrupt WHERE thread_id = ? ORDER BY created_us, id", threadID)
}

const askedColumns = "thread_id, run_id, task_id, subject, content, decision, COALESCE(command_id, ''), created_us, decided_us"

func scanAsked(s scanner) (agui.Asked, error) {
	var a agui.Asked
	var content []byte
	var created, decided micros
	if err := s.Scan(&a.ThreadID, &a.RunID, &a.TaskID, &a.Subject, &content, &a.Decision, &a.CommandID, &created, &decided); err != nil {
		return a, err
	}
	a.CreatedAt, a.DecidedAt = created.Time, decided.Time
	return a, json.Unmarshal(content, &a.Interrupt)
}

// InsertRun implements agui.Tx.
func (tx *Tx) InsertRun(r agui.Run) error {
	_, err := tx.exec(`INSERT INTO agui_run (id, thread_id, number, run_key, task_id, command_id, resume_sha256, created_us) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		r.ID, r.ThreadID, r.Number, r.Key, r.TaskID, r.CommandID, r.Resume, us(r.CreatedAt))
	if err != nil {
		return fmt.Errorf("store a run: %w", err)
	}
	return nil
}

// InsertSaid implements agui.Tx.
func (tx *Tx) InsertSaid(m agui.Said) error {
	content, err := json.Marshal(m.Content)
	if err == nil {
		_, err = tx.exec(`INSERT INTO agui_said (thread_id, message_id, number, run_id, sent, sha256, plain, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			m.ThreadID, m.MessageID, m.Number, m.RunID, m.Sent, m.Digest, m.Plain, string(content))
	}
	if err != nil {
		return fmt.Errorf("store a message of a client: %w", err)
	}
	return nil
}

// KeepInterrupt implements agui.Tx.
func (tx *Tx) KeepInterrupt(a agui.Asked) (agui.Asked, error) {
	content, err := json.Marshal(a.Interrupt)
	if err == nil {
		_, err = tx.exec(`INSERT INTO agui_interrupt (id, thread_id, run_id, task_id, subject, content, created_us) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (thread_id, task_id, subject) DO NOTHING`,
			a.Interrupt.ID, a.ThreadID, a.RunID, a.TaskID, a.Subject, string(content), us(a.CreatedAt))
	}
	if err != nil {
		return a, fmt.Errorf("store an interrupt: %w", err)
	}
	kept, err := scanAsked(tx.row("SELECT "+askedColumns+" FROM agui_interrupt WHERE thread_id = ? AND task_id = ? AND subject = ?", a.ThreadID, a.TaskID, a.Subject))
	if err != nil {
		return a, fmt.Errorf("read an interrupt: %w", err)
	}
	return kept, nil
}

// DecideInterrupt implements agui.Tx.
func (tx *Tx) DecideInterrupt(id, decision, commandID string) error {
	err := tx.execOne("UPDATE agui_interrupt SET decision = ?, command_id = ?, decided_us = ? WHERE id = ?", decision, commandID, us(tx.now), id)
	if err != nil {
		return fmt.Errorf("decide an interrupt: %w", err)
	}
	return nil
}
