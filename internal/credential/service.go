package credential

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/credential/scheme"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/vault"
)

// Service keeps the credentials of agents, and gives what goes with each call.
// It is safe for concurrent use; several processes may share one record. Whatever takes
// a principal is for administrators alone; others get fault.Forbidden.
type Service struct {
	Update func(context.Context, func(Tx) error) error
	View   func(context.Context, func(Tx) error) error
	Vault  *vault.Ring
	Tokens http.RoundTripper // to OAuth token endpoints; see scheme.Options. Only For and ForCard use it
	Local  bool              // addresses of this machine do without TLS
	NewID  func() string
	Log    *slog.Logger
	Now    func() time.Time // nil is time.Now

	mu    sync.Mutex
	known map[string]*known // by agent
}

// known is what this process knows of an agent's credentials.
type known struct {
	redactor *scheme.Redactor // outlives bindings: what an old one had may still come back
	id       string           // of the binding that holder is of
	holder   *scheme.Holder   // nil if none was opened yet

	// formersAt names the state of the agent's credentials with which the secrets of
	// those that have ended were read last.
	formersAt string
}

func (s *Service) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

// Set binds a credential to an agent, in the place of the one that it has. The
// agent's card is fetched again soon. fault.NotFound if there is no such agent,
// fault.Unprocessable, with the locations of scheme.Check, for a credential that
// cannot be used. Nothing in an error repeats a secret.
func (s *Service) Set(ctx context.Context, p access.Principal, agentID string, c scheme.Credential) (Binding, error) {
	if err := access.Allow(p, access.NeedAdminister); err != nil {
		return Binding{}, err
	}
	c, faults := scheme.Check(c, scheme.Rules{Local: s.Local, Now: s.now()})
	if len(faults) > 0 {
		return Binding{}, fault.WithFields("This credential cannot be used.", faults)
	}
	r := Record{Binding: Binding{
		ID: s.NewID(), OrganisationID: p.OrganisationID, AgentID: agentID,
		Kind: c.Kind, Origins: c.Origins, Header: c.Header, TokenURL: withoutQuery(c.TokenURL), Expires: c.Expires(),
		Key: s.Vault.Active(), CreatedBy: personOf(p),
	}}
	revealed, err := c.Reveal()
	if err != nil {
		return Binding{}, fmt.Errorf("write a credential: %w", err)
	}
	if r.Sealed, err = s.Vault.Seal(owner(r.Binding), revealed); err != nil {
		return Binding{}, fmt.Errorf("seal a credential: %w", err)
	}
	err = s.Update(ctx, func(tx Tx) error {
		a, err := tx.Agent(p.View(), agentID)
		if err != nil {
			return err
		}
		r.AgentName, r.AgentCardURL, r.CreatedAt = a.Name, a.CardURL, tx.Now()
		if err := s.keepFormer(tx, agentID); err != nil {
			return err
		}
		if err := tx.InsertCredential(r); err != nil {
			return err
		}
		if err := tx.Audit(r.entry(p, audit.CredentialSet)); err != nil {
			return err
		}
		tx.Signal(live.OrganisationTopic(p.OrganisationID))
		return tx.RefreshSoon(agentID)
	})
	return r.Binding, err
}

func owner(b Binding) vault.Owner {
	return vault.Owner{Organisation: b.OrganisationID, Agent: b.AgentID}
}

func withoutQuery(address string) string {
	before, _, _ := strings.Cut(address, "?")
	return before
}

// Revoke ends the agent's binding at once. The agent is not called again until
// another is set. fault.NotFound if there is no such agent, or it has no binding.
func (s *Service) Revoke(ctx context.Context, p access.Principal, agentID string) error {
	if err := access.Allow(p, access.NeedAdminister); err != nil {
		return err
	}
	return s.Update(ctx, func(tx Tx) error {
		if _, err := tx.Agent(p.View(), agentID); err != nil {
			return err
		}
		if err := s.keepFormer(tx, agentID); err != nil {
			return err
		}
		ended, err := tx.EndCredential(agentID, Revoked, personOf(p))
		if err != nil {
			return err
		}
		if !ended {
			return fault.New(fault.NotFound, "This agent has no credential that could be revoked.")
		}
		tx.Signal(live.OrganisationTopic(p.OrganisationID))
		r, err := tx.Credential(agentID)
		if err != nil {
			return err
		}
		return tx.Audit(r.entry(p, audit.CredentialRevoked))
	})
}

