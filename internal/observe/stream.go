package observe

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"time"

	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// following reports whether a stream of the task is being followed.
func (o *Observer) following(taskID string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.followed[taskID] != nil
}

// Streams is how many streams are being followed.
func (o *Observer) Streams() int {
	o.setUp()
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.followed)
}

// Follow implements command.Observer. Of two streams of one task the later one
// is followed: two at once would bring each piece of an artifact twice.
func (o *Observer) Follow(taskID string, s command.Stream) {
	o.setUp()
	o.mu.Lock()
	if earlier := o.followed[taskID]; earlier != nil {
		earlier.Cancel()
	}
	o.followed[taskID] = &s
	o.mu.Unlock()
	if !o.start(func() { o.follow(taskID, &s) }) {
		s.Stop()
	}
}

// subscribe follows a task's stream from now on.
func (o *Observer) subscribe(c Check, target remote.Target) {
	ctx, cancel := context.WithCancel(o.ctx)
	ctx = remote.WithLabels(ctx, remote.Labels{TaskID: c.TaskID})
	next, stop := iter.Pull2(o.Remote.Subscribe(ctx, target, c.RemoteTaskID))
	o.Follow(c.TaskID, command.Stream{ID: o.NewID(), Quiet: c.Interval, Next: next, Cancel: cancel, Stop: func() {
		cancel()
		stop()
	}})
}

// follow takes in what a stream brings until it ends, the task waits or has
// ended, or somebody else follows it. However it ends, the task is checked soon
// after: a stream that breaks off costs nothing. After one that brought nothing
// new the check waits longer each time, so that an agent which ends every stream
// at once is not asked without end.
func (o *Observer) follow(taskID string, s *command.Stream) {
	defer s.Stop()
	news := s.Count > 0
	epoch, err := s.Epoch, error(nil)
	if epoch == 0 {
		err = o.insist(o.ctx, func() (err error) {
			epoch, err = o.claimStream(taskID)
			return err
		})
	}
	if err != nil && o.ctx.Err() == nil {
		o.Log.Error("claim a stream", "task", taskID, "error", err)
	}
	ahead := newReadAhead(o.ctx, s)
	for err == nil {
		changed, more := o.takeNext(taskID, s, ahead, epoch)
		news = news || changed
		if !more {
			break
		}
	}
	ahead.close()
	o.releaseStream(taskID, epoch)
	o.mu.Lock()
	replaced := o.followed[taskID] != s
	if !replaced {
		delete(o.followed, taskID)
	}
	o.mu.Unlock()
	if news {
		s.Quiet = 0
	}
	if !replaced && o.ctx.Err() == nil {
		o.checkSoon(taskID, s.Quiet)
	}
}

// insistPause is between attempts to store something while the database is away.
const insistPause = time.Second

// insist runs f again for as long as the database is away, until ctx ends. What a
// stream brings meanwhile waits in it.
func (o *Observer) insist(ctx context.Context, f func() error) error {
	for {
		err := f()
		if fault.KindOf(err) != fault.Unavailable {
			return err
		}
		timer := time.NewTimer(insistPause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C:
		}
	}
}

// claimStream makes this process the one that follows the task's stream: what an
// earlier follower, here or elsewhere, still stores of it is refused.
func (o *Observer) claimStream(taskID string) (epoch int64, err error) {
	err = o.Update(o.ctx, func(tx Tx) (err error) {
		epoch, err = tx.ClaimStream(taskID, o.Owner)
		return err
	})
	return epoch, err
}

// releaseStream lets go of a stream, again and again while the database is away: as
// long as it is held here, the other processes leave it alone. When this process stops
// it tries once more; they find that its lease has ended.
func (o *Observer) releaseStream(taskID string, epoch int64) {
	err := o.insist(o.ctx, func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(o.ctx), releaseTime)
		defer cancel()
		err := o.Update(ctx, func(tx Tx) error { return tx.ReleaseStream(taskID, o.Owner, epoch) })
		if err != nil && ctx.Err() != nil {
			err = fault.Wrap(err, fault.Unavailable, "The database did not answer in time.")
		}
		return err
	})
	if err != nil {
		o.Log.Error("let go of a stream", "task", taskID, "error", err)
	}
}

// TakeOver sees to tasks that were followed by processes whose lease has run out:
// the agent is asked about them at once, and their streams are followed again.
func (o *Observer) TakeOver(ctx context.Context) error {
	o.setUp()
	var n int64
	err := o.Update(ctx, func(tx Tx) (err error) {
		n, err = tx.AdoptStreams()
		return err
	})
	if n > 0 {
		o.Log.Warn("took over streams whose process ended", "streams", n)
		o.poke()
	}
	return err
}

