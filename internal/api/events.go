package api

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
)

// writeTimeout bounds how long a reader may leave an event unread.
const writeTimeout = 30 * time.Second

type watchTask struct {
	ID          string `path:"id" doc:"Local ID of the task."`
	LastEventID string `header:"Last-Event-ID" doc:"The id of the last event received: only what changed since is sent."`
}

func (s *server) registerEvents(api huma.API) {
	huma.Register(api, needs(access.NeedRead, huma.Operation{
		OperationID: "watch-task", Method: http.MethodGet, Path: "/tasks/{id}/events", Tags: []string{"Tasks"},
		Summary: "Watch a task",
		Description: "Server-sent events without end: first snapshot, a Task; then change, a Task with only those messages, artifacts and " +
			"transitions that are new or differ. The id of each is the task's version. A comment comes every 15 seconds when nothing else does.",
		Responses: withAnswer(api, failures(api, http.StatusNotFound), http.StatusOK,
			"Events named snapshot or change; the data of each is one Task", "text/event-stream", reflect.TypeFor[Task]()),
	}), handle(s, "watch-task", s.watchTask))
}

// watchTask answers an error before the stream begins as a problem document.
func (s *server) watchTask(ctx context.Context, p access.Principal, in *watchTask) (*huma.StreamResponse, error) {
	t, err := s.Tasks.Get(ctx, p, in.ID)
	if err != nil {
		return nil, err
	}
	signals, stop := s.Live.Watch(live.TaskTopic(t.ID), live.AccessTopic(p.OrganisationID)) // of a merged task, the one that it became
	w := &watch{server: s, principal: p, id: t.ID, signals: signals}
	first, err := w.start(ctx, in.LastEventID)
	if err != nil {
		stop()
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hctx huma.Context) {
		defer stop()
		var r *http.Request
		r, w.out = humago.Unwrap(hctx)
		w.out.Header().Set("Content-Type", "text/event-stream")
		if r.Method == http.MethodHead { // has no events to wait for
			return
		}
		w.control = http.NewResponseController(w.out)
		w.run(hctx.Context(), first)
	}}, nil
}

// againTime is between attempts to read what changed while the database is away.
const againTime = time.Second

// watch is one open stream of a task's events.
type watch struct {
	*server
	principal access.Principal
	id        string
	version   int64 // of the task, as the reader knows it
	ahead     bool  // the reader names a version that the task has not reached, as before a restore
	signals   <-chan struct{}
	out       http.ResponseWriter
	control   *http.ResponseController
}

// start returns the first event: a snapshot, or, for a reader that has been
// there before, what it missed; nil if that is nothing. A reader whose version lies
// ahead of the task's gets a snapshot.
func (w *watch) start(ctx context.Context, lastEventID string) ([]byte, error) {
	if version, err := strconv.ParseInt(lastEventID, 10, 64); err == nil && version >= 0 {
		w.version = version
		missed, err := w.change(ctx)
		if err != nil || !w.ahead {
			return missed, err
		}
	}
	t, err := w.Tasks.Get(ctx, w.principal, w.id)
	if err != nil {
		return nil, err
	}
	w.version = t.Version
	return event("snapshot", t.Version, taskShape(t))
}

// change returns what differs from the version that the reader has, or nil.
func (w *watch) change(ctx context.Context) ([]byte, error) {
	delta, err := w.Tasks.Changes(ctx, w.principal, w.id, w.version)
	w.ahead = err == nil && delta.Task.Version < w.version
	if err != nil || delta.Task.Version <= w.version {
		return nil, err
	}
	w.version = delta.Task.Version
	return event("change", delta.Task.Version, taskShape(delta.Task))
}

// run sends events until the reader leaves or the task can no longer be read.
func (w *watch) run(ctx context.Context, first []byte) {
	ticks, stop := w.tick()
	defer stop()
	next := append([]byte(": open\n\n"), first...) // readers learn that it is open by the first bytes
	var again <-chan time.Time                     // while the database is away
	for {
		if w.send(next) != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-ticks:
			next = []byte(": still here\n\n")
			continue
		case <-w.signals:
		case <-again:
		}
		var err error
		next, err = w.change(ctx)
		again = nil
		if fault.KindOf(err) == fault.Unavailable {
			again = time.After(againTime)
		} else if err != nil {
			w.ended(ctx, err)
			return
		}
	}
}

func (w *watch) send(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	if err := w.control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return fmt.Errorf("set the deadline of an event: %w", err)
	}
	if _, err := w.out.Write(text); err != nil {
		return err
	}
	return w.control.Flush()
}

func (w *watch) ended(ctx context.Context, err error) {
	if ctx.Err() == nil && fault.KindOf(err) == fault.Internal {
		w.Log.ErrorContext(ctx, "a stream of events ended", slog.String("task", w.id), slog.Any("error", err))
	}
}

// event returns a server-sent event. JSON has no line ends of its own, so the
// data is one line.
func event(name string, id int64, data any) ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "event: %s\nid: %d\ndata: ", name, id)
	if err := writeJSON(&out, data); err != nil {
		return nil, fmt.Errorf("encode an event: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}
