package remote

import (
	"context"
	"crypto/x509"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
)

// Options say how a Client reaches agents. The zero value works.
type Options struct {
	Limits Limits // zero fields take those of DefaultLimits

	// Network decides what may be reached, and opens every connection, those of
	// every binding and for cards alike. Nil reaches everything, directly.
	Network Network

	// RootCAs are the authorities that agents' certificates are checked against. Nil
	// are those of the system.
	RootCAs *x509.CertPool

	// Credentials knows what goes with calls. Nil sends nothing.
	Credentials Credentials

	// Record is given every piece of every exchange as it happens. Nil records nothing.
	Record Recorder

	Log       *slog.Logger // nil discards
	Tracer    trace.Tracer // makes a span for each call; nil makes none
	UserAgent string       // "" is "Agent-Taskbay"
}

// Client calls agents. It is safe for concurrent use; one is enough for a process.
//
// Every error that its methods return is a *Error. A call never follows a
// redirect and is never sent twice.
type Client struct {
	limits    Limits
	record    Recorder
	log       *slog.Logger
	tracer    trace.Tracer
	userAgent string
	network   Network
	transport *http.Transport
	grpc      grpcConns

	credentials Credentials
	certified   certifiedTransports
}

// New returns a client.
func New(o Options) *Client {
	limits := o.Limits.withDefaults()
	c := &Client{
		limits:    limits,
		record:    o.Record,
		log:       o.Log,
		tracer:    o.Tracer,
		userAgent: o.UserAgent,
		network:   o.Network,

		credentials: o.Credentials,
	}
	if c.network == nil {
		c.network = &anywhere{}
	}
	secure := tlsConfig(o.RootCAs)
	c.transport = newTransport(limits, c.network, secure)
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.tracer == nil {
		c.tracer = noop.Tracer{}
	}
	if c.userAgent == "" {
		c.userAgent = "Agent-Taskbay"
	}
	c.grpc.limits, c.grpc.network, c.grpc.tls, c.grpc.agent = limits, c.network, secure, c.userAgent
	return c
}

// Close drops idle connections. Calls that are running are ended by their contexts.
func (c *Client) Close() {
	c.transport.CloseIdleConnections()
	c.grpc.closeAllIdle()
	c.certified.closeIdle()
}

// Send asks the agent to take a message and waits for its one answer
// (SendMessage): a task or a message.
func (c *Client) Send(ctx context.Context, t Target, r SendRequest) (Observation, error) {
	return c.unary(ctx, t, sendMessage, func(call *call) error {
		request, err := call.sendRequest(r)
		if err != nil {
			return err
		}
		_, err = call.agent.SendMessage(call.ctx, call.params, request)
		return err
	})
}

// Stream asks the agent to take a message and yields what it says about it
// (SendStreamingMessage) until the agent ends the stream, the loop is left or ctx
// is done. An agent whose card offers no streams is asked with SendMessage instead.
//
// It yields at least one observation or an error; an error is the last thing it
// yields. An error after an observation has Delivery Answered: the agent has the
// message, and the error says how its stream ended.
func (c *Client) Stream(ctx context.Context, t Target, r SendRequest) iter.Seq2[Observation, error] {
	if !t.Streaming {
		return func(yield func(Observation, error) bool) { yield(c.Send(ctx, t, r)) }
	}
	return c.stream(ctx, t, sendStreamingMessage, func(call *call) (iter.Seq2[sdk.Event, error], error) {
		request, err := call.sendRequest(r)
		if err != nil {
			return nil, err
		}
		return call.agent.SendStreamingMessage(call.ctx, call.params, request), nil
	})
}

// Subscribe yields what the agent says about a task from now on
// (SubscribeToTask), as Stream does. Agents answer with CodeTaskNotFound or
// CodeUnsupportedOperation when the task cannot be streamed at the moment; Get
// then tells how it stands.
func (c *Client) Subscribe(ctx context.Context, t Target, taskID string) iter.Seq2[Observation, error] {
	if !t.Streaming {
		return func(yield func(Observation, error) bool) {
			yield(Observation{}, &Error{Delivery: NotSent, Code: CodeUnsupportedOperation, Message: "The agent's card offers no streams."})
		}
	}
	return c.stream(ctx, t, subscribeToTask, func(call *call) (iter.Seq2[sdk.Event, error], error) {
		id, err := call.binding.taskID(taskID)
		if err != nil {
			return nil, err
		}
		return call.agent.SubscribeToTask(call.ctx, call.params, &sdk.SubscribeToTaskRequest{Tenant: call.tenant, ID: id}), nil
	})
}

