package remote_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	a2apb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/remote/agenttest"
)

// statusAgent answers every call with a status.
type statusAgent struct {
	a2apb.UnimplementedA2AServiceServer
	status *status.Status
}

func (a statusAgent) SendMessage(context.Context, *a2apb.SendMessageRequest) (*a2apb.SendMessageResponse, error) {
	return nil, a.status.Err()
}

func (a statusAgent) SendStreamingMessage(*a2apb.SendMessageRequest, grpc.ServerStreamingServer[a2apb.StreamResponse]) error {
	return a.status.Err()
}

func (a statusAgent) CancelTask(context.Context, *a2apb.CancelTaskRequest) (*a2apb.Task, error) {
	return nil, a.status.Err()
}

func withDetails(t *testing.T, code codes.Code, details ...protoadapt.MessageV1) *status.Status {
	t.Helper()
	st, err := status.New(code, "because").WithDetails(details...)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// TestGRPCStatuses has a row for every status of gRPC, as the agent's own answer.
func TestGRPCStatuses(t *testing.T) {
	t.Parallel()
	because, err := structpb.NewStruct(map[string]any{"moon": "full"})
	if err != nil {
		t.Fatal(err)
	}
	reason := &errdetails.ErrorInfo{Reason: "TASK_NOT_CANCELABLE", Domain: "a2a-protocol.org"}
	for _, tt := range []struct {
		name     string
		status   *status.Status
		delivery remote.Delivery
		code     string
		message  string
		retry    time.Duration
	}{
		{"canceled", status.New(codes.Canceled, "because"), remote.Uncertain, "gRPC CANCELLED", "canceled at the agent's side", 0},
		{"unknown", status.New(codes.Unknown, "because"), remote.Answered, "gRPC UNKNOWN", "answered with an error. It says: because.", 0},
		{"invalid argument", status.New(codes.InvalidArgument, "because"), remote.Answered, remote.CodeInvalidParams, "It says: because.", 0},
		{"deadline exceeded", status.New(codes.DeadlineExceeded, "because"), remote.Uncertain, "gRPC DEADLINE_EXCEEDED", "did not finish in its time", 0},
		{"not found", status.New(codes.NotFound, "because"), remote.Answered, remote.CodeTaskNotFound, "does not know this task", 0},
		{"already exists", status.New(codes.AlreadyExists, "because"), remote.Answered, "gRPC ALREADY_EXISTS", "because", 0},
		{"permission denied", status.New(codes.PermissionDenied, "because"), remote.Answered, remote.CodeUnauthorized, "does not allow this caller", 0},
		{"resource exhausted", withDetails(t, codes.ResourceExhausted, &errdetails.RetryInfo{RetryDelay: durationpb.New(7 * time.Second)}), remote.Answered, "gRPC RESOURCE_EXHAUSTED", "too busy", 7 * time.Second},
		{"for ever", withDetails(t, codes.ResourceExhausted, &errdetails.RetryInfo{RetryDelay: durationpb.New(1 << 62)}), remote.Answered, "gRPC RESOURCE_EXHAUSTED", "too busy", 24 * time.Hour},
		{"failed precondition", status.New(codes.FailedPrecondition, "because"), remote.Answered, remote.CodeUnsupportedOperation, "because", 0},
		{"aborted", status.New(codes.Aborted, "because"), remote.Answered, "gRPC ABORTED", "broke off the call", 0},
		{"out of range", status.New(codes.OutOfRange, "because"), remote.Answered, "gRPC OUT_OF_RANGE", "because", 0},
		{"unimplemented", status.New(codes.Unimplemented, "because"), remote.Answered, remote.CodeMethodNotFound, "does not know this method", 0},
		{"internal", status.New(codes.Internal, "because"), remote.Answered, remote.CodeInternal, "failed while it handled the request", 0},
		{"unavailable", status.New(codes.Unavailable, "because"), remote.Uncertain, "gRPC UNAVAILABLE", "Whether the agent got the call is not known", 0},
		{"data loss", status.New(codes.DataLoss, "because"), remote.Uncertain, "gRPC DATA_LOSS", "lost data", 0},
		{"unauthenticated", status.New(codes.Unauthenticated, "because"), remote.Answered, remote.CodeUnauthenticated, "who is calling", 0},
		{"a status that is none", status.New(42, "because"), remote.Uncertain, "gRPC 42", "because", 0},
		{"a reason", withDetails(t, codes.FailedPrecondition, reason), remote.Answered, remote.CodeTaskNotCancelable, "cannot cancel this task", 0},
		{"a reason beside a gateway's status", withDetails(t, codes.Unavailable, reason), remote.Answered, remote.CodeTaskNotCancelable, "cannot cancel this task", 0},
		{"a reason of the agent's own time", withDetails(t, codes.DeadlineExceeded, reason), remote.Answered, remote.CodeTaskNotCancelable, "cannot cancel this task", 0},
		{"a gateway's reason", withDetails(t, codes.Unavailable, &errdetails.ErrorInfo{Reason: "SERVICE_DISABLED", Domain: "gateway.example"}), remote.Uncertain, "gRPC UNAVAILABLE", "not known", 0},
		{"a time to come back, of whomever", withDetails(t, codes.Unavailable, &errdetails.RetryInfo{RetryDelay: durationpb.New(7 * time.Second)}), remote.Uncertain, "gRPC UNAVAILABLE", "not known", 7 * time.Second},
		{"details", withDetails(t, codes.Unknown, because), remote.Answered, "gRPC UNKNOWN", `because {"moon":"full"}`, 0},
		{"a long story", status.New(codes.Unknown, strings.Repeat("x", 9000)), remote.Answered, "gRPC UNKNOWN", strings.Repeat("x", 500) + "…", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			client, agent := newClient(t, remote.Options{}), agenttest.ServeGRPC(t, statusAgent{status: tt.status})
			for _, operation := range []string{"send", "stream"} {
				_, err := operations[operation](testContext(t), client, target(agent, remote.GRPC))
				e := outcome(t, err)
				if e.Delivery != tt.delivery || e.Code != tt.code || !strings.Contains(e.Message, tt.message) || e.RetryAfter != tt.retry || len(e.Message) > 2000 {
					t.Errorf("%s: %s %s %q %s, want %s %s %q %s", operation, e.Delivery, e.Code, e.Message, e.RetryAfter, tt.delivery, tt.code, tt.message, tt.retry)
				}
			}
		})
	}
}

