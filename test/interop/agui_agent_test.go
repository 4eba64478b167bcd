package interop

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/app/apptest"
)

// TestAGUIWithAJSAgent has official software at both ends of the console: the AG-UI
// clients before it, and an agent on the official JavaScript SDK behind it.
func TestAGUIWithAJSAgent(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Options{})
	id := s.Register(startJSAgent(t).card).ID
	for _, line := range aguiLines {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			p := startAGUIClient(t, line)
			for name, test := range map[string]func(*testing.T, *apptest.Server, *aguiProgram, string){
				"the main job":                     aguiMainJob,
				"files in and out":                 aguiFiles,
				"an active run, and a cancel":      aguiCancel,
				"two people with the same thread":  aguiPeople,
				"people who may not start a thing": aguiReaders,
			} {
				t.Run(name, func(t *testing.T) { test(t, s.For(t), p, id) })
			}
		})
	}
}

func aguiMainJob(t *testing.T, s *apptest.Server, p *aguiProgram, agentID string) {
	a := p.agent(t, s, agentID, "")
	if r := a.say("message"); r.outcome() != "success" || strings.Join(r.texts("assistant"), "|") != "no task needed" {
		t.Errorf("a message without a task ended with %s: %q", r.outcome(), r.texts("assistant"))
	}
	asked := a.say("Deploy the billing service")
	if asked.outcome() != "interrupt" || asked.Pending[0].Metadata.Form.Title != "Deployment" {
		t.Fatalf("the run ended with %s: %+v", asked.outcome(), asked.Pending)
	}
	done := a.answer(asked.Pending[0], "resolved", map[string]any{"environment": "production", "replicas": 3, "dryRun": false})
	all := strings.Join(done.texts("assistant"), "|")
	if done.outcome() != "success" || !strings.Contains(all, "Checking out.\nBuilding.\nRolling out.\n") || !strings.Contains(all, "Deploying 3 replica(s) to production.") {
		t.Errorf("the answer brought %s: %q", done.outcome(), all)
	}
}

// aguiFiles sends a file, which the agent sends back. It goes by its address alone, and
// that gives the very bytes.
func aguiFiles(t *testing.T, s *apptest.Server, p *aguiProgram, agentID string) {
	const file = "name,sum\nbilling,12\n"
	encoded := base64.StdEncoding.EncodeToString([]byte(file))
	document := map[string]any{
		"type": "document", "source": map[string]any{"type": "data", "value": encoded, "mimeType": "text/csv"},
		"metadata": map[string]any{"filename": "sums.csv"},
	}
	if p.legacy {
		document = map[string]any{"type": "binary", "mimeType": "text/csv", "data": encoded, "filename": "sums.csv"}
	}
	r := p.agent(t, s, agentID, "").say([]any{map[string]any{"type": "text", "text": "return"}, document})
	if r.outcome() != "success" || r.warned() {
		t.Fatalf("the run ended with %s: %v", r.outcome(), r.types())
	}
	var artifact struct {
		Name  string
		Parts []struct{ URL, MediaType, Filename string }
	}
	for _, m := range r.Messages {
		if m.ActivityType == "a2a.artifact" {
			if err := json.Unmarshal(m.Content, &artifact); err != nil {
				t.Fatal(err)
			}
		}
		if m.Role != "user" && strings.Contains(string(m.Content), encoded) {
			t.Errorf("bytes are in the message %s", m.Content)
		}
	}
	if len(artifact.Parts) != 1 || artifact.Parts[0].MediaType != "text/csv" || artifact.Parts[0].Filename != "sums.csv" {
		t.Fatalf("the artifact is %+v", artifact)
	}
	content, err := io.ReadAll(do(t, mustRequest(t, artifact.Parts[0].URL)))
	if err != nil || string(content) != file {
		t.Errorf("its address gives %q: %v", content, err)
	}
}

func mustRequest(t *testing.T, url string) *http.Request {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return request
}