// Get asks how a task stands (GetTask). The payload is {"task":…}. historyLength
// bounds the messages of its history; nil leaves it to the agent.
func (c *Client) Get(ctx context.Context, t Target, taskID string, historyLength *int) (Observation, error) {
	return c.unary(ctx, t, getTask, func(call *call) error {
		id, err := call.binding.taskID(taskID)
		if err != nil {
			return err
		}
		_, err = call.agent.GetTask(call.ctx, call.params, &sdk.GetTaskRequest{Tenant: call.tenant, ID: id, HistoryLength: historyLength})
		return err
	})
}

// Cancel asks the agent to cancel a task (CancelTask). The payload is {"task":…}
// as it stands after that, which need not be canceled.
func (c *Client) Cancel(ctx context.Context, t Target, taskID string) (Observation, error) {
	return c.unary(ctx, t, cancelTask, func(call *call) error {
		id, err := call.binding.taskID(taskID)
		if err != nil {
			return err
		}
		_, err = call.agent.CancelTask(call.ctx, call.params, &sdk.CancelTaskRequest{Tenant: call.tenant, ID: id})
		return err
	})
}

// Page is one page of an agent's tasks.
type Page struct {
	Tasks []Observation // each payload is {"task":…}
	Next  string        // the token of the next page, "" at the end
}

// ListRequest says which tasks of an agent to list.
type ListRequest struct {
	ContextID string    // "" for any
	PageToken string    // Page.Next of the page before; "" for the first
	After     time.Time // only tasks whose status changed later, by the agent's clock; zero for any. Some agents do not heed it
	Brief     bool      // more on a page, and without their history. Some agents do not heed it
}

// The page sizes that agents are asked for; some accept no more than 100, and some
// answer with more than they were asked for.
const (
	listPageSize  = 50
	briefPageSize = 100
	maxListed     = 1000
)

// List asks for a page of the agent's tasks (ListTasks). Many agents do not
// list: CodeUnsupportedOperation, CodeMethodNotFound and CodeUnauthenticated are
// usual answers.
func (c *Client) List(ctx context.Context, t Target, r ListRequest) (Page, error) {
	request := sdk.ListTasksRequest{ContextID: r.ContextID, PageToken: r.PageToken, PageSize: listPageSize}
	if r.Brief {
		request.PageSize, request.HistoryLength = briefPageSize, new(int)
	}
	if !r.After.IsZero() {
		request.StatusTimestampAfter = &r.After
	}
	event := a2a.StreamResponse
	answer, err := c.unary(ctx, t, listTasks, func(call *call) error {
		event = call.binding.event
		request.Tenant = call.tenant
		_, err := call.agent.ListTasks(call.ctx, call.params, &request)
		return err
	})
	if err != nil {
		return Page{}, err
	}
	page := Page{}
	for task := range rawjson.Elements(rawjson.Member(answer.Payload, "tasks")) {
		if len(page.Tasks) == maxListed {
			return Page{}, tooMany("tasks")
		}
		page.Tasks = append(page.Tasks, Observation{Raw: task, Payload: event(a2a.Wrap("task", task)), Received: answer.Received})
	}
	page.Next, _ = rawjson.Text(rawjson.Member(answer.Payload, "nextPageToken"))
	if page.Next == r.PageToken {
		page.Next = "" // the agent repeats itself
	}
	return page, nil
}

// tooMany is the outcome of a call that brought a page beyond all measure.
func tooMany(what string) *Error {
	return &Error{
		Delivery: Answered, Code: CodeInvalidResponse, Err: ErrTooLarge,
		Message: fmt.Sprintf("The agent puts more than %d %s on one page.", maxListed, what),
	}
}

// unary makes a call that has one answer.
func (c *Client) unary(ctx context.Context, t Target, op operation, do func(*call) error) (Observation, error) {
	call, err := c.begin(ctx, t, op)
	if err != nil {
		return Observation{}, err
	}
	defer call.end()
	if err := do(call); err != nil {
		return Observation{}, call.fail(err)
	}
	observation, ok := call.next()
	if !ok {
		return Observation{}, call.fail(errNotPaired)
	}
	return observation, nil
}

// stream makes a call that is answered by a stream.
func (c *Client) stream(
	ctx context.Context, t Target, op operation,
	do func(*call) (iter.Seq2[sdk.Event, error], error),
) iter.Seq2[Observation, error] {
	return func(yield func(Observation, error) bool) {
		call, err := c.begin(ctx, t, op)
		if err != nil {
			yield(Observation{}, err)
			return
		}
		defer call.end()
		events, err := do(call)
		if err != nil {
			yield(Observation{}, call.fail(err))
			return
		}
		for _, err := range events {
			if err != nil {
				yield(Observation{}, call.fail(err))
				return
			}
			observation, ok := call.next()
			if !ok {
				yield(Observation{}, call.fail(errNotPaired))
				return
			}
			if !yield(observation, nil) {
				return
			}
		}
	}
}
