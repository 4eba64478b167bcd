package web

import "net/http"

// agentRemove takes an agent out of the catalogue.
func (s *server) agentRemove(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	if err := s.AgentSettings.Remove(r.Context(), s.Principal(r), id); err != nil {
		return err
	}
	return moved(w, r, "/agents/"+id)
}
