package web

import "net/http"

// agentDiscover fetches an agent's card now. That it could not be fetched is
// told by the agent's page.
func (s *server) agentDiscover(w http.ResponseWriter, r *http.Request) error {
	a, err := s.Agents.Discover(r.Context(), s.Principal(r), r.PathValue("id"))
	if err != nil {
		return err
	}
	return moved(w, r, "/agents/"+a.ID)
}
