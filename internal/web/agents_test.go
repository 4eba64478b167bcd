package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

func TestAgentsList(t *testing.T) {
	t.Parallel()
	a := newConsole(t).get(t, "/agents").wants(http.StatusOK)
	var states []string
	for _, n := range a.all(".row .chip") {
		states = append(states, strings.TrimSpace(textOfNode(n)))
	}
	if diff := cmp.Diff([]string{"Reachable", "Not reachable", "New card not accepted"}, states); diff != "" {
		t.Errorf("health mismatch (-want +got):\n%s", diff)
	}
	if got := len(a.all(".row-warning")); got != 1 {
		t.Errorf("%d agents warn of an extension that is required, want 1", got)
	}
}

func TestAgentAdd(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		entered  string
		status   int
		location string
	}{
		"new":      {"https://new.example.com", http.StatusSeeOther, "/agents/new-agent"},
		"known":    {"https://agents.example.com/deploy", http.StatusSeeOther, "/agents/" + formAgent + "?already"},
		"unusable": {"agents.example.com", http.StatusBadRequest, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newConsole(t)
			a := c.post(t, "/agents", url.Values{"cardUrl": {tc.entered}}).wants(tc.status)
			if got := a.header.Get("Location"); got != tc.location {
				t.Errorf("Location = %q, want %q", got, tc.location)
			}
			if tc.location != "" {
				return
			}
			if got := a.attr("#card-url", "value"); got != tc.entered {
				t.Errorf("the field holds %q, want %q kept", got, tc.entered)
			}
			if got := a.text("#card-url-error"); !strings.Contains(got, "http://") {
				t.Errorf("the error says %q, want the reason", got)
			}
		})
	}
}

func TestAgentAlreadyThere(t *testing.T) {
	t.Parallel()
	a := newConsole(t).get(t, "/agents/"+formAgent+"?already").wants(http.StatusOK)
	if got := a.text(".note-info"); !strings.Contains(got, "already here") {
		t.Errorf("note = %q, want that the agent was here", got)
	}
}

func TestAgentShow(t *testing.T) {
	t.Parallel()
	a := newConsole(t).get(t, "/agents/"+formAgent).wants(http.StatusOK)
	for selector, want := range map[string]string{
		"h1":                                     "Deployment desk",
		".interfaces .used":                      "used",
		".extension .chip-done":                  "Understood",
		".extension .chip-unknown":               "Not understood, ignored",
		".findings code":                         "",
		"#card":                                  `{ "name": "Deployment desk", "version": "2.1.0", "limits": { "exact": 1.10 } }`,
		"#start .segmented a[aria-current=page]": "Write a message",
	} {
		if want != "" && a.text(selector) != want {
			t.Errorf("%s = %q, want %q", selector, a.text(selector), want)
		}
	}
	if used := a.all(".interfaces .used"); len(used) != 1 || !strings.Contains(textOfNode(used[0].Parent.Parent), "deploy/a2a") {
		t.Error("the interface that is used is not the one marked so")
	}
	var places []string
	for _, n := range a.all(".findings .finding-place") {
		places = append(places, strings.Join(strings.Fields(textOfNode(n)), " "))
	}
	want := []string{"/skills/0/tags/0 Section 4.4.5", "/skills/1/description Section 4.4.5", "(whole card) Section 4.4.7"}
	if diff := cmp.Diff(want, places); diff != "" {
		t.Errorf("findings are not in the order of their severity (-want +got):\n%s", diff)
	}
}

func TestAgentUnreachable(t *testing.T) {
	t.Parallel()
	a := newConsole(t).get(t, "/agents/"+goneAgent).wants(http.StatusOK)
	if got := a.text(".note-danger"); !strings.Contains(got, "Nothing listens at 127.0.0.1:4999.") || strings.Count(got, "connection refused") != 2 {
		t.Errorf("note = %q, want the reason and both attempts", got)
	}
}

func TestAgentRequiresTheUnknown(t *testing.T) {
	t.Parallel()
	const uri = "https://example.com/extensions/secret-handshake/v1"
	c := newConsole(t)
	for _, address := range []string{"/agents/" + oddAgent, "/tasks/" + plainTask} {
		a := c.get(t, address).wants(http.StatusOK)
		if got := a.text(".composer-warning"); !strings.Contains(got, uri) {
			t.Errorf("%s: beside the composer stands %q, want a warning that names %s", address, got, uri)
		}
	}
}

func TestAgentDiscover(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	a := c.post(t, "/agents/"+goneAgent+"/discover", nil).wants(http.StatusSeeOther)
	if got, want := a.header.Get("Location"), "/agents/"+goneAgent; got != want {
		t.Errorf("Location = %q, want %q", got, want)
	}
	c.post(t, "/agents/nobody/discover", nil).wants(http.StatusNotFound)
}

