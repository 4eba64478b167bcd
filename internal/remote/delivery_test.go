package remote_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/internal/netpolicy"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/remote/agenttest"
)

// rawAgent is a TCP server that gives every connection to handle, and counts the
// requests that it read on all of them.
type rawAgent struct {
	url      string
	requests chan string // the first line of each
}

func newRawAgent(t *testing.T, handle func(conn net.Conn, next func() bool)) *rawAgent {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	agent := &rawAgent{url: "http://" + listener.Addr().String(), requests: make(chan string, 100)}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				reader := bufio.NewReader(conn)
				handle(conn, func() bool {
					request, err := http.ReadRequest(reader)
					if err != nil {
						return false
					}
					_, _ = io.Copy(io.Discard, request.Body)
					agent.requests <- request.Method + " " + request.RequestURI
					return true
				})
			}()
		}
	}()
	return agent
}

// closedPort returns the address of a port where nothing listens.
func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

const httpAnswer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"

// lostCall is a way in which a call can go wrong without an answer.
type lostCall struct {
	name     string
	agent    func(t *testing.T) string // its address
	options  remote.Options
	change   func(*remote.Target)
	ctx      func(context.Context) context.Context
	delivery remote.Delivery
	message  string
	overGRPC string // the message there, if it is another
}

// TestDelivery has a row for each such way, over every binding: whether a call may
// be made again hangs on it.
func TestDelivery(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, way agenttest.Way) {
		rows := append(callsNotSent(t), callsThatMayHaveArrived()...)
		if way.OverGRPC() {
			rows = append(callsNotSent(t), callsThatMayHaveArrivedOverGRPC()...)
		}
		for _, tt := range rows {
			for _, operation := range []string{"send", "stream", "cancel"} {
				t.Run(tt.name+"/"+operation, func(t *testing.T) {
					t.Parallel()
					tt.run(t, way, operation)
				})
			}
		}
	})
}

func (tt lostCall) run(t *testing.T, way agenttest.Way, operation string) {
	to := targetBy(way, tt.agent(t))
	if tt.change != nil {
		tt.change(&to)
	}
	ctx := testContext(t)
	if tt.ctx != nil {
		ctx = tt.ctx(ctx)
	}
	message := tt.message
	if way.OverGRPC() && tt.overGRPC != "" {
		message = tt.overGRPC
	}
	_, err := operations[operation](ctx, newClient(t, tt.options), to)
	e := outcome(t, err)
	if e.Delivery != tt.delivery || !strings.Contains(e.Message, message) {
		t.Errorf("outcome = %s %q (%v), want %s %q", e.Delivery, e.Message, e.Err, tt.delivery, message)
	}
}

func callsNotSent(t *testing.T) []lostCall {
	return []lostCall{
		{
			name: "refused", agent: func(t *testing.T) string { return "http://" + closedPort(t) + "/a?key=1" },
			delivery: remote.NotSent, message: ": connection refused",
		},
		{
			name: "no such host", agent: func(*testing.T) string { return "http://agent.invalid/" },
			delivery: remote.NotSent, message: "The agent cannot be found: ",
		},
		{
			name:     "network policy",
			agent:    func(t *testing.T) string { return newAgent(t, answers(200, "", "")).URL },
			options:  remote.Options{Network: newPolicy(t, netpolicy.Config{})},
			delivery: remote.NotSent, message: "The agent was not called. The network policy refused it (rule loopback).",
		},
		{
			name: "TLS to a server without TLS",
			agent: func(t *testing.T) string {
				return strings.Replace(newAgent(t, answers(200, "", "")).URL, "http", "https", 1)
			},
			delivery: remote.NotSent, message: "may have to begin with http://",
		},
		{
			name: "certificate of an unknown authority",
			agent: func(t *testing.T) string {
				server := httptest.NewUnstartedServer(http.NotFoundHandler())
				server.Config.ErrorLog = log.New(io.Discard, "", 0)
				server.EnableHTTP2 = true
				server.StartTLS()
				t.Cleanup(server.Close)
				return server.URL
			},
			delivery: remote.NotSent, message: "an authority that is not trusted here",
		},
		{
			name: "TLS handshake that does not come about",
			agent: func(t *testing.T) string {
				silent := newRawAgent(t, func(conn net.Conn, _ func() bool) { _, _ = io.Copy(io.Discard, conn) })
				return strings.Replace(silent.url, "http", "https", 1)
			},
			options:  remote.Options{Limits: remote.Limits{Connect: 50 * time.Millisecond}},
			delivery: remote.NotSent, message: "no connection came about in time",
		},
		{
			name: "TLS handshake cut", agent: func(t *testing.T) string {
				return strings.Replace(newRawAgent(t, func(net.Conn, func() bool) {}).url, "http", "https", 1)
			},
			delivery: remote.NotSent, message: "The agent does not answer at https://",
		},
		{
			name:  "stopped before",
			agent: func(t *testing.T) string { return newAgent(t, answers(200, "", "")).URL },
			ctx: func(ctx context.Context) context.Context {
				ctx, cancel := context.WithCancel(ctx)
				cancel()
				return ctx
			},
			delivery: remote.NotSent, message: "stopped before it was complete",
		},
		{
			name: "binding", agent: func(*testing.T) string { return "http://127.0.0.1:1/" },
			change:   func(t *remote.Target) { t.Interface.Binding = "urn:pigeon" },
			delivery: remote.NotSent, message: "cannot speak urn:pigeon of A2A",
		},
		{
			name: "version", agent: func(*testing.T) string { return "http://127.0.0.1:1/" },
			change:   func(t *remote.Target) { t.Interface.ProtocolVersion = "2.0" },
			delivery: remote.NotSent, message: "of A2A 2.0",
		},
		{
			name: "address", agent: func(*testing.T) string { return "/relative" },
			delivery: remote.NotSent, message: `not usable: "/relative"`,
		},
	}
}

