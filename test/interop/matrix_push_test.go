package interop

import (
	"fmt"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/remote/agenttest"
)

// push is a configuration of the last task. Nothing is pushed to it: the task that
// it is of does nothing more.
func (c *conversation) push() remote.PushConfig {
	return remote.PushConfig{TaskID: c.task.TaskID(), ID: "p-1", URL: "https://console.example/push", Token: "t"}
}

func (c *conversation) createPush() string {
	if _, err := c.start("deploy"); err != nil {
		return said(err)
	}
	made, err := c.client.CreatePushConfig(c.ctx, c.to, c.push())
	c.pushed = err == nil
	return sameConfig(made, c.push(), err)
}

const notCreated = "There is none, since none could be created."

func (c *conversation) getPush() string {
	if !c.pushed {
		return notCreated
	}
	got, err := c.client.GetPushConfig(c.ctx, c.to, c.task.TaskID(), "p-1")
	return sameConfig(got, c.push(), err)
}

func sameConfig(got, want remote.PushConfig, err error) string {
	if err != nil {
		return said(err)
	}
	if got.ID != want.ID || got.URL != want.URL {
		return fmt.Sprintf("The agent keeps %s %s.", got.ID, got.URL)
	}
	return yes
}

func (c *conversation) listPushes() string {
	if !c.pushed {
		return notCreated
	}
	list, err := c.client.ListPushConfigs(c.ctx, c.to, c.task.TaskID())
	if err != nil {
		return said(err)
	}
	if len(list) != 1 || list[0].ID != "p-1" {
		return fmt.Sprintf("The list has %d entries.", len(list))
	}
	return yes
}

func (c *conversation) deletePush() string {
	if !c.pushed {
		return notCreated
	}
	if err := c.client.DeletePushConfig(c.ctx, c.to, c.task.TaskID(), "p-1"); err != nil {
		return said(err)
	}
	list, err := c.client.ListPushConfigs(c.ctx, c.to, c.task.TaskID())
	if err != nil {
		return said(err)
	}
	if len(list) > 0 {
		return "It is still there."
	}
	return yes
}

func (c *conversation) unknownTask() string {
	_, err := c.client.Get(c.ctx, c.to, "00000000-0000-0000-0000-000000000000", nil)
	return answeredWith(err, remote.CodeTaskNotFound)
}

// replyTooLate has to be answered with an error: A2A 1.0, 3.1.1 names this one.
func (c *conversation) replyTooLate() string {
	if _, err := c.start(agenttest.SayReport); err != nil {
		return said(err)
	}
	_, err := c.client.Send(c.ctx, c.to, c.on(c.request(a2a.TextPart("more"))))
	return answeredWith(err, remote.CodeUnsupportedOperation)
}

// answeredWith tells whether a call was refused as it has to be.
func answeredWith(err error, code string) string {
	switch {
	case err == nil:
		return "It is taken."
	case said(err) == "It is answered with "+code+".":
		return yes
	}
	return said(err)
}

func (c *conversation) message() string {
	o, err := c.client.Send(c.ctx, c.to, c.request(a2a.TextPart(agenttest.SayMessage)))
	if err != nil {
		return said(err)
	}
	event, _ := a2a.DecodeEvent(o.Payload)
	if event.Message == nil || textOf(event.Message) != "no task needed" {
		return "It is answered with a task."
	}
	return yes
}
