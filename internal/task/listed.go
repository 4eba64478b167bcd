package task

import (
	"time"

	"github.com/agent-taskbay/taskbay/internal/remote"
)

// Listed is what an agent's list of its tasks says of one that is known.
type Listed int

// What a list may say. Lists may leave out all but the status, so none is taken into
// the record: what differs is asked for.
const (
	ListedUnclear Listed = iota // something was heard since it was asked for, or it tells of an earlier time
	ListedSame                  // what is known
	ListedNews                  // something else
)

// CompareListed says what an entry of a list, asked for then, means for a task.
func CompareListed(h Head, entry remote.Observation, asked time.Time) Listed {
	event, _ := readEvent(entry.Payload, 0)
	if event.Task == nil || h.State.Terminal() || h.ObservedAt.After(asked) {
		return ListedUnclear
	}
	s := asking(event.Task.Status)
	clocks := !s.Timestamp.IsZero() && !h.StateAt.IsZero()
	switch {
	case clocks && s.Timestamp.Before(h.StateAt):
		return ListedUnclear
	case s.State != h.State, clocks && s.Timestamp.After(h.StateAt):
		return ListedNews
	case s.State.Waiting() && s.Message != nil && questionIn(s, h.Question.Number) != h.Question:
		return ListedNews
	}
	return ListedSame
}

// How often the agent is asked about a task that its list shows unchanged all the
// while: the list may lag, or leave out what went on.
const (
	listedQuiet     = time.Minute      // for so long nothing must have been heard of the task
	listedCheck     = 5 * time.Minute  // between checks
	listedLongCheck = 10 * time.Minute // the same, once it has been quiet for quietChecks[0]
)

// ListedCheck is how long after a list showed the task unchanged the agent is asked
// about it; zero if the check that is planned stands, last being the interval before
// it.
func ListedCheck(h Head, last time.Duration, now time.Time) time.Duration {
	quiet := now.Sub(h.ObservedAt)
	interval := listedCheck
	if quiet >= quietChecks[0].quiet {
		interval = listedLongCheck
	}
	if quiet < listedQuiet || h.AnsweredBy != "" || !h.Unsettled.IsZero() || last == 0 || last >= interval {
		return 0
	}
	return interval
}
