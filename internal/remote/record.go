package remote

import (
	"net/http"
	"time"
)

// Recorder is given the records of every exchange, those of one exchange in
// order, from the goroutine of the call: it must be quick and safe for concurrent
// use, and must not change what it is given.
type Recorder func(Record)

// RecordKind says which piece of an exchange a Record is.
type RecordKind string

// An exchange is a request, then a response, then, for a stream, its events;
// RecordEnd closes it, with an error if it went wrong at any point.
const (
	RecordRequest  RecordKind = "request"
	RecordResponse RecordKind = "response"
	RecordEvent    RecordKind = "event"
	RecordEnd      RecordKind = "end"
)

// Record is one piece of an exchange as it was on the wire, before any repair.
type Record struct {
	Exchange  string // UUID, the same for all records of one exchange
	AgentID   string // Target.AgentID; "" for the card of an agent that is not registered
	Labels    Labels // what the exchange is for
	Operation string // the A2A method, such as SendMessage; "AgentCard" for a card
	Binding   string // JSONRPC, HTTP+JSON or GRPC; "" for a card
	Version   string // of A2A, such as "1.0"
	Kind      RecordKind
	At        time.Time

	Method     string      // request
	URL        string      // request
	Status     int         // response over HTTP
	GRPCStatus string      // end of a call over gRPC, such as "NOT_FOUND"; "" if none came
	Header     http.Header // request and response, and the end over gRPC; secrets are replaced

	// Body is the body of a request, that of a response that is not a stream, or
	// one event's data (lines joined by line feeds). Over gRPC it is the JSON of the
	// protocol buffers. It is complete unless End says otherwise. Push
	// configurations have their secrets replaced.
	Body []byte

	EventID      string // event: its id field
	EventType    string // event: its event field
	Unterminated bool   // event: the connection ended before the blank line that ends an event

	Err string // end: what went wrong, or ""
}
