package form_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/form"
)

func TestCheckAnswer(t *testing.T) {
	t.Parallel()
	const valid = `{"text":"a","number":1.5,"integer":2,"boolean":false,"choice":"x"}`
	tests := []struct {
		name, answer string
		want         form.Errors
	}{
		{"valid", valid, nil},
		{"in any order, with any white space", " {\n\"boolean\" : true , \"text\":\"a\"}\t", nil},
		{"only what is always sent", `{"boolean":true}`, nil},
		{"numbers in any notation", `{"boolean":true,"integer":1.0E2,"number":0.1e1}`, nil},
		{"nothing", ``, form.Errors{{Message: "The answer must be a JSON object"}}},
		{"no object", `[]`, form.Errors{{Message: "The answer must be a JSON object"}}},
		{"no JSON", `{"boolean":true}}`, form.Errors{{Message: "The answer must be a JSON object"}}},
		{"no UTF-8", "{\"boolean\":true,\"text\":\"\xff\"}", form.Errors{{Message: "The answer must be a JSON object"}}},
		{"boolean left out", `{}`, form.Errors{{Key: "boolean", Message: "Required"}}},
		{"undeclared", `{"boolean":true,"more":1,"Text":"x"}`, form.Errors{{Key: "more", Message: "Not a field of this form"}, {Key: "Text", Message: "Not a field of this form"}}},
		{"twice", `{"boolean":true,"boolean":true}`, form.Errors{{Key: "boolean", Message: "Given more than once"}}},
		{"null", `{"boolean":null,"text":null,"number":null,"choice":null}`, form.Errors{
			{Key: "text", Message: "Enter a text"}, {Key: "number", Message: "Enter a number"},
			{Key: "boolean", Message: "Choose yes or no"}, {Key: "choice", Message: "Choose one of the options"}}},
		{"other types", `{"boolean":"true","text":1,"number":"1","integer":[],"choice":{}}`, form.Errors{
			{Key: "text", Message: "Enter a text"}, {Key: "number", Message: "Enter a number"}, {Key: "integer", Message: "Enter a number"},
			{Key: "boolean", Message: "Choose yes or no"}, {Key: "choice", Message: "Choose one of the options"}}},
		{"out of bounds", `{"boolean":true,"number":-0.51,"integer":0,"text":"` + strings.Repeat("x", 21) + `"}`, form.Errors{
			{Key: "text", Message: "At most 20 characters"}, {Key: "number", Message: "At least -0.5"}, {Key: "integer", Message: "At least 0.5"}}},
		{"fraction", `{"boolean":true,"integer":1.5}`, form.Errors{{Key: "integer", Message: "Enter a whole number"}}},
		{"infinite", `{"boolean":true,"integer":1e400}`, form.Errors{{Key: "integer", Message: "Enter a number"}}},
		{"more digits than can be typed", `{"boolean":true,"number":0.` + strings.Repeat("1", 64) + `}`, form.Errors{{Key: "number", Message: "Enter a number"}}},
		{"no option", `{"boolean":true,"choice":"X"}`, form.Errors{{Key: "choice", Message: "Choose one of the options"}}},
		{"empty choice", `{"boolean":true,"choice":""}`, form.Errors{{Key: "choice", Message: "Choose one of the options"}}},
		{"empty text", `{"boolean":true,"text":""}`, form.Errors{{Key: "text", Message: "An empty text is left out"}}},
		{"carriage return", `{"boolean":true,"text":"a\r\nb"}`, form.Errors{{Key: "text", Message: "Line ends are line feeds"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, ofEveryKind().CheckAnswer([]byte(tt.answer))); diff != "" {
				t.Errorf("CheckAnswer(%s) mismatch (-want +got):\n%s", tt.answer, diff)
			}
		})
	}
}

func TestCheckAnswerRequired(t *testing.T) {
	t.Parallel()
	f := ofEveryKind()
	for i := range f.Fields {
		f.Fields[i].Required = f.Fields[i].Kind != form.Boolean
	}
	want := form.Errors{
		{Key: "text", Message: "Required"}, {Key: "number", Message: "Required"}, {Key: "integer", Message: "Required"}, {Key: "choice", Message: "Required"},
	}
	if diff := cmp.Diff(want, f.CheckAnswer([]byte(`{"boolean":true}`))); diff != "" {
		t.Errorf("CheckAnswer() of an empty answer mismatch (-want +got):\n%s", diff)
	}
	if got := f.CheckAnswer([]byte(`{"text":" \u3000","number":1,"integer":1,"choice":"x","boolean":true}`)); got.Get("text") != "Required" {
		t.Errorf("white space answers a required text: %v", got)
	}
}

func TestCheckAnswerBoundsItsErrors(t *testing.T) {
	t.Parallel()
	answer := `{"boolean":true` + strings.Repeat(`,"x":0`, 10_000) + `}`
	if errs := ofEveryKind().CheckAnswer([]byte(answer)); len(errs) > form.MaxFields {
		t.Errorf("%d errors, want at most %d", len(errs), form.MaxFields)
	}
}

func TestReadAnswer(t *testing.T) {
	t.Parallel()
	got, errs := ofEveryKind().ReadAnswer([]byte(`{"boolean":true,"number":1e2,"integer":1e308,"choice":"x"}`))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	want := form.Entries{
		"text": {}, "number": form.Typed("100"), "integer": form.Typed("1e308"),
		"boolean": form.Ticked(true), "choice": form.Chosen("x"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ReadAnswer() mismatch (-want +got):\n%s", diff)
	}
}

func TestDecodeAnswer(t *testing.T) {
	t.Parallel()
	type answer struct {
		Text    string
		Number  form.Decimal
		Integer int
		Boolean bool
		Choice  string
	}
	var got answer
	err := ofEveryKind().DecodeAnswer([]byte(`{"boolean":true,"number":0.10,"integer":1.0e2,"choice":"x"}`), &got)
	if err != nil {
		t.Fatal(err)
	}
	want := answer{Number: "0.1", Integer: 100, Boolean: true, Choice: "x"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("DecodeAnswer() mismatch (-want +got):\n%s", diff)
	}

	var errs form.Errors
	if err := ofEveryKind().DecodeAnswer([]byte(`{}`), &got); !errors.As(err, &errs) || errs.Get("boolean") == "" {
		t.Errorf("error = %v, want Errors with boolean", err)
	}
}
