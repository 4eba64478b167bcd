package web

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// fakePeople are some people, what they are granted and their tokens, and what was asked
// to be changed of them. Err is what changes get instead of being made.
type fakePeople struct {
	mu      sync.Mutex
	err     error
	members []access.Member
	teams   []access.Team
	grants  []access.Grant
	tokens  []access.Token
	asked   []any
}

const hostileName = "Eve <script>alert(1)</script>"

func (f *fakePeople) fill(agents []agent.Agent) {
	member := func(id string, k access.Kind, name string, r access.Role) access.Member {
		m := access.Member{ID: id, OrganisationID: access.LocalOrganisation, Kind: k, Name: name, Role: r, CreatedAt: at(0)}
		if k == access.KindPerson {
			m.Issuer, m.Subject = "https://login.example/", "sub-"+id
		}
		return m
	}
	f.members = []access.Member{
		member("ada", access.KindPerson, "Ada", access.Admin), member("bob", access.KindPerson, "Bob", access.Operator),
		member("eve", access.KindPerson, hostileName, access.Viewer), member("robot", access.KindService, "Robot", access.Operator),
	}
	f.members[2].DisabledAt = at(0)
	f.teams = []access.Team{{ID: "support", Name: "Support", MemberIDs: []string{"bob"}}}
	f.grants = []access.Grant{
		{ID: "g1", AgentID: agents[0].ID, AgentName: agents[0].Name, Subject: access.Subject{TeamID: "support", Name: "Support"}, Permission: access.Operate, Enabled: true},
		{ID: "g2", AgentID: agents[1].ID, AgentName: agents[1].Name, Permission: access.Read, Enabled: true},
	}
	f.tokens = []access.Token{
		{ID: "t1", MembershipID: "robot", MemberName: "Robot", MemberKind: access.KindService, Name: "Nightly", Scope: access.ScopeOperate, CreatedBy: "ada", CreatedByName: "Ada", CreatedAt: at(0), ExpiresAt: time.Now().AddDate(0, 1, 0)},
		{ID: "t2", MembershipID: access.LocalOperator().PersonID, MemberName: "Local operator", Name: "Mine", Scope: access.ScopeRead, CreatedBy: access.LocalOperator().PersonID, CreatedAt: at(0), ExpiresAt: at(0)},
	}
}

// ask remembers what was asked for, or returns the error that there is instead.
func (f *fakePeople) ask(what any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return f.err
	}
	f.asked = append(f.asked, what)
	return nil
}

// fail has changes fail.
func (f *fakePeople) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

// wasAsked returns what was asked for since it was looked at last.
func (f *fakePeople) wasAsked() []any {
	f.mu.Lock()
	defer f.mu.Unlock()
	asked := f.asked
	f.asked = nil
	return asked
}

func noSuch() error { return fault.New(fault.NotFound, "There is no such thing.") }

func (f *fakePeople) List(context.Context, access.Principal) ([]access.Member, error) {
	return slices.Clone(f.members), nil
}

func (f *fakePeople) Get(_ context.Context, _ access.Principal, id string) (access.Member, error) {
	for _, m := range f.members {
		if m.ID == id {
			return m, nil
		}
	}
	return access.Member{}, noSuch()
}

func (f *fakePeople) Add(_ context.Context, _ access.Principal, n access.NewMember) (access.Member, error) {
	return access.Member{ID: "new"}, f.ask(n)
}

func (f *fakePeople) Change(_ context.Context, _ access.Principal, id string, c access.MemberChange) (access.Member, error) {
	return access.Member{ID: id}, f.ask(c)
}

type fakeTeams struct{ *fakePeople }

func (f fakeTeams) List(context.Context, access.Principal) ([]access.Team, error) {
	return slices.Clone(f.teams), nil
}

func (f fakeTeams) Get(_ context.Context, _ access.Principal, id string) (access.Team, error) {
	for _, t := range f.teams {
		if t.ID == id {
			return t, nil
		}
	}
	return access.Team{}, noSuch()
}

func (f fakeTeams) Add(_ context.Context, _ access.Principal, name string, memberIDs []string) (access.Team, error) {
	t := access.Team{Name: name, MemberIDs: memberIDs}
	return t, f.ask(t)
}

func (f fakeTeams) Change(_ context.Context, _ access.Principal, id string, c access.TeamChange) (access.Team, error) {
	t := access.Team{ID: id, Name: *c.Name, MemberIDs: c.MemberIDs}
	return t, f.ask(t)
}

