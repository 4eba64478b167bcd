package task

import (
	"math/rand/v2"
	"time"
)

// How often an agent is asked about a task of which nothing is heard.
const (
	firstCheck   = 500 * time.Millisecond // after something was heard
	activeCheck  = 15 * time.Second       // at most this long, at first
	waitingCheck = 15 * time.Second       // at least this long while the task waits for a person
	streamCheck  = time.Minute            // while a stream or pushes bring what happens
	endCheck     = 10 * time.Minute       // for how long an ended task is asked about that is unsettled
)

// quietChecks are the longest intervals for tasks that have been quiet for long.
var quietChecks = []struct{ quiet, interval time.Duration }{
	{time.Hour, 5 * time.Minute},
	{10 * time.Minute, time.Minute},
}

// NextCheck is when to ask the agent about the task again: soon after something
// was heard, then at growing intervals with some jitter, so that thousands of
// tasks do not ask at once. It is zero for a task of which nothing more can be
// heard. told says that a stream or pushes bring what happens, last is the interval
// before; 0 if something was heard now.
func NextCheck(h Head, told bool, last time.Duration, now time.Time) (at time.Time, interval time.Duration) {
	settled := h.Unsettled.IsZero()
	if h.RemoteTaskID == "" || h.State.Terminal() && (settled || now.Sub(h.ObservedAt) >= endCheck) {
		return time.Time{}, 0
	}
	switch {
	case settled && (told || last >= listedCheck && now.Sub(h.ObservedAt) < quietChecks[0].quiet): // a list has told, and will again
		interval = streamCheck
	case last == 0:
		interval = firstCheck
	default:
		interval = min(last+last/2, longest(now.Sub(h.ObservedAt)))
	}
	if h.NeedsYou() && settled {
		interval = max(interval, waitingCheck)
	}
	jitter := time.Duration(rand.Int64N(int64(interval)/4 + 1))
	return now.Add(interval + jitter), interval
}

func longest(quiet time.Duration) time.Duration {
	for _, q := range quietChecks {
		if quiet >= q.quiet {
			return q.interval
		}
	}
	return activeCheck
}
