package web

import "net/http"

// taskRefresh has the agent asked about a task now. What it says is seen on the
// task's page.
func (s *server) taskRefresh(w http.ResponseWriter, r *http.Request) error {
	if err := s.Checks.CheckNow(r.Context(), s.Principal(r), r.PathValue("id")); err != nil {
		return err
	}
	return moved(w, r, "/tasks/"+r.PathValue("id"))
}
