package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/agent-taskbay/taskbay/internal/app"
	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/audit/trail"
	"github.com/agent-taskbay/taskbay/internal/config"
)

type auditCommands struct {
	Verify auditVerify `cmd:"" help:"Recompute the chain of the trail, and find what was changed behind Taskbay's back."`
	Export auditExport `cmd:"" help:"Write the trail, or a part of it, as JSON Lines or CSV."`
}

type auditVerify struct {
	config.Data  `embed:""`
	Organisation string `placeholder:"ID" help:"Only this organisation's trail."`
	Head         string `placeholder:"SEQ:HASH" help:"A head that was printed before, and kept elsewhere: it has to be in the chain. Needs --organisation if there are several."`
}

// Help says what the exit code means.
func (auditVerify) Help() string {
	return "Exits with 1 if a chain is broken, and names the first broken entry, its place and what is wrong: changed, missing, reordered or not sealed. " +
		"The head that it prints stands for the whole trail up to there: whoever keeps it elsewhere can show later that nothing was cut off at the end or made anew."
}

// Run verifies.
func (c auditVerify) Run(ctx context.Context, s Streams) error {
	var known audit.Head
	if c.Head != "" {
		var err error
		if known, err = audit.ParseHead(c.Head); err != nil {
			return &failure{exitUsage, err}
		}
	}
	return withRecord(ctx, c.Data, func(r *app.Record) error {
		organisations, err := r.Verifier.Organisations(ctx)
		if err != nil {
			return err
		}
		if c.Organisation != "" {
			if !slices.Contains(organisations, c.Organisation) {
				return &failure{exitUsage, fmt.Errorf("there is no organisation %s", oneLine(c.Organisation))}
			}
			organisations = []string{c.Organisation}
		}
		if c.Head != "" && len(organisations) > 1 {
			return &failure{exitUsage, fmt.Errorf("a head is of one organisation's trail: give --organisation with --head")}
		}
		return verifyAll(ctx, r.Verifier, organisations, known, s.Out)
	})
}

func verifyAll(ctx context.Context, v *audit.Verifier, organisations []string, known audit.Head, out io.Writer) error {
	var broken []string
	for _, id := range organisations {
		verdict, err := v.Verify(ctx, id, known)
		if err != nil {
			return err
		}
		if verdict.Fault != nil {
			broken = append(broken, faultWords(verdict))
			continue
		}
		if _, err := fmt.Fprintf(out, "Organisation %s: %d entries, unbroken. Head: %s\n", oneLine(id), verdict.Entries, verdict.Head); err != nil {
			return err
		}
	}
	if len(broken) > 0 {
		return &failure{exitFailed, fmt.Errorf("the trail is broken.\n%s", strings.Join(broken, "\n"))}
	}
	return nil
}

// faultWords names the first broken entry, its place and what is wrong.
func faultWords(v audit.Verdict) string {
	f, place, entry := v.Fault, "without a place", ""
	if f.Seq > 0 {
		place = fmt.Sprintf("at %d", f.Seq)
	}
	if f.EntryID != "" {
		entry = " (entry " + oneLine(f.EntryID) + ")"
	}
	return fmt.Sprintf("Organisation %s, %s%s: %s: %s. The %d entries up to %d are unbroken.", oneLine(v.OrganisationID), place, entry, f.Problem, f.Words, v.Entries, v.Head.Seq)
}

type auditExport struct {
	Output      string `arg:"" name:"file" help:"The file to write; - for standard output."`
	config.Data `embed:""`
	Format      string    `enum:"csv,jsonl" default:"jsonl" help:"csv or jsonl."`
	Task        string    `placeholder:"ID" help:"Only entries of this task."`
	Kind        string    `enum:",command,agent,credential,sign-in,access,setting,record" default:"" placeholder:"KIND" help:"Only entries of a kind: command, agent, credential, sign-in, access, setting or record."`
	Person      string    `placeholder:"ID" help:"Only what somebody did, by the ID that the trail has for them."`
	From        time.Time `placeholder:"TIME" help:"Not before, such as 2026-12-01T00:00:00Z."`
	To          time.Time `placeholder:"TIME" help:"Before."`
	Force       bool      `help:"Write over a file that is there."`
}

// Run writes the export.
func (c auditExport) Run(ctx context.Context, s Streams) error {
	return withRecord(ctx, c.Data, func(r *app.Record) error {
		say := s.Out
		var export trail.Export
		write := func(out io.Writer) (err error) {
			f := trail.Filter{TaskID: c.Task, Kind: audit.Kind(c.Kind), PersonID: c.Person, From: c.From, To: c.To}
			if export, err = r.Trail.Export(ctx, operator(), f, trail.Format(c.Format)); err != nil {
				return err
			}
			return export.Write(ctx, out)
		}
		var err error
		if c.Output == "-" {
			say = s.Err
			err = write(s.Out)
		} else {
			err = writeWhole(c.Output, c.Force, write)
		}
		if err == nil {
			_, err = fmt.Fprintf(say, "Exported. Head: %s\n", export.Head)
		}
		return err
	})
}
