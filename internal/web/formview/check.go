package formview

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/a-h/templ"

	"github.com/agent-taskbay/taskbay/form"
)

// maxCheck bounds what the check page may post: the definition twice, escaped, and a full form.
const maxCheck = 2*3*form.MaxDefinitionBytes + maxPost

// CheckHandler answers GET and POST of the page on which an author checks a definition: the verdict
// with every reason and all advice, the form as people will see it, and the JSON that it would send.
// Its module asks for the verdict alone, with the query "part=result".
type CheckHandler struct {
	// Render puts a page's body into the frame that every page has.
	Render func(w http.ResponseWriter, r *http.Request, body templ.Component) error
}

// Handle answers a request. An error is a *fault.Error, or one of rendering.
func (h CheckHandler) Handle(w http.ResponseWriter, r *http.Request) error {
	c := check{path: r.URL.Path}
	switch r.Method {
	case http.MethodPost:
		values, err := readForm(w, r, maxCheck)
		if err != nil {
			return err
		}
		c.inspect(values.Get("definition"))
		if values.Has("entered") {
			c.enter(&Post{values: values})
		}
	default:
		c.inspect(sampleNamed(r.URL.Query().Get("sample")))
	}
	if r.URL.Query().Get("part") == "result" {
		return renderPart(w, r, checkResult(c))
	}
	return h.Render(w, r, checkPage(c))
}

// renderPart answers with a fragment, and with nothing unless all of it could be made.
func renderPart(w http.ResponseWriter, r *http.Request, part templ.Component) error {
	var out bytes.Buffer
	if err := part.Render(r.Context(), &out); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = out.WriteTo(w) // a browser that went away is nobody to tell
	return nil
}

// check is the state of the check page.
type check struct {
	path       string // of the page
	definition string
	report     *form.Report // nil while there is nothing to check
	open       Open         // the form, if the definition is accepted
	answer     string       // the JSON that is sent for what stands in it; "" if it is not sent
}

// inspect takes a definition and what its form looks like untouched. White space alone is none.
func (c *check) inspect(definition string) {
	c.definition = definition
	if strings.TrimSpace(definition) == "" {
		return
	}
	report := form.Inspect([]byte(definition))
	c.report = &report
	if !report.Accepted {
		return
	}
	c.open = Open{Form: report.Form, Action: c.path + "#sent", preview: &preview{definition: definition}}
	_ = c.try(report.Form.Initial())
}

// enter takes what a person entered into the form.
func (c *check) enter(post *Post) {
	if c.open.Form == nil {
		return
	}
	c.open.Post = post
	c.open.Errors = c.try(post.Entries(c.open.Form))
}

func (c *check) try(entries form.Entries) form.Errors {
	answer, errs := c.open.Form.Check(entries)
	c.answer = ""
	var indented bytes.Buffer
	if len(errs) == 0 && json.Indent(&indented, answer, "", "  ") == nil {
		c.answer = indented.String()
	}
	return errs
}

// answerText is the answer as the page shows it: with an escape for each character that cannot be seen,
// which leaves it the same JSON.
func (c *check) answerText() string {
	if c.answer == "" {
		return notSent
	}
	var b strings.Builder
	for _, r := range c.answer {
		if r != '\n' && unicode.In(r, unicode.Cf, unicode.Cc, unicode.Zl, unicode.Zp) {
			for _, unit := range utf16.AppendRune(nil, r) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// sample is a definition to start from.
type sample struct {
	name  string
	title string
}

var samples = []sample{
	{"deployment", "A deployment"},
	{"every-kind", "Every kind of field"},
	{"broken", "One with faults"},
}

//go:embed samples/*.json
var sampleFiles embed.FS

// sampleNamed returns a definition to start from, "" if there is none of that name.
func sampleNamed(name string) string {
	for _, s := range samples {
		if s.name == name {
			return s.definition()
		}
	}
	return ""
}

func (s sample) definition() string {
	// What is embedded can be read.
	content, _ := sampleFiles.ReadFile("samples/" + s.name + ".json")
	return string(content)
}
