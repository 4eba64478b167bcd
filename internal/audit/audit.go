// Package audit is the trail: who did what, written in the transaction that does it,
// and chained so that a change made behind the console's back shows. Entries hold
// names, IDs and digests, never what people and agents said, and no secrets.
package audit

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Entry is one deed. Whoever writes one leaves out ID, DeedID, At and Kind.
type Entry struct {
	ID             string // UUIDv7
	OrganisationID string
	DeedID         string // the ID of the first entry of the same transaction
	At             time.Time

	Actor  Actor
	Action Action
	Kind   Kind // of the action

	AgentID   string
	AgentName string // as it was then
	TaskID    string // local
	CommandID string
	MessageID string // the A2A messageId
	// ContentSHA256 is the digest of what a command sends: of its stored request.
	ContentSHA256 string

	ObjectID   string // of whatever else the action is about: a token, a member, a pin
	ObjectName string // as it was then
	Detail     map[string]string
}

// Actor is who did something, with the name that they had then, and how they came in.
type Actor struct {
	Kind      string // of the principal, or System or Unknown
	ID        string
	Name      string
	SessionID string // "" if it was by no session
	TokenID   string // "" if it was by no API token
}

// Kinds of actor that are no principal.
const (
	System  = "system"  // Taskbay by itself, as it was set to
	Unknown = "unknown" // somebody whom nobody knows
)

// Taskbay is the actor of what is done by itself.
func Taskbay() Actor { return Actor{Kind: System, ID: "taskbay", Name: "Taskbay"} }

// Stranger is the actor of what somebody tried who is not known.
func Stranger() Actor { return Actor{Kind: Unknown, ID: "unknown", Name: "Somebody"} }

// What an entry has room for: more is cut, since what names something may come from an
// agent or a browser.
const (
	maxName    = 200  // characters
	maxID      = 1024 // bytes
	maxValue   = 500  // characters
	maxDetails = 20
)

// Prepare returns the entry as it is stored: with its kind, and with nothing in it that
// has no place in a line of text. It is for the store. An entry of no organisation, of
// nobody or of no known action is a mistake of the program.
func (e Entry) Prepare() (Entry, error) {
	e.Kind = actions[e.Action].kind
	switch {
	case e.Kind == "":
		return e, fmt.Errorf("there is no action %q to be put on the trail", e.Action)
	case e.OrganisationID == "" || e.Actor.Kind == "" || e.Actor.ID == "":
		return e, fmt.Errorf("%s is put on the trail without an organisation or without who did it", e.Action)
	case len(e.Detail) > maxDetails:
		return e, fmt.Errorf("%s is put on the trail with %d details", e.Action, len(e.Detail))
	}
	for _, name := range []*string{&e.Actor.Name, &e.AgentName, &e.ObjectName} {
		*name = plain(*name, maxName)
	}
	for _, id := range []*string{
		&e.Actor.ID, &e.Actor.SessionID, &e.Actor.TokenID, &e.AgentID, &e.TaskID, &e.CommandID, &e.MessageID, &e.ContentSHA256, &e.ObjectID,
	} {
		*id = plain(*id, maxID)
	}
	detail := make(map[string]string, len(e.Detail))
	for key, value := range e.Detail {
		if value != "" {
			detail[key] = plain(value, maxValue)
		}
	}
	e.Detail = detail
	return e, nil
}

// plain is s on one line, and cut.
func plain(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// DetailText is the detail as it is stored: an object of strings, its members sorted.
func (e Entry) DetailText() string {
	if len(e.Detail) == 0 {
		return "{}"
	}
	text, _ := json.Marshal(e.Detail) // a map of strings always can be
	return string(text)
}

// SetDetail reads what DetailText wrote. A text that it did not write is kept whole
// under no name, so that the entry is not what it was.
func (e *Entry) SetDetail(text string) {
	e.Detail = nil
	if json.Unmarshal([]byte(text), &e.Detail) != nil || e.DetailText() != text {
		e.Detail = map[string]string{"": text}
	}
}
