package access

import (
	"context"
	"slices"
	"time"

	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
)

// Subject is to whom something is granted: a member, a team, or everybody in the
// organisation if it is neither.
type Subject struct {
	MemberID string `json:"memberId,omitempty"`
	TeamID   string `json:"teamId,omitempty"`
	Name     string `json:"name,omitempty"` // of the member or the team; "" for everybody
}

// Grant lets its subject read or operate an agent, or one of its skills. What is
// granted to a viewer is to read, whatever it says.
type Grant struct {
	ID             string     `json:"id"` // UUIDv7
	OrganisationID string     `json:"organisationId"`
	Subject        Subject    `json:"subject"`
	AgentID        string     `json:"agentId"`
	AgentName      string     `json:"agentName"`
	SkillID        string     `json:"skillId,omitempty"` // "" is the whole agent
	Permission     Permission `json:"permission"`
	Enabled        bool       `json:"enabled"`
	CreatedAt      time.Time  `json:"createdAt"`
}

// Grantable is an agent as grants need it.
type Grantable struct {
	ID      string
	Name    string
	Removed bool
	Skills  []string // that messages can be held to
}

// Sight is how somebody comes to see an agent, or tasks of one of its skills.
type Sight struct {
	Member     Member
	AgentID    string
	AgentName  string
	SkillID    string     // "" is the whole agent
	Permission Permission // as the member's role lets it stand
	Grant      *Grant     // nil for an administrator, who needs none
}

// GrantTx is a transaction of the record as grants need it.
type GrantTx interface {
	TeamTx
	// Grantable returns fault.NotFound if the organisation has no such agent.
	Grantable(organisationID, agentID string) (Grantable, error)
	// Grants returns an organisation's grants, by agent and subject.
	Grants(organisationID string) ([]Grant, error)
	// Grant returns fault.NotFound if the organisation has none of that ID.
	Grant(organisationID, id string) (Grant, error)
	// PutGrant stores a new grant, or the permission of one that is there and whether
	// it is enabled; fault.Conflict if another one says the same.
	PutGrant(Grant) error
	RemoveGrant(id string) error
	// GrantedOn and GrantedTo return, of an agent and of a member, each enabled grant
	// with each enabled member that it reaches, by the names of members and agents.
	// Administrators are left out.
	GrantedOn(organisationID, agentID string) ([]Sight, error)
	GrantedTo(organisationID, memberID string) ([]Sight, error)
}

// Grants keeps who may read and operate which agents. Only administrators may, others
// get fault.Forbidden.
type Grants struct {
	Update func(context.Context, func(GrantTx) error) error
	View   func(context.Context, func(GrantTx) error) error
	NewID  func() string // UUIDv7
}

// List returns the grants, by agent and subject.
func (s *Grants) List(ctx context.Context, p Principal) ([]Grant, error) {
	if err := Allow(p, NeedAdminister); err != nil {
		return nil, err
	}
	var all []Grant
	err := s.View(ctx, func(tx GrantTx) (err error) {
		all, err = tx.Grants(p.OrganisationID)
		return err
	})
	return all, err
}

// Get returns one grant; fault.NotFound if there is none of that ID.
func (s *Grants) Get(ctx context.Context, p Principal, id string) (Grant, error) {
	if err := Allow(p, NeedAdminister); err != nil {
		return Grant{}, err
	}
	var g Grant
	err := s.View(ctx, func(tx GrantTx) (err error) {
		g, err = tx.Grant(p.OrganisationID, id)
		return err
	})
	return g, err
}

// Add grants something. fault.Unprocessable, with the locations memberId, teamId,
// agentId, skillId and permission, for what there is none of; fault.Conflict for what
// is granted already. A skill can be granted only of an agent that holds messages to
// skills.
func (s *Grants) Add(ctx context.Context, p Principal, g Grant) (Grant, error) {
	if err := Allow(p, NeedAdminister); err != nil {
		return Grant{}, err
	}
	g.ID, g.OrganisationID = s.NewID(), p.OrganisationID
	var stored Grant
	err := s.Update(ctx, func(tx GrantTx) error {
		faults, err := checkGrant(tx, g)
		if err != nil {
			return err
		}
		if len(faults) > 0 {
			return fault.WithFields("This cannot be granted.", faults)
		}
		g.CreatedAt = tx.Now()
		stored, err = put(tx, p, g, audit.GrantMade)
		return err
	})
	return stored, err
}

// Change changes what a grant permits and whether it counts; what is nil stays.
// fault.NotFound if there is none of that ID, fault.Unprocessable with the location
// permission, fault.Conflict if another grant says the same.
func (s *Grants) Change(ctx context.Context, p Principal, id string, permission *Permission, enabled *bool) (Grant, error) {
	if err := Allow(p, NeedAdminister); err != nil {
		return Grant{}, err
	}
	var stored Grant
	err := s.Update(ctx, func(tx GrantTx) error {
		g, err := tx.Grant(p.OrganisationID, id)
		if err != nil {
			return err
		}
		if permission != nil {
			g.Permission = *permission
		}
		if enabled != nil {
			g.Enabled = *enabled
		}
		if faults := checkPermission(g); len(faults) > 0 {
			return fault.WithFields("This cannot be granted.", faults)
		}
		stored, err = put(tx, p, g, audit.GrantChanged)
		return err
	})
	return stored, err
}

func put(tx GrantTx, p Principal, g Grant, a audit.Action) (Grant, error) {
	if err := tx.PutGrant(g); err != nil {
		return Grant{}, err
	}
	signalGrants(tx, g.OrganisationID)
	stored, err := tx.Grant(g.OrganisationID, g.ID)
	if err != nil {
		return Grant{}, err
	}
	return stored, tx.Audit(stored.entry(p, a))
}

