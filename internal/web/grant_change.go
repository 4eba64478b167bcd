package web

import (
	"net/http"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/web/views"
)

// grantChange changes what a grant permits, or whether it counts.
func (s *server) grantChange(w http.ResponseWriter, r *http.Request) error {
	if err := posted(w, r); err != nil {
		return err
	}
	if err := s.grantOfAgent(r); err != nil {
		return err
	}
	var permission *access.Permission
	if given := access.Permission(r.PostForm.Get("permission")); given != "" {
		permission = &given
	}
	var enabled *bool
	if given := r.PostForm.Get("enabled"); given != "" {
		yes := given == "yes"
		enabled = &yes
	}
	_, err := s.Grants.Change(r.Context(), s.Principal(r), r.PathValue("grant"), permission, enabled)
	if err == nil {
		return moved(w, r, sightPath(r))
	}
	status, faults, ok := toCorrect(err, nil)
	if !ok {
		return err
	}
	return s.sightPage(w, r, status, views.SightPage{
		Entered: views.EnteredGrant{Permission: access.Read}, Faults: views.Faults{Problem: faults.Problem},
	})
}

// grantRemove takes a grant back.
func (s *server) grantRemove(w http.ResponseWriter, r *http.Request) error {
	if err := s.grantOfAgent(r); err != nil {
		return err
	}
	if _, err := s.Grants.Remove(r.Context(), s.Principal(r), r.PathValue("grant")); err != nil {
		return err
	}
	return moved(w, r, sightPath(r))
}

// grantOfAgent is fault.NotFound unless the grant that a request names is on the agent
// that it names.
func (s *server) grantOfAgent(r *http.Request) error {
	g, err := s.Grants.Get(r.Context(), s.Principal(r), r.PathValue("grant"))
	if err == nil && g.AgentID != r.PathValue("id") {
		return fault.New(fault.NotFound, "There is no such grant on this agent.")
	}
	return err
}
