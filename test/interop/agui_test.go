package interop

import (
	"testing"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/demo"
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
