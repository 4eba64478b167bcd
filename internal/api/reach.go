package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/remote"
)

// Preview is an agent that is not registered, with what its card does not keep to.
type Preview struct {
	Agent     Agent      `json:"agent" doc:"As it would be registered; its id is empty."`
	Attempts  []Attempt  `json:"attempts" nullable:"false" doc:"Where a card was looked for, in order."`
	Interface *Interface `json:"interface" doc:"By which it would be called; null if it could not be."`
	Problem   string     `json:"problem,omitempty" doc:"Why it could not be called, in words."`
	Score     int        `json:"score" doc:"How well the card keeps to A2A, from 0 to 100."`
	Findings  []Finding  `json:"findings" nullable:"false" doc:"What the card does not keep to."`
}

// Attempt is one address that was asked for a card.
type Attempt struct {
	URL     string `json:"url"`
	Problem string `json:"problem,omitempty" doc:"Why it was not used; absent for the one that brought the card."`
}

// Finding is one remark about a card.
type Finding struct {
	Severity string `json:"severity" enum:"error,warning,info"`
	Path     string `json:"path" doc:"JSON Pointer into the card; empty for the whole card."`
	Message  string `json:"message"`
	Section  string `json:"section" doc:"Of the A2A 1.0 specification."`
}

// Interface is a way to call an agent.
type Interface struct {
	Binding         string `json:"binding" enum:"JSONRPC,HTTP+JSON,GRPC"`
	ProtocolVersion string `json:"protocolVersion" doc:"Of A2A, as in 1.0."`
	URL             string `json:"url"`
	Tenant          string `json:"tenant,omitempty"`
}

// ChosenInterface says by which interface an agent is called.
type ChosenInterface struct {
	Interface *Interface `json:"interface" doc:"null if the agent cannot be called."`
	Pinned    bool       `json:"pinned" doc:"It was chosen here, in the place of what the card decides."`
	Problem   string     `json:"problem,omitempty" doc:"Why there is none, in words."`
}

// PinInput is a key to pin.
type PinInput struct {
	Origin    string `json:"origin" doc:"Of the cards that it signs: a scheme, a host and a port if it is not the usual one."`
	Key       string `json:"key" doc:"The public key, as PEM or as the text of a JSON Web Key."`
	KeyID     string `json:"keyId,omitempty" doc:"The kid that signatures name it by; any if it is left out and the key names none."`
	ExpiresAt string `json:"expiresAt" format:"date-time" doc:"Until when it is trusted, within five years."`
}

// Pin is a public key that cards from an origin are signed with.
type Pin struct {
	ID         string    `json:"id" format:"uuid"`
	Origin     string    `json:"origin"`
	KeyID      string    `json:"keyId,omitempty"`
	Algorithm  string    `json:"algorithm" enum:"RS256,ES256,EdDSA"`
	Thumbprint string    `json:"thumbprint" doc:"SHA-256 of the key (RFC 7638)."`
	ExpiresAt  time.Time `json:"expiresAt"`
	CreatedBy  string    `json:"createdBy"`
	CreatedAt  time.Time `json:"createdAt"`
}

// PinList is all pins.
type PinList struct {
	Items []Pin `json:"items" nullable:"false"`
}

type (
	previewOut struct {
		Body Preview
	}
	interfaceIn struct {
		ID   string `path:"id" doc:"Local ID of the agent."`
		Body body[Interface]
	}
	interfaceOut struct {
		Body ChosenInterface
	}
	pinIn struct {
		Body body[PinInput]
	}
	pinPath struct {
		ID string `path:"id" doc:"ID of the pin."`
	}
	pinOut struct {
		Body Pin
	}
	pinsOut struct {
		Body PinList
	}
)

func (s *server) registerReach(api huma.API) {
	agents, trust := []string{"Agents"}, []string{"Trust"}
	huma.Register(api, needs(access.NeedAdminister, withBody(huma.Operation{
		OperationID: "preview-agent", Method: http.MethodPost, Path: "/agents/preview", Tags: agents,
		Summary: "Look at an agent before adding it", Description: "Fetches and checks its card, and keeps nothing.",
		Responses: failures(api, wrongBody()...),
	})), handle(s, "preview-agent", s.previewAgent))
	huma.Register(api, needs(access.NeedRead, huma.Operation{
		OperationID: "get-interface", Method: http.MethodGet, Path: "/agents/{id}/interface", Tags: agents,
		Summary: "Read by which interface an agent is called", Responses: failures(api, http.StatusNotFound),
	}), handle(s, "get-interface", s.getInterface))
	huma.Register(api, needs(access.NeedAdminister, withBody(huma.Operation{
		OperationID: "set-interface", Method: http.MethodPut, Path: "/agents/{id}/interface", Tags: agents,
		Summary: "Choose the interface that an agent is called by", Description: "In the place of what its card decides, with any address.",
		Responses: failures(api, wrongBody(http.StatusNotFound)...),
	})), handle(s, "set-interface", s.setInterface))
	huma.Register(api, needs(access.NeedAdminister, huma.Operation{
		OperationID: "reset-interface", Method: http.MethodDelete, Path: "/agents/{id}/interface", Tags: agents,
		Summary: "Leave an agent's interface to its card again", DefaultStatus: http.StatusOK, Responses: failures(api, http.StatusNotFound),
	}), handle(s, "reset-interface", s.resetInterface))
	huma.Register(api, needs(access.NeedAdminister, huma.Operation{
		OperationID: "list-pins", Method: http.MethodGet, Path: "/pins", Tags: trust,
		Summary: "List the keys that cards may be signed with", Responses: failures(api),
	}), handle(s, "list-pins", s.listPins))
	huma.Register(api, needs(access.NeedAdminister, withBody(huma.Operation{
		OperationID: "add-pin", Method: http.MethodPost, Path: "/pins", Tags: trust, DefaultStatus: http.StatusCreated,
		Summary:   "Pin a key for the cards of an origin",
		Responses: failures(api, wrongBody()...),
	})), handle(s, "add-pin", s.addPin))
	huma.Register(api, needs(access.NeedAdminister, huma.Operation{
		OperationID: "remove-pin", Method: http.MethodDelete, Path: "/pins/{id}", Tags: trust, DefaultStatus: http.StatusOK,
		Summary: "Remove a pinned key", Description: "Answers with those that are left.", Responses: failures(api, http.StatusNotFound),
	}), handle(s, "remove-pin", s.removePin))
}

