package web

import (
	"net/http"
	"slices"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/web/views"
)

// teamNew is where a team is made, and teamShow where it is changed.
func (s *server) teamNew(w http.ResponseWriter, r *http.Request) error {
	return s.teamPage(w, r, http.StatusOK, views.TeamPage{})
}

func (s *server) teamShow(w http.ResponseWriter, r *http.Request) error {
	t, err := s.Teams.Get(r.Context(), s.Principal(r), r.PathValue("id"))
	if err != nil {
		return err
	}
	return s.teamPage(w, r, http.StatusOK, views.TeamPage{Team: t, Name: t.Name, Chosen: t.MemberIDs})
}

// teamPage completes a page with whom there is to choose from, and what is granted to
// the team, and shows it.
func (s *server) teamPage(w http.ResponseWriter, r *http.Request, status int, p views.TeamPage) (err error) {
	if p.Members, err = s.Members.List(r.Context(), s.Principal(r)); err != nil {
		return err
	}
	title := "Make a team"
	if p.Team.ID != "" {
		title = p.Team.Name
		grants, err := s.Grants.List(r.Context(), s.Principal(r))
		if err != nil {
			return err
		}
		p.Grants = slices.DeleteFunc(grants, func(g access.Grant) bool { return g.Subject.TeamID != p.Team.ID })
	}
	if p.Shell, err = s.settingsShell(r, title); err != nil {
		return err
	}
	return page(r.Context(), w, status, views.Team(p))
}
