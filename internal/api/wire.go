package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/wire"
)

// Exchange is one call of an agent, or one request for its card.
type Exchange struct {
	ID         string     `json:"id" format:"uuid"`
	AgentID    string     `json:"agentId" format:"uuid"`
	TaskID     string     `json:"taskId,omitempty" format:"uuid" doc:"The task that it was for."`
	CommandID  string     `json:"commandId,omitempty" format:"uuid" doc:"The command that it was for."`
	Operation  string     `json:"operation" doc:"The A2A method, or AgentCard."`
	Binding    string     `json:"binding,omitempty"`
	Version    string     `json:"version,omitempty" doc:"Of A2A."`
	Method     string     `json:"method,omitempty" doc:"Absent if nothing was sent."`
	URL        string     `json:"url,omitempty"`
	Status     int        `json:"status,omitempty" doc:"Of HTTP; absent without an answer."`
	GRPCStatus string     `json:"grpcStatus,omitempty"`
	Events     int        `json:"events" doc:"How many the stream had."`
	Error      string     `json:"error,omitempty"`
	StartedAt  time.Time  `json:"startedAt"`
	AnsweredAt *time.Time `json:"answeredAt" doc:"null without an answer."`
	EndedAt    *time.Time `json:"endedAt" doc:"null while it goes on."`
}

// ExchangeList is the latest exchanges, newest first.
type ExchangeList struct {
	Items []Exchange `json:"items" nullable:"false"`
	Total int        `json:"total" doc:"How many are kept."`
}

// ExchangeContent is an exchange with all that is kept of it. Secrets are replaced.
type ExchangeContent struct {
	Exchange Exchange    `json:"exchange"`
	Request  WireMessage `json:"request"`
	Response WireMessage `json:"response"`
	Stream   []WireEvent `json:"stream" nullable:"false" doc:"The first events of the stream."`
	Curl     string      `json:"curl,omitempty" doc:"The request as a command for a shell, with variables in the place of secrets; absent where curl cannot repeat it."`
}

// WireMessage is a request or a response.
type WireMessage struct {
	Header map[string][]string `json:"header"`
	Body   string              `json:"body"`
	Size   int64               `json:"size" doc:"Of all of the body, in bytes; more than there is in body if it is not kept whole."`
}

// WireEvent is one event of a stream.
type WireEvent struct {
	Number int       `json:"number"`
	At     time.Time `json:"at"`
	ID     string    `json:"id,omitempty"`
	Type   string    `json:"type,omitempty"`
	Body   string    `json:"body"`
	Size   int64     `json:"size"`
}

type (
	exchangePath struct {
		ID string `path:"id" doc:"ID of the exchange."`
	}
	exchangesOut struct {
		Body ExchangeList
	}
	exchangeOut struct {
		Body ExchangeContent
	}
	taskOfWire struct {
		ID string `path:"id" doc:"Local ID of the task."`
	}
)

func (s *server) registerWire(api huma.API) {
	tags := []string{"Wire"}
	huma.Register(api, needs(access.NeedRead, huma.Operation{
		OperationID: "agent-exchanges", Method: http.MethodGet, Path: "/agents/{id}/exchanges", Tags: tags,
		Summary: "List what went over the wire to an agent", Responses: failures(api, http.StatusNotFound),
	}), handle(s, "agent-exchanges", s.agentExchanges))
	huma.Register(api, needs(access.NeedRead, huma.Operation{
		OperationID: "task-exchanges", Method: http.MethodGet, Path: "/tasks/{id}/exchanges", Tags: tags,
		Summary: "List what went over the wire for a task", Responses: failures(api, http.StatusNotFound),
	}), handle(s, "task-exchanges", s.taskExchanges))
	huma.Register(api, needs(access.NeedRead, huma.Operation{
		OperationID: "get-exchange", Method: http.MethodGet, Path: "/exchanges/{id}", Tags: tags,
		Summary: "Read one exchange", Responses: failures(api, http.StatusNotFound),
	}), handle(s, "get-exchange", s.getExchange))
}

func (s *server) agentExchanges(ctx context.Context, p access.Principal, in *agentPath) (*exchangesOut, error) {
	found, err := s.Wire.OfAgent(ctx, p, in.ID)
	return exchangeList(found, err)
}

func (s *server) taskExchanges(ctx context.Context, p access.Principal, in *taskOfWire) (*exchangesOut, error) {
	found, err := s.Wire.OfTask(ctx, p, in.ID)
	return exchangeList(found, err)
}

func exchangeList(found wire.Page, err error) (*exchangesOut, error) {
	out := &exchangesOut{Body: ExchangeList{Items: make([]Exchange, 0, len(found.Items)), Total: found.Total}}
	for _, e := range found.Items {
		out.Body.Items = append(out.Body.Items, exchangeShape(e))
	}
	return out, err
}

func (s *server) getExchange(ctx context.Context, p access.Principal, in *exchangePath) (*exchangeOut, error) {
	e, events, err := s.Wire.Get(ctx, p, in.ID)
	if err != nil {
		return nil, err
	}
	out := &exchangeOut{Body: ExchangeContent{
		Exchange: exchangeShape(e), Stream: make([]WireEvent, 0, len(events)), Curl: e.Curl(),
		Request:  WireMessage{Header: e.RequestHeader, Body: string(e.RequestBody), Size: e.RequestSize},
		Response: WireMessage{Header: e.ResponseHeader, Body: string(e.ResponseBody), Size: e.ResponseSize},
	}}
	for _, event := range events {
		out.Body.Stream = append(out.Body.Stream, WireEvent{event.Number, event.At.UTC(), event.ID, event.Type, string(event.Body), event.Size})
	}
	return out, nil
}

func exchangeShape(e wire.Exchange) Exchange {
	return Exchange{
		ID: e.ID, AgentID: e.AgentID, TaskID: e.TaskID, CommandID: e.CommandID, Operation: e.Operation, Binding: e.Binding, Version: e.Version,
		Method: e.Method, URL: e.URL, Status: e.Status, GRPCStatus: e.GRPCStatus, Events: e.Events, Error: e.Error,
		StartedAt: e.StartedAt.UTC(), AnsweredAt: moment(e.AnsweredAt), EndedAt: moment(e.EndedAt),
	}
}
