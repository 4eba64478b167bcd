package formview

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	f := mustParse(t, `{"schema":{"type":"object","properties":{
		"env":{"title":"Environment","enum":["prod","same"],"enumNames":["Production","same"]},
		"plain":{"title":"Plain","enum":["prod","same"],"enumNames":["Production","same"]},
		"n":{"title":"Number","type":"number"},"ok":{"title":"OK","type":"boolean"},
		"note":{"title":"Note","type":"string"},"left":{"title":"Left out","type":"string"}}}}`)
	data := `{"env":"prod","plain":"same","n":123456789012345678901234567890.5,"ok":false,"note":"prod\n2"}`
	got, ok := Answered{Form: f, Data: json.RawMessage(data)}.answers()
	want := []answer{
		{label: "Environment", text: "Production", exact: "prod", given: true},
		{label: "Plain", text: "same", given: true},
		{label: "Number", text: "123456789012345678901234567890.5", given: true},
		{label: "OK", text: "No", given: true},
		{label: "Note", text: "prod\n2", given: true},
		{label: "Left out"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(answer{})); diff != "" || !ok {
		t.Errorf("answers() mismatch (-want +got), ok = %v:\n%s", ok, diff)
	}
}

func TestAnsweredShowsWhatIsNoAnswer(t *testing.T) {
	t.Parallel()
	f := mustParse(t, `{"schema":{"type":"object","properties":{"a":{"type":"string"}}}}`)
	for _, data := range []string{`["a"]`, `null`, `"x"`, ``} {
		html := render(t, AnsweredForm(Answered{Form: f, Data: json.RawMessage(data), By: "Grace\u200b"}))
		for _, want := range []string{"<pre", "Grace", "U+200B"} {
			if !strings.Contains(html, want) {
				t.Errorf("%q: %s is not in %s", data, want, html)
			}
		}
	}
	html := render(t, AnsweredForm(Answered{Form: f, Data: json.RawMessage(`{"a":{"b":1.50}}`)}))
	if !strings.Contains(html, "{&#34;b&#34;:1.50}") {
		t.Errorf("a value of another kind is not shown as it is: %s", html)
	}
}
