package agui

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
	"unicode/utf8"
)

const (
	keepAlive    = 15 * time.Second // between signs of life of a quiet stream
	writeTimeout = 30 * time.Second // to receive what was sent
	maxDelta     = 256 << 10        // bytes of text that go in one event
)

// Stream sends the events of one run to one client. Lines end in LF alone: one of
// the clients reads no others.
type Stream struct {
	out      io.Writer
	flush    func() error
	release  func() // lets the connection be used again
	sequence sequence
	broken   bool // the client could not be written to
}

// A ViolationError is an event that the clients would not take. Nothing of it was sent.
type ViolationError struct {
	Event string
	Err   error
}

// Error returns what is wrong.
func (e *ViolationError) Error() string { return e.Event + ": " + e.Err.Error() }

// Unwrap returns the rule.
func (e *ViolationError) Unwrap() error { return e.Err }

func newStream(out io.Writer, flush func() error, legacy bool) *Stream {
	return &Stream{out: out, flush: flush, sequence: newSequence(legacy)}
}

// Send sends an event, and before the end of a run what closes all that is open. A
// *ViolationError leaves the stream as it was; after any other error it is broken.
func (s *Stream) Send(e Event) error {
	switch e.(type) {
	case RunFinished, RunError:
		if s.sequence.phase == phaseOpen {
			for _, c := range s.sequence.closing() {
				if err := s.send(c); err != nil {
					return err
				}
			}
		}
	}
	return s.send(e)
}

func (s *Stream) send(e Event) error {
	line, err := encode(e)
	if err == nil && len(line) > maxEvent {
		err = errors.New("it is too large")
	}
	if err == nil {
		err = s.sequence.take(e)
	}
	if err != nil {
		return &ViolationError{Event: e.kind(), Err: err}
	}
	return s.write("data: " + string(line) + "\n\n")
}

// Ended reports whether the run has ended.
func (s *Stream) Ended() bool { return s.sequence.phase == phaseEnded }

// Alive tells the client, and whatever stands between, that the run goes on.
func (s *Stream) Alive() error { return s.write(": still here\n\n") }

// appendText sends what is appended to an open text, in pieces.
func (s *Stream) appendText(messageID, text string) error {
	for len(text) > 0 {
		piece := text
		if len(piece) > maxDelta {
			end := maxDelta
			for end > maxDelta-utf8.UTFMax && !utf8.RuneStart(text[end]) {
				end--
			}
			piece = text[:end]
		}
		if err := s.Send(TextContent{MessageID: messageID, Delta: piece}); err != nil {
			return err
		}
		text = text[len(piece):]
	}
	return nil
}

func (s *Stream) write(text string) error {
	_, err := io.WriteString(s.out, text)
	if err == nil {
		err = s.flush()
	}
	if err != nil {
		s.broken = true
		return fmt.Errorf("write to the client: %w", err)
	}
	return nil
}

// openStream answers a request with the head of a stream.
func openStream(w http.ResponseWriter, legacy bool) *Stream {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	control := http.NewResponseController(w)
	s := newStream(patientWriter{w, control}, control.Flush, legacy)
	s.release = func() { _ = control.SetWriteDeadline(time.Time{}) } // one that takes no deadline has none
	return s
}

// patientWriter gives each write its time.
type patientWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

// Write implements io.Writer.
func (w patientWriter) Write(b []byte) (int, error) {
	if err := w.control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, fmt.Errorf("set the deadline of an event: %w", err)
	}
	return w.ResponseWriter.Write(b)
}
