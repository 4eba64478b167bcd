package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/config"
	"github.com/agent-taskbay/taskbay/internal/demo"
	"github.com/agent-taskbay/taskbay/internal/store/postgrestest"
)

// runAGUI makes a run with one message, and returns what came until its end.
func runAGUI(t *testing.T, s *apptest.Server, agentID, body string) (status int, stream string) {
	t.Helper()
	response, err := http.Post(s.URL()+"/api/v1/agents/"+agentID+"/ag-ui", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("the stream breaks off: %v\n%s", err, raw)
	}
	return response.StatusCode, string(raw)
}

func says(thread, run, message string) string {
	return fmt.Sprintf(`{"threadId":%q,"runId":%q,"messages":[{"id":"m-%s","role":"user","content":%q}]}`, thread, run, run, message)
}

// TestAGUIFollowsATaskThatBecomesAnother has an agent that answers every message with
// one and the same task.
func TestAGUIFollowsATaskThatBecomesAnother(t *testing.T) {
	t.Parallel()
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			_, _ = fmt.Fprintf(w, `{"name":"One","supportedInterfaces":[{"url":"http://%s/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, r.Host)
			return
		}
		var in struct{ ID json.RawMessage }
		_ = json.NewDecoder(r.Body).Decode(&in) // what cannot be read has no ID
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"},
			"artifacts":[{"artifactId":"a","parts":[{"raw":"YQ==","filename":"a.txt"}]}]}}}`, in.ID)
	}))
	t.Cleanup(agent.Close)
	s := apptest.Start(t, apptest.Options{})
	id := s.Register(agent.URL + "/card.json").ID
	for _, run := range []string{"first", "second"} {
		if _, stream := runAGUI(t, s, id, says(run, run, "Go.")); !strings.Contains(stream, `"outcome":{"type":"success"}`) || strings.Contains(stream, "YQ==") {
			t.Errorf("the %s run:\n%s", run, stream)
		}
	}
}

// TestAGUIOnTwoProcesses begins at one process, and asks the other for the same run.
func TestAGUIOnTwoProcesses(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	agents := apptest.Start(t, apptest.Options{SampleAgents: true})
	here := apptest.Start(t, apptest.Options{DatabaseURL: url})
	there := apptest.Start(t, apptest.Options{DatabaseURL: url, ServeOnly: true})
	agent := here.Register(agents.SampleCardURL(demo.Form))
	asked := make(chan string, 2)
	for _, s := range []*apptest.Server{here, there} {
		go func() {
			_, stream := runAGUI(t, s, agent.ID, says("t", "r", "Deploy"))
			asked <- interruptIn(stream)
		}()
	}
	one, other := <-asked, <-asked
	if one == "" || one != other {
		t.Fatalf("one run has the interrupts %q and %q", one, other)
	}
	resume := fmt.Sprintf(`{"threadId":"t","runId":"r2","resume":[{"interruptId":%q,"status":"resolved","payload":{"environment":"staging","replicas":"2"}}]}`, one)
	for _, s := range []*apptest.Server{there, here} {
		if _, stream := runAGUI(t, s, agent.ID, resume); !strings.Contains(stream, "Deploying 2 replica(s) to staging.") || !strings.Contains(stream, `"outcome":{"type":"success"}`) {
			t.Errorf("the answer at %s brought\n%s", s.URL(), stream)
		}
	}
	var list struct{ Items []json.RawMessage }
	if here.Call("GET", "/api/v1/tasks", nil, &list); len(list.Items) != 1 {
		t.Errorf("there are %d tasks, want one", len(list.Items))
	}
}

// interruptIn is the ID of the interrupt that a stream ends with.
func interruptIn(stream string) string {
	_, rest, _ := strings.Cut(stream, `"interrupts":[{"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

// TestAGUIIsBrokenOffAtShutdown wants no stream to end as if its run had.
func TestAGUIIsBrokenOffAtShutdown(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Options{})
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = fmt.Fprintf(w, `{"name":"Silent","supportedInterfaces":[{"url":"http://%s/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, r.Host)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body) // only then is it seen that the console leaves
		<-r.Context().Done()
	}))
	t.Cleanup(silent.Close)
	agent := s.Register(silent.URL + "/card.json")
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.URL()+"/api/v1/agents/"+agent.ID+"/ag-ui", strings.NewReader(says("t", "r", "Go.")))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.Stop()
	}()
	defer func() { <-stopped }()
	if raw, err := io.ReadAll(response.Body); err == nil {
		t.Errorf("the stream ends in order:\n%s", raw)
	}
}

func TestAGUIRefusals(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Options{SampleAgents: true, Change: func(c *config.Config) { c.AGUIOrigins = []string{"https://app.example"} }})
	agent := s.SampleAgent(demo.Form).ID
	for name, c := range map[string]struct {
		agent, body, want string
		status            int
	}{
		"no JSON":          {agent, `{`, "invalid_input", 400},
		"no run":           {agent, `{"threadId":"t"}`, "invalid_input", 400},
		"an unknown agent": {"01a230ca-f655-7712-9a90-5a44a3e00e7d", says("t", "r", "x"), "not_found", 404},
		"nothing to send":  {agent, `{"threadId":"t","runId":"r","messages":[{"id":"m","role":"user","content":[{"type":"image","source":{"type":"file","value":"x"}}]}]}`, "invalid_input", 400},
	} {
		var refused struct{ Code, Message string }
		status, answer := runAGUI(t, s, c.agent, c.body)
		if err := json.Unmarshal([]byte(answer), &refused); err != nil || status != c.status || refused.Code != c.want || refused.Message == "" {
			t.Errorf("%s: %d %s, want %d with the code %s", name, status, answer, c.status, c.want)
		}
	}
	for name, c := range map[string]struct {
		method, origin, token string
		status                int
		allowed               bool
	}{
		"a preflight of a listed origin":    {http.MethodOptions, "https://app.example", "", 204, true},
		"a preflight of another origin":     {http.MethodOptions, "https://evil.example", "", 403, false},
		"a listed origin without a token":   {http.MethodPost, "https://app.example", "", 401, true},
		"a listed origin with a bad token":  {http.MethodPost, "https://app.example", "Bearer tbay_bad", 401, true},
		"another origin, whatever it sends": {http.MethodPost, "https://evil.example", "", 403, false},
	} {
		request, err := http.NewRequestWithContext(t.Context(), c.method, s.URL()+"/api/v1/agents/"+agent+"/ag-ui", strings.NewReader(says("t", "r", "x")))
		if err != nil {
			t.Fatal(err)
		}
		request.Header = http.Header{"Content-Type": {"application/json"}, "Origin": {c.origin}, "Sec-Fetch-Site": {"cross-site"}, "Cookie": {"taskbay=x"}}
		if c.method == http.MethodOptions {
			request.Header.Set("Access-Control-Request-Method", "POST")
		}
		if c.token != "" {
			request.Header.Set("Authorization", c.token)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if allowed := response.Header.Get("Access-Control-Allow-Origin") == c.origin; response.StatusCode != c.status || allowed != c.allowed || response.Header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: %s, allowed: %v; want %d and %v", name, response.Status, allowed, c.status, c.allowed)
		}
	}
}

func TestAGUICanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	off := false
	s := apptest.Start(t, apptest.Options{SampleAgents: true, Change: func(c *config.Config) { c.AGUI = &off }})
	if status, answer := runAGUI(t, s, s.SampleAgent(demo.Form).ID, says("t", "r", "x")); status != http.StatusNotFound || !strings.Contains(answer, "--no-ag-ui") {
		t.Errorf("it is answered %d %s", status, answer)
	}
}
