package task

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// Projection is what the ledger says of a task, in comparable form.
type Projection struct {
	Head    Head
	Entries []Entry // messages, artifacts and transitions
}

// Entry is one entry of a timeline: what it is and where, and its content in words
// or as a digest.
type Entry struct{ Place, Content string }

// ReplayTx is a transaction of the record as Replay needs it.
type ReplayTx interface {
	artifacts
	// TaskHead locks the task until the end of the transaction. It follows a
	// merged task to the one that it became. fault.NotFound if there is none.
	TaskHead(taskID string) (Head, Owner, error)
	// TaskIDs returns IDs that follow one, in order; merged tasks are left out.
	TaskIDs(after string, limit int) ([]string, error)
	// Events returns the task's events with greater numbers, in order.
	Events(taskID string, after int64, limit int) ([]Event, error)
	// Projection reads how the task stands.
	Projection(taskID string) (Projection, error)
	// ClearProjection sets the task back to how it was before its first event. What
	// people sent stays, and so does what came with a task that was merged into it.
	ClearProjection(taskID string) error
	// SetPlace sets the next place in the timeline.
	SetPlace(taskID string, seq int64) error
	// ApplyChanges is that of Tx.
	ApplyChanges(h Head, changes []Change, received time.Time) (changed bool, err error)
}

// Replayed says how one task's ledger compares with what is shown of the task.
type Replayed struct {
	TaskID      string
	Events      int
	Differences []string // none if the replay gives what is shown; at most 20
	Unknown     string   // why it cannot be replayed; else ""
	Purged      bool     // its raw record was purged, so there is nothing to replay
}

// Replay replays ledgers.
type Replay struct {
	Update func(context.Context, func(ReplayTx) error) error
}

const (
	replayBatch    = 16 // events in memory at once: each may have some megabytes
	maxDifferences = 20
)

// errKeep ends a replay's transaction without a trace.
var errKeep = errors.New("the projection is kept")

// All replays every task, one transaction each, and calls report after each.
func (r *Replay) All(ctx context.Context, report func(Replayed) error) error {
	for after := ""; ; {
		var ids []string
		err := r.Update(ctx, func(tx ReplayTx) (err error) {
			ids, err = tx.TaskIDs(after, 500)
			return err
		})
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, id := range ids {
			replayed, err := r.Task(ctx, id)
			if err == nil {
				err = report(replayed)
			}
			if err != nil {
				return err
			}
		}
		after = ids[len(ids)-1]
	}
}

// Task replays the ledger of one task through Reduce and compares the result with
// what is shown. Nothing is changed: what is shown stays even if it differs. Of a
// task that was merged into another one, the other one is replayed.
//
// Errors: fault.NotFound, and those of the database.
func (r *Replay) Task(ctx context.Context, taskID string) (Replayed, error) {
	var result Replayed
	err := r.Update(ctx, func(tx ReplayTx) error {
		head, _, err := tx.TaskHead(taskID)
		if err != nil {
			return err
		}
		result = Replayed{TaskID: head.TaskID}
		shown, err := tx.Projection(head.TaskID)
		if err != nil {
			return err
		}
		if err := result.replay(tx); err != nil {
			return err
		}
		if result.Unknown == "" && !result.Purged && len(result.Differences) == 0 {
			again, err := tx.Projection(head.TaskID)
			if err != nil {
				return err
			}
			result.Differences = differences(shown, again)
		}
		return errKeep
	})
	if errors.Is(err, errKeep) {
		err = nil
	}
	return result, err
}

// replay takes the task's events in anew.
func (r *Replayed) replay(tx ReplayTx) error {
	if err := tx.ClearProjection(r.TaskID); err != nil {
		return err
	}
	for after := int64(0); ; {
		events, err := tx.Events(r.TaskID, after, replayBatch)
		if err != nil || len(events) == 0 {
			return err
		}
		for _, e := range events {
			after = e.Number
			r.Events++
			if !e.Purged.IsZero() {
				r.Purged = true
				return nil
			}
			if e.Seq == 0 {
				r.Unknown = "its first observations were recorded by an earlier version, without all that a replay needs"
				return nil
			}
			if err := again(tx, e); err != nil {
				r.Differences = append(r.Differences, fmt.Sprintf("observation %d (%s %s) cannot be taken in again: %v", e.Number, e.Source, e.SourceKey, err))
				return nil
			}
		}
	}
}

