package task

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/agent-taskbay/taskbay/internal/a2a"
)

// Head is all that Reduce needs to know of a task. Its size does not grow with
// the task's history.
type Head struct {
	TaskID       string
	RemoteTaskID string
	ContextID    string
	Kind         Kind
	State        a2a.State
	StateAt      time.Time // the agent's own time of that state; zero if it gave none
	Question     Asked     // what a waiting task asks; zero if nothing
	AnsweredBy   string    // the command that answers it; "" if none
	ObservedAt   time.Time // when the agent was last heard
}

// Asked is the question of a waiting task: the status message that it asks
// with. An agent may ask again under the same message ID, so each time has a
// number: an answer belongs to one number.
type Asked struct {
	MessageID string
	Digest    string // of the message's content
	Number    int64  // grows with every question of the task; kept when none is open
}

// Open reports whether a question is open.
func (a Asked) Open() bool { return a.MessageID != "" }

// NeedsYou reports whether the task waits for a person and nobody has answered.
func (h Head) NeedsYou() bool { return h.State.Waiting() && h.AnsweredBy == "" }

// Timing is when an observation was made.
type Timing struct {
	Asked    time.Time // when it was asked for, if it answers a poll; else zero
	Received time.Time
}

// Change is one thing that an observation adds to the projection. Exactly one
// member is set.
type Change struct {
	AddMessage     *NewMessage
	PutArtifact    *a2a.Artifact       // the whole artifact; no effect if it is there like that
	AppendArtifact *a2a.ArtifactUpdate // a chunk of one
	AddTransition  *a2a.State
	Complete       string // the ID of an artifact of which no more will come
}

// NewMessage is a message that joins the timeline, unless it is there: one that
// a person sent is known by its ID, one of the agent by its ID and content.
type NewMessage struct {
	ID      string // the A2A messageId; made from the content if the agent gave none
	Digest  string
	Message a2a.Message
}

// Reduce says what one observation changes. It is pure: the same head and event
// give the same result. A terminal task is never reopened, an older snapshot
// never overwrites a newer state, and what is of no known kind is shown as it came.
// The cost is in proportion to the event.
func Reduce(h Head, event a2a.Event, when Timing) (Head, []Change) {
	r := reducer{head: h, when: when}
	switch {
	case event.Task != nil:
		r.snapshot(event.Task)
	case event.Message != nil:
		r.message(*event.Message)
	case event.StatusUpdate != nil:
		r.status(event.StatusUpdate.Status, event.StatusUpdate.ContextID)
	case event.ArtifactUpdate != nil:
		r.artifact(event.ArtifactUpdate)
	case event.Unknown != nil:
		r.addMessage(a2a.Message{Role: a2a.RoleAgent, Parts: []a2a.Part{{Unknown: event.Unknown}}})
	}
	if r.head.ObservedAt.Before(when.Received) {
		r.head.ObservedAt = when.Received
	}
	return r.head, r.changes
}

type reducer struct {
	head    Head
	when    Timing
	changes []Change
}

func (r *reducer) add(c Change) { r.changes = append(r.changes, c) }

func (r *reducer) snapshot(t *a2a.Task) {
	if r.head.RemoteTaskID == "" {
		r.head.RemoteTaskID = t.ID
	}
	r.head.Kind = KindTask
	if r.stale(t.Status) {
		return
	}
	for _, m := range t.History {
		r.addMessage(m)
	}
	for i := range t.Artifacts {
		r.add(Change{PutArtifact: &t.Artifacts[i]})
	}
	r.status(t.Status, t.ContextID)
	if r.head.State.Terminal() {
		for _, a := range t.Artifacts {
			r.add(Change{Complete: a.ArtifactID})
		}
	}
}

// stale reports whether a snapshot tells of an earlier time than the head: by
// the agent's own clock where both have one, else because something was heard
// after the snapshot was asked for.
func (r *reducer) stale(s a2a.Status) bool {
	if s.State == r.head.State {
		return false
	}
	if r.head.State.Terminal() {
		return true
	}
	if !s.Timestamp.IsZero() && !r.head.StateAt.IsZero() {
		return s.Timestamp.Before(r.head.StateAt)
	}
	return !r.when.Asked.IsZero() && r.when.Asked.Before(r.head.ObservedAt)
}

// message takes in a Message that the agent answered with. What has been a task
// stays one.
func (r *reducer) message(m a2a.Message) {
	if r.head.RemoteTaskID == "" {
		r.head.Kind = KindMessage
	}
	r.setContext(m.ContextID)
	r.addMessage(m)
}

func (r *reducer) status(s a2a.Status, contextID string) {
	r.setContext(contextID)
	if r.head.State.Terminal() {
		return
	}
	was := r.head
	if s.Message != nil {
		r.addMessage(*s.Message)
	}
	if s.State != "" && s.State != r.head.State {
		r.head.State = s.State
		r.add(Change{AddTransition: &s.State})
	}
	if !s.Timestamp.IsZero() {
		r.head.StateAt = s.Timestamp
	}
	r.ask(s, was)
}

// ask opens, keeps or closes the question. It is a new one if the task did not
// wait before, if the message is another one, or if the agent says after an
// answer, at a later time, that it still waits.
func (r *reducer) ask(s a2a.Status, was Head) {
	if !r.head.State.Waiting() {
		r.head.Question = Asked{Number: was.Question.Number}
		r.head.AnsweredBy = ""
		return
	}
	now := Asked{Number: was.Question.Number}
	if s.Message != nil {
		now.MessageID, now.Digest = messageID(*s.Message), digest(*s.Message)
	}
	later := !s.Timestamp.IsZero() && s.Timestamp.After(was.StateAt)
	if was.State == r.head.State && now == was.Question && (was.AnsweredBy == "" || !later) {
		return
	}
	now.Number++
	r.head.Question = now
	r.head.AnsweredBy = ""
}

func (r *reducer) artifact(u *a2a.ArtifactUpdate) {
	r.setContext(u.ContextID)
	if u.Append {
		r.add(Change{AppendArtifact: u})
	} else {
		r.add(Change{PutArtifact: &u.Artifact})
	}
	if u.LastChunk {
		r.add(Change{Complete: u.Artifact.ArtifactID})
	}
}

func (r *reducer) setContext(id string) {
	if r.head.ContextID == "" {
		r.head.ContextID = id
	}
}

func (r *reducer) addMessage(m a2a.Message) {
	r.add(Change{AddMessage: &NewMessage{ID: messageID(m), Digest: digest(m), Message: m}})
}

// messageID is the message's own ID, or one made from its content.
func messageID(m a2a.Message) string {
	if m.MessageID != "" {
		return m.MessageID
	}
	return "content-" + digest(m)[:32]
}

// digest is the SHA-256 of who speaks and what is said.
func digest(m a2a.Message) string {
	parts, err := a2a.EncodeParts(m.Parts)
	if err != nil {
		// A part's raw JSON has been read as JSON before, so this cannot
		// happen; if it did, the parts' Go form still tells them apart.
		parts = fmt.Appendf(nil, "%#v", m.Parts)
	}
	sum := sha256.Sum256(append([]byte(m.Role+"\n"), parts...))
	return hex.EncodeToString(sum[:])
}