// List returns the latest binding of each agent that ever had one, by the
// agents' names. One that has ended is a revoked one.
func (s *Service) List(ctx context.Context, p access.Principal) ([]Binding, error) {
	return s.bindings(ctx, p, func(tx Tx) ([]Record, error) { return tx.LatestCredentials(p.OrganisationID) })
}

// History returns every binding that an agent ever had, newest first: the first
// one is in use unless it has ended. fault.NotFound if there is no such agent.
func (s *Service) History(ctx context.Context, p access.Principal, agentID string) ([]Binding, error) {
	return s.bindings(ctx, p, func(tx Tx) ([]Record, error) {
		if _, err := tx.Agent(p.View(), agentID); err != nil {
			return nil, err
		}
		return tx.AgentCredentials(agentID)
	})
}

func (s *Service) bindings(ctx context.Context, p access.Principal, read func(Tx) ([]Record, error)) ([]Binding, error) {
	if err := access.Allow(p, access.NeedAdminister); err != nil {
		return nil, err
	}
	var list []Binding
	err := s.View(ctx, func(tx Tx) error {
		records, err := read(tx)
		for _, r := range records {
			list = append(list, r.Binding)
		}
		return err
	})
	return list, err
}

// Rotation is what Rotate did.
type Rotation struct {
	Key     string // the active one
	Changed int    // bindings that are encrypted with it now and were not before
	Same    int    // bindings that were already
}

// Rotate encrypts every binding of the organisation with the active key of the
// vault. Calls go on meanwhile, in every process that has the old key and the
// new one. Bindings that cannot be opened are left as they are; the error, a
// *fault.Error, then names them, and the others are done.
func (s *Service) Rotate(ctx context.Context, p access.Principal) (Rotation, error) {
	if err := access.Allow(p, access.NeedAdminister); err != nil {
		return Rotation{}, err
	}
	done := Rotation{Key: s.Vault.Active()}
	var all []Record
	err := s.View(ctx, func(tx Tx) (err error) {
		all, err = tx.LatestCredentials(p.OrganisationID)
		return err
	})
	if err != nil {
		return done, err
	}
	var left []string
	for _, r := range all {
		changed, err := s.reseal(ctx, p, r)
		switch {
		case errors.Is(err, errCannotOpen):
			left = append(left, fmt.Sprintf("%s (%s)", r.AgentName, fault.Public(err).Message))
		case err != nil:
			return done, err
		case changed:
			done.Changed++
		case r.Ended == "":
			done.Same++
		}
	}
	formers, err := s.rotateFormer(ctx, p.OrganisationID)
	if err != nil {
		return done, err
	}
	if left = append(left, formers...); len(left) > 0 {
		return done, fault.New(fault.Unprocessable, "%d of the credentials could not be encrypted anew: %s", len(left), strings.Join(left, "; "))
	}
	return done, nil
}

// reseal encrypts one binding with the active key and reports whether that
// changed it.
func (s *Service) reseal(ctx context.Context, p access.Principal, r Record) (changed bool, err error) {
	if r.Ended != "" {
		return false, nil
	}
	fresh, err := s.Vault.Reseal(owner(r.Binding), r.Sealed)
	if err != nil {
		return false, cannotOpen(err)
	}
	if fresh == r.Sealed {
		return false, nil
	}
	err = s.Update(ctx, func(tx Tx) (err error) {
		changed, err = tx.ResealCredential(r.ID, r.Sealed, fresh, s.Vault.Active())
		if err != nil || !changed {
			return err
		}
		again := r.Binding
		again.Key = s.Vault.Active()
		return tx.Audit(again.entry(p, audit.CredentialReencrypted))
	})
	return changed, err
}

// errCannotOpen is a cause of the errors of cannotOpen.
var errCannotOpen = errors.New("open a credential")

// cannotOpen says why a stored credential cannot be opened.
func cannotOpen(err error) error {
	cause := fmt.Errorf("%w: %w", errCannotOpen, err)
	var unknown *vault.UnknownKeyError
	if errors.As(err, &unknown) {
		return fault.Wrap(cause, fault.Unprocessable, "The credential of this agent is encrypted with the vault key %q, which this Taskbay does not have. Give it that key again, or set the credential anew.", scheme.Plain(unknown.ID, 64))
	}
	return fault.Wrap(cause, fault.Unprocessable, "The credential of this agent is damaged, or was changed outside Taskbay, so it is not used. Set it anew.")
}

// originOf returns the origin of an address; "" if it has none.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return scheme.OriginOf(u)
}
