package command

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/task"
	"github.com/agent-taskbay/taskbay/internal/worker"
)

// Remote is the way to the agents as the dispatcher needs it. Every error is a
// *remote.Error that says whether the call may have arrived.
type Remote interface {
	Send(context.Context, remote.Target, remote.SendRequest) (remote.Observation, error)
	Stream(context.Context, remote.Target, remote.SendRequest) iter.Seq2[remote.Observation, error]
	Cancel(ctx context.Context, t remote.Target, taskID string) (remote.Observation, error)
}

// Cards fetches an agent's card when none is stored.
type Cards interface {
	Agents
	Discover(ctx context.Context, p access.Principal, id string) (agent.Agent, error)
}

// Observer hears what happens on a task after a command.
type Observer interface {
	// Follow takes in the rest of a stream, whose first event is taken in.
	Follow(taskID string, s Stream)
	// Heard is called after an observation was taken in.
	Heard(task.Outcome)
}

// Meter is told how sending goes.
type Meter interface {
	// Dispatching is called as a command is about to be sent, with for how long it
	// has been due.
	Dispatching(a Action, waited time.Duration)
	// Dispatched is called when an attempt has ended, with what the command became
	// and how long that took.
	Dispatched(a Action, became Status, took time.Duration)
	Observed(source task.Source, size int, outcome task.Outcome)
}

// Stream is what is left of a stream.
type Stream struct {
	ID     string        // names its events in the ledger
	Count  int           // events taken in so far
	Quiet  time.Duration // how long the task had been left alone before; the next stream waits longer if this one brings nothing new
	Epoch  int64         // in which this process follows the task's stream; 0 if it has not claimed it yet
	Next   func() (remote.Observation, error, bool)
	Cancel func() // makes Next return soon; from any goroutine
	Stop   func() // must be called at the end, not while Next runs
}

// What the dispatcher keeps to.
const (
	maxAttempts = 3                // of a command of which nothing was sent
	grace       = 10 * time.Second // for commands that are being sent when the process is asked to stop
	storeTime   = time.Minute      // for one attempt to store what became of a command
	maxPause    = 5 * time.Second  // between such attempts
	storeTries  = 5                // attempts to store an agent's answer; then its command is uncertain

	// What is under way at once, in all and to each agent. The more there is, the
	// more becomes uncertain if the process dies.
	allSends, eachSends     = 64, 8
	allCancels, eachCancels = 32, 4
)

// retryAfter is how long to wait after an attempt that sent nothing.
var retryAfter = []time.Duration{time.Second, 5 * time.Second}

// workerDied is the reason of a command whose process ended while it was sent.
const workerDied = "Taskbay was stopped while this was being sent, so it may or may not have reached the agent. It is not sent again by itself."

// answerLost is the reason of a command whose answer came and could not be stored.
const answerLost = "The agent answered, but Taskbay could not store what it said. Check the agent to see how the task stands."

// Dispatcher sends accepted commands, each at most once.
type Dispatcher struct {
	Limits   task.Limits // of what the ledger keeps of a task whole
	Update   func(context.Context, func(Tx) error) error
	Agents   Cards
	Remote   Remote
	Observer Observer
	Bytes    task.Bytes
	NewID    func() string
	Live     *live.Hub
	Owner    string        // names this process among those that share the database
	Poll     time.Duration // between looks at the table if nothing wakes the dispatcher
	Log      *slog.Logger
	Meter    Meter        // nil measures nothing
	Tracer   trace.Tracer // nil traces nothing

	working sync.WaitGroup
	rooms   map[Action]*worker.Room
	unsure  bool // a claim went wrong, and may be in the database all the same; for claim alone
	mu      sync.Mutex
	sending map[string]bool // by the command's ID, what claim has started to send
}