func (f fakeTeams) Remove(_ context.Context, _ access.Principal, id string) (access.Team, error) {
	return access.Team{ID: id}, f.ask("remove " + id)
}

type fakeGrants struct{ *fakePeople }

func (f fakeGrants) List(context.Context, access.Principal) ([]access.Grant, error) {
	return slices.Clone(f.grants), nil
}

func (f fakeGrants) Get(_ context.Context, _ access.Principal, id string) (access.Grant, error) {
	for _, g := range f.grants {
		if g.ID == id {
			return g, nil
		}
	}
	return access.Grant{}, noSuch()
}

func (f fakeGrants) Add(_ context.Context, _ access.Principal, g access.Grant) (access.Grant, error) {
	return g, f.ask(g)
}

// grantChange is one call of Change.
type grantChange struct {
	ID         string
	Permission *access.Permission
	Enabled    *bool
}

func (f fakeGrants) Change(_ context.Context, _ access.Principal, id string, permission *access.Permission, enabled *bool) (access.Grant, error) {
	return access.Grant{ID: id}, f.ask(grantChange{id, permission, enabled})
}

func (f fakeGrants) Remove(_ context.Context, _ access.Principal, id string) (access.Grant, error) {
	return access.Grant{ID: id}, f.ask("remove " + id)
}

func (f fakeGrants) sights(fits func(access.Sight) bool) []access.Sight {
	var all []access.Sight
	for i, g := range f.grants {
		s := access.Sight{Member: f.members[1], AgentID: g.AgentID, AgentName: g.AgentName, SkillID: g.SkillID, Permission: g.Permission, Grant: &f.grants[i]}
		if fits(s) {
			all = append(all, s)
		}
	}
	return all
}

func (f fakeGrants) OfAgent(_ context.Context, _ access.Principal, agentID string) ([]access.Sight, error) {
	admins := []access.Sight{{Member: f.members[0], AgentID: agentID, Permission: access.Operate}}
	return append(admins, f.sights(func(s access.Sight) bool { return s.AgentID == agentID })...), nil
}

func (f fakeGrants) OfMember(ctx context.Context, p access.Principal, id string) (access.Member, []access.Sight, error) {
	m, err := f.fakePeople.Get(ctx, p, id)
	return m, f.sights(func(s access.Sight) bool { return s.Member.ID == id }), err
}

type fakeTokens struct{ *fakePeople }

func (f fakeTokens) List(_ context.Context, p access.Principal, all bool) ([]access.Token, error) {
	return slices.DeleteFunc(slices.Clone(f.tokens), func(t access.Token) bool { return !all && t.MembershipID != p.PersonID }), nil
}

// madeToken is the secret of every token that is made.
const madeToken = "tbay_made"

func (f fakeTokens) Create(_ context.Context, p access.Principal, asked access.NewToken) (access.Token, string, error) {
	owner := asked.MembershipID
	if owner == "" {
		owner = p.PersonID
	}
	return access.Token{ID: "new", MembershipID: owner, MemberName: "Owner", Name: asked.Name, Scope: asked.Scope, ExpiresAt: asked.ExpiresAt}, madeToken, f.ask(asked)
}

func (f fakeTokens) Revoke(_ context.Context, _ access.Principal, id string) (access.Token, error) {
	for _, t := range f.tokens {
		if t.ID == id {
			return t, f.ask("revoke " + id)
		}
	}
	return access.Token{}, noSuch()
}

// presentPeople are sessions of whoever looks: two, of which one is theirs.
type presentPeople struct{}

func (presentPeople) Begin(context.Context, string, string) (string, time.Time, error) {
	return "", time.Time{}, nil
}

func (presentPeople) End(context.Context, access.Principal) error { return nil }

func (presentPeople) EndOthers(context.Context, access.Principal) (int64, error) { return 1, nil }

func (presentPeople) List(_ context.Context, p access.Principal) ([]access.Session, error) {
	return []access.Session{
		{ID: p.SessionID, Client: "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0", CreatedAt: at(0), ExpiresAt: at(-60)},
		{ID: "other", Client: "<b>odd</b>", CreatedAt: at(10), ExpiresAt: at(-60)},
	}, nil
}

func (presentPeople) Presences(context.Context, access.Principal, string) (map[string]access.Presence, error) {
	return map[string]access.Presence{"ada": {Sessions: 2, LastAt: at(5)}}, nil
}
