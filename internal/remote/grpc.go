package remote

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	sdkclient "github.com/a2aproject/a2a-go/v2/a2aclient"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	a2apb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// grpcCall is a call over gRPC. It is the connection that the SDK's transport
// sends with, and does there what call does over HTTP. What is recorded and
// observed is the JSON of the protocol buffers, which is that of A2A 1.0: an
// object's members are in alphabetical order, and its numbers are doubles.
type grpcCall struct {
	*call
	conn    *grpcConn
	url     string      // with the method
	broken  bool        // no connection came about
	trailed atomic.Bool // the agent itself ended the call, with a trailer
	secret  metadata.MD // the credential, as far as it is headers
}

// openGRPC returns the SDK's transport for a call over gRPC.
func openGRPC(c *call, i Interface) (sdkclient.Transport, error) {
	target, err := grpcTargetOf(i)
	if err != nil {
		return nil, err
	}
	c.at = target.String()
	if err := c.client.network.CheckURL(target.url); err != nil {
		return nil, c.failure(err)
	}
	applied, err := c.credential(target.url)
	if err != nil {
		return nil, err
	}
	conn, err := c.client.grpc.take(grpcKey{c.agentID, target.address, target.secure, certificateOf(applied)}, applied.TLS)
	if err != nil {
		return nil, &Error{Delivery: NotSent, Message: "The agent's address is not usable for gRPC.", Err: err}
	}
	g := &grpcCall{call: c, conn: conn, secret: metadataOf(applied.Header)}
	c.release = func() { c.client.grpc.give(conn, g.broken) }
	return a2agrpc.NewGRPCTransportFromClient(a2apb.NewA2AServiceClient(g)), nil
}

// Invoke makes a call that has one answer. Its error is a *Error.
func (g *grpcCall) Invoke(ctx context.Context, method string, request, answer any, options ...grpc.CallOption) error {
	stream, err := g.NewStream(ctx, &grpc.StreamDesc{StreamName: g.op.name}, method, options...)
	if err != nil {
		return err
	}
	if err := stream.SendMsg(request); err != nil {
		return err
	}
	return stream.RecvMsg(answer)
}

// NewStream connects to the agent. Nothing of the message leaves before SendMsg.
func (g *grpcCall) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, options ...grpc.CallOption) (grpc.ClientStream, error) {
	g.url = g.at + method
	sent, _ := metadata.FromOutgoingContext(ctx)
	ctx = metadata.NewOutgoingContext(ctx, metadata.Join(sent, g.secret))
	head := g.expire(g.op.patience(g.client.limits), "The agent did not begin to answer within %s.", ErrTimeout)
	stream, err := g.conn.NewStream(context.WithValue(ctx, trailedKey{}, &g.trailed), desc, method, options...)
	if err != nil {
		head.Stop()
		g.recordSent(ctx, nil)
		return nil, g.notConnected(err)
	}
	return &grpcStream{ClientStream: stream, call: g, ctx: ctx, head: head}, nil
}

// expire ends the call when the time is up.
func (g *grpcCall) expire(limit time.Duration, format string, kind error) *time.Timer {
	return time.AfterFunc(limit, func() { g.cancel(&timeoutError{format, limit, kind}) })
}

// recordSent records a request as HTTP, which it is.
func (g *grpcCall) recordSent(ctx context.Context, body []byte) {
	sent, _ := metadata.FromOutgoingContext(ctx)
	g.recorded(Record{
		Kind: RecordRequest, Method: http.MethodPost, URL: g.url,
		Header: g.secrets.Header(redacted(headerOf(sent))), Body: g.secrets.Bytes(body),
	})
}

// grpcStream is the exchange of one call.
type grpcStream struct {
	grpc.ClientStream
	call     *grpcCall
	ctx      context.Context
	head     *time.Timer // runs until the agent begins to answer
	begun    bool        // it has
	recorded bool        // and that is recorded
	seen     int         // events
}

// SendMsg sends the request that the SDK made, with the exact message in it. From
// here on it may have arrived.
func (s *grpcStream) SendMsg(request any) (err error) {
	defer func() {
		if err != nil {
			s.head.Stop()
		}
	}()
	if err := s.call.fill(request); err != nil {
		return err
	}
	if s.call.client.record != nil {
		body, err := grpcJSON(request.(proto.Message))
		if err != nil {
			return &Error{Delivery: NotSent, Message: "The request cannot be written for gRPC.", Err: err}
		}
		s.call.recordSent(s.ctx, body)
	}
	s.call.sending.mark()
	if err := s.ClientStream.SendMsg(request); err != nil {
		return s.call.ended(err)
	}
	return nil
}

