package agui

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// againTime is between attempts to read what changed while the database is away.
const againTime = time.Second

// follower shows one client one run, to its end.
type follower struct {
	*Service
	started
	principal   access.Principal
	input       Input
	files       func(sha256 string) string
	stream      *Stream
	translation *translation
	ticks       <-chan time.Time

	now    task.Task      // with those entries of its timeline that changed last
	sent   *task.Delivery // of the run's own command
	words  string         // of the agent, its last
	opened bool           // the client has got what there was at first
	whole  int64          // the version up to which the client has got a snapshot of the messages; -1 for none
}

// errAborted says that the stream is to be broken off: its end would read as success.
var errAborted = errors.New("the stream is broken off")

// follow sends the run until it ends. errAborted if the request ends before the run
// does, any other error if the client could not be written to.
func (f *follower) follow(ctx context.Context) error {
	f.translation, f.whole = newTranslation(f.stream, f.files), -1
	err := f.stream.Send(RunStarted{ThreadID: f.input.ThreadID, RunID: f.input.RunID, ProtocolVersion: "1.0"})
	if err != nil {
		return err
	}
	if f.run == nil {
		return f.rest(nil)
	}
	signals, stop := f.watch()
	defer func() { stop() }()
	err = f.open(ctx)
	for {
		var done bool
		if err == nil {
			done, err = f.step(ctx)
		}
		switch {
		case done:
			return err
		case ctx.Err() != nil:
			return errAborted
		case fault.KindOf(err) == fault.Unavailable:
			f.opened, f.accepted = false, false // what was read, and not sent, is in what is sent then
		case err != nil && !errors.Is(err, errMoved):
			return f.fail(ctx, err)
		}
		if err == nil && f.now.ID != f.run.TaskID { // it became another one
			stop()
			f.run.TaskID = f.now.ID
			signals, stop = f.watch()
		} else if err := f.await(ctx, signals, err); err != nil {
			return err
		}
		if f.opened {
			err = f.update(ctx)
		} else {
			err = f.open(ctx)
		}
	}
}

// watch wakes for the task, and when it may be that the client sees it no longer.
func (f *follower) watch() (signals <-chan struct{}, stop func()) {
	return f.Live.Watch(live.TaskTopic(f.run.TaskID), live.AccessTopic(f.principal.OrganisationID))
}

// await returns nil when there may be news. After a failure it is a while.
func (f *follower) await(ctx context.Context, signals <-chan struct{}, failed error) error {
	var again <-chan time.Time
	if failed != nil {
		again = time.After(againTime)
	}
	for {
		select {
		case <-ctx.Done():
			return errAborted
		case <-signals:
			return nil
		case <-again:
			return nil
		case <-f.ticks:
			if err := f.stream.Alive(); err != nil {
				return err
			}
		}
	}
}

// open begins: a client that has just started a task gets its events, any other one
// what there is so far, and then events.
func (f *follower) open(ctx context.Context) error {
	t, err := f.Tasks.Get(ctx, f.principal, f.run.TaskID)
	if err != nil {
		return err
	}
	f.take(t)
	if f.do == actSend && f.accepted {
		if err := f.state(t); err != nil {
			return err
		}
	} else if err := f.catchUp(ctx, t); err != nil {
		return err
	}
	for _, warning := range f.warnings {
		if err := f.translation.warn(warning); err != nil {
			return err
		}
	}
	f.opened, f.warnings = true, nil
	return f.translation.show(t)
}

// catchUp sends all messages of the thread, its artifacts and its state. What came
// after a command that this very request brought is left for events.
func (f *follower) catchUp(ctx context.Context, t task.Task) error {
	var cut int64
	if f.accepted {
		cut = placeOf(t, f.run.CommandID)
	}
	tasks, err := f.thread(ctx, t)
	if err != nil {
		return err
	}
	if err := f.messages(tasks, cut); err != nil {
		return err
	}
	shown := map[string]bool{t.ID: true}
	for _, r := range f.history.runs {
		if other, there := tasks[r.TaskID]; there && !shown[other.ID] {
			shown[other.ID] = true
			if err := f.translation.adopt(other, 0); err != nil {
				return err
			}
		}
	}
	f.translation.reset()
	if err := f.translation.adopt(t, cut); err != nil {
		return err
	}
	if cut == 0 {
		f.whole = t.Version
	}
	return f.state(t)
}

