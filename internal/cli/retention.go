package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/agent-taskbay/taskbay/internal/app"
	"github.com/agent-taskbay/taskbay/internal/config"
	"github.com/agent-taskbay/taskbay/internal/retention"
)

type retentionCommands struct {
	Show retentionShow `cmd:"" help:"Say for how long raw observations and files of tasks that ended are kept."`
	Set  retentionSet  `cmd:"" help:"Set for how many days they are kept after a task's last change, or that they are kept for ever."`
	Run  retentionRun  `cmd:"" help:"Purge now what is kept no longer, or count what that would be."`
}

type retentionShow struct {
	config.Data `embed:""`
}

// Run says what is set.
func (c retentionShow) Run(ctx context.Context, s Streams) error {
	return withRecord(ctx, c.Data, func(r *app.Record) error {
		setting, err := r.Retention.Get(ctx, operator())
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(s.Out, retentionWords(setting))
		return err
	})
}

func retentionWords(setting retention.Setting) string {
	text := "Raw observations and files are kept for ever."
	if setting.Days > 0 {
		text = fmt.Sprintf("Raw observations and files of tasks that ended are purged %s after their last change.", count(setting.Days, "day"))
	}
	if setting.SetBy != "" {
		text += fmt.Sprintf(" Set by %s at %s UTC.", oneLine(setting.SetBy), setting.SetAt.UTC().Format("2006-01-02 15:04"))
	}
	return text + "\n"
}

type retentionSet struct {
	Days        string `arg:"" help:"1 to 36500 days, or off."`
	config.Data `embed:""`
}

// Run sets it.
func (c retentionSet) Run(ctx context.Context, s Streams) error {
	var days int64
	if c.Days != "off" {
		var err error
		if days, err = strconv.ParseInt(c.Days, 10, 64); err != nil || days < 1 || days > retention.MaxDays {
			return &failure{exitUsage, fmt.Errorf("%q is no number of days: 1 to %d, or off", c.Days, retention.MaxDays)}
		}
	}
	return withRecord(ctx, c.Data, func(r *app.Record) error {
		setting, err := r.Retention.Set(ctx, operator(), days)
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(s.Out, retentionWords(setting))
		return err
	})
}

type retentionRun struct {
	config.Data `embed:""`
	DryRun      bool   `help:"Count what would be purged, and change nothing."`
	Days        *int64 `placeholder:"DAYS" help:"With --dry-run: count as if this were set."`
}

// Run purges, or counts.
func (c retentionRun) Run(ctx context.Context, s Streams) error {
	if c.Days != nil && !c.DryRun {
		return &failure{exitUsage, fmt.Errorf("--days only counts: give --dry-run with it, or set it with taskbay retention set")}
	}
	return withRecord(ctx, c.Data, func(r *app.Record) error {
		setting, err := r.Retention.Get(ctx, operator())
		if err != nil {
			return err
		}
		if c.Days != nil {
			setting.Days = *c.Days
		}
		if setting.Days == 0 {
			_, err = fmt.Fprint(s.Out, retentionWords(setting))
			return err
		}
		verb := "Purged"
		var found retention.Found
		if c.DryRun {
			verb = "Would purge"
			found, err = r.Retention.Try(ctx, operator(), setting.Days)
		} else {
			found, err = r.Retention.Purge(ctx, operator())
		}
		if err != nil {
			return explainFields(err, map[string]string{"days": "--days"})
		}
		_, err = fmt.Fprintf(s.Out, "%s %s, %s, and %s, %s, of %s.\n", verb,
			count(found.Events, "observation"), count(found.Bytes, "byte"), count(found.Artifacts, "file"), count(found.ArtifactBytes, "byte"), count(found.Tasks, "task"))
		return err
	})
}
