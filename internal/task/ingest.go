package task

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/remote"
)

// Source says how an observation came about.
type Source string

// The sources. A reply is named by its command and an event by its stream and
// place, so that one that comes twice is taken in once. A poll has a name of its
// own, and is taken in unless it saw what was heard last. A push is named by its
// content: agents give it no name, and push again what they think was lost.
const (
	SourceReply  Source = "reply"
	SourceStream Source = "stream"
	SourcePoll   Source = "poll"
	SourcePush   Source = "push"
)

// Observed is one observation on its way into the record.
type Observed struct {
	TaskID      string // local; the task that it was made for
	Source      Source
	SourceKey   string    // unique among the task's observations from this source
	Asked       time.Time // when a poll was asked for; else zero
	Observation remote.Observation
	Limits      Limits // of what the ledger keeps of the task whole

	cut bool // Observation is what is kept of one; its Raw is all of it
}

// Event is a row of the ledger.
type Event struct {
	ID        string
	TaskID    string
	Source    Source
	SourceKey string
	Raw       []byte
	Payload   json.RawMessage // nil if it is all of Raw
	Digest    string          // SHA-256 of Raw
	Asked     time.Time
	Received  time.Time

	Cut int64 // the size of Raw, if it is not kept, and Payload is what a replay needs of it; else 0

	Purged time.Time // when Raw and Payload were purged; zero if they were not

	// What it was taken in with, for a replay.
	Number      int64  // its place among the task's observations, from 1; the ledger gives it
	Seq         int64  // the place in the timeline that was next; the ledger gives it
	AnsweredBy  string // the command that answered the open question
	AfterAnswer bool   // see Timing
	Limit       int64  // bytes that an artifact could have; 0 if any number, as in earlier releases
}

// Tx is a transaction of the record as Ingest needs it.
type Tx interface {
	artifacts
	Now() time.Time
	// TaskHead locks the task until the end of the transaction. It follows a
	// merged task to the one that it became. fault.NotFound if there is none.
	TaskHead(taskID string) (Head, Owner, error)
	// FindRemoteTask returns the local ID of the agent's task, or "".
	FindRemoteTask(agentID, tenant, remoteTaskID string) (taskID string, err error)
	// CreateTask makes a task that another one's observation told of.
	CreateTask(Head, Owner) error
	// MergeTask moves what belongs to a task that turned out to be another one.
	MergeTask(from, into string) error
	// AppendEvent gives the event its number and place. It reports false, and does
	// nothing, if the observation is there.
	AppendEvent(Event) (added bool, err error)
	// LeaveOut counts an observation of so many bytes that is not kept at all.
	LeaveOut(taskID string, size int64) error
	// AttachBlob makes a task refer to bytes that are kept; an error if they have not
	// been asked for in so long that they are no longer.
	AttachBlob(taskID string, b Blob) error
	// ApplyChanges stores the head and its changes, received at that time. If
	// nothing differs from what is stored, it reports false, and the task's version
	// stays.
	ApplyChanges(h Head, changes []Change, received time.Time) (changed bool, err error)
	// ConfirmSends makes those uncertain sends of a task succeeded whose message
	// the agent has.
	ConfirmSends(taskID string, has func(messageID string) bool) error
	// CompareHistory keeps whether the agent's history of a task, in which it has these
	// of people's messages, lacks earlier ones that it had got.
	CompareHistory(taskID string, has func(messageID string) bool) error
	// DeliveredAt is when a command succeeded, if nobody follows the stream of its
	// task any more; else zero.
	DeliveredAt(commandID string) (time.Time, error)
	Signal(topics ...string)
}

// Owner is whose a task is.
type Owner struct {
	OrganisationID string
	AgentID        string
	Tenant         string
	SkillID        string // the skill that it is held to; "" if none
	Title          string
	Ledger         Ledger // what it has of the task
}

// Outcome says what an observation did.
type Outcome struct {
	TaskID    string // local; another one than it was made for, if the agent spoke of another task
	AgentID   string
	Head      Head // after it
	HasForm   bool // a part means to be a structured form
	Duplicate bool // it was there already
	Changed   bool // it told something new
}

