package agenttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// legacy writes what A2A 1.0 says as 0.3 does: with "kind" over JSON-RPC, as the
// JSON of its protocol buffers over HTTP+JSON. It is made for the events of tests,
// not for whatever an agent might say.
func legacy(event []byte, rest bool) string {
	decoder := json.NewDecoder(bytes.NewReader(event))
	decoder.UseNumber()
	var value map[string]any
	if err := decoder.Decode(&value); err != nil {
		return string(event)
	}
	l := legacyWriter{rest}
	for name, kind := range map[string]string{"task": "task", "message": "message", "statusUpdate": "status-update", "artifactUpdate": "artifact-update"} {
		inner, ok := value[name].(map[string]any)
		if !ok {
			continue
		}
		l.write(inner)
		if rest {
			return encoded(value)
		}
		inner["kind"] = kind
		return encoded(inner)
	}
	l.write(value)
	if _, isTask := value["status"]; isTask && !rest {
		value["kind"] = "task"
	}
	return encoded(value)
}

func encoded(value any) string {
	written, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("agenttest: %v", err)) // it was JSON before
	}
	return string(written)
}

type legacyWriter struct{ rest bool }

// write changes an object and all that is in it, the values of data aside.
func (l legacyWriter) write(object map[string]any) {
	for name, value := range object {
		switch value := value.(type) {
		case string:
			object[name] = l.name(name, value)
		case map[string]any:
			l.write(value)
		case []any:
			l.list(name, value)
		}
	}
	if parts, ok := object["parts"]; ok {
		if _, isMessage := object["messageId"]; isMessage {
			l.message(object, parts)
		}
	}
}

func (l legacyWriter) message(object map[string]any, parts any) {
	if !l.rest {
		object["kind"] = "message"
		return
	}
	delete(object, "parts")
	object["content"] = parts
}

// name writes a state or a role, which have other names over JSON-RPC.
func (l legacyWriter) name(member, value string) string {
	switch {
	case l.rest:
		return value
	case member == "state":
		return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(value, "TASK_STATE_")), "_", "-")
	case member == "role":
		return strings.ToLower(strings.TrimPrefix(value, "ROLE_"))
	}
	return value
}

func (l legacyWriter) list(name string, values []any) {
	for _, value := range values {
		object, ok := value.(map[string]any)
		switch {
		case ok && name == "parts":
			l.part(object)
		case ok:
			l.write(object)
		}
	}
}

func (l legacyWriter) part(part map[string]any) {
	mediaType, typed := part["mediaType"]
	delete(part, "mediaType")
	kind := "text"
	switch data, isData := part["data"]; {
	case isData:
		kind = "data"
		if l.rest {
			part["data"] = map[string]any{"data": data}
		}
		if typed {
			part["metadata"] = map[string]any{"mediaType": mediaType}
		}
	case part["url"] != nil:
		kind = "file"
		uri := "uri"
		if l.rest {
			uri = "fileWithUri"
		}
		part["file"] = map[string]any{uri: part["url"], "mimeType": mediaType}
		delete(part, "url")
	}
	if !l.rest {
		part["kind"] = kind
	}
}
