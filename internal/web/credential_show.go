package web

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/credential"
	"github.com/agent-taskbay/taskbay/internal/credential/scheme"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/web/views"
)

// Credentials keeps what Taskbay authenticates to agents with. What the principal
// may not see is fault.NotFound; no secret comes back from it.
type Credentials interface {
	// Set binds a credential to an agent, in the place of the one that it has. One
	// that cannot be used is fault.Unprocessable, with a field for each fault.
	Set(ctx context.Context, p access.Principal, agentID string, c scheme.Credential) (credential.Binding, error)
	// Revoke ends the agent's credential; fault.NotFound if it has none.
	Revoke(ctx context.Context, p access.Principal, agentID string) error
	// List returns the latest one of each agent that ever had one.
	List(ctx context.Context, p access.Principal) ([]credential.Binding, error)
	// History returns all that an agent ever had, newest first.
	History(ctx context.Context, p access.Principal, agentID string) ([]credential.Binding, error)
	// Ready says why the agent is not called for want of a credential; nil if it is.
	Ready(ctx context.Context, a agent.Agent) error
	// SuggestedOrigins returns the origins that an agent's card names.
	SuggestedOrigins(a agent.Agent) []string
}

func (s *server) credentialShow(w http.ResponseWriter, r *http.Request) error {
	a, err := s.Agents.Get(r.Context(), s.Principal(r), r.PathValue("id"))
	if err != nil {
		return err
	}
	p := views.CredentialPage{Agent: a, Kind: scheme.Kind(r.URL.Query().Get("kind"))}
	return s.credentialPage(w, r, http.StatusOK, p)
}

// credentialPage completes a page that has its agent, and shows it.
func (s *server) credentialPage(w http.ResponseWriter, r *http.Request, status int, p views.CredentialPage) error {
	var err error
	if p.Shell, err = s.shell(r, "Credential of "+p.Agent.Name, sectionAgents); err != nil {
		return err
	}
	p.Shell.WithSheets("task.css", "agent.css")
	if p.History, err = s.Credentials.History(r.Context(), s.Principal(r), p.Agent.ID); err != nil {
		return err
	}
	if p.Access, err = s.access(r.Context(), s.Principal(r), p.Agent, p.History); err != nil {
		return err
	}
	if !slices.Contains(scheme.Kinds(), p.Kind) {
		p.Kind = likelyKind(p.Access.Offers)
	}
	if p.Entered == nil {
		p.Entered = map[string]string{"header": offeredHeader(p.Access.Offers)}
	}
	p.Suggested = s.Credentials.SuggestedOrigins(p.Agent)
	return page(r.Context(), w, status, views.Credential(p))
}

// likelyKind is the kind that a card asks for first.
func likelyKind(offers []credential.Offer) scheme.Kind {
	for _, o := range offers {
		if len(o.Kinds) > 0 {
			return o.Kinds[0]
		}
	}
	return scheme.Bearer
}

// offeredHeader is the header in which a card wants an API key; "" if it wants none.
func offeredHeader(offers []credential.Offer) string {
	for _, o := range offers {
		if o.Header != "" {
			return o.Header
		}
	}
	return ""
}

// access returns what an agent asks of its callers, and what there is for it.
func (s *server) access(ctx context.Context, p access.Principal, a agent.Agent, history []credential.Binding) (views.Access, error) {
	found := views.Access{Offers: credential.Offers(a.Card)}
	if len(history) > 0 {
		found.Current = &history[0]
	}
	err := s.Credentials.Ready(ctx, a)
	if err != nil && fault.KindOf(err) == fault.Internal {
		return found, err
	}
	if err != nil {
		found.Why, found.Needed = fault.Public(err).Message, errors.Is(err, credential.ErrNeeded)
	}
	if err != nil {
		return found, nil
	}
	last, refused, err := s.Wire.Refusal(ctx, p, a.ID)
	if refused && (found.Current == nil || last.StartedAt.After(found.Current.CreatedAt)) {
		found.Refused = last.Error
	}
	return found, err
}
