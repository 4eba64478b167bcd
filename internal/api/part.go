package api

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// Part is one part of a message or artifact in A2A 1.0 JSON: exactly one of
// text, data, url and artifact. A part of a kind that is not known is passed on
// as the agent sent it.
type Part struct {
	Text      *string         `json:"text,omitempty"`
	Data      json.RawMessage `json:"data,omitempty" doc:"Any JSON value, with the member order and every digit of its author."`
	URL       *string         `json:"url,omitempty" doc:"Never loaded by Taskbay."`
	Artifact  *Blob           `json:"artifact,omitempty" doc:"Bytes that are kept by their digest."`
	MediaType string          `json:"mediaType,omitempty"`
	Filename  string          `json:"filename,omitempty"`
	Metadata  json.RawMessage `json:"metadata,omitempty" doc:"An object."`

	unknown json.RawMessage
}

// Blob names bytes that are kept outside the part.
type Blob struct {
	SHA256 string `json:"sha256" doc:"64 lower-case hexadecimal digits."`
	Size   int64  `json:"size" doc:"In bytes."`
	Limit  int64  `json:"limit,omitempty" doc:"Present if the bytes were not kept, as they were more than these."`
}

// MarshalJSON writes the part, or the whole of one of unknown kind.
func (p Part) MarshalJSON() ([]byte, error) {
	if p.unknown != nil {
		return p.unknown, nil
	}
	type plain Part
	var out bytes.Buffer
	err := writeJSON(&out, plain(p))
	return out.Bytes(), err
}

func partShapes(parts []a2a.Part) []Part {
	out := make([]Part, 0, len(parts))
	for _, p := range parts {
		shape := Part{
			Text: p.Text, Data: p.Data, MediaType: p.MediaType, Filename: p.Filename, Metadata: p.Metadata, unknown: p.Unknown,
		}
		if p.URL != "" {
			shape.URL = &p.URL
		}
		if p.Artifact != nil {
			shape.Artifact = &Blob{SHA256: p.Artifact.SHA256, Size: p.Artifact.Size, Limit: p.Artifact.Limit}
		}
		out = append(out, shape)
	}
	return out
}

// SendPart is one part of a message to send.
type SendPart struct {
	Text      *string         `json:"text,omitempty"`
	Data      json.RawMessage `json:"data,omitempty" doc:"Any JSON value; sent with its member order and every digit."`
	URL       *string         `json:"url,omitempty" minLength:"1" doc:"An address for the agent; never loaded by Taskbay."`
	MediaType string          `json:"mediaType,omitempty"`
	Filename  string          `json:"filename,omitempty"`
	Metadata  json.RawMessage `json:"metadata,omitempty" doc:"An object."`
}

// contents returns the parts as they are sent; fault.Invalid for one that is no part.
func contents(parts []SendPart) ([]a2a.Part, error) {
	out := make([]a2a.Part, 0, len(parts))
	var faults []fault.Field
	for i, p := range parts {
		if message := p.fault(); message != "" {
			faults = append(faults, fault.Field{Location: fmt.Sprintf("/parts/%d", i), Message: message})
			continue
		}
		part := a2a.Part{Text: p.Text, Data: p.Data, MediaType: p.MediaType, Filename: p.Filename, Metadata: p.Metadata}
		if p.URL != nil {
			part.URL = *p.URL
		}
		out = append(out, part)
	}
	if len(faults) > 0 {
		return nil, &fault.Error{Kind: fault.Invalid, Message: "A part of the message cannot be sent.", Fields: faults[:min(len(faults), maxFaults)]}
	}
	return out, nil
}

func (p SendPart) fault() string {
	kinds := 0
	for _, there := range []bool{p.Text != nil, p.Data != nil, p.URL != nil} {
		if there {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return "A part has exactly one of text, data and url."
	case p.URL != nil && *p.URL == "":
		return "url is empty."
	case p.Metadata != nil && p.Metadata[0] != '{':
		return "metadata must be an object."
	}
	return ""
}
