// Package observe keeps tasks current: it follows the streams that agents offer
// and asks about every open task from time to time, so that a task moves on with
// no browser open and after any interruption. Whatever it hears takes the one
// way in, task.Ingest.
package observe

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync"
	"time"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/task"
	"github.com/agent-taskbay/taskbay/internal/worker"
)

// What the observer keeps to.
const (
	allChecks  = 64              // agents that are asked at once
	eachChecks = 4               // times one of them is
	checkTime  = 2 * time.Minute // after this a check that did not end is due again

	releaseTime = 5 * time.Second // for letting go of a stream
)

// Tx is a transaction of the record as the package needs it.
type Tx interface {
	task.Tx
	// SeesTask returns fault.NotFound if the view has no such task, and Reach says how
	// far somebody may go with an agent, by what is granted now.
	SeesTask(v access.View, taskID string) error
	Reach(p access.Principal, agentID string) (access.Reach, error)
	// DueChecks returns the agents of tasks whose check is due, the one that has
	// waited longest first.
	DueChecks() (agentIDs []string, err error)
	// ClaimChecks returns tasks of an agent whose check is due, and puts the next
	// one at next.
	ClaimChecks(agentID string, limit int, next time.Time) ([]Check, error)
	// NextCheck is when the next check that is not due yet will be; zero if there
	// is none.
	NextCheck() (time.Time, error)
	ScheduleCheck(taskID string, at time.Time, interval time.Duration) error
	// HastenCheck makes a check due at that time, unless it is due before.
	HastenCheck(taskID string, at time.Time) error
	// SetCheckError keeps why the agent could not be asked about the task; "" if
	// it could. It reports whether that is something else than before, as it is if the
	// agent did not know the task the last time.
	SetCheckError(taskID, problem string) (changed bool, err error)
	// NoteForgotten counts that the agent did not know a task, or that it does. One that
	// it did not know twice in a row is forgotten, and waits for nobody until it does.
	NoteForgotten(taskID string, forgotten bool) error
	// CheckAllSoon makes every check due at once, as after a restart.
	CheckAllSoon() error
	// ClaimStream makes owner the one who follows a task's stream, in a new epoch.
	ClaimStream(taskID, owner string) (epoch int64, err error)
	// HoldsStream reports whether owner still follows the stream, in that epoch.
	HoldsStream(taskID, owner string, epoch int64) (bool, error)
	// ReleaseStream says that owner no longer follows the stream.
	ReleaseStream(taskID, owner string, epoch int64) error
	// AdoptStreams makes the checks due of tasks that were followed by processes
	// without a lease, and returns how many.
	AdoptStreams() (int64, error)
	// UncertainSends returns the messageIds of the task's uncertain sends.
	UncertainSends(taskID string) ([]string, error)
	// AnyAgent returns one agent; fault.NotFound if there is none of that ID.
	AnyAgent(id string) (agent.Agent, error)
	// Audit puts an entry on the trail, if the transaction is committed.
	Audit(audit.Entry) error
}

// Check is a task about which the agent is to be asked.
type Check struct {
	TaskID         string
	OrganisationID string
	AgentID        string
	Tenant         string
	RemoteTaskID   string // "" of a task whose first message is uncertain
	ContextID      string
	StreamOwner    string        // the process that follows its stream, or ""
	Pushed         bool          // the agent pushes what happens
	Interval       time.Duration // the one that has passed
}

// Remote is the way to the agents as the observer needs it.
type Remote interface {
	Get(ctx context.Context, t remote.Target, taskID string, historyLength *int) (remote.Observation, error)
	Subscribe(ctx context.Context, t remote.Target, taskID string) iter.Seq2[remote.Observation, error]
	List(ctx context.Context, t remote.Target, r remote.ListRequest) (remote.Page, error)
}

// Agents is the catalogue as the observer needs it.
type Agents interface {
	Get(ctx context.Context, p access.Principal, id string) (agent.Agent, error)
	// Ensure fetches the agent's card again if it lacks the extension.
	Ensure(ctx context.Context, agentID, uri string)
}

// Meter is told what is taken in.
type Meter interface {
	Observed(source task.Source, size int, outcome task.Outcome)
}

// Listener is called after an observation was taken in.
type Listener interface{ Heard(task.Outcome) }

// Observer follows streams and checks tasks.
type Observer struct {
	Update func(context.Context, func(Tx) error) error
	Agents Agents
	Remote Remote
	Bytes  task.Bytes
	NewID  func() string
	Owner  string        // names this process among those that share the database
	Poll   time.Duration // between looks at the table if nothing wakes the observer
	Limits task.Limits   // of what the ledger keeps of a task whole
	Live   *live.Hub
	Log    *slog.Logger
	Meter  Meter    // nil measures nothing
	Pushes Listener // hears everything as well; nil for none

	ready   sync.Once
	wake    chan struct{}
	ctx     context.Context // of the streams; ends with the process
	stop    context.CancelFunc
	running sync.WaitGroup

	mu       sync.Mutex
	stopped  bool
	followed map[string]*command.Stream // by local task ID

	room *worker.Room // for checks
}

