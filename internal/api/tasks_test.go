package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// exact is JSON that does not survive a float or a map.
const exact = `{"z":9007199254740993,"a":1e400,"m":[-0.10,"<b>"]}`

func waiting() task.Task {
	question := []a2a.Part{a2a.TextPart("Where to?"), a2a.DataPart(json.RawMessage(exact), form.MediaType)}
	return task.Task{
		ID: taskID, RemoteTaskID: "r-1", AgentID: agentID, AgentName: "Deployer", Tenant: "acme", ContextID: "c-1",
		Kind: task.KindTask, State: a2a.StateInputRequired, Title: "Deploy it", Version: 7, CreatedAt: moment, UpdatedAt: moment,
		Messages: []task.Message{
			{ID: "m-1", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("Deploy it")}, At: moment, Version: 1},
			{ID: "m-2", Role: a2a.RoleAgent, Parts: question, At: moment, Version: 7},
		},
		Artifacts: []task.Artifact{{ID: "a-1", Name: "log", Complete: true, Parts: []a2a.Part{
			{Artifact: &a2a.Blob{SHA256: strings.Repeat("0", 64), Size: 3}, MediaType: "image/png", Filename: "p.png"},
			{Artifact: &a2a.Blob{SHA256: strings.Repeat("1", 64), Size: 9, Limit: 8}},
			{URL: "https://example.com"},
			{Unknown: json.RawMessage(`{"hologram":1e400}`)},
		}}},
		Transitions: []task.Transition{{State: a2a.StateInputRequired, At: moment}},
		Question: &task.Question{
			MessageID: "m-2", Prompt: "Where to?", Parts: question,
			Form: &form.Form{Title: "Deploy", SubmitLabel: "Go", Fields: []form.Field{
				{Key: "n", Kind: form.Integer, Label: "N", Required: true, Minimum: "9007199254740993", Default: form.Decimal("1")},
			}},
		},
	}
}

const (
	summaryJSON = `"id": "0197a0e2-0000-7000-8000-000000000002", "remoteTaskId": "r-1",
	"agentId": "0197a0e2-0000-7000-8000-000000000001", "agentName": "Deployer", "tenant": "acme", "contextId": "c-1",
	"kind": "task", "state": "TASK_STATE_INPUT_REQUIRED", "title": "Deploy it", "version": 7,
	"createdAt": "2026-03-01T11:30:00.123Z", "updatedAt": "2026-03-01T11:30:00.123Z"`
	questionParts = `[{"text": "Where to?", "mediaType": "text/plain"},
		{"data": ` + exact + `, "mediaType": "application/vnd.agent-taskbay.form+json"}]`
	restJSON = `"artifacts": [{"artifactId": "a-1", "name": "log", "description": "", "complete": true, "parts": [
			{"artifact": {"sha256": "0000000000000000000000000000000000000000000000000000000000000000", "size": 3},
				"mediaType": "image/png", "filename": "p.png"},
			{"artifact": {"sha256": "1111111111111111111111111111111111111111111111111111111111111111", "size": 9, "limit": 8}},
			{"url": "https://example.com"}, {"hologram": 1e400}]}],
		"transitions": [{"state": "TASK_STATE_INPUT_REQUIRED", "at": "2026-03-01T11:30:00.123Z"}],
		"question": {"messageId": "m-2", "prompt": "Where to?", "parts": ` + questionParts + `, "form": {
			"title": "Deploy", "submitLabel": "Go", "fields": [
				{"key": "n", "kind": "integer", "label": "N", "required": true, "default": 1, "minimum": 9007199254740993}]}}`
	askedJSON = `{"id": "m-2", "role": "agent", "at": "2026-03-01T11:30:00.123Z", "parts": ` + questionParts + `}`
	taskJSON  = `{` + summaryJSON + `, "messages": [
		{"id": "m-1", "role": "user", "at": "2026-03-01T11:30:00.123Z", "parts": [{"text": "Deploy it", "mediaType": "text/plain"}]},
		` + askedJSON + `], ` + restJSON + `}`
)

func TestGetTask(t *testing.T) {
	t.Parallel()
	base := setup(t, &fakes{task: waiting()})
	response, got := call(t, "GET", base+"/api/v1/tasks/"+taskID, "")
	wantJSON(t, response, got, http.StatusOK, taskJSON)
	if !strings.Contains(string(got), exact) {
		t.Errorf("body = %s, want it to hold %s to the byte", got, exact)
	}
}

func TestUnansweredTask(t *testing.T) {
	t.Parallel()
	base := setup(t, &fakes{task: task.Task{
		ID: taskID, Kind: task.KindTask, State: a2a.StateInputRequired, CreatedAt: moment, UpdatedAt: moment,
		Question: &task.Question{MessageID: "m", NotForm: []form.Note{{Path: "/schema", Message: "schema is missing."}}},
	}})
	response, got := call(t, "GET", base+"/api/v1/tasks/"+taskID, "")
	wantJSON(t, response, got, http.StatusOK, `{
		"id": "0197a0e2-0000-7000-8000-000000000002", "remoteTaskId": "", "agentId": "", "agentName": "", "tenant": "",
		"contextId": "", "kind": "task", "state": "TASK_STATE_INPUT_REQUIRED", "title": "", "version": 0,
		"createdAt": "2026-03-01T11:30:00.123Z", "updatedAt": "2026-03-01T11:30:00.123Z",
		"messages": [], "artifacts": [], "transitions": [], "question": {"messageId": "m", "prompt": "", "parts": [],
			"notForm": [{"path": "/schema", "message": "schema is missing."}]}}`)
}

func TestListTasks(t *testing.T) {
	t.Parallel()
	f := &fakes{task: waiting()}
	base := setup(t, f)
	response, got := call(t, "GET", base+"/api/v1/tasks?state=TASK_STATE_WORKING&agentId=a&q=some+text&cursor=c-2&limit=7", "")
	wantJSON(t, response, got, http.StatusOK, `{"items": [{`+summaryJSON+`}], "next": "c-2"}`)
	want := task.Filter{State: a2a.StateWorking, AgentID: "a", Query: "some text", Cursor: "c-2", Limit: 7}
	if diff := cmp.Diff(want, f.filter); diff != "" {
		t.Errorf("filter mismatch (-want +got):\n%s", diff)
	}
	response, got = call(t, "GET", base+"/api/v1/tasks", "")
	wantJSON(t, response, got, http.StatusOK, `{"items": [{`+summaryJSON+`}], "next": null}`)
	if diff := cmp.Diff(task.Filter{Limit: 50}, f.filter); diff != "" {
		t.Errorf("filter without parameters mismatch (-want +got):\n%s", diff)
	}
}

func TestRefreshTask(t *testing.T) {
	t.Parallel()
	base := setup(t, &fakes{task: task.Task{ID: taskID}})
	response, got := call(t, "POST", base+"/api/v1/tasks/"+taskID+"/refresh", "")
	if response.StatusCode != http.StatusAccepted || !strings.Contains(string(got), taskID) {
		t.Errorf("answered with %d %s, want 202 and the task", response.StatusCode, got)
	}
	if response, _ := call(t, "POST", base+"/api/v1/tasks/another/refresh", ""); response.StatusCode != http.StatusNotFound {
		t.Errorf("a task that there is none of was answered with %d, want 404", response.StatusCode)
	}
}
