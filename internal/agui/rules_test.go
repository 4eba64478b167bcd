package agui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// clientRules reads a stream as the official clients do, and returns the first
// reason for which one of them would reject the run; "" if none does. It shares
// nothing with what writes streams: these are the rules as they were measured on
// @ag-ui/client 1.0.0 and 0.0.59.
func clientRules(raw []byte, legacy bool) string {
	if bytes.ContainsRune(raw, '\r') {
		return "a carriage return"
	}
	c := client{legacy: legacy, texts: map[string]bool{}, shown: map[string]bool{}}
	for frame := range strings.SplitSeq(string(raw), "\n\n") {
		if frame == "" || strings.HasPrefix(frame, ":") {
			continue
		}
		data, ok := strings.CutPrefix(frame, "data: ")
		if !ok || data == "" || strings.Contains(data, "\n") {
			return "a frame that is no event: " + frame
		}
		if len(data) > 10_000_000 {
			return "an event that is too large"
		}
		if why := c.reads(data); why != "" {
			return fmt.Sprintf("%s: %.300s", why, data)
		}
	}
	return ""
}

type client struct {
	legacy      bool
	started     bool
	ended       bool
	thread, run string
	texts       map[string]bool
	shown       map[string]bool
}

func (c *client) reads(data string) string {
	decoder := json.NewDecoder(strings.NewReader(data))
	decoder.UseNumber()
	var e map[string]any
	if err := decoder.Decode(&e); err != nil {
		return "no JSON: " + err.Error()
	}
	if why := nulls(e); why != "" {
		return why
	}
	name, _ := e["type"].(string)
	switch {
	case c.ended:
		return "an event after the end"
	case name == "RUN_ERROR":
		c.ended = true
		return c.errs(e)
	case !c.started && name != "RUN_STARTED":
		return "the first event is no start"
	case c.started && name == "RUN_STARTED":
		return "a second start"
	}
	if metadata, there := e["metadata"]; there && !object(metadata) {
		return "metadata that is no object"
	}
	rule, known := map[string]func(map[string]any) string{
		"RUN_STARTED": c.starts, "RUN_FINISHED": c.finishes,
		"TEXT_MESSAGE_START": c.opens, "TEXT_MESSAGE_CONTENT": c.appends, "TEXT_MESSAGE_END": c.closes,
		"STATE_SNAPSHOT": has("snapshot"), "STATE_DELTA": patched("delta"), "MESSAGES_SNAPSHOT": snapshot,
		"ACTIVITY_SNAPSHOT": c.shows, "ACTIVITY_DELTA": c.changes, "CUSTOM": has("name", "value"),
	}[name]
	if !known {
		return "an unknown event"
	}
	return rule(e)
}

// nulls finds what is null at the top of an event; only outcome and result may be.
func nulls(e map[string]any) string {
	for name, v := range e {
		if v == nil && name != "outcome" && name != "result" {
			return name + " is null"
		}
	}
	return ""
}

func object(v any) bool { _, ok := v.(map[string]any); return ok }

func has(names ...string) func(map[string]any) string {
	return func(e map[string]any) string {
		for _, name := range names {
			if e[name] == nil || e[name] == "" {
				return name + " is missing"
			}
		}
		return ""
	}
}

func patched(name string) func(map[string]any) string {
	return func(e map[string]any) string {
		list, _ := e[name].([]any)
		if len(list) == 0 {
			return name + " is no patch"
		}
		for _, item := range list {
			op, _ := item.(map[string]any)
			path, _ := op["path"].(string)
			if _, there := op["value"]; !there || !strings.HasPrefix(path, "/") || op["op"] != "add" && op["op"] != "replace" {
				return "a bad operation"
			}
		}
		return ""
	}
}

func (c *client) errs(e map[string]any) string {
	if code, there := e["code"]; there {
		if text, ok := code.(string); !ok || text == "" {
			return "a code that is no text"
		}
	}
	return has("message")(e)
}

func (c *client) starts(e map[string]any) string {
	c.started = true
	c.thread, _ = e["threadId"].(string)
	c.run, _ = e["runId"].(string)
	return has("threadId", "runId")(e)
}

func (c *client) opens(e map[string]any) string {
	id, _ := e["messageId"].(string)
	if c.texts[id] {
		return "a text that is open is opened"
	}
	c.texts[id] = true
	if e["role"] != "assistant" {
		return "a role that texts do not have"
	}
	return has("messageId")(e)
}

func (c *client) appends(e map[string]any) string {
	if id, _ := e["messageId"].(string); !c.texts[id] {
		return "content of a text that is not open"
	}
	if _, ok := e["delta"].(string); !ok {
		return "no delta"
	}
	return ""
}

func (c *client) closes(e map[string]any) string {
	id, _ := e["messageId"].(string)
	if !c.texts[id] {
		return "the end of a text that is not open"
	}
	delete(c.texts, id)
	return ""
}

