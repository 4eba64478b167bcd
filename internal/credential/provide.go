package credential

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/credential/scheme"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// touchEvery is how exact the time of the last use is.
const touchEvery = time.Minute

// For returns what goes with a call of an agent at an address. It must not be
// called inside a transaction of the record, and may have to wait for a token.
//
// The error, a *fault.Error unless the record cannot be read, says why the agent
// must not be called: it needs a credential and has none (ErrNeeded), its
// credential was revoked (ErrNeeded too), may not be sent to that address, or
// cannot be opened. Only one of kind fault.Unavailable may pass by itself.
func (s *Service) For(ctx context.Context, agentID string, u *url.URL) (scheme.Applied, error) {
	r, err := s.usable(ctx, agentID)
	if err != nil {
		return scheme.Applied{}, err
	}
	if r.ID == "" {
		return scheme.Applied{Redactor: s.redactor(agentID)}, nil
	}
	return s.apply(ctx, r, u)
}

// ForCard returns what goes with a request for an agent's card: its credential if
// that may be sent there, else nothing, since cards are public as a rule. Its
// errors are those of For about a credential that is there.
func (s *Service) ForCard(ctx context.Context, agentID string, u *url.URL) (scheme.Applied, error) {
	r, err := s.latest(ctx, agentID)
	if err != nil {
		return scheme.Applied{}, err
	}
	if r.ID == "" || r.Ended != "" || !slices.Contains(r.Origins, scheme.OriginOf(u)) {
		return scheme.Applied{Redactor: s.redactor(agentID)}, nil
	}
	return s.apply(ctx, r, u)
}

// Ready returns the error that For would return for a call of the agent, as far
// as it can be told without asking for a token.
func (s *Service) Ready(ctx context.Context, a agent.Agent) error {
	r, err := s.usable(ctx, a.ID)
	if err != nil || r.ID == "" {
		return err
	}
	h, err := s.holder(r)
	if err != nil {
		return err
	}
	chosen, err := a.Chosen()
	if err != nil {
		return nil // another matter, told elsewhere
	}
	u, err := url.Parse(chosen.URL)
	if err != nil || scheme.OriginOf(u) == "" {
		return nil // as above
	}
	return h.Check(u)
}

// Secrets returns what takes the secrets of an agent out of what is kept of it.
// It is never nil; if the error is not, it knows only those that this process
// has used.
func (s *Service) Secrets(ctx context.Context, agentID string) (*scheme.Redactor, error) {
	redactor := s.redactor(agentID)
	r, err := s.latest(ctx, agentID)
	if err != nil || r.ID == "" || r.Ended != "" {
		return redactor, err
	}
	h, err := s.holder(r)
	if err == nil {
		h.Learn()
	}
	return redactor, err
}

// latest returns the agent's latest binding, ended or not; the zero Record if it
// never had one. Whichever process another one was replaced in, this one knows what
// to keep out of what the agent repeats from then on.
func (s *Service) latest(ctx context.Context, agentID string) (Record, error) {
	var r Record
	var at string
	var formers []Former
	err := s.View(ctx, func(tx Tx) (err error) {
		if r, err = tx.Credential(agentID); err != nil {
			return err
		}
		if at = r.ID + string(r.Ended); !s.knowsFormer(agentID, at) {
			formers, err = tx.Formers(agentID)
		}
		return err
	})
	if err == nil && !s.knowsFormer(agentID, at) {
		s.learnFormer(agentID, at, formers)
	}
	if fault.KindOf(err) == fault.NotFound {
		return Record{}, nil
	}
	return r, err
}

// usable returns the agent's binding; the zero Record if it has none and needs
// none. A revoked one is an error: nothing takes its place by itself.
func (s *Service) usable(ctx context.Context, agentID string) (Record, error) {
	r, err := s.latest(ctx, agentID)
	switch {
	case err != nil:
		return Record{}, err
	case r.ID != "" && r.Ended == "":
		return r, nil
	case r.Ended != "":
		return Record{}, fault.Wrap(ErrNeeded, fault.Unprocessable, "The credential of this agent was revoked by %s on %s, so it is not called. An administrator can set another.",
			r.EndedBy.Name, r.EndedAt.Format("2 January 2006"))
	}
	var a agent.Agent
	err = s.View(ctx, func(tx Tx) (err error) {
		a, err = tx.AnyAgent(agentID)
		return err
	})
	if err != nil {
		return Record{}, err
	}
	return Record{}, Needed(a.Card)
}

// apply opens a binding and returns what goes with a call.
func (s *Service) apply(ctx context.Context, r Record, u *url.URL) (scheme.Applied, error) {
	h, err := s.holder(r)
	if err != nil {
		return scheme.Applied{}, err
	}
	applied, err := h.Apply(ctx, u)
	if err != nil {
		return scheme.Applied{}, err
	}
	if s.now().Sub(r.UsedAt) >= touchEvery {
		err := s.Update(ctx, func(tx Tx) error { return tx.TouchCredential(r.ID) })
		if err != nil && ctx.Err() == nil {
			s.Log.Warn("store that a credential was used", "agent", r.AgentID, "error", err) // no reason to hold up the call
		}
	}
	return applied, nil
}

// holder returns the opened binding. It is opened once.
func (s *Service) holder(r Record) (*scheme.Holder, error) {
	redactor := s.redactor(r.AgentID)
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.known[r.AgentID]
	if k.holder != nil && k.id == r.ID {
		return k.holder, nil
	}
	revealed, err := s.Vault.Open(owner(r.Binding), r.Sealed)
	if err != nil {
		return nil, cannotOpen(err)
	}
	c, err := scheme.Read(revealed)
	if err != nil {
		return nil, cannotOpen(err)
	}
	if c.Kind != r.Kind || !slices.Equal(c.Origins, r.Origins) {
		return nil, cannotOpen(errNotAsShown)
	}
	h, err := scheme.NewHolder(r.ID, c, scheme.Options{Tokens: s.Tokens, Redactor: redactor, Now: s.Now})
	if err != nil {
		return nil, cannotOpen(err)
	}
	k.id, k.holder = r.ID, h
	return h, nil
}

func (s *Service) redactor(agentID string) *scheme.Redactor {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.known[agentID]
	if k == nil {
		k = &known{redactor: &scheme.Redactor{}}
		if s.known == nil {
			s.known = make(map[string]*known)
		}
		s.known[agentID] = k
	}
	return k.redactor
}
