package access

import "github.com/agent-taskbay/taskbay/internal/audit"

// Actor is the principal as the trail names it, with the way in.
func (p Principal) Actor() audit.Actor {
	return audit.Actor{Kind: string(p.Kind), ID: p.PersonID, Name: p.Name, SessionID: p.SessionID, TokenID: p.TokenID}
}

// Command is whoever runs a command of taskbay on the machine: a person who may read and
// write what a server keeps, under the name that they have there.
func Command(user string) Principal {
	if user == "" {
		user = "unknown"
	}
	return Principal{
		OrganisationID: LocalOrganisation, PersonID: "command:" + user, Name: user + " (command line)",
		Kind: KindCommand, Role: Admin, Scope: ScopeAdminister,
	}
}
