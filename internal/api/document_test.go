package api

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/httpguard/guardtest"
)

var update = flag.Bool("update", false, "write the golden files anew")

const (
	goldenDocument = "../../docs/openapi.json"
	changelog      = "../../CHANGELOG.md"
)

// get returns what the API answers to a GET.
func get(t *testing.T, path string) (http.Header, []byte) {
	t.Helper()
	w := httptest.NewRecorder()
	New(Config{Door: guardtest.Local(), Log: slog.New(slog.DiscardHandler)}).ServeHTTP(w, localRequest(http.MethodGet, path))
	if w.Code != http.StatusOK {
		t.Fatalf("GET %s: status = %d, want 200", path, w.Code)
	}
	body, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Header(), body
}

// localRequest is a request by a name of this machine.
func localRequest(method, path string) *http.Request {
	r := httptest.NewRequest(method, path, nil)
	r.Host = "localhost"
	return r
}

// versionOf returns the version that a document gives itself.
func versionOf(t *testing.T, document []byte) string {
	t.Helper()
	var d struct{ Info struct{ Version string } }
	if err := json.Unmarshal(document, &d); err != nil {
		t.Fatalf("no document: %v", err)
	}
	return d.Info.Version
}

// TestDocument holds docs/openapi.json to the code. A changed document needs a
// changed Version, and a line about it in the changelog: -update refuses to
// write the one without the other.
func TestDocument(t *testing.T) {
	t.Parallel()
	_, got := get(t, "/api/v1/openapi.json")
	want, err := os.ReadFile(goldenDocument)
	if err != nil && !(*update && os.IsNotExist(err)) {
		t.Fatal(err)
	}
	if *update && !bytes.Equal(got, want) {
		if len(want) > 0 && versionOf(t, want) == Version {
			t.Fatal("the API changed; raise Version and say in CHANGELOG.md what changed, then update again")
		}
		if err := os.WriteFile(goldenDocument, got, 0o644); err != nil {
			t.Fatal(err)
		}
		want = got
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("docs/openapi.json is not what the code says; if that is meant, raise Version and run with -update (-want +got):\n%s", diff)
	}
	history, err := os.ReadFile(changelog)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(history, []byte("API "+Version)) {
		t.Errorf("CHANGELOG.md has no line about API %s", Version)
	}
}

// TestDocumentedShapes holds the types that only describe to the JSON that they
// describe.
func TestDocumentedShapes(t *testing.T) {
	t.Parallel()
	one := 1
	report := form.Report{Accepted: true, Reasons: []form.Note{{}}, Advice: []form.Note{{}}, Form: &form.Form{
		Description: "d", Fields: []form.Field{
			{Kind: form.Text, Description: "d", Default: "", MinLength: &one, MaxLength: &one},
			{Kind: form.Integer, Minimum: "1", Maximum: "2", Options: []form.Option{{}}},
		},
	}}
	tests := map[string]struct {
		value any
		shape reflect.Type
	}{
		"report":      {report, reflect.TypeFor[reportShape]()},
		"note":        {form.Note{}, reflect.TypeFor[noteShape]()},
		"form":        {report.Form, reflect.TypeFor[formShape]()},
		"option":      {form.Option{}, reflect.TypeFor[optionShape]()},
		"input fault": {fault.Field{}, reflect.TypeFor[inputFault]()},
	}
	for name, tc := range tests {
		if diff := cmp.Diff(membersIn(t, tc.value), declared(tc.shape)); diff != "" {
			t.Errorf("%s differs from its description (-JSON +described):\n%s", name, diff)
		}
	}
	fields := append(membersIn(t, report.Form.Fields[0]), membersIn(t, report.Form.Fields[1])...)
	slices.Sort(fields)
	if diff := cmp.Diff(slices.Compact(fields), declared(reflect.TypeFor[fieldShape]())); diff != "" {
		t.Errorf("field differs from its description (-JSON +described):\n%s", diff)
	}
}

func declared(t reflect.Type) []string {
	members, _ := membersOf(t)
	return sortedKeys(members)
}

func membersIn(t *testing.T, value any) []string {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil {
		t.Fatal(err)
	}
	return sortedKeys(object)
}

func TestReferencePage(t *testing.T) {
	t.Parallel()
	header, page := get(t, "/api/v1/docs")
	if got := header.Get("Content-Type"); got != "text/html; charset=utf-8" {
		t.Errorf("Content-Type = %q, want HTML", got)
	}
	text := string(page)
	for _, want := range []string{
		`<h3 id="submit-command"><span class="method">POST</span> <code>/agents/{id}/commands</code></h3>`,
		`Idempotency-Key</code> <span class="required">required</span>`,
		`<h3 id="shape-Form">Form</h3>`,
		`<a href="#shape-Part">array of Part</a>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if found := regexp.MustCompile(`(?i)<script|<style|\sstyle=|\son[a-z]+=|//`).FindString(text); found != "" {
		t.Errorf("the page has %q; it must load nothing from elsewhere and hold nothing inline", found)
	}
	for _, link := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(text, -1) {
		if !strings.Contains(text, `id="`+link[1]+`"`) {
			t.Errorf("the page links to #%s, which is not there", link[1])
		}
	}
	header, _ = get(t, "/api/v1/docs.css")
	if got := header.Get("Content-Type"); got != "text/css; charset=utf-8" {
		t.Errorf("Content-Type of the style = %q, want CSS", got)
	}
}
