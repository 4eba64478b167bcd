package form

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// keywords are the members that one object of a definition may have.
type keywords struct {
	known   []string
	aliases map[string]string // what others call it -> the known name
	hints   map[string]string // sentences on what else is often written there
}

func (k *keywords) has(name string) bool { return slices.Contains(k.known, name) }

// explain says why a member that is not known has no effect, and what to write instead.
func (k *keywords) explain(name string) string {
	if hint, ok := k.hints[name]; ok {
		return hint
	}
	if instead, ok := k.aliases[name]; ok {
		return fmt.Sprintf("%s has no effect; use %s.", abbreviate(name), abbreviate(instead))
	}
	return fmt.Sprintf("%s has no effect.%s", abbreviate(name), didYouMean(name, k.known))
}

var rootKeywords = keywords{
	known: []string{"title", "description", "submitLabel", "order", "schema"},
	aliases: map[string]string{
		"submit": "submitLabel", "submitText": "submitLabel", "submit_text": "submitLabel", "buttonLabel": "submitLabel",
		"submitButtonLabel": "submitLabel", "button": "submitLabel",
		"name": "title", "heading": "title", "label": "title",
		"message": "description", "prompt": "description", "instructions": "description", "help": "description",
		"ui:order": "order", "fieldOrder": "order", "propertyOrder": "order",
		"jsonSchema": "schema", "json_schema": "schema", "requestedSchema": "schema", "inputSchema": "schema", "form": "schema",
	},
	hints: map[string]string{
		"$schema":    `"$schema" has no effect on the form; it may stay, for editors.`,
		"type":       `"type" belongs inside schema.`,
		"properties": `"properties" belongs inside schema.`,
		"required":   `"required" belongs inside schema.`,
		"fields":     `"fields" has no effect; declare the fields in schema.properties.`,
		"uiSchema":   `"uiSchema" has no effect; how a form looks is the console's to decide.`,
		"theme":      `"theme" has no effect; how a form looks is the console's to decide.`,
		"default":    `"default" has no effect here; give each field its own.`,
		"defaults":   `"defaults" has no effect; give each field its own default.`,
	},
}

const (
	hintCombined = " has no effect: schemas are not combined. Declare every field in properties."
	hintFollowed = " has no effect: references are not followed. Declare every field in properties."
	hintClosed   = " has no effect: an answer never has other members than the declared ones."
	hintDepends  = " has no effect: every field is always asked. Ask again in a second form where an answer decides."
)

var schemaKeywords = keywords{
	known: []string{"type", "properties", "required"},
	hints: map[string]string{
		"title":                 `The schema's "title" is not shown; put it beside schema.`,
		"description":           `The schema's "description" is not shown; put it beside schema.`,
		"order":                 `"order" belongs beside schema, not inside.`,
		"submitLabel":           `"submitLabel" belongs beside schema, not inside.`,
		"$schema":               `"$schema" has no effect on the form; it may stay, for editors.`,
		"$ref":                  `"$ref"` + hintFollowed,
		"$defs":                 `"$defs"` + hintFollowed,
		"definitions":           `"definitions"` + hintFollowed,
		"allOf":                 `"allOf"` + hintCombined,
		"anyOf":                 `"anyOf"` + hintCombined,
		"oneOf":                 `"oneOf"` + hintCombined,
		"not":                   `"not"` + hintCombined,
		"if":                    `"if"` + hintDepends,
		"then":                  `"then"` + hintDepends,
		"else":                  `"else"` + hintDepends,
		"dependencies":          `"dependencies"` + hintDepends,
		"dependentRequired":     `"dependentRequired"` + hintDepends,
		"dependentSchemas":      `"dependentSchemas"` + hintDepends,
		"additionalProperties":  `"additionalProperties"` + hintClosed,
		"unevaluatedProperties": `"unevaluatedProperties"` + hintClosed,
		"patternProperties":     `"patternProperties"` + hintClosed,
		"default":               `"default" has no effect here; give each field its own.`,
	},
}

const hintChoice = " has no effect; list the values in enum, and what people read in enumNames."