// RecvMsg receives an answer or an event, and gives the SDK a skeleton of it.
func (s *grpcStream) RecvMsg(skeleton any) error {
	into := skeleton.(proto.Message)
	answer := into.ProtoReflect().New().Interface()
	err := s.receive(answer)
	if err == nil {
		err = s.take(answer)
	}
	switch {
	case err == nil:
		return protojson.Unmarshal([]byte(s.call.skeleton()), into)
	case errors.Is(err, io.EOF) && s.seen == 0:
		err = &Error{Delivery: Uncertain, Code: CodeInvalidResponse, Message: "The agent ended its stream without saying anything."}
	}
	s.recordHead(nil)
	return err
}

// receive waits for a message, as long as that may take.
func (s *grpcStream) receive(answer proto.Message) error {
	if !s.begun {
		s.begun = true
		_, _ = s.Header() // an error is told by RecvMsg, too
		s.head.Stop()
	}
	limits := s.call.client.limits
	wait := s.call.expire(limits.Body, "The agent did not complete its answer within %s.", ErrTimeout)
	if s.call.op.streaming {
		wait.Stop()
		wait = s.call.expire(limits.Idle, "The agent's stream was silent for %s.", ErrIdle)
	}
	defer wait.Stop()
	err := s.ClientStream.RecvMsg(answer)
	if err == nil && s.call.op.streaming {
		return nil
	}
	s.call.trailer = s.call.secrets.Header(headerOf(s.Trailer()))
	if err == nil || errors.Is(err, io.EOF) {
		s.call.status = "OK"
		return err
	}
	return s.call.ended(err)
}

// take records and observes what the agent said.
func (s *grpcStream) take(answer proto.Message) error {
	body, err := grpcJSON(answer)
	if err != nil {
		return &Error{Delivery: Uncertain, Code: CodeInvalidResponse, Message: "The agent's answer cannot be read.", Err: err}
	}
	body = s.call.secrets.Bytes(body)
	if s.call.op.streaming {
		s.recordHead(nil)
		s.call.recorded(Record{Kind: RecordEvent, Body: body})
	} else {
		s.recordHead(body)
	}
	payload, ok := s.call.op.payload(body)
	if !ok && !s.call.op.streaming {
		return s.call.unlikeA2A(body)
	}
	s.seen++
	s.call.observe(body, payload)
	return nil
}

// recordHead records that the agent began to answer, once.
func (s *grpcStream) recordHead(body []byte) {
	if s.recorded || !s.begun || s.call.client.record == nil {
		return
	}
	s.recorded = true
	head, err := s.Header()
	if err != nil || head == nil && !s.call.trailed.Load() {
		return // there was no answer
	}
	s.call.recorded(Record{Kind: RecordResponse, Header: redacted(s.call.secrets.Header(headerOf(head))), Body: body})
}

// headerOf returns metadata as a header, bytes in base64 as they are on the wire.
func headerOf(md metadata.MD) http.Header {
	header := http.Header{}
	for name, values := range md {
		for _, value := range values {
			if strings.HasSuffix(name, "-bin") {
				value = base64.RawStdEncoding.EncodeToString([]byte(value))
			}
			header.Add(name, value)
		}
	}
	return header
}

// metadataOf returns a header as metadata.
func metadataOf(header http.Header) metadata.MD {
	md := metadata.MD{}
	for name, values := range header {
		md.Append(name, values...)
	}
	return md
}

// notConnected is the outcome of a call for which no connection came about. The
// cause is kept as text: the SDK would put what it knows of gRPC in the outcome's
// place.
func (g *grpcCall) notConnected(err error) *Error {
	if g.ctx.Err() != nil {
		return g.failure(errors.New(err.Error()))
	}
	g.broken = true
	if cause := g.conn.problem.Load(); cause != nil {
		return g.failure(*cause)
	}
	return &Error{
		Delivery: NotSent, Err: errors.New(err.Error()),
		Message: "What listens at " + g.at + " does not speak gRPC.",
	}
}

// trailedKey finds a call's trailed in its context.
type trailedKey struct{}

// trailerWatch tells a status that the agent sent from one that gRPC made up here,
// say for a connection that broke: only the former comes in a trailer.
type trailerWatch struct{}

// HandleRPC implements stats.Handler.
func (trailerWatch) HandleRPC(ctx context.Context, s stats.RPCStats) {
	if _, ok := s.(*stats.InTrailer); ok {
		ctx.Value(trailedKey{}).(*atomic.Bool).Store(true)
	}
}

// TagRPC implements stats.Handler.
func (trailerWatch) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// TagConn implements stats.Handler.
func (trailerWatch) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements stats.Handler.
func (trailerWatch) HandleConn(context.Context, stats.ConnStats) {}
