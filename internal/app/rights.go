package app

import (
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/store"
)

// Rights keeps who is in the organisations of a database, and what they may see and do.
type Rights struct {
	Members *access.Members
	Teams   *access.Teams
	Grants  *access.Grants
}

// newRights returns the rights of a database, where people sign in with an issuer; "" if
// that is not known.
func newRights(db *store.DB, issuer string) Rights {
	return Rights{
		Members: &access.Members{Update: store.For[access.MemberTx](db.Update), View: store.For[access.MemberTx](db.View), NewID: newID, Issuer: issuer},
		Teams:   &access.Teams{Update: store.For[access.TeamTx](db.Update), View: store.For[access.TeamTx](db.View), NewID: newID},
		Grants:  &access.Grants{Update: store.For[access.GrantTx](db.Update), View: store.For[access.GrantTx](db.View), NewID: newID},
	}
}
