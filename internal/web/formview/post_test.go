package formview

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

func mustParse(t testing.TB, definition string) *form.Form {
	t.Helper()
	f, err := form.Parse([]byte(definition))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// readPost sends values through a request.
func readPost(t *testing.T, values url.Values) Post {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/answer", strings.NewReader(values.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	post, err := ReadPost(httptest.NewRecorder(), r)
	if err != nil {
		t.Fatal(err)
	}
	return post
}

func TestPostEntries(t *testing.T) {
	t.Parallel()
	f := mustParse(t, `{"schema":{"type":"object","properties":{
		"text":{"type":"string"},"count":{"type":"integer"},"ok":{"type":"boolean"},
		"pick":{"enum":["","a","a\r\nb"]}}}}`)
	tests := map[string]struct {
		posted url.Values
		want   form.Entries
	}{
		"nothing": {
			url.Values{},
			form.Entries{"text": form.Typed(""), "count": form.Typed(""), "ok": form.Ticked(false), "pick": {}},
		},
		"everything": {
			url.Values{"f.text": {" a\r\nb "}, "f.count": {" 1e3"}, "f.ok": {"on"}, "f.pick": {"2"}, "f.else": {"x"}},
			form.Entries{"text": form.Typed(" a\r\nb "), "count": form.Typed(" 1e3"), "ok": form.Ticked(true), "pick": form.Chosen("a\r\nb")},
		},
		"the empty option is not no choice": {
			url.Values{"f.pick": {"0"}},
			form.Entries{"text": form.Typed(""), "count": form.Typed(""), "ok": form.Ticked(false), "pick": form.Chosen("")},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, readPost(t, tc.posted).Entries(f)); diff != "" {
				t.Errorf("Entries() mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPostOfNoOption(t *testing.T) {
	t.Parallel()
	f := mustParse(t, `{"schema":{"type":"object","properties":{"pick":{"enum":["0","1"]}}}}`)
	for _, posted := range []string{"2", "-1", "a", "1.0", " 1", "99999999999999999999"} {
		_, errs := f.Check(readPost(t, url.Values{"f.pick": {posted}}).Entries(f))
		if got := errs.Get("pick"); got != "Choose one of the options" {
			t.Errorf("posted %q: error = %q, want that it is no option", posted, got)
		}
	}
}

func TestReadPostRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		body string
		want fault.Kind
	}{
		"too large":  {"f.v=" + strings.Repeat("x", maxPost), fault.TooLarge},
		"not a form": {"f.v=%zz", fault.Invalid},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodPost, "/answer", strings.NewReader(tc.body))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			_, err := ReadPost(httptest.NewRecorder(), r)
			if got := fault.KindOf(err); got != tc.want {
				t.Errorf("ReadPost() error = %v, want %s", err, tc.want)
			}
		})
	}
}

// The largest form there is fits: all fields full of characters of four bytes.
func TestReadPostTakesTheLargestForm(t *testing.T) {
	t.Parallel()
	values := url.Values{"key": {"k"}, "question": {"q"}}
	for i := range form.MaxFields {
		values.Set("f."+strings.Repeat("k", 60)+strconv.Itoa(i), strings.Repeat("😀", form.MaxText))
	}
	post := readPost(t, values)
	if post.Key != "k" || post.Question != "q" {
		t.Errorf("post = %q, %q, want the key and the question", post.Key, post.Question)
	}
}

// vector is one case of the form package's test data.
type vector struct {
	Name       string
	Definition json.RawMessage
	Typed      form.Entries
	Entered    form.Entries
	Rejected   bool
	Submission json.RawMessage
	Errors     map[string]string
}

func vectors(t *testing.T) []vector {
	t.Helper()
	var drawn []vector
	for _, file := range []string{"submissions.json", "reported.json"} {
		data, err := os.ReadFile(filepath.Join("../../../form/testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		var all []vector
		if err := json.Unmarshal(data, &all); err != nil {
			t.Fatal(err)
		}
		for _, v := range all {
			if !v.Rejected {
				drawn = append(drawn, v)
			}
		}
	}
	return drawn
}

// A plain POST says the same as the entries that it is made of.
func TestPostVectors(t *testing.T) {
	t.Parallel()
	for _, v := range vectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			f := mustParse(t, string(v.Definition))
			entries := v.Typed
			if entries == nil {
				entries = f.Initial().With(v.Entered)
			}
			wantAnswer, wantErrs := f.Check(entries)
			answer, errs := f.Check(readPost(t, posted(f, entries)).Entries(f))
			if diff := cmp.Diff(string(wantAnswer), string(answer)); diff != "" {
				t.Errorf("answer mismatch (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(wantErrs, errs); diff != "" {
				t.Errorf("errors mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// browserLines makes line ends what browsers make of them.
var browserLines = strings.NewReplacer("\r\n", "\r\n", "\r", "\r\n", "\n", "\r\n")

// posted is what a browser posts for entries.
func posted(f *form.Form, entries form.Entries) url.Values {
	values := url.Values{"f.undeclared": {"x"}}
	for i := range f.Fields {
		field := &f.Fields[i]
		entry := entries[field.Key]
		switch {
		case field.Kind == form.Boolean && entry.On():
			values.Set(controlName(field), "on")
		case field.Kind == form.Choice && !entry.IsNone():
			values.Set(controlName(field), "no option")
			if at := indexOf(field, entry); at >= 0 {
				values.Set(controlName(field), strconv.Itoa(at))
			}
			if _, offersEmpty := field.OptionLabel(""); entry.Text() == "" && !offersEmpty {
				values.Set(controlName(field), "")
			}
		case field.Kind != form.Boolean && field.Kind != form.Choice:
			values.Set(controlName(field), browserLines.Replace(entry.Text()))
		}
	}
	return values
}
