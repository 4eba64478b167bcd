package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/a2a"
)

// readEvents reads a whole stream.
func readEvents(in io.Reader, limit int64) ([]event, error) {
	reader := newEventReader(in, limit)
	var all []event
	for {
		e, err := reader.next()
		if err != nil {
			return all, err
		}
		all = append(all, e)
	}
}

// FuzzEventReader: how a stream is cut into pieces makes no difference, and no
// event is larger than the limit.
func FuzzEventReader(f *testing.F) {
	for _, seed := range []string{
		"data: a\n\ndata: b\r\n\r\ndata: c\r\r", "\xEF\xBB\xBFid: 1\nevent: x\ndata:a\ndata: b\n\n: c\n", "data", "data: x", "\r\n\n\r:\rdata:\r\n\r", "datax: 1\n\n data: 2\n\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		const limit = 64
		whole, wholeErr := readEvents(bytes.NewReader(stream), limit)
		pieces, piecesErr := readEvents(iotest.OneByteReader(bytes.NewReader(stream)), limit)
		if diff := cmp.Diff(whole, pieces, cmp.AllowUnexported(event{})); diff != "" {
			t.Errorf("events mismatch (-whole +byte by byte):\n%s", diff)
		}
		if errors.Is(wholeErr, io.EOF) != errors.Is(piecesErr, io.EOF) {
			t.Errorf("ended with %v and with %v", wholeErr, piecesErr)
		}
		if !errors.Is(wholeErr, io.EOF) && !errors.Is(wholeErr, ErrTooLarge) {
			t.Errorf("ended with %v", wholeErr)
		}
		for _, e := range whole {
			if len(e.data) > limit {
				t.Errorf("event of %d bytes, want at most %d", len(e.data), limit)
			}
		}
	})
}

// FuzzReadAnswer: whatever a body holds, it is read as a valid event or ends in an
// outcome with words.
func FuzzReadAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t","status":{}}}}`, `{"error":{"code":-32001,"message":"x","data":[{"reason":"TASK_NOT_FOUND"}]}}`,
		`{"type":"https://a2a-protocol.org/errors/x","title":"a","detail":{}}`, `[{"result":1}]`, `<html>`, "\xEF\xBB\xBF{}", `{"error":"x"}`, `{"tasks":[1,{}]}`,
	} {
		f.Add([]byte(seed), 200, "application/json")
		f.Add([]byte(seed), 404, "text/html")
	}
	client := New(Options{})
	f.Fuzz(func(t *testing.T, body []byte, status int, contentType string) {
		for _, op := range []operation{sendMessage, subscribeToTask, getTask, listTasks} {
			request, _ := http.NewRequest(http.MethodPost, "http://agent.test/", nil)
			response := &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {contentType}}, Request: request}
			call := client.newCall(t.Context(), op, "")
			payload, err := call.readAnswer(response, body)
			call.end()
			if err == nil {
				if !json.Valid(payload) {
					t.Errorf("%s: payload is not JSON: %q", op.name, payload)
				}
				a2a.DecodeEvent(payload)
				continue
			}
			var outcome *Error
			if !errors.As(err, &outcome) || outcome.Message == "" || len(outcome.Message) > 20_000 || outcome.Delivery == NotSent {
				t.Errorf("%s: outcome = %#v", op.name, err)
			}
		}
	})
}

func TestCleaned(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"  a \n\t b  ":            "a b",
		"x\u202ey\u200bz\x00":     "xyz",
		strings.Repeat("é", 30):   strings.Repeat("é", 20) + "…",
		"\xff":                    "",
		"twenty characters ok":    "twenty characters ok",
		"\x1b[31mred":             "[31mred",
		"\u00a0non\u2003breaking": "non breaking",
	} {
		if got := cleaned(in, 20); got != want {
			t.Errorf("cleaned(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestTransportTrustsNoEnvironment(t *testing.T) {
	t.Parallel()
	transport := newTransport(DefaultLimits(), &anywhere{}, tlsConfig(nil))
	if transport.Proxy != nil {
		t.Error("the transport has a proxy function, want none")
	}
}

func TestMeteredConnCountsBeforeItWrites(t *testing.T) {
	t.Parallel()
	conn := &meteredConn{}
	conn.Conn = &countingConn{conn: conn}
	if _, err := conn.Write([]byte("hello")); err == nil {
		t.Fatal("no error, want one")
	}
	if during := conn.Conn.(*countingConn).during; during != 5 {
		t.Errorf("%d bytes counted during the write, want 5", during)
	}
	if after := conn.written.Load(); after != 2 {
		t.Errorf("%d bytes counted after it, want the 2 that left", after)
	}
}

// countingConn writes two bytes and fails, and notes what was counted meanwhile.
type countingConn struct {
	net.Conn
	conn   *meteredConn
	during int64
}

func (c *countingConn) Write([]byte) (int, error) {
	c.during = c.conn.written.Load()
	return 2, io.ErrClosedPipe
}
