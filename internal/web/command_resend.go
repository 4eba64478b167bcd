package web

import "net/http"

// commandResend has a message sent again that may or may not have arrived.
func (s *server) commandResend(w http.ResponseWriter, r *http.Request) error {
	c, err := s.Commands.Resend(r.Context(), s.Principal(r), r.PathValue("id"))
	if err != nil {
		return err
	}
	return moved(w, r, "/tasks/"+c.TaskID)
}
