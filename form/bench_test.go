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
			fmt.Sprintf(`"text%[1]d":{"type":"string","title":"Text %[1]d","description":"Some words on what is asked","maxLength":200,"default":"as before"}`, i),
			fmt.Sprintf(`"number%[1]d":{"type":"number","title":"Number %[1]d","minimum":0.5,"maximum":99.5,"default":1.5}`, i),
			fmt.Sprintf(`"integer%[1]d":{"type":"integer","title":"Integer %[1]d","minimum":1,"maximum":10,"default":2}`, i),
			fmt.Sprintf(`"boolean%[1]d":{"type":"boolean","title":"Boolean %[1]d","default":true}`, i),
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