// Run sends commands until ctx ends, then lets those that are being sent finish
// for a while. What it cannot finish is uncertain. The process must have a lease.
func (d *Dispatcher) Run(ctx context.Context) error {
	d.sending = map[string]bool{}
	d.rooms = map[Action]*worker.Room{
		Send: worker.NewRoom(allSends, eachSends), Cancel: worker.NewRoom(allCancels, eachCancels),
	}
	changed, stopWatching := d.Live.Watch(live.CommandsTopic)
	defer stopWatching()
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	for ctx.Err() == nil {
		wait, err := d.claim(ctx, work)
		if err != nil && ctx.Err() == nil {
			d.Log.Error("claim commands", "error", err)
			wait = time.Second
		}
		sleep(ctx, wait, changed, d.rooms[Send].Freed(), d.rooms[Cancel].Freed())
	}
	d.drain(stop)
	return nil
}

// TakeOver makes uncertain what processes whose lease has run out were sending.
func (d *Dispatcher) TakeOver(ctx context.Context) error {
	var orphans []Record
	err := d.Update(ctx, func(tx Tx) (err error) {
		orphans, err = tx.OrphanCommands(workerDied)
		return err
	})
	for _, r := range orphans {
		d.Log.Warn("command is uncertain: its process ended while it was sent", "command", r.Command.ID, "task", r.Command.TaskID)
	}
	return err
}

// sleep returns after a while, or when something that it waits for happens.
func sleep(ctx context.Context, d time.Duration, changed, sent, canceled <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-changed:
	case <-sent:
	case <-canceled:
	case <-timer.C:
	}
}

func (d *Dispatcher) drain(stop func()) {
	done := make(chan struct{})
	go func() {
		d.working.Wait()
		close(done)
	}()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		stop()
		<-done
	}
}

// dispatch makes one attempt. The command is dispatching in the database before
// the first byte leaves.
func (d *Dispatcher) dispatch(ctx context.Context, r Record) {
	log := d.Log.With("command", r.Command.ID, "task", r.Command.TaskID, "agent", r.Command.AgentID)
	ctx, ended := d.measure(ctx, r)
	err := d.send(ctx, r)
	if err == nil {
		ended(Succeeded)
		log.InfoContext(ctx, "command sent")
		return
	}
	v := d.verdict(r, err)
	ended(v.Status)
	log.WarnContext(ctx, "command not sent as it should", "status", v.Status, "attempt", r.Command.Attempts, "error", err)
	d.keep(ctx, log, 0, d.inTx(func(tx Tx) error { return d.settle(tx, r, v) }))
	d.Observer.Heard(task.Outcome{TaskID: r.Command.TaskID}) // settle may have made a check due
}

// verdict is what an attempt that went wrong leaves the command in.
func (d *Dispatcher) verdict(r Record, err error) Verdict {
	var answer *remote.Error
	isCall := errors.As(err, &answer)
	if !isCall {
		answer = &remote.Error{Delivery: remote.NotSent, Message: fault.Public(err).Message}
		if kind := fault.KindOf(err); kind != fault.Internal && kind != fault.Unavailable {
			answer.Delivery = remote.Answered // not by the agent, but just as final
		}
	}
	switch {
	case answer.Delivery == remote.Answered, remote.IsRefusal(answer):
		return Verdict{Status: Failed, Problem: answer.Message, Refused: isCall && answer.Delivery == remote.Answered}
	case answer.Delivery == remote.Uncertain:
		return Verdict{Status: Uncertain, Problem: answer.Message + " It may or may not have reached the agent, so it is not sent again by itself."}
	case r.Command.Attempts < maxAttempts:
		return Verdict{Status: Pending, Problem: answer.Message}
	}
	return Verdict{Status: Failed, Problem: fmt.Sprintf("%s Tried %d times; nothing reached the agent.", answer.Message, r.Command.Attempts)}
}

// settle ends the attempt. A failed answer opens its question again. The agent is
// asked how the task stands: it may have ended just before it was canceled, or have
// taken an answer of which it said nothing.
func (d *Dispatcher) settle(tx Tx, r Record, v Verdict) error {
	v.RunAt = tx.Now()
	if v.Status == Pending {
		v.RunAt = v.RunAt.Add(retryAfter[min(r.Command.Attempts, len(retryAfter))-1])
	}
	mine, err := tx.SettleCommand(r.Command.ID, d.Owner, v)
	if err != nil || !mine || v.Status == Pending {
		return err
	}
	head, _, err := tx.TaskHead(r.Command.TaskID)
	if err == nil && head.AnsweredBy == r.Command.ID && v.Status == Failed {
		err = tx.SetAnsweredBy(head.TaskID, "")
	}
	if err != nil || head.RemoteTaskID == "" || head.State.Terminal() {
		return err
	}
	return tx.ScheduleCheck(head.TaskID, tx.Now(), 0)
}

