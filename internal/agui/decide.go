package agui

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// action is what a request comes to.
type action int

const (
	actFollow action = iota // show a run as it is, to its end
	actSend                 // start a task with what is new
	actAnswer               // answer the open interrupt
	actCancel               // abandon it: cancel the task
	actAsk                  // show the open interrupt again
	actRest                 // there is nothing to do
)

// decision is what is to be done for a request, and what to tell the client of it.
type decision struct {
	do       action
	run      *Run     // that is followed, or asked about; nil for none
	fresh    []spoken // messages of the client that the thread has not got
	resume   ResumeEntry
	errs     []ValidationError // why an answer is not sent
	warnings []string
	unlock   bool // the client waits to hear that an interrupt is no more
}

// codedError is a fault with the code that AG-UI clients know it by.
type codedError struct {
	err  *fault.Error
	code string
}

// Error returns the fault's message.
func (e *codedError) Error() string { return e.err.Error() }

// Unwrap returns the fault.
func (e *codedError) Unwrap() error { return e.err }

func errRunActive() error {
	return &codedError{fault.New(fault.Conflict, "A run of this thread is going on: wait for its end, or cancel it."), "run_active"}
}

func errRunConflict() error {
	return &codedError{fault.New(fault.Conflict, "This runId names a run with other content: use a new one for each run."), "run_id_conflict"}
}

// decide says what a request comes to, given the thread as it is. open is the
// interrupt that waits for an answer; nil if none does.
func decide(h *history, open *Asked, in Input) (decision, error) {
	d := decision{run: h.last()}
	d.fresh, d.warnings = news(h, in.Messages)
	entry, given := d.resumes(h, open, in.Resume)
	if named := runsOf(h, in.RunID); len(named) > 0 {
		same, conflict := named.find(h, in, d.fresh)
		again := open != nil && given // it was answered like that before, in vain: it is open again
		switch {
		case again:
		case same != nil:
			d.do, d.run, d.errs = actFollow, same, nil
			return d, nil
		case conflict:
			return d, errRunConflict()
		}
	}
	if open != nil {
		return d.waiting(h, entry, given), nil
	}
	if d.run != nil && h.now != nil && !settled(*h.now, d.run.CommandID) {
		if len(d.fresh) > 0 {
			return d, errRunActive()
		}
		d.do = actFollow
		return d, nil
	}
	switch {
	case len(d.fresh) > 0:
		d.do = actSend
	case d.run == nil || d.unlock:
		d.do = actRest
	default:
		d.do = actFollow
	}
	return d, nil
}

// news returns the user's messages that the thread has not got, and what to say of
// content in them that is not sent on.
func news(h *history, messages []InputMessage) (fresh []spoken, warnings []string) {
	seen := map[string]bool{}
	for _, m := range messages {
		if m.Role != RoleUser || seen[m.ID] || h.message(m.ID) != nil {
			continue
		}
		seen[m.ID] = true
		s := speak(m)
		fresh = append(fresh, s)
		for _, kind := range s.Unknown {
			warnings = append(warnings, warnUnknown(kind))
		}
	}
	return fresh, warnings
}

// resumes returns the entry that answers the open interrupt. Entries for what is no
// longer open have no effect, so that no client is locked out by one.
func (d *decision) resumes(h *history, open *Asked, entries []ResumeEntry) (entry ResumeEntry, given bool) {
	for _, e := range entries {
		switch known := h.interrupt(e.InterruptID); {
		case open != nil && e.InterruptID == open.Interrupt.ID && given:
			d.errs = append(d.errs, ValidationError{Message: "The interrupt is answered more than once."})
		case open != nil && e.InterruptID == open.Interrupt.ID:
			entry, given = e, true
		case known != nil && known.Decision == decisionDigest(e): // the same again
			d.unlock = d.unlock || e.status() == statusCancelled
		default:
			d.unlock = d.unlock || e.status() == statusCancelled
			d.warnings = append(d.warnings, "An interrupt that was answered is not open (any more), so the answer has no effect.")
		}
	}
	return entry, given
}

// waiting decides what to do while an interrupt is open.
func (d decision) waiting(h *history, entry ResumeEntry, given bool) decision {
	d.do = actAsk
	switch {
	case !given || len(d.errs) > 0:
	case entry.status() == statusCancelled:
		d.do, d.resume = actCancel, entry
	case entry.status() == statusResolved:
		if _, d.errs = answer(*h.now, entry.Payload); len(d.errs) == 0 {
			d.do, d.resume = actAnswer, entry
		}
	default:
		d.errs = []ValidationError{{Message: "The status of an answer is resolved or cancelled."}}
	}
	return d
}

// namedRuns are the runs of one key, oldest first.
type namedRuns []Run

func runsOf(h *history, key string) namedRuns {
	var named namedRuns
	for _, r := range h.runs {
		if r.Key == key {
			named = append(named, r)
		}
	}
	return named
}

// find returns the run that the input is a repetition of. A key that is used for
// something else is a conflict, unless it resumes its own interrupt, as CopilotKit
// does.
func (n namedRuns) find(h *history, in Input, fresh []spoken) (same *Run, conflict bool) {
	resume := resumeDigest(in.Resume)
	for i := len(n) - 1; i >= 0; i-- {
		if r := &n[i]; len(fresh) == 0 && (r.Resume == resume || resume == "") && saidAgain(h, r.ID, in.Messages) {
			return r, false
		}
	}
	asked := slices.ContainsFunc(n, func(r Run) bool { return h.endedBy(r.ID) != nil })
	return nil, resume == "" || !asked
}

// saidAgain reports whether the messages of a run are said again as they were, or not
// at all.
func saidAgain(h *history, runID string, messages []InputMessage) bool {
	for _, m := range messages {
		if m.Role != RoleUser {
			continue
		}
		if s := h.message(m.ID); s != nil && s.RunID == runID && s.Digest != speak(m).digest() {
			return false
		}
	}
	return true
}

// resumeDigest names the answers of a request; "" if there are none.
func resumeDigest(entries []ResumeEntry) string {
	if len(entries) == 0 {
		return ""
	}
	sum := sha256.New()
	for _, e := range entries {
		sum.Write([]byte(decisionDigest(e)))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// decisionDigest names one answer.
func decisionDigest(e ResumeEntry) string {
	payload := e.Payload
	if !isValue(payload) || e.status() == statusCancelled {
		payload = nil
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %s", e.InterruptID, e.status(), payload))
	return hex.EncodeToString(sum[:])
}

// settled reports whether the task has come to a point at which a run of that command
// ends.
func settled(t task.Task, commandID string) bool {
	_, ended := outcome(t, delivery(t, commandID))
	return ended
}