// EventKey names an event by its stream and its place in it, from 0.
func EventKey(stream string, place int) string { return fmt.Sprintf("%s/%d", stream, place) }

// Prepared is an observation that is ready to be taken in: read, and with the bytes
// in its parts kept outside the record. It may be taken in within several
// transactions, one after the other.
type Prepared struct {
	observed Observed
	event    a2a.Event
	blobs    []Blob
	limit    int64
}

// Observed is the observation as it was.
func (p Prepared) Observed() Observed { return p.observed }

// Prepare makes an observation ready for Ingest. Bytes over the limit are left out,
// and what stands in their place says so. It must not be called within a
// transaction, as it may wait for where bytes are kept; if that cannot take them,
// the error is fault.Unavailable.
func Prepare(ctx context.Context, kept Bytes, o Observed) (Prepared, error) {
	limit := kept.MaxSize()
	event, found := readEvent(o.Observation.Payload, limit)
	blobs, err := keepAll(ctx, kept, found)
	return Prepared{o, event, blobs, limit}, err
}

// streamOf returns the stream that an observation came by, or "".
func streamOf(source Source, key string) string {
	if source != SourceStream {
		return ""
	}
	stream, _, _ := strings.Cut(key, "/")
	return stream
}

// PushKey names a push by its content.
func PushKey(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// Ingest takes one observation into the record: the one way in, from whichever
// source. It appends the raw bytes to the ledger, advances the projection, and
// signals those who watch, within tx; an observation that is there already
// changes nothing. Beyond the limits, what is taken in is what is kept of it.
func Ingest(tx Tx, newID func() string, p Prepared) (Outcome, error) {
	o, event, blobs := p.observed, p.event, p.blobs
	head, owner, err := resolve(tx, newID, o, event)
	if err != nil {
		return Outcome{}, err
	}
	known := Outcome{TaskID: head.TaskID, AgentID: owner.AgentID, Head: head, Duplicate: true}
	whole := event
	if fullness := o.Limits.fullness(owner.Ledger); fullness > 0 {
		if o.Observation.Payload, o.cut = condensed(o.Observation.Payload, event, head, fullness), true; o.Observation.Payload == nil {
			tx.Signal(live.TaskTopic(head.TaskID))
			return known, errors.Join(tx.LeaveOut(head.TaskID, int64(len(o.Observation.Raw))), confirm(tx, head, whole))
		}
		var left []Blob
		event, left = readEvent(o.Observation.Payload, p.limit)
		blobs = amongst(blobs, left)
	}
	when, err := timingOf(tx, head, o, event)
	if err != nil {
		return Outcome{}, err
	}
	seen := sightOf(o)
	if seen != "" && seen == head.Sight && head.Doubt == (Doubt{}) && head.Unsettled.IsZero() && !when.AfterAnswer {
		return known, nil
	}
	next, changes := Reduce(head, event, when)
	switch setAside := next.Doubt != (Doubt{}); {
	case setAside && next == head && len(changes) == 0:
		return known, confirm(tx, head, whole)
	case !setAside:
		next.Sight = seen
	}
	row := ledgerRow(newID(), head.TaskID, o)
	row.AnsweredBy, row.AfterAnswer, row.Limit = head.AnsweredBy, when.AfterAnswer, p.limit
	if added, err := tx.AppendEvent(row); err != nil || !added {
		return known, err
	}
	for _, b := range blobs {
		if err := tx.AttachBlob(head.TaskID, b); err != nil {
			return Outcome{}, err
		}
	}
	changed, err := tx.ApplyChanges(next, changes, when.Received)
	if err != nil {
		return Outcome{}, err
	}
	if err := confirm(tx, head, whole); err != nil {
		return Outcome{}, err
	}
	tx.Signal(live.TaskTopic(head.TaskID), live.OrganisationTopic(owner.OrganisationID))
	return Outcome{TaskID: head.TaskID, AgentID: owner.AgentID, Head: next, HasForm: meansForm(changes), Changed: changed}, nil
}

// timingOf is when and how an observation was made.
func timingOf(tx Tx, head Head, o Observed, event a2a.Event) (when Timing, err error) {
	when = Timing{Asked: o.Asked.Truncate(time.Microsecond), Received: o.Observation.Received.Truncate(time.Microsecond)}
	if when.AfterAnswer, err = afterAnswer(tx, head, o); err != nil {
		return when, err
	}
	return when, when.comeBy(tx, head.TaskID, o.Source, o.SourceKey, event)
}

// comeBy completes a timing with how the observation came.
func (t *Timing) comeBy(tx artifacts, taskID string, source Source, key string, event a2a.Event) error {
	t.Stream, t.Pushed = streamOf(source, key), source == SourcePush
	u := event.ArtifactUpdate
	if u == nil || !u.Append {
		return nil
	}
	wrote, found, err := tx.ArtifactStream(taskID, u.Artifact.ArtifactID)
	t.Misplaced = found && wrote != t.Stream
	return err
}

// artifacts tells who wrote an artifact.
type artifacts interface {
	// ArtifactStream returns the stream that wrote what is known of an artifact; "" if
	// anything else did. There may be no such artifact.
	ArtifactStream(taskID, artifactID string) (stream string, found bool, err error)
}

// confirm settles uncertain sends whose message a snapshot shows, and keeps whether
// it shows less than it should.
func confirm(tx Tx, head Head, event a2a.Event) error {
	has := heldMessages(event)
	if len(has) == 0 {
		return nil
	}
	shows := func(id string) bool { return has[id] }
	if err := tx.ConfirmSends(head.TaskID, shows); err != nil {
		return err
	}
	return tx.CompareHistory(head.TaskID, shows)
}

// sightOf names what a poll saw; "" for anything else.
func sightOf(o Observed) string {
	if o.Source != SourcePoll {
		return ""
	}
	return sight(o.Observation.Payload)
}

func sight(payload []byte) string {
	sum := sha256.Sum256(payload)
	return hex.EncodeToString(sum[:])
}

// settleTime is how long after its delivery an answer may leave a task as it was
// before a check takes that for the question asked again.
const settleTime = 5 * time.Second

// afterAnswer reports whether an observation was made after the agent had got the
// answer to the task's question. The first event of the stream that an answer
// opened does not count: it may tell how the task stood before.
func afterAnswer(tx Tx, head Head, o Observed) (bool, error) {
	if head.AnsweredBy == "" {
		return false, nil
	}
	switch o.Source {
	case SourceReply:
		return o.SourceKey == head.AnsweredBy, nil
	case SourceStream:
		return strings.HasPrefix(o.SourceKey, head.AnsweredBy+"/") && o.SourceKey != EventKey(head.AnsweredBy, 0), nil
	}
	delivered, err := tx.DeliveredAt(head.AnsweredBy)
	return !delivered.IsZero() && o.Asked.Sub(delivered) >= settleTime, err
}

// resolve finds the task that an observation is about. A remote ID means nothing
// without its agent and tenant. The first answer to a send binds the agent's ID
// to the local task, or merges it into the one that has that ID; an answer that
// speaks of yet another task is about that one.
func resolve(tx Tx, newID func() string, o Observed, event a2a.Event) (Head, Owner, error) {
	head, owner, err := tx.TaskHead(o.TaskID)
	remoteID := event.TaskID()
	if err != nil || remoteID == "" || remoteID == head.RemoteTaskID {
		return head, owner, err
	}
	known, err := tx.FindRemoteTask(owner.AgentID, owner.Tenant, remoteID)
	if err != nil {
		return Head{}, Owner{}, err
	}
	if head.RemoteTaskID == "" {
		if known == "" {
			head.RemoteTaskID, head.Kind = remoteID, KindTask
			return head, owner, nil
		}
		if err := tx.MergeTask(head.TaskID, known); err != nil {
			return Head{}, Owner{}, err
		}
		tx.Signal(live.TaskTopic(head.TaskID)) // whoever watches it goes on with the other one
		return tx.TaskHead(known)
	}
	if known != "" {
		return tx.TaskHead(known)
	}
	other := Head{TaskID: newID(), RemoteTaskID: remoteID, ContextID: event.ContextID(), Kind: KindTask, State: a2a.StateUnspecified}
	return other, owner, tx.CreateTask(other, owner)
}

// heldMessages returns the IDs of people's messages that a snapshot shows.
func heldMessages(e a2a.Event) map[string]bool {
	if e.Task == nil {
		return nil
	}
	held := map[string]bool{}
	for _, m := range e.Task.History {
		if m.Role == a2a.RoleUser && m.MessageID != "" {
			held[m.MessageID] = true
		}
	}
	return held
}

// Holds reports whether an observation is a snapshot that shows one of the
// messages.
func Holds(o remote.Observation, messageIDs []string) bool {
	event, _ := a2a.DecodeEvent(o.Payload)
	held := heldMessages(event)
	return slices.ContainsFunc(messageIDs, func(id string) bool { return held[id] })
}

// RemoteID returns the agent's ID of the task that an observation is about, or "".
func RemoteID(o remote.Observation) string {
	event, _ := a2a.DecodeEvent(o.Payload)
	return event.TaskID()
}

func ledgerRow(id, taskID string, o Observed) Event {
	sum := sha256.Sum256(o.Observation.Raw)
	row := Event{
		ID: id, TaskID: taskID, Source: o.Source, SourceKey: o.SourceKey,
		Raw: o.Observation.Raw, Payload: o.Observation.Payload, Digest: hex.EncodeToString(sum[:]),
		Asked: o.Asked, Received: o.Observation.Received,
	}
	switch {
	case o.cut:
		row.Cut, row.Raw = int64(len(row.Raw)), []byte{}
	case string(row.Payload) == string(row.Raw):
		row.Payload = nil
	}
	return row
}

// readEvent reads an event, with the bytes in its parts apart.
func readEvent(payload json.RawMessage, limit int64) (a2a.Event, []Blob) {
	event, _ := a2a.DecodeEvent(payload)
	var found []Blob
	for _, parts := range allParts(event) {
		found = append(found, detach(parts, limit)...)
	}
	return event, found
}

// amongst returns those blobs that others name as well.
func amongst(blobs, others []Blob) []Blob {
	named := map[string]bool{}
	for _, b := range others {
		named[b.Info.SHA256] = true
	}
	return slices.DeleteFunc(slices.Clone(blobs), func(b Blob) bool { return !named[b.Info.SHA256] })
}

// UserMessage is a person's message as the timeline keeps it. Its parts are those
// that Detach returned.
func UserMessage(messageID string, parts []a2a.Part) NewMessage {
	m := a2a.Message{MessageID: messageID, Role: a2a.RoleUser, Parts: parts}
	return NewMessage{ID: messageID, Digest: digest(m), Message: m}
}

func allParts(e a2a.Event) [][]a2a.Part {
	var all [][]a2a.Part
	message := func(m *a2a.Message) {
		if m != nil {
			all = append(all, m.Parts)
		}
	}
	message(e.Message)
	if e.StatusUpdate != nil {
		message(e.StatusUpdate.Status.Message)
	}
	if e.ArtifactUpdate != nil {
		all = append(all, e.ArtifactUpdate.Artifact.Parts)
	}
	if e.Task != nil {
		message(e.Task.Status.Message)
		for i := range e.Task.History {
			message(&e.Task.History[i])
		}
		for _, a := range e.Task.Artifacts {
			all = append(all, a.Parts)
		}
	}
	return all
}

func meansForm(changes []Change) bool {
	for _, c := range changes {
		if c.AddMessage == nil {
			continue
		}
		for _, p := range c.AddMessage.Message.Parts {
			if p.Data != nil && form.IsMediaType(p.MediaType) {
				return true
			}
		}
	}
	return false
}
