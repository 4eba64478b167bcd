package task

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
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
	Sight        string    // SHA-256 of the last check, if nothing was heard since; else ""
	Doubt        Doubt     // what was heard last and set aside; zero if nothing
	StateStream  string    // the stream that told of the state; "" if anything else did
	Unsettled    time.Time // when something was heard that only a check can put in its place; zero if nothing, or there was one
}

// Doubt is a snapshot that tells of an earlier time than the head, and was set
// aside for that.
type Doubt struct {
	Status string    // names the status that it tells of
	Since  time.Time // when it was received for the first time in a row
}

// doubtTime is for how long checks must say nothing but the same until they are
// believed against the agent's own clock: clocks go wrong, and replicas that lag
// behind catch up.
const doubtTime = 10 * time.Second

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
	// AfterAnswer says that it was made after the agent had got the answer to the
	// question: if it still asks that, it asks again.
	AfterAnswer bool
	Stream      string // the stream that brought it, whose events are in order; "" for anything else
	Pushed      bool   // it is a push: these come in any order
	// Misplaced says that it is a chunk of an artifact that something else than its
	// stream wrote, so that nobody knows whether the chunk is in there already.
	Misplaced bool
}

// Change is one thing that an observation adds to the projection. Exactly one
// member is set, besides Stream.
type Change struct {
	Stream         string // that brought it; "" for anything else
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
// A snapshot that is set aside changes nothing but the head's Doubt, which whatever
// is taken in clears. The cost is in proportion to the event.
//
// Only what is in order changes the projection. What a push says counts if it is
// later for certain; a chunk of an artifact counts if the stream that brings it wrote
// all of the artifact so far. Of anything else the head keeps that it is Unsettled: a
// check that is asked for after it brings the whole.
func Reduce(h Head, event a2a.Event, when Timing) (Head, []Change) {
	r := reducer{head: h, when: when}
	if when.Pushed {
		r.pushed(event)
		return r.head, r.changes
	}
	if u := event.ArtifactUpdate; u != nil && u.Append && (when.Misplaced || h.State.Terminal()) {
		r.unsettle()
		return r.head, nil
	}
	switch {
	case event.Task != nil:
		if s := asking(event.Task.Status); r.stale(s) {
			return r.doubted(s), nil
		}
		r.snapshot(event.Task)
	case event.Message != nil:
		r.message(*event.Message)
	case event.StatusUpdate != nil:
		r.statusUpdate(event.StatusUpdate)
	case event.ArtifactUpdate != nil:
		r.artifact(event.ArtifactUpdate)
	case event.Unknown != nil:
		r.unknown(event)
	}
	r.heard()
	return r.head, r.changes
}

type reducer struct {
	head    Head
	when    Timing
	changes []Change
}

func (r *reducer) add(c Change) {
	c.Stream = r.when.Stream
	r.changes = append(r.changes, c)
}

// heard notes that something was taken in.
func (r *reducer) heard() {
	if r.head.ObservedAt.Before(r.when.Received) {
		r.head.ObservedAt = r.when.Received
	}
	r.head.Sight, r.head.Doubt = "", Doubt{}
}

// unsettle notes that only a check can tell how the task stands.
func (r *reducer) unsettle() { r.head.Unsettled, r.head.Sight = r.when.Received, "" }

func (r *reducer) unknown(event a2a.Event) {
	r.addMessage(a2a.Message{Role: a2a.RoleAgent, Parts: []a2a.Part{{Unknown: event.Unknown}}})
}

// pushed takes in what an agent pushed. A state counts if it is later for certain;
// messages count always, as they are known by their IDs; artifacts are left to a check.
func (r *reducer) pushed(event a2a.Event) {
	switch {
	case event.Task != nil:
		r.pushedStatus(event.Task.Status, event.Task.ContextID, event.Task.History)
		if len(event.Task.Artifacts) > 0 {
			r.unsettle()
		}
	case event.StatusUpdate != nil:
		r.pushedStatus(event.StatusUpdate.Status, event.StatusUpdate.ContextID, nil)
	case event.Message != nil:
		r.message(*event.Message)
		r.heard()
	case event.ArtifactUpdate != nil:
		r.unsettle()
	case event.Unknown != nil:
		r.unknown(event)
		r.heard()
	}
}

func (r *reducer) pushedStatus(s a2a.Status, contextID string, history []a2a.Message) {
	h := r.head
	later := !s.Timestamp.IsZero() && !h.StateAt.IsZero() && s.Timestamp.After(h.StateAt)
	switch {
	case h.State.Terminal():
	case later, s.State.Terminal(), h.State == a2a.StateUnspecified:
		for _, m := range history {
			r.addMessage(m)
		}
		r.status(s, contextID)
		r.heard()
		if s.State.Terminal() {
			r.unsettle()
		}
	case s.State != h.State || s.Timestamp.IsZero() || s.Timestamp.Before(h.StateAt) || h.StateAt.IsZero():
		r.unsettle()
	}
}

// statusUpdate takes a status in. One that a stream brings when something else has
// told of a later one leaves its message alone.
func (r *reducer) statusUpdate(u *a2a.StatusUpdate) {
	h, s := r.head, asking(u.Status)
	clocks := !s.Timestamp.IsZero() && !h.StateAt.IsZero()
	if clocks && h.StateStream != r.when.Stream && s.Timestamp.Before(h.StateAt) && !s.State.Terminal() && !h.State.Terminal() {
		if s.Message != nil {
			r.addMessage(*s.Message)
		}
		r.unsettle()
		return
	}
	r.status(u.Status, u.ContextID)
	if r.when.Stream != "" && r.head.State.Terminal() && !h.State.Terminal() {
		r.unsettle() // what went on beside the stream, or was lost in it, is in the task itself
	}
}

func (r *reducer) snapshot(t *a2a.Task) {
	if r.head.RemoteTaskID == "" {
		r.head.RemoteTaskID = t.ID
	}
	r.head.Kind = KindTask
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
	if !r.when.Asked.IsZero() && !r.when.Asked.Before(r.head.Unsettled) {
		r.head.Unsettled = time.Time{}
	}
}

// stale reports whether a snapshot tells of an earlier time than the head: by
// when it was asked for, or by the agent's own clock. A later time by that clock
// counts always, an earlier one only until checks that were asked for later have
// said the same for a while.
func (r *reducer) stale(s a2a.Status) bool {
	h := r.head
	if h.State.Terminal() {
		return s.State != h.State
	}
	clocks := !s.Timestamp.IsZero() && !h.StateAt.IsZero()
	switch {
	case clocks && s.Timestamp.After(h.StateAt):
		return false
	case !r.when.Asked.IsZero() && r.when.Asked.Before(h.ObservedAt):
		return true
	case !clocks || !s.Timestamp.Before(h.StateAt):
		return false
	case s.State == h.State && (!s.State.Waiting() || h.Question == questionIn(s, h.Question.Number)):
		return false
	}
	longEnough := !r.when.Asked.IsZero() && r.when.Asked.Sub(h.Doubt.Since) >= doubtTime
	return h.Doubt.Status != statusName(s) || !longEnough
}

// doubted is the head with a snapshot of this status set aside.
func (r *reducer) doubted(s a2a.Status) Head {
	if name := statusName(s); r.head.Doubt.Status != name {
		r.head.Doubt = Doubt{Status: name, Since: r.when.Received}
	}
	return r.head
}

// statusName tells one status from another.
func statusName(s a2a.Status) string {
	q := questionIn(s, 0)
	return fmt.Sprintf("%s %d %s %s", s.State, s.Timestamp.UnixMicro(), q.MessageID, q.Digest)
}

// questionIn is what a status asks with its message, as the question of that number.
func questionIn(s a2a.Status, number int64) Asked {
	asked := Asked{Number: number}
	if m := s.Message; m != nil {
		asked.MessageID, asked.Digest = messageID(*m), digest(*m)
	}
	return asked
}

// asking is a status whose question is the agent's, whatever role it gives it, and
// whose time is as the record keeps it: else one and the same status would seem to be
// later than itself.
func asking(s a2a.Status) a2a.Status {
	s.Timestamp = s.Timestamp.Truncate(time.Microsecond)
	if s.State.Waiting() && s.Message != nil && s.Message.Role != a2a.RoleAgent {
		m := *s.Message
		m.Role = a2a.RoleAgent
		s.Message = &m
	}
	return s
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
	s = asking(s)
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
	if r.head.State != was.State || !r.head.StateAt.Equal(was.StateAt) {
		r.head.StateStream = r.when.Stream
	}
	r.ask(s, was)
}

// ask opens, keeps or closes the question. It is a new one if the task did not
// wait before, if the message is another one, or if the agent says after it got an
// answer, or at a later time by its own clock, that it still waits.
func (r *reducer) ask(s a2a.Status, was Head) {
	if !r.head.State.Waiting() {
		r.head.Question = Asked{Number: was.Question.Number}
		r.head.AnsweredBy = ""
		return
	}
	now := questionIn(s, was.Question.Number)
	again := r.when.AfterAnswer || !s.Timestamp.IsZero() && s.Timestamp.After(was.StateAt)
	if was.State == r.head.State && now == was.Question && (was.AnsweredBy == "" || !again) {
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

// digest is the SHA-256 of who speaks and what is said. Whether bytes are over the
// limit of today makes no difference: the same message is never another one.
func digest(m a2a.Message) string {
	said := slices.Clone(m.Parts)
	for i, p := range said {
		if p.Artifact != nil && !p.Artifact.Kept() {
			said[i].Artifact = &a2a.Blob{SHA256: p.Artifact.SHA256, Size: p.Artifact.Size}
		}
	}
	parts, err := a2a.EncodeParts(said)
	if err != nil {
		// A part's raw JSON has been read as JSON before, so this cannot
		// happen; if it did, the parts' Go form still tells them apart.
		parts = fmt.Appendf(nil, "%#v", said)
	}
	sum := sha256.Sum256(append([]byte(m.Role+"\n"), parts...))
	return hex.EncodeToString(sum[:])
}