// keep stores what is known of a command, and reports whether it could. It tries
// again until it can, or has tried so often; 0 is without end, and attempts while
// the database or the place for files is away do not count. When the process stops
// it tries once more.
func (d *Dispatcher) keep(ctx context.Context, log *slog.Logger, tries int, f func(context.Context) error) bool {
	for try := 1; ; try++ {
		last := ctx.Err() != nil
		err := d.keepOnce(ctx, f)
		if err == nil {
			return true
		}
		log.Error("store the outcome of a command", "error", err)
		away := fault.KindOf(err) == fault.Unavailable
		if last || try == tries && !away {
			return false
		}
		if away && tries > 0 {
			tries++
		}
		sleep(ctx, min(time.Duration(try)*500*time.Millisecond, maxPause), nil, nil, nil)
	}
}

// inTx is an attempt that is one transaction.
func (d *Dispatcher) inTx(f func(Tx) error) func(context.Context) error {
	return func(ctx context.Context) error { return d.Update(ctx, f) }
}

// keepOnce is one attempt. It goes on for a while when ctx ends.
func (d *Dispatcher) keepOnce(ctx context.Context, f func(context.Context) error) error {
	attempt, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		sleep(attempt, grace, nil, nil, nil)
		cancel()
	})
	defer stop()
	return f(attempt)
}

// send makes the call, takes the agent's first answer in and settles the command
// with it, in one transaction.
func (d *Dispatcher) send(ctx context.Context, r Record) error {
	if r.Unreadable {
		return fault.New(fault.Invalid, "This was stored in a form that cannot be sent. Nothing reached the agent: send it again in other words.")
	}
	target, head, err := d.target(ctx, r)
	if err != nil {
		return err
	}
	ctx = remote.WithLabels(ctx, remote.Labels{TaskID: r.Command.TaskID, CommandID: r.Command.ID})
	if r.Command.Action == Cancel {
		o, err := d.Remote.Cancel(ctx, target, head.RemoteTaskID)
		if err != nil {
			return err
		}
		d.answered(ctx, r, task.SourceReply, r.Command.ID, o, nil)
		return nil
	}
	request := requestTo(r, head)
	if !target.Streaming {
		o, err := d.Remote.Send(ctx, target, request)
		if err != nil {
			return err
		}
		d.answered(ctx, r, task.SourceReply, r.Command.ID, o, nil)
		return nil
	}
	return d.stream(ctx, r, target, request)
}

// stream sends with SendStreamingMessage. The first event is the answer; the
// observer takes the rest.
func (d *Dispatcher) stream(ctx context.Context, r Record, target remote.Target, request remote.SendRequest) error {
	ctx, cancel := context.WithCancel(ctx)
	next, stop := iter.Pull2(d.Remote.Stream(ctx, target, request))
	end := func() {
		cancel()
		stop()
	}
	o, err, ok := next()
	if !ok {
		err = &remote.Error{Delivery: remote.Uncertain, Message: "The agent ended the stream without an answer."}
	}
	if err != nil {
		end()
		return err
	}
	s := Stream{ID: r.Command.ID, Count: 1, Next: next, Cancel: cancel, Stop: end}
	taskID := d.answered(ctx, r, task.SourceStream, task.EventKey(s.ID, 0), o, &s)
	d.Observer.Follow(taskID, s)
	return nil
}

// Key names the next event of the stream in the ledger.
func (s *Stream) Key() string {
	s.Count++
	return task.EventKey(s.ID, s.Count-1)
}

