package agent

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// need says whether the specification requires a member.
type need bool

const (
	required need = true
	optional need = false
)

// object reads the members of one JSON object of a card. Every read succeeds:
// what is missing or of the wrong type becomes a finding and a zero value.
type object struct {
	report  *report
	path    string // JSON Pointer
	section string
	members map[string]json.RawMessage
}

func (o object) has(name string) bool {
	raw, ok := o.members[name]
	return ok && string(raw) != "null"
}

func (o object) at(name string) string { return o.path + "/" + pointerEscaper.Replace(name) }

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

func (o object) find(severity Severity, name, format string, args ...any) {
	o.report.add(severity, o.at(name), o.section, format, args...)
}

// present reports whether the member is there, and finds fault if it must be.
func (o object) present(name string, n need) bool {
	if o.has(name) {
		return true
	}
	if n == required {
		o.find(Error, name, "%s is missing, and the specification requires it.", name)
	}
	return false
}

// text returns a string member, cut to limit code points. A number stands for
// its digits, so that an unquoted version is not lost.
func (o object) text(name string, limit int, n need) string {
	s, ok := o.uncut(name, n)
	if !ok {
		return ""
	}
	if n == required && strings.TrimSpace(s) == "" {
		o.find(Warning, name, "%s is empty.", name)
	}
	short := cut(s, limit)
	if short != s {
		o.find(Info, name, "%s is longer than %d characters and is shown cut.", name, limit)
	}
	return short
}

// identifier returns a string member whose every character counts: one that is
// over the limit is left out, since a part of it would mean something else. It
// reports whether there is one.
func (o object) identifier(name string, limit int, n need) (string, bool) {
	s, ok := o.uncut(name, n)
	if ok && utf8.RuneCountInString(s) > limit {
		o.find(Error, name, "%s is longer than %d characters and is ignored.", name, limit)
		return "", false
	}
	return s, ok
}

func (o object) uncut(name string, n need) (string, bool) {
	if !o.present(name, n) {
		return "", false
	}
	raw := o.members[name]
	switch kindOf(raw) {
	case "string":
		return decodeString(raw), true
	case "number":
		o.find(Error, name, "%s is a number; it has to be a string.", name)
		return string(raw), true
	}
	o.find(Error, name, "%s is %s; it has to be a string.", name, withArticle(kindOf(raw)))
	return "", false
}

// webURL returns a member that is an absolute http or https URL, or "".
func (o object) webURL(name string, n need) string {
	s, ok := o.identifier(name, maxURL, n)
	if !ok || (s == "" && n == optional) {
		return ""
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		o.find(Warning, name, "%s is no absolute http or https URL and is ignored.", name)
		return ""
	}
	return s
}

// flag returns a boolean member. "true" and "false" in quotes count.
func (o object) flag(name string) bool {
	if !o.has(name) {
		return false
	}
	raw := o.members[name]
	switch string(raw) {
	case "true", "false":
		return string(raw) == "true"
	case `"true"`, `"false"`:
		o.find(Error, name, "%s is a string; it has to be true or false without quotes.", name)
		return string(raw) == `"true"`
	}
	o.find(Error, name, "%s is %s; it has to be true or false.", name, withArticle(kindOf(raw)))
	return false
}

// texts returns an array of strings, at most count of them, each cut to limit
// code points. Elements that are no strings are left out.
func (o object) texts(name string, count, limit int, n need) []string {
	var list []string
	for i, raw := range o.elements(name, count, n) {
		if kindOf(raw) != "string" {
			o.report.add(Error, o.at(name)+"/"+strconv.Itoa(i), o.section, "This is %s; it has to be a string.", withArticle(kindOf(raw)))
			continue
		}
		list = append(list, cut(decodeString(raw), limit))
	}
	return list
}

// objects returns an array of objects, at most count of them.
func (o object) objects(name string, count int, section string, n need) []object {
	var list []object
	for i, raw := range o.elements(name, count, n) {
		path := o.at(name) + "/" + strconv.Itoa(i)
		if child, ok := o.enter(path, section, raw); ok {
			list = append(list, child)
		}
	}
	return list
}

// child returns a member that is an object.
func (o object) child(name, section string, n need) (object, bool) {
	if !o.present(name, n) {
		return object{}, false
	}
	return o.enter(o.at(name), section, o.members[name])
}

func (o object) enter(path, section string, raw json.RawMessage) (object, bool) {
	if kindOf(raw) != "object" {
		o.report.add(Error, path, section, "This is %s; it has to be an object.", withArticle(kindOf(raw)))
		return object{}, false
	}
	return object{o.report, path, section, decodeMembers(raw)}, true
}

// elements returns the elements of an array, at most count of them. A value
// where a list belongs counts as a list of one.
func (o object) elements(name string, count int, n need) []json.RawMessage {
	if !o.present(name, n) {
		return nil
	}
	raw := o.members[name]
	if kindOf(raw) != "array" {
		o.find(Error, name, "%s is %s; it has to be an array.", name, withArticle(kindOf(raw)))
		return []json.RawMessage{raw}
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		o.find(Error, name, "%s cannot be read.", name)
		return nil
	}
	if len(list) > count {
		o.find(Warning, name, "%s has %d entries; only the first %d are used.", name, len(list), count)
		list = list[:count]
	}
	return list
}

func decodeMembers(raw json.RawMessage) map[string]json.RawMessage {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil
	}
	return members
}

func decodeString(raw json.RawMessage) string {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return ""
	}
	return s
}

// kindOf names the JSON type of a value that is known to be valid JSON.
func kindOf(raw json.RawMessage) string {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

func withArticle(kind string) string {
	switch kind {
	case "object", "array":
		return "an " + kind
	case "null", "nothing":
		return kind
	}
	return "a " + kind
}
