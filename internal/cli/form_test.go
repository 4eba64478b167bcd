package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/cli"
)

const (
	remarkable = "testdata/remarkable.json" // a form with something of everything
	rejected   = "testdata/rejected.json"
	small      = `{"schema":{"type":"object","required":["n"],"properties":{
		"n":{"type":"integer","maximum":9007199254740993,"default":2},"on":{"type":"boolean"}}}}`
)

func TestFormCheck(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		definition string
		code       int
	}{
		"remarkable.txt": {remarkable, 0},
		"rejected.txt":   {rejected, 1},
	}
	for name, tc := range tests {
		got := taskbay(t, "", "form", "check", tc.definition)
		if got.code != tc.code || got.err != "" {
			t.Errorf("form check %s = %d, %q; want exit code %d", tc.definition, got.code, got.err, tc.code)
		}
		if strings.ContainsAny(got.out, "\x1b\u202e") {
			t.Errorf("form check %s lets the agent steer the terminal: %q", tc.definition, got.out)
		}
		golden(t, name, got.out)
	}
	if got := taskbay(t, small, "form", "check", "-"); got.code != 0 || !strings.Contains(got.out, "standard input: the form is drawn, and there is nothing to remark.") {
		t.Errorf("form check - = %+v, want a clean bill", got)
	}
}

func TestFormCheckJSON(t *testing.T) {
	t.Parallel()
	got := taskbay(t, small, "form", "check", "--json", "-")
	want := result{0, `{"accepted":true,"form":{"title":"Agent request","submitLabel":"Submit","fields":[` +
		`{"key":"n","kind":"integer","label":"n","required":true,"default":2,"maximum":9007199254740993},` +
		`{"key":"on","kind":"boolean","label":"on","required":false}]},"reasons":[],"advice":[]}` + "\n", ""}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(result{})); diff != "" {
		t.Errorf("form check --json mismatch (-want +got):\n%s", diff)
	}
	got = taskbay(t, `{"schema":7,"titel":"x"}`, "form", "check", "--json", "-")
	var report struct {
		Accepted        bool
		Form            any
		Reasons, Advice []struct{ Path, Message string }
	}
	if err := json.Unmarshal([]byte(got.out), &report); err != nil {
		t.Fatalf("form check --json = %+v: %v", got, err)
	}
	if got.code != 1 || report.Accepted || report.Form != nil || len(report.Reasons) != 1 || report.Reasons[0].Path != "/schema" ||
		len(report.Advice) != 1 || report.Advice[0].Path != "/titel" {
		t.Errorf("form check --json = %+v, want exit code 1, a reason at /schema and advice at /titel", got)
	}
}

func TestUnreadableInput(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ content, want string }{
		"no JSON":   {"{\n  \"a\": }", "not JSON: invalid character '}' looking for beginning of value (line 2, column 8)"},
		"empty":     {"", "is not JSON: unexpected end of JSON input"},
		"two":       {"{} {}", "is not JSON"},
		"no text":   {"{\"a\":\"\xff\"}", "is not UTF-8 text"},
		"too large": {strings.Repeat(" ", 16<<20) + "{}", "is over 16 MiB"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, args := range [][]string{{"form", "check", "-"}, {"form", "answer", "-", rejected}, {"form", "answer", file(t, small), "-"}} {
				if got := taskbay(t, tc.content, args...); got.code != 2 || got.out != "" || !strings.Contains(got.err, tc.want) {
					t.Errorf("taskbay %q = %+v, want exit code 2 and %q", args, got, tc.want)
				}
			}
		})
	}
	if got := taskbay(t, "", "form", "check", "/nowhere/at/all"); got.code != 2 || !strings.Contains(got.err, "no such file") {
		t.Errorf("form check of no file = %+v, want exit code 2", got)
	}
}

