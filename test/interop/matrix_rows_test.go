package interop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/remote/agenttest"
)

// rows are what is tried with every peer, in order; each says "yes", or what
// happened instead.
var rows = []struct {
	name string
	try  func(*conversation) string
}{
	{"Card", func(*conversation) string { return yes }}, // without one there is no conversation
	{"Ask with a form", (*conversation).ask},
	{"Answer, complete", (*conversation).answer},
	{"Stream with an artifact", (*conversation).report},
	{"Resubscribe", (*conversation).resubscribe},
	{"Get", (*conversation).get},
	{"List", (*conversation).list},
	{"Cancel", (*conversation).cancel},
	{"Push: create", (*conversation).createPush},
	{"Push: get", (*conversation).getPush},
	{"Push: list", (*conversation).listPushes},
	{"Push: delete", (*conversation).deletePush},
	{"Unknown task", (*conversation).unknownTask},
	{"Reply on a finished task", (*conversation).replyTooLate},
	{"Message without a task", (*conversation).message},
}

// conversation is what goes on with one peer.
type conversation struct {
	ctx    context.Context
	client *remote.Client
	to     remote.Target
	task   a2a.Event // the last that was started
	pushed bool      // it has a push configuration
}

// tryAll tries every row.
func (p peer) tryAll(t *testing.T) map[string]string {
	client := remote.New(remote.Options{})
	t.Cleanup(client.Close)
	to, err := p.target(t, client)
	if err != nil {
		t.Fatalf("%s: %v", p.cardURL, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := &conversation{ctx: ctx, client: client, to: to}
	held := map[string]string{}
	for _, row := range rows {
		held[row.name] = row.try(c)
	}
	return held
}

// said is how a cell tells an error: by its code, which is the same every time.
func said(err error) string {
	var e *remote.Error
	switch {
	case !errors.As(err, &e):
		return fmt.Sprint(err)
	case e.Delivery == remote.NotSent:
		return e.Message
	case e.Code != "":
		return "It is answered with " + e.Code + "."
	}
	return e.Message
}

func (c *conversation) request(parts ...a2a.Part) remote.SendRequest {
	return remote.SendRequest{Message: a2a.Message{MessageID: uuid.NewString(), Role: a2a.RoleUser, Parts: parts, Extensions: []string{form.URI}}}
}

// on puts a message on the last task.
func (c *conversation) on(r remote.SendRequest) remote.SendRequest {
	r.Message.TaskID, r.Message.ContextID = c.task.TaskID(), c.task.ContextID()
	return r
}

// stream sends a message and returns the events that come back.
func (c *conversation) stream(r remote.SendRequest) ([]a2a.Event, error) {
	var events []a2a.Event
	for o, err := range c.client.Stream(c.ctx, c.to, r) {
		if err != nil {
			return events, err
		}
		event, _ := a2a.DecodeEvent(o.Payload)
		events = append(events, event)
	}
	return events, nil
}

// start starts a task and returns the events of its stream.
func (c *conversation) start(text string) ([]a2a.Event, error) {
	events, err := c.stream(c.request(a2a.TextPart(text)))
	if err == nil && len(events) == 0 {
		err = errors.New("nothing came back")
	}
	if err == nil {
		c.task = events[0]
	}
	return events, err
}

// statusOf is the status that an event tells of.
func statusOf(e a2a.Event) a2a.Status {
	switch {
	case e.Task != nil:
		return e.Task.Status
	case e.StatusUpdate != nil:
		return e.StatusUpdate.Status
	}
	return a2a.Status{}
}

func (c *conversation) ask() string {
	events, err := c.start("deploy")
	if err != nil {
		return said(err)
	}
	status := statusOf(events[len(events)-1])
	if status.State != a2a.StateInputRequired || status.Message == nil {
		return fmt.Sprintf("The stream ends with %s.", status.State)
	}
	for _, p := range status.Message.Parts {
		if p.Data == nil {
			continue
		}
		if !form.IsMediaType(p.MediaType) {
			return "The SDK drops what says that the data is a form, so it is shown as data."
		}
		if _, err := form.Parse(p.Data); err != nil {
			return fmt.Sprint(err)
		}
		return yes
	}
	return "The question has no data."
}

func (c *conversation) answer() string {
	answer := a2a.DataPart([]byte(`{"environment":"staging","replicas":2,"dryRun":false}`), "application/json")
	o, err := c.client.Send(c.ctx, c.to, c.on(c.request(answer)))
	if err != nil {
		return said(err)
	}
	return c.until(o, a2a.StateCompleted, "staging")
}

// until waits until the task is in a state and has said a word in it. What an
// answer to a message tells may be earlier than that.
func (c *conversation) until(o remote.Observation, want a2a.State, word string) string {
	for {
		event, _ := a2a.DecodeEvent(o.Payload)
		status := statusOf(event)
		switch {
		case status.State == want && strings.Contains(textOf(status.Message), word):
			return yes
		case status.State.Terminal(), status.State.Waiting() && status.Message != nil && strings.Contains(textOf(status.Message), "expected exactly one part"):
			return "The SDK drops what says that the data is an answer, so the agent asks again."
		}
		var err error
		if o, err = c.client.Get(c.ctx, c.to, c.task.TaskID(), nil); err != nil {
			return said(err)
		}
	}
}

func textOf(m *a2a.Message) string {
	if m == nil {
		return ""
	}
	var texts []string
	for _, p := range m.Parts {
		if p.Text != nil {
			texts = append(texts, *p.Text)
		}
	}
	return strings.Join(texts, " ")
}

func (c *conversation) report() string {
	events, err := c.start(agenttest.SayReport)
	if err != nil {
		return said(err)
	}
	got := ""
	for _, e := range events {
		if e.ArtifactUpdate != nil {
			for _, p := range e.ArtifactUpdate.Artifact.Parts {
				got += *p.Text
			}
		}
	}
	if state := statusOf(events[len(events)-1]).State; got != strings.Join(agenttest.Report(), "") || state != a2a.StateCompleted {
		return fmt.Sprintf("The artifact is %q and the state %s.", got, state)
	}
	return yes
}

// resubscribe joins a task at work, and cancels it so that the stream ends.
func (c *conversation) resubscribe() string {
	o, err := c.client.Send(c.ctx, c.to, c.request(a2a.TextPart(agenttest.SayWork)))
	if err != nil {
		return said(err)
	}
	started, _ := a2a.DecodeEvent(o.Payload)
	canceled, last := false, a2a.Status{}
	for o, err := range c.client.Subscribe(c.ctx, c.to, started.TaskID()) {
		if err != nil {
			return said(err)
		}
		event, _ := a2a.DecodeEvent(o.Payload)
		last = statusOf(event)
		if canceled {
			continue
		}
		canceled = true
		if _, err := c.client.Cancel(c.ctx, c.to, started.TaskID()); err != nil {
			return said(err)
		}
	}
	if last.State != a2a.StateCanceled {
		return fmt.Sprintf("The stream ends with %s.", last.State)
	}
	return yes
}

func (c *conversation) get() string {
	o, err := c.client.Get(c.ctx, c.to, c.task.TaskID(), nil)
	if err != nil {
		return said(err)
	}
	if event, _ := a2a.DecodeEvent(o.Payload); event.Task == nil || event.Task.Status.State != a2a.StateCompleted {
		return fmt.Sprintf("The task is %s.", statusOf(event).State)
	}
	return yes
}

func (c *conversation) list() string {
	page, err := c.client.List(c.ctx, c.to, remote.ListRequest{ContextID: c.task.ContextID()})
	if err != nil {
		return said(err)
	}
	for _, o := range page.Tasks {
		if event, _ := a2a.DecodeEvent(o.Payload); event.TaskID() == c.task.TaskID() {
			return yes
		}
	}
	return "The task is not in the list."
}

func (c *conversation) cancel() string {
	if _, err := c.start("deploy"); err != nil {
		return said(err)
	}
	o, err := c.client.Cancel(c.ctx, c.to, c.task.TaskID())
	var refused *remote.Error
	for range 5 { // the Go SDK refuses it while the run that asked is about to end
		if !errors.As(err, &refused) || refused.Code != remote.CodeTaskNotCancelable {
			break
		}
		if _, err := c.client.Get(c.ctx, c.to, c.task.TaskID(), nil); err != nil {
			return said(err)
		}
		o, err = c.client.Cancel(c.ctx, c.to, c.task.TaskID())
	}
	if err != nil {
		return said(err)
	}
	return c.until(o, a2a.StateCanceled, "")
}
