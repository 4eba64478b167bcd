package agui

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
)

// maxEvent is how large an event may be, in bytes of JSON. Clients give up at 10 MB.
const maxEvent = 8 << 20

// sequence is how far a stream has got. It lets through what both lines of the
// official client take at this point, and nothing else:
//
//	      RunStarted           anything but RunStarted        RunFinished
//	new ─────────────▶ open ─────────────────────────▶ open ─────────────▶ ended
//	 └──────────────────┴───────────────── RunError ─────────────────────────┘
//
// A run ends once, with no text open.
type sequence struct {
	legacy     bool // the client is of the line before 1.0
	phase      phase
	threadID   string
	runID      string
	open       map[string]bool // texts
	activities map[string]bool // that were shown
	state      bool            // a snapshot of it was sent
}

type phase int

const (
	phaseNew phase = iota
	phaseOpen
	phaseEnded
)

func newSequence(legacy bool) sequence {
	return sequence{legacy: legacy, open: map[string]bool{}, activities: map[string]bool{}}
}

// take lets an event through, or says why the clients would not take it.
func (s *sequence) take(e Event) error {
	if s.phase == phaseEnded {
		return errors.New("the run has ended")
	}
	switch e := e.(type) {
	case RunError:
		if e.Message == "" {
			return errors.New("an error has no message")
		}
		s.phase = phaseEnded
		return nil
	case RunStarted:
		return s.start(e)
	}
	if s.phase == phaseNew {
		return errors.New("the run has not started")
	}
	return s.within(e)
}

func (s *sequence) start(e RunStarted) error {
	if s.phase != phaseNew {
		return errors.New("the run has started")
	}
	if e.ThreadID == "" || e.RunID == "" {
		return errors.New("a run has a threadId and a runId")
	}
	s.phase, s.threadID, s.runID = phaseOpen, e.ThreadID, e.RunID
	return nil
}

// within takes an event of a run that goes on, or its end.
func (s *sequence) within(e Event) error {
	switch e := e.(type) {
	case TextStart, TextContent, TextEnd:
		return s.text(e)
	case StateSnapshot:
		s.state = s.state || isObject(e.Snapshot)
		return demand(isObject(e.Snapshot), "the state is an object")
	case StateDelta:
		return errors.Join(demand(s.state, "state is shown before it changes"), checkPatches(e.Delta))
	case MessagesSnapshot:
		return checkMessages(e.Messages)
	case ActivitySnapshot:
		if e.MessageID == "" || e.ActivityType == "" || !isObject(e.Content) {
			return errors.New("an activity has an ID, a type and an object as its content")
		}
		s.activities[e.MessageID] = true
		return nil
	case ActivityDelta:
		return errors.Join(demand(s.activities[e.MessageID] && e.ActivityType != "", "an activity is shown before it changes"), checkPatches(e.Patch))
	case Custom:
		return demand(e.Name != "" && isValue(e.Value), "a custom event has a name and a value")
	case RunFinished:
		return s.finish(e)
	}
	return fmt.Errorf("%s is no event of a run", e.kind())
}

func (s *sequence) text(e Event) error {
	switch e := e.(type) {
	case TextStart:
		if e.MessageID == "" || e.Role != RoleAssistant || s.open[e.MessageID] || !isObjectOrAbsent(e.Metadata) {
			return errors.New("a text has an ID that is not open, and the role assistant")
		}
		s.open[e.MessageID] = true
	case TextContent:
		return demand(s.open[e.MessageID] && e.Delta != "", "something is appended to a text that is open")
	case TextEnd:
		if !s.open[e.MessageID] {
			return errors.New("only a text that is open can be closed")
		}
		delete(s.open, e.MessageID)
	}
	return nil
}

func (s *sequence) finish(e RunFinished) error {
	switch {
	case e.ThreadID != s.threadID || e.RunID != s.runID:
		return errors.New("another run ends than has started")
	case len(s.open) > 0:
		return errors.New("a text is open")
	case !isObjectOrAbsent(e.Metadata) || e.Result != nil && !isValue(e.Result):
		return errors.New("metadata is an object, and a result a value")
	}
	if err := s.checkOutcome(e.Outcome); err != nil {
		return err
	}
	s.phase = phaseEnded
	return nil
}

func (s *sequence) checkOutcome(o *Outcome) error {
	switch {
	case o == nil:
		return nil
	case o.Type == OutcomeCancelled && s.legacy:
		return errors.New("clients before 1.0 know no cancelled run")
	case o.Type == OutcomeSuccess, o.Type == OutcomeCancelled:
		return demand(len(o.Interrupts) == 0, "only an interrupted run has interrupts")
	case o.Type != OutcomeInterrupt:
		return errors.New("an outcome is success, interrupt or cancelled")
	case len(o.Interrupts) == 0:
		return errors.New("an interrupted run has an interrupt")
	}
	seen := map[string]bool{}
	for _, i := range o.Interrupts {
		if i.ID == "" || i.Reason == "" || seen[i.ID] {
			return errors.New("an interrupt has an ID of its own, and a reason")
		}
		if !isObjectOrAbsent(i.ResponseSchema) || !isObjectOrAbsent(i.Metadata) {
			return errors.New("schema and metadata of an interrupt are objects")
		}
		seen[i.ID] = true
	}
	return nil
}

// closing returns what closes all that is open.
func (s *sequence) closing() []Event {
	var events []Event
	for _, id := range slices.Sorted(maps.Keys(s.open)) {
		events = append(events, TextEnd{MessageID: id})
	}
	return events
}

func checkMessages(messages []Message) error {
	if messages == nil {
		return errors.New("a snapshot of messages is a list")
	}
	seen := map[string]bool{}
	for _, m := range messages {
		if m.ID == "" || seen[m.ID] {
			return errors.New("each message of a snapshot has an ID of its own")
		}
		seen[m.ID] = true
		switch m.Role {
		case RoleUser, RoleAssistant, RoleSystem, RoleDeveloper:
		default:
			return errors.New("the role of a message is not known")
		}
		kind := rawjson.KindOf(m.Content)
		if kind != rawjson.String && (kind != rawjson.Array || m.Role != RoleUser) {
			return errors.New("the content of a message is a text; that of a user may be parts")
		}
	}
	return nil
}

func checkPatches(patches []Patch) error {
	if len(patches) == 0 {
		return errors.New("a change changes something")
	}
	for _, p := range patches {
		if p.Op != "add" && p.Op != "replace" || !strings.HasPrefix(p.Path, "/") || len(p.Value) == 0 {
			return errors.New("a change is an add or replace of a value, by a JSON Pointer")
		}
	}
	return nil
}

func demand(holds bool, rule string) error {
	if holds {
		return nil
	}
	return errors.New(rule)
}

func isObject(raw json.RawMessage) bool { return rawjson.KindOf(raw) == rawjson.Object }

func isObjectOrAbsent(raw json.RawMessage) bool { return raw == nil || isObject(raw) }

// isValue reports whether raw is there and not null.
func isValue(raw json.RawMessage) bool {
	return len(raw) > 0 && rawjson.KindOf(raw) != rawjson.Null
}
