package form

import (
	"fmt"
	"slices"
	"strings"
)

// reasons gives every fault that rejects the definition. There are at most a few per field.
func (d *document) reasons() []Note {
	if kindOf(d.whole) != jsonObject {
		return []Note{{"", fmt.Sprintf("The definition is %s; it must be an object.", describe(d.whole))}}
	}
	if kindOf(d.schema) != jsonObject {
		return []Note{{"/schema", fmt.Sprintf("schema is %s; it must be an object.%s", describe(d.schema), d.hintOfWrapping())}}
	}
	var notes []Note
	if text(d.schemaType) != "object" {
		notes = append(notes, Note{"/schema/type", `The schema's type must be "object".`})
	}
	if message := d.propertiesFault(); message != "" {
		notes = append(notes, Note{"/schema/properties", message})
	}
	for i := range d.fields {
		notes = append(notes, d.fields[i].reasons()...)
	}
	return notes
}

// hintOfWrapping says what was given in place of a definition, if it is something that a definition
// stands in or that is to stand in one.
func (d *document) hintOfWrapping() string {
	if kindOf(d.schema) != jsonMissing {
		return ""
	}
	for name, value := range members(d.whole) {
		kind := kindOf(value)
		switch {
		case name == "data" && kind == jsonObject:
			return " This is the whole part; the definition is what is in its data."
		case name == "parts" && kind == jsonArray:
			return " This is the whole message; the definition is what is in the data of one of its parts."
		case name == "params" && kind == jsonObject:
			return " This is the whole entry of the extension; the definition is what is in the startForm of its params."
		case name == "startForm" && kind == jsonObject:
			return " These are the params of the extension; the definition is what is in their startForm."
		case name == "properties" && kind == jsonObject:
			return ` This is the schema alone; the definition is an object that has it: {"schema": …}.`
		}
	}
	return ""
}

func (d *document) propertiesFault() string {
	switch {
	case kindOf(d.properties) != jsonObject:
		return fmt.Sprintf("properties is %s; it must be an object with a member for each field.",
			describe(d.properties))
	case len(d.fields) == 0:
		return "properties is empty; a form has at least one field."
	case d.tooMany:
		return fmt.Sprintf("There are more than %d fields.", MaxFields)
	}
	return ""
}

func (p *property) reasons() []Note {
	var notes []Note
	if message := keyFault(p.key); message != "" {
		notes = append(notes, Note{p.path(), message})
	}
	switch {
	case kindOf(p.whole) != jsonObject:
		notes = append(notes, Note{p.path(),
			fmt.Sprintf("The field is %s; it must be an object.", describe(p.whole))})
	case p.kind() == Choice:
		if message := p.enumFault(); message != "" {
			notes = append(notes, Note{p.path("enum"), message})
		}
	case p.kind() == "":
		notes = append(notes, Note{p.path("type"), p.typeFault()})
	}
	return notes
}

var reservedKeys = []string{
	"__proto__", "constructor", "prototype", "toString", "valueOf", "hasOwnProperty",
	"isPrototypeOf", "propertyIsEnumerable", "toLocaleString",
	"__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__",
}

func isKey(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || !isDigit(c)) {
			return false
		}
	}
	return 1 <= len(name) && len(name) <= maxKey
}

func keyFault(key string) string {
	switch {
	case slices.Contains(reservedKeys, key):
		return "The name is reserved, because objects have a member of this name in many languages; choose another."
	case !isKey(key):
		return "A field's name has 1 to 64 of A-Z, a-z, 0-9 and _, and does not start with a digit; put what people read into title."
	}
	return ""
}

func (p *property) enumFault() string {
	count := 0
	for i, value := range elements(p.enum) {
		if kindOf(value) != jsonString {
			return fmt.Sprintf("Every option must be a string; number %d is %s.", i+1, describe(value))
		}
		count++
	}
	switch {
	case count == 0:
		return "enum is empty; a choice has at least one option."
	case count > MaxOptions:
		return fmt.Sprintf("There are %d options; a choice has at most %d.", count, MaxOptions)
	}
	return ""
}

const fieldTypes = `"string", "number", "integer" or "boolean", or there must be an enum`

// typeFault says why a field has no kind, and what its author may have meant.
func (p *property) typeFault() string {
	switch kindOf(p.typeName) {
	case jsonMissing:
		return "The field has no type: it must be " + fieldTypes + "." + p.hintOfParts()
	case jsonString:
		name := text(p.typeName)
		return fmt.Sprintf("The type %s is unknown: it must be %s.%s", abbreviate(name), fieldTypes, hintOfType(name))
	case jsonArray:
		return "The type is a list: it must be " + fieldTypes + ". An optional field needs no \"null\"; it is left out when empty."
	}
	return fmt.Sprintf("The type is %s: it must be %s.", describe(p.typeName), fieldTypes)
}

// hintOfParts explains what often stands in place of a type.
func (p *property) hintOfParts() string {
	for name := range members(p.whole) {
		switch name {
		case "$ref":
			return " References are not followed."
		case "oneOf", "anyOf", "allOf", "const":
			return " Schemas are not combined; list the values of a choice in enum."
		}
	}
	return ""
}

// hintOfType explains what is often written as a type.
func hintOfType(name string) string {
	switch fold(name) {
	case "object":
		return " Fields are not nested: declare each with a name of its own."
	case "array", "list", "multiselect":
		return " There are no lists: ask for each value with a field of its own."
	case "null":
		return " An optional field without a value is left out of the answer."
	case "string":
		return ` Write "string".`
	case "text", "str", "textarea", "password", "email", "url", "uri", "date", "datetime", "time":
		return ` Write "string", and say in description what is expected.`
	case "number", "float", "double", "decimal":
		return ` Write "number".`
	case "integer", "int", "long":
		return ` Write "integer".`
	case "boolean", "bool", "checkbox":
		return ` Write "boolean".`
	case "enum", "choice", "select", "dropdown", "radio":
		return ` For a choice write "string", and list the values in enum.`
	}
	return ""
}

// path returns the JSON Pointer to the property, or to something in it.
func (p *property) path(names ...string) string {
	return pointer("/schema/properties/"+escapePointer(p.key), names...)
}

func pointer(base string, names ...string) string {
	for _, name := range names {
		base += "/" + escapePointer(name)
	}
	return base
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

func escapePointer(name string) string { return pointerEscapes.Replace(name) }
