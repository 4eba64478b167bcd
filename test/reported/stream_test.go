package reported

import (
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/remote/agenttest"
)

func streamCases() map[string]reportedCase {
	return map[string]reportedCase{
		"sse-no-final-blank":   {ways: overHTTP(), play: noFinalBlank},
		"sse-json-instead":     {ways: overHTTP(), play: jsonInstead},
		"sse-line-parser":      {ways: overHTTP(), play: allFields},
		"sse-crlf":             {ways: overHTTP(), play: carriageReturns},
		"sse-error-as-result":  {ways: overHTTP(), play: errorAsResult},
		"sse-big-line":         {ways: all(), play: bigEvent},
		"sse-buffered":         {ways: all(), play: silentStream, open: "how long the stream has been silent is not shown"},
		"sse-no-keepalive":     {ways: all(), play: cutWhileWorking},
		"sub-inactive":         {ways: all(), play: subscribeRefused},
		"sub-closes-now":       {ways: all(), play: subscriptionEndsAtOnce},
		"sub-lost-events":      {ways: all(), play: lostEvents},
		"sub-legacy-path":      {ways: by(remote.HTTPJSON), play: otherSubscribePath},
		"snapshot-double":      {ways: all(), play: doubledStates},
		"message-after-task":   {ways: all(), play: messageAfterTask},
		"many-messages":        {ways: all(), play: manyMessages, open: "the pages show each piece by itself"},
		"token-status":         {ways: all(), play: tokenUpdates, open: "the pages show each piece by itself"},
		"input-never-streamed": {ways: all(), play: inputNeverStreamed},
		"compat-rest-dto":      {ways: by(remote.HTTPJSON), play: listInsteadOfStream},
	}
}

// writes answers a streaming call with these bytes, flushed one by one.
func writes(pieces ...string) agenttest.Say {
	return agenttest.Say{HTTP: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, piece := range pieces {
			_, _ = io.WriteString(w, piece)
			w.(http.Flusher).Flush()
		}
	}}
}

// data is an event of a stream as the fake agent writes it, without the line end.
func data(f *agenttest.Fake, event string) string { return "data: " + f.Envelope(f.Wire(event)) }

// heard streams a message to an agent that answers with pieces, and returns the
// states, the records, and how it ended.
func (s scene) heard(pieces func(*agenttest.Fake) []string) (states []string, records []remote.Record, err error) {
	s.Helper()
	var fake *agenttest.Fake
	fake = agenttest.Play(s, s.way, true, func(agenttest.Call) agenttest.Say { return writes(pieces(fake)...) })
	return s.stream(fake)
}

// stream streams a message to an agent.
func (s scene) stream(fake *agenttest.Fake) (states []string, records []remote.Record, err error) {
	s.Helper()
	var mu sync.Mutex
	client := remote.New(remote.Options{Record: func(r remote.Record) {
		mu.Lock()
		defer mu.Unlock()
		records = append(records, r)
	}})
	s.Cleanup(client.Close)
	text := "go"
	request := remote.SendRequest{Message: a2a.Message{MessageID: "m", Role: a2a.RoleUser, Parts: []a2a.Part{{Text: &text}}}}
	for o, failure := range client.Stream(s.Context(), s.target(fake), request) {
		if err = failure; err == nil {
			states = append(states, stateOf(o))
		}
	}
	return states, records, err
}

func stateOf(o remote.Observation) string {
	event, _ := a2a.DecodeEvent(o.Payload)
	switch {
	case event.Task != nil:
		return string(event.Task.Status.State)
	case event.StatusUpdate != nil:
		return string(event.StatusUpdate.Status.State)
	}
	return "?"
}

func noFinalBlank(s scene) {
	states, records, err := s.heard(func(f *agenttest.Fake) []string {
		return []string{data(f, working) + "\n\n", data(f, completed)}
	})
	if diff := cmp.Diff([]string{"TASK_STATE_WORKING", "TASK_STATE_COMPLETED"}, states); diff != "" || err != nil {
		s.Errorf("%v, states (-want +got):\n%s", err, diff)
	}
	if last := records[len(records)-2]; last.Kind != remote.RecordEvent || !last.Unterminated {
		s.Errorf("the last event is recorded as %+v, want it unterminated", last)
	}
}

