package form

import (
	"fmt"
	"strings"
)

// field looks at one field whose name is valid.
func (a *adviser) field(p *property) {
	kind := p.kind()
	a.members(p.path(), p.whole, fieldKeywords[kind])
	a.shownText(p.path("title"), p.title, shown{limit: MaxTitle, fallback: p.key, oneLine: true})
	a.shownText(p.path("description"), p.description, shown{limit: MaxDescription})
	if len(p.reasons()) > 0 {
		return
	}
	field := p.field(a.requiredKeys[p.key])
	switch kind {
	case Text:
		a.format(p)
		a.lengths(p, &field)
	case Number, Integer:
		a.bounds(p, &field)
	case Choice:
		a.choice(p, field.Options)
	}
	a.defaultValue(p, &field)
}

func (a *adviser) format(p *property) {
	switch {
	case kindOf(p.format) == jsonMissing || text(p.format) == "multiline":
	case kindOf(p.format) == jsonString:
		a.note(p.path("format"), `The format %s has no effect: it is neither drawn nor checked. Only "multiline" is known.`,
			abbreviate(text(p.format)))
	default:
		a.note(p.path("format"), `format is %s and has no effect; the only format is "multiline".`, describe(p.format))
	}
}

func (a *adviser) lengths(p *property, field *Field) {
	a.length(p.path("minLength"), "minLength", p.minLength)
	a.length(p.path("maxLength"), "maxLength", p.maxLength)
	if v, ok := parseDecimal(string(p.maxLength)); ok && field.MaxLength != nil && v.compare(maxTextDecimal) > 0 {
		a.note(p.path("maxLength"), "maxLength is capped at %d.", MaxText)
	}
	least, most := 0, MaxText
	if field.MinLength != nil {
		least = *field.MinLength
	}
	if field.MaxLength != nil {
		most = *field.MaxLength
	}
	switch {
	case least > most && field.MaxLength != nil:
		a.note(p.path("minLength"), "No text can be long enough and short enough: minLength is above maxLength.")
	case least > most:
		a.note(p.path("minLength"), "No text can be long enough: at most %d characters can be entered.", MaxText)
	case most == 0:
		a.note(p.path("maxLength"), "Nothing can be entered: maxLength is 0.")
	}
}

var maxTextDecimal, _ = parseDecimal(fmt.Sprint(MaxText))

func (a *adviser) length(path, name string, value []byte) {
	if kindOf(value) == jsonMissing {
		return
	}
	v, ok := parseDecimal(string(value))
	switch {
	case kindOf(value) != jsonNumber:
		a.note(path, "%s is %s and has no effect; it must be a number.", name, describe(value))
	case !ok:
		a.note(path, "%s has no effect: the number is beyond all range.", name)
	case v.negative:
		a.note(path, "%s has no effect: it is negative.", name)
	case !v.isWhole():
		a.note(path, "%s is rounded down to %d.", name, *length(value, MaxText+1))
	}
}

func (a *adviser) bounds(p *property, field *Field) {
	a.bound(p.path("minimum"), "minimum", p.minimum)
	a.bound(p.path("maximum"), "maximum", p.maximum)
	if field.Minimum == "" || field.Maximum == "" {
		return
	}
	least, _ := parseDecimal(string(field.Minimum))
	most, _ := parseDecimal(string(field.Maximum))
	switch {
	case least.compare(most) > 0:
		a.note(p.path("minimum"), "No number meets both bounds: minimum is above maximum.")
	case field.Kind == Integer && !wholeBetween(least, most):
		a.note(p.path("minimum"), "No whole number lies between minimum and maximum.")
	}
}

func (a *adviser) bound(path, name string, value []byte) {
	switch {
	case kindOf(value) == jsonMissing || bound(value) != "":
	case kindOf(value) == jsonNumber:
		a.note(path, "%s has no effect: the number is beyond all range.", name)
	default:
		a.note(path, "%s is %s and has no effect; it must be a number.%s", name, describe(value), withoutQuotes(value))
	}
}

// withoutQuotes suggests the number or boolean that a string holds, or returns "".
func withoutQuotes(value []byte) string {
	content := text(value)
	if content == "true" || content == "false" || isJSONNumber(content) && len(content) <= MaxNumber {
		return fmt.Sprintf(" Write %s without quotes.", content)
	}
	return ""
}

// defaultValue looks at what stands in the control before anyone touches it.
func (a *adviser) defaultValue(p *property, field *Field) {
	path := p.path("default")
	if kindOf(p.defaultValue) == jsonMissing {
		return
	}
	if field.Default == nil {
		a.note(path, "%s", ignoredDefault(p, field))
		return
	}
	switch value := field.Default.(type) {
	case string:
		if field.Kind == Text {
			a.defaultText(path, field, value)
		}
	case Decimal:
		number, _ := parseDecimal(string(value))
		if fault := field.boundFault(number); fault != "" {
			a.note(path, "The default cannot be sent as it stands: %q. People must correct it.", fault)
		} else if len(value.typed()) > MaxNumber {
			a.note(path, "The default cannot be sent as it stands: a number has at most %d characters.", MaxNumber)
		}
	}
}

func ignoredDefault(p *property, field *Field) string {
	switch {
	case kindOf(p.defaultValue) == jsonNull:
		return "A default of null has no effect; leave it out."
	case field.Kind == Choice && kindOf(p.defaultValue) == jsonString:
		values := make([]string, len(field.Options))
		for i, option := range field.Options {
			values[i] = option.Value
		}
		return "The default has no effect: it is none of the values in enum." +
			didYouMean(text(p.defaultValue), values)
	case kindOf(p.defaultValue) == jsonNumber && (field.Kind == Number || field.Kind == Integer):
		return "The default has no effect: the number is beyond all range."
	}
	suggestion := ""
	if field.Kind != Text && field.Kind != Choice {
		suggestion = withoutQuotes(p.defaultValue)
	}
	return fmt.Sprintf("The default is %s and has no effect on %s.%s",
		describe(p.defaultValue), nouns[field.Kind], suggestion)
}

func (a *adviser) defaultText(path string, field *Field, value string) {
	a.characters(path, value, true)
	if fault := field.lengthFault(lineEnds.Replace(value)); fault != "" && value != "" {
		a.note(path, "The default cannot be sent as it stands: %q. People must correct it.", fault)
	}
	if strings.ContainsAny(value, "\r\n") && !field.Multiline {
		a.note(path, `The default has line breaks, which a single line cannot hold; add "format": "multiline".`)
	}
	if value != "" && field.Required && trimSpace(value) == "" {
		a.note(path, "The default is nothing but white space, which does not answer a required field.")
	}
}
