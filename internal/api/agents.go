package api

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/agent-taskbay/taskbay/internal/access"
)

// Registration names an agent to add.
type Registration struct {
	CardURL string `json:"cardUrl" doc:"The address of its card, or of the agent: the well-known places are tried first."`
}

type (
	nothing   struct{}
	agentPath struct {
		ID string `path:"id" doc:"Local ID of the agent."`
	}
	registerAgent struct {
		Body body[Registration]
	}
	agentsOut struct {
		Body AgentList
	}
	agentOut struct {
		Body Agent
	}
	registeredOut struct {
		Status   int
		Location string `header:"Location"`
		Body     Agent
	}
)

func (s *server) registerAgents(api huma.API) {
	tags := []string{"Agents"}
	huma.Register(api, needs(access.NeedRead, huma.Operation{
		OperationID: "list-agents", Method: http.MethodGet, Path: "/agents", Tags: tags,
		Summary: "List the agents", Responses: failures(api),
	}), handle(s, "list-agents", s.listAgents))
	huma.Register(api, needs(access.NeedAdminister, withBody(huma.Operation{
		OperationID: "register-agent", Method: http.MethodPost, Path: "/agents", Tags: tags,
		Summary:       "Add an agent",
		Description:   "Fetches its card at once. An agent that cannot be reached is added all the same; its health says why. An address that is known already answers 200 with its agent.",
		DefaultStatus: http.StatusCreated,
		Responses: withAnswer(api, failures(api, wrongBody()...),
			http.StatusOK, "The agent that is registered already", "application/json", reflect.TypeFor[Agent]()),
	})), handle(s, "register-agent", s.addAgent))
	huma.Register(api, needs(access.NeedRead, huma.Operation{
		OperationID: "get-agent", Method: http.MethodGet, Path: "/agents/{id}", Tags: tags,
		Summary: "Read an agent", Responses: failures(api, http.StatusNotFound),
	}), handle(s, "get-agent", s.getAgent))
	huma.Register(api, needs(access.NeedOperate, huma.Operation{
		OperationID: "discover-agent", Method: http.MethodPost, Path: "/agents/{id}/discover", Tags: tags,
		Summary:       "Fetch an agent's card now",
		Description:   "That the agent cannot be reached is no error here: its health says so. 409 for one that was removed.",
		DefaultStatus: http.StatusOK, Responses: failures(api, http.StatusNotFound, http.StatusConflict),
	}), handle(s, "discover-agent", s.discoverAgent))
	huma.Register(api, needs(access.NeedAdminister, huma.Operation{
		OperationID: "remove-agent", Method: http.MethodDelete, Path: "/agents/{id}", Tags: tags, DefaultStatus: http.StatusOK,
		Summary: "Remove an agent",
		Description: "It leaves the list, its credential is revoked, nothing more is sent to it, and it is not asked about its tasks any more. " +
			"These stay. It can still be read, and registering its address brings it back. Removing it twice is once.",
		Responses: failures(api, http.StatusNotFound),
	}), handle(s, "remove-agent", s.removeAgent))
}

func (s *server) listAgents(ctx context.Context, p access.Principal, _ *nothing) (*agentsOut, error) {
	agents, err := s.Agents.List(ctx, p)
	if err != nil {
		return nil, err
	}
	out := &agentsOut{Body: AgentList{Items: make([]Agent, 0, len(agents))}}
	for _, a := range agents {
		out.Body.Items = append(out.Body.Items, agentShape(a))
	}
	return out, nil
}

func (s *server) addAgent(ctx context.Context, p access.Principal, in *registerAgent) (*registeredOut, error) {
	wanted, err := in.Body.decode()
	if err != nil {
		return nil, err
	}
	if wanted.CardURL == "" {
		return nil, invalid("/cardUrl", "Give the address of the agent or of its card.")
	}
	a, created, err := s.Agents.Register(ctx, p, wanted.CardURL)
	if err != nil {
		return nil, atPointers(err)
	}
	out := &registeredOut{Status: http.StatusOK, Location: prefix + "/agents/" + a.ID, Body: agentShape(a)}
	if created {
		out.Status = http.StatusCreated
	}
	return out, nil
}

func (s *server) getAgent(ctx context.Context, p access.Principal, in *agentPath) (*agentOut, error) {
	a, err := s.Agents.Get(ctx, p, in.ID)
	if err != nil {
		return nil, err
	}
	return &agentOut{Body: agentShape(a)}, nil
}

func (s *server) discoverAgent(ctx context.Context, p access.Principal, in *agentPath) (*agentOut, error) {
	a, err := s.Agents.Discover(ctx, p, in.ID)
	if err != nil {
		return nil, err
	}
	return &agentOut{Body: agentShape(a)}, nil
}

func (s *server) removeAgent(ctx context.Context, p access.Principal, in *agentPath) (*agentOut, error) {
	if err := s.AgentSettings.Remove(ctx, p, in.ID); err != nil {
		return nil, err
	}
	return s.getAgent(ctx, p, in)
}

// withBody adds what holds for every operation that takes a body.
func withBody(op huma.Operation) huma.Operation {
	op.SkipValidateBody = true // it is checked when it is decoded
	op.MaxBodyBytes = maxBodyBytes + 1
	op.BodyReadTimeout = bodyTimeout
	return op
}