func TestFormAnswer(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		entered string
		want    result
	}{
		"initial":        {`{}`, result{0, `{"submission":{"n":2,"on":false}}` + "\n", ""}},
		"to the digit":   {`{"n":" 9007199254740993 ","on":true}`, result{0, `{"submission":{"n":9007199254740993,"on":true}}` + "\n", ""}},
		"too much":       {`{"n":"9007199254740994"}`, result{1, `{"errors":{"n":"At most 9007199254740993"}}` + "\n", ""}},
		"cleared":        {`{"n":""}`, result{1, `{"errors":{"n":"Required"}}` + "\n", ""}},
		"nothing chosen": {`{"n":null}`, result{1, `{"errors":{"n":"Required"}}` + "\n", ""}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			definition := file(t, small)
			got := taskbay(t, tc.entered, "form", "answer", "--json", definition, "-")
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(result{})); diff != "" {
				t.Errorf("form answer --json mismatch (-want +got):\n%s", diff)
			}
			people := taskbay(t, tc.entered, "form", "answer", definition, "-")
			var line bytes.Buffer
			if err := json.Compact(&line, []byte(people.out)); err != nil || line.String()+"\n" != tc.want.out || people.code != tc.want.code {
				t.Errorf("form answer = %+v, want the same with line ends", people)
			}
		})
	}
}

func TestFormAnswerUnknownKey(t *testing.T) {
	t.Parallel()
	const definition = `{"schema":{"type":"object","properties":{"replicas":{"type":"integer"}}}}`
	got := taskbay(t, `{"replcas":"3"}`, "form", "answer", "--json", file(t, definition), "-")
	want := result{0, `{"submission":{}}` + "\n",
		"warning: standard input: There is no field \"replcas\", so its entry has no effect. Did you mean \"replicas\"?\n"}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(result{})); diff != "" {
		t.Errorf("form answer mismatch (-want +got):\n%s", diff)
	}
}

// TestByteOrderMark gives files as some editors write them.
func TestByteOrderMark(t *testing.T) {
	t.Parallel()
	const mark = "\uFEFF"
	definition := file(t, mark+small)
	for _, args := range [][]string{
		{"form", "check", definition}, {"form", "check", "-"},
		{"form", "answer", definition, file(t, mark+`{"n":"1"}`)}, {"form", "fill", definition},
	} {
		stdin := mark + small
		if args[1] == "fill" {
			stdin = "1\n\n"
		}
		if got := taskbay(t, stdin, args...); got.code != 0 {
			t.Errorf("taskbay %q = %+v, want exit code 0", args, got)
		}
	}
}

func TestFormAnswerRefused(t *testing.T) {
	t.Parallel()
	for entered, want := range map[string]string{
		`[]`:      "standard input: the entries are an array; they must be an object of texts",
		`{"n":7}`: `standard input: "n": an entry is a text, true, false or null, not a number; write it as it is typed: "7"`,
		`"x"`:     "the entries are a string",
	} {
		if got := taskbay(t, entered, "form", "answer", file(t, small), "-"); got.code != 2 || got.out != "" || !strings.Contains(got.err, want) {
			t.Errorf("form answer with %s = %+v, want exit code 2 and %q", entered, got, want)
		}
	}
	got := taskbay(t, `{}`, "form", "answer", "--json", rejected, "-")
	if got.code != 2 || got.out != "" || !strings.Contains(got.err, "the form is rejected.\n\nReasons\n  /schema/properties/a/type ") {
		t.Errorf("form answer of a rejected definition = %+v, want exit code 2 and the reasons", got)
	}
}

