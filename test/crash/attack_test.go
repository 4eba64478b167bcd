package crash

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/client"
)

// What the attacks are, and how much of the product's memory they may take.
const (
	floodChunks = 10_000
	hugeEvent   = 100 << 20 // bytes
	mostMemory  = 300 << 20 // bytes resident at most, ever
)

// attacker is an agent whose first part of a message's text says how it behaves.
// Whoever asks it how a task stands is told that it is completed, but for tasks that
// hang.
type attacker struct {
	*httptest.Server
	over chan struct{}
}

func startAttacker(t *testing.T) *attacker {
	a := &attacker{over: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /card.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"name":"Attacker","description":"attacks","version":"1","capabilities":{"streaming":true},"defaultInputModes":[],
			"defaultOutputModes":[],"skills":[],"supportedInterfaces":[{"url":"%s/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, a.URL)
	})
	mux.HandleFunc("POST /rpc", a.call)
	a.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		close(a.over)
		a.CloseClientConnections()
		a.Close()
	})
	return a
}

func (a *attacker) call(w http.ResponseWriter, r *http.Request) {
	var call struct {
		ID     json.RawMessage
		Method string
		Params struct {
			ID      string
			Message struct{ Parts []struct{ Text string } }
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	if call.Method != "SendStreamingMessage" {
		state := "COMPLETED"
		if call.Params.ID == "slow" {
			state = "WORKING"
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"id":%q,"contextId":"c","status":{"state":"TASK_STATE_%s"}}}`, call.ID, call.Params.ID, state)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	attack := call.Params.Message.Parts[0].Text
	say := func(result string) {
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", call.ID, result)
	}
	status := func(taskID, state string) string {
		return fmt.Sprintf(`{"statusUpdate":{"taskId":%q,"contextId":"c","status":{"state":"TASK_STATE_%s"}}}`, taskID, state)
	}
	say(fmt.Sprintf(`{"task":{"id":%q,"contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`, attack))
	w.(http.Flusher).Flush()
	attacks[attack](a, w, say, status)
}

// attacks are what the agent does once the task is at work.
var attacks = map[string]func(a *attacker, w http.ResponseWriter, say func(string), status func(taskID, state string) string){
	"flood": func(_ *attacker, _ http.ResponseWriter, say func(string), status func(string, string) string) {
		for i := range floodChunks {
			say(fmt.Sprintf(`{"artifactUpdate":{"taskId":"flood","contextId":"c","artifact":{"artifactId":"log","parts":[{"text":"line %d of the flood\n"}]},"append":%t}}`, i, i > 0))
		}
		say(status("flood", "COMPLETED"))
	},
	"lie": func(_ *attacker, _ http.ResponseWriter, say func(string), status func(string, string) string) {
		say(status("somebody-elses", "FAILED"))
		say(status("lie", "COMPLETED"))
		say(status("lie", "WORKING"))
		say(`{"artifactUpdate":{"taskId":"lie","contextId":"c","artifact":{"artifactId":"late","parts":[{"text":"late"}]}}}`)
	},
	"huge": func(_ *attacker, w http.ResponseWriter, _ func(string), _ func(string, string) string) {
		piece := strings.Repeat("x", 1<<20)
		_, _ = fmt.Fprint(w, `data: {"jsonrpc":"2.0","id":1,"result":{"artifactUpdate":{"taskId":"huge","contextId":"c","artifact":{"artifactId":"a","parts":[{"text":"`)
		for range hugeEvent / len(piece) {
			if _, err := fmt.Fprint(w, piece); err != nil {
				return
			}
		}
		_, _ = fmt.Fprint(w, "\"}]}}}}\n\n")
	},
	"vanish": func(_ *attacker, w http.ResponseWriter, _ func(string), _ func(string, string) string) {
		_, _ = fmt.Fprint(w, `data: {"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"vanish","status":{"state":"TASK_STA`)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	},
	"slow": func(a *attacker, w http.ResponseWriter, _ func(string), _ func(string, string) string) {
		drip := time.NewTicker(50 * time.Millisecond)
		defer drip.Stop()
		for {
			select {
			case <-a.over:
				return
			case <-drip.C:
				if _, err := fmt.Fprint(w, "d"); err != nil {
					return
				}
				w.(http.Flusher).Flush()
			}
		}
	},
}

func (p *process) send(agentID, text string) (taskID string) {
	p.t.Helper()
	c, err := p.api.Submit(p.t.Context(), agentID, client.CommandBody{Text: text})
	if err != nil {
		p.t.Fatalf("%s: %v", text, err)
	}
	return c.TaskID
}

func (p *process) taskIn(taskID, state string) client.Task {
	p.t.Helper()
	var got client.Task
	for end := time.Now().Add(6 * time.Minute); time.Now().Before(end); <-time.After(500 * time.Millisecond) {
		var err error
		if got, err = p.api.Task(p.t.Context(), taskID); err != nil {
			p.t.Fatal(err)
		}
		if got.State == state {
			return got
		}
	}
	p.t.Fatalf("task %s is %s, want it to become %s: %+.2000v", taskID, got.State, state, got)
	return got
}

// peak is the most memory that the process has had resident.
func (p *process) peak() int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		p.t.Fatalf("no peak in %s", status)
	}
	kilobytes, err := strconv.ParseInt(string(found[1]), 10, 64)
	if err != nil {
		p.t.Fatal(err)
	}
	return kilobytes << 10
}

// TestAttacks has one process attacked in all ways at once. Each task ends up in a
// clear state, an agent that behaves is not held up, and memory stays bounded.
func TestAttacks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the memory of another process is read from /proc")
	}
	onEachDatabase(t, func(t *testing.T, at place) {
		t.Parallel()
		p := start(t, at)
		bad, good := startAttacker(t), startStreamer(t)
		badID, goodID := p.register(bad.URL+"/card.json"), p.register(good.URL+"/card.json")
		tasks := map[string]string{}
		for attack := range attacks {
			tasks[attack] = p.send(badID, attack)
		}
		polite := p.send(goodID, "please")
		good.next(t)
		close(good.finish)
		p.taskIn(polite, "TASK_STATE_COMPLETED")
		for _, attack := range []string{"lie", "vanish", "huge"} {
			if got := p.taskIn(tasks[attack], "TASK_STATE_COMPLETED"); attack == "huge" && len(got.Artifacts) > 0 {
				t.Errorf("of an event of %d bytes there are %d artifacts", hugeEvent, len(got.Artifacts))
			}
		}
		flooded := p.taskIn(tasks["flood"], "TASK_STATE_COMPLETED")
		var want strings.Builder
		for i := range floodChunks {
			fmt.Fprintf(&want, "line %d of the flood\n", i)
		}
		if len(flooded.Artifacts) != 1 || len(flooded.Artifacts[0].Parts) != 1 || *flooded.Artifacts[0].Parts[0].Text != want.String() {
			t.Errorf("the flood's artifact is not what was sent")
		}
		p.taskIn(tasks["slow"], "TASK_STATE_WORKING")
		if lied := p.taskIn(tasks["lie"], "TASK_STATE_COMPLETED"); len(lied.Artifacts) > 1 {
			t.Errorf("the liar's task has %+v", lied.Artifacts)
		}
		if peak := p.peak(); peak > mostMemory {
			t.Errorf("the process had %d MiB, want at most %d", peak>>20, mostMemory>>20)
		} else {
			t.Logf("the process had at most %d MiB", peak>>20)
		}
	})
}
