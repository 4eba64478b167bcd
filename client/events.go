package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// silence is for how long a stream may say nothing, not even that it is still there,
// before it is taken for broken. The server says something every 15 seconds.
const silence = 50 * time.Second

// TaskEvent is one event of a task.
type TaskEvent struct {
	Name string // snapshot, or change
	// Task is all of the task in a snapshot. In a change it has only those messages,
	// artifacts and transitions that are new or differ.
	Task Task
}

// WatchTask yields a snapshot of a task, and then every change as it happens. Since is
// the version of the task that the caller knows, to get only what changed since then; 0
// is none. When the connection breaks it comes back and goes on after the last event.
// It ends, with an error as the last thing that it yields, when ctx ends or the task can
// no longer be read.
func (c *Client) WatchTask(ctx context.Context, id string, since int64) iter.Seq2[TaskEvent, error] {
	last := ""
	if since > 0 {
		last = strconv.FormatInt(since, 10)
	}
	return func(yield func(TaskEvent, error) bool) {
		for e, err := range c.watch(ctx, pathOf("/tasks/{}/events", id), last) {
			out := TaskEvent{Name: e.name}
			if err == nil {
				err = json.Unmarshal(e.data, &out.Task)
			}
			if !yield(out, err) || err != nil {
				return
			}
		}
	}
}

// serverEvent is one server-sent event.
type serverEvent struct {
	name, id string
	data     []byte
}

// watch yields the events of a stream, and opens it again where it broke off.
func (c *Client) watch(ctx context.Context, path, last string) iter.Seq2[serverEvent, error] {
	return func(yield func(serverEvent, error) bool) {
		for broken := 0; ; {
			err := c.follow(ctx, path, last, func(e serverEvent) bool {
				broken = 0
				if e.id != "" {
					last = e.id
				}
				return yield(e, nil)
			})
			if errors.Is(err, errLeft) {
				return
			}
			broken++
			wait, again := backoff(broken), true
			var problem *Problem
			if errors.As(err, &problem) {
				again = problem.temporary()
				wait = max(wait, min(problem.RetryAfter, c.options.MaxRetryAfter))
			}
			if errors.Is(err, errTooLarge) {
				again = false
			}
			if again {
				if stopped := pause(ctx, wait); stopped != nil {
					err, again = stopped, false
				}
			}
			if !again {
				yield(serverEvent{}, err)
				return
			}
		}
	}
}

// errLeft says that the reader of a stream takes no more.
var errLeft = errors.New("the reader left")

// follow reads one connection's events until it breaks or take takes no more.
func (c *Client) follow(ctx context.Context, path, last string, take func(serverEvent) bool) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	idle := time.AfterFunc(silence, stop)
	defer idle.Stop()
	k := call{method: http.MethodGet, path: path, header: http.Header{"Accept": {"text/event-stream"}}, once: true}
	if last != "" {
		k.header.Set("Last-Event-ID", last)
	}
	response, err := c.send(ctx, k)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if err := readEvents(response.Body, func() { idle.Reset(silence) }, take); !errors.Is(err, io.EOF) {
		return k.failed(err)
	}
	return k.failed(io.ErrUnexpectedEOF)
}

// readEvents reads server-sent events until the stream ends, which is io.EOF, or take
// takes no more. It calls alive for each line.
func readEvents(stream io.Reader, alive func(), take func(serverEvent) bool) error {
	lines := bufio.NewReaderSize(stream, 64<<10)
	var e serverEvent
	for {
		line, err := readLine(lines)
		if err != nil {
			return err
		}
		alive()
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			e.name = string(value)
		case "id":
			e.id = string(value)
		case "data":
			if len(e.data)+len(value) > maxAnswer {
				return errTooLarge
			}
			if e.data != nil {
				e.data = append(e.data, '\n')
			}
			e.data = append(e.data, value...)
		}
		if len(line) > 0 {
			continue
		}
		if e.data != nil && !take(e) {
			return errLeft
		}
		e = serverEvent{}
	}
}

// readLine returns the next line without its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		if line = append(line, piece...); len(line) > maxAnswer {
			return nil, errTooLarge
		}
		if err == nil {
			return []byte(strings.TrimRight(string(line), "\r\n")), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, fmt.Errorf("read the stream: %w", err)
		}
	}
}
