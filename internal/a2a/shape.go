package a2a

import (
	"encoding/json"

	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
)

// StreamResponse returns what an agent said as a StreamResponse of A2A 1.0,
// section 4.2.3: a task, message or update that came without its wrapper gets
// one, anything else is returned as it is. Nothing is re-encoded. raw is valid JSON.
func StreamResponse(raw json.RawMessage) json.RawMessage {
	name, value, wrapped := eventMember(raw)
	if wrapped || name == "" {
		return raw
	}
	return Wrap(name, value)
}

// Wrap returns the object {"name": value} without changing the value's bytes.
func Wrap(name string, value json.RawMessage) json.RawMessage {
	out := make([]byte, 0, len(name)+len(value)+len(`{"":}`))
	out = append(out, `{"`...)
	out = append(out, name...)
	out = append(out, `":`...)
	out = append(out, value...)
	return append(out, '}')
}

// IsEvent reports whether raw, valid JSON, is a task, message, status update or
// artifact update, with or without the wrapper.
func IsEvent(raw json.RawMessage) bool {
	name, _, _ := eventMember(raw)
	return name != ""
}

// kinds are the discriminators of A2A 0.3, by the member of A2A 1.0 that took
// their place.
var kinds = map[string]string{
	"task":            "task",
	"message":         "message",
	"status-update":   "statusUpdate",
	"artifact-update": "artifactUpdate",
}

// eventMember finds what kind of event an object is: by the member that wraps it,
// else by the discriminator of A2A 0.3, else by its looks. The name is that of the
// wrapping member, "" if it is none of them.
func eventMember(raw []byte) (name string, value []byte, wrapped bool) {
	seen := map[string]rawjson.Kind{}
	var kind string
	for member, v := range rawjson.Members(raw) {
		of := rawjson.KindOf(v)
		switch member {
		case "task", "message", "statusUpdate", "artifactUpdate":
			if of == rawjson.Object {
				return member, v, true
			}
		case "kind":
			text, _ := rawjson.Text(v)
			kind = kinds[text]
		case "id", "taskId", "status", "artifact", "parts", "messageId":
			seen[member] = of
		}
	}
	if kind != "" {
		return kind, raw, false
	}
	return lookOf(seen), raw, false
}

func lookOf(seen map[string]rawjson.Kind) string {
	has := func(name string) bool { return seen[name] == rawjson.String || seen[name] == rawjson.Number }
	switch {
	case seen["artifact"] == rawjson.Object:
		return "artifactUpdate"
	case seen["status"] == rawjson.Object && has("id"):
		return "task"
	case seen["status"] == rawjson.Object && has("taskId"):
		return "statusUpdate"
	case seen["parts"] == rawjson.Array:
		return "message"
	}
	return ""
}
