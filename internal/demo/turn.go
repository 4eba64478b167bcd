package demo

import (
	"encoding/json"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/agent-taskbay/taskbay/form"
)

// turn is one message from a person and what the agent says to it.
type turn struct {
	*a2asrv.ExecutorContext
	yield func(a2a.Event, error) bool
	open  bool // the server still takes events
}

// emit hands an event to the server. After the server has said no, events go
// nowhere.
func (t *turn) emit(event a2a.Event) {
	if t.open {
		t.open = t.yield(event, nil)
	}
}

// status changes the task's state. Parts, if any, make its message.
func (t *turn) status(state a2a.TaskState, parts ...*a2a.Part) {
	var message *a2a.Message
	if len(parts) > 0 {
		message = a2a.NewMessageForTask(a2a.MessageRoleAgent, t, parts...)
	}
	t.emit(a2a.NewStatusUpdateEvent(t, state, message))
}

// working says what the agent is about to do.
func (t *turn) working(text string) { t.status(a2a.TaskStateWorking, a2a.NewTextPart(text)) }

// complete ends the task well.
func (t *turn) complete(text string) { t.status(a2a.TaskStateCompleted, a2a.NewTextPart(text)) }

// ask puts a question: a prompt, and a definition of the form to answer it with.
// The message names the extension only where the card does, too.
func (t *turn) ask(prompt string, definition json.RawMessage, advertised bool) {
	message := a2a.NewMessageForTask(a2a.MessageRoleAgent, t, a2a.NewTextPart(prompt), dataPart(definition, form.MediaType))
	if advertised {
		message.Extensions = []string{form.URI}
	}
	t.emit(a2a.NewStatusUpdateEvent(t, a2a.TaskStateInputRequired, message))
}

// artifact hands over a finished result.
func (t *turn) artifact(name, description string, parts ...*a2a.Part) {
	event := a2a.NewArtifactEvent(t, parts...)
	event.Artifact.Name, event.Artifact.Description = name, description
	event.LastChunk = true
	t.emit(event)
}

// text returns the first text of the person's message, or "".
func (t *turn) text() string {
	for _, part := range t.Message.Parts {
		if text := part.Text(); text != "" {
			return text
		}
	}
	return ""
}

// data returns the first data part of the person's message, or nil.
func (t *turn) data() json.RawMessage { return firstData(t.Message) }

// firstData returns the JSON of a message's first data part with all its digits,
// or nil. It relies on exactData.
func firstData(message *a2a.Message) json.RawMessage {
	for _, part := range message.Parts {
		if raw, ok := part.Data().(json.RawMessage); ok {
			return raw
		}
	}
	return nil
}

// dataPart returns a part whose JSON keeps its order and digits on the wire,
// which a Go map would not.
func dataPart(data json.RawMessage, mediaType string) *a2a.Part {
	part := a2a.NewDataPart(data)
	part.MediaType = mediaType
	return part
}
