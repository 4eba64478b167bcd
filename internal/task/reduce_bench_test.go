package task

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/internal/a2a"
)

// BenchmarkReduce reduces one more event of a task that has a history. That costs
// the same however long the history is.
func BenchmarkReduce(b *testing.B) {
	for _, before := range []int{10, 1000, 100_000} {
		b.Run(fmt.Sprintf("after %d events", before), func(b *testing.B) {
			head := Head{TaskID: "local", Kind: KindTask, State: a2a.StateUnspecified}
			now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			for n := range before {
				head, _ = Reduce(head, said(b, n), Timing{Received: now.Add(time.Duration(n))})
			}
			events := []a2a.Event{said(b, before), said(b, before+1), said(b, before+2)}
			when := Timing{Received: now.Add(time.Hour)}
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				head, _ = Reduce(head, events[n%len(events)], when)
			}
		})
	}
}

// said is the event of that number: a status with a message, a piece of an
// artifact, or a question, by turns.
func said(b *testing.B, n int) a2a.Event {
	b.Helper()
	payload := ""
	switch n % 3 {
	case 0:
		payload = fmt.Sprintf(`{"statusUpdate":{"taskId":"r","status":{"state":"TASK_STATE_WORKING","message":{"messageId":"m-%d","role":"ROLE_AGENT","parts":[{"text":"A step is done."}]}}}}`, n)
	case 1:
		payload = `{"artifactUpdate":{"taskId":"r","append":true,"artifact":{"artifactId":"report","parts":[{"text":"And so on, and so forth."}]}}}`
	case 2:
		payload = fmt.Sprintf(`{"statusUpdate":{"taskId":"r","status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"messageId":"q-%d","role":"ROLE_AGENT","parts":[{"text":"Which one?"}]}}}}`, n)
	}
	event, faults := a2a.DecodeEvent(json.RawMessage(payload))
	if len(faults) > 0 {
		b.Fatal(faults)
	}
	return event
}
