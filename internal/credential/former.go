package credential

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/agent-taskbay/taskbay/internal/credential/scheme"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/vault"
)

// formerSecrets is what is encrypted of a credential that has ended. Nothing else
// of it is kept, so that no credential can be made of it.
type formerSecrets struct {
	Former []string `json:"former"`
}

// keepFormer keeps the secrets of the credential that the agent has, which is about
// to end. One that cannot be opened is none that this process could keep out of
// anything; it ends all the same.
func (s *Service) keepFormer(tx Tx, agentID string) error {
	r, err := tx.Credential(agentID)
	if fault.KindOf(err) == fault.NotFound || err == nil && r.Ended != "" {
		return nil
	}
	if err != nil {
		return err
	}
	sealed, err := s.former(r)
	if err != nil {
		s.Log.Warn("a credential that ends cannot be opened, so what the agent repeats of it will not be recognised", "agent", agentID, "error", err)
		return nil
	}
	if sealed == "" {
		return nil
	}
	return tx.InsertFormer(Former{CredentialID: r.ID, OrganisationID: r.OrganisationID, AgentID: agentID, Sealed: sealed, EndedAt: tx.Now()})
}

// former returns the secrets of a credential, encrypted; "" if it has none.
func (s *Service) former(r Record) (string, error) {
	revealed, err := s.Vault.Open(owner(r.Binding), r.Sealed)
	if err != nil {
		return "", err
	}
	c, err := scheme.Read(revealed)
	if err != nil || len(c.Secrets()) == 0 {
		return "", err
	}
	content, err := json.Marshal(formerSecrets{c.Secrets()})
	if err != nil {
		return "", fmt.Errorf("write former secrets: %w", err)
	}
	return s.Vault.Seal(owner(r.Binding), content)
}

func (f Former) owner() vault.Owner {
	return vault.Owner{Organisation: f.OrganisationID, Agent: f.AgentID}
}

// learnFormer makes the agent's redactor look for the secrets of credentials that
// have ended. at names the state of the agent's credentials that they were read in.
func (s *Service) learnFormer(agentID, at string, formers []Former) {
	var values []string
	for _, f := range formers {
		var secrets formerSecrets
		content, err := s.Vault.Open(f.owner(), f.Sealed)
		if err == nil {
			err = json.Unmarshal(content, &secrets)
		}
		if err != nil {
			// Its text may quote the secret, unless it is the vault's.
			s.Log.Warn("a secret of a credential that has ended cannot be read, so it is not recognised in what the agent repeats", "agent", agentID, "credential", f.CredentialID, "error", cannotOpen(err))
			continue
		}
		values = append(values, secrets.Former...)
	}
	redactor := s.redactor(agentID)
	redactor.Remember(values...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[agentID].formersAt = at
}

// knowsFormer reports whether the secrets of credentials that ended before the agent's
// credentials were as at says are known.
func (s *Service) knowsFormer(agentID, at string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.known[agentID]
	return k != nil && k.formersAt == at
}

// rotateFormer encrypts the secrets of credentials that have ended with the active
// key. What cannot be opened is left as it is, and named.
func (s *Service) rotateFormer(ctx context.Context, organisationID string) (left []string, err error) {
	var all []Former
	err = s.View(ctx, func(tx Tx) (err error) {
		all, err = tx.OrganisationFormers(organisationID)
		return err
	})
	for _, f := range all {
		fresh, failed := s.Vault.Reseal(f.owner(), f.Sealed)
		switch {
		case failed != nil:
			left = append(left, fmt.Sprintf("one of agent %s that has ended (%s)", f.AgentID, fault.Public(cannotOpen(failed)).Message))
		case fresh != f.Sealed:
			err = errors.Join(err, s.Update(ctx, func(tx Tx) error {
				_, err := tx.ResealFormer(f.CredentialID, f.Sealed, fresh)
				return err
			}))
		}
	}
	return left, err
}
