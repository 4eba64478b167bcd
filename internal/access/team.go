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
	return s.put(ctx, p, func(tx TeamTx) (was, becomes Team, err error) {
		was = Team{ID: id, OrganisationID: p.OrganisationID, CreatedAt: tx.Now()}
		return was, TeamChange{&name, memberIDs}.apply(was), nil
	})
}

// TeamChange is what to change of a team; what is nil stays.
type TeamChange struct {
	Name      *string
	MemberIDs []string // all that it has from now on
}

func (c TeamChange) apply(t Team) Team {
	if c.Name != nil {
		t.Name = *c.Name
	}
	if c.MemberIDs != nil {
		t.MemberIDs = c.MemberIDs
	}
	return t
}

// Change gives a team another name or other members. Errors are those of Add, and
// fault.NotFound if there is none of that ID.
func (s *Teams) Change(ctx context.Context, p Principal, id string, c TeamChange) (Team, error) {
	return s.put(ctx, p, func(tx TeamTx) (was, becomes Team, err error) {
		was, err = tx.Team(p.OrganisationID, id)
		return was, c.apply(was), err
	})
}

// AddMember puts a member into a team; one who is in it stays. fault.NotFound if there
// is no such team or member, and fault.Unprocessable for a team that is full.
func (s *Teams) AddMember(ctx context.Context, p Principal, id, memberID string) (Team, error) {
	return s.put(ctx, p, func(tx TeamTx) (was, becomes Team, err error) {
		if was, err = tx.Team(p.OrganisationID, id); err != nil {
			return was, was, err
		}
		m, err := tx.Member(p.OrganisationID, memberID)
		becomes = was
		becomes.MemberIDs = append(slices.Clone(was.MemberIDs), m.ID)
		return was, becomes, err
	})
}

// RemoveMember takes a member out of a team; fault.NotFound if there is no such team, or
// nobody of that ID in it.
func (s *Teams) RemoveMember(ctx context.Context, p Principal, id, memberID string) (Team, error) {
	return s.put(ctx, p, func(tx TeamTx) (was, becomes Team, err error) {
		if was, err = tx.Team(p.OrganisationID, id); err != nil {
			return was, was, err
		}
		if !slices.Contains(was.MemberIDs, memberID) {
			return was, was, fault.New(fault.NotFound, "There is no such member in this team.")
		}
		becomes = was
		becomes.MemberIDs = without(was.MemberIDs, []string{memberID})
		return was, becomes, nil
	})
}

// put stores what becomes of a team, as change says within the transaction.
func (s *Teams) put(ctx context.Context, p Principal, change func(TeamTx) (was, becomes Team, err error)) (Team, error) {
	if err := Allow(p, NeedAdminister); err != nil {
		return Team{}, err
	}
	var stored Team
	err := s.Update(ctx, func(tx TeamTx) error {
		if _, err := tx.Organisation(p.OrganisationID); err != nil { // one change after the other
			return err
		}
		was, t, err := change(tx)
		if err != nil {
			return err
		}
		t.Name, t.MemberIDs = strings.TrimSpace(t.Name), slices.Compact(slices.Sorted(slices.Values(t.MemberIDs)))
		if err := checkTeam(tx, t); err != nil {
			return err
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

// checkTeam is fault.Unprocessable for a team that cannot be.
func checkTeam(tx TeamTx, t Team) error {
	wrong := func(location, message string) error {
		return fault.WithFields("This team cannot be stored.", []fault.Field{{Location: location, Message: message}})
	}
	if !isName(t.Name) {
		return wrong("name", fmt.Sprintf("1 to %d characters in one line.", maxName))
	}
	if len(t.MemberIDs) > maxTeam {
		return wrong("members", fmt.Sprintf("At most %d.", maxTeam))
	}
	for _, id := range t.MemberIDs {
		if _, err := tx.Member(t.OrganisationID, id); fault.KindOf(err) == fault.NotFound {
			return wrong("members", "IDs of members of this organisation.")
		} else if err != nil {
			return err
		}
	}
	return nil
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

// Remove removes a team with what is granted to it, and returns it as it was;
// fault.NotFound if there is none of that ID.
func (s *Teams) Remove(ctx context.Context, p Principal, id string) (Team, error) {
	if err := Allow(p, NeedAdminister); err != nil {
		return Team{}, err
	}
	var removed Team
	err := s.Update(ctx, func(tx TeamTx) (err error) {
		removed, err = tx.Team(p.OrganisationID, id)
		if err != nil {
			return err
		}
		tx.Signal(live.AccessTopic(p.OrganisationID), live.OrganisationTopic(p.OrganisationID))
		if err := tx.RemoveTeam(id); err != nil {
			return err
		}
		return tx.Audit(removed.entry(p, audit.TeamRemoved))
	})
	return removed, err
}
