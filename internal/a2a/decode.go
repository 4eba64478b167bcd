package a2a

import "encoding/json"

// DecodeEvent reads an A2A 1.0 StreamResponse as leniently as can be.
func DecodeEvent(payload json.RawMessage) (Event, []Problem) { return Event{}, nil }

// DecodeTask reads a task.
func DecodeTask(raw json.RawMessage) (Task, []Problem) { return Task{}, nil }

// DecodeMessage reads a message.
func DecodeMessage(raw json.RawMessage) (Message, []Problem) { return Message{}, nil }
