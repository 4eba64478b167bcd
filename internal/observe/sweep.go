package observe

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/task"
	"github.com/agent-taskbay/taskbay/internal/worker"
)

// What a sweep keeps to.
const (
	sweepEvery  = time.Minute      // of an agent that has open tasks here
	sweepQuiet  = 5 * time.Minute  // the same, if none of them has been heard of for quietTime
	sweepAtMost = time.Hour        // between sweeps that bring nothing
	quietTime   = time.Hour        // see sweepQuiet
	sweepTime   = 2 * time.Minute  // for all pages of one
	sweepClaim  = 5 * time.Minute  // after this one that did not end is due again
	sweepLook   = 10 * time.Second // at most, between looks which are due

	allSweeps  = 16       // at once
	sweepPages = 20       // of one sweep
	sweepBytes = 32 << 20 // of one sweep; a single page may have more
	sweepTasks = 5000     // open tasks that one sweep looks for
)

// SweepTx is a transaction of the record as sweeps need it.
type SweepTx interface {
	Now() time.Time
	Signal(topics ...string)
	// ClaimSweeps returns agents whose tasks are to be listed, the one that has waited
	// longest first, and puts their next sweep at next. They have an open task that was
	// made before since, and have not refused to list.
	ClaimSweeps(limit int, since, next time.Time) ([]Sweep, error)
	// OpenTasks returns tasks of an agent that have not ended, those first that were
	// heard of last.
	OpenTasks(agentID string, limit int) ([]Open, error)
	// AskSoon makes a check due now that would be later, and keeps its interval.
	AskSoon(taskID string) error
	// PutOffCheck plans a check for later, unless it has been planned anew since it was
	// read.
	PutOffCheck(o Open, at time.Time, interval time.Duration) error
	// StoreSweep keeps what came of a sweep.
	StoreSweep(Swept) error
}

// Sweep is an agent whose tasks are to be listed.
type Sweep struct {
	AgentID        string
	OrganisationID string
	Way            string        // names the card, interface and credential that it is called with now
	Interval       time.Duration // the one that has passed
	Problem        string        // of the sweep before, in words
}

// Open is an open task as a sweep compares it.
type Open struct {
	Head     task.Head // without what nothing of a list is compared with
	Tenant   string
	CheckAt  time.Time     // the planned check
	Interval time.Duration // the one before it
	Failed   bool          // the agent could not be asked the last time
}

// Swept is what came of a sweep.
type Swept struct {
	AgentID  string
	Next     time.Time
	Interval time.Duration
	Listed   bool   // the agent lists
	Refused  string // the way in which it refused to list, for good; "" if it did not
	Problem  string // in words; "" for nothing
}

// Lister is the way to the agents as the sweeper needs it.
type Lister interface {
	List(ctx context.Context, t remote.Target, r remote.ListRequest) (remote.Page, error)
}

// Sweeper lists the tasks of each agent that has open ones here, as far as the agent
// lists. A task that the list shows otherwise than it is known is asked about at once;
// one that it shows unchanged is asked about less often. Nothing of a list is taken
// into the record, and tasks that are not known stay so.
type Sweeper struct {
	Update func(context.Context, func(SweepTx) error) error
	Agents Agents
	Remote Lister
	Every  time.Duration // 0 is a minute
	Log    *slog.Logger

	room    *worker.Room
	running sync.WaitGroup
}

// Run sweeps until ctx ends.
func (s *Sweeper) Run(ctx context.Context) error {
	if s.Every <= 0 {
		s.Every = sweepEvery
	}
	s.room = worker.NewRoom(allSweeps, 1)
	defer s.running.Wait()
	for ctx.Err() == nil {
		if err := s.begin(ctx); err != nil && ctx.Err() == nil {
			s.Log.Error("look for agents whose tasks are to be listed", "error", err)
		}
		timer := time.NewTimer(min(s.Every/2, sweepLook))
		select {
		case <-ctx.Done():
		case <-s.room.Freed():
		case <-timer.C:
		}
		timer.Stop()
	}
	return nil
}

