// Package access says who acts and what they may do. Every page, API call and live
// stream passes Allow with what its route needs; which agents and tasks somebody
// sees is decided in SQL, by View.
package access

import "github.com/agent-taskbay/taskbay/internal/fault"

// Role is what a member of an organisation may do at most.
type Role string

// The roles.
const (
	Admin    Role = "admin"    // everything in the organisation, every agent without grants
	Operator Role = "operator" // operate what is granted to operate, read what is granted to read
	Viewer   Role = "viewer"   // read what is granted, never write, whatever a grant says
)

// Scope is what a way in lets its owner do at most. A session has all of it.
type Scope string

// The scopes, each with all before it.
const (
	ScopeRead       Scope = "read"
	ScopeOperate    Scope = "operate"
	ScopeAdminister Scope = "administer"
)

// Permission is what a grant gives on an agent, or on one of its skills.
type Permission string

// The permissions; Operate includes Read.
const (
	Read    Permission = "read"
	Operate Permission = "operate"
)

// Kind says what acts.
type Kind string

// The kinds of principal.
const (
	KindLocal   Kind = "local"   // the local operator
	KindPerson  Kind = "person"  // somebody who signs in
	KindService Kind = "service" // a service account, by its tokens
	KindCommand Kind = "command" // whoever may run commands on the machine
)

// Principal is the person or program on whose behalf something is done. The zero
// one may do nothing.
type Principal struct {
	OrganisationID string
	PersonID       string // of the membership
	Name           string // as shown to other people
	Kind           Kind
	Role           Role
	Scope          Scope
	SessionID      string // that it came by; "" if none
	TokenID        string // that it came by; "" if none
}

// LocalOrganisation is the only organisation in local mode.
const LocalOrganisation = "local"

// LocalOperator is the one person of local mode.
func LocalOperator() Principal {
	return Principal{
		OrganisationID: LocalOrganisation, PersonID: "local-operator", Name: "Local operator",
		Kind: KindLocal, Role: Admin, Scope: ScopeAdminister,
	}
}

// Need is what a route needs.
type Need string

// The needs. What an administrator needs is no more than a role; reading and
// operating also take a grant on the agent, unless one is an administrator.
const (
	NeedNothing    Need = "nothing" // for anyone, signed in or not
	NeedSignIn     Need = "sign-in" // for anyone, but all of them together have one allowance
	NeedOwn        Need = "own"     // changes one's own sessions and tokens: for any role, but no token below its owner
	NeedRead       Need = "read"
	NeedOperate    Need = "operate"
	NeedAdminister Need = "administer"
)

// needs says which roles and scopes meet a need.
var needs = map[Need]struct {
	roles  map[Role]bool
	scopes map[Scope]bool
}{
	NeedOwn:        {map[Role]bool{Admin: true, Operator: true, Viewer: true}, map[Scope]bool{ScopeAdminister: true}},
	NeedRead:       {map[Role]bool{Admin: true, Operator: true, Viewer: true}, map[Scope]bool{ScopeRead: true, ScopeOperate: true, ScopeAdminister: true}},
	NeedOperate:    {map[Role]bool{Admin: true, Operator: true}, map[Scope]bool{ScopeOperate: true, ScopeAdminister: true}},
	NeedAdminister: {map[Role]bool{Admin: true}, map[Scope]bool{ScopeAdminister: true}},
}

// Allow returns nil if the principal's role and way in meet the need, and
// fault.Forbidden otherwise. It is the one policy; which agents somebody may see or
// operate is for View and Tx of the nouns to say.
func Allow(p Principal, n Need) error {
	if n == NeedNothing || n == NeedSignIn {
		return nil
	}
	by := needs[n]
	switch {
	case !by.roles[p.Role]:
		return fault.New(fault.Forbidden, "Your role does not allow this.")
	case !by.scopes[p.Scope]:
		return fault.New(fault.Forbidden, "The scope of this API token does not allow this.")
	}
	return nil
}

// View is what somebody may see, as the store filters by it. The zero View sees
// nothing.
type View struct {
	OrganisationID string
	MembershipID   string
	All            bool // everything in the organisation, without grants
}

// View returns what the principal may see.
func (p Principal) View() View {
	return View{OrganisationID: p.OrganisationID, MembershipID: p.PersonID, All: p.Role == Admin}
}
