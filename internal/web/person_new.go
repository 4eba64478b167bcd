package web

import (
	"net/http"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/web/views"
)

// personNew is where a person or a service account is added. Where nobody signs in,
// people are not.
func (s *server) personNew(w http.ResponseWriter, r *http.Request) error {
	p := views.NewPersonPage{Service: r.URL.Query().Get("kind") == string(access.KindService) || !s.signsIn(), Role: access.Viewer}
	if !p.Service {
		p.Issuer = s.SignIn.Issuer()
	}
	return s.newPersonPage(w, r, http.StatusOK, p)
}

func (s *server) newPersonPage(w http.ResponseWriter, r *http.Request, status int, p views.NewPersonPage) error {
	title := "Add a person"
	if p.Service {
		title = "Add a service account"
	}
	var err error
	if p.Shell, err = s.settingsShell(r, title); err != nil {
		return err
	}
	return page(r.Context(), w, status, views.NewPerson(p))
}

// personAdd adds somebody.
func (s *server) personAdd(w http.ResponseWriter, r *http.Request) error {
	if err := posted(w, r); err != nil {
		return err
	}
	get := r.PostForm.Get
	n := access.NewMember{Service: get("kind") == string(access.KindService), Name: get("name"), Role: access.Role(get("role"))}
	if !n.Service {
		n.Issuer, n.Subject = get("issuer"), get("subject")
	}
	added, err := s.Members.Add(r.Context(), s.Principal(r), n)
	if err == nil {
		return moved(w, r, "/settings/people/"+added.ID)
	}
	status, faults, ok := toCorrect(err, map[string]string{"": "subject"})
	if !ok {
		return err
	}
	return s.newPersonPage(w, r, status, views.NewPersonPage{
		Service: n.Service, Issuer: n.Issuer, Subject: n.Subject, Name: n.Name, Role: n.Role, Faults: faults,
	})
}
