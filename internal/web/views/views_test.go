package views

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/task"
)

func sent(status string) []task.Message {
	return []task.Message{{Role: a2a.RoleUser, Author: "Ana", Delivery: &task.Delivery{Status: status}}}
}

func delivered(status string) *task.Delivery { return &task.Delivery{Status: status} }

func TestLookOf(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		task task.Task
		want string
	}{
		"asks":              {task.Task{State: a2a.StateInputRequired, NeedsYou: true}, "waiting: Waiting for you"},
		"asks for a grant":  {task.Task{State: a2a.StateAuthRequired, NeedsYou: true}, "waiting: Authorization needed"},
		"answered":          {task.Task{State: a2a.StateInputRequired}, "working: Answered"},
		"submitted":         {task.Task{State: a2a.StateSubmitted}, "working: Submitted"},
		"working":           {task.Task{State: a2a.StateWorking}, "working: Working"},
		"completed":         {task.Task{State: a2a.StateCompleted}, "done: Completed"},
		"failed":            {task.Task{State: a2a.StateFailed}, "failed: Failed"},
		"rejected":          {task.Task{State: a2a.StateRejected}, "failed: Rejected"},
		"canceled":          {task.Task{State: a2a.StateCanceled}, "unknown: Canceled"},
		"a state of theirs": {task.Task{State: "TASK_STATE_ON_HOLD"}, "unknown: on hold"},
		"a very long state": {task.Task{State: a2a.State(strings.Repeat("x", 50))}, "unknown: " + strings.Repeat("x", 40) + "…"},
		"a direct reply":    {task.Task{Kind: task.KindMessage}, "done: Replied"},
		"no state told":     {task.Task{State: a2a.StateUnspecified, RemoteTaskID: "r"}, "unknown: State unknown"},
		"in a list":         {task.Task{State: a2a.StateUnspecified}, "unknown: No reply yet"},
		"pending":           {task.Task{Sent: delivered("pending")}, "working: Sending"},
		"dispatching":       {task.Task{Sent: delivered("dispatching")}, "working: Sending"},
		"sent":              {task.Task{Sent: delivered("succeeded")}, "done: Sent"},
		"not sent":          {task.Task{Sent: delivered("failed")}, "failed: Not sent"},
		"refused":           {task.Task{Sent: &task.Delivery{Status: "failed", Refused: true}}, "failed: Refused by the agent"},
		"who knows":         {task.Task{Sent: delivered("uncertain")}, "unknown: Outcome unknown"},
		"an unknown status": {task.Task{Sent: delivered("pondering")}, "unknown: pondering"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lookOf(tc.task)
			if got := l.class + ": " + l.label; got != tc.want {
				t.Errorf("look = %q, want %q", got, tc.want)
			}
			if symbols[l.symbol] == "" {
				t.Errorf("there is no symbol %q", l.symbol)
			}
		})
	}
}

func TestModeOf(t *testing.T) {
	t.Parallel()
	asked := &task.Question{MessageID: "q"}
	withForm := &task.Question{MessageID: "q", Form: &form.Form{}}
	tests := map[string]struct {
		task     task.Task
		label    string
		question string
		anew     bool
	}{
		"at work":        {task.Task{State: a2a.StateWorking, RemoteTaskID: "r"}, "Message", "", false},
		"asks":           {task.Task{State: a2a.StateInputRequired, Question: asked}, "Your answer", "q", false},
		"asks by a form": {task.Task{State: a2a.StateInputRequired, Question: withForm}, "Or answer in your own words", "", false},
		"has ended":      {task.Task{State: a2a.StateFailed, RemoteTaskID: "r"}, "Continue in a new task", "", true},
		"was lost":       {task.Task{Sent: delivered("uncertain")}, "Send again as a new task", "", true},
		"was not sent":   {task.Task{Sent: delivered("failed")}, "Message", "", false},
		"direct reply":   {task.Task{Kind: task.KindMessage, Sent: delivered("succeeded")}, "Message", "", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := modeOf(tc.task)
			if got.label != tc.label || got.question != tc.question || got.anew != tc.anew {
				t.Errorf("mode = %+v, want %q, question %q, anew %v", got, tc.label, tc.question, tc.anew)
			}
		})
	}
}

