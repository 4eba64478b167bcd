package web

import (
	"net/http"
	"time"

	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/web/views"
)

func (s *server) trustShow(w http.ResponseWriter, r *http.Request) error {
	a, err := s.Agents.Get(r.Context(), s.Principal(r), r.PathValue("id"))
	if err != nil {
		return err
	}
	inAYear := time.Now().AddDate(1, 0, 0).Format(time.DateOnly)
	return s.trustPage(w, r, http.StatusOK, views.TrustPage{Agent: a, Entered: map[string]string{"expires": inAYear}})
}

// trustPage completes a page that has its agent, and shows it.
func (s *server) trustPage(w http.ResponseWriter, r *http.Request, status int, p views.TrustPage) error {
	var err error
	if p.Shell, err = s.shell(r, "Pinned keys", sectionAgents); err != nil {
		return err
	}
	p.Shell.WithSheets("task.css", "agent.css")
	all, err := s.AgentSettings.Pins(r.Context(), s.Principal(r))
	if err != nil {
		return err
	}
	for _, pin := range all {
		if pin.Origin == p.Agent.CardOrigin() {
			p.Pins = append(p.Pins, pin)
		}
	}
	return page(r.Context(), w, status, views.Trust(p))
}

// trustPin pins the key that was entered for the origin of an agent's card.
func (s *server) trustPin(w http.ResponseWriter, r *http.Request) error {
	if err := posted(w, r); err != nil {
		return err
	}
	a, err := s.Agents.Get(r.Context(), s.Principal(r), r.PathValue("id"))
	if err != nil {
		return err
	}
	expires, err := time.Parse(time.DateOnly, r.PostForm.Get("expires"))
	if err != nil {
		expires = time.Time{} // which is refused with the reason
	}
	_, err = s.AgentSettings.Pin(r.Context(), s.Principal(r), a.CardOrigin(), r.PostForm.Get("key"), r.PostForm.Get("keyId"), expires)
	if err == nil {
		return moved(w, r, "/agents/"+a.ID+"/trust")
	}
	if fault.KindOf(err) != fault.Unprocessable {
		return err
	}
	p := views.TrustPage{Agent: a, Entered: map[string]string{}, Problem: fault.Public(err).Message, Errors: faultsOf(err)}
	p.Errors["expires"] = p.Errors["expiresAt"]
	for _, name := range []string{"key", "keyId", "expires"} {
		p.Entered[name] = r.PostForm.Get(name)
	}
	return s.trustPage(w, r, http.StatusUnprocessableEntity, p)
}

// trustRemove removes a pinned key.
func (s *server) trustRemove(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	if err := s.AgentSettings.Unpin(r.Context(), s.Principal(r), r.PathValue("pin")); err != nil {
		return err
	}
	return moved(w, r, "/agents/"+id+"/trust")
}

// faultsOf returns the faults of single inputs by their locations.
func faultsOf(err error) map[string]string {
	faults := map[string]string{}
	for _, f := range fault.Public(err).Fields {
		faults[f.Location] = f.Message
	}
	return faults
}
