package remote

import (
	"encoding/json"
	"time"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
)

// operation is a method of A2A 1.0, section 3.1, as far as its answers differ.
type operation struct {
	name      string
	streaming bool

	// patience is how long the head of the answer may take.
	patience func(Limits) time.Duration

	// payload finds what is observed in a result, and reports whether it is there.
	payload func(result json.RawMessage) (json.RawMessage, bool)

	// skeleton is the result that the SDK is given in the place of the agent's: it
	// is only to see that there is one. Everything that the agent said is read
	// from its own bytes, so that nothing in them can be too odd for the SDK.
	skeleton string
}

const (
	eventSkeleton = `{"message":{"messageId":"-","role":"ROLE_AGENT","parts":[]}}`
	taskSkeleton  = `{"id":"-","contextId":"-","status":{"state":"TASK_STATE_UNSPECIFIED"}}`
	pageSkeleton  = `{"tasks":[]}`
)

func headersLimit(l Limits) time.Duration { return l.Headers }

var (
	sendMessage = operation{
		name:     "SendMessage",
		patience: func(l Limits) time.Duration { return l.Send },
		payload:  eventPayload, skeleton: eventSkeleton,
	}
	sendStreamingMessage = operation{
		name: "SendStreamingMessage", streaming: true,
		patience: func(l Limits) time.Duration { return l.Idle },
		payload:  eventPayload, skeleton: eventSkeleton,
	}
	subscribeToTask = operation{
		name: "SubscribeToTask", streaming: true, patience: headersLimit,
		payload: eventPayload, skeleton: eventSkeleton,
	}
	getTask    = operation{name: "GetTask", patience: headersLimit, payload: taskPayload, skeleton: taskSkeleton}
	cancelTask = operation{name: "CancelTask", patience: headersLimit, payload: taskPayload, skeleton: taskSkeleton}
	listTasks  = operation{name: "ListTasks", patience: headersLimit, payload: pagePayload, skeleton: pageSkeleton}
	agentCard  = operation{name: "AgentCard", patience: headersLimit}
)

func eventPayload(result json.RawMessage) (json.RawMessage, bool) {
	return a2a.StreamResponse(result), a2a.IsEvent(result)
}

// taskPayload takes a task as GetTask answers it, bare, and wrapped as SendMessage
// answers it.
func taskPayload(result json.RawMessage) (json.RawMessage, bool) {
	if task := rawjson.Member(result, "task"); rawjson.KindOf(task) == rawjson.Object {
		return a2a.Wrap("task", task), true
	}
	isTask := rawjson.Member(result, "id") != nil && rawjson.Member(result, "status") != nil
	return a2a.Wrap("task", result), isTask
}

func pagePayload(result json.RawMessage) (json.RawMessage, bool) {
	tasks := rawjson.Member(result, "tasks")
	return result, rawjson.KindOf(result) == rawjson.Object && (tasks == nil || rawjson.KindOf(tasks) == rawjson.Array)
}
