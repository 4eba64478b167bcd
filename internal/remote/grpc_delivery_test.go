package remote_test

import (
	"context"
	"encoding/binary"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/remote/agenttest"
)

// newHTTP2Agent is an HTTP/2 server without TLS that answers as it likes.
func newHTTP2Agent(t *testing.T, handle http.HandlerFunc) (url string) {
	t.Helper()
	server := httptest.NewUnstartedServer(handle)
	server.Config.Protocols = &http.Protocols{}
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Config.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, conn)
	}
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

// serveBy serves a handler by the protocol that a way is spoken over.
func serveBy(t *testing.T, way agenttest.Way, handle http.HandlerFunc) (url string) {
	t.Helper()
	if way.OverGRPC() {
		return newHTTP2Agent(t, handle)
	}
	return newAgent(t, handle).URL
}

// connKey finds the connection of a request.
type connKey struct{}

// grpcFrame is a message as gRPC sends it.
func grpcFrame(message []byte) []byte {
	head := make([]byte, 5)
	binary.BigEndian.PutUint32(head[1:], uint32(len(message)))
	return append(head, message...)
}

// beginsGRPC answers as gRPC does, up to the first message.
func beginsGRPC(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/grpc")
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
}

// http2Call is a request that an http2Peer has read.
type http2Call struct {
	*http2.Framer
	stream uint32
}

// newHTTP2Peer speaks HTTP/2 frame by frame: handle is given each request when it
// is complete.
func newHTTP2Peer(t *testing.T, handle func(http2Call)) *rawAgent {
	t.Helper()
	agent := &rawAgent{requests: make(chan string, 100)}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	agent.url = "http://" + listener.Addr().String()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go agent.serveHTTP2(conn, handle)
		}
	}()
	return agent
}

func (a *rawAgent) serveHTTP2(conn net.Conn, handle func(http2Call)) {
	defer conn.Close()
	if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	framer := http2.NewFramer(conn, conn)
	if err := framer.WriteSettings(); err != nil {
		return
	}
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return
		}
		data, isData := frame.(*http2.DataFrame)
		if isData && data.StreamEnded() {
			a.requests <- "request"
			handle(http2Call{framer, data.StreamID})
		}
	}
}

// head writes the head of an answer.
func (c http2Call) head() {
	var block strings.Builder
	encoder := hpack.NewEncoder(&block)
	for _, field := range [][2]string{{":status", "200"}, {"content-type", "application/grpc"}} {
		_ = encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
	}
	_ = c.WriteHeaders(http2.HeadersFrameParam{StreamID: c.stream, BlockFragment: []byte(block.String()), EndHeaders: true})
}

// cut ends the connection of a request.
func cut(r *http.Request) { _ = r.Context().Value(connKey{}).(net.Conn).Close() }