func callsThatMayHaveArrived() []lostCall {
	return []lostCall{
		{
			name: "cut after the request",
			agent: func(t *testing.T) string {
				return newRawAgent(t, func(_ net.Conn, next func() bool) { next() }).url
			},
			delivery: remote.Uncertain, message: "cut the connection",
		},
		{
			name: "cut in the head",
			agent: func(t *testing.T) string {
				return newRawAgent(t, func(conn net.Conn, next func() bool) { next(); _, _ = io.WriteString(conn, "HTTP/1.1 200") }).url
			},
			delivery: remote.Uncertain, message: "cut the connection",
		},
		{
			name: "cut in the body",
			agent: func(t *testing.T) string {
				return newRawAgent(t, func(conn net.Conn, next func() bool) { next(); fmt.Fprintf(conn, httpAnswer, 1000, "{") }).url
			},
			delivery: remote.Uncertain, message: "cut the connection",
		},
		{
			name: "no HTTP",
			agent: func(t *testing.T) string {
				return newRawAgent(t, func(conn net.Conn, next func() bool) { next(); _, _ = io.WriteString(conn, "SSH-2.0-x\r\n\r\n") }).url
			},
			delivery: remote.Uncertain, message: "failed before its answer was complete",
		},
		{
			name: "head without end",
			agent: func(t *testing.T) string {
				return newRawAgent(t, func(conn net.Conn, next func() bool) {
					next()
					_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
					for err == nil {
						_, err = io.WriteString(conn, "X-More: and more\r\n")
					}
				}).url
			},
			delivery: remote.Uncertain, message: "failed before its answer was complete",
		},
		{
			name: "body without end",
			agent: func(t *testing.T) string {
				return newAgent(t, func(w http.ResponseWriter, _ *http.Request) {
					chunk, err := bytes.Repeat([]byte(" "), 1<<16), error(nil)
					for err == nil {
						_, err = w.Write(chunk)
					}
				}).URL
			},
			options:  remote.Options{Limits: remote.Limits{Response: 1 << 20}},
			delivery: remote.Uncertain, message: "larger than 1 MiB",
		},
		{
			name: "body announced too large",
			agent: func(t *testing.T) string {
				return newRawAgent(t, func(conn net.Conn, next func() bool) {
					next()
					fmt.Fprintf(conn, httpAnswer, 200<<20, "{")
					next() // holds the connection open
				}).url
			},
			delivery: remote.Uncertain, message: "larger than 25 MiB",
		},
		{
			name: "body that unpacks without end",
			agent: func(t *testing.T) string {
				return newAgent(t, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Encoding", "gzip")
					out := gzip.NewWriter(w)
					_, _ = io.CopyN(out, zeros{}, 16<<20)
					_ = out.Close()
				}).URL
			},
			options:  remote.Options{Limits: remote.Limits{Response: 1 << 20}},
			delivery: remote.Uncertain, message: "larger than 1 MiB",
		},
		{
			name: "packed in a way that was not asked for",
			agent: func(t *testing.T) string {
				return newAgent(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Encoding", "br") }).URL
			},
			delivery: remote.Uncertain, message: "compressed with br",
		},
	}
}

