package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/artifact"
	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/backup"
	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/config"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/vault"
)

// Restored says what was restored.
type Restored struct {
	backup.Manifest
	Tasks     int64
	Uncertain int      // commands that were about to be sent when the backup was made
	Locked    []string // names of agents whose credential needs a vault key that is not there
	Aside     string   // where the data went that was there before; "" if there was none
}

// Restore puts what an archive holds into the data directory, whole or not at all. The
// directory must be no running server's; data that is in it is an error unless force
// is set, and is moved aside then. Nothing that takes more than most bytes is taken.
// Its errors are for the person who asked.
func Restore(ctx context.Context, o BackupOptions, from io.Reader, most int64, force bool) (r Restored, err error) {
	if err := o.check(); err != nil {
		return r, err
	}
	archive, err := backup.NewReader(reading{ctx, from}, most)
	if err != nil {
		return r, err
	}
	r.Manifest = archive.Manifest
	knows, err := store.SchemaVersion()
	if err == nil && r.Schema > knows {
		err = fmt.Errorf("the backup was made by taskbay %q with schema version %d, and this taskbay knows up to %d: use a newer taskbay", r.Taskbay, r.Schema, knows)
	}
	if err != nil {
		return r, err
	}
	dir := o.Data.DataDir
	lock, err := lockData(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, lock.release()) }()
	place := place{dir: dir, keys: r.Keys != nil}
	if err := place.look(force); err != nil {
		return r, err
	}
	stage, err := os.MkdirTemp(dir, "restore-") // for its owner alone
	if err != nil {
		return r, fmt.Errorf("make room for what is restored: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(stage)) }()
	s := staging{options: o, dir: stage}
	if err := s.unpack(ctx, archive); err != nil {
		return r, err
	}
	if err := s.prepare(ctx, &r); err != nil {
		return r, fmt.Errorf("the database in the backup cannot be used: %w", err)
	}
	r.Aside, err = place.take(stage)
	return r, err
}

// reading is a file that is read until ctx ends.
type reading struct {
	ctx  context.Context
	from io.Reader
}

// Read implements io.Reader.
func (r reading) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}

// staging is a directory in which a record is made ready.
type staging struct {
	options BackupOptions
	dir     string
}

// bucket is where the artifacts go: where the server keeps them if that is not in its
// data directory. Objects have names of their own, so that they are in nobody's way
// there if what follows fails.
func (s staging) bucket(ctx context.Context) (*artifact.Bucket, error) {
	return s.options.Artifacts.Open(ctx, s.dir)
}

func (s staging) unpack(ctx context.Context, archive *backup.Reader) (err error) {
	bucket, err := s.bucket(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bucket.Close()) }()
	for {
		entry, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			switch entry.Kind {
			case backup.Keys:
				err = writeFile(filepath.Join(s.dir, vault.FileName), entry)
			case backup.Database:
				err = writeFile(filepath.Join(s.dir, store.FileName), entry)
			case backup.Artifact:
				err = bucket.Write(ctx, entry.Object, entry)
			}
		}
		if err != nil {
			return err
		}
	}
}

// writeFile makes a file for its owner alone, and durable.
func writeFile(path string, content io.Reader) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // in a directory that this made
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Sync(), file.Close())
}

// prepare brings the database up to date, makes sure that it and the artifacts are
// what they should be, and keeps it from sending what may have been sent.
func (s staging) prepare(ctx context.Context, r *Restored) (err error) {
	db, err := store.OpenSQLite(ctx, s.dir, &live.Hub{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.CheckFile(ctx); err != nil {
		return err
	}
	if err := s.checkArtifacts(ctx, db, r.Artifacts); err != nil {
		return err
	}
	if r.Uncertain, err = command.AfterRestore(ctx, store.For[command.RestoreTx](db.Update), restoredBy(s.options.By, r.Manifest), true); err != nil {
		return err
	}
	if r.Locked, err = s.locked(ctx, db); err != nil {
		return err
	}
	return db.View(ctx, func(tx *store.Tx) (err error) {
		r.Tasks, err = tx.Tasks()
		return err
	})
}

// restoredBy is what the trail says of who restored which backup.
func restoredBy(p access.Principal, m backup.Manifest) audit.Entry {
	return audit.Entry{Actor: p.Actor(), Detail: map[string]string{"backupOf": m.CreatedAt.UTC().Format(time.RFC3339), "taskbay": m.Taskbay}}
}

// checkArtifacts makes sure that the database refers to what came with it.
func (s staging) checkArtifacts(ctx context.Context, db *store.DB, want backup.Artifacts) (err error) {
	bucket, err := s.bucket(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bucket.Close()) }()
	var got backup.Artifacts
	kept := NewArtifacts(db, bucket, 0, slog.New(slog.DiscardHandler))
	err = kept.Each(ctx, func(o artifact.Object) error {
		if !backup.IsObject(o.Name, o.SHA256) {
			return fmt.Errorf("it has an artifact under a name that Taskbay gives to none: %q", o.Name)
		}
		there, err := bucket.Has(ctx, o.Name, o.Size)
		if there {
			got.Count++
			got.Bytes += o.Size
		} else {
			got.Missing++
		}
		return err
	})
	// Where artifacts are kept elsewhere, those may still be there that the backup lacks.
	if err == nil && (got.Count < want.Count || got.Count+got.Missing != want.Count+want.Missing) {
		err = fmt.Errorf("it refers to %d artifacts of which %d are there, and the backup was made of %d and %d", got.Count+got.Missing, got.Count, want.Count+want.Missing, want.Count)
	}
	return err
}

// locked names the agents whose credential cannot be read with the keys that there are.
func (s staging) locked(ctx context.Context, db *store.DB) ([]string, error) {
	ring, err := s.ring()
	if err != nil {
		return nil, err
	}
	all, err := NewCredentials(db, ring, slog.New(slog.DiscardHandler)).List(ctx, access.LocalOperator())
	if err != nil {
		return nil, err
	}
	var agents []string
	for _, c := range all {
		if c.Ended == "" && (ring == nil || !ring.Holds(c.Key)) {
			agents = append(agents, c.AgentName)
		}
	}
	return agents, nil
}

// ring returns the keys that the server will have; nil if there are none yet.
func (s staging) ring() (*vault.Ring, error) {
	keys := s.options.Data.Vault
	for _, dir := range []string{s.dir, s.options.Data.DataDir} {
		if _, err := os.Stat(filepath.Join(dir, vault.FileName)); err == nil || keys.Keys != "" {
			return keys.Ring(dir)
		}
	}
	return nil, nil
}

// AfterRestore makes uncertain what a PostgreSQL database that was restored from a
// copy, or set back to a point in time, was about to send. It returns how many
// commands that were.
func AfterRestore(ctx context.Context, url string, by access.Principal) (n int, err error) {
	db, err := openData(ctx, config.Data{DatabaseURL: url})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return command.AfterRestore(ctx, store.For[command.RestoreTx](db.Update), audit.Entry{Actor: by.Actor()}, false)
}
