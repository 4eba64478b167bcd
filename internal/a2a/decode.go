package a2a

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
)

// Bounds of what is taken out of one event. What exceeds them is left out and
// reported as a Problem; the event's own JSON still has it.
const (
	MaxDepth    = 500    // levels of nesting in one part or metadata object, so that it fits into other JSON
	maxItems    = 20_000 // messages, artifacts, parts and list entries
	maxProblems = 100    // reported
	maxID       = 1024   // bytes of an ID or URI
	maxState    = 100    // bytes of a state that is not known
	maxNotJSON  = 16_384 // bytes kept of text that is not JSON
)

// DecodeEvent reads what an agent said: a StreamResponse of A2A 1.0, section
// 4.2.3, or one of its members without the wrapper. It never fails: what cannot
// be read is left out, or kept as Unknown, and reported. At most 100 problems are
// reported. The raw members of the event share the payload's memory, except if
// the payload is not UTF-8; then it is repaired first.
func DecodeEvent(payload json.RawMessage) (Event, []Problem) {
	d := newDecoder()
	raw, ok := d.check(payload)
	if !ok {
		return Event{Unknown: raw}, d.problems
	}
	name, value, wrapped := eventMember(raw)
	if wrapped {
		d.path = append(d.path, name)
	}
	event := Event{}
	switch name {
	case "task":
		task := d.task(value)
		event.Task = &task
	case "message":
		message := d.message(value)
		event.Message = &message
	case "statusUpdate":
		update := d.statusUpdate(value)
		event.StatusUpdate = &update
	case "artifactUpdate":
		update := d.artifactUpdate(value)
		event.ArtifactUpdate = &update
	default:
		d.problem("is no task, message, status update or artifact update")
		event.Unknown = d.bounded(raw)
	}
	return event, d.problems
}

// DecodeTask reads a task as DecodeEvent does.
func DecodeTask(raw json.RawMessage) (Task, []Problem) {
	d := newDecoder()
	raw, ok := d.check(raw)
	if !ok {
		return Task{Status: Status{State: StateUnspecified}}, d.problems
	}
	return d.task(raw), d.problems
}

// DecodeMessage reads a message as DecodeEvent does.
func DecodeMessage(raw json.RawMessage) (Message, []Problem) {
	d := newDecoder()
	raw, ok := d.check(raw)
	if !ok {
		return Message{Role: RoleAgent}, d.problems
	}
	return d.message(raw), d.problems
}

// decoder reads one event. It knows where it is, what went wrong so far and how
// much it may still take.
type decoder struct {
	path     []string
	problems []Problem
	left     int  // items that may still be taken
	full     bool // said that there are too many items
	deep     bool // something is nested deeper than MaxDepth
}

func newDecoder() *decoder { return &decoder{left: maxItems} }

// check returns the payload as valid JSON in valid UTF-8. For text that is not
// JSON it returns a JSON string of its beginning, and false.
func (d *decoder) check(payload []byte) (json.RawMessage, bool) {
	if !utf8.Valid(payload) {
		d.problem("is not UTF-8; the bytes that are not were replaced")
		payload = bytes.ToValidUTF8(payload, []byte("\uFFFD"))
	}
	if !json.Valid(payload) {
		d.problem("is not JSON")
		return quoted(cut(string(payload), maxNotJSON)), false
	}
	d.deep = rawjson.Depth(payload) > MaxDepth
	return payload, true
}

// problem reports something about the place where the decoder is.
func (d *decoder) problem(format string, args ...any) {
	if len(d.problems) >= maxProblems {
		return
	}
	var pointer strings.Builder
	for _, segment := range d.path {
		pointer.WriteByte('/')
		pointer.WriteString(pointerEscape.Replace(cut(segment, maxID)))
	}
	d.problems = append(d.problems, Problem{Path: pointer.String(), Message: fmt.Sprintf(format, args...)})
}

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

// members reads the members of an object, those that are null aside.
func (d *decoder) members(raw []byte, read func(name string, value []byte)) {
	if rawjson.KindOf(raw) != rawjson.Object {
		d.problem("is not an object")
		return
	}
	for name, value := range rawjson.Members(raw) {
		if rawjson.KindOf(value) == rawjson.Null {
			continue
		}
		d.path = append(d.path, name)
		read(name, value)
		d.path = d.path[:len(d.path)-1]
	}
}

// elements reads the elements of an array, those that are null aside. A value
// that stands where a list should is taken for a list of one.
func (d *decoder) elements(raw []byte, read func(value []byte)) {
	if rawjson.KindOf(raw) != rawjson.Array {
		d.problem("is not a list")
		if d.take() {
			read(raw)
		}
		return
	}
	i := 0
	for value := range rawjson.Elements(raw) {
		d.path = append(d.path, strconv.Itoa(i))
		if rawjson.KindOf(value) == rawjson.Null {
			d.problem("is null")
		} else if d.take() {
			read(value)
		}
		d.path = d.path[:len(d.path)-1]
		if i++; d.full {
			return
		}
	}
}

// take counts one more item, and reports whether there is room for it.
func (d *decoder) take() bool {
	if d.left == 0 && !d.full {
		d.full = true
		d.problem("is one too many: an event may hold %d messages, artifacts and parts; the rest is left out", maxItems)
	}
	if d.full {
		return false
	}
	d.left--
	return true
}

// bounded returns a value that is kept as it came, or a note in its place if it
// is nested too deeply to be handed on inside other JSON.
func (d *decoder) bounded(raw []byte) json.RawMessage {
	if d.deep && rawjson.Depth(raw) > MaxDepth {
		d.problem("is nested more than %d levels deep and left out", MaxDepth)
		return json.RawMessage(`{"omitted":"nested too deeply"}`)
	}
	return raw
}

// cut shortens s to at most n bytes, at a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