// TestGRPCFailedPreconditionOfCancel: without a reason, the status of A2A for a task
// that cannot be canceled means just that in the answer to CancelTask.
func TestGRPCFailedPreconditionOfCancel(t *testing.T) {
	t.Parallel()
	agent := agenttest.ServeGRPC(t, statusAgent{status: status.New(codes.FailedPrecondition, "too late")})
	_, err := newClient(t, remote.Options{}).Cancel(testContext(t), target(agent, remote.GRPC), "t-1")
	if e := outcome(t, err); e.Code != remote.CodeTaskNotCancelable {
		t.Errorf("outcome = %+v, want %s", e, remote.CodeTaskNotCancelable)
	}
}

// TestGRPCMeetsHTTP has a row for what web servers and gateways answer to gRPC.
func TestGRPCMeetsHTTP(t *testing.T) {
	t.Parallel()
	for httpStatus, want := range map[int]remote.Error{
		200: {Delivery: remote.Uncertain, Code: remote.CodeInvalidResponse, Message: "does not follow gRPC"},
		302: {Delivery: remote.Uncertain, Code: remote.CodeInvalidResponse, Message: "does not follow gRPC"},
		400: {Delivery: remote.Uncertain, Code: remote.CodeInvalidResponse, Message: "does not follow gRPC"},
		401: {Delivery: remote.Answered, Code: remote.CodeInvalidResponse, Message: "may want a credential"},
		403: {Delivery: remote.Answered, Code: remote.CodeInvalidResponse, Message: "may want a credential"},
		404: {Delivery: remote.Answered, Code: remote.CodeInvalidResponse, Message: "does not speak gRPC"},
		429: {Delivery: remote.Uncertain, Message: "or a gateway before it"},
		500: {Delivery: remote.Uncertain, Code: remote.CodeInvalidResponse, Message: "does not follow gRPC"},
		502: {Delivery: remote.Uncertain, Message: "or a gateway before it"},
		503: {Delivery: remote.Uncertain, Message: "or a gateway before it"},
		504: {Delivery: remote.Uncertain, Message: "or a gateway before it"},
	} {
		t.Run(fmt.Sprint(httpStatus), func(t *testing.T) {
			t.Parallel()
			agent := newHTTP2Agent(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "http://127.0.0.1:1/")
				w.Header().Set("Content-Type", "text/html")
				w.WriteHeader(httpStatus)
				_, _ = w.Write([]byte("<h1>Hello"))
			})
			client := newClient(t, remote.Options{})
			for _, operation := range []string{"send", "stream", "cancel"} {
				_, err := operations[operation](testContext(t), client, target(agent, remote.GRPC))
				e := outcome(t, err)
				if e.Delivery != want.Delivery || e.Code != want.Code || !strings.Contains(e.Message, want.Message) {
					t.Errorf("%s: %s %q %q, want %s %q %q", operation, e.Delivery, e.Code, e.Message, want.Delivery, want.Code, want.Message)
				}
			}
		})
	}
}

// TestGRPCAnswersThatCannotBeRead: the agent ended the call well, so it has handled
// it, and gRPC cannot read what it said. What came of it is not known.
func TestGRPCAnswersThatCannotBeRead(t *testing.T) {
	t.Parallel()
	frame := func(compressed byte, content string) string {
		return string([]byte{compressed, 0, 0, 0, byte(len(content))}) + content
	}
	for name, answer := range map[string]string{
		"no protobuf":  frame(0, "\xff\xff\xff"),
		"no message":   "",
		"two messages": frame(0, "") + frame(0, ""),
		"compressed":   frame(1, "xyz"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agent := newHTTP2Agent(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/grpc")
				w.Header().Set("Trailer", "Grpc-Status")
				_, _ = w.Write([]byte(answer))
				w.Header().Set("Grpc-Status", "0")
			})
			_, err := operations["send"](testContext(t), newClient(t, remote.Options{}), target(agent, remote.GRPC))
			if e := outcome(t, err); e.Delivery != remote.Uncertain {
				t.Errorf("outcome = %+v, want uncertain", e)
			}
		})
	}
}
