package a2a

import (
	"encoding/json"
	"time"
)

// Role says who speaks in a message.
type Role string

// The roles, as the console's API names them.
const (
	RoleUser  Role = "user"
	RoleAgent Role = "agent"
)

// Blob names bytes that are kept outside the message: an agent's raw part.
type Blob struct {
	SHA256 string `json:"sha256"` // 64 lower-case hexadecimal digits
	Size   int64  `json:"size"`   // bytes
	// Limit is what the size was over, in bytes, if the bytes were not kept for
	// that; else 0.
	Limit int64 `json:"limit,omitempty"`
}

// Kept reports whether the bytes are there to be had.
func (b Blob) Kept() bool { return b.Limit == 0 }

// Part is one part of a message or artifact (A2A 1.0, 4.1.6). Exactly one of
// Text, Data, URL, Raw, Artifact and Unknown is set.
type Part struct {
	Text     *string         // plain text
	Data     json.RawMessage // any JSON value, exactly as the agent wrote it
	URL      string          // an address, shown and never loaded
	Raw      []byte          // bytes that arrived with the part; replaced by Artifact before it is stored
	Artifact *Blob           // bytes that are kept by their digest
	Unknown  json.RawMessage // the whole part, if its kind is none of these

	MediaType string
	Filename  string
	Metadata  json.RawMessage // a JSON object, or nil
}

// Message is one message (A2A 1.0, 4.1.4).
type Message struct {
	MessageID        string
	ContextID        string
	TaskID           string // the agent's own task ID
	Role             Role
	Parts            []Part
	Metadata         json.RawMessage
	Extensions       []string
	ReferenceTaskIDs []string
}

// Status is a task's status (A2A 1.0, 4.1.2).
type Status struct {
	State     State
	Timestamp time.Time // zero if the agent gave none, or none that can be read
	Message   *Message
}

// Artifact is one output of a task (A2A 1.0, 4.1.7).
type Artifact struct {
	ArtifactID  string
	Name        string
	Description string
	Parts       []Part
	Metadata    json.RawMessage
	Extensions  []string
}

// Task is a snapshot of a task (A2A 1.0, 4.1.1).
type Task struct {
	ID        string
	ContextID string
	Status    Status
	Artifacts []Artifact
	History   []Message
	Metadata  json.RawMessage
}

// StatusUpdate says that a task's status changed (A2A 1.0, 4.2.1).
type StatusUpdate struct {
	TaskID    string
	ContextID string
	Status    Status
	Metadata  json.RawMessage
}

// ArtifactUpdate brings an artifact or a piece of one (A2A 1.0, 4.2.2).
type ArtifactUpdate struct {
	TaskID    string
	ContextID string
	Artifact  Artifact
	Append    bool // the parts belong behind those that came before
	LastChunk bool
	Metadata  json.RawMessage
}

// Event is one observation of an agent: a StreamResponse of A2A 1.0, 4.2.3.
// Exactly one member is set; Unknown holds what none of the others could.
type Event struct {
	Task           *Task
	Message        *Message
	StatusUpdate   *StatusUpdate
	ArtifactUpdate *ArtifactUpdate
	Unknown        json.RawMessage
}

// TaskID returns the agent's ID of the task that the event is about, or "".
func (e Event) TaskID() string {
	switch {
	case e.Task != nil:
		return e.Task.ID
	case e.Message != nil:
		return e.Message.TaskID
	case e.StatusUpdate != nil:
		return e.StatusUpdate.TaskID
	case e.ArtifactUpdate != nil:
		return e.ArtifactUpdate.TaskID
	}
	return ""
}

// ContextID returns the ID of the context that the event belongs to, or "".
func (e Event) ContextID() string {
	switch {
	case e.Task != nil:
		return e.Task.ContextID
	case e.Message != nil:
		return e.Message.ContextID
	case e.StatusUpdate != nil:
		return e.StatusUpdate.ContextID
	case e.ArtifactUpdate != nil:
		return e.ArtifactUpdate.ContextID
	}
	return ""
}

// Problem is something in an agent's content that could not be read and was
// kept aside: Path is a JSON Pointer into the event.
type Problem struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// TextPart returns a part of plain text.
func TextPart(s string) Part { return Part{Text: &s, MediaType: "text/plain"} }

// DataPart returns a part that holds a JSON value.
func DataPart(data json.RawMessage, mediaType string) Part {
	return Part{Data: data, MediaType: mediaType}
}
