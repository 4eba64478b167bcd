package app_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/demo"
	"github.com/agent-taskbay/taskbay/internal/store/postgrestest"
)

// TestProcessesShareADatabase has two processes that serve and two that work.
// What is started at one page is done by a worker and watched at the other page.
func TestProcessesShareADatabase(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	agents := apptest.Start(t, apptest.Options{SampleAgents: true})
	here := apptest.Start(t, apptest.Options{DatabaseURL: url, ServeOnly: true})
	there := apptest.Start(t, apptest.Options{DatabaseURL: url, ServeOnly: true})
	for range 2 {
		apptest.Start(t, apptest.Options{DatabaseURL: url, WorkOnly: true})
	}
	agent := here.Register(agents.SampleCardURL(demo.Form))

	started := here.Send(agent.ID, map[string]any{"text": "deploy"})
	if started.Status != "succeeded" {
		t.Fatalf("the first message is %s: %s", started.Status, started.Error)
	}
	waiting := there.TaskIn(started.TaskID, "TASK_STATE_INPUT_REQUIRED")
	changed := watch(t, there.URL()+"/api/v1/tasks/"+started.TaskID+"/events")
	answer := here.Send(agent.ID, map[string]any{
		"taskId": started.TaskID, "answers": waiting.Question.MessageID,
		"parts": []any{map[string]any{"data": json.RawMessage(`{"environment":"staging","replicas":2,"dryRun":false}`), "mediaType": "application/json"}},
	})
	if answer.Status != "succeeded" {
		t.Fatalf("the answer is %s: %s", answer.Status, answer.Error)
	}
	for event := range changed {
		if strings.Contains(event, "TASK_STATE_COMPLETED") {
			return
		}
	}
	t.Error("the stream of events ended before the task was completed")
}

// watch returns the data of the events of a stream, until the test ends.
func watch(t *testing.T, url string) <-chan string {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	events := make(chan string, 100)
	go func() {
		defer close(events)
		defer func() { _ = response.Body.Close() }()
		lines := bufio.NewScanner(response.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data:"); ok {
				events <- data
			}
		}
	}()
	return events
}
