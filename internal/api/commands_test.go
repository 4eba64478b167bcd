package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/command"
)

func sent(status command.Status, problem string) command.Command {
	return command.Command{
		ID: commandID, AgentID: agentID, TaskID: taskID, Action: command.Send, MessageID: "m-1",
		Status: status, Error: problem, CreatedAt: moment, UpdatedAt: moment,
	}
}

const sentJSON = `"id": "0197a0e2-0000-7000-8000-000000000003", "agentId": "0197a0e2-0000-7000-8000-000000000001",
	"taskId": "0197a0e2-0000-7000-8000-000000000002", "action": "send", "messageId": "m-1",
	"createdAt": "2026-03-01T11:30:00.123Z", "updatedAt": "2026-03-01T11:30:00.123Z"`

func TestSubmitCommand(t *testing.T) {
	t.Parallel()
	five := 5
	tests := map[string]struct {
		body string
		want command.Body
	}{
		"text": {
			`{"text":"Deploy it"}`,
			command.Body{Text: "Deploy it", Parts: []a2a.Part{}},
		},
		"cancel": {
			`{"action":"cancel","taskId":"` + taskID + `"}`,
			command.Body{Action: command.Cancel, TaskID: taskID, Parts: []a2a.Part{}},
		},
		"null is as good as absent": {
			`{"action":null,"text":"x","parts":null,"config":null}`,
			command.Body{Text: "x", Parts: []a2a.Part{}},
		},
		"parts of every kind": {
			`{"parts":[{"text":""},{"url":"https://example.com/a","filename":"a"},{"data":null,"metadata":{"k":1}}]}`,
			command.Body{Parts: []a2a.Part{
				{Text: new(string)},
				{URL: "https://example.com/a", Filename: "a"},
				{Data: json.RawMessage(`null`), Metadata: json.RawMessage(`{"k":1}`)},
			}},
		},
		"data to the digit, in order": {
			`{"parts":[{"data":{"z":9007199254740993,"a":1e400,"m":-0.10},"mediaType":"application/json"}],"answers":"q-1"}`,
			command.Body{Answers: "q-1", Parts: []a2a.Part{{
				Data: json.RawMessage(`{"z":9007199254740993,"a":1e400,"m":-0.10}`), MediaType: "application/json",
			}}},
		},
		"everything else": {
			`{"action":"send","text":"x","taskId":"t","contextId":"c","tenant":"n","messageId":"m","config":{"historyLength":5,` +
				`"acceptedOutputModes":["text/plain"],"referenceTaskIds":["r"],"extensions":["urn:e"],"metadata":{"n":1e400}}}`,
			command.Body{
				Action: command.Send, Text: "x", TaskID: "t", ContextID: "c", Tenant: "n", MessageID: "m", Parts: []a2a.Part{},
				Config: command.Config{
					HistoryLength: &five, AcceptedOutputModes: []string{"text/plain"}, ReferenceTaskIDs: []string{"r"},
					Extensions: []string{"urn:e"}, Metadata: json.RawMessage(`{"n":1e400}`),
				},
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fakes{command: sent(command.Pending, "")}
			base := setup(t, f)
			response, got := call(t, "POST", base+"/api/v1/agents/"+agentID+"/commands", tc.body, "Idempotency-Key: k-1")
			wantJSON(t, response, got, http.StatusAccepted, `{`+sentJSON+`, "status": "pending"}`)
			if location := response.Header.Get("Location"); location != "/api/v1/commands/"+commandID {
				t.Errorf("Location = %q, want that of the command", location)
			}
			if diff := cmp.Diff([]submission{{agentID, "k-1", tc.want}}, f.submitted); diff != "" {
				t.Errorf("submitted mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRefusedCommand(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ body, location string }{
		"nothing to send":      {`{}`, "/text"},
		"unknown action":       {`{"action":"dance"}`, "/action"},
		"cancel of nothing":    {`{"action":"cancel"}`, "/taskId"},
		"part of no kind":      {`{"parts":[{"text":"a"},{"mediaType":"text/plain"}]}`, "/parts/1"},
		"part of two kinds":    {`{"parts":[{"text":"a","data":1}]}`, "/parts/0"},
		"empty address":        {`{"parts":[{"url":""}]}`, "/parts/0"},
		"metadata no object":   {`{"parts":[{"text":"a","metadata":[]}]}`, "/parts/0"},
		"negative history":     {`{"text":"a","config":{"historyLength":-1}}`, "/config/historyLength"},
		"request metadata":     {`{"text":"a","config":{"metadata":"x"}}`, "/config/metadata"},
		"unknown member":       {`{"text":"a","sparkle":1}`, "/sparkle"},
		"letter case":          {`{"Text":"a"}`, "/Text"},
		"unknown deep down":    {`{"parts":[{"text":"a"},{"txt":"b"}]}`, "/parts/1/txt"},
		"pointer escapes":      {`{"a/b~c":1}`, "/a~1b~0c"},
		"number for a text":    {`{"text":42}`, "/text"},
		"object for an array":  {`{"parts":{}}`, "/parts"},
		"text for a part":      {`{"parts":["a"]}`, "/parts/0"},
		"array for an object":  {`{"text":"a","config":[]}`, "/config"},
		"fraction for a count": {`{"text":"a","config":{"historyLength":1.5}}`, "/config/historyLength"},
		"number among texts":   {`{"text":"a","config":{"extensions":["urn:a",7]}}`, "/config/extensions/1"},
	}
	f := &fakes{command: sent(command.Pending, "")}
	base := setup(t, f)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			response, got := call(t, "POST", base+"/api/v1/agents/"+agentID+"/commands", tc.body, "Idempotency-Key: k")
			p := wantProblem(t, response, got, http.StatusBadRequest)
			if len(p.Errors) != 1 || p.Errors[0].Location != tc.location || p.Errors[0].Message == "" {
				t.Errorf("errors = %v, want one at %s", p.Errors, tc.location)
			}
		})
	}
	if len(f.submitted) > 0 {
		t.Errorf("submitted = %v, want nothing", f.submitted)
	}
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	base := setup(t, &fakes{command: sent(command.Pending, "")})
	url := base + "/api/v1/agents/" + agentID + "/commands"
	for name, header := range map[string]string{
		"missing":  "X-Other: 1",
		"empty":    "Idempotency-Key: ",
		"too long": "Idempotency-Key: " + strings.Repeat("k", 256),
	} {
		response, got := call(t, "POST", url, `{"text":"a"}`, header)
		p := wantProblem(t, response, got, http.StatusBadRequest)
		if len(p.Errors) != 1 || p.Errors[0].Location != "header.Idempotency-Key" {
			t.Errorf("%s key: errors = %v, want one at header.Idempotency-Key", name, p.Errors)
		}
	}
	response, got := call(t, "POST", url, `{"text":"a"}`, "Idempotency-Key: "+strings.Repeat("k", 255))
	if response.StatusCode != http.StatusAccepted {
		t.Errorf("status with 255 characters = %d, want 202; body %s", response.StatusCode, got)
	}
}

func TestGetCommand(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		command command.Command
		want    string
	}{
		"succeeded": {sent(command.Succeeded, ""), `"status": "succeeded", "result": {"taskId": "` + taskID + `"}`},
		"uncertain": {sent(command.Uncertain, "The connection broke."), `"status": "uncertain", "error": "The connection broke."`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fakes{command: tc.command}
			base := setup(t, f)
			response, got := call(t, "GET", base+"/api/v1/commands/"+commandID, "")
			wantJSON(t, response, got, http.StatusOK, `{`+sentJSON+`, `+tc.want+`}`)
			if f.waited != 0 {
				t.Errorf("waited %v, want no wait unless asked for", f.waited)
			}
			response, got = call(t, "GET", base+"/api/v1/commands/"+commandID+"?wait=60", "")
			wantJSON(t, response, got, http.StatusOK, `{`+sentJSON+`, `+tc.want+`}`)
			if f.waited != time.Minute {
				t.Errorf("waited %v, want 1m", f.waited)
			}
		})
	}
}

func TestResendCommand(t *testing.T) {
	t.Parallel()
	base := setup(t, &fakes{command: sent(command.Pending, "")})
	response, got := call(t, "POST", base+"/api/v1/commands/"+commandID+"/resend", "")
	if response.StatusCode != http.StatusAccepted || !strings.Contains(string(got), `"pending"`) {
		t.Errorf("answered with %d %s, want 202 and the command", response.StatusCode, got)
	}
	if response, _ := call(t, "POST", base+"/api/v1/commands/another/resend", ""); response.StatusCode != http.StatusNotFound {
		t.Errorf("a command that there is none of was answered with %d, want 404", response.StatusCode)
	}
}