// thread reads the tasks of the thread; those that cannot be seen are not there. t is
// as it was read already.
func (f *follower) thread(ctx context.Context, t task.Task) (map[string]task.Task, error) {
	tasks := map[string]task.Task{f.run.TaskID: t}
	for _, r := range f.history.runs {
		if _, there := tasks[r.TaskID]; there {
			continue
		}
		other, err := f.Tasks.Get(ctx, f.principal, r.TaskID)
		switch {
		case fault.KindOf(err) == fault.NotFound:
		case err != nil:
			return nil, err
		case other.ID == t.ID:
			tasks[r.TaskID] = t
		default:
			tasks[r.TaskID] = other
		}
	}
	return tasks, nil
}

// messages sends a snapshot of them. One that is too large is left out: the client
// then keeps what it has.
func (f *follower) messages(tasks map[string]task.Task, cut int64) error {
	var unsaid []spoken
	if f.do == actAsk {
		unsaid = f.fresh
	}
	tr := &transcript{history: &f.history, files: f.files, tasks: tasks, cut: cut}
	for _, e := range f.stream.sequence.closing() {
		if err := f.stream.Send(e); err != nil {
			return err
		}
	}
	return f.translation.send(MessagesSnapshot{Messages: tr.transcribe(f.input, unsaid)})
}

// state sends what the client gave as its state, with the task beside it.
func (f *follower) state(t task.Task) error {
	f.translation.state, f.translation.contextID = string(t.State), t.ContextID
	return f.translation.send(StateSnapshot{Snapshot: stateWith(f.input.State, map[string]string{
		"taskId": t.ID, "contextId": t.ContextID, "taskState": string(t.State),
	})})
}

func stateWith(state json.RawMessage, a2a map[string]string) json.RawMessage {
	var out orderedObject
	for name, value := range rawjson.Members(state) {
		if name != "a2a" {
			out.add(name, value)
		}
	}
	out.add("a2a", mustJSON(a2a))
	return out.json()
}

// update sends what changed since the last time.
func (f *follower) update(ctx context.Context) error {
	delta, err := f.Tasks.Changes(ctx, f.principal, f.run.TaskID, f.now.Version)
	if err != nil {
		return err
	}
	t := delta.Task
	if t.ID == f.now.ID && t.Version >= f.now.Version { // else it became another one, or was restored
		f.take(t)
		if err := f.translation.show(t); err != nil || !f.translation.anew {
			return err
		}
	}
	if t, err = f.Tasks.Get(ctx, f.principal, f.run.TaskID); err != nil {
		return err
	}
	f.take(t)
	f.accepted = false
	return f.catchUp(ctx, t)
}

// take notes how the task is now, but for the entries of its timeline.
func (f *follower) take(t task.Task) {
	if d := delivery(t, f.run.CommandID); d != nil {
		f.sent = d
	}
	f.now, f.words = t, cmp.Or(lastWords(t), f.words)
}

// step ends the run if it is at its end, and reports whether it is.
func (f *follower) step(ctx context.Context) (done bool, err error) {
	if past := f.history.endedBy(f.run.ID); past != nil && f.run.ID != f.history.last().ID {
		return f.asks(ctx, *past, "")
	}
	if f.do == actRest {
		return true, f.rest(&f.now)
	}
	v, ended := outcome(f.now, f.sent)
	switch {
	case !ended:
		return false, nil
	case v.ending == endAsks:
		asked, err := f.interrupt(ctx, f.history.thread.ID, f.run.ID, f.now)
		if err != nil {
			return false, err
		}
		return f.asks(ctx, *asked, v.note)
	}
	return true, f.stream.Send(f.end(v))
}

