package reported

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/remote/agenttest"
)

// scene is where a case is played: a running product, and the way in which its
// agent is spoken to.
type scene struct {
	*testing.T
	way     agenttest.Way
	product *apptest.Server
}

// reportedCase is how a reported fault is played, and over which ways.
type reportedCase struct {
	ways []agenttest.Way
	play func(scene)
	// open is what of the expected is not there yet; "" if nothing.
	open string
}

func all() []agenttest.Way { return agenttest.Ways() }

// where returns the ways that are as asked.
func where(is func(agenttest.Way) bool) []agenttest.Way {
	return slices.DeleteFunc(all(), func(w agenttest.Way) bool { return !is(w) })
}

// overHTTP are the ways that are text over HTTP.
func overHTTP() []agenttest.Way {
	return where(func(w agenttest.Way) bool { return !w.OverGRPC() })
}

func by(binding string) []agenttest.Way {
	return where(func(w agenttest.Way) bool { return w.Binding == binding })
}

// current are the ways of A2A 1.0.
func current() []agenttest.Way {
	return where(func(w agenttest.Way) bool { return !w.Legacy() })
}

// one is for what has nothing to do with the binding.
func one() []agenttest.Way { return all()[:1] }

// waiting are the faults that cannot be played yet, with the reason.
var waiting = map[string]string{}

func cases() map[string]reportedCase {
	every := map[string]reportedCase{}
	for _, some := range []map[string]reportedCase{streamCases(), answerCases(), taskCases(), messageCases(), cardCases(), pushCases()} {
		maps.Copy(every, some)
	}
	return every
}

// TestReported plays every case.
func TestReported(t *testing.T) {
	t.Parallel()
	product := apptest.Start(t, apptest.Options{})
	for name, c := range cases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.open != "" {
				t.Log("not there yet: " + c.open)
			}
			for _, way := range c.ways {
				t.Run(way.String(), func(t *testing.T) {
					t.Parallel()
					c.play(scene{t, way, product.For(t)})
				})
			}
		})
	}
}

// TestEveryReportedCaseIsHere: each is played, or waits for a reason.
func TestEveryReportedCaseIsHere(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/reported.json")
	if err != nil {
		t.Fatal(err)
	}
	var reported []struct{ ID string }
	if err := json.Unmarshal(raw, &reported); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, r := range reported {
		want = append(want, r.ID)
	}
	got := slices.AppendSeq(slices.Collect(maps.Keys(cases())), maps.Keys(waiting))
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cases (-reported +here):\n%s", diff)
	}
}

// script says the same to every call of a method.
type script map[string]agenttest.Say

func (s script) say(c agenttest.Call) agenttest.Say { return s[c.Method] }

// agent plays a fake agent and registers it.
func (s scene) agent(say func(agenttest.Call) agenttest.Say) (*agenttest.Fake, apptest.Agent) {
	s.Helper()
	fake := agenttest.Play(s, s.way, true, say)
	return fake, s.product.Register(fake.CardURL)
}

// start begins a task with an agent, which has to take the message.
func (s scene) start(agent apptest.Agent) string {
	s.Helper()
	c := s.product.Send(agent.ID, map[string]any{"text": "go"})
	if c.Status != "succeeded" {
		s.Fatalf("the first message is %s: %s", c.Status, c.Error)
	}
	return c.TaskID
}

// target is the agent as the client is given it, for cases that are told there.
func (s scene) target(fake *agenttest.Fake) remote.Target {
	return remote.Target{AgentID: "agent-1", Interface: fake.Interface, Streaming: true}
}

// impatient is a product that waits for nothing long.
func (s scene) impatient() scene {
	s.product = apptest.Start(s, apptest.Options{Limits: remote.Limits{Idle: 500 * time.Millisecond}})
	return s
}

// The events that cases are made of, in A2A 1.0.
const (
	submitted = `{"task":{"id":"T","contextId":"c-1","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2026-01-02T03:04:05Z"}}}`
	working   = `{"statusUpdate":{"taskId":"T","contextId":"c-1","status":{"state":"TASK_STATE_WORKING","timestamp":"2026-01-02T03:04:06Z"}}}`
	asking    = `{"statusUpdate":{"taskId":"T","contextId":"c-1","status":{"state":"TASK_STATE_INPUT_REQUIRED","timestamp":"2026-01-02T03:04:07Z","message":` + question + `}}}`
	completed = `{"statusUpdate":{"taskId":"T","contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-01-02T03:04:08Z"}}}`

	question = `{"messageId":"q-1","taskId":"T","contextId":"c-1","role":"ROLE_AGENT","parts":[{"text":"Which one?"},` +
		`{"data":{"title":"Which","schema":{"type":"object","properties":{"n":{"type":"integer","title":"Number"}}}},"mediaType":"application/vnd.agent-taskbay.form+json"}]}`

	taskWorking   = `{"task":{"id":"T","contextId":"c-1","status":{"state":"TASK_STATE_WORKING","timestamp":"2026-01-02T03:04:06Z"}}}`
	taskAsking    = `{"task":{"id":"T","contextId":"c-1","status":{"state":"TASK_STATE_INPUT_REQUIRED","timestamp":"2026-01-02T03:04:07Z","message":` + question + `}}}`
	taskCompleted = `{"task":{"id":"T","contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-01-02T03:04:08Z"}}}`
)

// events says events.
func events(list ...string) agenttest.Say { return agenttest.Say{Events: list} }

// texts returns the texts that the agent said, in order.
func texts(t apptest.Task) []string {
	var all []string
	for _, m := range t.Messages {
		if m.Role != "agent" {
			continue
		}
		for _, p := range m.Parts {
			all = append(all, apptest.Text(p))
		}
	}
	return all
}

// artifactTexts returns the texts in the parts of an artifact.
func artifactTexts(t apptest.Task) []string {
	var all []string
	for _, a := range t.Artifacts {
		for _, p := range a.Parts {
			all = append(all, apptest.Text(p))
		}
	}
	return all
}

// chunk is a piece of an artifact.
func chunk(text string, appended, last bool) string {
	flags := ""
	if appended {
		flags += `,"append":true`
	}
	if last {
		flags += `,"lastChunk":true`
	}
	return `{"artifactUpdate":{"taskId":"T","contextId":"c-1"` + flags + `,"artifact":{"artifactId":"a","parts":[{"text":` + quote(text) + `}]}}}`
}

func quote(text string) string {
	written, _ := json.Marshal(text) // a string always encodes
	return string(written)
}
