package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/form"
)

// vector is one case of the form package's test data.
type vector struct {
	Name       string
	Definition json.RawMessage
	Typed      form.Entries // all that stands in the controls
	Entered    form.Entries // changes to the initial values
	Rejected   bool
	Submission json.RawMessage
	Errors     map[string]string
}

// entries returns what stands in the controls of the case's form.
func (v vector) entries(f *form.Form) form.Entries {
	if v.Typed != nil {
		return v.Typed
	}
	return f.Initial().With(v.Entered)
}

var vectorFiles = []string{"submissions.json", "reported.json"}

// drawnVectors returns the cases of a file whose definitions are accepted.
func drawnVectors(t *testing.T, file string) []vector {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../form/testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var all []vector
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	drawn := slices.DeleteFunc(all, func(v vector) bool { return v.Rejected })
	if len(drawn) == 0 {
		t.Fatalf("%s holds no case that is drawn", file)
	}
	return drawn
}

func mustParse(t *testing.T, definition []byte) *form.Form {
	t.Helper()
	f, err := form.Parse(definition)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The rules module and the form package give the same answer to every case,
// byte for byte, and the same errors.
func TestFormRulesVectors(t *testing.T) {
	t.Parallel()
	d := newDesk(t, oneField)
	p := openTab(t)
	p.visit(d.URL + "/task")
	for _, file := range vectorFiles {
		cases := drawnVectors(t, file)
		var questions []ruleQuestion
		for _, v := range cases {
			f := mustParse(t, v.Definition)
			questions = append(questions, ruleQuestion{shapeOf(f), v.entries(f)})
		}
		for i, got := range askRules(p, questions) {
			v := cases[i]
			t.Run(v.Name, func(t *testing.T) { checkRules(t, mustParse(t, v.Definition), v, got) })
		}
	}
}

const oneField = `{"schema":{"type":"object","properties":{"v":{"type":"string"}}}}`

// ruleQuestion is what the rules module is asked, and ruleAnswer what it says.
type ruleQuestion struct {
	Form    ruleForm     `json:"form"`
	Entries form.Entries `json:"entries"`
}

type ruleAnswer struct {
	Errors     map[string]string
	Submission string
}

type ruleForm struct {
	Fields []ruleField `json:"fields"`
}

// ruleField is a field with its bounds as text, as a page carries them.
type ruleField struct {
	Key       string        `json:"key"`
	Kind      form.Kind     `json:"kind"`
	Required  bool          `json:"required"`
	MinLength *int          `json:"minLength,omitempty"`
	MaxLength *int          `json:"maxLength,omitempty"`
	Minimum   string        `json:"minimum,omitempty"`
	Maximum   string        `json:"maximum,omitempty"`
	Options   []form.Option `json:"options,omitempty"`
}

func shapeOf(f *form.Form) ruleForm {
	var shape ruleForm
	for _, field := range f.Fields {
		shape.Fields = append(shape.Fields, ruleField{
			field.Key, field.Kind, field.Required, field.MinLength, field.MaxLength,
			string(field.Minimum), string(field.Maximum), field.Options,
		})
	}
	return shape
}

// askRules asks the rules module in the page. Null means that nothing stands in
// a control.
func askRules(p *tab, questions []ruleQuestion) []ruleAnswer {
	p.Helper()
	return evaluate[[]ruleAnswer](p, `import("/static/form/rules.js").then(({ check }) => args[0].map(({ form, entries }) => {
		for (const key of Object.keys(entries)) if (entries[key] === null) delete entries[key];
		const { errors, submission } = check(form, entries);
		return { Errors: { ...errors }, Submission: submission ?? "" };
	}))`, questions)
}

func checkRules(t *testing.T, f *form.Form, v vector, got ruleAnswer) {
	t.Helper()
	want := ruleAnswer{Errors: map[string]string{}}
	answer, errs := f.Check(v.entries(f))
	want.Submission = string(answer)
	for _, e := range errs {
		want.Errors[e.Key] = e.Message
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rules module mismatch (-form package +rules module):\n%s", diff)
	}
	checkOutcome(t, v, json.RawMessage(got.Submission), got.Errors)
}

// checkOutcome compares an answer or errors with those of a case.
func checkOutcome(t *testing.T, v vector, answer json.RawMessage, errs map[string]string) {
	t.Helper()
	if v.Errors != nil {
		if diff := cmp.Diff(v.Errors, errs); diff != "" {
			t.Errorf("errors mismatch (-want +got):\n%s", diff)
		}
		if len(answer) > 0 {
			t.Errorf("%s was sent beside errors", answer)
		}
		return
	}
	if len(errs) > 0 {
		t.Errorf("errors = %v, want none", errs)
	}
	if diff := cmp.Diff(exactly(t, v.Submission), exactly(t, answer)); diff != "" {
		t.Errorf("submission mismatch (-want +got):\n%s", diff)
	}
}

// exactly decodes an object, each number as the plain decimal of its exact value.
func exactly(t *testing.T, data []byte) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var values map[string]any
	if err := decoder.Decode(&values); err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	for key, value := range values {
		if number, ok := value.(json.Number); ok {
			values[key] = "number " + form.Decimal(number).String()
		}
	}
	return values
}

