package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	sdkclient "github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/google/uuid"
	"go.opentelemetry.io/otel/trace"

	"github.com/agent-taskbay/taskbay/internal/credential/scheme"
)

// call is one call of an agent. It is the SDK's http.RoundTripper, or below a
// grpcCall its gRPC connection, so it sees the request that the SDK made and the
// agent's answer before the SDK does: it records both, queues what it read, and
// gives the SDK a skeleton of it. A call is used by one goroutine.
type call struct {
	client   *Client
	ctx      context.Context
	cancel   context.CancelCauseFunc
	op       operation
	agentID  string
	exchange string
	at       string // the address that was called, for people
	release  func() // gives back what the transport holds
	span     trace.Span

	agent   sdkclient.Transport // the SDK's, to the agent
	binding binding
	params  sdkclient.ServiceParams
	tenant  string
	values  map[string][]byte // what to put into the request in the place of the SDK's own

	status  string      // how a gRPC call ended
	trailer http.Header // what came with that

	secrets *scheme.Redactor // of the agent, once they are known
	private *scheme.Redactor // of this call alone
	refused func()           // tells the agent's credential that it was refused

	sending  sending
	queue    []Observation // read, and not yet handed on
	observed int
	err      *Error
}

var errNotPaired = errors.New("the SDK yielded an event that was not received")

// newCall returns a call that is not bound to an interface.
func (c *Client) newCall(ctx context.Context, op operation, agentID string) *call {
	ctx, cancel := context.WithCancelCause(ctx)
	ctx, span := c.startSpan(ctx, op, agentID)
	return &call{
		span: span, client: c, ctx: ctx, cancel: cancel, op: op, agentID: agentID, exchange: uuid.NewString(),
		release: func() {}, secrets: &scheme.Redactor{}, private: &scheme.Redactor{},
	}
}

// begin returns a call to an agent. It must be ended.
func (c *Client) begin(ctx context.Context, t Target, op operation) (*call, error) {
	binding, err := bindingOf(t.Interface)
	if err != nil {
		return nil, err
	}
	if _, ok := binding.skeletons[op.answer]; !ok {
		return nil, &Error{
			Delivery: NotSent, Code: CodeUnsupportedOperation,
			Message: "A2A " + binding.version + " has no " + op.name + " over " + binding.name + ".",
		}
	}
	tenant, err := binding.tenant(t.Interface.Tenant)
	if err != nil {
		return nil, err
	}
	call := c.newCall(ctx, op, t.AgentID)
	call.binding, call.tenant = binding, tenant
	call.params = sdkclient.ServiceParams{sdk.SvcParamVersion: {binding.version}}
	if call.agent, err = binding.open(call, t.Interface); err != nil {
		call.cancel(context.Canceled)
		call.span.End()
		return nil, err
	}
	return call, nil
}

// end releases what the call holds.
func (c *call) end() {
	c.cancel(context.Canceled)
	c.release()
	c.endSpan()
	problem := ""
	if c.err != nil {
		problem = c.err.Error()
	}
	c.recorded(Record{Kind: RecordEnd, Err: problem, GRPCStatus: c.status, Header: redacted(c.trailer)})
}

// fail turns an error of the SDK into the call's outcome.
func (c *call) fail(err error) *Error {
	var known *Error
	if !errors.As(err, &known) {
		known = c.failure(err)
	}
	outcome := *known
	if c.observed > 0 {
		outcome.Delivery = Answered
	}
	c.redactOutcome(&outcome)
	c.err = &outcome
	return c.err
}

