package web

import (
	"net/http"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/web/views"
)

func (s *server) interfaceShow(w http.ResponseWriter, r *http.Request) error {
	a, err := s.Agents.Get(r.Context(), s.Principal(r), r.PathValue("id"))
	if err != nil {
		return err
	}
	chosen, _ := a.Chosen() // an agent without one is why somebody comes here
	return s.interfacePage(w, r, http.StatusOK, views.InterfacePage{Agent: a, Entered: chosen})
}

func (s *server) interfacePage(w http.ResponseWriter, r *http.Request, status int, p views.InterfacePage) error {
	var err error
	if p.Shell, err = s.shell(r, "Interface of "+p.Agent.Name, sectionAgents); err != nil {
		return err
	}
	return page(r.Context(), w, status, views.Interface(p))
}

// interfaceSet chooses the interface that an agent is called by, or leaves it to
// the card again.
func (s *server) interfaceSet(w http.ResponseWriter, r *http.Request) error {
	if err := posted(w, r); err != nil {
		return err
	}
	a, err := s.Agents.Get(r.Context(), s.Principal(r), r.PathValue("id"))
	if err != nil {
		return err
	}
	binding, version, _ := strings.Cut(r.PostForm.Get("binding"), " ")
	entered := &remote.Interface{Binding: binding, ProtocolVersion: version, URL: r.PostForm.Get("url"), Tenant: r.PostForm.Get("tenant")}
	if r.PostForm.Has("reset") {
		entered = nil
	}
	_, err = s.AgentSettings.SetInterface(r.Context(), s.Principal(r), a.ID, entered)
	if fault.KindOf(err) == fault.Unprocessable {
		p := views.InterfacePage{Agent: a, Entered: *entered, Problem: fault.Public(err).Message, Errors: faultsOf(err)}
		return s.interfacePage(w, r, http.StatusUnprocessableEntity, p)
	}
	if err != nil {
		return err
	}
	return moved(w, r, "/agents/"+a.ID)
}