var fieldHints = map[string]string{
	"pattern":          `"pattern" has no effect: regular expressions are never run. Say in description what is expected, and check the answer.`,
	"required":         `"required" has no effect inside a field; name the field in schema.required.`,
	"optional":         `"optional" has no effect; a field is optional unless schema.required names it.`,
	"multiline":        `"multiline" has no effect; use "format": "multiline".`,
	"oneOf":            `"oneOf"` + hintChoice,
	"anyOf":            `"anyOf"` + hintChoice,
	"const":            `"const"` + hintChoice,
	"allOf":            `"allOf" has no effect: schemas are not combined.`,
	"not":              `"not" has no effect: schemas are not combined.`,
	"$ref":             `"$ref" has no effect: references are not followed.`,
	"properties":       `"properties" has no effect: fields are not nested.`,
	"items":            `"items" has no effect: there are no lists. Ask for each value with a field of its own.`,
	"exclusiveMinimum": `"exclusiveMinimum" has no effect; use minimum, which is inclusive.`,
	"exclusiveMaximum": `"exclusiveMaximum" has no effect; use maximum, which is inclusive.`,
	"multipleOf":       `"multipleOf" has no effect; say in description what is expected, and check the answer.`,
	"readOnly":         `"readOnly" has no effect; people can change every field.`,
	"writeOnly":        `"writeOnly" has no effect; what people enter can be read.`,
	"nullable":         `"nullable" has no effect; an optional field without a value is left out of the answer.`,
	"examples":         `"examples" has no effect; put an example into description.`,
	"enumDescriptions": `"enumDescriptions" has no effect; put all that people read into enumNames.`,
}

var fieldAliases = map[string]string{
	"label": "title", "name": "title", "displayName": "title", "display_name": "title", "caption": "title",
	"help": "description", "helpText": "description", "help_text": "description", "hint": "description",
	"tooltip": "description", "placeholder": "description",
	"value": "default", "initial": "default", "initialValue": "default", "defaultValue": "default", "default_value": "default",
	"min": "minimum", "max": "maximum", "min_length": "minLength", "max_length": "maxLength",
	"enumLabels": "enumNames", "enum_labels": "enumNames", "enumTitles": "enumNames", "labels": "enumNames",
	"x-enumNames": "enumNames", "x-enum-varnames": "enumNames", "optionLabels": "enumNames",
	"options": "enum", "choices": "enum", "values": "enum", "kind": "type",
}

// commonKeywords are those of every field, kindKeywords those of one kind.
var (
	commonKeywords = []string{"type", "title", "description", "default"}
	kindKeywords   = map[Kind][]string{
		Text:    {"minLength", "maxLength", "format"},
		Number:  {"minimum", "maximum"},
		Integer: {"minimum", "maximum"},
		Boolean: {},
		Choice:  {"enum", "enumNames"},
	}
	allKeywords = slices.Concat(commonKeywords, kindKeywords[Text], kindKeywords[Number], kindKeywords[Choice])
)

// fieldKeywords are what a field of a kind may have. A field of no kind may have all of it.
var fieldKeywords = map[Kind]*keywords{
	"":      {known: allKeywords, aliases: fieldAliases, hints: fieldHints},
	Text:    keywordsOf(Text),
	Number:  keywordsOf(Number),
	Integer: keywordsOf(Integer),
	Boolean: keywordsOf(Boolean),
	Choice:  keywordsOf(Choice),
}

func keywordsOf(kind Kind) *keywords {
	k := &keywords{
		known:   slices.Concat(commonKeywords, kindKeywords[kind]),
		aliases: fieldAliases,
		hints:   maps.Clone(fieldHints),
	}
	for _, name := range allKeywords {
		if !k.has(name) {
			k.hints[name] = wrongKind(name, kind)
		}
	}
	return k
}

// nouns are what messages call the kinds.
var nouns = map[Kind]string{
	Text: "a text", Number: "a number", Integer: "an integer", Boolean: "a boolean", Choice: "a choice",
}

// wrongKind says that a keyword of other kinds has no effect on this one.
func wrongKind(name string, kind Kind) string {
	instead := ""
	switch {
	case name == "enum":
		return `"enum" has no effect unless it is an array of strings.`
	case name == "enumNames":
		return `"enumNames" has no effect without an array of strings in enum.`
	case kind == Text && (name == "minimum" || name == "maximum"):
		instead = "; a text has minLength and maxLength"
	case (kind == Number || kind == Integer) && strings.HasSuffix(name, "Length"):
		instead = fmt.Sprintf("; %s has minimum and maximum", nouns[kind])
	}
	return fmt.Sprintf("%q has no effect on %s%s.", name, nouns[kind], instead)
}
