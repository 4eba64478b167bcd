package a2a

import (
	"encoding/json"
	"fmt"

	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
)

// WireMessage returns a message as A2A 1.0 JSON, section 4.1.4: the bytes that go
// to the agent, and that are kept as what was sent. Data and metadata are in it
// exactly as they are given. It fails for a part that cannot be sent: one of no
// known kind, one whose bytes are kept elsewhere, and one with JSON that is not
// valid.
func WireMessage(m Message) (json.RawMessage, error) {
	parts := make([][]byte, len(m.Parts))
	for i, p := range m.Parts {
		part, err := p.wire()
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", i+1, err)
		}
		parts[i] = part
	}
	if err := checkObject(m.Metadata); err != nil {
		return nil, err
	}
	var o object
	o.string("messageId", m.MessageID)
	o.optional("contextId", m.ContextID)
	o.optional("taskId", m.TaskID)
	o.string("role", m.Role.wire())
	o.raw("parts", list(parts))
	o.optionalRaw("metadata", m.Metadata)
	o.optionalStrings("extensions", m.Extensions)
	o.optionalStrings("referenceTaskIds", m.ReferenceTaskIDs)
	return o.bytes(), nil
}

func (p Part) wire() ([]byte, error) {
	if err := p.sendable(); err != nil {
		return nil, err
	}
	var o object
	p.writeContent(&o)
	p.writeLabels(&o)
	return o.bytes(), nil
}

// sendable reports why a part cannot be sent.
func (p Part) sendable() error {
	switch {
	case p.Unknown != nil:
		return fmt.Errorf("its kind is not known")
	case p.Artifact != nil && p.Raw == nil:
		return fmt.Errorf("its bytes are not at hand")
	case p.Data != nil && !json.Valid(p.Data):
		return fmt.Errorf("its data is not JSON")
	case p.Text == nil && p.Data == nil && p.URL == "" && p.Raw == nil:
		return fmt.Errorf("it has no content")
	}
	return checkObject(p.Metadata)
}

// orUser is the role, that of a user if there is none.
func (r Role) orUser() Role {
	if r == RoleAgent {
		return RoleAgent
	}
	return RoleUser
}

func (r Role) wire() string {
	if r == RoleAgent {
		return "ROLE_AGENT"
	}
	return "ROLE_USER"
}

// checkObject reports metadata that is neither absent nor a JSON object.
func checkObject(raw json.RawMessage) error {
	if len(raw) == 0 || json.Valid(raw) && rawjson.KindOf(raw) == rawjson.Object {
		return nil
	}
	return fmt.Errorf("metadata is not a JSON object")
}
