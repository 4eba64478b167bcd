package web

import (
	"net/http"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/web/views"
)

// personChange gives a member another name or role.
func (s *server) personChange(w http.ResponseWriter, r *http.Request) error {
	if err := posted(w, r); err != nil {
		return err
	}
	entered := views.EnteredPerson{Name: r.PostForm.Get("name"), Role: access.Role(r.PostForm.Get("role"))}
	return s.changePerson(w, r, access.MemberChange{Name: &entered.Name, Role: &entered.Role}, &entered)
}

// personDisable has a member not come in any more, and personEnable let them in again.
func (s *server) personDisable(w http.ResponseWriter, r *http.Request) error {
	enabled := false
	return s.changePerson(w, r, access.MemberChange{Enabled: &enabled}, nil)
}

func (s *server) personEnable(w http.ResponseWriter, r *http.Request) error {
	enabled := true
	return s.changePerson(w, r, access.MemberChange{Enabled: &enabled}, nil)
}

func (s *server) changePerson(w http.ResponseWriter, r *http.Request, c access.MemberChange, entered *views.EnteredPerson) error {
	id := r.PathValue("id")
	_, err := s.Members.Change(r.Context(), s.Principal(r), id, c)
	if err == nil {
		return moved(w, r, "/settings/people/"+id)
	}
	status, faults, ok := toCorrect(err, nil)
	if !ok {
		return err
	}
	return s.personPage(w, r, status, views.PersonPage{Entered: entered, Faults: faults})
}