func (o *Observer) setUp() {
	o.ready.Do(func() {
		o.wake = make(chan struct{}, 1)
		o.ctx, o.stop = context.WithCancel(context.Background())
		o.followed = make(map[string]*command.Stream)
		o.room = worker.NewRoom(allChecks, eachChecks)
	})
}

// start runs f in the background, unless the observer is stopping.
func (o *Observer) start(f func()) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stopped {
		return false
	}
	o.running.Go(f)
	return true
}

// Run observes until ctx ends, then ends the streams and returns.
func (o *Observer) Run(ctx context.Context) error {
	o.setUp()
	err := o.insist(ctx, func() error { return o.Update(ctx, func(tx Tx) error { return tx.CheckAllSoon() }) })
	if err != nil && ctx.Err() == nil {
		return err
	}
	asked, stopWatching := o.Live.Watch(live.ChecksTopic)
	defer stopWatching()
	for ctx.Err() == nil {
		wait, err := o.checkDue(ctx)
		if err != nil && ctx.Err() == nil {
			o.Log.Error("check tasks", "error", err)
			wait = time.Second
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-o.wake:
		case <-o.room.Freed():
		case <-asked:
		case <-timer.C:
		}
		timer.Stop()
	}
	o.mu.Lock()
	o.stopped = true
	o.mu.Unlock()
	o.stop()
	o.running.Wait()
	return nil
}

// Heard implements command.Observer.
func (o *Observer) Heard(outcome task.Outcome) {
	o.setUp()
	if outcome.HasForm {
		o.start(func() { o.Agents.Ensure(o.ctx, outcome.AgentID, form.URI) })
	}
	if o.Pushes != nil {
		o.Pushes.Heard(outcome)
	}
	o.poke()
}

// poke makes Run look at what is due. It never blocks.
func (o *Observer) poke() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// checkDue starts to ask about the tasks that are due, as many as there is room
// for, and returns how long no more will be.
func (o *Observer) checkDue(ctx context.Context) (time.Duration, error) {
	var due []Check
	var next time.Time
	err := o.Update(ctx, func(tx Tx) (err error) {
		if due, err = o.claimDue(tx); err != nil {
			return err
		}
		next, err = tx.NextCheck()
		return err
	})
	if err != nil {
		return 0, err
	}
	for _, c := range due {
		o.room.Take(c.AgentID)
		o.start(func() {
			defer o.room.Leave(c.AgentID)
			o.check(ctx, c)
		})
	}
	if next.IsZero() {
		return o.Poll, nil
	}
	return min(max(time.Until(next), 0), o.Poll), nil
}

// claimDue claims the checks of each agent that there is room for.
func (o *Observer) claimDue(tx Tx) ([]Check, error) {
	agents, err := tx.DueChecks()
	if err != nil {
		return nil, err
	}
	var due []Check
	for _, agentID := range agents {
		room := min(o.room.Left(agentID), o.room.LeftInAll()-len(due))
		if room <= 0 {
			continue
		}
		checks, err := tx.ClaimChecks(agentID, room, tx.Now().Add(checkTime))
		if err != nil {
			return nil, err
		}
		due = append(due, checks...)
	}
	return due, nil
}

// check asks the agent how a task stands, and follows its stream if it is at
// work and offers one.
func (o *Observer) check(ctx context.Context, c Check) {
	log := o.Log.With("task", c.TaskID, "agent", c.AgentID)
	target, err := o.target(ctx, c.OrganisationID, c.AgentID, c.Tenant)
	if err != nil {
		o.failed(ctx, c, err)
		return
	}
	asked := time.Now()
	seen, err := o.look(ctx, target, c)
	if err != nil {
		if ctx.Err() == nil {
			o.failed(ctx, c, err)
		}
		return
	}
	streaming := o.following(c.TaskID) || c.StreamOwner != "" && c.StreamOwner != o.Owner
	outcome, err := o.ingest(ctx, task.Observed{
		TaskID: c.TaskID, Source: task.SourcePoll, SourceKey: o.NewID(), Asked: asked, Observation: seen,
	}, c.Interval, streaming || c.Pushed)
	if fault.KindOf(err) == fault.Unavailable { // as bytes in it cannot be kept now
		o.failed(ctx, c, err)
		return
	}
	if err != nil {
		if ctx.Err() == nil {
			log.Error("take a check in", "error", err)
		}
		return
	}
	o.Heard(outcome)
	if target.Streaming && !streaming && atWork(outcome.Head) {
		o.subscribe(c, target)
	}
}

func atWork(h task.Head) bool { return !h.State.Terminal() && !h.State.Waiting() }

func (o *Observer) target(ctx context.Context, organisationID, agentID, tenant string) (remote.Target, error) {
	a, err := o.Agents.Get(ctx, access.System(organisationID), agentID)
	if err != nil {
		return remote.Target{}, err
	}
	target, err := a.Target()
	if tenant != "" {
		target.Interface.Tenant = tenant
	}
	return target, err
}

