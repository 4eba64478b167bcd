package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/artifact"
	"github.com/agent-taskbay/taskbay/internal/backup"
	"github.com/agent-taskbay/taskbay/internal/config"
	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/vault"
)

// BackupOptions say what a backup is made of, or restored to.
type BackupOptions struct {
	By        access.Principal // who asked
	Data      config.Data
	Artifacts artifact.Options // where the server keeps them
	WithKeys  bool             // include the file of the vault's keys
	Version   string           // of this program
}

// errPostgres sends to the documentation.
var errPostgres = errors.New("this is for Taskbay on SQLite. On PostgreSQL, pg_dump and pg_restore copy the database, and the artifacts are copied after it:\n" +
	"docs/backup.md says in which order, and what to run after a restore")

// Backup writes an archive of the database and of the artifacts that it refers to,
// beside the server that may be running. Its errors are for the person who asked.
func Backup(ctx context.Context, o BackupOptions, out io.Writer) (m backup.Manifest, err error) {
	if err := o.check(); err != nil {
		return m, err
	}
	if err := hasRecord(o.Data.DataDir); err != nil {
		return m, err
	}
	var keys []byte
	if o.WithKeys {
		if keys, err = readKeys(o.Data); err != nil {
			return m, err
		}
	}
	draft, err := os.MkdirTemp(o.Data.DataDir, "backup-") // for its owner alone
	if err != nil {
		return m, fmt.Errorf("make room for a copy of the database: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(draft)) }()
	snapshot, err := store.SnapshotSQLite(ctx, o.Data.DataDir, draft)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	bucket, err := o.Artifacts.Open(ctx, o.Data.DataDir)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, bucket.Close()) }()
	b := backupWriter{keys: keys, file: filepath.Join(draft, store.FileName), kept: NewArtifacts(snapshot.DB, bucket, 0, slog.New(slog.DiscardHandler))}
	b.manifest = backup.Manifest{Taskbay: o.Version, Schema: snapshot.Schema, CreatedAt: time.Now().UTC().Truncate(time.Second)}
	if err := b.look(ctx); err != nil {
		return m, err
	}
	return b.manifest, b.write(ctx, out)
}

func (o BackupOptions) check() error {
	if o.Data.DatabaseURL != "" {
		return errPostgres
	}
	return o.Artifacts.Validate()
}

// readKeys returns the file of the vault's keys.
func readKeys(d config.Data) ([]byte, error) {
	if d.Vault.Keys != "" {
		return nil, errors.New("the vault's keys are not in the data directory but come from TASKBAY_VAULT_KEYS: keep them where you keep that, and leave --with-keys out")
	}
	keys, err := os.ReadFile(filepath.Join(d.DataDir, vault.FileName)) // in the data directory that the person named
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there are no keys in %s: leave --with-keys out", d.DataDir)
	}
	if err == nil {
		_, err = vault.ParseRing(string(keys), d.Vault.Active)
	}
	if err != nil {
		return nil, fmt.Errorf("the file of keys cannot be backed up: %w", err)
	}
	return keys, nil
}

// backupWriter writes one archive.
type backupWriter struct {
	manifest backup.Manifest
	keys     []byte // nil to leave them out
	file     string // the copy of the database
	kept     *artifact.Keeper
}

// look completes the manifest.
func (b *backupWriter) look(ctx context.Context) error {
	if b.keys != nil {
		sum := sha256.Sum256(b.keys)
		b.manifest.Keys = &backup.File{SHA256: hex.EncodeToString(sum[:]), Size: int64(len(b.keys))}
	}
	err := b.withFile(func(file *os.File) (err error) {
		b.manifest.Database, err = backup.Digest(file)
		return err
	})
	if err != nil {
		return err
	}
	a := &b.manifest.Artifacts
	return b.kept.Each(ctx, func(o artifact.Object) error {
		there, err := b.kept.Bucket.Has(ctx, o.Name, o.Size)
		switch {
		case err != nil:
		case there:
			a.Count++
			a.Bytes += o.Size
		default:
			a.Missing++
		}
		return err
	})
}

func (b *backupWriter) withFile(f func(*os.File) error) error {
	file, err := os.Open(b.file)
	if err != nil {
		return err
	}
	return errors.Join(f(file), file.Close())
}

func (b *backupWriter) write(ctx context.Context, out io.Writer) error {
	w, err := backup.NewWriter(out, b.manifest)
	if err == nil && b.keys != nil {
		err = w.Keys(b.keys)
	}
	if err == nil {
		err = b.withFile(func(file *os.File) error { return w.Database(reading{ctx, file}) })
	}
	if err == nil {
		err = b.kept.Each(ctx, func(o artifact.Object) error { return b.add(ctx, w, o) })
	}
	if err != nil {
		return err
	}
	return w.Close()
}

// add adds an artifact, unless it is missing as it was before.
func (b *backupWriter) add(ctx context.Context, w *backup.Writer, o artifact.Object) error {
	content, err := b.kept.Bucket.Open(ctx, o.Name, o.Size)
	if errors.Is(err, artifact.ErrMissing) {
		return nil // Close of the archive tells if it was there when they were counted
	}
	if err != nil {
		return err
	}
	if err := errors.Join(w.Artifact(o.Name, o.Size, content), content.Close()); err != nil {
		return fmt.Errorf("%w.\nIf the file is damaged where artifacts are kept, move it away: the next backup is made without it, and says so", err)
	}
	return nil
}
