package docs_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
)

// The addresses in the examples; a test runs them with its own.
const (
	documentedConsole = "http://127.0.0.1:3002"
	documentedAgents  = "http://127.0.0.1:4010"
)

// example is a command of the page, what it answers there, and the values that
// the page says to keep of it.
type example struct {
	command string
	kind    string // of the answer: json, http with status and headers, or text with events
	answer  string
	keep    map[string]string // paths in the answer, by the variable's name
}

// TestAPIExamples runs every example of docs/api.md, one after the other, and
// compares what is answered with what the page says.
func TestAPIExamples(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Options{SampleAgents: true})
	for _, variant := range []string{"form", "plain", "invalid", "kitchen-sink", "slow", "unknown"} {
		s.SampleAgent(variant)
	}
	r := runner{
		Server:    s,
		addresses: strings.NewReplacer(documentedConsole, s.URL(), documentedAgents, strings.TrimSuffix(s.SampleCardURL("form"), "/form/card.json")),
		reverse:   strings.NewReplacer(s.URL(), documentedConsole, strings.TrimSuffix(s.SampleCardURL("form"), "/form/card.json"), documentedAgents),
		kept:      make(map[string]string),
		curlHome:  t.TempDir(),
	}
	if err := os.WriteFile(filepath.Join(r.curlHome, ".curlrc"), []byte(curlConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, e := range readExamples(t) {
		if !r.run(t, e) {
			return // what follows needs it
		}
	}
}

// TestAPIPageIsWhole wants every operation of the API to have an example.
func TestAPIPageIsWhole(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var described struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(raw, &described); err != nil {
		t.Fatal(err)
	}
	api := readPage(t, "docs/api.md")
	var headings []string
	api.each(func(n ast.Node) {
		if n.Kind() == ast.KindHeading {
			headings = append(headings, api.text(n))
		}
	})
	for path, item := range described.Paths {
		for method := range item {
			heading := fmt.Sprintf("`%s /api/v1%s`", strings.ToUpper(method), path)
			if !slices.Contains(headings, heading) {
				t.Errorf("docs/api.md has no heading %s", heading)
			}
		}
	}
}

// keeping finds what to keep of an answer: "Keep `id` as `AGENT`".
var keeping = regexp.MustCompile("`([A-Za-z0-9.]+)` as `([A-Z]+)`")

func readExamples(t *testing.T) []example {
	t.Helper()
	api := readPage(t, "docs/api.md")
	var all []example
	api.each(func(n ast.Node) {
		last := len(all) - 1
		switch n := n.(type) {
		case *ast.FencedCodeBlock:
			if language := string(n.Language(api.source)); language == "sh" {
				all = append(all, example{command: api.code(n), keep: make(map[string]string)})
			} else if last >= 0 && all[last].answer == "" {
				all[last].kind, all[last].answer = language, api.code(n)
			}
		case *ast.Paragraph:
			for _, match := range keeping.FindAllStringSubmatch(api.text(n), -1) {
				all[last].keep[match[2]] = match[1]
			}
		}
	})
	for _, e := range all {
		if e.answer == "" {
			t.Fatalf("the example has no answer:\n%s", e.command)
		}
	}
	return all
}

// runner runs examples against a server.
type runner struct {
	*apptest.Server
	addresses, reverse *strings.Replacer
	kept               map[string]string
	curlHome           string
}

// run reports whether the example holds. What only reads is asked again until it
// does: an agent takes its time.
func (r *runner) run(t *testing.T, e example) bool {
	t.Helper()
	var answer, difference string
	attempt := func() bool {
		answer = r.ask(t, e)
		difference = differs(e.answer, answer)
		return difference == ""
	}
	if reads(e.command) {
		r.Eventually("the answer that docs/api.md has to\n"+e.command, func() bool {
			before := difference
			held := attempt()
			if !held && difference != before {
				t.Log(difference)
			}
			return held
		})
	} else if !attempt() {
		t.Errorf("docs/api.md:\n%s\n%s\nIt was answered:\n%s", e.command, difference, answer)
		return false
	}
	for name, path := range e.keep {
		r.kept[name] = member(t, body(answer), path)
	}
	return true
}

// ask runs the command in a shell and returns the answer in the form of the example's.
func (r *runner) ask(t *testing.T, e example) string {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context()) // which ends a stream
	command := exec.CommandContext(ctx, "sh", "-c", "exec "+r.addresses.Replace(e.command))
	command.Env = append(os.Environ(), "CURL_HOME="+r.curlHome)
	for name, value := range r.kept {
		command.Env = append(command.Env, name+"="+value)
	}
	var complaints bytes.Buffer
	command.Stderr = &complaints
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		stop()
		_ = command.Wait() // what it says is looked at below
	}()
	lines := textproto.NewReader(bufio.NewReader(out))
	status, err := lines.ReadLine()
	if err != nil {
		stop()
		_ = command.Wait()
		t.Fatalf("%s\nsays nothing (the examples need curl, of 2022 or later): %s", e.command, &complaints)
	}
	header, err := lines.ReadMIMEHeader()
	if err != nil {
		t.Fatalf("%s: %v", e.command, err)
	}
	var content string
	if e.kind == "text" {
		content = readEvent(t, lines.R)
	} else {
		raw, err := io.ReadAll(lines.R)
		if err != nil {
			t.Fatalf("%s: %v", e.command, err)
		}
		content = string(raw)
	}
	if e.kind == "http" {
		content = status + "\n" + headers(e.answer, http.Header(header)) + "\n" + content
	} else if !strings.HasPrefix(status, "HTTP/1.1 200 ") {
		t.Fatalf("%s\nwas answered %s: %s", e.command, status, content)
	}
	return r.reverse.Replace(content)
}

// curlConfig has curl tell the status and the headers of every answer, and nothing of
// itself.
const curlConfig = "include\nsilent\nshow-error\nmax-time = 120\n"

// reads reports whether a command only reads: curl writes with --json and -X.
func reads(command string) bool {
	return !strings.Contains(command, " --json ") && !strings.Contains(command, " -X ")
}

// readEvent reads the first event of a stream.
func readEvent(t *testing.T, stream io.Reader) string {
	t.Helper()
	var event strings.Builder
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if lines.Text() == "" && event.Len() > 0 {
			return event.String()
		}
		if lines.Text() != "" && !strings.HasPrefix(lines.Text(), ":") {
			event.WriteString(lines.Text() + "\n")
		}
	}
	t.Fatalf("the stream ended before an event: %v", lines.Err())
	return ""
}

// headers returns those headers that the example names.
func headers(answer string, all http.Header) string {
	var out strings.Builder
	head, _, _ := strings.Cut(answer, "\n\n")
	for _, line := range strings.Split(head, "\n")[1:] {
		name, _, _ := strings.Cut(line, ":")
		out.WriteString(name + ": " + all.Get(name) + "\n")
	}
	return out.String()
}

// member returns the text at a path of names, and of places in arrays, in JSON.
func member(t *testing.T, content, path string) string {
	t.Helper()
	raw := json.RawMessage(content)
	for _, name := range strings.Split(path, ".") {
		var object map[string]json.RawMessage
		var list []json.RawMessage
		if i, err := strconv.Atoi(name); err == nil && json.Unmarshal(raw, &list) == nil && i < len(list) {
			raw = list[i]
		} else if err := json.Unmarshal(raw, &object); err == nil {
			raw = object[name]
		} else {
			t.Fatalf("%s in %s: %v", path, content, err)
		}
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		t.Fatalf("%s in %s: %v", path, content, err)
	}
	return text
}
