// Package retention purges what agents sent, byte for byte, once it is no longer
// needed: the raw observations of tasks that ended a while ago, and their files. The
// record of who did what stays: commands, messages, changes of state, artifacts' texts.
// It is off unless somebody turns it on.
package retention

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// MaxDays is the longest time that can be set: a hundred years.
const MaxDays = 36500

// Setting says for how long an organisation keeps what is purged.
type Setting struct {
	Days  int64     // since the last change of a task that has ended; 0: for ever
	SetBy string    // whose choice that is; "" if nobody ever chose
	SetAt time.Time // zero if nobody did
}

// Found is what is, or would be, purged.
type Found struct {
	Tasks         int64
	Events        int64 // raw observations
	Bytes         int64 // of them
	Artifacts     int64 // files that tasks hold
	ArtifactBytes int64 // of them; bytes that other tasks hold as well stay
}

func (f *Found) add(g Found) {
	f.Tasks += g.Tasks
	f.Events += g.Events
	f.Bytes += g.Bytes
	f.Artifacts += g.Artifacts
	f.ArtifactBytes += g.ArtifactBytes
}

// Tx is a transaction of the record as the package needs it. A task can be purged if it
// has ended, or is a conversation in which the agent answered with messages alone;
// nothing of it has changed since before; none of its commands is pending, dispatching
// or uncertain; and it was not purged since its last change.
type Tx interface {
	Now() time.Time
	// Retention returns an organisation's setting; the zero one if it has none.
	Retention(organisationID string) (Setting, error)
	SetRetention(organisationID, personID string, s Setting) error
	// Retaining returns all organisations that do not keep everything for ever.
	Retaining() (organisationIDs []string, err error)
	// Purgeable counts what would be purged.
	Purgeable(organisationID string, before time.Time) (Found, error)
	// PurgeableTasks returns tasks that can be purged.
	PurgeableTasks(organisationID string, before time.Time, limit int) ([]string, error)
	// TaskHead returns a task, fault.NotFound if there is none.
	TaskHead(taskID string) (task.Head, task.Owner, error)
	// AnyAgent returns one agent; fault.NotFound if there is none of that ID.
	AnyAgent(id string) (agent.Agent, error)
	// PurgeTask purges up to limit observations of a task, if it still can be, and, once
	// none is left, its files, also those in what its commands sent. done says that nothing is left to purge.
	PurgeTask(taskID string, before time.Time, limit int) (purged Found, done bool, err error)
	// TakeTurn reports whether it is this process's turn to do what name says, which
	// makes the next turn no earlier than next.
	TakeTurn(name string, next time.Time) (bool, error)
	// Audit puts an entry on the trail, if the transaction is committed.
	Audit(audit.Entry) error
}

// What one transaction purges, and how often it is looked.
const (
	batch = 50 // observations, each of some megabytes at most
	page  = 100
	every = 24 * time.Hour
	turn  = "purge"
)

// Service keeps to what is set. Whatever takes a principal is for administrators
// alone; others get fault.Forbidden.
type Service struct {
	Update func(context.Context, func(Tx) error) error
	View   func(context.Context, func(Tx) error) error
	Log    *slog.Logger
}

// Get returns what is set.
func (s *Service) Get(ctx context.Context, p access.Principal) (setting Setting, err error) {
	if err := access.Allow(p, access.NeedAdminister); err != nil {
		return Setting{}, err
	}
	err = s.View(ctx, func(tx Tx) (err error) {
		setting, err = tx.Retention(p.OrganisationID)
		return err
	})
	return setting, err
}

// Set sets for how many days raw observations and files are kept; 0 is for ever.
// fault.Unprocessable for a number that is none.
func (s *Service) Set(ctx context.Context, p access.Principal, days int64) (setting Setting, err error) {
	if err := access.Allow(p, access.NeedAdminister); err != nil {
		return Setting{}, err
	}
	if err := checkDays(days); err != nil {
		return Setting{}, err
	}
	err = s.Update(ctx, func(tx Tx) error {
		former, err := tx.Retention(p.OrganisationID)
		if err != nil {
			return err
		}
		setting = Setting{Days: days, SetBy: p.Name, SetAt: tx.Now()}
		if err := tx.SetRetention(p.OrganisationID, p.PersonID, setting); err != nil {
			return err
		}
		return tx.Audit(audit.Entry{
			OrganisationID: p.OrganisationID, Actor: p.Actor(), Action: audit.RetentionSet,
			Detail: map[string]string{"days": strconv.FormatInt(days, 10), "before": strconv.FormatInt(former.Days, 10)},
		})
	})
	return setting, err
}

