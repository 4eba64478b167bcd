package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// document is a definition in pieces. Of a member that is repeated each piece is the last.
type document struct {
	whole       []byte
	title       []byte
	description []byte
	submitLabel []byte
	order       []byte
	schema      []byte

	schemaType []byte
	required   []byte
	properties []byte

	fields  []property // in document order, at most MaxFields
	tooMany bool       // there are more of them
}

// property is one member of schema.properties in pieces.
type property struct {
	key   string
	whole []byte

	typeName     []byte
	title        []byte
	description  []byte
	defaultValue []byte
	enum         []byte
	enumNames    []byte
	minLength    []byte
	maxLength    []byte
	format       []byte
	minimum      []byte
	maximum      []byte
}

// readDocument takes a definition apart, or says why it cannot.
func readDocument(definition []byte) (_ document, fault string) {
	if len(definition) > MaxDefinitionBytes {
		return document{}, fmt.Sprintf("The definition takes %d bytes; at most %d are read.",
			len(definition), MaxDefinitionBytes)
	}
	if fault := syntaxFault(definition); fault != "" {
		return document{}, "The definition is not JSON: " + fault + "."
	}
	doc := document{whole: trimJSON(definition)}
	doc.readMembers()
	return doc, ""
}

// syntaxFault says what keeps data from being JSON in UTF-8.
func syntaxFault(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("\uFEFF")):
		return "it starts with a byte order mark"
	case !utf8.Valid(data):
		return "it is not valid UTF-8"
	case json.Valid(data):
		return ""
	}
	err := json.Unmarshal(data, new(json.RawMessage))
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf("%s, at byte %d", syntax, syntax.Offset)
	}
	return err.Error()
}

func (d *document) readMembers() {
	collect(d.whole, d.slot)
	collect(d.schema, d.schemaSlot)
	d.readProperties()
}

func (d *document) slot(name string) *[]byte {
	switch name {
	case "title":
		return &d.title
	case "description":
		return &d.description
	case "submitLabel":
		return &d.submitLabel
	case "order":
		return &d.order
	case "schema":
		return &d.schema
	}
	return nil
}

func (d *document) schemaSlot(name string) *[]byte {
	switch name {
	case "type":
		return &d.schemaType
	case "required":
		return &d.required
	case "properties":
		return &d.properties
	}
	return nil
}

// readProperties keeps the first MaxFields names, each with its last value.
func (d *document) readProperties() {
	index := make(map[string]int, MaxFields)
	for key, value := range members(d.properties) {
		at, seen := index[key]
		if !seen {
			if len(d.fields) == MaxFields {
				d.tooMany = true
				continue
			}
			at = len(d.fields)
			index[key] = at
			d.fields = append(d.fields, property{key: key})
		}
		d.fields[at].whole = value
	}
	for i := range d.fields {
		collect(d.fields[i].whole, d.fields[i].slot)
	}
}

// slot returns where the value of a member goes, or nil for one that means nothing.
func (p *property) slot(name string) *[]byte {
	switch name {
	case "type":
		return &p.typeName
	case "title":
		return &p.title
	case "description":
		return &p.description
	case "default":
		return &p.defaultValue
	case "enum":
		return &p.enum
	case "enumNames":
		return &p.enumNames
	case "minLength":
		return &p.minLength
	case "maxLength":
		return &p.maxLength
	case "format":
		return &p.format
	case "minimum":
		return &p.minimum
	case "maximum":
		return &p.maximum
	}
	return nil
}

// collect puts each member of an object where slot says, the last of a name winning.
func collect(object []byte, slot func(name string) *[]byte) {
	for name, value := range members(object) {
		if into := slot(name); into != nil {
			*into = value
		}
	}
}

// property returns the field with a name, or nil.
func (d *document) property(key string) *property {
	for i := range d.fields {
		if d.fields[i].key == key {
			return &d.fields[i]
		}
	}
	return nil
}

func (d *document) keys() []string {
	keys := make([]string, len(d.fields))
	for i := range d.fields {
		keys[i] = d.fields[i].key
	}
	return keys
}