func jsonInstead(s scene) {
	var fake *agenttest.Fake
	fake, agent := s.agent(func(c agenttest.Call) agenttest.Say {
		return agenttest.Say{HTTP: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":"1","error":{"code":-32004,"message":"not at this hour"}}`)
		}}
	})
	c := s.product.Send(agent.ID, map[string]any{"text": "go"})
	if c.Status != "failed" || !strings.Contains(c.Error, "not at this hour") {
		s.Errorf("the message is %s: %q, want it failed with what the agent says", c.Status, c.Error)
	}
	if n := len(fake.Calls("SendStreamingMessage")); n != 1 {
		s.Errorf("it was sent %d times", n)
	}
}

func allFields(s scene) {
	states, records, err := s.heard(func(f *agenttest.Fake) []string {
		folded := strings.Replace(data(f, completed), `"contextId"`, "\ndata: \"contextId\"", 1)
		folded = strings.Replace(folded, `"status"`, "\ndata: \"status\"", 1)
		return []string{"event: message\nid: 7\nretry: 1000\n" + folded + "\n\n"}
	})
	if diff := cmp.Diff([]string{"TASK_STATE_COMPLETED"}, states); diff != "" || err != nil {
		s.Errorf("%v, states (-want +got):\n%s", err, diff)
	}
	if event := records[2]; event.EventID != "7" || event.EventType != "message" {
		s.Errorf("the event is recorded as %+v, want its ID and type", event)
	}
}

func carriageReturns(s scene) {
	states, _, err := s.heard(func(f *agenttest.Fake) []string {
		return []string{data(f, working) + "\r", "\n\r", "\n" + data(f, completed) + "\r", "\n", "\r\n"}
	})
	if diff := cmp.Diff([]string{"TASK_STATE_WORKING", "TASK_STATE_COMPLETED"}, states); diff != "" || err != nil {
		s.Errorf("%v, states (-want +got):\n%s", err, diff)
	}
}

func errorAsResult(s scene) {
	var fake *agenttest.Fake
	fake, agent := s.agent(func(c agenttest.Call) agenttest.Say {
		if c.Method != "SendStreamingMessage" {
			return events(taskCompleted)
		}
		return writes(data(fake, submitted)+"\n\n", "data: "+fake.Envelope(`{"error":"task timed out"}`)+"\n\n")
	})
	s.product.TaskIn(s.start(agent), "TASK_STATE_COMPLETED")
	_, _, err := s.heard(func(f *agenttest.Fake) []string {
		return []string{"data: " + f.Envelope(`{"error":"task timed out"}`) + "\n\n"}
	})
	if err == nil || !strings.Contains(err.Error(), "task timed out") {
		s.Errorf("error = %v, want what the agent says", err)
	}
}

// bigEvent brings one event of 11 MiB, which is read, and one that is larger than
// what is read: what came before it stays, and a check makes good for the rest.
func bigEvent(s scene) {
	s.product = apptest.Start(s, apptest.Options{Limits: remote.Limits{Response: 1 << 20}})
	_, agent := s.agent(script{
		"SendStreamingMessage": events(submitted, chunk("small", false, false), chunk(strings.Repeat("x", 2<<20), true, true), completed),
		"GetTask":              events(taskCompleted),
	}.say)
	done := s.product.TaskIn(s.start(agent), "TASK_STATE_COMPLETED")
	if diff := cmp.Diff([]string{"small"}, artifactTexts(done)); diff != "" {
		s.Errorf("artifact (-want +got):\n%s", diff)
	}
	large := chunk(strings.Repeat("x", 11<<20), false, true)
	fake := agenttest.Play(s, s.way, true, script{"SendStreamingMessage": events(large, completed)}.say)
	if states, _, err := s.stream(fake); len(states) != 2 || err != nil {
		s.Errorf("states %v, %v; want the event of 11 MiB and the one after it", states, err)
	}
}

// silentStream holds all back, as a buffering proxy does.
func silentStream(s scene) {
	s = s.impatient()
	_, agent := s.agent(func(c agenttest.Call) agenttest.Say {
		switch {
		case c.Method == "SendStreamingMessage":
			return agenttest.Say{Events: []string{submitted}, Hold: true}
		case c.Method == "SubscribeToTask":
			return agenttest.Say{Events: []string{taskWorking}, Hold: true}
		case c.N == 0:
			return events(taskWorking)
		}
		return events(taskCompleted)
	})
	s.product.TaskIn(s.start(agent), "TASK_STATE_COMPLETED")
}

