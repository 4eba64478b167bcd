package web

import (
	"net/http"
	"slices"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/web/views"
)

// agentSight says who can see an agent, and is where that is granted.
func (s *server) agentSight(w http.ResponseWriter, r *http.Request) error {
	return s.sightPage(w, r, http.StatusOK, views.SightPage{Entered: views.EnteredGrant{Permission: access.Read}})
}

// sightPage completes a page with all that is granted on its agent, and shows it.
func (s *server) sightPage(w http.ResponseWriter, r *http.Request, status int, p views.SightPage) (err error) {
	ctx, by := r.Context(), s.Principal(r)
	if p.Agent, err = s.Agents.Get(ctx, by, r.PathValue("id")); err != nil {
		return err
	}
	if p.Sights, err = s.Grants.OfAgent(ctx, by, p.Agent.ID); err != nil {
		return err
	}
	grants, err := s.Grants.List(ctx, by)
	if err != nil {
		return err
	}
	p.Grants = slices.DeleteFunc(grants, func(g access.Grant) bool { return g.AgentID != p.Agent.ID })
	if p.Teams, err = s.Teams.List(ctx, by); err != nil {
		return err
	}
	if p.Members, err = s.Members.List(ctx, by); err != nil {
		return err
	}
	if p.Shell, err = s.settingsShell(r, "Access to "+p.Agent.Name); err != nil {
		return err
	}
	p.Shell.Section, p.SignsIn = sectionAgents, s.signsIn()
	return page(ctx, w, status, views.AgentSight(p))
}
