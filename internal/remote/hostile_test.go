//go:build !race

package remote_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/remote/agenttest"
)

// maxResident is what a process may use at most, in MiB, whatever an agent sends.
const maxResident = 200

// million is how many events one agent sends.
const million = 1_000_000

// attack is one thing that a hostile agent does.
type attack struct {
	name      string
	operation string
	impatient bool                     // the client waits for nothing long
	ways      func(agenttest.Way) bool // nil for all
	handle    func(agenttest.Way) http.HandlerFunc
	raw       func(*testing.T, agenttest.Way) string // in the place of handle: the address of a server of its own
	delivery  remote.Delivery
	message   string
	events    int // that are read before that
}

// What the version of A2A makes no difference to is tried with one.
func current(w agenttest.Way) bool         { return !w.Legacy() }
func currentText(w agenttest.Way) bool     { return !w.Legacy() && !w.OverGRPC() }
func currentHTTPJSON(w agenttest.Way) bool { return !w.Legacy() && w.Binding == remote.HTTPJSON }

// attacks are all of them. Where the answer is one that A2A would take, size is all
// that is wrong with it.
func attacks() []attack {
	const uncertain, answered = remote.Uncertain, remote.Answered
	return []attack{
		{name: "200 MB in one answer", operation: "send", handle: endlessAnswer, delivery: uncertain, message: "answer is larger than 25 MiB"},
		{name: "200 MB in one event", operation: "stream", handle: endlessEvent, delivery: uncertain, message: "larger than 25 MiB"},
		{name: "200 MB in one error", operation: "send", ways: currentText, handle: endlessError, delivery: answered, message: "500 Internal Server Error"},
		{name: "as much as is read", operation: "send", handle: largestAnswer, events: 1},
		{name: "headers without end", operation: "send", ways: current, raw: endlessHead, delivery: uncertain},
		{name: "byte by byte", operation: "send", ways: current, impatient: true, handle: slowAnswer, delivery: uncertain, message: "did not complete its answer within"},
		{name: "head that does not come", operation: "get", ways: current, impatient: true, handle: noHead, delivery: uncertain, message: "did not begin to answer within"},
		{name: "a million events", operation: "stream", ways: currentHTTPJSON, handle: tinyEvents, events: million},
		{name: "a million events", operation: "stream", ways: agenttest.Way.OverGRPC, handle: tinyEvents, events: million},
		{name: "a list in the place of a stream", operation: "stream", ways: currentText, handle: endlessList, delivery: answered, message: "JSON list in the place of a stream", events: 1000},
		{name: "a page without end", operation: "list", ways: currentHTTPJSON, handle: endlessPage, delivery: answered, message: "more than 1000 tasks on one page"},
		{name: "depth without end", operation: "send", ways: currentText, handle: deepAnswer, delivery: uncertain, message: "not JSON"},
		{name: "an answer that unpacks without end", operation: "send", ways: currentText, handle: bomb(false), delivery: uncertain, message: "answer is larger than 25 MiB"},
		{name: "a stream that unpacks without end", operation: "stream", ways: currentText, handle: bomb(true), delivery: uncertain, message: "event is larger than 25 MiB"},
		{name: "a message that unpacks without end", operation: "send", ways: agenttest.Way.OverGRPC, handle: packedMessage, delivery: uncertain, message: "does not follow gRPC"},
	}
}

// writeAll writes pieces until all are written or the client has gone.
func writeAll(w io.Writer, pieces int, piece []byte) {
	for range pieces {
		if _, err := w.Write(piece); err != nil {
			return
		}
	}
}

var megabyte = bytes.Repeat([]byte("x"), 1<<20)

// around returns what stands before and behind a text in a task, as a way has it.
func around(way agenttest.Way) (before, behind string) {
	task := `{"task":{"id":"t-1","contextId":"c","status":{"state":"TASK_STATE_WORKING","message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"|"}]}}}}`
	switch way {
	case agenttest.Way{Binding: remote.JSONRPC, Version: "0.3"}:
		task = `{"kind":"task","id":"t-1","contextId":"c","status":{"state":"working","message":{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"text","text":"|"}]}}}`
	case agenttest.Way{Binding: remote.HTTPJSON, Version: "0.3"}:
		task = strings.Replace(task, "parts", "content", 1)
	}
	if way.Binding == remote.JSONRPC {
		task = rpc(task)
	}
	before, behind, _ = strings.Cut(task, "|")
	return before, behind
}

func endlessAnswer(way agenttest.Way) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if way.OverGRPC() {
			beginsGRPC(w)
			_, _ = w.Write([]byte{0, 0x0c, 0x80, 0, 0})
		} else {
			w.Header().Set("Content-Type", "application/json")
			before, _ := around(way)
			_, _ = io.WriteString(w, before)
		}
		writeAll(w, 200, megabyte)
	}
}

