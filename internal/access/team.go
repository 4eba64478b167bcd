package access

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
)

// Team is some members of an organisation, to be granted something together.
type Team struct {
	ID             string // UUIDv7
	OrganisationID string
	Name           string
	MemberIDs      []string // in the order of the members' names
	CreatedAt      time.Time
}

// maxTeam bounds how many members a team may have.
const maxTeam = 1000

// TeamTx is a transaction of the record as teams need it.
type TeamTx interface {
	MemberTx
	// Teams returns an organisation's teams by name, with their members.
	Teams(organisationID string) ([]Team, error)
	// Team returns fault.NotFound if the organisation has none of that ID.
	Team(organisationID, id string) (Team, error)
	// PutTeam stores a new team, or the name and the members of one that is there;
	// fault.Conflict if another one has the name.
	PutTeam(Team) error
	// RemoveTeam removes a team with what is granted to it.
	RemoveTeam(id string) error
}

// Teams keeps the teams of an organisation. Only its administrators may, others get
// fault.Forbidden.
type Teams struct {
	Update func(context.Context, func(TeamTx) error) error
	View   func(context.Context, func(TeamTx) error) error
	NewID  func() string // UUIDv7
}

// List returns the teams by name.
func (s *Teams) List(ctx context.Context, p Principal) ([]Team, error) {
	if err := Allow(p, NeedAdminister); err != nil {
		return nil, err
	}
	var all []Team
	err := s.View(ctx, func(tx TeamTx) (err error) {
		all, err = tx.Teams(p.OrganisationID)
		return err
	})
	return all, err
}

// Get returns one team; fault.NotFound if there is none of that ID.
func (s *Teams) Get(ctx context.Context, p Principal, id string) (Team, error) {
	if err := Allow(p, NeedAdminister); err != nil {
		return Team{}, err
	}
	var t Team
	err := s.View(ctx, func(tx TeamTx) (err error) {
		t, err = tx.Team(p.OrganisationID, id)
		return err
	})
	return t, err
}

// Add makes a team. fault.Unprocessable with the locations name and members, and
// fault.Conflict for a name that another team has.
func (s *Teams) Add(ctx context.Context, p Principal, name string, memberIDs []string) (Team, error) {
	id := s.NewID()
	return s.put(ctx, p, name, memberIDs, func(tx TeamTx) (Team, error) {
		return Team{ID: id, OrganisationID: p.OrganisationID, CreatedAt: tx.Now()}, nil
	})
}

// Change gives a team another name and other members. Errors are those of Add, and
// fault.NotFound if there is none of that ID.
func (s *Teams) Change(ctx context.Context, p Principal, id, name string, memberIDs []string) (Team, error) {
	return s.put(ctx, p, name, memberIDs, func(tx TeamTx) (Team, error) { return tx.Team(p.OrganisationID, id) })
}

func (s *Teams) put(ctx context.Context, p Principal, name string, memberIDs []string, start func(TeamTx) (Team, error)) (Team, error) {
	if err := Allow(p, NeedAdminister); err != nil {
		return Team{}, err
	}
	name = strings.TrimSpace(name)
	if !isName(name) {
		return Team{}, fault.WithFields("This team cannot be stored.", []fault.Field{{Location: "name", Message: fmt.Sprintf("1 to %d characters in one line.", maxName)}})
	}
	if len(memberIDs) > maxTeam {
		return Team{}, fault.WithFields("This team cannot be stored.", []fault.Field{{Location: "members", Message: fmt.Sprintf("At most %d.", maxTeam)}})
	}
	var stored Team
	err := s.Update(ctx, func(tx TeamTx) error {
		was, err := start(tx)
		if err != nil {
			return err
		}
		t := was
		t.Name, t.MemberIDs = name, slices.Compact(slices.Sorted(slices.Values(memberIDs)))
		for _, id := range t.MemberIDs {
			if _, err := tx.Member(p.OrganisationID, id); fault.KindOf(err) == fault.NotFound {
				return fault.WithFields("This team cannot be stored.", []fault.Field{{Location: "members", Message: "IDs of members of this organisation."}})
			} else if err != nil {
				return err
			}
		}
		if err := tx.PutTeam(t); err != nil {
			return err
		}
		tx.Signal(live.AccessTopic(p.OrganisationID), live.OrganisationTopic(p.OrganisationID))
		if stored, err = tx.Team(p.OrganisationID, t.ID); err != nil {
			return err
		}
		return auditTeam(tx, p, was, stored)
	})
	return stored, err
}

// auditTeam writes that a team was made, or has another name, and who came and went.
func auditTeam(tx TeamTx, p Principal, was, t Team) error {
	var entries []audit.Entry
	switch {
	case was.Name == "":
		entries = append(entries, t.entry(p, audit.TeamMade))
	case was.Name != t.Name:
		e := t.entry(p, audit.TeamChanged)
		e.Detail = map[string]string{"formerName": was.Name}
		entries = append(entries, e)
	}
	for action, ids := range map[audit.Action][]string{
		audit.TeamMemberAdded: without(t.MemberIDs, was.MemberIDs), audit.TeamMemberGone: without(was.MemberIDs, t.MemberIDs),
	} {
		for _, id := range ids {
			m, err := tx.Member(t.OrganisationID, id)
			if err != nil {
				return err
			}
			e := t.entry(p, action)
			e.Detail = map[string]string{"member": m.Name, "memberId": m.ID}
			entries = append(entries, e)
		}
	}
	for _, e := range entries {
		if err := tx.Audit(e); err != nil {
			return err
		}
	}
	return nil
}

func (t Team) entry(p Principal, a audit.Action) audit.Entry {
	return audit.Entry{OrganisationID: t.OrganisationID, Actor: p.Actor(), Action: a, ObjectID: t.ID, ObjectName: t.Name}
}

// without returns those of a list that are not in another.
func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(id string) bool { return slices.Contains(other, id) })
}

// Remove removes a team with what is granted to it; fault.NotFound if there is none of
// that ID.
func (s *Teams) Remove(ctx context.Context, p Principal, id string) error {
	if err := Allow(p, NeedAdminister); err != nil {
		return err
	}
	return s.Update(ctx, func(tx TeamTx) error {
		t, err := tx.Team(p.OrganisationID, id)
		if err != nil {
			return err
		}
		tx.Signal(live.AccessTopic(p.OrganisationID), live.OrganisationTopic(p.OrganisationID))
		if err := tx.RemoveTeam(id); err != nil {
			return err
		}
		return tx.Audit(t.entry(p, audit.TeamRemoved))
	})
}
