package observe

import (
	"context"

	"golang.org/x/sync/semaphore"

	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/remote"
)

// How far a stream is read ahead of what is stored. What has come by the time of a
// transaction goes into it together: an agent that says much at once costs few.
const (
	aheadEvents = 64
	aheadBytes  = 1 << 20 // an event above it waits for all others to be stored
)

// arrival is an event of a stream, or its end.
type arrival struct {
	seen remote.Observation
	err  error
	ok   bool
}

// size is what the arrival takes of the room to read ahead.
func (a arrival) size() int64 {
	return int64(min(len(a.seen.Raw)+len(a.seen.Payload)+1, aheadBytes))
}

// readAhead reads a stream in the background.
type readAhead struct {
	events chan arrival
	room   *semaphore.Weighted
	cancel context.CancelFunc
	ended  chan struct{}
	stream *command.Stream
}

func newReadAhead(ctx context.Context, s *command.Stream) *readAhead {
	ctx, cancel := context.WithCancel(ctx)
	r := &readAhead{
		events: make(chan arrival, aheadEvents), room: semaphore.NewWeighted(aheadBytes), cancel: cancel,
		ended: make(chan struct{}), stream: s,
	}
	go r.read(ctx)
	return r
}

func (r *readAhead) read(ctx context.Context) {
	defer close(r.ended)
	for {
		var a arrival
		a.seen, a.err, a.ok = r.stream.Next()
		if r.room.Acquire(ctx, a.size()) != nil {
			return
		}
		select {
		case r.events <- a:
		case <-ctx.Done():
			return
		}
		if !a.ok || a.err != nil {
			return
		}
	}
}

// next waits for an event and returns all that have come, and the end of the stream
// if that has come.
func (r *readAhead) next(ctx context.Context) (events []remote.Observation, end *arrival) {
	select {
	case a := <-r.events:
		for {
			r.room.Release(a.size())
			if !a.ok || a.err != nil {
				return events, &a
			}
			events = append(events, a.seen)
			if len(events) == aheadEvents {
				return events, nil
			}
			select {
			case a = <-r.events:
			default:
				return events, nil
			}
		}
	case <-ctx.Done():
		return nil, &arrival{}
	}
}

// close ends the stream and returns when nothing reads it any more.
func (r *readAhead) close() {
	r.cancel()
	r.stream.Cancel()
	<-r.ended
}