func endlessEvent(way agenttest.Way) http.HandlerFunc {
	if way.OverGRPC() {
		return endlessAnswer(way)
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		before, _ := around(way)
		_, _ = io.WriteString(w, "data: "+before)
		writeAll(w, 200, megabyte)
	}
}

func endlessError(agenttest.Way) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		writeAll(w, 200, megabyte)
	}
}

// largestAnswer is valid, and just within what is read.
func largestAnswer(way agenttest.Way) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if way.OverGRPC() {
			answerGRPC(w, bytes.Repeat(megabyte, 24))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		before, behind := around(way)
		_, _ = io.WriteString(w, before)
		writeAll(w, 24, megabyte)
		_, _ = io.WriteString(w, behind)
	}
}

// answerGRPC answers with a message of one part, as protocol buffers are written.
func answerGRPC(w http.ResponseWriter, text []byte) {
	part := protoField(1, text)                                                                         // Part.text
	message := append(protoField(1, []byte("m")), append([]byte{4 << 3, 2}, protoField(5, part)...)...) // Message: message_id, role, parts
	beginsGRPC(w)
	_, _ = w.Write(grpcFrame(protoField(2, message))) // SendMessageResponse.message
	w.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
}

// protoField writes a field of bytes.
func protoField(number int, value []byte) []byte {
	out := []byte{byte(number<<3 | 2)}
	for n := len(value); ; n >>= 7 {
		if n < 0x80 {
			out = append(out, byte(n))
			break
		}
		out = append(out, byte(n)|0x80)
	}
	return append(out, value...)
}

func slowAnswer(way agenttest.Way) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if way.OverGRPC() {
			beginsGRPC(w)
			_, _ = w.Write([]byte{0, 0, 0x10, 0, 0})
		} else {
			w.Header().Set("Content-Type", "application/json")
		}
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for r.Context().Err() == nil {
			<-tick.C
			_, _ = io.WriteString(w, " ")
			_ = http.NewResponseController(w).Flush()
		}
	}
}

func noHead(agenttest.Way) http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
}

func tinyEvents(way agenttest.Way) http.HandlerFunc {
	if way.OverGRPC() {
		return func(w http.ResponseWriter, _ *http.Request) {
			beginsGRPC(w)
			status := protoField(2, protoField(1, []byte{}))                                   // Task.context_id, no matter what
			event := grpcFrame(protoField(1, append(protoField(1, []byte("t-1")), status...))) // StreamResponse.task
			writeAll(w, million/1000, bytes.Repeat(event, 1000))
			w.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
		}
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		event := `{"statusUpdate":{"taskId":"t-1","status":{}}}`
		if way.Binding == remote.JSONRPC {
			event = rpc(event)
		}
		writeAll(w, million/1000, bytes.Repeat([]byte("data:"+event+"\n\n"), 1000))
	}
}

func endlessList(way agenttest.Way) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		event := `{"task":{"id":1,"status":{}}}`
		_, _ = io.WriteString(w, "["+event)
		writeAll(w, 20, bytes.Repeat([]byte(","+event), 1<<20/(len(event)+1)))
		_, _ = io.WriteString(w, "]")
	}
}

