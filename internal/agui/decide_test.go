package agui

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// threadOf is a thread with a run "r" that brought the message "m" and came to a task
// in a state. It waits for an answer to the interrupt "i" if the state is one in which
// agents do.
func threadOf(state a2a.State) (*history, *Asked) {
	content := []Content{{Type: "text", Text: "hello"}}
	h := &history{
		thread: Thread{ID: "thread"},
		runs:   []Run{{ID: "run", Number: 1, Key: "r", TaskID: "task", CommandID: "command"}},
		said:   []Said{{MessageID: "m", RunID: "run", Digest: spoken{Content: content}.digest(), Plain: true, Content: content}},
	}
	h.now = &task.Task{ID: "task", RemoteTaskID: "remote", State: state, NeedsYou: state.Waiting(), Messages: []task.Message{{Delivery: &task.Delivery{CommandID: "command", Status: "succeeded"}}}}
	if !state.Waiting() {
		return h, nil
	}
	h.now.Question = &task.Question{MessageID: "q", Prompt: "Which?", FormPart: -1}
	h.interrupts = []Asked{{RunID: "run", TaskID: "task", Interrupt: Interrupt{ID: "i"}}}
	return h, &h.interrupts[0]
}

func input(t *testing.T, raw string) Input {
	t.Helper()
	in, err := readInput([]byte(`{"threadId":"t",` + strings.TrimPrefix(raw, "{")))
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestDecide(t *testing.T) {
	t.Parallel()
	const hello, other = `{"id":"m","role":"user","content":"hello"}`, `{"id":"m","role":"user","content":"other"}`
	const more = `{"id":"n","role":"user","content":"more"}`
	resume := func(id, status, payload string) string {
		return `"resume":[{"interruptId":"` + id + `","status":"` + status + `","payload":` + payload + `}]`
	}
	for name, c := range map[string]struct {
		state a2a.State
		input string
		want  action
		code  string // of an error instead
		errs  bool
	}{
		"a new message after the end starts a task":     {a2a.StateCompleted, `{"runId":"s","messages":[` + hello + `,` + more + `]}`, actSend, "", false},
		"the same run attaches":                         {a2a.StateWorking, `{"runId":"r","messages":[` + hello + `]}`, actFollow, "", false},
		"the same run without its message attaches":     {a2a.StateWorking, `{"runId":"r"}`, actFollow, "", false},
		"the same run with another word is a conflict":  {a2a.StateWorking, `{"runId":"r","messages":[` + other + `]}`, 0, "run_id_conflict", false},
		"the same run with a new message is a conflict": {a2a.StateCompleted, `{"runId":"r","messages":[` + hello + `,` + more + `]}`, 0, "run_id_conflict", false},
		"nothing new follows":                           {a2a.StateWorking, `{"runId":"s","messages":[` + hello + `]}`, actFollow, "", false},
		"nothing new shows the end again":               {a2a.StateFailed, `{"runId":"s","messages":[` + hello + `]}`, actFollow, "", false},
		"a new message while it works is refused":       {a2a.StateWorking, `{"runId":"s","messages":[` + more + `]}`, 0, "run_active", false},
		"a new message while it asks is asked again":    {a2a.StateInputRequired, `{"runId":"s","messages":[` + more + `]}`, actAsk, "", false},
		"a reload while it asks is asked again":         {a2a.StateInputRequired, `{"runId":"s"}`, actAsk, "", false},
		"an answer is sent":                             {a2a.StateInputRequired, `{"runId":"s",` + resume("i", "resolved", `"this"`) + `}`, actAnswer, "", false},
		"an answer by its other name is sent":           {a2a.StateInputRequired, `{"runId":"s",` + resume("i", "answered", `{"text":"this"}`) + `}`, actAnswer, "", false},
		"an answer under the ID of its run is sent":     {a2a.StateInputRequired, `{"runId":"r","messages":[` + hello + `],` + resume("i", "resolved", `"this"`) + `}`, actAnswer, "", false},
		"an answer that does not fit is asked again":    {a2a.StateInputRequired, `{"runId":"s",` + resume("i", "resolved", `{"words":1}`) + `}`, actAsk, "", true},
		"an answer without a payload is asked again":    {a2a.StateInputRequired, `{"runId":"s",` + resume("i", "resolved", `null`) + `}`, actAsk, "", true},
		"an unknown status is asked again":              {a2a.StateInputRequired, `{"runId":"s",` + resume("i", "rejected", `"this"`) + `}`, actAsk, "", true},
		"giving up cancels":                             {a2a.StateInputRequired, `{"runId":"s",` + resume("i", "abandoned", `null`) + `}`, actCancel, "", false},
		"two answers to one are asked again":            {a2a.StateInputRequired, `{"runId":"s","resume":[{"interruptId":"i","status":"resolved","payload":"a"},{"interruptId":"i","status":"cancelled"}]}`, actAsk, "", true},
		"an answer to something else is asked again":    {a2a.StateInputRequired, `{"runId":"s",` + resume("x", "resolved", `"this"`) + `}`, actAsk, "", false},
		"signing in is told":                            {a2a.StateAuthRequired, `{"runId":"s",` + resume("i", "resolved", `{"done":true}`) + `}`, actAnswer, "", false},
		"not having signed in is asked again":           {a2a.StateAuthRequired, `{"runId":"s",` + resume("i", "resolved", `{"done":false}`) + `}`, actAsk, "", true},
		"giving up what has failed does nothing":        {a2a.StateFailed, `{"runId":"s",` + resume("i", "cancelled", `null`) + `}`, actRest, "", false},
		"giving up what has failed, and a new message":  {a2a.StateFailed, `{"runId":"s","messages":[` + more + `],` + resume("i", "cancelled", `null`) + `}`, actSend, "", false},
		"an answer that comes too late follows":         {a2a.StateWorking, `{"runId":"s",` + resume("i", "resolved", `"this"`) + `}`, actFollow, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, open := threadOf(c.state)
			d, err := decide(h, open, input(t, c.input))
			var coded *codedError
			if c.code != "" {
				if !errors.As(err, &coded) || coded.code != c.code {
					t.Fatalf("decide: %v, want the code %s", err, c.code)
				}
				return
			}
			if err != nil || d.do != c.want || (len(d.errs) > 0) != c.errs {
				t.Errorf("decide = %+v, %v; want action %d, faults: %v", d, err, c.want, c.errs)
			}
		})
	}
}

