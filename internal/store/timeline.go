package store

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// timelineWriter adds to one task's timeline within a transaction. Everything
// that it adds or changes carries the task's next version.
type timelineWriter struct {
	tx      *Tx
	taskID  string
	seq     int64     // of the next entry
	version int64     // the next one
	at      time.Time // of new entries
	changed bool
}

func (tx *Tx) writeTimeline(taskID string) (*timelineWriter, error) {
	at, err := tx.position(taskID)
	return tx.timelineFrom(taskID, at), err
}

// timelineFrom is writeTimeline where the position is known.
func (tx *Tx) timelineFrom(taskID string, at position) *timelineWriter {
	return &timelineWriter{tx: tx, taskID: taskID, seq: at.seq, version: at.version + 1, at: tx.now}
}

func (w *timelineWriter) apply(c task.Change) error {
	switch {
	case c.AddMessage != nil:
		return w.addMessage(*c.AddMessage, "", nil)
	case c.PutArtifact != nil:
		return w.putArtifact(*c.PutArtifact, c.Stream)
	case c.AppendArtifact != nil:
		return w.appendArtifact(c.AppendArtifact.Artifact, c.Stream)
	case c.AddTransition != nil:
		return w.addTransition(*c.AddTransition)
	case c.Complete != "":
		return w.complete(c.Complete)
	}
	return nil
}

// next takes a place in the timeline.
func (w *timelineWriter) next() int64 {
	w.changed = true
	w.seq++
	return w.seq - 1
}

// addMessage adds a message unless it is there. A person's message is known by
// its ID alone: agents hand it back with members of their own. One of the agent
// under the same ID is another message.
func (w *timelineWriter) addMessage(m task.NewMessage, commandID string, definition []byte) error {
	role := m.Message.Role
	if role != a2a.RoleUser {
		role = a2a.RoleAgent
	}
	var one int
	err := w.tx.row("SELECT 1 FROM message WHERE task_id = ? AND message_id = ? AND (sha256 = ? OR role = 'user' AND role = ?) LIMIT 1",
		w.taskID, m.ID, m.Digest, string(role)).Scan(&one)
	if err == nil {
		return nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("look for a message: %w", err)
	}
	parts, err := a2a.EncodeParts(m.Message.Parts)
	if err != nil {
		return fmt.Errorf("write the parts of a message: %w", err)
	}
	_, err = w.tx.exec(`INSERT INTO message (task_id, seq, version, message_id, role, parts, sha256, search, command_id, form_definition, at_us)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULLIF(?, ''), ?, ?)`,
		w.taskID, w.next(), w.version, m.ID, string(role), string(parts), m.Digest, searchText(m.Message.Parts), commandID, definition, us(w.at))
	if err != nil {
		return fmt.Errorf("store a message: %w", err)
	}
	return nil
}

// putArtifact stores a whole artifact. One that is there like that stays as it is,
// but a stream that tells of it as well goes on from there.
func (w *timelineWriter) putArtifact(a a2a.Artifact, stream string) error {
	parts, err := a2a.EncodeParts(a.Parts)
	if err != nil {
		return fmt.Errorf("write the parts of an artifact: %w", err)
	}
	sum := sha256.Sum256([]byte(a.Name + "\x00" + a.Description + "\x00" + string(parts)))
	digest := hex.EncodeToString(sum[:])
	var stored string
	err = w.tx.row("SELECT sha256 FROM artifact WHERE task_id = ? AND artifact_id = ?", w.taskID, a.ArtifactID).Scan(&stored)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		if err := w.insertArtifact(a, digest, stream); err != nil {
			return err
		}
		return w.addParts(a.ArtifactID, string(parts))
	case err != nil:
		return fmt.Errorf("look for an artifact: %w", err)
	}
	same := stored == digest
	if stored == "" {
		if same, err = w.pieced(a); err != nil {
			return err
		}
	}
	if same {
		_, err := w.tx.exec("UPDATE artifact SET stream = ? WHERE task_id = ? AND artifact_id = ? AND ? <> ''", stream, w.taskID, a.ArtifactID, stream)
		return err
	}
	w.changed = true
	if _, err := w.tx.exec("DELETE FROM artifact_part WHERE task_id = ? AND artifact_id = ?", w.taskID, a.ArtifactID); err != nil {
		return fmt.Errorf("replace an artifact: %w", err)
	}
	if err := w.tx.execOne("UPDATE artifact SET version = ?, name = ?, description = ?, sha256 = ?, search = ?, stream = ? WHERE task_id = ? AND artifact_id = ?",
		w.version, a.Name, a.Description, digest, artifactSearch(a), stream, w.taskID, a.ArtifactID); err != nil {
		return fmt.Errorf("replace an artifact: %w", err)
	}
	return w.addParts(a.ArtifactID, string(parts))
}