// cutWhileWorking ends the stream in the middle; the snapshot that a new one begins
// with tells again what is known.
func cutWhileWorking(s scene) {
	said := `{"messageId":"m-1","taskId":"T","contextId":"c-1","role":"ROLE_AGENT","parts":[{"text":"on my way"}]}`
	saying := strings.Replace(working, `:06Z"`, `:06Z","message":`+said, 1)
	snapshot := strings.Replace(taskWorking, `:06Z"}`, `:06Z","message":`+said+`},"history":[`+said+`]`, 1)
	fake, agent := s.agent(script{
		"SendStreamingMessage": events(submitted, saying),
		"GetTask":              events(snapshot),
		"SubscribeToTask":      events(snapshot, completed),
	}.say)
	done := s.product.TaskIn(s.start(agent), "TASK_STATE_COMPLETED")
	if diff := cmp.Diff([]string{"on my way"}, texts(done)); diff != "" {
		s.Errorf("messages (-want +got):\n%s", diff)
	}
	if len(fake.Calls("SubscribeToTask")) == 0 {
		s.Error("nobody subscribed again")
	}
}

func subscribeRefused(s scene) {
	var tasks []string
	for _, code := range []int{-32001, -32004} {
		_, agent := s.agent(func(c agenttest.Call) agenttest.Say {
			switch {
			case c.Method == "SendStreamingMessage":
				return events(submitted, working)
			case c.Method == "SubscribeToTask":
				return agenttest.Say{Error: &agenttest.Refusal{Code: code, Message: "no active execution"}}
			case c.N == 0:
				return events(taskWorking)
			}
			return events(taskAsking)
		})
		tasks = append(tasks, s.start(agent))
	}
	for _, id := range tasks {
		waits := s.product.TaskIn(id, "TASK_STATE_INPUT_REQUIRED")
		if waits.Question == nil || waits.Question.Form == nil {
			s.Errorf("question %+v, want one with a form", waits.Question)
		}
	}
}

// subscriptionEndsAtOnce tells how the task stands and ends, each time. It is asked for
// once after a check at most, and checks come at growing intervals; they find the end.
func subscriptionEndsAtOnce(s scene) {
	fake, agent := s.agent(func(c agenttest.Call) agenttest.Say {
		if c.Method == "GetTask" && c.N >= 3 {
			return events(taskCompleted)
		}
		return events(taskWorking)
	})
	done := s.product.TaskIn(s.start(agent), "TASK_STATE_COMPLETED")
	subscribed, asked := len(fake.Calls("SubscribeToTask")), len(fake.Calls("GetTask"))
	if subscribed == 0 || subscribed >= asked {
		s.Errorf("%d subscriptions beside %d checks, want fewer, and some", subscribed, asked)
	}
	if len(done.Transitions) != 2 {
		s.Errorf("transitions %+v, want two", done.Transitions)
	}
}

func lostEvents(s scene) {
	snapshot := `{"task":{"id":"T","contextId":"c-1","status":{"state":"TASK_STATE_WORKING","timestamp":"2026-01-02T03:04:06Z"},` +
		`"artifacts":[{"artifactId":"a","parts":[{"text":"1"},{"text":"2"},{"text":"3"},{"text":"4"},{"text":"5"}]}]}}`
	_, agent := s.agent(script{
		"SendStreamingMessage": events(submitted, working, chunk("1", false, false), chunk("2", true, false), chunk("3", true, false)),
		"GetTask":              events(snapshot),
		"SubscribeToTask":      events(snapshot, chunk("6", true, false), chunk("7", true, true), completed),
	}.say)
	done := s.product.TaskIn(s.start(agent), "TASK_STATE_COMPLETED")
	if got := strings.Join(artifactTexts(done), ""); got != "1234567" {
		s.Errorf("artifact = %q, want 1234567", got)
	}
}

func otherSubscribePath(s scene) {
	notFound := agenttest.Say{HTTP: http.NotFound}
	fake, agent := s.agent(func(c agenttest.Call) agenttest.Say {
		switch {
		case c.Method == "SendStreamingMessage":
			return events(submitted, working)
		case c.Method == "SubscribeToTask":
			return notFound
		case c.N == 0:
			return events(taskWorking)
		}
		return events(taskCompleted)
	})
	s.product.TaskIn(s.start(agent), "TASK_STATE_COMPLETED")
	client := remote.New(remote.Options{})
	s.Cleanup(client.Close)
	for _, err := range client.Subscribe(s.Context(), s.target(fake), "T") {
		if err == nil || !strings.Contains(err.Error(), fake.Interface.URL) {
			s.Errorf("error = %v, want the address that was tried", err)
		}
	}
}