func TestDecideOnANewThread(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]action{
		`{"runId":"r","messages":[{"id":"m","role":"user","content":"hello"},{"id":"m","role":"user","content":"again"},{"id":"a","role":"assistant","content":"x"}]}`: actSend,
		`{"runId":"r"}`: actRest,
	} {
		d, err := decide(&history{}, nil, input(t, raw))
		if err != nil || d.do != want || want == actSend && len(d.fresh) != 1 {
			t.Errorf("decide(%s) = %+v, %v; want action %d", raw, d, err, want)
		}
	}
}

func TestAnsweredTwiceIsAReplay(t *testing.T) {
	t.Parallel()
	h, open := threadOf(a2a.StateInputRequired)
	in := input(t, `{"runId":"r2","resume":[{"interruptId":"i","status":"resolved","payload":"this"}]}`)
	open.Decision = decisionDigest(in.Resume[0])
	h.runs = append(h.runs, Run{ID: "run2", Number: 2, Key: "r2", TaskID: "task", CommandID: "command2", Resume: resumeDigest(in.Resume)})
	h.now.State, h.now.NeedsYou, h.now.Question = a2a.StateWorking, false, nil
	d, err := decide(h, nil, in)
	if err != nil || d.do != actFollow || d.run.ID != "run2" || len(d.warnings) > 0 {
		t.Errorf("the same again: %+v, %v; want the run followed", d, err)
	}
	in.RunID = "r3"
	if d, err = decide(h, nil, in); err != nil || d.do != actFollow || len(d.warnings) > 0 {
		t.Errorf("the same in another run: %+v, %v; want it followed without a word", d, err)
	}
}

func TestUserContent(t *testing.T) {
	t.Parallel()
	s := speak(InputMessage{ID: "m", Content: json.RawMessage(`[
		{"type":"text","text":"Look:"},
		{"type":"image","source":{"type":"data","value":"aGk=","mimeType":"image/png"},"metadata":{"filename":"a.png"}},
		{"type":"document","source":{"type":"url","value":"https://x.example/y","mimeType":"text/plain"}},
		{"type":"binary","mimeType":"audio/wav","data":"aGk=","filename":"b.wav"},
		{"type":"image","source":{"type":"url","value":"data:image/gif;base64,aGk="}},
		{"type":"image","source":{"type":"file","value":"handle"}},
		{"type":"hologram"}, 7, {"type":"image","source":{"type":"data","value":"%%"}},
		{"type":"image","source":{"type":"url","value":"/relative"}}]`)})
	if len(s.Content) != 5 || len(s.Unknown) != 5 {
		t.Fatalf("%d pieces and %d unknown ones, want 5 and 5: %+v", len(s.Content), len(s.Unknown), s)
	}
	for i, want := range []string{`{"text":"Look:","mediaType":"text/plain"}`, `{"raw":"aGk=","mediaType":"image/png","filename":"a.png"}`,
		`{"url":"https://x.example/y","mediaType":"text/plain"}`, `{"raw":"aGk=","mediaType":"audio/wav","filename":"b.wav"}`, `{"raw":"aGk=","mediaType":"image/gif"}`} {
		if got, err := s.Content[i].part().MarshalJSON(); err != nil || string(got) != want {
			t.Errorf("part %d is %s, %v; want %s", i, got, err, want)
		}
	}
	content := s.Content
	for i := range content {
		content[i].bytes = nil // as it is stored
	}
	again := speak(InputMessage{ID: "m", Content: shown(content, false, func(sha256 string) string { return "http://console" + artifactPath + sha256 })})
	if again.digest() != s.digest() {
		t.Error("what comes back from a snapshot is another message")
	}
}

// FuzzInput reads what anybody may send.
func FuzzInput(f *testing.F) {
	f.Add([]byte(`{"threadId":"t","runId":"r","messages":[{"id":"m","role":"user","content":[{"type":"image","source":{"type":"data","value":"aGk="}}]}],"state":[],"context":[1],"resume":[{"interruptId":"i","status":"resolved","payload":{"a":1}}]}`))
	f.Add([]byte(`{"threadId":"t","runId":"r","messages":null,"resume":null,"tools":[null],"forwardedProps":{"":null}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		in, err := readInput(body)
		if err != nil {
			return
		}
		if raw := in.metadata(); raw != nil && !json.Valid(raw) {
			t.Errorf("metadata is no JSON: %s", raw)
		}
		h, open := threadOf(a2a.StateInputRequired)
		d, err := decide(h, open, in)
		for _, s := range d.fresh {
			if raw := shown(s.Content, s.Plain, func(string) string { return "" }); err == nil && !json.Valid(raw) {
				t.Errorf("a message is no JSON: %s", raw)
			}
		}
	})
}
