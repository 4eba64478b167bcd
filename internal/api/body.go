package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

// body is a request body that is read as a T. It is decoded here rather than by
// huma, which would take unknown members for a fault of 422, repeat what was
// submitted, and send every number through a float.
type body[T any] struct {
	raw []byte
}

// keep stores a copy of the bytes: huma uses its buffer again.
func (b *body[T]) keep(raw []byte) { b.raw = bytes.Clone(raw) }

// Schema describes T, which takes no members beyond those that it declares.
func (*body[T]) Schema(r huma.Registry) *huma.Schema {
	schema := r.Schema(reflect.TypeFor[T](), true, "")
	closeSchema(r, schema)
	return schema
}

func closeSchema(r huma.Registry, s *huma.Schema) {
	switch {
	case s.Ref != "":
		closeSchema(r, r.SchemaFromRef(s.Ref))
	case s.Type == huma.TypeArray:
		closeSchema(r, s.Items)
	case s.Type == huma.TypeObject:
		s.AdditionalProperties = false
		for _, member := range s.Properties {
			closeSchema(r, member)
		}
	}
}

// readBody is how huma reads a request body: it is kept as it came.
func readBody(raw []byte, into any) error {
	kept, ok := into.(interface{ keep([]byte) })
	if !ok {
		return fmt.Errorf("%T is no request body", into)
	}
	kept.keep(raw)
	return nil
}

// decode reads the body. A body that is no T is fault.Invalid; a field for each
// fault names the member by a JSON Pointer. Raw members keep their exact JSON,
// and null is as good as absent.
func (b *body[T]) decode() (T, error) {
	var value T
	raw := bytes.TrimSpace(b.raw)
	if !utf8.Valid(raw) || !json.Valid(raw) {
		return value, fault.New(fault.Invalid, "The body is not valid JSON.")
	}
	if raw[0] != '{' {
		return value, fault.New(fault.Invalid, "The body must be an object.")
	}
	if fields := faults(raw, reflect.TypeFor[T](), ""); len(fields) > 0 {
		return value, &fault.Error{Kind: fault.Invalid, Message: "The body has members that are unknown, repeated or of the wrong type.", Fields: fields}
	}
	if err := json.Unmarshal(raw, &value); err != nil {
		return value, fault.Wrap(err, fault.Invalid, "The body cannot be read.")
	}
	return value, nil
}

// invalid returns the fault of one member, named by a JSON Pointer.
func invalid(pointer, message string) *fault.Error {
	return &fault.Error{
		Kind:    fault.Invalid,
		Message: "A member of the body is missing or cannot be used.",
		Fields:  []fault.Field{{Location: pointer, Message: message}},
	}
}

// maxFaults bounds how many faults of a body are told, and maxName how much of
// an unknown member's name is.
const (
	maxFaults = 20
	maxName   = 100
)

var rawMessage = reflect.TypeFor[json.RawMessage]()

// faults returns where raw, at pointer in the body, differs from what t takes:
// members that t does not declare under exactly this name, and values of another
// type. Raw members of t may hold anything.
func faults(raw json.RawMessage, t reflect.Type, pointer string) []fault.Field {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == rawMessage || raw[0] == 'n' {
		return nil
	}
	if !fits(raw, t.Kind()) {
		return []fault.Field{{Location: pointer, Message: "Must be " + typeNames[t.Kind()] + "."}}
	}
	switch t.Kind() {
	case reflect.Struct:
		return objectFaults(raw, t, pointer)
	case reflect.Slice:
		return arrayFaults(raw, t.Elem(), pointer)
	}
	return nil
}

// typeNames holds the kinds that a request body is made of.
var typeNames = map[reflect.Kind]string{
	reflect.String: "a string",
	reflect.Int:    "a whole number",
	reflect.Bool:   "true or false",
	reflect.Slice:  "an array",
	reflect.Struct: "an object",
}

func fits(raw json.RawMessage, kind reflect.Kind) bool {
	switch kind {
	case reflect.String:
		return raw[0] == '"'
	case reflect.Int:
		_, err := strconv.Atoi(string(raw))
		return err == nil
	case reflect.Bool:
		return raw[0] == 't' || raw[0] == 'f'
	case reflect.Slice:
		return raw[0] == '['
	}
	return raw[0] == '{'
}

func objectFaults(raw json.RawMessage, t reflect.Type, pointer string) []fault.Field {
	given, err := givenMembers(raw)
	if err != nil {
		return []fault.Field{{Location: pointer, Message: "Cannot be read."}}
	}
	members, names := membersOf(t)
	var fields []fault.Field
	seen := make(map[string]bool, len(given))
	for _, m := range given {
		at := pointer + "/" + pointerEscapes.Replace(shorten(m.name))
		member, known := members[m.name]
		switch {
		case !known:
			fields = append(fields, fault.Field{Location: at, Message: "Not known here; there are: " + names + "."})
		case seen[m.name]:
			fields = append(fields, fault.Field{Location: at, Message: "Given more than once."})
		default:
			fields = append(fields, faults(m.value, member, at)...)
		}
		seen[m.name] = true
	}
	slices.SortFunc(fields, func(a, b fault.Field) int { return strings.Compare(a.Location, b.Location) })
	return fields[:min(len(fields), maxFaults)]
}

type givenMember struct {
	name  string
	value json.RawMessage
}

// givenMembers returns the members of an object as they come, repeated ones too.
func givenMembers(object json.RawMessage) ([]givenMember, error) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	var members []givenMember
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		m := givenMember{name: fmt.Sprint(name)}
		if err := dec.Decode(&m.value); err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	return members, nil
}

func arrayFaults(raw json.RawMessage, element reflect.Type, pointer string) []fault.Field {
	var array []json.RawMessage
	if err := json.Unmarshal(raw, &array); err != nil {
		return []fault.Field{{Location: pointer, Message: "Cannot be read."}}
	}
	var fields []fault.Field
	for i, value := range array {
		fields = append(fields, faults(value, element, fmt.Sprintf("%s/%d", pointer, i))...)
		if len(fields) >= maxFaults {
			return fields[:maxFaults]
		}
	}
	return fields
}

// membersOf returns the types of t's members by name, and the names in t's order.
func membersOf(t reflect.Type) (members map[string]reflect.Type, names string) {
	members = make(map[string]reflect.Type, t.NumField())
	list := make([]string, t.NumField())
	for i := range list {
		list[i], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
		members[list[i]] = t.Field(i).Type
	}
	return members, strings.Join(list, ", ")
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

func shorten(name string) string {
	for i := range name {
		if i >= maxName {
			return name[:i] + "…"
		}
	}
	return name
}
