package remote

import (
	"time"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
)

// ReadPush reads what an agent posted about a task, of whatever media type: a
// StreamResponse of A2A 1.0, or the bare event that agents of 0.3 post. It reports
// false for what is no event.
func ReadPush(body []byte) (Observation, bool) {
	event, ok := firstJSON(body)
	if !ok || !a2a.IsEvent(event) {
		return Observation{}, false
	}
	if rawjson.KindOf(rawjson.Member(event, "kind")) == rawjson.String {
		event = a2a.V03JSONRPC.Event(event)
	} else {
		event = a2a.StreamResponse(event)
	}
	return Observation{Raw: body, Payload: event, Received: time.Now()}, true
}
