package web

import (
	"net/http"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/web/views"
)

// teamAdd makes a team.
func (s *server) teamAdd(w http.ResponseWriter, r *http.Request) error {
	if err := posted(w, r); err != nil {
		return err
	}
	_, err := s.Teams.Add(r.Context(), s.Principal(r), r.PostForm.Get("name"), r.PostForm["member"])
	return s.teamSaved(w, r, access.Team{}, err)
}

// teamChange gives a team another name and other members.
func (s *server) teamChange(w http.ResponseWriter, r *http.Request) error {
	if err := posted(w, r); err != nil {
		return err
	}
	t, err := s.Teams.Get(r.Context(), s.Principal(r), r.PathValue("id"))
	if err != nil {
		return err
	}
	name, chosen := r.PostForm.Get("name"), append([]string{}, r.PostForm["member"]...) // those who are not chosen leave
	_, err = s.Teams.Change(r.Context(), s.Principal(r), t.ID, access.TeamChange{Name: &name, MemberIDs: chosen})
	return s.teamSaved(w, r, t, err)
}

func (s *server) teamSaved(w http.ResponseWriter, r *http.Request, t access.Team, err error) error {
	if err == nil {
		return moved(w, r, "/settings/teams")
	}
	status, faults, ok := toCorrect(err, map[string]string{"": "name"})
	if !ok {
		return err
	}
	return s.teamPage(w, r, status, views.TeamPage{Team: t, Name: r.PostForm.Get("name"), Chosen: r.PostForm["member"], Faults: faults})
}

// teamRemove removes a team with what was granted to it.
func (s *server) teamRemove(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.Teams.Remove(r.Context(), s.Principal(r), r.PathValue("id")); err != nil {
		return err
	}
	return moved(w, r, "/settings/teams")
}
