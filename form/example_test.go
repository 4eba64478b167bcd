package form_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-taskbay/taskbay/form"
)

// An agent asks for the details of a deployment, and reads the answer.
func Example() {
	question := form.Form{
		Title:       "Deployment details",
		SubmitLabel: "Deploy",
		Fields: []form.Field{
			{
				Key: "environment", Kind: form.Choice, Label: "Environment", Required: true,
				Options: []form.Option{{Value: "staging", Label: "Staging"}, {Value: "production", Label: "Production"}},
			},
			{Key: "replicas", Kind: form.Integer, Label: "Replicas", Minimum: "1", Maximum: "10", Default: 2},
			{Key: "note", Kind: form.Text, Label: "Note", MaxLength: new(200)},
			{Key: "dryRun", Kind: form.Boolean, Label: "Dry run"},
		},
	}
	definition, err := question.Definition()
	if err != nil {
		panic(err) // the form breaks a rule: a mistake in the program
	}
	fmt.Printf("sending %s\n  %.51s…\n", form.MediaType, definition)

	// Later, the data part of the message that comes back:
	data := []byte(`{"environment":"staging","replicas":3,"dryRun":false}`)
	var answer struct {
		Environment string
		Replicas    int
		Note        string
		DryRun      bool
	}
	if err := question.DecodeAnswer(data, &answer); err != nil {
		fmt.Println("ask again:", err)
		return
	}
	fmt.Printf("deploying %d replicas to %s\n", answer.Replicas, answer.Environment)
	// Output:
	// sending application/vnd.agent-taskbay.form+json
	//   {"title":"Deployment details","submitLabel":"Deploy…
	// deploying 3 replicas to staging
}

// A console draws the form of a definition, and checks what a person entered.
func ExampleParse() {
	f, err := form.Parse([]byte(`{"schema": {"type": "object", "required": ["city"], "properties": {
		"city":   {"type": "string", "title": "City"},
		"nights": {"type": "integer", "minimum": 1, "default": 2}}}}`))
	if err != nil {
		fmt.Println("shown as plain data:", err)
		return
	}
	entries := f.Initial()
	_, errs := f.Check(entries)
	fmt.Println(errs)

	answer, _ := f.Check(entries.With(form.Entries{"city": form.Typed("Łódź")}))
	fmt.Println(string(answer))
	// Output:
	// "city": Required
	// {"city":"Łódź","nights":2}
}

// An author of definitions learns what has no effect.
func ExampleInspect() {
	report := form.Inspect([]byte(`{"schema": {"type": "object", "properties": {
		"email": {"type": "string", "label": "E-mail", "pattern": ".+@.+"}}}}`))
	fmt.Println("drawn:", report.Accepted)
	for _, note := range report.Advice {
		fmt.Printf("%s\n  %s\n", note.Path, note.Message)
	}
	// Output:
	// drawn: true
	// /schema/properties/email/label
	//   "label" has no effect; use "title".
	// /schema/properties/email/pattern
	//   "pattern" has no effect: regular expressions are never run. Say in description what is expected, and check the answer.
}

// A form that breaks a rule is found before it is sent.
func ExampleForm_Definition() {
	f := form.Form{Fields: []form.Field{
		{Key: "first name", Kind: form.Text},
		{Key: "age", Kind: form.Integer, MaxLength: new(3)},
	}}
	_, err := f.Definition()
	fmt.Println(err)
	// Output:
	// form definition rejected: A field's name has 1 to 64 of A-Z, a-z, 0-9 and _, and does not start with a digit; put what people read into title (at "/schema/properties/first name")
}

// What is wrong with an answer is said for each field.
func ExampleForm_CheckAnswer() {
	f := form.Form{Fields: []form.Field{
		{Key: "replicas", Kind: form.Integer, Required: true, Minimum: "1"},
		{Key: "dryRun", Kind: form.Boolean},
	}}
	errs := f.CheckAnswer([]byte(`{"replicas": 0, "region": "eu"}`))
	text, _ := json.MarshalIndent(errs, "", "  ")
	fmt.Println(string(text))
	// Output:
	// {
	//   "replicas": "At least 1",
	//   "dryRun": "Required",
	//   "region": "Not a field of this form"
	// }
}

// A read-only view of an answered question lists what was sent, with labels.
func ExampleForm_ReadAnswer() {
	f := form.Form{Fields: []form.Field{
		{Key: "env", Kind: form.Choice, Label: "Environment", Options: []form.Option{{Value: "prod", Label: "Production"}}},
		{Key: "note", Kind: form.Text, Label: "Note"},
		{Key: "dryRun", Kind: form.Boolean, Label: "Dry run"},
	}}
	entries, _ := f.ReadAnswer([]byte(`{"env":"prod","dryRun":true}`))
	for _, field := range f.Fields {
		entry := entries[field.Key]
		switch label, _ := field.OptionLabel(entry.Text()); {
		case entry.IsNone():
			fmt.Println(field.Label, "was left out")
		case field.Kind == form.Boolean:
			fmt.Println(field.Label, "is", entry.On())
		case field.Kind == form.Choice:
			fmt.Println(field.Label, "is", label)
		default:
			fmt.Println(field.Label, "is", entry.Text())
		}
	}
	// Output:
	// Environment is Production
	// Note was left out
	// Dry run is true
}

// A page shows a mark for what cannot be seen.
func ExampleRuns() {
	for run := range form.Runs("prod\u200b and \u202egnp.exe") {
		if run.Mark != "" {
			fmt.Printf("[%s]", run.Mark)
			continue
		}
		fmt.Print(run.Text)
	}
	// Output:
	// prod[U+200B zero width space] and [U+202E right-to-left override]gnp.exe
}

// Of options that look the same a page shows the value with escapes.
func ExampleAppearance() {
	values := []string{"deploy", "deploy\u00a0", "rollback"}
	for i, value := range values {
		same := slices.ContainsFunc(values[:i], func(other string) bool {
			return form.Appearance(other) == form.Appearance(value)
		})
		if same {
			fmt.Printf("%+q looks like another\n", value)
		}
	}
	// Output:
	// "deploy\u00a0" looks like another
}

// Host names that may pass for another are found in a text.
func ExampleDeceptiveHosts() {
	fmt.Println(strings.Join(form.DeceptiveHosts("Sign in at https://раypal.com, not at paypal.com"), " "))
	// Output:
	// раypal.com
}