// begin starts the sweeps that are due, as many as there is room for.
func (s *Sweeper) begin(ctx context.Context) error {
	room := s.room.LeftInAll()
	if room == 0 {
		return nil
	}
	var due []Sweep
	err := s.Update(ctx, func(tx SweepTx) (err error) {
		due, err = tx.ClaimSweeps(room, tx.Now().Add(-s.Every), tx.Now().Add(sweepClaim))
		return err
	})
	for _, w := range due {
		s.room.Take(w.AgentID)
		s.running.Go(func() {
			defer s.room.Leave(w.AgentID)
			if err := s.sweep(ctx, w); err != nil && ctx.Err() == nil {
				s.Log.Error("store what came of listing an agent's tasks", "agent", w.AgentID, "error", err)
			}
		})
	}
	return err
}

// sweep lists the tasks of an agent and plans when to do it again.
func (s *Sweeper) sweep(ctx context.Context, w Sweep) error {
	var open []Open
	err := s.Update(ctx, func(tx SweepTx) (err error) {
		open, err = tx.OpenTasks(w.AgentID, sweepTasks)
		return err
	})
	if err != nil {
		return err
	}
	found, failure, err := s.listAll(ctx, w, open)
	if err != nil || ctx.Err() != nil {
		return err
	}
	swept := Swept{AgentID: w.AgentID, Listed: failure == nil}
	switch {
	case failure != nil:
		swept.Problem, swept.Interval = problemOf(failure), longer(w.Interval, s.Every)
		if refusesToList(failure) {
			swept.Refused = w.Way
		}
	case found == 0 && len(open) > 0:
		swept.Problem, swept.Interval = "Its list shows none of the tasks that it has from here.", longer(w.Interval, s.Every)
	default:
		swept.Interval = s.Every
		if allQuiet(open, time.Now()) {
			swept.Interval = max(s.Every, sweepQuiet)
		}
	}
	if swept.Problem != "" && swept.Problem != w.Problem {
		s.Log.Info("an agent's tasks are not listed", "agent", w.AgentID, "problem", swept.Problem)
	}
	return s.Update(ctx, func(tx SweepTx) error {
		swept.Next = tx.Now().Add(swept.Interval + rand.N(swept.Interval/4+1))
		return tx.StoreSweep(swept)
	})
}

func longer(last, every time.Duration) time.Duration { return min(max(2*last, every), sweepAtMost) }

func allQuiet(open []Open, now time.Time) bool {
	return !slices.ContainsFunc(open, func(o Open) bool { return now.Sub(o.Head.ObservedAt) < quietTime })
}

// refusals are the answers of agents that do not list, or not to this caller. That
// the call is not even sent, as the protocol has none, is one of them. HTTP 404 is
// none: it may be a proxy's, for a while.
var refusals = []string{
	remote.CodeUnsupportedOperation, remote.CodeMethodNotFound, remote.CodeUnauthenticated, remote.CodeUnauthorized,
	"HTTP 401", "HTTP 403", "HTTP 405", "HTTP 501",
}

func refusesToList(err error) bool {
	var answer *remote.Error
	return errors.As(err, &answer) && slices.Contains(refusals, answer.Code)
}

func problemOf(err error) string {
	var answer *remote.Error
	if errors.As(err, &answer) {
		return answer.Message
	}
	return fault.Public(err).Message
}