func endlessPage(agenttest.Way) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"tasks":[{}`)
		writeAll(w, 24, bytes.Repeat([]byte(",{}"), 1<<20/3))
		_, _ = io.WriteString(w, `]}`)
	}
}

func deepAnswer(agenttest.Way) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		writeAll(w, 24, bytes.Repeat([]byte(`{"task":`), 1<<17))
	}
}

func bomb(stream bool) func(agenttest.Way) http.HandlerFunc {
	return func(way agenttest.Way) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			before, _ := around(way)
			if stream {
				w.Header().Set("Content-Type", "text/event-stream")
				before = "data: " + before
			}
			out := gzip.NewWriter(w)
			_, _ = io.WriteString(out, before)
			writeAll(out, 200, megabyte)
			_ = out.Close()
		}
	}
}

func packedMessage(agenttest.Way) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		var packed bytes.Buffer
		out := gzip.NewWriter(&packed)
		writeAll(out, 200, megabyte)
		_ = out.Close()
		w.Header().Set("Grpc-Encoding", "gzip")
		beginsGRPC(w)
		frame := grpcFrame(packed.Bytes())
		frame[0] = 1
		_, _ = w.Write(frame)
	}
}

// endlessHead sends headers for ever.
func endlessHead(t *testing.T, way agenttest.Way) (url string) {
	if way.OverGRPC() {
		return newHTTP2Peer(t, func(c http2Call) {
			var block bytes.Buffer
			encoder := hpack.NewEncoder(&block)
			for i := range 200 {
				_ = encoder.WriteField(hpack.HeaderField{Name: fmt.Sprintf("x-more-%d", i), Value: strings.Repeat("x", 60)})
			}
			err := c.WriteHeaders(http2.HeadersFrameParam{StreamID: c.stream, BlockFragment: block.Bytes()})
			for err == nil {
				err = c.WriteContinuation(c.stream, false, block.Bytes())
			}
		}).url
	}
	return newRawAgent(t, func(conn net.Conn, next func() bool) {
		next()
		_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
		for err == nil {
			_, err = fmt.Fprintf(conn, "X-More: %s\r\n", megabyte[:1000])
		}
	}).url
}

// hostile is what the process that is attacked is told, and tells.
type hostile struct {
	Name, Operation string
	Impatient       bool
	Way             agenttest.Way
	URL, Good       string

	Resident          int // MiB that the process used so far at most
	Events            int
	Delivery          remote.Delivery
	Message, GoodSaid string
}

// TestHostileAgents lets agents attack a process that does nothing but call them. It
// stays within its memory, says what was wrong, and is served by another agent
// meanwhile.
func TestHostileAgents(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: what memory a process has used is told by Linux alone")
	}
	good := newAgent(t, answers(200, "application/json", rpc(wholeTask))).URL
	wanted := map[string]attack{}
	var all []hostile
	for _, a := range attacks() {
		for _, way := range agenttest.Ways() {
			if a.ways != nil && !a.ways(way) {
				continue
			}
			h := hostile{Name: a.name + " over " + way.String(), Operation: a.operation, Impatient: a.impatient, Way: way, Good: good}
			if a.raw != nil {
				h.URL = a.raw(t, way)
			} else {
				h.URL = serveBy(t, way, a.handle(way))
			}
			wanted[h.Name] = a
			all = append(all, h)
		}
	}
	told, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	victim := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHostileVictim$")
	victim.Env = append(os.Environ(), victimVariable+"="+string(told))
	out, err := victim.Output()
	if err != nil {
		t.Fatalf("the process that is attacked: %v\n%s", err, out)
	}
	checkVictim(t, out, wanted)
}

// checkVictim compares what the process tells with what is wanted.
func checkVictim(t *testing.T, out []byte, wanted map[string]attack) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(out))
	tooMuch := false
	for range wanted {
		var got hostile
		if err := decoder.Decode(&got); err != nil {
			t.Fatalf("the process does not tell of every attack: %v\n%s", err, out)
		}
		want := wanted[got.Name]
		if got.Delivery != want.delivery || !strings.Contains(got.Message, want.message) || got.Events != want.events {
			t.Errorf("%s: %d events, %s %q; want %d, %s %q", got.Name, got.Events, got.Delivery, got.Message, want.events, want.delivery, want.message)
		}
		if got.Resident > maxResident && !tooMuch {
			tooMuch = true // the first one: it is the most so far
			t.Errorf("%s: the process used up to %d MiB, want at most %d", got.Name, got.Resident, maxResident)
		}
		if got.GoodSaid != "" {
			t.Errorf("%s: another agent was not served: %s", got.Name, got.GoodSaid)
		}
	}
}

const victimVariable = "REMOTE_TEST_VICTIM"

// TestHostileVictim is the process that is attacked.
func TestHostileVictim(t *testing.T) {
	told := os.Getenv(victimVariable)
	if told == "" {
		return // it is started by TestHostileAgents
	}
	var all []hostile
	if err := json.Unmarshal([]byte(told), &all); err != nil {
		t.Fatal(err)
	}
	patient := remote.New(remote.Options{})
	impatient := remote.New(remote.Options{Limits: remote.Limits{Headers: 500 * time.Millisecond, Body: time.Second}})
	for _, h := range all {
		ended := make(chan error, 1)
		go func() {
			caller := patient
			if h.Impatient {
				caller = impatient
			}
			var err error
			h.Events, err = h.call(t.Context(), caller)
			ended <- err
		}()
		_, err := patient.Send(t.Context(), target(h.Good, remote.JSONRPC), message())
		if err != nil {
			h.GoodSaid = err.Error()
		}
		var outcome *remote.Error
		if err := <-ended; errors.As(err, &outcome) {
			h.Delivery, h.Message = outcome.Delivery, outcome.Message
		}
		h.Resident = resident(t)
		debug.FreeOSMemory() // as the runtime does by itself, with time
		written, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(string(written))
	}
}

// resident is the most memory that this process has used, in MiB. What the system
// tells a parent of its child has the parent's own in it.
func resident(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	kibibytes, err := strconv.Atoi(strings.Fields(after)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kibibytes >> 10
}

// call makes the call that is attacked, and counts what it brings.
func (h hostile) call(ctx context.Context, client *remote.Client) (events int, err error) {
	to := targetBy(h.Way, h.URL)
	switch h.Operation {
	case "send":
		if _, err = client.Send(ctx, to, message()); err == nil {
			events = 1
		}
	case "get":
		_, err = client.Get(ctx, to, "t-1", nil)
	case "list":
		_, err = client.List(ctx, to, remote.ListRequest{})
	case "stream":
		for _, failure := range client.Stream(ctx, to, message()) {
			if err = failure; err == nil {
				events++
			}
		}
	}
	return events, err
}