func (c *client) shows(e map[string]any) string {
	id, _ := e["messageId"].(string)
	c.shown[id] = true
	if !object(e["content"]) {
		return "an activity without an object"
	}
	return has("messageId", "activityType")(e)
}

func (c *client) changes(e map[string]any) string {
	if id, _ := e["messageId"].(string); !c.shown[id] {
		return "a change of an activity that is not shown"
	}
	return patched("patch")(e)
}

func snapshot(e map[string]any) string {
	list, ok := e["messages"].([]any)
	if !ok {
		return "no list of messages"
	}
	var ids []string
	for _, item := range list {
		m, _ := item.(map[string]any)
		id, _ := m["id"].(string)
		role, _ := m["role"].(string)
		_, text := m["content"].(string)
		_, parts := m["content"].([]any)
		if id == "" || slices.Contains(ids, id) || !text && (!parts || role != "user") || !slices.Contains([]string{"user", "assistant", "system", "developer"}, role) {
			return "a bad message"
		}
		ids = append(ids, id)
	}
	return ""
}

func (c *client) finishes(e map[string]any) string {
	c.ended = true
	if e["threadId"] != c.thread || e["runId"] != c.run {
		return "another run ends"
	}
	if len(c.texts) > 0 {
		return "a text is open at the end"
	}
	o, there := e["outcome"]
	if !there || o == nil {
		return ""
	}
	outcome, ok := o.(map[string]any)
	if !ok {
		return "an outcome that is no object"
	}
	switch outcome["type"] {
	case "success":
		if len(outcome) > 1 {
			return "more than a type in an outcome"
		}
		return ""
	case "cancelled":
		if c.legacy || len(outcome) > 1 {
			return "a cancelled run to an older client"
		}
		return ""
	case "interrupt":
		return interrupts(outcome)
	}
	return "an unknown outcome"
}

func interrupts(outcome map[string]any) string {
	list, _ := outcome["interrupts"].([]any)
	if len(list) == 0 || len(outcome) > 2 {
		return "no interrupts"
	}
	var ids []any
	for _, item := range list {
		i, _ := item.(map[string]any)
		if why := nulls(i) + has("id", "reason")(i); why != "" || slices.Contains(ids, i["id"]) {
			return "a bad interrupt: " + why
		}
		ids = append(ids, i["id"])
		for _, name := range []string{"responseSchema", "metadata"} {
			if v, there := i[name]; there && !object(v) {
				return name + " is no object"
			}
		}
		if _, there := i["expiresAt"]; there {
			return "an interrupt that expires locks older clients"
		}
	}
	return ""
}

func TestClientRulesFindFaults(t *testing.T) {
	t.Parallel()
	const start = `data: {"type":"RUN_STARTED","threadId":"t","runId":"r"}` + "\n\n"
	finish := func(rest string) string {
		return start + `data: {"type":"RUN_FINISHED","threadId":"t","runId":"r"` + rest + "}\n\n"
	}
	for name, stream := range map[string]string{
		"carriage return":    strings.ReplaceAll(start, "\n", "\r\n"),
		"no start":           `data: {"type":"TEXT_MESSAGE_END","messageId":"m"}` + "\n\n",
		"second start":       start + start,
		"foreign run":        start + `data: {"type":"RUN_FINISHED","threadId":"t","runId":"x"}` + "\n\n",
		"null":               finish(`,"metadata":null`),
		"outcome as text":    finish(`,"outcome":"success"`),
		"no interrupts":      finish(`,"outcome":{"type":"interrupt","interrupts":[]}`),
		"schema true":        finish(`,"outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"r","responseSchema":true}]}`),
		"open text":          strings.Replace(finish(""), "\n\n", "\n\n"+`data: {"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}`+"\n\n", 1),
		"role agent":         start + `data: {"type":"TEXT_MESSAGE_START","messageId":"m","role":"agent"}` + "\n\n",
		"after the end":      finish("") + `data: {"type":"CUSTOM","name":"n","value":1}` + "\n\n",
		"numeric code":       `data: {"type":"RUN_ERROR","message":"m","code":-32001}` + "\n\n",
		"empty frame":        start + "data: \n\n",
		"unshown activity":   start + `data: {"type":"ACTIVITY_DELTA","messageId":"a","activityType":"t","patch":[{"op":"add","path":"/x","value":1}]}` + "\n\n",
		"path without slash": start + `data: {"type":"STATE_DELTA","delta":[{"op":"add","path":"x","value":1}]}` + "\n\n",
		"older, cancelled":   finish(`,"outcome":{"type":"cancelled"}`),
	} {
		if clientRules([]byte(stream), true) == "" {
			t.Errorf("%s: the rules let it pass", name)
		}
	}
	if why := clientRules([]byte(": hello\n\n"+finish(`,"outcome":{"type":"cancelled"}`)), false); why != "" {
		t.Errorf("a good stream is refused: %s", why)
	}
}