// listAll lists the tasks of an agent, tenant by tenant. It returns how many of the
// open ones it found, what went wrong at the agent, and what went wrong here.
func (s *Sweeper) listAll(ctx context.Context, w Sweep, open []Open) (found int, failure, err error) {
	ctx, cancel := context.WithTimeout(ctx, sweepTime)
	defer cancel()
	a, err := s.Agents.Get(ctx, access.System(w.OrganisationID), w.AgentID)
	if err != nil {
		return 0, nil, err
	}
	target, failure := a.Target()
	if failure != nil {
		return 0, failure, nil
	}
	byTenant := map[string][]Open{}
	for _, o := range open {
		byTenant[o.Tenant] = append(byTenant[o.Tenant], o)
	}
	pages := sweepPages
	for tenant, of := range byTenant {
		l := listing{Sweeper: s, target: target, wanted: map[string]Open{}, pages: pages}
		if tenant != "" {
			l.target.Interface.Tenant = tenant
		}
		n, err := l.run(ctx, of)
		found, pages = found+n, l.pages
		var answer *remote.Error
		switch {
		case errors.As(err, &answer):
			return found, answer, nil
		case err != nil:
			return found, nil, err
		}
	}
	return found, nil, nil
}

// listing is one list of tasks, page by page.
type listing struct {
	*Sweeper
	target remote.Target
	wanted map[string]Open // by the agent's ID; those that were not seen yet
	pages  int             // that may still be asked for
	bytes  int             // that came
}

// run lists until all of the open tasks are found, and returns how many were. If the
// agent does not take the time that the list is narrowed by, or shows none, all of its
// tasks are listed.
func (l *listing) run(ctx context.Context, open []Open) (found int, err error) {
	for _, o := range open {
		l.wanted[o.Head.RemoteTaskID] = o
	}
	after := oldest(open)
	if err = l.list(ctx, after); len(l.wanted) == len(open) && !after.IsZero() && !refusesToList(err) {
		err = l.list(ctx, time.Time{})
	}
	return len(open) - len(l.wanted), err
}

// oldest is a time, by the agent's clock, since which the status of each of the open
// tasks has been set; zero if there is none.
func oldest(open []Open) time.Time {
	var at time.Time
	for _, o := range open {
		if o.Head.StateAt.IsZero() {
			return time.Time{}
		}
		if at.IsZero() || o.Head.StateAt.Before(at) {
			at = o.Head.StateAt
		}
	}
	if at.IsZero() {
		return at
	}
	return at.Add(-time.Second) // as bindings write whole seconds
}

// list reads one list to its end. A token that comes again ends it, and so do the
// limits of a sweep.
func (l *listing) list(ctx context.Context, after time.Time) error {
	request := remote.ListRequest{After: after, Brief: true}
	tokens := map[string]bool{}
	for l.pages > 0 && l.bytes < sweepBytes && len(l.wanted) > 0 {
		l.pages--
		asked := time.Now()
		page, err := l.Remote.List(ctx, l.target, request)
		if err != nil {
			return err
		}
		if err := l.compare(ctx, page, asked); err != nil {
			return err
		}
		if page.Next == "" || tokens[page.Next] {
			return nil
		}
		tokens[page.Next] = true
		request.PageToken = page.Next
	}
	return nil
}

// compare plans the checks of the open tasks that are on a page.
func (l *listing) compare(ctx context.Context, page remote.Page, asked time.Time) error {
	var same, news []Open
	for _, entry := range page.Tasks {
		l.bytes += len(entry.Raw)
		id := task.RemoteID(entry)
		o, open := l.wanted[id]
		if !open {
			continue
		}
		delete(l.wanted, id)
		switch task.CompareListed(o.Head, entry, asked) {
		case task.ListedSame:
			same = append(same, o)
		case task.ListedNews:
			news = append(news, o)
		case task.ListedUnclear:
		}
	}
	return l.Update(ctx, func(tx SweepTx) error { return replan(tx, same, news) })
}

// replan puts off the checks of tasks that are as they were, and has the agent asked
// about those that are not.
func replan(tx SweepTx, same, news []Open) error {
	for _, o := range same {
		interval := task.ListedCheck(o.Head, o.Interval, tx.Now())
		if interval == 0 || o.Failed {
			continue
		}
		if err := tx.PutOffCheck(o, tx.Now().Add(interval+rand.N(interval/4+1)), interval); err != nil {
			return err
		}
	}
	for _, o := range news {
		if err := tx.AskSoon(o.Head.TaskID); err != nil {
			return err
		}
		tx.Signal(live.ChecksTopic)
	}
	return nil
}
