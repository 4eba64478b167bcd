package remote

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"
)

// grpcMeaning is what the status of a call means whose message has left.
type grpcMeaning struct {
	delivery Delivery
	name     string // gRPC's
	code     string // of the A2A error, if the agent names none; "" for gRPC's own name
	words    string // to a person; "" for those of the A2A error
}

// grpcMeanings are the meanings of what an agent answers with, by A2A 1.0, 5.4. A
// status that gateways answer with as well leaves open whether the agent got the call,
// unless a reason of A2A comes with it.
var grpcMeanings = map[codes.Code]grpcMeaning{
	codes.Canceled:           {Uncertain, "CANCELLED", "", "The call was canceled at the agent's side"},
	codes.Unknown:            {Answered, "UNKNOWN", "", "The agent answered with an error"},
	codes.InvalidArgument:    {Answered, "INVALID_ARGUMENT", CodeInvalidParams, ""},
	codes.DeadlineExceeded:   {Uncertain, "DEADLINE_EXCEEDED", "", "The agent did not finish in its time"},
	codes.NotFound:           {Answered, "NOT_FOUND", CodeTaskNotFound, ""},
	codes.AlreadyExists:      {Answered, "ALREADY_EXISTS", "", "The agent answered with an error"},
	codes.PermissionDenied:   {Answered, "PERMISSION_DENIED", CodeUnauthorized, ""},
	codes.ResourceExhausted:  {Answered, "RESOURCE_EXHAUSTED", "", "The agent is too busy, or a limit is used up"},
	codes.FailedPrecondition: {Answered, "FAILED_PRECONDITION", CodeUnsupportedOperation, ""},
	codes.Aborted:            {Answered, "ABORTED", "", "The agent broke off the call"},
	codes.OutOfRange:         {Answered, "OUT_OF_RANGE", "", "The agent answered with an error"},
	codes.Unimplemented:      {Answered, "UNIMPLEMENTED", CodeMethodNotFound, ""},
	codes.Internal:           {Answered, "INTERNAL", CodeInternal, ""},
	codes.Unavailable:        {Uncertain, "UNAVAILABLE", "", "The agent, or a gateway before it, is not available. Whether the agent got the call is not known"},
	codes.DataLoss:           {Uncertain, "DATA_LOSS", "", "The agent lost data"},
	codes.Unauthenticated:    {Answered, "UNAUTHENTICATED", CodeUnauthenticated, ""},
}

// ended is the outcome of a call whose message has left, and that ended with a
// status: the agent's own, or one that gRPC made here of what went wrong.
func (g *grpcCall) ended(err error) *Error {
	st := status.Convert(err)
	switch {
	case g.ctx.Err() != nil:
		return g.failure(errors.New(st.Message()))
	case g.trailed.Load() && !madeHere(st):
		return g.answeredWith(st)
	}
	return g.brokenOff(st)
}

// madeHere reports whether gRPC made a status at this side, of an answer that it
// cannot read: the agent has handled the call then, and what came of it is not
// known. An agent that says the same in its own status is believed less, not more.
func madeHere(st *status.Status) bool {
	text := st.Message()
	return strings.HasPrefix(text, "grpc: ") || strings.HasPrefix(text, "cardinality violation")
}

// answeredWith is the outcome of a call that the agent answered with a status.
func (g *grpcCall) answeredWith(st *status.Status) *Error {
	meaning, ok := grpcMeanings[st.Code()]
	if !ok {
		meaning = grpcMeaning{Uncertain, fmt.Sprint(uint32(st.Code())), "", "The agent answered with an error"}
	}
	g.status = meaning.name
	fault, retryAfter := readStatus(st)
	fault.text, fault.details = g.redactText(fault.text), g.redactText(fault.details)
	if st.Code() == codes.Unauthenticated && g.refused != nil {
		g.refused()
	}
	protocol, known := fault.known()
	if known { // the agent's own word, which no gateway writes
		meaning.delivery = Answered
	}
	if !known && meaning.code != "" {
		protocol, known = byCode(g.codeFor(meaning))
	}
	outcome := &Error{
		Delivery: meaning.delivery, Code: "gRPC " + meaning.name, RetryAfter: retryAfter,
		Message: meaning.words, Err: errors.New(cleaned(fault.text, maxAgentText)),
	}
	if known {
		outcome.Code, outcome.Message, outcome.Err = protocol.code, protocol.words, protocol.cause(cleaned(fault.text, maxAgentText))
	}
	outcome.Message += "." + fault.says()
	return outcome
}

// codeFor is the A2A error that a status stands for if the agent does not say.
func (g *grpcCall) codeFor(m grpcMeaning) string {
	if m.code == CodeUnsupportedOperation && g.op.name == cancelTask.name {
		return CodeTaskNotCancelable
	}
	return m.code
}

// readStatus reads the details of a status as far as A2A and gRPC define them.
func readStatus(st *status.Status) (agentFault, time.Duration) {
	fault := agentFault{text: st.Message()}
	wait := time.Duration(0)
	for _, detail := range st.Details() {
		switch d := detail.(type) {
		case *errdetails.ErrorInfo:
			fault.reason = d.GetReason()
		case *errdetails.RetryInfo:
			wait = min(max(d.GetRetryDelay().AsDuration(), 0), maxRetryAfter)
		case *structpb.Struct:
			if written, err := grpcJSON(d); err == nil {
				fault.details = string(written)
			}
		}
	}
	return fault, wait
}

// brokenOff is the outcome of a call that ended without a trailer: what answers
// does not speak gRPC, or the connection is gone.
func (g *grpcCall) brokenOff(st *status.Status) *Error {
	text := g.redactText(st.Message())
	outcome := &Error{Delivery: Uncertain, Err: errors.New(text)}
	switch st.Code() {
	case codes.Unauthenticated, codes.PermissionDenied, codes.Unimplemented: // made of HTTP 401, 403 and 404
		outcome.Delivery, outcome.Code = Answered, CodeInvalidResponse
		outcome.Message = "What answers at " + cleaned(g.at, 300) + " does not speak gRPC."
		if st.Code() != codes.Unimplemented {
			outcome.Message += " It may want a credential."
		}
	case codes.Unavailable:
		outcome.Message = "The connection to the agent, or a gateway before it, failed before the answer was complete."
	default:
		if strings.Contains(text, "larger than max") {
			return tooLarge("answer", g.client.limits.Response)
		}
		outcome.Code = CodeInvalidResponse
		outcome.Message = "The agent's answer does not follow gRPC: " + sentence(cleaned(text, 200))
	}
	return outcome
}
