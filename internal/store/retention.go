package store

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/retention"
)

// Retention implements retention.Tx.
func (tx *Tx) Retention(organisationID string) (retention.Setting, error) {
	var s retention.Setting
	var at micros
	err := tx.row("SELECT days, set_by_name, set_us FROM retention WHERE organisation_id = ?", organisationID).Scan(&s.Days, &s.SetBy, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("read for how long things are kept: %w", err)
	}
	s.SetAt = at.Time
	return s, nil
}

// SetRetention implements retention.Tx.
func (tx *Tx) SetRetention(organisationID, personID string, s retention.Setting) error {
	_, err := tx.exec(`INSERT INTO retention (organisation_id, days, set_by, set_by_name, set_us) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (organisation_id) DO UPDATE SET days = excluded.days, set_by = excluded.set_by, set_by_name = excluded.set_by_name, set_us = excluded.set_us`,
		organisationID, s.Days, personID, s.SetBy, us(s.SetAt))
	if err != nil {
		return fmt.Errorf("store for how long things are kept: %w", err)
	}
	return nil
}

// Retaining implements retention.Tx.
func (tx *Tx) Retaining() ([]string, error) {
	return collect(tx, scanString, "SELECT organisation_id FROM retention WHERE days > 0 ORDER BY organisation_id")
}

// purgeable is a condition on a task t: see retention.Tx.
var purgeable = `t.merged_into IS NULL AND (t.purged_us IS NULL OR t.purged_us < t.updated_us) AND t.updated_us < ? AND (t.kind = 'message' OR t.state IN (` + terminalStates + `))
	AND NOT EXISTS (SELECT 1 FROM command c WHERE c.task_id = t.id AND c.status IN ('pending', 'dispatching', 'uncertain'))`

// Purgeable implements retention.Tx.
func (tx *Tx) Purgeable(organisationID string, before time.Time) (f retention.Found, err error) {
	tasks := " FROM task t WHERE t.organisation_id = ? AND " + purgeable
	for _, q := range []struct {
		query string
		dest  []any
	}{
		{"SELECT COUNT(*)" + tasks, []any{&f.Tasks}},
		{"SELECT COUNT(*), COALESCE(SUM(length(e.raw) + COALESCE(length(e.payload), 0)), 0) FROM event e WHERE e.purged_us IS NULL AND e.task_id IN (SELECT t.id" + tasks + ")", []any{&f.Events, &f.Bytes}},
		{"SELECT COUNT(*), COALESCE(SUM(b.size), 0) FROM task_blob tb JOIN blob b ON b.sha256 = tb.sha256 WHERE tb.task_id IN (SELECT t.id" + tasks + ")", []any{&f.Artifacts, &f.ArtifactBytes}},
	} {
		if err := tx.row(q.query, organisationID, us(before)).Scan(q.dest...); err != nil {
			return f, fmt.Errorf("count what would be purged: %w", err)
		}
	}
	return f, nil
}

// PurgeableTasks implements retention.Tx.
func (tx *Tx) PurgeableTasks(organisationID string, before time.Time, limit int) ([]string, error) {
	return collect(tx, scanString, "SELECT t.id FROM task t WHERE t.organisation_id = ? AND "+purgeable+" ORDER BY t.updated_us LIMIT ?", organisationID, us(before), limit)
}

// PurgeTask implements retention.Tx. The task is locked first, so that nothing about it
// changes between the look and the purge.
func (tx *Tx) PurgeTask(taskID string, before time.Time, limit int) (f retention.Found, done bool, err error) {
	locked, err := collect(tx, scanString, "SELECT t.id FROM task t WHERE t.id = ? AND "+purgeable+tx.forUpdate(), taskID, us(before))
	if err != nil || len(locked) == 0 {
		return f, true, err
	}
	sizes, err := collect(tx, scanSize, `SELECT length(raw) + COALESCE(length(payload), 0) FROM event WHERE task_id = ? AND purged_us IS NULL ORDER BY number LIMIT ?`, taskID, limit)
	if err == nil {
		f.Events, err = tx.exec(`UPDATE event SET raw = ?, payload = NULL, purged_size = length(raw), purged_us = ?
			WHERE id IN (SELECT id FROM event WHERE task_id = ? AND purged_us IS NULL ORDER BY number LIMIT ?)`, []byte{}, us(tx.now), taskID, limit)
	}
	if err != nil {
		return f, false, fmt.Errorf("purge observations of task %s: %w", taskID, err)
	}
	for _, size := range sizes {
		f.Bytes += size
	}
	if len(sizes) == limit {
		return f, false, nil
	}
	if err := tx.purgeRequests(taskID); err != nil {
		return f, false, err
	}
	return f, true, tx.purgeBlobs(taskID, &f)
}