// sendRequest returns the SDK's form of a request. Its message and metadata stand
// for the exact ones, which are put in their place when the request is sent.
func (c *call) sendRequest(r SendRequest) (*sdk.SendMessageRequest, error) {
	message, err := c.binding.message(r.Message)
	if err != nil {
		return nil, &Error{Delivery: NotSent, Message: "The message cannot be sent: " + err.Error() + ".", Err: err}
	}
	c.values = map[string][]byte{"message": message}
	request := &sdk.SendMessageRequest{
		Tenant:  c.tenant,
		Message: &sdk.Message{ID: "-", Role: sdk.MessageRoleUser, Parts: sdk.ContentParts{sdk.NewTextPart("-")}},
		Config: &sdk.SendMessageConfig{
			AcceptedOutputModes: r.AcceptedOutputModes,
			ReturnImmediately:   true,
			HistoryLength:       r.HistoryLength,
		},
	}
	if len(r.Metadata) > 0 {
		if !json.Valid(r.Metadata) {
			return nil, &Error{Delivery: NotSent, Message: "The message cannot be sent: its request's metadata is not JSON."}
		}
		c.values["metadata"] = r.Metadata
		request.Metadata = map[string]any{"-": nil}
	}
	if len(r.Message.Extensions) > 0 {
		c.params[sdk.SvcParamExtensions] = r.Message.Extensions
	}
	return request, nil
}

// next returns the observation that belongs to what the SDK yielded last.
func (c *call) next() (Observation, bool) {
	if len(c.queue) == 0 {
		return Observation{}, false
	}
	observation := c.queue[0]
	c.queue = c.queue[1:]
	c.observed++
	return observation, true
}

func (c *call) observe(raw []byte, payload json.RawMessage) {
	c.queue = append(c.queue, Observation{Raw: raw, Payload: c.binding.event(payload), Received: time.Now().UTC()})
}

// skeleton is the result that the SDK reads.
func (c *call) skeleton() string { return c.binding.skeletons[c.op.answer] }

// RoundTrip sends the SDK's request and returns the answer in a form that the SDK
// reads without fail. An answer that is an error becomes an error right here, a
// *Error with everything that is known.
func (c *call) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := c.dispatch(request)
	if err != nil {
		return nil, err
	}
	if c.op.streaming && isSuccess(response.StatusCode) {
		return c.answerStream(response)
	}
	body, err := c.readBody(response, c.client.limits.Response)
	if err != nil {
		return nil, err
	}
	payload, err := c.readAnswer(response, body)
	if err != nil {
		return nil, err
	}
	c.observe(body, payload)
	return replaced(response, "application/json", io.NopCloser(strings.NewReader(c.binding.result(c.skeleton())))), nil
}

// replaced returns the response that the SDK sees.
func replaced(response *http.Response, contentType string, body io.ReadCloser) *http.Response {
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {contentType}},
		ContentLength: -1,
		Body:          body,
		Request:       response.Request,
	}
}

// dispatch sends a request, once, and waits for the head of the answer. Its
// response's body ends with an error when the call's context does.
func (c *call) dispatch(request *http.Request) (*http.Response, error) {
	var body []byte
	if request.Body != nil {
		read, err := io.ReadAll(request.Body)
		if err != nil {
			return nil, err
		}
		body = read
	}
	if c.values != nil {
		body = c.binding.send(body, c.values)
	}
	request = request.Clone(httptrace.WithClientTrace(c.ctx, c.sending.trace()))
	request.Header.Set("User-Agent", c.client.userAgent)
	if request.Header.Get("Accept") == "" {
		request.Header.Set("Accept", "application/json")
	}
	request.Body, request.ContentLength = http.NoBody, 0
	if len(body) > 0 {
		request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	request.GetBody = nil // without it net/http cannot send the body a second time
	c.at = request.URL.Scheme + "://" + request.URL.Host + request.URL.EscapedPath()
	if err := c.client.network.CheckURL(request.URL); err != nil {
		return nil, err
	}
	transport, err := c.authorise(request)
	if err != nil {
		return nil, err
	}
	c.recordRequest(request, body)

	limit := c.op.patience(c.client.limits)
	timer := time.AfterFunc(limit, func() { c.cancel(&timeoutError{"The agent did not begin to answer within %s.", limit, ErrTimeout}) })
	defer timer.Stop()
	response, err := transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusUnauthorized && c.refused != nil {
		c.refused()
	}
	response.Header = c.secrets.Header(response.Header)
	return response, nil
}

func isSuccess(status int) bool { return status >= 200 && status < 300 }
