package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/app"
	"github.com/agent-taskbay/taskbay/internal/artifact"
	"github.com/agent-taskbay/taskbay/internal/backup"
	"github.com/agent-taskbay/taskbay/internal/config"
)

// backupPlace is what backup and restore take of how a server was started.
type backupPlace struct {
	config.Data `embed:""`
	ArtifactURL string `name:"artifact-url" env:"TASKBAY_ARTIFACT_URL" placeholder:"URL" help:"Where its artifacts are kept, if it is started with that."`
}

func (p backupPlace) options() app.BackupOptions {
	return app.BackupOptions{By: operator(), Data: p.Data, Artifacts: artifact.Options{URL: p.ArtifactURL}, Version: version()}
}

type backupCommand struct {
	Output      string `arg:"" name:"file" help:"The file to write; - for standard output."`
	backupPlace `embed:""`
	WithKeys    bool `help:"Include the file of the vault's keys. Whoever has the backup can then read the credentials of agents in it."`
	Force       bool `help:"Write over a file that is there."`
}

// Help says what is in it.
func (backupCommand) Help() string {
	return "The file holds the SQLite database as it is at one instant, and every artifact that it refers to. The server may run meanwhile. " +
		"Without --with-keys, keep vault.key, or the value of TASKBAY_VAULT_KEYS, elsewhere: without it the credentials in a backup cannot be used."
}

// Run writes the backup.
func (c backupCommand) Run(ctx context.Context, s Streams) error {
	o := c.options()
	o.WithKeys = c.WithKeys
	say := s.Out
	var made backup.Manifest
	write := func(out io.Writer) (err error) {
		made, err = app.Backup(ctx, o, out)
		return err
	}
	var err error
	if c.Output == "-" {
		say = s.Err
		err = write(s.Out)
	} else {
		err = writeWhole(c.Output, c.Force, write)
	}
	if err != nil {
		return err
	}
	return c.tell(say, made)
}

func (c backupCommand) tell(out io.Writer, m backup.Manifest) error {
	var text strings.Builder
	_, _ = fmt.Fprintf(&text, "Backed up the database, %s, and %s, %s.\n", count(m.Database.Size, "byte"), count(m.Artifacts.Count, "artifact"), count(m.Artifacts.Bytes, "byte"))
	if m.Artifacts.Missing > 0 {
		_, _ = fmt.Fprintf(&text, "%s %s not in it: bytes are missing where artifacts are kept.\n", count(m.Artifacts.Missing, "artifact"), is(m.Artifacts.Missing))
	}
	if m.Keys != nil {
		text.WriteString("The vault's keys are in it: whoever has it can read the credentials of agents.\n")
	} else {
		text.WriteString("The vault's keys are not in it: keep them elsewhere, as without them the credentials of agents have to be set anew.\n")
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// writeWhole writes a file for its owner alone, which appears whole or not at all.
// One that is there is an error unless force is set.
func writeWhole(path string, force bool, write func(io.Writer) error) error {
	if _, err := os.Lstat(path); err == nil && !force {
		return &failure{exitUsage, fmt.Errorf("%s is there already: name another file, or write over it with --force", path)}
	}
	draft := path + "." + rand.Text()[:8]
	file, err := os.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // beside the file that the person named
	if err != nil {
		return &failure{exitUsage, err}
	}
	if err := errors.Join(write(file), file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(draft))
	}
	if err := os.Rename(draft, path); err != nil {
		return errors.Join(err, os.Remove(draft))
	}
	if runtime.GOOS == "windows" { // where directories cannot be synced
		return nil
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

type restoreCommand struct {
	Input       string `arg:"" name:"file" help:"The backup; - for standard input."`
	backupPlace `embed:""`
	Force       bool  `help:"Move data that is in the data directory aside, into a directory before-restore-… in it. Nothing is deleted."`
	MaxSize     int64 `default:"64" placeholder:"GIB" help:"Most gibibytes that the backup may take, unpacked."`
}

// Help says what is checked.
func (restoreCommand) Help() string {
	return "The server must not run. Everything is checked before anything is put in its place: the data directory has all of the backup afterwards, or is as it was. " +
		"Commands that were about to be sent when the backup was made are uncertain then, as they may have been sent after that: a person decides about each."
}

const maxRestoreGiB = 1 << 20

// Run restores the backup.
func (c restoreCommand) Run(ctx context.Context, s Streams) error {
	if c.MaxSize < 1 || c.MaxSize > maxRestoreGiB {
		return &failure{exitUsage, fmt.Errorf("--max-size is from 1 to %d", maxRestoreGiB)}
	}
	from := s.In
	if c.Input != "-" {
		file, err := os.Open(c.Input)
		if err != nil {
			return &failure{exitUsage, err}
		}
		defer func() { _ = file.Close() }() // it was only read
		from = file
	}
	restored, err := app.Restore(ctx, c.options(), from, c.MaxSize<<30, c.Force)
	if err != nil {
		return fmt.Errorf("%w.\nNothing was restored", err)
	}
	return c.tell(s.Out, restored)
}

func (c restoreCommand) tell(out io.Writer, r app.Restored) error {
	var text strings.Builder
	_, _ = fmt.Fprintf(&text, "Restored %s and %s into %s, as they were at %s UTC.\n", count(r.Tasks, "task"), count(r.Artifacts.Count, "artifact"), c.DataDir, r.CreatedAt.UTC().Format("2006-01-02 15:04:05"))
	if r.Aside != "" {
		_, _ = fmt.Fprintf(&text, "What was there before is in %s.\n", r.Aside)
	}
	if r.Uncertain > 0 {
		_, _ = fmt.Fprintf(&text, "%s %s about to be sent then, and may have been sent since: now uncertain. The task's page offers to ask the agent and to send again.\n", count(r.Uncertain, "command"), was(r.Uncertain))
	}
	if len(r.Locked) > 0 {
		_, _ = fmt.Fprintf(&text, "The vault's key for the credentials of %s is not here: put vault.key, or TASKBAY_VAULT_KEYS, back before the first start, or set them anew:\n", count(len(r.Locked), "agent"))
		for _, name := range r.Locked {
			_, _ = fmt.Fprintf(&text, "  %s\n", oneLine(name))
		}
	}
	_, err := io.WriteString(out, text.String())
	return err
}