// expiring is a context whose time is up when it is told so.
type expiring struct {
	context.Context
	up chan struct{}
}

func (e expiring) Done() <-chan struct{} { return e.up }

func (e expiring) Err() error {
	select {
	case <-e.up:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// TestOutOfTime lets the time that a call was given end while the agent works.
func TestOutOfTime(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, way agenttest.Way) {
		for _, operation := range []string{"send", "stream", "cancel"} {
			ctx := expiring{testContext(t), make(chan struct{})}
			handle := func(w http.ResponseWriter, r *http.Request) {
				if way.OverGRPC() {
					beginsGRPC(w)
				}
				close(ctx.up)
				<-r.Context().Done()
			}
			_, err := operations[operation](ctx, newClient(t, remote.Options{}), targetBy(way, serveBy(t, way, handle)))
			e := outcome(t, err)
			if e.Delivery != remote.Uncertain || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(e.Message, "longer than it was given") {
				t.Errorf("%s: %s %q (%v), want uncertain", operation, e.Delivery, e.Message, e.Err)
			}
		}
	})
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestNeverSentTwice cuts a connection that was used before, right after it took
// the request: where net/http might try again by itself.
func TestNeverSentTwice(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"send", "stream", "cancel"} {
		bindings(t, func(t *testing.T, binding string) {
			result := wholeTask
			if operation == "cancel" {
				result = bareTask
			}
			agent := newRawAgent(t, func(conn net.Conn, next func() bool) {
				if next() {
					fmt.Fprintf(conn, httpAnswer, len(result), result)
					next()
				}
			})
			client, ctx := newClient(t, remote.Options{}), testContext(t)
			to := target(agent.url, binding)
			if _, err := operations[operation](ctx, client, to); err != nil {
				t.Fatal(err)
			}
			_, err := operations[operation](ctx, client, to)
			if e := outcome(t, err); e.Delivery != remote.Uncertain {
				t.Errorf("%s: outcome = %+v, want uncertain", operation, e)
			}
			if got := len(agent.requests); got != 2 {
				t.Errorf("%s: the agent got %d requests, want 2", operation, got)
			}
		})
	}
}

// TestNotSentIsNotReceived lets the agent close each connection after one answer,
// so that calls meet connections in every stage of dying: whatever they see, a
// call that was "not sent" has not arrived.
func TestNotSentIsNotReceived(t *testing.T) {
	t.Parallel()
	agent := newRawAgent(t, func(conn net.Conn, next func() bool) {
		if next() {
			fmt.Fprintf(conn, httpAnswer, len(wholeTask), wholeTask)
		}
	})
	client, ctx := newClient(t, remote.Options{}), testContext(t)
	answered, uncertain := 0, 0
	for range 80 {
		_, err := client.Send(ctx, target(agent.url, remote.JSONRPC), message())
		if err == nil {
			answered++
		} else if e := outcome(t, err); e.Delivery == remote.Uncertain {
			uncertain++
		} else if e.Delivery != remote.NotSent {
			t.Fatalf("outcome = %+v, want uncertain or not sent", e)
		}
	}
	if got := len(agent.requests); got < answered || got > answered+uncertain {
		t.Errorf("the agent got %d requests; %d were answered and %d uncertain", got, answered, uncertain)
	}
	if answered == 0 {
		t.Error("no call was answered")
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		elsewhere := newAgent(t, answers(200, "application/json", rpc(wholeTask)))
		agent := newAgent(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, status) })
		client := newClient(t, remote.Options{})
		for name, operation := range operations {
			for _, binding := range []string{remote.JSONRPC, remote.HTTPJSON} {
				_, err := operation(testContext(t), client, target(agent.URL, binding))
				if e := outcome(t, err); e.Delivery != remote.Answered || e.Code != fmt.Sprintf("HTTP %d", status) {
					t.Errorf("%s over %s, %d: outcome = %+v, want answered", name, binding, status, e)
				}
			}
		}
		if got := elsewhere.requests(); len(got) > 0 {
			t.Errorf("%d was followed: %v", status, got)
		}
	}
}
