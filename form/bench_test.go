package form_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/form"
)

// thirtyFields is a definition of every kind, as large as forms of people's making get.
func thirtyFields() []byte {
	var properties []string
	for i := range form.MaxFields / 5 {
		properties = append(properties,
			fmt.Sprintf(`"text%d":{"type":"string","title":"Text","description":"Some words on what is asked","maxLength":200,"default":"as before"}`, i),
			fmt.Sprintf(`"number%d":{"type":"number","title":"Number","minimum":0.5,"maximum":99.5,"default":1.5}`, i),
			fmt.Sprintf(`"integer%d":{"type":"integer","title":"Integer","minimum":1,"maximum":10,"default":2}`, i),
			fmt.Sprintf(`"boolean%d":{"type":"boolean","title":"Boolean","default":true}`, i),
			fmt.Sprintf(`"choice%d":{"enum":["staging","production","canary"],"enumNames":["Staging","Production","Canary"],"default":"staging"}`, i),
		)
	}
	return []byte(`{"title":"Thirty fields","schema":{"type":"object","required":["text0"],"properties":{` +
		strings.Join(properties, ",") + `}}}`)
}

func BenchmarkParse(b *testing.B) {
	definition := thirtyFields()
	b.SetBytes(int64(len(definition)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := form.Parse(definition); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkInspect(b *testing.B) {
	definition := thirtyFields()
	b.SetBytes(int64(len(definition)))
	b.ReportAllocs()
	for b.Loop() {
		if report := form.Inspect(definition); len(report.Reasons) > 0 {
			b.Fatal(report.Reasons)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	f := mustParse(b, thirtyFields())
	entries := f.Initial()
	b.ReportAllocs()
	for b.Loop() {
		if _, errs := f.Check(entries); len(errs) > 0 {
			b.Fatal(errs)
		}
	}
}

func BenchmarkCheckAnswer(b *testing.B) {
	f := mustParse(b, thirtyFields())
	answer, errs := f.Check(f.Initial())
	if len(errs) > 0 {
		b.Fatal(errs)
	}
	b.ReportAllocs()
	for b.Loop() {
		if errs := f.CheckAnswer(answer); len(errs) > 0 {
			b.Fatal(errs)
		}
	}
}

// BenchmarkHostile reads definitions of a mebibyte that are made to cost.
func BenchmarkHostile(b *testing.B) {
	for name, definition := range hostileDefinitions() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(definition)))
			b.ReportAllocs()
			for b.Loop() {
				form.Inspect(definition)
			}
		})
	}
}

// hostileDefinitions are as large as a definition may be.
func hostileDefinitions() map[string][]byte {
	fill := func(before, unit, after string) []byte {
		room := form.MaxDefinitionBytes - len(before) - len(after)
		return []byte(before + strings.Repeat(unit, room/len(unit)) + after)
	}
	field := func(members string) string {
		return `{"schema":{"type":"object","properties":{"a":{` + members
	}
	return map[string][]byte{
		"root members":    fill(`{`, `"a":0,`, `"schema":0}`),
		"nested ignored":  fill(`{"x":`+strings.Repeat("[", 9_000), ` `, strings.Repeat("]", 9_000)+`}`),
		"too deep":        fill(``, `[`, ``),
		"properties":      fill(`{"schema":{"type":"object","properties":{`, `"":0,`, `"a":{}}}}`),
		"order":           fill(`{"order":[`, `"b",`, `"a"],"schema":{"type":"object","properties":{"a":{"type":"string"}}}}`),
		"required":        fill(`{"schema":{"required":[`, `0,`, `0],"type":"object","properties":{"a":{"type":"string"}}}}`),
		"field members":   fill(field(`"type":"string"`), `,"typ":0`, `}}}}`),
		"options":         fill(field(`"enum":[`), `"",`, `""]}}}}`),
		"labels":          fill(field(`"enum":["a"],"enumNames":[`), `0,`, `0]}}}}`),
		"long number":     fill(field(`"type":"integer","minimum":`), `1`, `}}}}`),
		"long fraction":   fill(field(`"type":"integer","maximum":0.`), `1`, `}}}}`),
		"long exponent":   fill(field(`"type":"number","default":1e-`), `1`, `}}}}`),
		"long default":    fill(field(`"type":"string","default":"`), `x`, `"}}}}`),
		"hidden default":  fill(field(`"type":"string","default":"`), "\u200b\u202e", `"}}}}`),
		"foreign hosts":   fill(field(`"type":"string","default":"`), "аb.", `"}}}}`),
		"foreign words":   fill(field(`"type":"string","default":"`), "сом.cо ", `"}}}}`),
		"long key":        fill(`{"schema":{"type":"object","properties":{"`, `x`, `":{"a":1,"b":2,"c":3}}}}`),
		"one long option": fill(field(`"enum":["`), `\u0041`, `"]}}}}`),
		"markup":          fill(field(`"type":"string","description":"`), `<a`, `"}}}}`),
	}
}
