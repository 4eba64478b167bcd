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
	secret    bool // its bodies hold secrets

	// patience is how long the head of the answer may take.
	patience func(Limits) time.Duration

	// payload finds what is observed in a result, and reports whether it is there.
	payload func(result json.RawMessage) (json.RawMessage, bool)

	// answer is what its result is. The SDK is given a skeleton of that shape in the
	// place of the agent's result: it is only to see that there is one. Everything
	// that the agent said is read from its own bytes, so that nothing in them can be
	// too odd for the SDK.
	answer shape
}

// shape is the shape of a result.
type shape int

const (
	eventShape shape = iota
	taskShape
	pageShape
	pushShape
	pushPageShape
	nothingShape
)

// skeletons are those of A2A 1.0.
var skeletons = map[shape]string{
	eventShape:    `{"message":{"messageId":"-","role":"ROLE_AGENT","parts":[]}}`,
	taskShape:     `{"id":"-","contextId":"-","status":{"state":"TASK_STATE_UNSPECIFIED"}}`,
	pageShape:     `{"tasks":[]}`,
	pushShape:     `{"taskId":"-","id":"-","url":"-"}`,
	pushPageShape: `{"configs":[]}`,
	nothingShape:  `{}`,
}

func headersLimit(l Limits) time.Duration { return l.Headers }

var (
	sendMessage = operation{
		name:     "SendMessage",
		patience: func(l Limits) time.Duration { return l.Send },
		payload:  eventPayload, answer: eventShape,
	}
	sendStreamingMessage = operation{
		name: "SendStreamingMessage", streaming: true,
		patience: func(l Limits) time.Duration { return l.Idle },
		payload:  eventPayload, answer: eventShape,
	}
	subscribeToTask = operation{
		name: "SubscribeToTask", streaming: true,
		patience: func(l Limits) time.Duration { return l.Idle }, // many servers send no head before the first event
		payload:  eventPayload, answer: eventShape,
	}
	getTask    = operation{name: "GetTask", patience: headersLimit, payload: taskPayload, answer: taskShape}
	cancelTask = operation{name: "CancelTask", patience: headersLimit, payload: taskPayload, answer: taskShape}
	listTasks  = operation{name: "ListTasks", patience: headersLimit, payload: pagePayload, answer: pageShape}
	agentCard  = operation{name: "AgentCard", patience: headersLimit}

	createPush = pushOperation("CreateTaskPushNotificationConfig", pushPayload, pushShape)
	getPush    = pushOperation("GetTaskPushNotificationConfig", pushPayload, pushShape)
	listPushes = pushOperation("ListTaskPushNotificationConfigs", pushPagePayload, pushPageShape)
	deletePush = pushOperation("DeleteTaskPushNotificationConfig", anyPayload, nothingShape)
)

func pushOperation(name string, payload func(json.RawMessage) (json.RawMessage, bool), answer shape) operation {
	return operation{name: name, secret: true, patience: headersLimit, payload: payload, answer: answer}
}

func eventPayload(result json.RawMessage) (json.RawMessage, bool) {
	return result, a2a.IsEvent(result)
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

// pushPayload takes a push configuration, flat or as 0.3 has it.
func pushPayload(result json.RawMessage) (json.RawMessage, bool) {
	config := result
	if inner := rawjson.Member(result, "pushNotificationConfig"); inner != nil {
		config = inner
	}
	return result, rawjson.KindOf(rawjson.Member(config, "url")) == rawjson.String
}

// pushPagePayload takes the list in a page of push configurations, or a list as 0.3
// has it over JSON-RPC.
func pushPagePayload(result json.RawMessage) (json.RawMessage, bool) {
	if rawjson.KindOf(result) == rawjson.Array {
		return result, true
	}
	configs := rawjson.Member(result, "configs")
	kind := rawjson.KindOf(configs)
	none := configs == nil || kind == rawjson.Null
	if none {
		configs = []byte("[]")
	}
	return configs, rawjson.KindOf(result) == rawjson.Object && (none || kind == rawjson.Array)
}

func anyPayload(result json.RawMessage) (json.RawMessage, bool) { return result, true }

// pagePayload takes a page of tasks. Of no tasks the official Go SDK says null.
func pagePayload(result json.RawMessage) (json.RawMessage, bool) {
	tasks := rawjson.Member(result, "tasks")
	kind := rawjson.KindOf(tasks)
	return result, rawjson.KindOf(result) == rawjson.Object && (tasks == nil || kind == rawjson.Array || kind == rawjson.Null)
}
