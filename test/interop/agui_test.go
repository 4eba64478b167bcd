package interop

import (
	"fmt"
	"slices"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/demo"
	"github.com/agent-taskbay/taskbay/internal/remote/agenttest"
)

// TestAGUI drives agents with the official AG-UI clients, through a real console.
func TestAGUI(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Options{SampleAgents: true})
	for _, line := range aguiLines {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			p := startAGUIClient(t, line)
			for name, test := range map[string]func(*testing.T, *apptest.Server, *aguiProgram){
				"plain completion":               aguiPlain,
				"a form":                         aguiForm,
				"every end":                      aguiEnds,
				"a dropped connection":           aguiDropped,
				"given up":                       aguiGivenUp,
				"a reload":                       aguiReload,
				"another agent, the same thread": aguiThreads,
			} {
				t.Run(name, func(t *testing.T) { test(t, s.For(t), p) })
			}
		})
	}
}

func aguiPlain(t *testing.T, s *apptest.Server, p *aguiProgram) {
	a := p.agent(t, s, s.SampleAgent(demo.Unknown).ID, "")
	r := a.say("How will the weather be tomorrow?")
	again := a.say("And then?")
	if r.outcome() != "success" || again.outcome() != "success" || r.State.A2A.TaskState != "TASK_STATE_COMPLETED" {
		t.Errorf("the runs ended with %s and %s in %s", r.outcome(), again.outcome(), r.State.A2A.TaskState)
	}
	if len(again.texts("assistant")) != 2 || len(again.texts("user")) != 2 || again.State.A2A.ContextID != r.State.A2A.ContextID {
		t.Errorf("the client has %+v", again.Messages)
	}
}

func aguiForm(t *testing.T, s *apptest.Server, p *aguiProgram) {
	a := p.agent(t, s, s.SampleAgent(demo.Form).ID, "")
	asked := a.say("Deploy the billing service")
	if asked.outcome() != "interrupt" || len(asked.Pending) != 1 || asked.Pending[0].Metadata.Form.Title == "" {
		t.Fatalf("the run ended with %s: %+v", asked.outcome(), asked.Pending)
	}
	i := asked.Pending[0]
	bad := a.answer(i, "resolved", map[string]any{"environment": "staging", "replicas": 200})
	if bad.outcome() != "interrupt" || bad.Pending[0].ID != i.ID || len(bad.Pending[0].Metadata.ValidationErrors) != 1 {
		t.Fatalf("a bad answer brought %s: %+v", bad.outcome(), bad.Pending)
	}
	done := a.answer(i, "resolved", map[string]any{"environment": "staging", "replicas": 2})
	texts := done.texts("assistant")
	if done.outcome() != "success" || len(done.Pending) != 0 || len(texts) == 0 || texts[len(texts)-1] != "Deploying 2 replica(s) to staging." {
		t.Errorf("the answer brought %s: %q", done.outcome(), texts)
	}
}

// aguiEnds has an agent come to every state in which a run ends.
func aguiEnds(t *testing.T, s *apptest.Server, p *aguiProgram) {
	states := []string{"COMPLETED", "FAILED", "REJECTED", "CANCELED", "INPUT_REQUIRED", "AUTH_REQUIRED"}
	canceled := "cancelled" // an outcome to current clients, and a code to those before
	want := []string{"success", "a2a_task_failed", "a2a_task_rejected", canceled, "interrupt", "interrupt"}
	at := 0
	fake := agenttest.Play(t, agenttest.Ways()[0], false, func(c agenttest.Call) agenttest.Say {
		return agenttest.Say{Events: []string{fmt.Sprintf(`{"task":{"id":"t-%d","contextId":"c","status":{"state":"TASK_STATE_%s",
			"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"So it is."}]}}}}`, at, states[at])}}
	})
	agent := s.Register(fake.CardURL).ID
	for at = range states {
		r := p.agent(t, s, agent, "").say("Go.")
		if r.outcome() != want[at] || !slices.Contains(r.texts("assistant"), "So it is.") {
			t.Errorf("%s ended with %s: %q", states[at], r.outcome(), r.texts("assistant"))
		}
	}
}

// aguiDropped has a client leave in the middle of a run, which goes on, and another one
// take it up again.
func aguiDropped(t *testing.T, s *apptest.Server, p *aguiProgram) {
	agent := s.SampleAgent(demo.Slow).ID
	a := p.agent(t, s, agent, "")
	params := says("Write the report")
	params["runId"], params["abortOn"] = "run-"+a.ThreadID, "STATE_SNAPSHOT"
	<-a.start(params)
	b := p.agent(t, s, agent, a.ThreadID)
	delete(params, "abortOn")
	r := b.run(params)
	if r.outcome() != "interrupt" || len(r.texts("user")) != 1 || len(r.texts("assistant")) != 3 {
		t.Errorf("the run that was taken up again ended with %s: %q", r.outcome(), r.texts("assistant"))
	}
}

func aguiGivenUp(t *testing.T, s *apptest.Server, p *aguiProgram) {
	a := p.agent(t, s, s.SampleAgent(demo.Form).ID, "")
	asked := a.say("Deploy")
	r := a.answer(asked.Pending[0], "cancelled", nil)
	want := "cancelled"
	if p.legacy {
		want = "none" // these clients know no other end that frees the thread
	}
	if r.outcome() != want || len(r.Pending) != 0 || r.State.A2A.TaskState != "TASK_STATE_CANCELED" {
		t.Errorf("giving up brought %s in %s, with %+v pending", r.outcome(), r.State.A2A.TaskState, r.Pending)
	}
}

// aguiReload has a new client, which knows nothing, on the thread of an interrupt.
func aguiReload(t *testing.T, s *apptest.Server, p *aguiProgram) {
	agent := s.SampleAgent(demo.Form).ID
	a := p.agent(t, s, agent, "")
	asked := a.say("Deploy")
	b := p.agent(t, s, agent, a.ThreadID)
	r := b.run(nil)
	if r.outcome() != "interrupt" || r.Pending[0].ID != asked.Pending[0].ID || len(r.texts("user")) != 1 || len(r.texts("assistant")) != 1 {
		t.Fatalf("the reload brought %s: %+v", r.outcome(), r.Messages)
	}
	if done := b.answer(r.Pending[0], "resolved", map[string]any{"environment": "staging", "replicas": 2}); done.outcome() != "success" {
		t.Errorf("the answer after it brought %s", done.outcome())
	}
}

func aguiThreads(t *testing.T, s *apptest.Server, p *aguiProgram) {
	a := p.agent(t, s, s.SampleAgent(demo.Form).ID, "")
	a.say("Deploy")
	other := p.agent(t, s, s.SampleAgent(demo.Plain).ID, a.ThreadID)
	if r := other.run(nil); r.outcome() != "success" || len(r.Messages) != 0 {
		t.Errorf("the thread of another agent shows %+v", r.Messages)
	}
}
