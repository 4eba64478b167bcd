package apptest

import (
	"context"

	"github.com/google/uuid"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/store"
)

// ServiceToken adds a service account of a role and returns an API token of it. The
// account may operate the agents that are named, as far as its role lets it. It is
// written into the record beside the running product, as another process would.
func (s *Server) ServiceToken(name string, role access.Role, scope access.Scope, agentIDs ...string) string {
	s.t.Helper()
	return s.GrantedToken(name, role, scope, access.Operate, agentIDs...)
}

// GrantedToken is ServiceToken with what the account may do with the agents.
func (s *Server) GrantedToken(name string, role access.Role, scope access.Scope, permission access.Permission, agentIDs ...string) string {
	s.t.Helper()
	ctx := context.Background()
	db, err := s.openStore(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			s.t.Error(err)
		}
	}()
	newID := func() string { return uuid.Must(uuid.NewV7()).String() }
	members := access.Members{Update: store.For[access.MemberTx](db.Update), View: store.For[access.MemberTx](db.View), NewID: newID}
	grants := access.Grants{Update: store.For[access.GrantTx](db.Update), View: store.For[access.GrantTx](db.View), NewID: newID}
	tokens := access.Tokens{Update: store.For[access.TokenTx](db.Update), View: store.For[access.TokenTx](db.View), NewID: newID}
	member, err := members.Add(ctx, access.LocalOperator(), access.NewMember{Service: true, Name: name, Role: role})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, id := range agentIDs {
		grant := access.Grant{Subject: access.Subject{MemberID: member.ID}, AgentID: id, Permission: permission, Enabled: true}
		if _, err := grants.Add(ctx, access.LocalOperator(), grant); err != nil {
			s.t.Fatal(err)
		}
	}
	_, secret, err := tokens.Create(ctx, access.LocalOperator(), access.NewToken{MembershipID: member.ID, Name: name, Scope: scope})
	if err != nil {
		s.t.Fatal(err)
	}
	return secret
}

func (s *Server) openStore(ctx context.Context) (*store.DB, error) {
	if s.databaseURL != "" {
		return store.OpenPostgres(ctx, s.databaseURL, &live.Hub{}, false)
	}
	return store.OpenSQLite(ctx, s.dataDir, &live.Hub{})
}
