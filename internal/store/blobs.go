package store

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/artifact"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// AttachBlob implements task.Tx. The row is changed before it is referred to: a
// collection that is about to drop it waits, and sees that it is used.
func (tx *Tx) AttachBlob(taskID string, b task.Blob) error {
	err := tx.execOne("UPDATE blob SET used_us = ?, stored_us = COALESCE(stored_us, ?) WHERE sha256 = ? AND object = ? AND object <> ''",
		us(tx.now), us(tx.now), b.Info.SHA256, b.Object)
	if err == nil {
		_, err = tx.exec("INSERT INTO task_blob (task_id, sha256, filename, media_type) VALUES (?, ?, ?, ?) ON CONFLICT (task_id, sha256) DO NOTHING",
			taskID, b.Info.SHA256, b.Info.Filename, b.Info.MediaType)
	}
	if err != nil {
		return fmt.Errorf("refer to stored bytes: %w", err)
	}
	return nil
}

// Blob implements task.BlobTx.
func (tx *Tx) Blob(v access.View, sha256 string) (task.Blob, error) {
	var b task.Blob
	w := seenTasks(v)
	w.and("b.sha256 = ?", sha256)
	err := tx.row(`SELECT b.sha256, b.size, tb.filename, tb.media_type,
			CASE WHEN b.stored_us IS NULL THEN '' ELSE b.object END, CASE WHEN b.stored_us IS NULL THEN b.content END
		FROM blob b JOIN task_blob tb ON tb.sha256 = b.sha256 JOIN task t ON t.id = tb.task_id
		WHERE `+w.sql()+` LIMIT 1`, w.args...).
		Scan(&b.Info.SHA256, &b.Info.Size, &b.Info.Filename, &b.Info.MediaType, &b.Object, &b.Content)
	if errors.Is(err, sql.ErrNoRows) {
		return b, tx.purgedBlob(v, sha256)
	}
	if err != nil {
		return b, fmt.Errorf("read what is known of bytes: %w", err)
	}
	return b, nil
}

const objectColumns = "sha256, size, object, stored_us IS NOT NULL, used_us"

func scanObject(s scanner) (artifact.Object, error) {
	var o artifact.Object
	var used micros
	err := s.Scan(&o.SHA256, &o.Size, &o.Name, &o.Stored, &used)
	o.UsedAt = used.Time
	return o, err
}

// objectOf returns the object of a query for one; the zero one if there is none.
func (tx *Tx) objectOf(query string, args ...any) (artifact.Object, error) {
	o, err := scanObject(tx.row(query, args...))
	if errors.Is(err, sql.ErrNoRows) {
		return artifact.Object{}, nil
	}
	if err != nil {
		return artifact.Object{}, fmt.Errorf("read what is known of bytes: %w", err)
	}
	return o, nil
}

// Object implements artifact.Tx.
func (tx *Tx) Object(sha256 string) (artifact.Object, error) {
	return tx.objectOf("SELECT "+objectColumns+" FROM blob WHERE sha256 = ?", sha256)
}

// LatestObject implements artifact.Tx.
func (tx *Tx) LatestObject() (artifact.Object, error) {
	return tx.objectOf("SELECT " + objectColumns + " FROM blob WHERE stored_us IS NOT NULL ORDER BY stored_us DESC LIMIT 1")
}

// ReserveObject implements artifact.Tx.
func (tx *Tx) ReserveObject(sha256 string, size int64, name string) (artifact.Object, error) {
	o, err := scanObject(tx.row(`INSERT INTO blob (sha256, size, content, created_us, object, used_us) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (sha256) DO UPDATE SET used_us = excluded.used_us, object = CASE WHEN blob.object = '' THEN excluded.object ELSE blob.object END
		RETURNING `+objectColumns, sha256, size, []byte{}, us(tx.now), name, us(tx.now)))
	if err != nil {
		return o, fmt.Errorf("reserve the name of bytes: %w", err)
	}
	return o, nil
}

const unused = "used_us < ? AND NOT EXISTS (SELECT 1 FROM task_blob tb WHERE tb.sha256 = blob.sha256)"

// UnusedObjects implements artifact.Tx.
func (tx *Tx) UnusedObjects(before time.Time, after string, limit int) ([]artifact.Object, error) {
	return collect(tx, scanObject, "SELECT "+objectColumns+" FROM blob WHERE sha256 > ? AND "+unused+" ORDER BY sha256 LIMIT ?", after, us(before), limit)
}

// ReferencedObjects implements artifact.Tx.
func (tx *Tx) ReferencedObjects(after string, limit int) ([]artifact.Object, error) {
	return collect(tx, scanObject, "SELECT "+objectColumns+` FROM blob WHERE sha256 > ? AND stored_us IS NOT NULL
		AND EXISTS (SELECT 1 FROM task_blob tb WHERE tb.sha256 = blob.sha256) ORDER BY sha256 LIMIT ?`, after, limit)
}

// DropObject implements artifact.Tx.
func (tx *Tx) DropObject(sha256 string, before time.Time) (bool, error) {
	var name string
	err := tx.row("DELETE FROM blob WHERE sha256 = ? AND "+unused+" RETURNING object", sha256, us(before)).Scan(&name)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err == nil && name != "" {
		_, err = tx.exec("INSERT INTO blob_garbage (object, since_us) VALUES (?, ?)", name, us(tx.now))
	}
	if err != nil {
		return false, fmt.Errorf("drop bytes that nothing refers to: %w", err)
	}
	return true, nil
}

// Garbage implements artifact.Tx.
func (tx *Tx) Garbage(limit int) ([]string, error) {
	return collect(tx, scanString, "SELECT object FROM blob_garbage ORDER BY since_us, object LIMIT ?", limit)
}

// ForgetGarbage implements artifact.Tx.
func (tx *Tx) ForgetGarbage(name string) error {
	_, err := tx.exec("DELETE FROM blob_garbage WHERE object = ?", name)
	return err
}

// ObjectInRow implements artifact.Tx.
func (tx *Tx) ObjectInRow() (o artifact.Object, content []byte, ok bool, err error) {
	err = tx.row("SELECT sha256, size, content FROM blob WHERE object = '' OR length(content) > 0 LIMIT 1").Scan(&o.SHA256, &o.Size, &content)
	if errors.Is(err, sql.ErrNoRows) {
		return o, nil, false, nil
	}
	if err != nil {
		return o, nil, false, fmt.Errorf("read bytes in the database: %w", err)
	}
	return o, content, true, nil
}

// ObjectMoved implements artifact.Tx.
func (tx *Tx) ObjectMoved(sha256, name string) error {
	_, err := tx.exec("UPDATE blob SET content = ?, stored_us = COALESCE(stored_us, ?) WHERE sha256 = ? AND object = ?", []byte{}, us(tx.now), sha256, name)
	if err != nil {
		return fmt.Errorf("take moved bytes out of the database: %w", err)
	}
	return nil
}

// TakeTurn implements artifact.Tx.
func (tx *Tx) TakeTurn(name string, next time.Time) (bool, error) {
	n, err := tx.exec("INSERT INTO duty (name, due_us) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET due_us = excluded.due_us WHERE duty.due_us <= ?",
		name, us(next), us(tx.now))
	if err != nil {
		return false, fmt.Errorf("take a turn: %w", err)
	}
	return n == 1, nil
}