// callsThatMayHaveArrivedOverGRPC end after the message has left and before there
// is an answer of the agent's.
func callsThatMayHaveArrivedOverGRPC() []lostCall {
	agent := func(handle http.HandlerFunc) func(t *testing.T) string {
		return func(t *testing.T) string { return newHTTP2Agent(t, handle) }
	}
	peer := func(handle func(http2Call)) func(t *testing.T) string {
		return func(t *testing.T) string { return newHTTP2Peer(t, handle).url }
	}
	uncertain := func(name string, agent func(*testing.T) string, message string) lostCall {
		return lostCall{name: name, agent: agent, delivery: remote.Uncertain, message: message}
	}
	return []lostCall{
		uncertain("cut after the request", agent(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); cut(r) }), "failed before the answer was complete"),
		uncertain("cut after the head", agent(func(w http.ResponseWriter, r *http.Request) { beginsGRPC(w); cut(r) }), "failed before the answer was complete"),
		uncertain("cut in the answer", agent(func(w http.ResponseWriter, r *http.Request) {
			beginsGRPC(w)
			_, _ = w.Write(grpcFrame(make([]byte, 1000))[:100])
			_ = http.NewResponseController(w).Flush()
			cut(r)
		}), "failed before the answer was complete"),
		uncertain("ended without a status", agent(func(w http.ResponseWriter, _ *http.Request) { beginsGRPC(w) }), "does not follow gRPC"),
		uncertain("broken off", agent(func(w http.ResponseWriter, _ *http.Request) { beginsGRPC(w); panic(http.ErrAbortHandler) }), "does not follow gRPC"),
		uncertain("refused stream", peer(func(c http2Call) { _ = c.WriteRSTStream(c.stream, http2.ErrCodeRefusedStream) }), "failed before the answer was complete"),
		uncertain("canceled by the agent", peer(func(c http2Call) { _ = c.WriteRSTStream(c.stream, http2.ErrCodeCancel) }), "does not follow gRPC"),
		uncertain("too much", peer(func(c http2Call) { _ = c.WriteRSTStream(c.stream, http2.ErrCodeEnhanceYourCalm) }), "does not follow gRPC"),
		uncertain("gone away", peer(func(c http2Call) { _ = c.WriteGoAway(0, http2.ErrCodeNo, nil) }), "failed before the answer was complete"),
		uncertain("no frame", peer(func(c http2Call) {
			c.head()
			_ = c.WriteRawFrame(http2.FrameData, 0, c.stream, []byte{0, 0xff, 0xff})
			_ = c.WriteRSTStream(c.stream, http2.ErrCodeNo)
		}), "does not follow gRPC"),
		uncertain("bytes that are no message", agent(func(w http.ResponseWriter, _ *http.Request) {
			beginsGRPC(w)
			_, _ = w.Write(grpcFrame([]byte("\xff\xff\xff")))
		}), "does not follow gRPC"),
		uncertain("answer announced too large", agent(func(w http.ResponseWriter, r *http.Request) {
			beginsGRPC(w)
			_, _ = w.Write([]byte{0, 0x0c, 0x80, 0, 0}) // 200 MiB
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}), "larger than 25 MiB"),
		uncertain("compressed in a way that was not asked for", agent(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Grpc-Encoding", "gzip")
			beginsGRPC(w)
			_, _ = w.Write([]byte{1, 0, 0, 0, 1, 0})
		}), "does not follow gRPC"),
	}
}

// TestGRPCNotSent has the ways in which no gRPC comes about.
func TestGRPCNotSent(t *testing.T) {
	t.Parallel()
	withTLS := func(t *testing.T) string {
		server := httptest.NewUnstartedServer(http.NotFoundHandler())
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		server.StartTLS()
		t.Cleanup(server.Close)
		return server.URL
	}
	silent := func(t *testing.T) string {
		return newRawAgent(t, func(conn net.Conn, _ func() bool) { _, _ = io.Copy(io.Discard, conn) }).url
	}
	soon := remote.Options{Limits: remote.Limits{Connect: time.Second}}
	for _, tt := range []lostCall{
		{name: "TLS without HTTP/2", agent: withTLS, message: "broke off the TLS handshake (no application protocol)"},
		{name: "HTTP/1.1", agent: func(t *testing.T) string { return newAgent(t, answers(200, "", "")).URL }, message: "does not speak gRPC"},
		{name: "another protocol", agent: func(t *testing.T) string {
			return newRawAgent(t, func(conn net.Conn, _ func() bool) { _, _ = io.WriteString(conn, "SSH-2.0-x\r\n") }).url
		}, message: "does not speak gRPC"},
		{name: "nothing said", agent: silent, options: soon, message: "does not speak gRPC"},
	} {
		tt.delivery = remote.NotSent
		for _, operation := range []string{"send", "stream", "cancel"} {
			t.Run(tt.name+"/"+operation, func(t *testing.T) {
				t.Parallel()
				tt.run(t, agenttest.Way{Binding: remote.GRPC, Version: "1.0"}, operation)
			})
		}
	}
}

// TestGRPCNeverSentTwice: gRPC sends a call again by itself if the server says that
// it did not look at it. A server may be wrong about that.
func TestGRPCNeverSentTwice(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]func(http2Call){
		"refused stream": func(c http2Call) { _ = c.WriteRSTStream(c.stream, http2.ErrCodeRefusedStream) },
		"gone away":      func(c http2Call) { _ = c.WriteGoAway(0, http2.ErrCodeNo, nil) },
	} {
		for _, operation := range []string{"send", "stream", "cancel"} {
			t.Run(name+"/"+operation, func(t *testing.T) {
				t.Parallel()
				agent := newHTTP2Peer(t, refuse)
				_, err := operations[operation](testContext(t), newClient(t, remote.Options{}), target(agent.url, remote.GRPC))
				if e := outcome(t, err); e.Delivery != remote.Uncertain {
					t.Errorf("outcome = %+v, want uncertain", e)
				}
				if got := len(agent.requests); got != 1 {
					t.Errorf("the agent got %d requests, want 1", got)
				}
			})
		}
	}
}