// asks ends the run with an interrupt, after all messages.
func (f *follower) asks(ctx context.Context, a Asked, note string) (done bool, err error) {
	if f.whole != f.now.Version {
		t, err := f.Tasks.Get(ctx, f.principal, f.run.TaskID)
		if err != nil {
			return false, err
		}
		if t.Version != f.now.Version {
			return false, errMoved
		}
		tasks, err := f.thread(ctx, t)
		if err == nil {
			err = f.messages(tasks, 0)
		}
		if err == nil {
			err = f.state(t)
		}
		if err != nil {
			return false, err
		}
	}
	i := a.Interrupt
	i.Metadata = withErrors(i.Metadata, f.errs, note)
	return true, f.stream.Send(f.finished(&Outcome{Type: OutcomeInterrupt, Interrupts: []Interrupt{i}}))
}

// withErrors is the metadata of an interrupt that is asked again, with why.
func withErrors(metadata json.RawMessage, errs []ValidationError, note string) json.RawMessage {
	if note != "" {
		errs = append(errs, ValidationError{Message: note})
	}
	if len(errs) == 0 {
		return metadata
	}
	var out orderedObject
	for name, value := range rawjson.Members(metadata) {
		out.add(name, value)
	}
	out.add("validationErrors", mustJSON(errs))
	return out.json()
}

func (f *follower) finished(o *Outcome) RunFinished {
	return RunFinished{ThreadID: f.input.ThreadID, RunID: f.input.RunID, Outcome: o}
}

// end is the event that a verdict comes to.
func (f *follower) end(v verdict) Event {
	about := map[string]string{"taskId": f.now.ID, "taskState": string(f.now.State)}
	end := f.finished(&Outcome{Type: OutcomeSuccess})
	end.Result = mustJSON(map[string]any{"a2a": about})
	switch v.ending {
	case endFailed:
		return RunError{Message: cmp.Or(v.message, f.words, "The agent did not do what it was asked."), Code: v.code}
	case endCanceled:
		end.Outcome = &Outcome{Type: OutcomeCancelled}
		switch {
		case !f.input.legacy():
		case f.run.Resume != "" || len(f.input.Resume) > 0:
			// An error would leave the interrupt pending in such a client, and the
			// thread with it.
			f.Log.Info("a client before AG-UI 1.0 is told of a canceled task as of a finished run", slog.String("task", f.now.ID))
			end.Outcome, end.Metadata = nil, mustJSON(map[string]any{"a2a": about})
		default:
			return RunError{Message: "The task was canceled.", Code: codeCancelled}
		}
	}
	return end
}

// rest ends a run in which there is nothing to do: nothing was asked, or an interrupt
// is given up that is no more.
func (f *follower) rest(t *task.Task) error {
	if t == nil {
		if err := f.stream.Send(StateSnapshot{Snapshot: f.input.State}); err != nil {
			return err
		}
		for _, warning := range f.warnings {
			if err := f.translation.warn(warning); err != nil {
				return err
			}
		}
	}
	return f.stream.Send(f.finished(&Outcome{Type: OutcomeSuccess}))
}

// fail ends the run because the task can no longer be read, or the client not be
// written to.
func (f *follower) fail(ctx context.Context, err error) error {
	if f.stream.broken {
		return err
	}
	if fault.KindOf(err) == fault.Internal {
		f.Log.ErrorContext(ctx, "an AG-UI run failed", slog.String("task", f.run.TaskID), slog.Any("error", err))
	}
	return f.stream.Send(RunError{Message: fault.Public(err).Message, Code: codeOf(err)})
}

// placeOf is where in the timeline a command is; 0 if it is not there.
func placeOf(t task.Task, commandID string) int64 {
	for _, m := range t.Messages {
		if m.Delivery != nil && m.Delivery.CommandID == commandID {
			return m.Seq
		}
	}
	for _, c := range t.Cancels {
		if c.Delivery.CommandID == commandID {
			return c.Seq
		}
	}
	return 0
}