// failed keeps why the agent could not be asked, and waits longer. The log has it
// as a warning once, and for those who debug after that, until it is another.
func (o *Observer) failed(ctx context.Context, c Check, cause error) {
	problem := "The agent could not be asked how the task stands."
	var answer *remote.Error
	switch {
	case errors.As(cause, &answer):
		problem = answer.Message
	case fault.KindOf(cause) != fault.Internal:
		problem = fault.Public(cause).Message
	}
	log, level := o.Log.With("task", c.TaskID, "agent", c.AgentID), slog.LevelDebug
	err := o.Update(ctx, func(tx Tx) error {
		head, _, err := tx.TaskHead(c.TaskID)
		if err != nil {
			return err
		}
		if head.State.Terminal() {
			return o.askAgain(tx, head, c, answer)
		}
		changed, err := tx.SetCheckError(c.TaskID, problem)
		if err != nil {
			return err
		}
		if changed {
			level = slog.LevelWarn
		}
		if c.RemoteTaskID != "" && forgets(answer) {
			if err := tx.NoteForgotten(c.TaskID, true); err != nil {
				return err
			}
		}
		at, interval := task.NextCheck(head, false, max(c.Interval, time.Second), tx.Now())
		return tx.ScheduleCheck(c.TaskID, at, interval)
	})
	if err != nil {
		if ctx.Err() == nil {
			log.Error("store a failed check", "error", err)
		}
		return
	}
	log.Log(ctx, level, "the agent could not be asked about a task", "error", cause)
}

// forgets reports whether an agent said that it does not know the task. One that cannot
// be reached, or answers anything else, may know it.
func forgets(answer *remote.Error) bool {
	return answer != nil && answer.Delivery == remote.Answered && answer.Code == remote.CodeTaskNotFound
}

// askAgain plans the next check of a task that has ended, after one that failed. What
// the agent does not show any more is not asked for without end, and is no fault.
func (o *Observer) askAgain(tx Tx, head task.Head, c Check, answer *remote.Error) error {
	if answer != nil && answer.Delivery == remote.Answered {
		return tx.ScheduleCheck(c.TaskID, time.Time{}, 0)
	}
	at, interval := task.NextCheck(head, false, max(c.Interval, time.Second), tx.Now())
	return tx.ScheduleCheck(c.TaskID, at, interval)
}

// errTakenOver ends a stream that another process, or a later stream, follows now.
var errTakenOver = errors.New("the stream was taken over")

// ingest takes in what a check saw, or a push brought, and plans the next check, in
// one transaction. The bytes that it brings are kept before. told says that a stream
// or pushes bring what happens.
func (o *Observer) ingest(ctx context.Context, observed task.Observed, last time.Duration, told bool) (task.Outcome, error) {
	observed.Limits = o.Limits
	prepared, err := task.Prepare(ctx, o.Bytes, observed)
	if err != nil {
		return task.Outcome{}, err
	}
	var outcome task.Outcome
	err = o.Update(ctx, func(tx Tx) (err error) {
		outcome, err = o.take(tx, prepared, last, told)
		return err
	})
	if err == nil && o.Meter != nil {
		o.Meter.Observed(observed.Source, len(observed.Observation.Raw), outcome)
	}
	return outcome, err
}

// take takes an observation in and plans the next check.
func (o *Observer) take(tx Tx, prepared task.Prepared, last time.Duration, told bool) (task.Outcome, error) {
	observed := prepared.Observed()
	before, _, err := tx.TaskHead(observed.TaskID)
	if err != nil {
		return task.Outcome{}, err
	}
	outcome, err := task.Ingest(tx, o.NewID, prepared)
	if err != nil {
		return outcome, err
	}
	if outcome.Head.State != before.State || outcome.Head.Question != before.Question {
		last = 0
	}
	return outcome, o.heardOf(tx, outcome, observed.Asked, told, last)
}

// heardOf notes that a task could be heard of, and plans its next check.
func (o *Observer) heardOf(tx Tx, outcome task.Outcome, asked time.Time, told bool, last time.Duration) error {
	failed, err := tx.SetCheckError(outcome.TaskID, "")
	if err == nil && failed { // else it was not forgotten
		err = tx.NoteForgotten(outcome.TaskID, false)
	}
	if err != nil {
		return err
	}
	return o.plan(tx, outcome, asked, told, last)
}

// plan plans the check after an observation. A check that something waits for is not
// put off by what comes in meanwhile.
func (o *Observer) plan(tx Tx, outcome task.Outcome, asked time.Time, told bool, last time.Duration) error {
	head := outcome.Head
	if asked.Before(head.Unsettled) {
		at, _ := task.NextCheck(head, false, 0, tx.Now())
		if at.IsZero() {
			return nil
		}
		return tx.HastenCheck(outcome.TaskID, at)
	}
	at, interval := task.NextCheck(head, told, last, tx.Now())
	return tx.ScheduleCheck(outcome.TaskID, at, interval)
}

// compile-time proof that the dispatcher can hand its streams on.
var _ command.Observer = (*Observer)(nil)
