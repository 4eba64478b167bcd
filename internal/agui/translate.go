package agui

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// The names of what is no text.
const (
	activityArtifact = "a2a.artifact"
	customData       = "a2a.data"
	customWarning    = "a2a.warning"
)

// translation sends what changes in one task, each thing once. It can be fed any
// history of any task: what the client has is all that it goes by.
type translation struct {
	stream    *Stream
	files     func(sha256 string) string // gives bytes an address
	taskID    string
	state     string
	contextID string
	messages  map[int64]bool             // of the agent, that the client has, by their places
	artifacts map[string]*artifactClient // that the client has, by their IDs
	anew      bool                       // a text that the client has became another one: its messages have to be sent anew
}

func newTranslation(stream *Stream, files func(string) string) *translation {
	return &translation{stream: stream, files: files, messages: map[int64]bool{}, artifacts: map[string]*artifactClient{}}
}

// reset forgets what the client has.
func (t *translation) reset() {
	t.messages, t.artifacts = map[int64]bool{}, map[string]*artifactClient{}
}

// entryID is the AG-UI ID of an entry of a task's timeline. The agent's own message
// IDs would not do: they are unique only by the word of the agent, and the clients
// append to a message that they know.
func entryID(taskID string, seq int64) string { return fmt.Sprintf("%s:%d", taskID, seq) }

// activityID is the AG-UI ID of an artifact's activity.
func activityID(taskID, artifactID string) string {
	return "artifact:" + taskID + ":" + artifactID
}

// show sends what the client does not have of a task, or of what changed in it, in the
// order of the timeline.
func (t *translation) show(d task.Task) error {
	t.taskID = d.ID
	messages, artifacts := d.Messages, d.Artifacts
	for len(messages) > 0 || len(artifacts) > 0 {
		var err error
		if len(artifacts) == 0 || len(messages) > 0 && messages[0].Seq < artifacts[0].Seq {
			err = t.showMessage(d, messages[0])
			messages = messages[1:]
		} else {
			err = t.showArtifact(artifacts[0])
			artifacts = artifacts[1:]
		}
		if err != nil {
			return err
		}
	}
	return t.showState(d)
}

func (t *translation) showState(d task.Task) error {
	var patches []Patch
	if state := string(d.State); state != t.state {
		patches = append(patches, Patch{Op: "replace", Path: "/a2a/taskState", Value: mustJSON(state)})
	}
	if d.ContextID != t.contextID {
		patches = append(patches, Patch{Op: "replace", Path: "/a2a/contextId", Value: mustJSON(d.ContextID)})
	}
	t.state, t.contextID = string(d.State), d.ContextID
	if len(patches) == 0 {
		return nil
	}
	return t.send(StateDelta{Delta: patches})
}

// showMessage sends a message of the agent. What people say is not sent back: the
// client has said it, or hears of it with the next snapshot.
func (t *translation) showMessage(d task.Task, m task.Message) error {
	if m.Role != a2a.RoleAgent || t.messages[m.Seq] {
		return nil
	}
	t.messages[m.Seq] = true
	id := entryID(t.taskID, m.Seq)
	if text := textOf(m.Parts, t.files); text != "" {
		about := mustJSON(map[string]any{"a2a": map[string]any{"messageId": m.ID, "taskId": t.taskID}})
		if err := t.wholeText(id, text, about); err != nil {
			return err
		}
	}
	for i, p := range m.Parts {
		if p.Data == nil || isDrawn(d, m, i) {
			continue
		}
		value := map[string]any{"messageId": id, "part": i, "data": p.Data}
		if p.MediaType != "" {
			value["mediaType"] = p.MediaType
		}
		if err := t.sendJSON(func(v json.RawMessage) Event { return Custom{Name: customData, Value: v} }, value); err != nil {
			return err
		}
	}
	return nil
}

// isDrawn reports whether a part is the form that the open question is drawn with,
// which goes with the interrupt.
func isDrawn(d task.Task, m task.Message, part int) bool {
	return m.Current && d.Question != nil && d.Question.Form != nil && d.Question.FormPart == part && form.IsMediaType(m.Parts[part].MediaType)
}

func (t *translation) wholeText(id, text string, about json.RawMessage) error {
	if err := t.send(TextStart{MessageID: id, Role: RoleAssistant, Metadata: about}); err != nil {
		return err
	}
	if err := t.stream.appendText(id, text); err != nil {
		return err
	}
	return t.send(TextEnd{MessageID: id})
}

// adopt takes note that the client has all of a task up to a place in its timeline,
// by a snapshot of the messages; 0 is all of it. Artifacts are shown as activities.
func (t *translation) adopt(d task.Task, before int64) error {
	t.taskID = d.ID
	for _, m := range d.Messages {
		if before == 0 || m.Seq < before {
			t.messages[m.Seq] = true
		}
	}
	for _, a := range d.Artifacts {
		if before == 0 || a.Seq < before {
			t.artifacts[a.ID] = &artifactClient{text: textOf(a.Parts, t.files), parts: a.Parts, complete: a.Complete}
			if err := t.activity(a); err != nil {
				return err
			}
		}
	}
	t.anew = false
	return nil
}

// send sends an event. One that the clients would not take is left out, and a warning
// goes in its place.
func (t *translation) send(e Event) error {
	err := t.stream.Send(e)
	var violation *ViolationError
	if !errors.As(err, &violation) {
		return err
	}
	warning := Custom{Name: customWarning, Value: mustJSON(map[string]string{"message": "Something could not be shown (" + violation.Error() + ")."})}
	if err := t.stream.Send(warning); errors.As(err, &violation) {
		return nil // the run has ended, or not begun
	} else {
		return err
	}
}

// sendJSON sends an event of a value that may hold JSON of others.
func (t *translation) sendJSON(event func(json.RawMessage) Event, value any) error {
	raw, err := toJSON(value)
	if err != nil {
		return t.warn("Something that the agent sent is not JSON, so it is not shown.")
	}
	return t.send(event(raw))
}

func (t *translation) warn(message string) error {
	return t.send(Custom{Name: customWarning, Value: mustJSON(map[string]string{"message": message})})
}

// textOf is the text of parts, with a line for each file. Files are named and linked,
// never brought along.
func textOf(parts []a2a.Part, files func(string) string) string {
	var texts []string
	for _, p := range parts {
		switch {
		case p.Text != nil:
			texts = append(texts, *p.Text)
		case p.URL != "":
			texts = append(texts, fileLine(p, p.URL))
		case p.Artifact != nil && p.Artifact.Kept():
			texts = append(texts, fileLine(p, files(p.Artifact.SHA256)))
		case p.Artifact != nil:
			texts = append(texts, fileLine(p, "not kept, as it is too large"))
		}
	}
	return strings.Join(texts, "\n\n")
}

func fileLine(p a2a.Part, where string) string {
	name := "File"
	if p.Filename != "" {
		name = p.Filename
	}
	return name + ": " + where
}