// pieced reports whether the chunks of an artifact make up this one.
func (w *timelineWriter) pieced(a a2a.Artifact) (bool, error) {
	stored, err := collect(w.tx, scanArtifact, `SELECT seq, version, artifact_id, name, description, complete, appended, at_us
		FROM artifact WHERE task_id = ? AND artifact_id = ?`, w.taskID, a.ArtifactID)
	if err != nil || len(stored) != 1 || stored[0].Name != a.Name || stored[0].Description != a.Description {
		return false, err
	}
	chunks, err := w.tx.artifactChunks(w.taskID, a.ArtifactID)
	if err != nil {
		return false, err
	}
	whole, _ := assemble(chunks, true)
	have, err := a2a.EncodeParts(whole)
	if err != nil {
		return false, fmt.Errorf("read an artifact: %w", err)
	}
	whole, _ = assemble([][]a2a.Part{a.Parts}, true)
	want, err := a2a.EncodeParts(whole)
	return string(have) == string(want), err
}

func (w *timelineWriter) insertArtifact(a a2a.Artifact, digest, stream string) error {
	_, err := w.tx.exec(`INSERT INTO artifact (task_id, seq, version, artifact_id, name, description, complete, sha256, search, stream, at_us)
		VALUES (?, ?, ?, ?, ?, ?, FALSE, ?, ?, ?, ?)`,
		w.taskID, w.next(), w.version, a.ArtifactID, a.Name, a.Description, digest, artifactSearch(a), stream, us(w.at))
	if err != nil {
		return fmt.Errorf("store an artifact: %w", err)
	}
	return nil
}

func (w *timelineWriter) addParts(artifactID, parts string) error {
	var place int64
	err := w.tx.row("UPDATE artifact SET next_part = next_part + 1 WHERE task_id = ? AND artifact_id = ? RETURNING next_part", w.taskID, artifactID).Scan(&place)
	if err != nil {
		return fmt.Errorf("make room for the parts of an artifact: %w", err)
	}
	return w.putParts(artifactID, place, parts)
}

func (w *timelineWriter) putParts(artifactID string, place int64, parts string) error {
	_, err := w.tx.exec("INSERT INTO artifact_part (task_id, artifact_id, part, parts) VALUES (?, ?, ?, ?)", w.taskID, artifactID, place, parts)
	if err != nil {
		return fmt.Errorf("store the parts of an artifact: %w", err)
	}
	return nil
}

// appendArtifact adds a chunk. The first chunk of an artifact that is not there
// makes it.
func (w *timelineWriter) appendArtifact(a a2a.Artifact, stream string) error {
	var place int64
	err := w.tx.row(`UPDATE artifact SET version = ?, appended = TRUE, sha256 = '', next_part = next_part + 1,
			search = CASE WHEN LENGTH(search) < ? THEN search || ? ELSE search END
		WHERE task_id = ? AND artifact_id = ? RETURNING next_part`, w.version, maxSearch, searchText(a.Parts), w.taskID, a.ArtifactID).Scan(&place)
	if errors.Is(err, sql.ErrNoRows) {
		return w.putArtifact(a, stream)
	}
	if err != nil {
		return fmt.Errorf("extend an artifact: %w", err)
	}
	w.changed = true
	parts, err := a2a.EncodeParts(a.Parts)
	if err != nil {
		return fmt.Errorf("write the parts of an artifact: %w", err)
	}
	return w.putParts(a.ArtifactID, place, string(parts))
}

func (w *timelineWriter) complete(artifactID string) error {
	n, err := w.tx.exec("UPDATE artifact SET complete = TRUE, version = ? WHERE task_id = ? AND artifact_id = ? AND NOT complete", w.version, w.taskID, artifactID)
	if err != nil {
		return fmt.Errorf("complete an artifact: %w", err)
	}
	w.changed = w.changed || n > 0
	return nil
}

func (w *timelineWriter) addTransition(s a2a.State) error {
	_, err := w.tx.exec("INSERT INTO transition (task_id, seq, version, state, at_us) VALUES (?, ?, ?, ?, ?)",
		w.taskID, w.next(), w.version, string(s), us(w.at))
	if err != nil {
		return fmt.Errorf("store a transition: %w", err)
	}
	return nil
}

// touchQuestion marks the messages as changed that were or are the open question.
func (w *timelineWriter) touchQuestion(was, is task.Head) error {
	if was.Question == is.Question && was.AnsweredBy == is.AnsweredBy {
		return nil
	}
	for _, q := range []task.Asked{was.Question, is.Question} {
		if err := w.markQuestion(q); err != nil {
			return err
		}
	}
	return nil
}

// markQuestion marks the message of a question as changed.
func (w *timelineWriter) markQuestion(q task.Asked) error {
	if _, err := w.tx.exec("UPDATE message SET version = ? WHERE task_id = ? AND message_id = ? AND sha256 = ?", w.version, w.taskID, q.MessageID, q.Digest); err != nil {
		return fmt.Errorf("mark a question: %w", err)
	}
	w.changed = true
	return nil
}

const messageQuery = `SELECT m.seq, m.version, m.message_id, m.sha256, m.role, m.parts, m.form_definition, m.at_us,
		COALESCE(c.id, ''), COALESCE(c.status, ''), COALESCE(c.error, ''), COALESCE(c.refused, FALSE), COALESCE(c.actor_name, ''), COALESCE(c.answers, '')
	FROM message m LEFT JOIN command c ON c.id = m.command_id
	WHERE m.task_id = ? `