func (s *server) previewAgent(ctx context.Context, p access.Principal, in *registerAgent) (*previewOut, error) {
	wanted, err := in.Body.decode()
	if err != nil {
		return nil, err
	}
	a, err := s.AgentSettings.Preview(ctx, p, wanted.CardURL)
	if err != nil {
		return nil, atPointers(err)
	}
	out := &previewOut{Body: Preview{Agent: agentShape(a), Score: agent.Score(a.Findings), Attempts: []Attempt{}, Findings: []Finding{}}}
	for _, at := range a.Health.Attempts {
		out.Body.Attempts = append(out.Body.Attempts, Attempt(at))
	}
	for _, f := range a.Findings {
		out.Body.Findings = append(out.Body.Findings, Finding{string(f.Severity), f.Path, f.Message, f.Section})
	}
	chosen := interfaceShape(a)
	out.Body.Interface, out.Body.Problem = chosen.Interface, chosen.Problem
	return out, nil
}

func (s *server) getInterface(ctx context.Context, p access.Principal, in *agentPath) (*interfaceOut, error) {
	a, err := s.Agents.Get(ctx, p, in.ID)
	if err != nil {
		return nil, err
	}
	return &interfaceOut{Body: interfaceShape(a)}, nil
}

func (s *server) setInterface(ctx context.Context, p access.Principal, in *interfaceIn) (*interfaceOut, error) {
	given, err := in.Body.decode()
	if err != nil {
		return nil, err
	}
	a, err := s.AgentSettings.SetInterface(ctx, p, in.ID, &remote.Interface{Binding: given.Binding, ProtocolVersion: given.ProtocolVersion, URL: given.URL, Tenant: given.Tenant})
	if err != nil {
		return nil, atPointers(err)
	}
	return &interfaceOut{Body: interfaceShape(a)}, nil
}

func (s *server) resetInterface(ctx context.Context, p access.Principal, in *agentPath) (*interfaceOut, error) {
	a, err := s.AgentSettings.SetInterface(ctx, p, in.ID, nil)
	if err != nil {
		return nil, err
	}
	return &interfaceOut{Body: interfaceShape(a)}, nil
}

func interfaceShape(a agent.Agent) ChosenInterface {
	out := ChosenInterface{Pinned: a.Pinned != nil}
	target, err := a.Target()
	if err != nil {
		out.Problem = fault.Public(err).Message
		return out
	}
	i := target.Interface
	out.Interface = &Interface{Binding: i.Binding, ProtocolVersion: i.ProtocolVersion, URL: i.URL, Tenant: i.Tenant}
	return out
}

func (s *server) listPins(ctx context.Context, p access.Principal, _ *nothing) (*pinsOut, error) {
	pins, err := s.AgentSettings.Pins(ctx, p)
	out := &pinsOut{Body: PinList{Items: make([]Pin, 0, len(pins))}}
	for _, pin := range pins {
		out.Body.Items = append(out.Body.Items, pinShape(pin))
	}
	return out, err
}

func (s *server) addPin(ctx context.Context, p access.Principal, in *pinIn) (*pinOut, error) {
	given, err := in.Body.decode()
	if err != nil {
		return nil, err
	}
	expires, err := time.Parse(time.RFC3339, given.ExpiresAt)
	if err != nil {
		return nil, invalid("/expiresAt", "Give a time as in RFC 3339.")
	}
	pin, err := s.AgentSettings.Pin(ctx, p, given.Origin, given.Key, given.KeyID, expires)
	if err != nil {
		return nil, atPointers(err)
	}
	return &pinOut{Body: pinShape(pin)}, nil
}

func (s *server) removePin(ctx context.Context, p access.Principal, in *pinPath) (*pinsOut, error) {
	if err := s.AgentSettings.Unpin(ctx, p, in.ID); err != nil {
		return nil, err
	}
	return s.listPins(ctx, p, nil)
}

func pinShape(pin agent.Pin) Pin {
	return Pin{
		ID: pin.ID, Origin: pin.Origin, KeyID: pin.Key.ID, Algorithm: pin.Key.Algorithm(), Thumbprint: pin.Key.Thumbprint(),
		ExpiresAt: pin.ExpiresAt.UTC(), CreatedBy: pin.CreatedBy, CreatedAt: pin.CreatedAt.UTC(),
	}
}

// atPointers returns an error whose faults of inputs are those of a body's members.
func atPointers(err error) error {
	if fault.KindOf(err) != fault.Unprocessable {
		return err
	}
	public := fault.Public(err)
	for i := range public.Fields {
		public.Fields[i].Location = "/" + public.Fields[i].Location
	}
	return public
}
