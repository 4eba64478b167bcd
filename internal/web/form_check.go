package web

import "net/http"

// formCheck is the page on which authors of agents check a definition.
func (s *server) formCheck(w http.ResponseWriter, r *http.Request) error {
	return nil
}
