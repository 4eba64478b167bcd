package a2a

import (
	"encoding/json"
	"slices"

	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
)

// Keep says what is left of an event besides whose it is and the state that it
// tells of.
type Keep struct {
	Message   bool // that of its status, or the message that it is
	Artifacts bool
}

// Condense returns an event with no more than Keep says: without history, metadata
// and whatever nobody reads. What is left is in it byte for byte, and DecodeEvent
// reads the same of it as of the whole event. It is nil if nothing is left.
func Condense(payload json.RawMessage, keep Keep) json.RawMessage {
	d := newDecoder()
	raw, ok := d.check(payload)
	if !ok {
		return nil
	}
	name, value, _ := eventMember(raw)
	members := []string{"id", "taskId", "contextId", "status"}
	switch {
	case name == "task" && keep.Artifacts:
		members = append(members, "artifacts")
	case name == "artifactUpdate" && keep.Artifacts:
		members = append(members, "artifact", "append", "lastChunk")
	case name == "message" && keep.Message:
		members = append(members, "messageId", "role", "parts")
	case name != "task" && name != "statusUpdate":
		return nil
	}
	status := []string{"state", "timestamp"}
	if keep.Message {
		status = append(status, "message")
	}
	var event object
	event.raw(name, only(value, members, func(name string, v []byte) []byte {
		if name == "status" && rawjson.KindOf(v) == rawjson.Object {
			return only(v, status, nil)
		}
		return v
	}))
	return event.bytes()
}

// only returns an object with some of its members, each as change makes it.
func only(raw []byte, names []string, change func(name string, v []byte) []byte) []byte {
	var o object
	for name, v := range rawjson.Members(raw) {
		if !slices.Contains(names, name) {
			continue
		}
		if change != nil {
			v = change(name, v)
		}
		o.raw(name, v)
	}
	return o.bytes()
}