// takeNext takes in what has come and reports whether it told something new, and
// whether to go on.
func (o *Observer) takeNext(taskID string, s *command.Stream, ahead *readAhead, epoch int64) (changed, more bool) {
	events, end := ahead.next(o.ctx)
	observed := make([]task.Observed, len(events))
	for i, seen := range events {
		observed[i] = task.Observed{TaskID: taskID, Source: task.SourceStream, SourceKey: s.Key(), Observation: seen}
	}
	changed, more = o.takeAll(observed, epoch)
	if !more || end == nil {
		return changed, more
	}
	if end.err != nil && o.ctx.Err() == nil {
		o.Log.Info("a stream ended", "task", taskID, "stream", s.ID, "error", end.err)
	}
	return changed, false
}

// takeAll takes events of a stream in, in one transaction. If that fails, it takes
// them in one by one, so that those before the one that is at fault are kept.
func (o *Observer) takeAll(events []task.Observed, epoch int64) (changed, more bool) {
	if len(events) == 0 {
		return false, true
	}
	outcomes, err := o.ingestAll(events, epoch)
	if err != nil && len(events) > 1 && o.ctx.Err() == nil && !errors.Is(err, errTakenOver) {
		for more = true; more && len(events) > 0; events = events[1:] {
			var news bool
			news, more = o.takeAll(events[:1], epoch)
			changed = changed || news
		}
		return changed, more
	}
	if err != nil {
		if !errors.Is(err, errTakenOver) && o.ctx.Err() == nil {
			o.Log.Error("take an event in", "task", events[0].TaskID, "stream", events[0].SourceKey, "error", err)
		}
		return false, false
	}
	more = true
	for i, outcome := range outcomes {
		if o.Meter != nil {
			o.Meter.Observed(task.SourceStream, len(events[i].Observation.Raw), outcome)
		}
		o.Heard(outcome)
		changed = changed || outcome.Changed
		more = goesOn(outcome)
	}
	return changed, more
}

// goesOn reports whether a stream can bring more of a task.
func goesOn(outcome task.Outcome) bool {
	return atWork(outcome.Head) || outcome.Head.AnsweredBy != ""
}

// ingestAll takes events of a stream in until the task waits or has ended, and
// returns what each did. It tries again while the database is away.
func (o *Observer) ingestAll(events []task.Observed, epoch int64) (outcomes []task.Outcome, err error) {
	err = o.insist(o.ctx, func() error {
		prepared, err := o.prepareAll(events)
		if err != nil {
			return err
		}
		return o.Update(o.ctx, func(tx Tx) (err error) {
			outcomes, err = o.takeStreamed(tx, prepared, epoch)
			return err
		})
	})
	return outcomes, err
}

// takeStreamed is what ingestAll does within a transaction. The check after the events
// is planned once for each task that they are about.
func (o *Observer) takeStreamed(tx Tx, prepared []task.Prepared, epoch int64) (outcomes []task.Outcome, err error) {
	taskID := prepared[0].Observed().TaskID
	if _, _, err := tx.TaskHead(taskID); err != nil { // locks it: nobody claims its stream before the end
		return nil, err
	}
	if mine, err := tx.HoldsStream(taskID, o.Owner, epoch); err != nil || !mine {
		return nil, cmp.Or(err, errTakenOver)
	}
	for _, e := range prepared {
		outcome, err := task.Ingest(tx, o.NewID, e)
		if err != nil {
			return nil, err
		}
		if outcomes = append(outcomes, outcome); !goesOn(outcome) {
			break
		}
	}
	for i, outcome := range outcomes {
		if i+1 < len(outcomes) && outcomes[i+1].TaskID == outcome.TaskID {
			continue
		}
		if err := o.heardOf(tx, outcome, time.Time{}, true, 0); err != nil {
			return nil, err
		}
	}
	return outcomes, nil
}

// prepareAll keeps the bytes that events bring.
func (o *Observer) prepareAll(events []task.Observed) ([]task.Prepared, error) {
	prepared := make([]task.Prepared, len(events))
	for i, e := range events {
		e.Limits = o.Limits
		var err error
		if prepared[i], err = task.Prepare(o.ctx, o.Bytes, e); err != nil {
			return nil, err
		}
	}
	return prepared, nil
}

// checkSoon plans the check after a stream, last being the interval before it.
func (o *Observer) checkSoon(taskID string, last time.Duration) {
	err := o.insist(o.ctx, func() error {
		return o.Update(o.ctx, func(tx Tx) error {
			head, _, err := tx.TaskHead(taskID)
			if err != nil {
				return err
			}
			at, interval := task.NextCheck(head, false, last, tx.Now())
			return tx.ScheduleCheck(head.TaskID, at, interval)
		})
	})
	if err != nil && o.ctx.Err() == nil {
		o.Log.Error("plan a check after a stream", "task", taskID, "error", err)
	}
	o.poke()
}
