package remote

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// event is one event of a stream of server-sent events.
type event struct {
	id, name     string
	data         []byte
	unterminated bool // the stream ended before the blank line behind it
}

// eventReader reads server-sent events (WHATWG HTML, 9.2) as they arrive: lines
// end with LF, CRLF or CR, a byte order mark may come first, and an event that the
// end of the stream cuts off is still returned.
type eventReader struct {
	in      *bufio.Reader
	limit   int // bytes of one event
	line    []byte
	size    int // bytes of the event so far
	started bool
	afterCR bool // a line ended with CR: an LF right behind it belongs to it
	ended   error
}

const (
	readBuffer = 4 << 10 // small, because there can be thousands of streams
	largeLine  = 16 * readBuffer
)

func newEventReader(in io.Reader, limit int64) *eventReader {
	return &eventReader{in: bufio.NewReaderSize(in, readBuffer), limit: int(limit)}
}

// next returns the next event that has data. At the end of the stream it returns
// io.EOF; for an event that is too large, an error that wraps ErrTooLarge.
func (r *eventReader) next() (event, error) {
	var e event
	hasData := false
	r.size = 0
	for r.ended == nil {
		line, err := r.readLine()
		if err != nil {
			r.ended = err
		}
		switch {
		case len(line) > largeLine && !hasData:
			hasData = e.add(line, hasData)
			r.line = nil // it is the event's now: no second copy of much
		case len(line) > 0:
			hasData = e.add(bytes.Clone(line), hasData) || hasData
		case hasData && err == nil:
			return e, nil
		case err == nil:
			e, r.size = event{}, 0
		}
	}
	if hasData && errors.Is(r.ended, io.EOF) {
		e.unterminated = true
		return e, nil
	}
	return event{}, r.ended
}

// add takes one line, which it may keep, into the event, and reports whether it was
// data.
func (e *event) add(line []byte, hasData bool) bool {
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "data":
		if !hasData {
			e.data = value
			return true
		}
		e.data = append(append(e.data, '\n'), value...)
		return true
	case "event":
		e.name = string(value)
	case "id":
		e.id = string(value)
	}
	return false
}

// readLine returns the next line without its end. With an error it returns what
// there is of a line.
func (r *eventReader) readLine() ([]byte, error) {
	if cap(r.line) > largeLine {
		r.line = nil // a large event is no reason to hold on to its memory
	}
	r.line = r.line[:0]
	for {
		chunk, err := r.peek()
		if err != nil {
			return r.line, err
		}
		end := bytes.IndexAny(chunk, "\r\n")
		if end < 0 {
			end = len(chunk)
		}
		if r.size += end; r.size > r.limit {
			return nil, tooLarge("event", int64(r.limit))
		}
		r.line = append(r.line, chunk[:end]...)
		if end == len(chunk) {
			r.discard(end)
			continue
		}
		r.afterCR = chunk[end] == '\r'
		r.discard(end + 1)
		return r.line, nil
	}
}

// peek returns what has arrived, at least one byte, without the LF of a CRLF
// whose CR has ended a line, and without a byte order mark at the start.
func (r *eventReader) peek() ([]byte, error) {
	for {
		if !r.started {
			r.started = true
			if mark, _ := r.in.Peek(len(byteOrderMark)); bytes.Equal(mark, byteOrderMark) {
				r.discard(len(byteOrderMark))
			}
		}
		if _, err := r.in.Peek(1); err != nil {
			return nil, err
		}
		chunk, _ := r.in.Peek(r.in.Buffered())
		if r.afterCR && chunk[0] == '\n' {
			r.afterCR = false
			r.discard(1)
			continue
		}
		r.afterCR = false
		return chunk, nil
	}
}

func (r *eventReader) discard(n int) {
	_, _ = r.in.Discard(n) // n bytes are buffered
}
