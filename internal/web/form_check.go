package web

import (
	"net/http"

	"github.com/a-h/templ"

	"github.com/agent-taskbay/taskbay/internal/web/formview"
	"github.com/agent-taskbay/taskbay/internal/web/views"
)

// formCheck is the page on which authors of agents check a definition.
func (s *server) formCheck(w http.ResponseWriter, r *http.Request) error {
	return formview.CheckHandler{Render: s.framed}.Handle(w, r)
}

// framed puts a body that is made elsewhere into the frame of the form check.
func (s *server) framed(w http.ResponseWriter, r *http.Request, body templ.Component) error {
	frame, err := s.shell(r, "Form check", sectionFormCheck)
	if err != nil {
		return err
	}
	frame.WithSheets(formview.StyleSheet, formview.CheckStyleSheet)
	frame.Modules = append(frame.Modules, formview.CheckModule)
	return page(r.Context(), w, http.StatusOK, views.Framed(frame, body))
}
