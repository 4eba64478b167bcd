package app_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/app"
	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/config"
	"github.com/agent-taskbay/taskbay/internal/remote/agenttest"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// everyWayAgent tells what happens on its tasks by streams that break off, by pushes
// that come twice, by a list, and to whoever asks.
type everyWayAgent struct {
	fake *agenttest.Fake

	mu     sync.Mutex
	jobs   []*job
	listed bool
}

// job is one task of the agent.
type job struct {
	id     string
	todo   []string // a state, or "artifact text"
	state  string
	second int               // of its clock
	texts  map[string]string // of its artifacts
	pushes []string          // that are to be posted
}

func (j *job) status() string {
	return fmt.Sprintf(`"status":{"state":"TASK_STATE_%s","timestamp":"2026-01-02T03:04:%02dZ"}`, j.state, j.second)
}

func (j *job) snapshot() string {
	var artifacts []string
	for _, id := range []string{"a", "b"} {
		if j.texts[id] != "" {
			artifacts = append(artifacts, fmt.Sprintf(`{"artifactId":%q,"parts":[{"text":%q}]}`, id, j.texts[id]))
		}
	}
	return fmt.Sprintf(`{"task":{"id":%q,"contextId":"c",%s,"artifacts":[%s]}}`, j.id, j.status(), strings.Join(artifacts, ","))
}

// work does the next things, and returns what a stream tells of them. Everything is
// to be pushed as well, twice.
func (j *job) work(steps int) (events []string) {
	for range min(steps, len(j.todo)) {
		var event string
		if id, text, ok := strings.Cut(j.todo[0], " "); ok {
			appended := j.texts[id] != ""
			j.texts[id] += text
			event = fmt.Sprintf(`{"artifactUpdate":{"taskId":%q,"contextId":"c","append":%t,"artifact":{"artifactId":%q,"parts":[{"text":%q}]}}}`, j.id, appended, id, text)
		} else {
			j.state, j.second = j.todo[0], j.second+1
			event = fmt.Sprintf(`{"statusUpdate":{"taskId":%q,"contextId":"c",%s}}`, j.id, j.status())
		}
		j.todo = j.todo[1:]
		events = append(events, event)
		j.pushes = append(j.pushes, event, event, j.snapshot())
	}
	return events
}

func (a *everyWayAgent) say(c agenttest.Call) agenttest.Say {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch c.Method {
	case "SendStreamingMessage":
		j := &job{id: fmt.Sprint("T", c.N), state: "SUBMITTED", texts: map[string]string{}}
		j.todo = []string{"WORKING", "a 1", "a 2", "b x", "a 3", "WORKING", "a 4", "b y", "a 5", "b z", "COMPLETED"}
		a.jobs = append(a.jobs, j)
		return agenttest.Say{Events: append([]string{j.snapshot()}, j.work(3)...)}
	case "ListTasks":
		a.listed = true
		var tasks []string
		for _, j := range a.jobs {
			tasks = append(tasks, fmt.Sprintf(`{"id":%q,"contextId":"c",%s}`, j.id, j.status()))
		}
		return agenttest.Say{Events: []string{`{"tasks":[{"id":"stranger","contextId":"c","status":{"state":"TASK_STATE_WORKING"}},` + strings.Join(tasks, ",") + `]}`}}
	}
	at := slices.IndexFunc(a.jobs, func(j *job) bool { return j.id == c.TaskID })
	if at < 0 {
		return agenttest.Say{Events: []string{"{}"}}
	}
	j := a.jobs[at]
	switch c.Method {
	case "SubscribeToTask":
		return agenttest.Say{Events: append([]string{j.snapshot()}, j.work(2)...)}
	case "GetTask":
		if len(j.todo) > 1 || a.listed { // it ends once it has told in every way
			j.work(1)
		}
		return agenttest.Say{Events: []string{j.snapshot()}}
	}
	return agenttest.Say{Events: []string{"{}"}}
}

