package web

import "net/http"

// credentialRevoke ends an agent's credential at once.
func (s *server) credentialRevoke(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	if err := s.Credentials.Revoke(r.Context(), s.Principal(r), id); err != nil {
		return err
	}
	return moved(w, r, "/agents/"+id+"/credential")
}