// answered takes an answer in and returns the local ID of the task that it is
// about. If it is the first event of a stream, that is claimed with it, so that
// the stream is taken over should this process die now.
func (d *Dispatcher) answered(ctx context.Context, r Record, source task.Source, key string, o remote.Observation, s *Stream) string {
	var outcome task.Outcome
	log := d.Log.With("command", r.Command.ID)
	observed := task.Observed{TaskID: r.Command.TaskID, Source: source, SourceKey: key, Observation: o, Limits: d.Limits}
	stored := d.keep(ctx, log, storeTries, func(ctx context.Context) error {
		prepared, err := task.Prepare(ctx, d.Bytes, observed)
		if err != nil {
			return err
		}
		return d.Update(ctx, func(tx Tx) (err error) {
			outcome, err = d.takeIn(tx, r, prepared, s)
			return err
		})
	})
	if stored && d.Meter != nil {
		d.Meter.Observed(source, len(o.Raw), outcome)
	}
	if !stored {
		outcome = task.Outcome{TaskID: r.Command.TaskID}
		d.keep(ctx, log, 0, d.inTx(func(tx Tx) error { return d.settle(tx, r, Verdict{Status: Uncertain, Problem: answerLost}) }))
	}
	d.Observer.Heard(outcome)
	return outcome.TaskID
}

// takeIn is the transaction of answered.
func (d *Dispatcher) takeIn(tx Tx, r Record, p task.Prepared, s *Stream) (task.Outcome, error) {
	outcome, err := task.Ingest(tx, d.NewID, p)
	if err != nil {
		return outcome, err
	}
	if s != nil {
		if s.Epoch, err = tx.ClaimStream(outcome.TaskID, d.Owner); err != nil {
			return outcome, err
		}
	}
	at, interval := task.NextCheck(outcome.Head, s != nil, 0, tx.Now())
	if err := tx.ScheduleCheck(outcome.TaskID, at, interval); err != nil {
		return outcome, err
	}
	mine, err := tx.SettleCommand(r.Command.ID, d.Owner, Verdict{Status: Succeeded, RunAt: tx.Now()})
	if err != nil || mine {
		return outcome, err
	}
	// The lease ran out meanwhile, as when the database was away, and the command
	// was made uncertain. Its answer says that it arrived.
	return outcome, tx.ConfirmSends(outcome.TaskID, func(messageID string) bool { return messageID == r.Command.MessageID })
}

// target looks up how to reach the agent and what the task knows by now.
func (d *Dispatcher) target(ctx context.Context, r Record) (remote.Target, task.Head, error) {
	p := access.System(r.OrganisationID) // whether the person may was decided when it was accepted
	a, err := d.Agents.Get(ctx, p, r.Command.AgentID)
	if err == nil && !a.HasCard() {
		a, err = d.Agents.Discover(ctx, p, r.Command.AgentID)
	}
	if err != nil {
		return remote.Target{}, task.Head{}, err
	}
	if !a.HasCard() {
		return remote.Target{}, task.Head{}, &remote.Error{Delivery: remote.NotSent, Message: "The agent's card could not be fetched: " + a.Health.Error}
	}
	target, err := a.Target()
	if err != nil {
		return target, task.Head{}, err
	}
	var head task.Head
	err = d.Update(ctx, func(tx Tx) (err error) {
		var owner task.Owner
		head, owner, err = tx.TaskHead(r.Command.TaskID)
		if owner.Tenant != "" {
			target.Interface.Tenant = owner.Tenant
		}
		return err
	})
	return target, head, err
}

func requestTo(r Record, head task.Head) remote.SendRequest {
	contextID := head.ContextID
	if contextID == "" {
		contextID = r.Request.ContextID
	}
	return remote.SendRequest{
		Message: a2a.Message{
			MessageID: r.Command.MessageID, ContextID: contextID, TaskID: head.RemoteTaskID, Role: a2a.RoleUser,
			Parts: r.Request.Parts, Extensions: r.Request.Extensions, ReferenceTaskIDs: r.Request.ReferenceTaskIDs,
			Metadata: routing(r.Request.SkillID),
		},
		HistoryLength:       r.Request.HistoryLength,
		AcceptedOutputModes: r.Request.AcceptedOutputModes,
		Metadata:            r.Request.Metadata,
	}
}