func TestFormFillByLine(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		typed string
		want  string
	}{
		"answers":       {"1\n5\n2\nhello\nworld\n.\nme\ny\n", `{"env":"staging","replicas":5,"same":"b","note":"hello\nworld","name":"me","dry":true}`},
		"left alone":    {"2\n\n\n.\n\n\n", `{"env":"production","replicas":2,"name":"x","dry":false}`},
		"cleared":       {"2\n\n0\n\"\"\n.\n\"\"\nno\n", `{"env":"production","replicas":2,"dry":false}`},
		"by text":       {"staging\n5\nB\n.\n\n\n", `{"env":"staging","replicas":5,"same":"b","name":"x","dry":false}`},
		"by label":      {"perhaps\nSTAGING\n5\nOne\none \"B\"\n.\n\n\n", `{"env":"staging","replicas":5,"same":"b","name":"x","dry":false}`},
		"asked again":   {"\n3\n1\n11\nx\n10\n9\n0\n.\n \nperhaps\nTRUE\n", `{"env":"staging","replicas":10,"name":" ","dry":true}`},
		"Windows lines": {"1\r\n\r\n\r\na\r\n\r\nb\r\n.\r\n\r\n\r\n", `{"env":"staging","replicas":2,"note":"a\n\nb","name":"x","dry":false}`},
		"no last end":   {"1\n\n\n.\n\ny", `{"env":"staging","replicas":2,"name":"x","dry":true}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := taskbay(t, tc.typed, "form", "fill", remarkable)
			if got.code != 0 || got.out != tc.want+"\n" {
				t.Errorf("form fill = %d, %s; want %s\n%s", got.code, got.out, tc.want, got.err)
			}
			if strings.ContainsAny(got.err, "\x1b\u202e") {
				t.Errorf("form fill lets the agent steer the terminal: %q", got.err)
			}
		})
	}
}

// TestFormFillMessages shows a whole conversation, with the messages of the
// checks.
func TestFormFillMessages(t *testing.T) {
	t.Parallel()
	got := taskbay(t, "\n0\n3\n1\n11\n1.5\nx\n\n1\n.\n\nperhaps\n\n", "form", "fill", remarkable)
	if got.code != 0 {
		t.Errorf("form fill = %+v, want exit code 0", got)
	}
	golden(t, "fill.txt", got.err)
}

// TestFormFillNumbersAsOptions has options that read like the numbers of others.
func TestFormFillNumbersAsOptions(t *testing.T) {
	t.Parallel()
	definition := file(t, `{"schema":{"type":"object","required":["n"],"properties":{"n":{"enum":["2","1","30","A","a"],"enumNames":["x","y","z","v","w"]}}}}`)
	for typed, want := range map[string]string{"1\n": "2", "2\n": "1", "30\n": "30", "a\n": "a", "A\n": "A", "V\n": "A"} {
		if got := taskbay(t, typed, "form", "fill", definition); got.code != 0 || got.out != `{"n":"`+want+`"}`+"\n" {
			t.Errorf("form fill with %q = %+v, want %s", typed, got, want)
		}
	}
	twins := file(t, `{"schema":{"type":"object","required":["n"],"properties":{"n":{"enum":["Yes","YES"]}}}}`)
	if got := taskbay(t, "yes\n2\n", "form", "fill", twins); !strings.Contains(got.err, "\nMore than one option reads like that; enter its number\n") || got.out != `{"n":"YES"}`+"\n" {
		t.Errorf("form fill with what two options read like = %+v, want it asked again", got)
	}
}

func TestFormFillEnds(t *testing.T) {
	t.Parallel()
	if got := taskbay(t, "1\n", "form", "fill", remarkable); got.code != 1 || got.out != "" || !strings.Contains(got.err, "the input ended before") {
		t.Errorf("form fill with too little = %+v, want exit code 1 and nothing printed", got)
	}
	if got := taskbay(t, "", "form", "fill", rejected); got.code != 1 || got.out != "" || !strings.Contains(got.err, "Reasons") {
		t.Errorf("form fill of a rejected definition = %+v, want exit code 1 and the reasons", got)
	}
	reader, writer, err := os.Pipe() // a person who types nothing
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = reader.Close(), writer.Close() })
	var out, errs bytes.Buffer
	if code := cli.Run(canceled(), []string{"form", "fill", remarkable}, cli.Streams{In: reader, Out: &out, Err: &errs}); code != 130 || out.Len() > 0 {
		t.Errorf("form fill after Ctrl-C = %d, %q, %q; want exit code 130 and nothing printed", code, &out, &errs)
	}
}