func TestSkillExample(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	for place, want := range map[string]string{
		"0.1": "Deploy billing, three replicas, but only try it",
		"1.0": "How is the shop?",
		"1.1": "", "9.0": "", "-1.0": "", "0": "", "x.y": "", "": "",
	} {
		a := c.get(t, "/agents/"+formAgent+"?example="+place).wants(http.StatusOK)
		if got := strings.TrimPrefix(textOfNode(a.one("#composer-text")), "\n"); got != want {
			t.Errorf("example %q puts %q into the composer, want %q", place, got, want)
		}
	}
}

func TestStartByText(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	values := url.Values{"text": {"Deploy\r\nthe shop"}, "key": {"key-1"}}
	a := c.post(t, "/agents/"+formAgent+"/tasks", values).wants(http.StatusSeeOther)
	if got := a.header.Get("Location"); got != "/tasks/new-task" {
		t.Errorf("Location = %q, want the new task", got)
	}
	want := []submission{{formAgent, "key-1", command.Body{Text: "Deploy\nthe shop"}}}
	if diff := cmp.Diff(want, c.sent()); diff != "" {
		t.Errorf("submission mismatch (-want +got):\n%s", diff)
	}
	fetched := c.fetch(t, "/agents/"+formAgent+"/tasks", values).wants(http.StatusOK)
	if got, want := fetched.body, `{"location":"/tasks/new-task"}`; got != want {
		t.Errorf("the module got %s, want %s", got, want)
	}
}

func TestStartByTextRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"blank": " \n", "refused": "Deploy the shop"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newConsole(t)
			c.refusal = fault.New(fault.Unprocessable, "Taskbay cannot talk to this agent.")
			a := c.post(t, "/agents/"+formAgent+"/tasks", url.Values{"text": {text}}).wants(http.StatusUnprocessableEntity)
			if got := strings.TrimPrefix(textOfNode(a.one("#composer-text")), "\n"); got != text {
				t.Errorf("the composer holds %q, want %q kept", got, text)
			}
			if a.text("#composer-error") == "" || !a.has("#composer-text[aria-invalid=true]") {
				t.Error("the composer does not say why it was refused")
			}
			if len(c.sent()) != 0 {
				t.Error("something was sent")
			}
		})
	}
}

func TestStartByForm(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	shown := c.get(t, "/agents/"+formAgent+"?start=form").wants(http.StatusOK)
	if !shown.has(`structured-form input[name="f.service"]`) || shown.has("#composer") {
		t.Fatal("the start form does not take the composer's place")
	}
	c.post(t, "/agents/"+formAgent+"/tasks", url.Values{"key": {"key-2"}, "f.service": {"shop"}, "f.priority": {"2"}}).wants(http.StatusSeeOther)
	want := []submission{{formAgent, "key-2", command.Body{
		StartForm: true, Parts: answerParts([]byte(`{"service":"shop","priority":"high"}`)),
	}}}
	if diff := cmp.Diff(want, c.sent()); diff != "" {
		t.Errorf("submission mismatch (-want +got):\n%s", diff)
	}
}

func TestStartByFormRefused(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	values := url.Values{"f.service": {""}, "f.priority": {"0"}}
	a := c.post(t, "/agents/"+formAgent+"/tasks", values).wants(http.StatusUnprocessableEntity)
	if got := a.text("#f-service-error"); got != "Required" {
		t.Errorf("error = %q, want Required", got)
	}
	if !a.has(`input[name="f.priority"][value="0"][checked]`) {
		t.Error("what was chosen is lost")
	}
	fetched := c.fetch(t, "/agents/"+formAgent+"/tasks", values).wants(http.StatusUnprocessableEntity)
	if got, want := fetched.header.Get("Content-Type"), "application/problem+json"; got != want {
		t.Errorf("Content-Type = %q, want %q", got, want)
	}
	if !strings.Contains(fetched.body, `"errors":[{"location":"service","message":"Required"}]`) {
		t.Errorf("the module got %s, want the field's error", fetched.body)
	}
	c.post(t, "/agents/"+oddAgent+"/tasks", values).wants(http.StatusConflict)
}

func TestStartForm(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		params string
		title  string
		notes  bool
	}{
		"valid":    {`{"startForm":` + ticket + `}`, "New ticket", false},
		"rejected": {`{"startForm":{"schema":{"type":"array"}}}`, "", true},
		"none":     {`{}`, "", false},
		"no JSON":  {``, "", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := sampleAgents()[0]
			a.Card.Extensions[0].Params = []byte(tc.params)
			if a.Card.Extensions[0].URI != form.URI {
				t.Fatal("the sample is not the one expected")
			}
			got, notes := startForm(a)
			if title := titleOf(got); title != tc.title || (len(notes) > 0) != tc.notes {
				t.Errorf("startForm = %q with notes %v, want %q, notes: %v", title, notes, tc.title, tc.notes)
			}
		})
	}
}

func titleOf(f *form.Form) string {
	if f == nil {
		return ""
	}
	return f.Title
}
