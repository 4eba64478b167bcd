package web

import (
	"net/http"
	"slices"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/web/views"
)

func (s *server) personShow(w http.ResponseWriter, r *http.Request) error {
	return s.personPage(w, r, http.StatusOK, views.PersonPage{})
}

// personPage completes a page with all there is about a member, and shows it. What was
// entered on it stays.
func (s *server) personPage(w http.ResponseWriter, r *http.Request, status int, p views.PersonPage) (err error) {
	ctx, by, id := r.Context(), s.Principal(r), r.PathValue("id")
	if p.Member, p.Sights, err = s.Grants.OfMember(ctx, by, id); err != nil {
		return err
	}
	teams, err := s.Teams.List(ctx, by)
	if err != nil {
		return err
	}
	p.Teams = slices.DeleteFunc(teams, func(t access.Team) bool { return !slices.Contains(t.MemberIDs, id) })
	tokens, err := s.Tokens.List(ctx, by, true)
	if err != nil {
		return err
	}
	p.Tokens = slices.DeleteFunc(tokens, func(t access.Token) bool { return t.MembershipID != id })
	presences, err := s.Sessions.Presences(ctx, by, id)
	if err != nil {
		return err
	}
	p.Presence, p.Self, p.SignsIn = presences[id], id == by.PersonID, s.signsIn()
	if p.Entered == nil {
		p.Entered = &views.EnteredPerson{Name: p.Member.Name, Role: p.Member.Role}
	}
	if p.Shell, err = s.settingsShell(r, p.Member.Name); err != nil {
		return err
	}
	return page(ctx, w, status, views.Person(p))
}
