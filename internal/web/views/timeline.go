package views

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"time"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// entry is one line of a timeline: a message, an artifact, a change of state, or
// a cancel.
type entry struct {
	seq        int64
	at         time.Time
	message    *task.Message
	artifact   *task.Artifact
	transition *task.Transition
	cancel     *task.CancelRequest
	readOnly   bool // whoever looks may do nothing about it
}

// id names the entry's element, for live updates.
func (e entry) id() string { return "entry-" + strconv.FormatInt(e.seq, 10) }

// order is the entry's place among its siblings.
func (e entry) order() string { return strconv.FormatInt(e.seq, 10) }

// timeline returns the entries of a task in order. The question that is open is
// not among them: it has a card of its own behind them.
func timeline(p TaskPage) []entry {
	t := p.Task
	entries := make([]entry, 0, len(t.Messages)+len(t.Artifacts)+len(t.Transitions)+len(t.Cancels))
	for i := range t.Messages {
		if m := &t.Messages[i]; !m.Current {
			entries = append(entries, entry{seq: m.Seq, at: m.At, message: m})
		}
	}
	for i := range t.Artifacts {
		a := &t.Artifacts[i]
		entries = append(entries, entry{seq: a.Seq, at: a.At, artifact: a})
	}
	for i := range t.Transitions {
		x := &t.Transitions[i]
		entries = append(entries, entry{seq: x.Seq, at: x.At, transition: x})
	}
	for i := range t.Cancels {
		c := &t.Cancels[i]
		entries = append(entries, entry{seq: c.Seq, at: c.At, cancel: c})
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.seq, b.seq) })
	for i := range entries {
		entries[i].readOnly = p.ReadOnly
	}
	return entries
}

// speaker names who wrote a message.
func speaker(t task.Task, m *task.Message) string {
	switch {
	case m.Role != a2a.RoleUser:
		return t.AgentName
	case m.Author != "":
		return m.Author
	}
	return "Sent by another program"
}

// undelivered reports whether a person has to know about how it was sent, if it
// was sent from here at all.
func undelivered(d *task.Delivery) bool {
	return d != nil && command.Status(d.Status) != command.Succeeded
}

// tooLate reports a cancel that the agent refused of a task that has ended: nothing
// went wrong.
func tooLate(t task.Task, d task.Delivery) bool {
	return d.Refused && t.State.Terminal() && t.State != a2a.StateCanceled
}

// repeatable reports whether the person may want to send the message once more:
// it did not arrive, or may not have, and is nothing but text.
func repeatable(m *task.Message) bool {
	if m.Delivery == nil || len(m.Parts) != 1 || m.Parts[0].Text == nil {
		return false
	}
	status := command.Status(m.Delivery.Status)
	return status == command.Failed || status == command.Uncertain
}

// answerData returns the JSON that a filled-in form sent, or nil.
func answerData(m *task.Message) []byte {
	for _, p := range m.Parts {
		if p.Data != nil {
			return p.Data
		}
	}
	return nil
}

func artifactName(a *task.Artifact) string {
	if a.Name == "" {
		return clip(a.ID, 80)
	}
	return clip(a.Name, 120)
}

// elementName makes the name of an element from an agent's identifier.
func elementName(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:6])
}

// gone says why a question that was open is no longer, as far as the task tells.
func gone(t task.Task) string {
	if !t.ForgottenAt.IsZero() {
		return "The agent no longer knows this task."
	}
	if by := answeredBy(t); by != "" {
		return "Answered by " + by + "."
	}
	switch {
	case t.State.Terminal():
		return "The task has ended: " + lookOf(t).label + "."
	case t.Question != nil:
		return "The agent has asked something else meanwhile."
	}
	return "The agent no longer waits for this answer."
}

// answeredBy names who sent the last answer, if it is among the messages. While
// the agent has not yet taken an answer, whatever was sent last is one.
func answeredBy(t task.Task) string {
	isAnswered := t.State.Waiting() && t.Question == nil
	for _, m := range slices.Backward(t.Messages) {
		if m.Answers != "" || isAnswered && m.Author != "" {
			return m.Author
		}
	}
	return ""
}