func scanMessage(s scanner) (task.StoredMessage, error) {
	var r task.StoredMessage
	var d task.Delivery
	var at micros
	var parts []byte
	m := &r.Message
	err := s.Scan(&m.Seq, &m.Version, &m.ID, &m.Digest, &m.Role, &parts, &r.FormDefinition, &at,
		&d.CommandID, &d.Status, &d.Error, &d.Refused, &m.Author, &r.Answers)
	if err != nil {
		return r, err
	}
	m.At = at.Time
	if d.CommandID != "" {
		m.Delivery = &d
	}
	m.Parts = a2a.DecodeParts(parts)
	return r, nil
}

// Messages implements task.ReadTx.
func (tx *Tx) Messages(taskID string, since int64) ([]task.StoredMessage, error) {
	return collect(tx, scanMessage, messageQuery+"AND m.version > ? ORDER BY m.seq", taskID, since)
}

// Message implements task.ReadTx.
func (tx *Tx) Message(taskID, messageID, digest string) (task.StoredMessage, error) {
	m, err := scanMessage(tx.row(messageQuery+"AND m.message_id = ? AND m.sha256 = ?", taskID, messageID, digest))
	if errors.Is(err, sql.ErrNoRows) {
		return m, fault.New(fault.NotFound, "There is no such message.")
	}
	if err != nil {
		err = fmt.Errorf("read message %s: %w", messageID, err)
	}
	return m, err
}

// Artifacts implements task.ReadTx.
func (tx *Tx) Artifacts(taskID string, since int64) ([]task.Artifact, error) {
	artifacts, err := collect(tx, scanArtifact, `SELECT seq, version, artifact_id, name, description, complete, appended, at_us
		FROM artifact WHERE task_id = ? AND version > ? ORDER BY seq`, taskID, since)
	if err != nil {
		return nil, fmt.Errorf("read artifacts: %w", err)
	}
	result := make([]task.Artifact, len(artifacts))
	for i, a := range artifacts {
		chunks, err := tx.artifactChunks(taskID, a.ID)
		if err != nil {
			return nil, err
		}
		a.Parts, a.Joined = assemble(chunks, a.appended)
		result[i] = a.Artifact
	}
	return result, nil
}

// artifactChunks returns the parts of an artifact, chunk by chunk.
func (tx *Tx) artifactChunks(taskID, artifactID string) ([][]a2a.Part, error) {
	chunks, err := collect(tx, scanParts, "SELECT parts FROM artifact_part WHERE task_id = ? AND artifact_id = ? ORDER BY part", taskID, artifactID)
	if err != nil {
		err = fmt.Errorf("read artifact %s: %w", artifactID, err)
	}
	return chunks, err
}

// ArtifactStream implements task.Tx.
func (tx *Tx) ArtifactStream(taskID, artifactID string) (stream string, found bool, err error) {
	err = tx.row("SELECT stream FROM artifact WHERE task_id = ? AND artifact_id = ?", taskID, artifactID).Scan(&stream)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	if err != nil {
		err = fmt.Errorf("look who wrote artifact %s: %w", artifactID, err)
	}
	return stream, err == nil, err
}

type storedArtifact struct {
	task.Artifact
	appended bool
}

func scanArtifact(s scanner) (storedArtifact, error) {
	var a storedArtifact
	var at micros
	err := s.Scan(&a.Seq, &a.Version, &a.ID, &a.Name, &a.Description, &a.Complete, &a.appended, &at)
	a.At = at.Time
	return a, err
}

func scanParts(s scanner) ([]a2a.Part, error) {
	var stored []byte
	err := s.Scan(&stored)
	return a2a.DecodeParts(stored), err
}

// assemble puts the chunks of an artifact together. In one that came piece by
// piece, texts that follow each other are one text; joined is true if there are any.
func assemble(chunks [][]a2a.Part, appended bool) (whole []a2a.Part, joined bool) {
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			all := text.String()
			whole[len(whole)-1].Text, joined = &all, true
			text.Reset()
		}
	}
	for _, parts := range chunks {
		for _, p := range parts {
			last := len(whole) - 1
			if appended && p.Text != nil && last >= 0 && whole[last].Text != nil && whole[last].MediaType == p.MediaType {
				if text.Len() == 0 {
					text.WriteString(*whole[last].Text)
				}
				text.WriteString(*p.Text)
				continue
			}
			flush()
			whole = append(whole, p)
		}
	}
	flush()
	return whole, joined
}

// Transitions implements task.ReadTx.
func (tx *Tx) Transitions(taskID string, since int64) ([]task.Transition, error) {
	return collect(tx, func(s scanner) (task.Transition, error) {
		var t task.Transition
		var at micros
		err := s.Scan(&t.Seq, &t.Version, &t.State, &at)
		t.At = at.Time
		return t, err
	}, "SELECT seq, version, state, at_us FROM transition WHERE task_id = ? AND version > ? ORDER BY seq", taskID, since)
}