// What people may type is more than the cases: random numbers, bounds and texts
// from the characters that matter, the same ones each time.
func TestFormRulesAgreeWithTheFormPackage(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var questions []ruleQuestion
	var forms []*form.Form
	for i := range 4_000 {
		f := randomForm(random)
		forms = append(forms, f)
		number := randomText(random, "0123456789.-+eE ", 12)
		if i < 2*len(extremeNumbers) {
			number = extremeNumbers[i/2]
			if i%2 == 0 {
				f.Fields[0].Minimum, f.Fields[0].Maximum = "", ""
			}
		}
		questions = append(questions, ruleQuestion{shapeOf(f), form.Entries{
			"n": form.Typed(number),
			"i": form.Typed(randomText(random, "00123456789.e+-", 6)),
			"t": form.Typed(randomText(random, "a \r\n\t\"\\\u0000\u001fé😀\u200b\u00a0", 6)),
		}})
	}
	d := newDesk(t, oneField)
	p := openTab(t)
	p.visit(d.URL + "/task")
	for i, got := range askRules(p, questions) {
		want := ruleAnswer{Errors: map[string]string{}}
		answer, errs := forms[i].Check(questions[i].Entries)
		want.Submission = string(answer)
		for _, e := range errs {
			want.Errors[e.Key] = e.Message
		}
		if diff := cmp.Diff(want, got); diff != "" {
			question, _ := json.Marshal(questions[i])
			t.Fatalf("%s\nmismatch (-form package +rules module):\n%s", question, diff)
		}
	}
}

// extremeNumbers are too rare to be met by chance.
var extremeNumbers = []string{
	"1e308", "-1e308", "1.7976931348623157e308", "1.7976931348623159e308", "1e309", "1e-308", "1e-400",
	"1e-999999999999999999", "1e-9999999999999999999", "1e9999999999999999999", "0e9999999999999999999",
	"0e-9999999999999999999", "1e000000000000000000000000000000005", "1e-00000000000000000000000000000005",
	"-0", "+0.0", "-0e5", ".", "+", "e5", ".e5", "5.", ".5", "+.5e-1",
	strings.Repeat("9", 64), strings.Repeat("9", 65), "0." + strings.Repeat("0", 61) + "1", " " + strings.Repeat("1", 64) + "\ufeff",
	"\u0085" + "1", "1\u2028", "１",
}

func randomForm(random *rand.Rand) *form.Form {
	length := func() *int { n := random.IntN(6); return &n }
	bound := func(from int) form.Decimal {
		return form.Decimal(fmt.Sprintf("%d.%de%d", from-random.IntN(90), random.IntN(1000), random.IntN(9)-4))
	}
	return &form.Form{Fields: []form.Field{
		{Key: "n", Kind: form.Number, Minimum: bound(20), Maximum: bound(90)},
		{Key: "i", Kind: form.Integer, Required: random.IntN(2) == 0, Minimum: bound(0)},
		{Key: "t", Kind: form.Text, Required: random.IntN(2) == 0, MinLength: length(), MaxLength: length()},
	}}
}

func randomText(random *rand.Rand, characters string, most int) string {
	from := []rune(characters)
	text := make([]rune, random.IntN(most+1))
	for i := range text {
		text[i] = from[random.IntN(len(from))]
	}
	return string(text)
}

// Every case through the controls that the server draws, filled in as a person
// would: what the server receives is the case's submission, digit for digit.
func TestFormVectors(t *testing.T) {
	t.Parallel()
	for _, file := range vectorFiles {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, oneField)
			p := openTab(t)
			p.expect("status of 422")
			for _, v := range drawnVectors(t, file) {
				t.Run(v.Name, func(t *testing.T) {
					one := p.within(t)
					d.ask(t, string(v.Definition))
					one.visit(d.URL + "/task")
					one.until(`document.querySelector("structured-form")?.fields`)
					if canBeChosen(d.form, v.entries(d.form)) {
						answerByHand(one, d, v)
					} else {
						answerByForgery(one, d, v)
					}
				})
			}
		})
	}
}

