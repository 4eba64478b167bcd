package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// Link is the place of an entry in the chain of its organisation.
type Link struct {
	Seq      int64  // from 1, without gaps; 0 for an entry that is not sealed yet
	Previous string // the hash of the entry before it; "" for the first one
	Hash     string // of the entry with Previous, see Sealed.Digest
}

// Sealed is an entry with its place.
type Sealed struct {
	Entry
	Link
}

// Head is the last link of a chain; the zero one of an empty chain.
type Head struct {
	Seq  int64
	Hash string
}

// timeFormat is how times are written in the trail: always of the same length.
const timeFormat = "2006-01-02T15:04:05.000000Z"

// Written is an entry as it is hashed and exported. Every member is always there.
type Written struct {
	ID             string            `json:"id"`
	OrganisationID string            `json:"organisationId"`
	DeedID         string            `json:"deedId"`
	At             string            `json:"at"`
	Actor          WrittenActor      `json:"actor"`
	Action         Action            `json:"action"`
	Kind           Kind              `json:"kind"`
	AgentID        string            `json:"agentId"`
	AgentName      string            `json:"agentName"`
	TaskID         string            `json:"taskId"`
	CommandID      string            `json:"commandId"`
	MessageID      string            `json:"messageId"`
	ContentSHA256  string            `json:"contentSha256"`
	ObjectID       string            `json:"objectId"`
	ObjectName     string            `json:"objectName"`
	Detail         map[string]string `json:"detail"`
	Previous       string            `json:"previous"`
}

// WrittenActor is who did it.
type WrittenActor struct {
	Kind      string `json:"kind"`
	ID        string `json:"id"`
	Name      string `json:"name"`
	SessionID string `json:"sessionId"`
	TokenID   string `json:"tokenId"`
}

// Written returns the entry as it is written.
func (s Sealed) Written() Written {
	e, detail := s.Entry, s.Detail
	if detail == nil {
		detail = map[string]string{}
	}
	return Written{
		ID: e.ID, OrganisationID: e.OrganisationID, DeedID: e.DeedID, At: e.At.UTC().Format(timeFormat),
		Actor:  WrittenActor{e.Actor.Kind, e.Actor.ID, e.Actor.Name, e.Actor.SessionID, e.Actor.TokenID},
		Action: e.Action, Kind: e.Kind, AgentID: e.AgentID, AgentName: e.AgentName,
		TaskID: e.TaskID, CommandID: e.CommandID, MessageID: e.MessageID, ContentSHA256: e.ContentSHA256,
		ObjectID: e.ObjectID, ObjectName: e.ObjectName, Detail: detail, Previous: s.Previous,
	}
}

// Digest is the SHA-256, in hexadecimal digits, of everything that the entry says and of
// the hash of the entry before it, written as JSON in the canonical form of RFC 8785. Its
// own place is not in it: that follows from Previous.
func (s Sealed) Digest() (string, error) {
	content, err := canonical(s.Written())
	if err != nil {
		return "", fmt.Errorf("write entry %s to be hashed: %w", s.ID, err)
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:]), nil
}

func canonical(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	value := jsontext.Value(text)
	return value, value.Canonicalize()
}

// MarshalJSON writes a line of an export: what is hashed, and the place.
func (s Sealed) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(struct {
		Seq int64 `json:"seq"`
		Written
		Hash string `json:"hash"`
	}{s.Seq, s.Written(), s.Hash})
	return bytes.TrimSpace(out.Bytes()), err
}

// chain links entries behind head, in their order.
func chain(head Head, entries []Entry) ([]Sealed, Head, error) {
	links := make([]Sealed, len(entries))
	for i, e := range entries {
		s := Sealed{Entry: e, Link: Link{Seq: head.Seq + 1, Previous: head.Hash}}
		hash, err := s.Digest()
		if err != nil {
			return nil, head, err
		}
		s.Hash = hash
		links[i], head = s, Head{Seq: s.Seq, Hash: hash}
	}
	return links, head, nil
}
