package interop

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
)

// aguiLines are the lines of the official AG-UI client: the current one, and the one
// before 1.0, which CopilotKit pins.
var aguiLines = []string{"agui-client", "agui-client-0"}

// aguiProgram is a process with the official client in it.
type aguiProgram struct {
	legacy  bool
	write   io.Writer
	mu      sync.Mutex
	waiting map[string]chan json.RawMessage
}

// startAGUIClient runs the client of a line until the test ends.
func startAGUIClient(t *testing.T, line string) *aguiProgram {
	t.Helper()
	modules, err := installed(line)
	if err != nil {
		skip(t, err)
	}
	dir := t.TempDir()
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	driver := filepath.Join(dir, "driver.mjs")
	if err := copyFile("agui-client/driver.mjs", driver); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("node", driver)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	p := &aguiProgram{legacy: line != "agui-client", write: stdin, waiting: map[string]chan json.RawMessage{}}
	lines := bufio.NewReader(stdout)
	if said, err := lines.ReadString('\n'); said != "ready\n" {
		t.Fatalf("the client did not start: %v\n%s", err, &complaints)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.answers(lines)
	}()
	t.Cleanup(func() {
		_ = stdin.Close()
		<-done
		if err := command.Wait(); err != nil || t.Failed() {
			t.Logf("the client ended with %v and said:\n%.4000s", err, &complaints)
		}
	})
	return p
}

func (p *aguiProgram) answers(lines *bufio.Reader) {
	for {
		line, err := lines.ReadBytes('\n')
		var answer struct{ ID string }
		if json.Unmarshal(line, &answer) == nil {
			p.mu.Lock()
			waits := p.waiting[answer.ID]
			delete(p.waiting, answer.ID)
			p.mu.Unlock()
			if waits != nil {
				waits <- line
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *aguiProgram) begin(t *testing.T, request map[string]any) <-chan json.RawMessage {
	t.Helper()
	id := uuid.NewString()
	request["id"] = id
	line, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	answer := make(chan json.RawMessage, 1)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting[id] = answer
	if _, err := p.write.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	return answer
}

// aguiAgent is one HttpAgent of the client.
type aguiAgent struct {
	*aguiProgram
	t        *testing.T
	name     string
	ThreadID string
}

// agent makes an HttpAgent for an agent of a console; threadID "" is a new thread.
func (p *aguiProgram) agent(t *testing.T, s *apptest.Server, agentID, threadID string) *aguiAgent {
	t.Helper()
	return p.agentOf(t, s, agentID, threadID, "")
}

// agentOf is agent with an API token; "" for the local operator.
func (p *aguiProgram) agentOf(t *testing.T, s *apptest.Server, agentID, threadID, token string) *aguiAgent {
	t.Helper()
	headers := map[string]string{}
	if token != "" {
		headers["Authorization"] = "Bearer " + token
	}
	if threadID == "" {
		threadID = uuid.NewString()
	}
	a := &aguiAgent{aguiProgram: p, t: t, name: uuid.NewString(), ThreadID: threadID}
	<-p.begin(t, map[string]any{"op": "new", "agent": a.name, "url": s.URL() + "/api/v1/agents/" + agentID + "/ag-ui", "threadId": threadID, "headers": headers})
	return a
}

// aguiRun is what a client made of a run.
type aguiRun struct {
	Rejected string
	Status   int
	Payload  struct{ Code, Message string }
	Events   []aguiEvent
	Messages []aguiMessage
	State    struct {
		A2A struct {
			TaskID    string `json:"taskId"`
			ContextID string `json:"contextId"`
			TaskState string `json:"taskState"`
		} `json:"a2a"`
		Mine json.RawMessage
	}
	Pending []aguiInterrupt
}

type aguiEvent struct {
	Type    string
	RunID   string `json:"runId"`
	Message string
	Code    string
	Name    string
	Value   json.RawMessage
	Delta   json.RawMessage
	Outcome *struct {
		Type       string
		Interrupts []aguiInterrupt
	}
	Metadata json.RawMessage
}

type aguiInterrupt struct {
	ID             string
	Reason         string
	Message        string
	ResponseSchema json.RawMessage
	Metadata       struct {
		ValidationErrors []struct{ Path, Message string }
		Form             struct {
			Title string
			Order []string
		}
	}
}

type aguiMessage struct {
	ID           string
	Role         string
	Content      json.RawMessage
	ActivityType string
}

func (m aguiMessage) text() string {
	var text string
	_ = json.Unmarshal(m.Content, &text) // parts have none
	return text
}

// texts are the texts of the messages of a role, without the empty ones.
func (r aguiRun) texts(role string) []string {
	var texts []string
	for _, m := range r.Messages {
		if m.Role == role && m.text() != "" {
			texts = append(texts, m.text())
		}
	}
	return texts
}

func (r aguiRun) types() []string {
	var types []string
	for _, e := range r.Events {
		types = append(types, e.Type)
	}
	return types
}

// end is the last event.
func (r aguiRun) end() aguiEvent {
	if len(r.Events) == 0 {
		return aguiEvent{}
	}
	return r.Events[len(r.Events)-1]
}

// outcome is how the run ended, by the name of the outcome or the code of the error.
func (r aguiRun) outcome() string {
	e := r.end()
	switch {
	case e.Type == "RUN_ERROR":
		return e.Code
	case e.Type == "RUN_FINISHED" && e.Outcome == nil:
		return "none"
	case e.Type == "RUN_FINISHED":
		return e.Outcome.Type
	}
	return "no end: " + e.Type
}

func (r aguiRun) warned() bool {
	return slices.ContainsFunc(r.Events, func(e aguiEvent) bool { return e.Name == "a2a.warning" })
}

// start runs the agent; what the client made of it comes when it ends.
func (a *aguiAgent) start(params map[string]any) <-chan aguiRun {
	a.t.Helper()
	request := map[string]any{"op": "run", "agent": a.name}
	for name, value := range params {
		request[name] = value
	}
	answer, out := a.begin(a.t, request), make(chan aguiRun, 1)
	go func() {
		var r aguiRun
		if err := json.Unmarshal(<-answer, &r); err != nil {
			r.Rejected = "the driver answered what is no run: " + err.Error()
		}
		out <- r
	}()
	return out
}

// run runs the agent to the end of the run, and fails the test if the client rejects it.
func (a *aguiAgent) run(params map[string]any) aguiRun {
	a.t.Helper()
	r := <-a.start(params)
	if r.Rejected != "" {
		a.t.Fatalf("the client rejected the run: %s (%d %+v); events %v", r.Rejected, r.Status, r.Payload, r.types())
	}
	return r
}

// say runs the agent with a new message of the user.
func (a *aguiAgent) say(content any) aguiRun {
	a.t.Helper()
	return a.run(says(content))
}

func says(content any) map[string]any {
	return map[string]any{"say": []any{map[string]any{"id": uuid.NewString(), "role": "user", "content": content}}}
}

// answer resumes an interrupt.
func (a *aguiAgent) answer(i aguiInterrupt, status string, payload any) aguiRun {
	a.t.Helper()
	return a.run(map[string]any{"resume": []any{resumes(i, status, payload)}})
}

func resumes(i aguiInterrupt, status string, payload any) map[string]any {
	entry := map[string]any{"interruptId": i.ID, "status": status}
	if payload != nil {
		entry["payload"] = payload
	}
	return entry
}