// within is the same tab for a part of a test.
func (p *tab) within(t *testing.T) *tab { return &tab{T: t, ctx: p.ctx} }

// canBeChosen reports whether every choice made is one of those offered.
func canBeChosen(f *form.Form, entries form.Entries) bool {
	return !slices.ContainsFunc(f.Fields, func(field form.Field) bool {
		entry := entries[field.Key]
		_, offered := field.OptionLabel(entry.Text())
		return field.Kind == form.Choice && entry.Text() != "" && !offered
	})
}

func answerByHand(p *tab, d *desk, v vector) {
	p.Helper()
	entries := v.entries(d.form)
	for i := range d.form.Fields {
		enter(p, &d.form.Fields[i], entries[d.form.Fields[i].Key])
	}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		if d.form.Field(key) == nil {
			smuggle(p, key, entries[key].Text())
		}
	}
	p.click("[type=submit]")
	if v.Errors == nil {
		p.until(`location.pathname === "/sent"`)
		taken := d.taken()
		if len(taken) != 1 {
			p.Fatalf("%d answers were taken, want 1", len(taken))
		}
		checkOutcome(p.T, v, taken[0], nil)
		checkKeys(p.T, d.form, d.received()[0])
		return
	}
	p.until(`document.querySelector(".field-error")`)
	checkOutcome(p.T, v, nil, shownErrors(p))
	if posts := d.received(); len(posts) > 0 {
		p.Errorf("%v was posted beside errors", posts)
	}
}

// enter makes a control hold an entry.
func enter(p *tab, field *form.Field, entry form.Entry) {
	p.Helper()
	control := "#f-" + field.Key
	switch field.Kind {
	case form.Boolean:
		if evaluate[bool](p, `document.querySelector(args[0]).checked`, control) != entry.On() {
			p.click(control)
		}
	case form.Choice:
		if entry.IsNone() {
			return
		}
		at := slices.IndexFunc(field.Options, func(o form.Option) bool { return o.Value == entry.Text() })
		switch {
		case p.has("select" + control):
			p.choose(control, strconv.Itoa(at))
		case at >= 0:
			p.click("label:has(> " + optionOf(field.Key, at) + ")")
		}
	default:
		if p.value(control) != entry.Text() {
			p.fill(control, entry.Text())
		}
	}
}

// optionOf selects the control of an option that is visible by itself.
func optionOf(key string, at int) string { return fmt.Sprintf("[name='f.%s'][value='%d']", key, at) }

// smuggle puts a control that the form does not declare into it.
func smuggle(p *tab, key, value string) {
	p.Helper()
	evaluate[bool](p, `(() => {
		const control = document.createElement("input");
		control.name = "f." + args[0];
		control.value = args[1];
		document.querySelector("form").append(control);
		return true;
	})()`, key, value)
}

// checkKeys checks that nothing was posted but what the form declares.
func checkKeys(t *testing.T, f *form.Form, posted url.Values) {
	t.Helper()
	for name := range posted {
		key, isControl := strings.CutPrefix(name, "f.")
		if isControl && f.Field(key) == nil {
			t.Errorf("%s was posted and is not declared", name)
		}
	}
}

func shownErrors(p *tab) map[string]string {
	p.Helper()
	return evaluate[map[string]string](p, `Object.fromEntries(Array.from(document.querySelectorAll(".field-error"),
		(error) => [error.id.slice("f-".length, -"-error".length), error.textContent]))`)
}

// answerByForgery posts a choice that no control offers, past the controls: the
// server refuses it with the same words.
func answerByForgery(p *tab, d *desk, v vector) {
	p.Helper()
	values := url.Values{"question": {"question"}, "key": {"forged"}}
	for key, entry := range v.entries(d.form) {
		values.Set("f."+key, entry.Text())
	}
	type reply struct {
		Status int
		Errors []struct{ Location, Message string }
	}
	got := evaluate[reply](p, `fetch("/answer", {
		method: "POST",
		headers: { Accept: "application/json", "Content-Type": "application/x-www-form-urlencoded" },
		body: args[0],
	}).then(async (response) => ({ Status: response.status, Errors: (await response.json()).errors }))`, values.Encode())
	errs := map[string]string{}
	for _, e := range got.Errors {
		errs[e.Location] = e.Message
	}
	if got.Status != 422 {
		p.Errorf("status = %d, want 422", got.Status)
	}
	checkOutcome(p.T, v, nil, errs)
}
