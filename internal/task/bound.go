package task

import (
	"cmp"
	"encoding/json"

	"github.com/agent-taskbay/taskbay/internal/a2a"
)

// Limits bound what the ledger keeps of one task whole. Beyond them it keeps of an
// observation what a replay needs for the same projection, with the size and the
// digest of what it leaves out: a change of state with its message, questions,
// artifacts as they are streamed and as they are when the state changes, direct
// messages. Progress messages, history, metadata and artifacts of snapshots in
// between are neither kept nor shown, and what tells nothing but that is only
// counted. Beyond twice the limits the end of the task alone is taken in, so the
// record of a task is never larger than that and one observation.
type Limits struct {
	Bytes  int64 // of observations, as they are stored; 0 is DefaultBytes
	Events int64 // 0 is DefaultEvents
}

// The limits that apply where none are set.
const (
	DefaultBytes  = 64 << 20
	DefaultEvents = 100_000
)

// maxLastWords is how large, in bytes, an observation may be whose message is kept
// with the end of a task that is beyond all limits.
const maxLastWords = 64 << 10

// Ledger is how much the ledger has of a task, and how much it leaves out.
type Ledger struct {
	Events    int64 // observations that are kept, whole or in part
	Bytes     int64 // of them, as they are stored
	CutEvents int64 // observations of which not everything is kept, or nothing
	CutBytes  int64 // of them, which are not kept
}

// fullness is 0 below the limits, 1 beyond them, and 2 beyond twice as much.
func (l Limits) fullness(has Ledger) int64 {
	bytes, events := cmp.Or(l.Bytes, DefaultBytes), cmp.Or(l.Events, DefaultEvents)
	return min(max(has.Bytes/bytes, has.Events/events), 2)
}

// condensed returns what is kept of an observation of a task that is this full; nil
// for nothing.
func condensed(payload json.RawMessage, event a2a.Event, head Head, fullness int64) json.RawMessage {
	var status a2a.Status
	switch {
	case event.Task != nil:
		status = asking(event.Task.Status)
	case event.StatusUpdate != nil:
		status = asking(event.StatusUpdate.Status)
	}
	changes := status.State != "" && status.State != head.State && !head.State.Terminal()
	ends := changes && status.State.Terminal()
	switch {
	case fullness == 1:
		settled := changes && (ends || status.State.Waiting())
		return a2a.Condense(payload, a2a.Keep{
			Message:   event.Message != nil || changes || status.State.Waiting(),
			Artifacts: event.ArtifactUpdate != nil || settled,
		})
	case ends:
		return a2a.Condense(payload, a2a.Keep{Message: len(payload) <= maxLastWords})
	}
	return nil
}