func (g Grant) entry(p Principal, a audit.Action) audit.Entry {
	detail := map[string]string{"permission": string(g.Permission), "grantId": g.ID}
	if g.SkillID != "" {
		detail["skillId"] = g.SkillID
	}
	if !g.Enabled {
		detail["enabled"] = "no"
	}
	e := audit.Entry{
		OrganisationID: g.OrganisationID, Actor: p.Actor(), Action: a, AgentID: g.AgentID, AgentName: g.AgentName, Detail: detail,
		ObjectID: g.Subject.MemberID, ObjectName: g.Subject.Name,
	}
	switch {
	case g.Subject.TeamID != "":
		e.ObjectID, e.ObjectName = g.Subject.TeamID, "the team "+g.Subject.Name
	case g.Subject.MemberID == "":
		e.ObjectID, e.ObjectName = g.OrganisationID, "everybody"
	}
	return e
}

// signalGrants tells whoever decides what streams go on, and the streams themselves.
func signalGrants(tx GrantTx, organisationID string) {
	tx.Signal(live.AccessTopic(organisationID), live.OrganisationTopic(organisationID))
}

// Remove takes a grant back, and returns it as it was; fault.NotFound if there is none
// of that ID.
func (s *Grants) Remove(ctx context.Context, p Principal, id string) (Grant, error) {
	if err := Allow(p, NeedAdminister); err != nil {
		return Grant{}, err
	}
	var removed Grant
	err := s.Update(ctx, func(tx GrantTx) (err error) {
		removed, err = tx.Grant(p.OrganisationID, id)
		if err != nil {
			return err
		}
		signalGrants(tx, p.OrganisationID)
		if err := tx.RemoveGrant(id); err != nil {
			return err
		}
		return tx.Audit(removed.entry(p, audit.GrantRemoved))
	})
	return removed, err
}

// OfAgent says who can see an agent, and how they come to: administrators first, then
// by name. fault.NotFound if there is no such agent.
func (s *Grants) OfAgent(ctx context.Context, p Principal, agentID string) ([]Sight, error) {
	if err := Allow(p, NeedAdminister); err != nil {
		return nil, err
	}
	var all []Sight
	err := s.View(ctx, func(tx GrantTx) error {
		all = nil
		a, err := tx.Grantable(p.OrganisationID, agentID)
		if err != nil {
			return err
		}
		members, err := tx.Members(p.OrganisationID)
		if err != nil {
			return err
		}
		for _, m := range members {
			if m.Role == Admin && m.Enabled() {
				all = append(all, Sight{Member: m, AgentID: a.ID, AgentName: a.Name, Permission: Operate})
			}
		}
		granted, err := tx.GrantedOn(p.OrganisationID, agentID)
		all = append(all, standing(granted)...)
		return err
	})
	return all, err
}

// OfMember says what a member can see, and how they come to. An administrator sees
// everything, and so has no list. fault.NotFound if there is no such member.
func (s *Grants) OfMember(ctx context.Context, p Principal, memberID string) (Member, []Sight, error) {
	if err := Allow(p, NeedAdminister); err != nil {
		return Member{}, nil, err
	}
	var m Member
	var all []Sight
	err := s.View(ctx, func(tx GrantTx) (err error) {
		if m, err = tx.Member(p.OrganisationID, memberID); err != nil || m.Role == Admin {
			return err
		}
		granted, err := tx.GrantedTo(p.OrganisationID, memberID)
		all = standing(granted)
		return err
	})
	return m, all, err
}

// standing makes of what is granted what the role of each member leaves of it.
func standing(granted []Sight) []Sight {
	for i := range granted {
		if granted[i].Member.Role == Viewer {
			granted[i].Permission = Read
		}
	}
	return granted
}

// checkGrant returns the faults of a grant's inputs.
func checkGrant(tx GrantTx, g Grant) ([]fault.Field, error) {
	faults := checkPermission(g)
	if g.Subject.MemberID != "" && g.Subject.TeamID != "" {
		return append(faults, fault.Field{Location: "teamId", Message: "A member or a team, not both; neither is everybody in the organisation."}), nil
	}
	add := func(err error, location, message string) error {
		if fault.KindOf(err) == fault.NotFound {
			faults = append(faults, fault.Field{Location: location, Message: message})
			return nil
		}
		return err
	}
	if g.Subject.MemberID != "" {
		_, err := tx.Member(g.OrganisationID, g.Subject.MemberID)
		if err := add(err, "memberId", "The ID of a member of this organisation."); err != nil {
			return nil, err
		}
	}
	if g.Subject.TeamID != "" {
		_, err := tx.Team(g.OrganisationID, g.Subject.TeamID)
		if err := add(err, "teamId", "The ID of a team of this organisation."); err != nil {
			return nil, err
		}
	}
	a, err := tx.Grantable(g.OrganisationID, g.AgentID)
	if err == nil && g.SkillID != "" && !slices.Contains(a.Skills, g.SkillID) {
		faults = append(faults, fault.Field{Location: "skillId", Message: "The ID of a skill that the agent lists and holds messages to: its card has to list the skill routing extension. Leave it out to grant the whole agent."})
	}
	return faults, add(err, "agentId", "The ID of an agent of this organisation.")
}

func checkPermission(g Grant) []fault.Field {
	if g.Permission == Read || g.Permission == Operate {
		return nil
	}
	return []fault.Field{{Location: "permission", Message: "read or operate."}}
}