// again takes one event in as Ingest did.
func again(tx ReplayTx, e Event) error {
	if err := tx.SetPlace(e.TaskID, e.Seq); err != nil {
		return err
	}
	head, _, err := tx.TaskHead(e.TaskID)
	if err != nil {
		return err
	}
	limit := e.Limit
	if limit == 0 {
		limit = math.MaxInt64
	}
	event, _ := readEvent(e.Payload, limit)
	head.AnsweredBy = e.AnsweredBy
	when := Timing{Asked: e.Asked, Received: e.Received, AfterAnswer: e.AfterAnswer}
	if err := when.comeBy(tx, e.TaskID, e.Source, e.SourceKey, event); err != nil {
		return err
	}
	next, changes := Reduce(head, event, when)
	if e.Source == SourcePoll && next.Doubt == (Doubt{}) {
		next.Sight = sight(e.Payload)
	}
	_, err = tx.ApplyChanges(next, changes, e.Received)
	return err
}

// differences compares what is shown with what the ledger says. Who answers the
// open question is told by the commands, not by the ledger.
func differences(shown, again Projection) []string {
	var found []string
	again.Head.AnsweredBy = shown.Head.AnsweredBy
	for _, part := range headParts(shown.Head, again.Head) {
		if part.shown != part.again {
			found = append(found, fmt.Sprintf("%s: shown is %s, the ledger says %s", part.name, part.shown, part.again))
		}
	}
	entries := make(map[string]string, len(again.Entries))
	for _, e := range again.Entries {
		entries[e.Place] = e.Content
	}
	for _, e := range shown.Entries {
		content, known := entries[e.Place]
		delete(entries, e.Place)
		switch {
		case !known:
			found = append(found, fmt.Sprintf("%s: shown is %s, the ledger has none", e.Place, e.Content))
		case content != e.Content:
			found = append(found, fmt.Sprintf("%s: shown is %s, the ledger says %s", e.Place, e.Content, content))
		}
	}
	for _, e := range again.Entries {
		if _, missing := entries[e.Place]; missing {
			found = append(found, fmt.Sprintf("%s: not shown, the ledger says %s", e.Place, e.Content))
		}
	}
	if len(found) > maxDifferences {
		found = append(found[:maxDifferences-1], fmt.Sprintf("and %d more", len(found)-maxDifferences+1))
	}
	return found
}

type headPart struct{ name, shown, again string }

func headParts(shown, again Head) []headPart {
	at := func(t time.Time) string {
		if t.IsZero() {
			return "none"
		}
		return t.UTC().Format(time.RFC3339Nano)
	}
	question := func(a Asked) string { return fmt.Sprintf("number %d, message %q", a.Number, a.MessageID+" "+a.Digest) }
	return []headPart{
		{"kind", string(shown.Kind), string(again.Kind)},
		{"state", string(shown.State), string(again.State)},
		{"the agent's time of the state", at(shown.StateAt), at(again.StateAt)},
		{"context", fmt.Sprintf("%q", shown.ContextID), fmt.Sprintf("%q", again.ContextID)},
		{"question", question(shown.Question), question(again.Question)},
		{"last heard", at(shown.ObservedAt), at(again.ObservedAt)},
		{"last check", shown.Sight, again.Sight},
		{"set aside", shown.Doubt.Status + " " + at(shown.Doubt.Since), again.Doubt.Status + " " + at(again.Doubt.Since)},
		{"the stream that told of the state", shown.StateStream, again.StateStream},
		{"unsettled", at(shown.Unsettled), at(again.Unsettled)},
	}
}
