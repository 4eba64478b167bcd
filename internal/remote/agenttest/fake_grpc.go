package agenttest

import (
	"fmt"
	"net"
	"path"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	a2apb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// serveGRPC serves a fake agent over gRPC and returns its address.
func (f *Fake) serveGRPC() (url string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.t.Fatal(err)
	}
	server := grpc.NewServer(grpc.UnknownServiceHandler(f.handleGRPC))
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	f.t.Cleanup(func() {
		server.Stop()
		if err := <-done; err != nil {
			f.t.Errorf("Serve: %v", err)
		}
	})
	return "http://" + listener.Addr().String()
}

// messages returns an empty request and answer of a method.
func messages(method string) (request, answer proto.Message) {
	switch method {
	case "SendMessage":
		return &a2apb.SendMessageRequest{}, &a2apb.SendMessageResponse{}
	case "SendStreamingMessage":
		return &a2apb.SendMessageRequest{}, &a2apb.StreamResponse{}
	case "SubscribeToTask":
		return &a2apb.SubscribeToTaskRequest{}, &a2apb.StreamResponse{}
	case "CancelTask":
		return &a2apb.CancelTaskRequest{}, &a2apb.Task{}
	case "ListTasks":
		return &a2apb.ListTasksRequest{}, &a2apb.ListTasksResponse{}
	}
	return &a2apb.GetTaskRequest{}, &a2apb.Task{}
}

func (f *Fake) handleGRPC(_ any, stream grpc.ServerStream) error {
	full, _ := grpc.MethodFromServerStream(stream)
	method := path.Base(full)
	request, _ := messages(method)
	if err := stream.RecvMsg(request); err != nil {
		return err
	}
	params, err := protojson.Marshal(request)
	if err != nil {
		return err
	}
	say := f.called(method, taskIn(request), params)
	events := say.Events
	if !streams(method) && say.Error == nil {
		events = []string{single(method, events)}
	}
	for _, event := range events {
		_, answer := messages(method)
		if err := protojson.Unmarshal([]byte(event), answer); err != nil {
			f.t.Errorf("%s has no form in protocol buffers: %v", event, err)
			return err
		}
		if err := stream.SendMsg(answer); err != nil {
			return err
		}
	}
	if say.Hold {
		select {
		case <-stream.Context().Done():
		case <-f.ended:
		}
	}
	return statusOf(say.Error)
}

func taskIn(request proto.Message) string {
	switch r := request.(type) {
	case *a2apb.SendMessageRequest:
		return r.GetMessage().GetTaskId()
	case interface{ GetId() string }:
		return r.GetId()
	}
	return ""
}

// reasons are the errors that tests refuse with, by their JSON-RPC codes.
var reasons = map[int]error{-32001: sdk.ErrTaskNotFound, -32002: sdk.ErrTaskNotCancelable, -32004: sdk.ErrUnsupportedOperation}

func statusOf(r *Refusal) error {
	if r == nil {
		return nil
	}
	reason, ok := reasons[r.Code]
	if !ok {
		return status.Error(codes.Unknown, r.Message)
	}
	st, err := status.New(codes.FailedPrecondition, r.Message).WithDetails(&errdetails.ErrorInfo{Reason: sdk.ErrorReason(reason), Domain: sdk.ProtocolDomain})
	if err != nil {
		return fmt.Errorf("agenttest: %w", err)
	}
	return st.Err()
}