func TestGone(t *testing.T) {
	t.Parallel()
	answer := task.Message{Role: a2a.RoleUser, Author: "Ana", Answers: "q"}
	tests := map[string]struct {
		task task.Task
		want string
	}{
		"answered":               {task.Task{State: a2a.StateWorking, Messages: []task.Message{answer}}, "Answered by Ana."},
		"answered, asks again":   {task.Task{State: a2a.StateInputRequired, Question: &task.Question{}, Messages: []task.Message{answer}}, "Answered by Ana."},
		"answered and ended":     {task.Task{State: a2a.StateCompleted, Messages: []task.Message{answer}}, "Answered by Ana."},
		"answered in free words": {task.Task{State: a2a.StateInputRequired, Messages: sent("pending")}, "Answered by Ana."},
		"canceled":               {task.Task{State: a2a.StateCanceled}, "The task has ended: Canceled."},
		"asks something else":    {task.Task{State: a2a.StateInputRequired, Question: &task.Question{}}, "The agent has asked something else meanwhile."},
		"works on":               {task.Task{State: a2a.StateWorking}, "The agent no longer waits for this answer."},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := gone(tc.task); got != tc.want {
				t.Errorf("gone = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestShownText(t *testing.T) {
	t.Parallel()
	short := strings.Repeat("é", 10)
	if got, cut := shownText(short); got != short || cut {
		t.Errorf("shownText cut a short text to %q", got)
	}
	got, cut := shownText("x" + strings.Repeat("é", shownBytes))
	if !cut || len(got) > shownBytes || !strings.HasSuffix(got, "é") {
		t.Errorf("shownText = %d bytes ending in %q, cut %v; want whole characters within %d", len(got), got[len(got)-2:], cut, shownBytes)
	}
}

func TestIndented(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"b":1.10,"a":[1e400,"\u0041"]}`: "{\n  \"b\": 1.10,\n  \"a\": [\n    1e400,\n    \"\\u0041\"\n  ]\n}",
		`"text"`:                          `"text"`,
		`{broken`:                         `{broken`,
	} {
		if diff := cmp.Diff(want, indented([]byte(in))); diff != "" {
			t.Errorf("indented(%s) mismatch (-want +got):\n%s", in, diff)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		byteSize(0):                        "0 bytes",
		byteSize(999):                      "999 bytes",
		byteSize(48_213):                   "48.2 kB",
		byteSize(5_000_000):                "5.0 MB",
		byteSize(7_300_000_000):            "7.3 GB",
		plural(1, "skill"):                 "1 skill",
		plural(0, "skill"):                 "0 skills",
		clip("añb", 2):                     "añ…",
		clip("añ", 2):                      "añ",
		host("https://a.example:8443/x"):   "a.example:8443",
		host("nonsense"):                   "nonsense",
		lead(strings.Repeat("word ", 200)): strings.Repeat("word ", 120) + "…",
		machineTime(time.Date(2026, 11, 30, 13, 0, 0, 5_000_000, time.FixedZone("", 3600))): "2026-11-30T12:00:00.005Z",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestUnmet(t *testing.T) {
	t.Parallel()
	a := agent.Agent{Card: agent.Card{Extensions: []agent.Extension{
		{URI: form.URI, Required: true}, {URI: "urn:optional"}, {URI: "urn:needed", Required: true},
	}}}
	if got := Unmet(a); got != "urn:needed" {
		t.Errorf("Unmet = %q, want what is required and not understood", got)
	}
	if got := understands(a); got != "Structured form" {
		t.Errorf("understands = %q", got)
	}
}

func TestDeepJSONIsNotLaidOut(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	if got := indented([]byte(deep)); got != deep {
		t.Errorf("%d bytes that nest deeply became %d", len(deep), len(got))
	}
	if got := bodyText([]byte(deep)); got != deep {
		t.Errorf("a body of %d bytes that nests deeply became %d", len(deep), len(got))
	}
}

func TestBrowserWords(t *testing.T) {
	t.Parallel()
	for client, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0":                                                                 "Firefox on Linux",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36 Edg/130.0.0.0":          "Edge on Windows",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15":                  "Safari on macOS",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/130.0 Mobile/15E148 Safari/604.1": "Chrome on iPhone",
		"Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36":                           "Chrome on Android",
		"curl/8.10": "curl/8.10", "": "Unknown browser",
	} {
		if got := browserWords(client); got != want {
			t.Errorf("browserWords(%q) = %q, want %q", client, got, want)
		}
	}
}
