package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/a-h/templ"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

// writeLimit is how long a browser may take to receive one batch of events. One
// that takes longer is cut off; when it comes back it gets what it missed.
const writeLimit = 30 * time.Second

// againTime is between attempts to read what changed while the database is away.
const againTime = time.Second

// event is one server-sent event.
type event struct {
	name string // "" for a fragment
	id   string // what the watcher has seen with this event; "" to leave that as it was
	data []byte
}

// appendEvent writes an event in the text/event-stream format. Every kind of
// line end in the data becomes a new data line, so that nothing in it can end
// the event or forge another field.
func appendEvent(dst []byte, e event) []byte {
	if e.name != "" {
		dst = append(append(append(dst, "event: "...), e.name...), '\n')
	}
	if e.id != "" {
		dst = append(append(append(dst, "id: "...), e.id...), '\n')
	}
	data := bytes.ReplaceAll(e.data, []byte("\r\n"), []byte("\n"))
	data = bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		dst = append(append(append(dst, "data: "...), line...), '\n')
	}
	return append(dst, '\n')
}

// stream writes events to one browser.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

const eventStream = "text/event-stream; charset=utf-8"

// openStream answers with the head of a stream. Something is sent at once: only
// then does a browser take the stream for open.
func openStream(w http.ResponseWriter) (*stream, error) {
	w.Header().Set("Content-Type", eventStream)
	w.Header().Set("X-Accel-Buffering", "no")
	st := &stream{w: w, control: http.NewResponseController(w)}
	return st, st.write([]byte("retry: 1000\n: open\n\n"))
}

func (st *stream) send(events []event) error {
	var batch []byte
	for _, e := range events {
		batch = appendEvent(batch, e)
	}
	return st.write(batch)
}

func (st *stream) write(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if err := st.control.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := st.w.Write(b); err != nil {
		return err
	}
	return st.control.Flush()
}

// follow keeps one browser up to date: pass returns what it does not have yet,
// and is called again after each signal on the topics. The first pass may refuse
// the request; a later one that fails ends the stream, and the browser comes
// back. Nothing is held for a browser between two passes but its version.
func (s *server) follow(w http.ResponseWriter, r *http.Request, pass func(context.Context) ([]event, error), topics ...string) error {
	signals, stop := s.Live.Watch(topics...)
	defer stop()
	events, err := pass(r.Context())
	if err != nil {
		return err
	}
	if r.Method == http.MethodHead { // has no events to wait for
		w.Header().Set("Content-Type", eventStream)
		return nil
	}
	st, err := openStream(w)
	for err == nil {
		if err = st.send(events); err != nil || !s.await(r.Context(), st, signals) {
			return nil
		}
		events, err = pass(r.Context())
		for fault.KindOf(err) == fault.Unavailable && pause(r.Context(), againTime) {
			events, err = pass(r.Context())
		}
	}
	if r.Context().Err() == nil && fault.KindOf(err) == fault.Internal {
		s.Log.ErrorContext(r.Context(), "a live stream failed", slog.String("path", r.URL.Path), slog.Any("error", err))
	}
	return nil
}

// await returns after the next signal, and not before the pace allows. It
// reports false when the browser is gone. While nothing happens it says so to
// the browser, and to whatever stands between.
func (s *server) await(ctx context.Context, st *stream, signals <-chan struct{}) bool {
	if !pause(ctx, s.pace) {
		return false
	}
	silence := time.NewTicker(s.silence)
	defer silence.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-signals:
			return true
		case <-silence.C:
			if st.write([]byte(": quiet\n\n")) != nil {
				return false
			}
		}
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// fragments renders components as events, of which the last one tells the
// browser what it has then seen.
func fragments(ctx context.Context, id string, components ...templ.Component) ([]event, error) {
	events := make([]event, len(components))
	for i, c := range components {
		html, err := fragment(ctx, c)
		if err != nil {
			return nil, err
		}
		events[i].data = html
	}
	events[len(events)-1].id = id
	return events, nil
}

// fragment renders a component by itself.
func fragment(ctx context.Context, c templ.Component) ([]byte, error) {
	var out bytes.Buffer
	err := c.Render(ctx, &out)
	return out.Bytes(), err
}

// digest names what some events show.
func digest(events []event) string {
	sum := sha256.New()
	for _, e := range events {
		sum.Write(e.data)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