// purgeRequests takes the bytes of files out of what a task's commands sent. The rest
// of it stays, with each file's name, size and digest.
func (tx *Tx) purgeRequests(taskID string) error {
	ids, err := collect(tx, scanString, "SELECT id FROM command WHERE task_id = ? AND action = 'send' ORDER BY id", taskID)
	for _, id := range ids {
		if err == nil {
			err = tx.purgeRequest(id)
		}
	}
	if err != nil {
		return fmt.Errorf("purge files that were sent on task %s: %w", taskID, err)
	}
	return nil
}

func (tx *Tx) purgeRequest(commandID string) error {
	r, err := tx.CommandByID(commandID)
	if err != nil || r.Unreadable {
		return err
	}
	without, had := r.Request.WithoutFiles()
	if !had {
		return nil
	}
	request, err := without.Encode()
	if err != nil {
		return err
	}
	return tx.execOne("UPDATE command SET request = ? WHERE id = ?", request, commandID)
}

func scanSize(s scanner) (n int64, err error) { return n, s.Scan(&n) }

// purgeBlobs ends the purge of a task. Its bytes are collected later, unless another
// task holds them: not before a copy of the database that refers to them is complete.
func (tx *Tx) purgeBlobs(taskID string, f *retention.Found) error {
	f.Tasks = 1
	err := tx.row("SELECT COUNT(*), COALESCE(SUM(b.size), 0) FROM task_blob tb JOIN blob b ON b.sha256 = tb.sha256 WHERE tb.task_id = ?", taskID).Scan(&f.Artifacts, &f.ArtifactBytes)
	var organisation string
	for _, statement := range []struct {
		query string
		args  []any
	}{
		{`INSERT INTO purged_blob (task_id, sha256, size, filename, media_type, purged_us)
			SELECT tb.task_id, tb.sha256, b.size, tb.filename, tb.media_type, ? FROM task_blob tb JOIN blob b ON b.sha256 = tb.sha256 WHERE tb.task_id = ?
			ON CONFLICT (task_id, sha256) DO NOTHING`, []any{us(tx.now), taskID}},
		{"UPDATE blob SET used_us = ? WHERE sha256 IN (SELECT sha256 FROM task_blob WHERE task_id = ?)", []any{us(tx.now), taskID}},
		{"DELETE FROM task_blob WHERE task_id = ?", []any{taskID}},
		{"UPDATE task SET purged_us = ?, version = version + 1 WHERE id = ?", []any{us(tx.now), taskID}},
	} {
		if err == nil {
			_, err = tx.exec(statement.query, statement.args...)
		}
	}
	if err == nil {
		err = tx.row("SELECT organisation_id FROM task WHERE id = ?", taskID).Scan(&organisation)
	}
	if err != nil {
		return fmt.Errorf("purge files of task %s: %w", taskID, err)
	}
	tx.Signal(live.TaskTopic(taskID), live.OrganisationTopic(organisation))
	return nil
}

// purgedBlob says that bytes which a task held were purged: fault.Gone; or
// fault.NotFound if none ever had them.
func (tx *Tx) purgedBlob(v access.View, sha256 string) error {
	w := seenTasks(v)
	w.and("p.sha256 = ?", sha256)
	var at micros
	err := tx.row("SELECT MAX(p.purged_us) FROM purged_blob p JOIN task t ON t.id = p.task_id WHERE "+w.sql(), w.args...).Scan(&at)
	if err != nil {
		return fmt.Errorf("read what is known of purged bytes: %w", err)
	}
	if at.IsZero() {
		return fault.New(fault.NotFound, "There is no such file.")
	}
	return fault.New(fault.Gone, "This file was purged on %s UTC: files of tasks that ended are kept for a limited time here.", at.Format("2006-01-02 15:04"))
}