func checkDays(days int64) error {
	if days < 0 || days > MaxDays {
		return &fault.Error{
			Kind: fault.Unprocessable, Message: "This is no number of days to keep things for.",
			Fields: []fault.Field{{Location: "days", Message: "0 to keep everything for ever, or 1 to 36500."}},
		}
	}
	return nil
}

// Try counts what would be purged with a number of days; nothing is changed.
// fault.Unprocessable for a number that is none.
func (s *Service) Try(ctx context.Context, p access.Principal, days int64) (found Found, err error) {
	if err := access.Allow(p, access.NeedAdminister); err != nil {
		return Found{}, err
	}
	if err := checkDays(days); err != nil || days == 0 {
		return found, err
	}
	err = s.View(ctx, func(tx Tx) (err error) {
		found, err = tx.Purgeable(p.OrganisationID, before(tx, days))
		return err
	})
	return found, err
}

func before(tx Tx, days int64) time.Time { return tx.Now().AddDate(0, 0, -int(days)) }

// Purge purges what is due by what is set, and returns what that was. What it did
// before an error stays done.
func (s *Service) Purge(ctx context.Context, p access.Principal) (Found, error) {
	if err := access.Allow(p, access.NeedAdminister); err != nil {
		return Found{}, err
	}
	return s.purge(ctx, p.OrganisationID, p.Actor())
}

func (s *Service) purge(ctx context.Context, organisationID string, by audit.Actor) (all Found, err error) {
	for {
		var due time.Time
		var ids []string
		err := s.View(ctx, func(tx Tx) error {
			setting, err := tx.Retention(organisationID)
			if err != nil || setting.Days == 0 {
				return err
			}
			due = before(tx, setting.Days)
			ids, err = tx.PurgeableTasks(organisationID, due, page)
			return err
		})
		if err != nil || len(ids) == 0 {
			return all, err
		}
		for _, id := range ids {
			purged, err := s.purgeTask(ctx, id, due, by)
			all.add(purged)
			if err != nil {
				return all, err
			}
		}
	}
}

// purgeTask purges a task, in as many transactions as that takes. The last one puts it on
// the trail.
func (s *Service) purgeTask(ctx context.Context, id string, due time.Time, by audit.Actor) (all Found, err error) {
	for done := false; !done; {
		var purged Found
		err := s.Update(ctx, func(tx Tx) (err error) {
			if purged, done, err = tx.PurgeTask(id, due, batch); err != nil || purged.Tasks == 0 {
				return err
			}
			sum := all
			sum.add(purged)
			return auditPurge(tx, id, by, sum)
		})
		if err != nil {
			return all, err
		}
		all.add(purged)
	}
	return all, nil
}

func auditPurge(tx Tx, taskID string, by audit.Actor, purged Found) error {
	head, owner, err := tx.TaskHead(taskID)
	if err != nil {
		return err
	}
	a, err := tx.AnyAgent(owner.AgentID)
	if err != nil {
		return err
	}
	return tx.Audit(audit.Entry{
		OrganisationID: owner.OrganisationID, Actor: by, Action: audit.TaskPurged, AgentID: a.ID, AgentName: a.Name, TaskID: head.TaskID,
		Detail: map[string]string{
			"observations": strconv.FormatInt(purged.Events, 10), "bytes": strconv.FormatInt(purged.Bytes, 10),
			"files": strconv.FormatInt(purged.Artifacts, 10), "fileBytes": strconv.FormatInt(purged.ArtifactBytes, 10),
		},
	})
}

// Run purges once a day, in one of the processes that share a record, until ctx ends.
// It returns nil.
func (s *Service) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := s.inTurn(ctx); err != nil && ctx.Err() == nil {
			s.Log.Error("purge what is kept no longer", "error", err)
		}
		timer := time.NewTimer(time.Hour)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
	return nil
}

func (s *Service) inTurn(ctx context.Context) error {
	mine := false
	var organisations []string
	err := s.Update(ctx, func(tx Tx) (err error) {
		if mine, err = tx.TakeTurn(turn, tx.Now().Add(every)); err == nil && mine {
			organisations, err = tx.Retaining()
		}
		return err
	})
	if err != nil || !mine {
		return err
	}
	for _, id := range organisations {
		found, err := s.purge(ctx, id, audit.Taskbay())
		if found.Tasks > 0 {
			s.Log.Info("purged raw observations and files of tasks that ended long ago", "organisation", id, "tasks", found.Tasks, "events", found.Events, "artifacts", found.Artifacts)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
