package command

import (
	"encoding/json"
	"testing"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/agent"
)

// TestTitleOfAStartForm names a task in the words of the form that started it.
func TestTitleOfAStartForm(t *testing.T) {
	t.Parallel()
	params := `{"startForm":{"title":"Ticket","schema":{"type":"object","properties":{
		"svc":{"type":"string","title":"Service"},
		"prio":{"title":"Priority","enum":["p1","p2"],"enumNames":["Urgent","Can wait"]},
		"dry":{"type":"boolean","title":"Only try it"},"n":{"type":"integer","title":"Replicas"}}}}}`
	a := agent.Agent{Card: agent.Card{Extensions: []agent.Extension{{URI: form.URI, Params: json.RawMessage(params)}}}}
	for answer, want := range map[string]string{
		`{"svc":"billing","prio":"p1","dry":true,"n":3}`: "Service: billing, Priority: Urgent, Only try it: yes, Replicas: 3",
		`{"dry":false}`: "Only try it: no",
		`{"else":"x"}`:  "else: x",
	} {
		body := Body{StartForm: true, Parts: []a2a.Part{a2a.DataPart(json.RawMessage(answer), form.AnswerMediaType)}}
		if got := titleOf(a, body); got != want {
			t.Errorf("title of %s = %q, want %q", answer, got, want)
		}
	}
}
