package reported

import (
	"net/http"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/config"
	"github.com/agent-taskbay/taskbay/internal/remote/agenttest"
)

func pushCases() map[string]reportedCase {
	return map[string]reportedCase{
		"push-auth-ignored":    {ways: one(), play: pushWithoutAuthorization},
		"push-no-content-type": {ways: one(), play: pushOfAnyType},
		"push-order":           {ways: one(), play: pushesOutOfOrder},
	}
}

const pushOrigin = "https://console.example"

// pusher is an agent that was asked to push about a task at work.
type pusher struct {
	scene
	fake *agenttest.Fake
	to   string // with the secret
	task string // local
}

// pusher starts a task with an agent that pushes and says to a check what it is told.
func (s scene) pusher(check func(agenttest.Call) agenttest.Say) pusher {
	s.Helper()
	s.product = apptest.Start(s, apptest.Options{Change: func(c *config.Config) { c.PushOrigin = pushOrigin }})
	fake := agenttest.PlayPushing(s, s.way, false, func(c agenttest.Call) agenttest.Say {
		if c.Method == "GetTask" {
			return check(c)
		}
		return events(taskWorking)
	})
	id := s.start(s.product.Register(fake.CardURL))
	asked := <-fake.Asked()
	return pusher{scene: s, fake: fake, to: strings.Replace(asked.URL, pushOrigin, s.product.URL(), 1), task: id}
}

// push posts an event and returns how it is answered.
func (p pusher) push(to, event, contentType string) int {
	p.Helper()
	r, err := http.NewRequestWithContext(p.Context(), http.MethodPost, to, strings.NewReader(p.fake.Wire(event)))
	if err != nil {
		p.Fatal(err)
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		p.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}

// pushWithoutAuthorization: the address alone shows that it is the agent. Without the
// secret in it nothing is taken.
func pushWithoutAuthorization(s scene) {
	p := s.pusher(func(agenttest.Call) agenttest.Say { return events(taskWorking) })
	if got := p.push(p.to[:strings.LastIndexByte(p.to, '/')], completed, "application/json"); got != http.StatusUnauthorized {
		s.Errorf("a push that shows nothing is answered with %d", got)
	}
	if got := p.push(p.to, asking, "application/json"); got != http.StatusNoContent {
		s.Errorf("a push to the whole address is answered with %d", got)
	}
	if waits := p.product.TaskIn(p.task, "TASK_STATE_INPUT_REQUIRED"); waits.Question == nil || waits.Question.Form == nil {
		s.Errorf("question %+v, want one with a form", waits.Question)
	}
}

func pushOfAnyType(s scene) {
	p := s.pusher(func(agenttest.Call) agenttest.Say { return events(taskWorking) })
	for _, contentType := range []string{"application/octet-stream", "application/a2a+json", ""} {
		if got := p.push(p.to, asking, contentType); got != http.StatusNoContent {
			s.Errorf("a push of %q is answered with %d", contentType, got)
		}
	}
	p.product.TaskIn(p.task, "TASK_STATE_INPUT_REQUIRED")
}

// pushesOutOfOrder: what ended stays ended, and what comes late changes nothing.
func pushesOutOfOrder(s scene) {
	p := s.pusher(func(c agenttest.Call) agenttest.Say { return events(taskWorking) })
	for _, event := range []string{completed, working, submitted, completed} {
		if got := p.push(p.to, event, "application/json"); got != http.StatusNoContent {
			s.Errorf("a push is answered with %d", got)
		}
	}
	done := p.product.TaskIn(p.task, "TASK_STATE_COMPLETED")
	var states []string
	for _, transition := range done.Transitions {
		states = append(states, transition.State)
	}
	if diff := cmp.Diff([]string{"TASK_STATE_WORKING", "TASK_STATE_COMPLETED"}, states); diff != "" {
		s.Errorf("transitions (-want +got):\n%s", diff)
	}
}
