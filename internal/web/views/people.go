package views

import "github.com/agent-taskbay/taskbay/internal/access"

// PeoplePage is who is in the organisation.
type PeoplePage struct {
	Shell     Shell
	Members   []access.Member
	Presences map[string]access.Presence // by the IDs of members who are people
	SignsIn   bool                       // people sign in here, rather than one local operator
}

// of returns the members that are service accounts, or those that are not.
func (p PeoplePage) of(services bool) []access.Member {
	var some []access.Member
	for _, m := range p.Members {
		if (m.Kind == access.KindService) == services && (m.Kind != access.KindLocal || !p.SignsIn) {
			some = append(some, m)
		}
	}
	return some
}

// NewPersonPage is where a person or a service account is added.
type NewPersonPage struct {
	Shell   Shell
	Service bool
	Issuer  string
	Subject string
	Name    string
	Role    access.Role
	Faults  Faults
}

// EnteredPerson is what stands in the controls that change a member.
type EnteredPerson struct {
	Name string
	Role access.Role
}

// PersonPage is one member.
type PersonPage struct {
	Shell    Shell
	Member   access.Member
	Sights   []access.Sight // what they can see; none for an administrator
	Teams    []access.Team  // that they are in
	Tokens   []access.Token // of theirs
	Presence access.Presence
	Self     bool // it is whoever looks
	SignsIn  bool
	Entered  *EnteredPerson
	Faults   Faults
}

// lead says in a sentence who it is.
func (p PersonPage) lead() string {
	switch {
	case p.Member.Kind == access.KindService:
		return "A program's account: it comes by API tokens, and never signs in."
	case p.Member.Kind == access.KindLocal:
		return "Whoever uses this machine. It stays as it is."
	case p.Self:
		return "This is you."
	}
	return ""
}

// disableWords says what disabling does.
func (p PersonPage) disableWords() string {
	switch {
	case p.Self:
		return "You are signed out at once, on every browser, and your tokens stop working. You cannot undo that yourself."
	case p.Member.Kind == access.KindService:
		return "Its tokens stop working at once, and do not come back when it is enabled again. What it did stays."
	}
	return "They are signed out at once, on every browser, and their tokens stop working. What they did stays. Enabling lets them sign in again; the tokens do not come back."
}

// TeamsPage is the teams of the organisation.
type TeamsPage struct {
	Shell   Shell
	Teams   []access.Team
	SignsIn bool
}

// TeamPage is where a team is made or changed.
type TeamPage struct {
	Shell   Shell
	Team    access.Team // as it is stored; the zero one for one to make
	Name    string      // that was entered
	Chosen  []string    // IDs of members
	Members []access.Member
	Grants  []access.Grant // to the team
	Faults  Faults
}

func (p TeamPage) action() string {
	if p.Team.ID == "" {
		return "/settings/teams"
	}
	return "/settings/teams/" + p.Team.ID
}