// aguiCancel has a run go on that its client has left: the thread takes no other one
// until it is canceled by its address.
func aguiCancel(t *testing.T, s *apptest.Server, p *aguiProgram, agentID string) {
	a := p.agent(t, s, agentID, "")
	params := says("work")
	runID := "run/of " + a.ThreadID // of the client's own making
	params["runId"], params["abortOn"] = runID, "STATE_SNAPSHOT"
	left := <-a.start(params)
	s.TaskIn(left.State.A2A.TaskID, "TASK_STATE_WORKING")

	if refused := <-p.agent(t, s, agentID, a.ThreadID).start(says("And now?")); refused.Status != http.StatusConflict || refused.Payload.Code != "run_active" {
		t.Errorf("another run of the thread was answered %d %+v", refused.Status, refused.Payload)
	}
	b := p.agent(t, s, agentID, a.ThreadID)
	delete(params, "abortOn")
	ends := b.start(params)
	var canceled struct{ RunID, TaskID string }
	status := s.Call("POST", "/api/v1/agents/"+agentID+"/ag-ui/runs/"+strings.NewReplacer("/", "%2F", " ", "%20").Replace(runID)+"/cancel", nil, &canceled)
	if status != http.StatusAccepted || canceled.RunID != runID || canceled.TaskID != left.State.A2A.TaskID {
		t.Fatalf("the cancel was answered %d %+v", status, canceled)
	}
	if r := <-ends; r.outcome() != "cancelled" || r.State.A2A.TaskState != "TASK_STATE_CANCELED" {
		t.Errorf("the run ended with %s in %s: %s", r.outcome(), r.State.A2A.TaskState, r.Rejected)
	}
	if r := p.agent(t, s, agentID, a.ThreadID).say("report"); r.outcome() != "success" {
		t.Errorf("the run after it ended with %s", r.outcome())
	}
}

// aguiPeople has two people with one thread ID and one run ID: neither finds, follows or
// cancels what the other one does.
func aguiPeople(t *testing.T, s *apptest.Server, p *aguiProgram, agentID string) {
	thread, run := uuid.NewString(), uuid.NewString()
	token := func(who string) string {
		return s.ServiceToken(who+" "+thread, access.Operator, access.ScopeOperate, agentID)
	}
	one, other := token("One"), token("Another")
	says := func(text string) map[string]any {
		params := says(text)
		params["runId"] = run
		return params
	}
	asked := p.agentOf(t, s, agentID, thread, one).run(says("Deploy the secret service"))
	if asked.outcome() != "interrupt" {
		t.Fatalf("the run ended with %s", asked.outcome())
	}
	stranger := p.agentOf(t, s, agentID, thread, other)
	if r := stranger.run(nil); r.outcome() != "success" || len(r.Messages) != 0 {
		t.Errorf("somebody else's thread shows %+v", r.Messages)
	}
	if r := stranger.answer(asked.Pending[0], "resolved", map[string]any{"environment": "staging", "replicas": 2}); len(r.Messages) != 0 || !r.warned() {
		t.Errorf("an answer to somebody else's question brought %s: %+v", r.outcome(), r.Messages)
	}
	cancel := "/api/v1/agents/" + agentID + "/ag-ui/runs/" + run + "/cancel?threadId=" + thread
	if status := s.Call("POST", cancel, nil, nil, "Authorization", "Bearer "+other); status != http.StatusNotFound {
		t.Errorf("the cancel of somebody else's run was answered %d", status)
	}
	own := stranger.run(says("report"))
	if own.outcome() != "success" || len(own.texts("user")) != 1 || own.State.A2A.ContextID == asked.State.A2A.ContextID {
		t.Errorf("the same run of another one ended with %s: %+v", own.outcome(), own.Messages)
	}
	if r := p.agentOf(t, s, agentID, thread, one).run(nil); r.outcome() != "interrupt" || r.Pending[0].ID != asked.Pending[0].ID {
		t.Errorf("the first one's thread is now at %s", r.outcome())
	}
}

// aguiReaders has people who may see an agent and start nothing, and one who may not
// see it.
func aguiReaders(t *testing.T, s *apptest.Server, p *aguiProgram, agentID string) {
	suffix := " " + uuid.NewString()
	for who, want := range map[string]struct {
		token  string
		status int
		code   string
	}{
		"a viewer":                    {s.ServiceToken("Viewer"+suffix, access.Viewer, access.ScopeRead, agentID), http.StatusForbidden, "forbidden"},
		"an operator who may read it": {s.GrantedToken("Reader"+suffix, access.Operator, access.ScopeOperate, access.Read, agentID), http.StatusForbidden, "forbidden"},
		"an operator of nothing":      {s.ServiceToken("Nobody"+suffix, access.Operator, access.ScopeOperate), http.StatusNotFound, "not_found"},
	} {
		r := <-p.agentOf(t, s, agentID, "", want.token).start(says("report"))
		if r.Status != want.status || r.Payload.Code != want.code || len(r.Events) != 0 {
			t.Errorf("%s was answered %d %+v %v, want %d %s", who, r.Status, r.Payload, r.types(), want.status, want.code)
		}
	}
}