func doubledStates(s scene) {
	_, agent := s.agent(script{
		"SendStreamingMessage": events(submitted, working, working, taskWorking, strings.Replace(working, `,"timestamp":"2026-01-02T03:04:06Z"`, "", 1), completed),
		"GetTask":              events(taskCompleted),
	}.say)
	done := s.product.TaskIn(s.start(agent), "TASK_STATE_COMPLETED")
	var states []string
	for _, transition := range done.Transitions {
		states = append(states, transition.State)
	}
	if diff := cmp.Diff([]string{"TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_COMPLETED"}, states); diff != "" {
		s.Errorf("transitions (-want +got):\n%s", diff)
	}
}

func agentSays(id, text string) string {
	return `{"message":{"messageId":` + quote(id) + `,"taskId":"T","contextId":"c-1","role":"ROLE_AGENT","parts":[{"text":` + quote(text) + `}]}}`
}

func messageAfterTask(s scene) {
	_, agent := s.agent(script{
		"SendStreamingMessage": events(taskWorking, chunk("x", false, true), agentSays("m-1", "by the way"), completed),
		"GetTask":              events(taskCompleted),
	}.say)
	done := s.product.TaskIn(s.start(agent), "TASK_STATE_COMPLETED")
	if diff := cmp.Diff([]string{"by the way"}, texts(done)); diff != "" || done.Kind != "task" {
		s.Errorf("kind %s, messages (-want +got):\n%s", done.Kind, diff)
	}
}

func manyMessages(s scene) {
	empty := `{"message":{"messageId":"m-1","contextId":"c-1","role":"ROLE_AGENT","parts":[]}}`
	list, want := []string{empty}, ""
	for _, word := range strings.Fields("one two three four five six seven eight nine ten eleven twelve") {
		list, want = append(list, strings.Replace(agentSays("m-1", word), `"taskId":"T",`, "", 1)), want+word
	}
	_, agent := s.agent(script{"SendStreamingMessage": events(append(list, empty)...)}.say)
	id := s.start(agent)
	s.product.TaskWhere(id, "with all of it", func(t apptest.Task) bool { return strings.Join(texts(t), "") == want })
}

func tokenUpdates(s scene) {
	list, want := []string{submitted}, ""
	for i := range 200 {
		word := strings.Repeat("x", i%7+1)
		update := strings.Replace(agentSays("", word), `{"message":{"messageId":"",`, `{"messageId":`+quote("m-"+strings.Repeat("i", i))+`,`, 1)
		list = append(list, strings.Replace(working, `:06Z"`, `:06Z","message":`+strings.TrimSuffix(update, "}"), 1))
		want += word
	}
	_, agent := s.agent(script{"SendStreamingMessage": events(append(list, completed)...), "GetTask": events(taskCompleted)}.say)
	done := s.product.TaskIn(s.start(agent), "TASK_STATE_COMPLETED")
	if got := strings.Join(texts(done), ""); got != want {
		s.Errorf("the agent said %q, want %q", got, want)
	}
}

func inputNeverStreamed(s scene) {
	s = s.impatient()
	_, agent := s.agent(func(c agenttest.Call) agenttest.Say {
		if c.Method == "GetTask" {
			return events(taskAsking)
		}
		return agenttest.Say{Events: []string{taskWorking}, Hold: true}
	})
	waits := s.product.TaskIn(s.start(agent), "TASK_STATE_INPUT_REQUIRED")
	if waits.Question == nil || waits.Question.Form == nil {
		s.Errorf("question %+v, want one with a form", waits.Question)
	}
}

func listInsteadOfStream(s scene) {
	var fake *agenttest.Fake
	fake, agent := s.agent(func(c agenttest.Call) agenttest.Say {
		if c.Method == "GetTask" {
			return events(taskCompleted)
		}
		return agenttest.Say{HTTP: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "["+fake.Wire(submitted)+","+fake.Wire(working)+"]")
		}}
	})
	s.product.TaskIn(s.start(agent), "TASK_STATE_COMPLETED")
	_, _, err := s.heard(func(f *agenttest.Fake) []string { return []string{"[" + f.Wire(working) + "]"} })
	if err == nil || !strings.Contains(err.Error(), "JSON list in the place of a stream") {
		s.Errorf("error = %v, want that it is a list", err)
	}
}
