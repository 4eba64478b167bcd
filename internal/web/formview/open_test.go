package formview

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/form"
)

func render(t *testing.T, c templ.Component) string {
	t.Helper()
	var out bytes.Buffer
	if err := c.Render(context.Background(), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestIDNamesTheQuestion(t *testing.T) {
	t.Parallel()
	f := mustParse(t, `{"schema":{"type":"object","properties":{"a":{"type":"string"}}}}`)
	other := mustParse(t, `{"schema":{"type":"object","properties":{"a":{"type":"integer"}}}}`)
	base := Open{Form: f, Scope: "task", Question: "m1", Key: "k1"}
	again := base
	again.Key, again.Post, again.Errors = "k2", &Post{}, form.Errors{{Key: "a", Message: "Required"}}
	if base.ID() != again.ID() {
		t.Error("the same question has two names")
	}
	seen := map[string]string{base.ID(): "the form"}
	for name, open := range map[string]Open{
		"another task":       {Form: f, Scope: "task2", Question: "m1"},
		"another question":   {Form: f, Scope: "task", Question: "m2"},
		"another definition": {Form: other, Scope: "task", Question: "m1"},
		"shifted texts":      {Form: f, Scope: "taskm", Question: "1"},
	} {
		if same, ok := seen[open.ID()]; ok {
			t.Errorf("%s and %s have one name", name, same)
		}
		seen[open.ID()] = name
	}
}

func TestControlsHoldInitialValues(t *testing.T) {
	t.Parallel()
	f := mustParse(t, `{"schema":{"type":"object","properties":{
		"text":{"type":"string","default":"a\nb"},"big":{"type":"number","default":9007199254740993},
		"on":{"type":"boolean","default":true},"twin":{"enum":["x","y","y"],"default":"y"},"none":{"enum":["x"]}}}}`)
	type standing struct {
		Text   string
		On     bool
		Chosen int
	}
	got := map[string]standing{}
	for _, c := range (Open{Form: f}).controls() {
		got[c.field.Key] = standing{c.text, c.on, c.chosen}
	}
	want := map[string]standing{
		"text": {"a\nb", false, -1}, "big": {"9007199254740993", false, -1}, "on": {"", true, -1},
		"twin": {"y", false, 1}, "none": {"", false, -1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("controls mismatch (-want +got):\n%s", diff)
	}
}

// What was refused is drawn as it was posted, even the second of two options
// with one value, and the first fault gets the focus.
func TestControlsHoldWhatWasPosted(t *testing.T) {
	t.Parallel()
	f := mustParse(t, `{"schema":{"type":"object","required":["first","n"],"properties":{
		"twin":{"enum":["y","y"],"default":"y"},"on":{"type":"boolean","default":true},
		"first":{"type":"string"},"n":{"type":"integer","default":2}}}}`)
	post := readPost(t, url.Values{"f.twin": {"1"}, "f.n": {"1.5"}})
	_, errs := f.Check(post.Entries(f))
	var got []string
	for _, c := range (Open{Form: f, Post: &post, Errors: errs}).controls() {
		got = append(got, fmt.Sprintf("%s %q %v %d %q %v", c.field.Key, c.text, c.on, c.chosen, c.fault, c.focused))
	}
	want := []string{
		`twin "y" false 1 "" false`,
		`on "" false -1 "" false`,
		`first "" false -1 "Required" true`,
		`n "1.5" false -1 "Enter a whole number" false`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("controls mismatch (-want +got):\n%s", diff)
	}
}

func TestHowControlsAreDrawn(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", longLabel+1)
	tests := map[string]struct {
		property string
		want     string
	}{
		"text":                        {`{"type":"string"}`, `<input type="text"`},
		"long text":                   {`{"type":"string","maxLength":201}`, `<textarea`},
		"text with lines in it":       {`{"type":"string","default":"a\rb"}`, `<textarea`},
		"few options":                 {`{"enum":["1","2","3","4","5","6","7"]}`, `type="radio"`},
		"many options":                {`{"enum":["1","2","3","4","5","6","7","8"]}`, `<select`},
		"many options, one is long":   {`{"enum":["1","2","3","4","5","6","7","` + long + `"]}`, `type="radio"`},
		"whole number from 0":         {`{"type":"integer","minimum":0}`, `inputmode="numeric"`},
		"number from 0":               {`{"type":"number","minimum":0.0}`, `inputmode="decimal"`},
		"number that may be negative": {`{"type":"number","minimum":-1}`, `inputmode="text"`},
		"exact bounds":                {`{"type":"integer","maximum":9007199254740993}`, `data-most="9007199254740993"`},
		"box":                         {`{"type":"boolean"}`, `type="checkbox"`},
		"label that shows nothing":    {`{"enum":["","x"]}`, `(empty)`},
		"labels that are the same":    {`{"enum":["a","b"],"enumNames":["Same","Same"]}`, `<bdi class="form-value">b</bdi>`},
		"value that hides something":  {`{"enum":["a\u200b"],"enumNames":["A"]}`, `U+200B`},
		"title that hides something":  {`{"type":"string","title":"a\u202eb"}`, `aria-label="hidden character U+202E right-to-left override"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := mustParse(t, `{"schema":{"type":"object","properties":{"v":`+tc.property+`}}}`)
			if got := render(t, OpenForm(Open{Form: f, Action: "/answer"})); !strings.Contains(got, tc.want) {
				t.Errorf("%s is not in\n%s", tc.want, got)
			}
		})
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		`{"type":"string"}`:                              "",
		`{"type":"string","minLength":0}`:                "",
		`{"type":"string","minLength":1}`:                "At least 1 character",
		`{"type":"string","maxLength":20}`:               "At most 20 characters",
		`{"type":"string","minLength":2,"maxLength":20}`: "2 to 20 characters",
		`{"type":"string","minLength":4,"maxLength":4}`:  "Exactly 4 characters",
		`{"type":"integer"}`:                             "A whole number",
		`{"type":"integer","minimum":1,"maximum":1e1}`:   "A whole number, 1 to 10",
		`{"type":"number","minimum":0.50}`:               "A number, at least 0.5",
		`{"type":"number","maximum":-1}`:                 "A number, at most -1",
		`{"type":"boolean"}`:                             "",
		`{"enum":["a"]}`:                                 "",
	}
	for property, want := range tests {
		f := mustParse(t, `{"schema":{"type":"object","properties":{"v":`+property+`}}}`)
		if got := (control{field: &f.Fields[0]}).rule(); got != want {
			t.Errorf("rule of %s = %q, want %q", property, got, want)
		}
	}
}

// Thirty fields of ordinary texts leave room in a page of 80 KB.
func TestFormIsLight(t *testing.T) {
	t.Parallel()
	properties := map[string]any{}
	for i := range form.MaxFields {
		properties[fmt.Sprintf("field_%d", i)] = []map[string]any{
			{"type": "string", "title": "Name of the customer", "maxLength": 80, "description": "As it stands in the contract."},
			{"type": "integer", "title": "How many", "minimum": 1, "maximum": 10, "default": 2},
			{"title": "Where", "enum": []string{"a", "b", "c", "d"}, "enumNames": []string{"Amsterdam", "Berlin", "Chennai", "Dublin"}},
			{"type": "boolean", "title": "Tell the team", "default": true},
			{"type": "string", "title": "Reason", "format": "multiline"},
		}[i%5]
	}
	definition, err := json.Marshal(map[string]any{"schema": map[string]any{"type": "object", "properties": properties}})
	if err != nil {
		t.Fatal(err)
	}
	html := render(t, OpenForm(Open{Form: mustParse(t, string(definition)), Action: "/answer"}))
	if limit := 24 << 10; len(html) > limit {
		t.Errorf("the form takes %d bytes, want at most %d", len(html), limit)
	}
}
