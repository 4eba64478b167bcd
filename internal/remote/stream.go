package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
)

// answerStream returns the answer to a streaming call as the stream that the SDK
// expects, whatever it is: a stream, one JSON answer in its place, or a JSON list.
func (c *call) answerStream(response *http.Response) (*http.Response, error) {
	watched := &watchedBody{body: response.Body, limit: c.client.limits.Idle, cancel: c.cancel}
	watched.timer = time.AfterFunc(time.Hour, watched.expired)
	watched.timer.Stop()
	response.Body = watched
	reader, err := decompressed(response)
	if err != nil {
		_ = response.Body.Close()
		return nil, c.unreadable(err)
	}
	events := newEventReader(reader, c.client.limits.Response)
	if !c.isStream(response, events) {
		return c.answerWithoutStream(response, events.in)
	}
	c.recordResponse(response, nil)
	return replaced(response, "text/event-stream", &repairedStream{call: c, response: response, events: events}), nil
}

// isStream reports whether an answer is a stream of events: by how it begins, and
// where that says nothing, by its type.
func (c *call) isStream(response *http.Response, events *eventReader) bool {
	start, _ := events.in.Peek(1)
	if len(start) > 0 && (start[0] == '{' || start[0] == '[') {
		return false
	}
	switch mediaType(response) {
	case "text/event-stream":
		return true
	case "", "text/plain", "application/octet-stream":
		start, _ := events.in.Peek(len(byteOrderMark) + len("event:"))
		start = bytes.TrimPrefix(start, byteOrderMark)
		for _, field := range []string{"data:", "event:", "id:", "retry:", ":"} {
			if bytes.HasPrefix(start, []byte(field)) {
				return true
			}
		}
	}
	return false
}

// answerWithoutStream makes a stream of an answer that should have been one.
func (c *call) answerWithoutStream(response *http.Response, in io.Reader) (*http.Response, error) {
	defer response.Body.Close()
	body, err := c.readFrom(response, in, c.client.limits.Response)
	if err != nil {
		return nil, err
	}
	items := []json.RawMessage{body}
	var after error = io.EOF
	if answer, ok := firstJSON(body); ok && rawjson.KindOf(answer) == rawjson.Array {
		items = firstElements(answer, maxListed)
		after = &Error{
			Delivery: Answered, Code: CodeInvalidResponse,
			Message: fmt.Sprintf("The agent answered with a JSON list in the place of a stream; up to %d events in it have been read, and more will not come.", maxListed),
		}
	}
	var repaired bytes.Buffer
	for _, item := range items {
		payload, err := c.readAnswer(response, item)
		if err != nil {
			after = err
			break
		}
		c.observe(item, payload)
		repaired.WriteString(c.skeletonEvent())
	}
	c.client.log.Debug("agent answered a streaming call without a stream", "agent", c.agentID, "operation", c.op.name)
	return replaced(response, "text/event-stream", &endingBody{in: &repaired, err: after}), nil
}

// firstElements returns the elements of a list, at most n.
func firstElements(list json.RawMessage, n int) []json.RawMessage {
	var items []json.RawMessage
	for item := range rawjson.Elements(list) {
		if len(items) == n {
			break
		}
		items = append(items, item)
	}
	return items
}

// skeletonEvent is an event as the SDK reads it.
func (c *call) skeletonEvent() string { return "data: " + c.binding.result(c.skeleton()) + "\n\n" }

// endingBody reads in and then fails with err.
type endingBody struct {
	in  *bytes.Buffer
	err error
}

func (b *endingBody) Read(p []byte) (int, error) {
	if b.in.Len() == 0 {
		return 0, b.err
	}
	return b.in.Read(p)
}

func (b *endingBody) Close() error { return nil }

// repairedStream is an agent's stream as the SDK sees it: one skeleton for each
// event that was read, recorded and queued.
type repairedStream struct {
	call     *call
	response *http.Response
	events   *eventReader
	pending  []byte
	seen     int
	err      error
}

func (s *repairedStream) Read(p []byte) (int, error) {
	for len(s.pending) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		s.err = s.advance()
	}
	n := copy(p, s.pending)
	s.pending = s.pending[n:]
	return n, nil
}

func (s *repairedStream) Close() error { return s.response.Body.Close() }

// advance reads one event. Its error ends the stream.
func (s *repairedStream) advance() error {
	e, err := s.events.next()
	switch {
	case errors.Is(err, io.EOF) && s.seen == 0:
		return &Error{Delivery: Uncertain, Code: CodeInvalidResponse, Message: "The agent ended its stream without saying anything."}
	case errors.Is(err, io.EOF):
		return io.EOF
	case err != nil:
		return s.call.unreadable(err)
	}
	e.data, e.id, e.name = s.call.secrets.Bytes(e.data), s.call.redactText(e.id), s.call.redactText(e.name)
	s.call.recorded(Record{Kind: RecordEvent, Body: e.data, EventID: e.id, EventType: e.name, Unterminated: e.unterminated})
	data := bytes.TrimSpace(e.data)
	if len(data) == 0 {
		return nil
	}
	if string(data) == "[DONE]" { // as some model APIs end their streams
		return io.EOF
	}
	payload, err := s.payload(e)
	if err != nil {
		return err
	}
	s.seen++
	s.call.observe(e.data, payload)
	s.pending = []byte(s.call.skeletonEvent())
	return nil
}

// payload returns what is observed in an event. An event that holds no error is
// never one, however odd it is: what it says is for its reader to find out.
func (s *repairedStream) payload(e event) (json.RawMessage, error) {
	answer, isJSON := firstJSON(e.data)
	if !isJSON {
		if e.name == "error" {
			return nil, s.call.faultOutcome(s.response, agentFault{text: string(e.data)})
		}
		return json.Marshal(string(e.data))
	}
	result, fault, failed := openAnswer(answer, s.response.StatusCode)
	if !failed && e.name == "error" && !a2a.IsEvent(result) {
		fault, failed = readFault(result), true
	}
	if failed {
		return nil, s.call.faultOutcome(s.response, fault)
	}
	payload, _ := s.call.op.payload(result)
	return payload, nil
}

// watchedBody ends the call if nothing arrives for too long. Only the time that a
// reader waits counts.
type watchedBody struct {
	body   io.ReadCloser
	limit  time.Duration
	timer  *time.Timer
	cancel func(error)
}

func (b *watchedBody) Read(p []byte) (int, error) {
	b.timer.Reset(b.limit)
	defer b.timer.Stop()
	return b.body.Read(p)
}

func (b *watchedBody) Close() error {
	b.timer.Stop()
	return b.body.Close()
}

func (b *watchedBody) expired() {
	b.cancel(&timeoutError{"The agent's stream was silent for %s.", b.limit, ErrIdle})
}
