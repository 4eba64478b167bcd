package a2a

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
)

// text reads a string. A number or boolean in its place is taken as it is written.
func (d *decoder) text(raw []byte) string {
	switch rawjson.KindOf(raw) {
	case rawjson.String:
		s, _ := rawjson.Text(raw)
		return s
	case rawjson.Number, rawjson.Bool:
		d.problem("is not a string")
		return string(bytes.TrimSpace(raw))
	}
	d.problem("is not a string")
	return ""
}

// id reads an ID or URI. One that is too long, or has control characters, is
// unusable: it could be neither stored nor sent back.
func (d *decoder) id(raw []byte) string {
	id := d.text(raw)
	if len(id) > maxID {
		d.problem("is longer than %d bytes", maxID)
		return ""
	}
	if hasControl(id) {
		d.problem("has control characters")
		return ""
	}
	return id
}

func (d *decoder) ids(raw []byte) []string {
	var ids []string
	d.elements(raw, func(v []byte) {
		if id := d.id(v); id != "" {
			ids = append(ids, id)
		}
	})
	return ids
}

// label reads a media type or file name: one line of at most maxID bytes.
func (d *decoder) label(raw []byte) string {
	s := d.text(raw)
	if len(s) > maxID {
		d.problem("is longer than %d bytes and was cut", maxID)
		s = cut(s, maxID)
	}
	if hasControl(s) {
		d.problem("has control characters, which were removed")
		s = strings.Map(func(r rune) rune {
			if isControl(r) {
				return -1
			}
			return r
		}, s)
	}
	return s
}

func hasControl(s string) bool { return strings.ContainsFunc(s, isControl) }

func isControl(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }

// object reads a JSON object that is kept as it is.
func (d *decoder) object(raw []byte) json.RawMessage {
	if rawjson.KindOf(raw) != rawjson.Object {
		d.problem("is not an object")
		return nil
	}
	if d.deep && rawjson.Depth(raw) > MaxDepth {
		d.problem("is nested more than %d levels deep and left out", MaxDepth)
		return nil
	}
	return raw
}

func (d *decoder) bool(raw []byte) bool {
	switch text := string(bytes.Trim(raw, " \t\r\n\"")); strings.ToLower(text) {
	case "true":
		return true
	case "false":
		return false
	}
	d.problem("is neither true nor false")
	return false
}

var roles = map[string]Role{
	"user": RoleUser, "role_user": RoleUser, "1": RoleUser,
	"agent": RoleAgent, "role_agent": RoleAgent, "2": RoleAgent, "assistant": RoleAgent,
}

// role reads a role by any of its names or its number. Whoever else speaks
// through an agent is the agent.
func (d *decoder) role(raw []byte) Role {
	name := string(bytes.Trim(raw, " \t\r\n\""))
	if role, ok := roles[strings.ToLower(name)]; ok {
		return role
	}
	d.problem("is neither user nor agent")
	return RoleAgent
}

// states are the states by their numbers in the protocol buffers of A2A 1.0.
var states = []State{
	StateUnspecified, StateSubmitted, StateWorking, StateCompleted, StateFailed,
	StateCanceled, StateInputRequired, StateRejected, StateAuthRequired,
}

func (d *decoder) state(raw []byte) State {
	state, ok := d.bareState(raw)
	if !ok {
		d.problem("is not a state")
		return StateUnspecified
	}
	if !state.Known() {
		d.problem("is not a state of A2A 1.0")
	}
	return state
}

// bareState reads a state by name or number, and reports whether raw looks like one.
func (d *decoder) bareState(raw []byte) (State, bool) {
	switch rawjson.KindOf(raw) {
	case rawjson.String:
		s, _ := rawjson.Text(raw)
		s = strings.Map(func(r rune) rune {
			if isControl(r) {
				return -1
			}
			return r
		}, cut(s, maxState))
		if s == "" {
			return StateUnspecified, true
		}
		return ParseState(s), true
	case rawjson.Number:
		number := string(bytes.TrimSpace(raw))
		if n, err := strconv.Atoi(number); err == nil && n >= 0 && n < len(states) {
			return states[n], true
		}
		return State(cut(number, maxState)), true
	}
	return StateUnspecified, false
}

// layouts are how agents write times. Without a zone UTC is meant.
var layouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999Z0700",
}

// time reads a time: RFC 3339 and its usual slips, or seconds or milliseconds
// since 1970. It is the zero time if it cannot be read.
func (d *decoder) time(raw []byte) time.Time {
	text, ok := rawjson.Text(raw)
	if !ok {
		text = string(bytes.TrimSpace(raw))
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, strings.TrimSpace(text)); err == nil {
			return t.UTC()
		}
	}
	if t, ok := unixTime(text); ok {
		return t
	}
	d.problem("is not a time that can be read")
	return time.Time{}
}

func unixTime(text string) (time.Time, bool) {
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || seconds < 0 || math.IsNaN(seconds) {
		return time.Time{}, false
	}
	if seconds >= 1e11 {
		seconds /= 1000
	}
	if seconds >= 253402300800 { // the year 10000
		return time.Time{}, false
	}
	whole, fraction := math.Modf(seconds)
	return time.Unix(int64(whole), int64(fraction*1e9)).UTC(), true
}