// push posts what there is to push, until the tasks have ended and stop is closed.
func (a *everyWayAgent) push(t *testing.T, base string, stop <-chan struct{}) {
	to := map[string]string{}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case asked := <-a.fake.Asked():
			to[asked.TaskID] = strings.Replace(asked.URL, "https://console.example", base, 1)
		case <-tick.C:
		}
		for _, j := range a.jobsNow() {
			if to[j.id] == "" {
				continue
			}
			a.mu.Lock()
			pushes := j.pushes
			j.pushes = nil
			a.mu.Unlock()
			for _, event := range pushes {
				response, err := http.Post(to[j.id], "application/json", strings.NewReader(event))
				if err != nil {
					t.Errorf("push: %v", err)
					return
				}
				_ = response.Body.Close()
				if response.StatusCode != http.StatusNoContent {
					t.Errorf("a push was answered with %d", response.StatusCode)
				}
			}
		}
	}
}

func (a *everyWayAgent) jobsNow() []*job {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.jobs)
}

// TestEveryWayAtOnce has several tasks told of by streams that break off, pushes, a list
// and checks at once. What is shown in the end is what the agent has, with no piece of
// an artifact twice, and follows from the ledger.
func TestEveryWayAtOnce(t *testing.T) {
	t.Parallel()
	databases(t, func(t *testing.T, databaseURL string) {
		a := &everyWayAgent{}
		a.fake = agenttest.PlayPushing(t, agenttest.Ways()[0], true, a.say)
		o := apptest.Options{
			DatabaseURL: databaseURL, DataDir: t.TempDir(), SweepEvery: 200 * time.Millisecond,
			Change: func(c *config.Config) { c.PushOrigin = "https://console.example" },
		}
		s := apptest.Start(t, o)
		stop, pushed := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(pushed)
			a.push(t, s.URL(), stop)
		}()
		agent := s.Register(a.fake.CardURL)
		var ids []string
		for range 4 {
			ids = append(ids, s.Send(agent.ID, map[string]any{"text": "go"}).TaskID)
		}
		want := map[string]string{"a": "12345", "b": "xyz"}
		for _, id := range ids {
			done := s.TaskWhere(id, "is as the agent has it", func(t apptest.Task) bool {
				return t.State == "TASK_STATE_COMPLETED" && cmp.Equal(artifactTexts(t), want)
			})
			if states := done.Transitions; len(states) != 3 {
				t.Errorf("transitions %v, want three", states)
			}
		}
		close(stop)
		<-pushed
		for _, method := range []string{"SubscribeToTask", "GetTask", "ListTasks"} {
			if len(a.fake.Calls(method)) == 0 {
				t.Errorf("nobody called %s", method)
			}
		}
		var list struct{ Items []apptest.Task }
		if s.Call("GET", "/api/v1/tasks", nil, &list); len(list.Items) != len(ids) {
			t.Errorf("%d tasks are known, want %d: a list makes none", len(list.Items), len(ids))
		}
		for _, id := range ids { // whatever came last
			if diff := cmp.Diff(want, artifactTexts(s.TaskIn(id, "TASK_STATE_COMPLETED"))); diff != "" {
				t.Errorf("artifacts (-the agent's +shown):\n%s", diff)
			}
		}
		s.Stop()
		rebuilds(t, o)
	})
}

func artifactTexts(t apptest.Task) map[string]string {
	texts := map[string]string{}
	for _, a := range t.Artifacts {
		for _, p := range a.Parts {
			texts[a.ArtifactID] += apptest.Text(p)
		}
	}
	return texts
}

// rebuilds replays every ledger of a product that has stopped.
func rebuilds(t *testing.T, o apptest.Options) {
	t.Helper()
	record, err := app.OpenRecord(t.Context(), config.Data{DataDir: o.DataDir, DatabaseURL: o.DatabaseURL})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = record.Close() }()
	replayed := 0
	err = record.Replay.All(t.Context(), func(r task.Replayed) error {
		replayed++
		if r.Unknown != "" || len(r.Differences) > 0 {
			t.Errorf("task %s does not follow from its ledger: %s %v", r.TaskID, r.Unknown, r.Differences)
		}
		return nil
	})
	if err != nil || replayed == 0 {
		t.Errorf("replayed %d tasks: %v", replayed, err)
	}
}
