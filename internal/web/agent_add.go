package web

import (
	"net/http"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

// agentAdd registers an agent by the address that was entered. An address that
// cannot be used stays in the field with the reason.
func (s *server) agentAdd(w http.ResponseWriter, r *http.Request) error {
	if err := posted(w, r); err != nil {
		return err
	}
	entered := r.PostForm.Get("cardUrl")
	a, created, err := s.Agents.Register(r.Context(), s.Principal(r), entered)
	switch kind := fault.KindOf(err); {
	case err == nil && created:
		return moved(w, r, "/agents/"+a.ID)
	case err == nil:
		return moved(w, r, "/agents/"+a.ID+"?already")
	case kind == fault.Invalid || kind == fault.Unprocessable:
		return s.agentNewPage(w, r, kind.Status(), entered, fault.Public(err).Message)
	default:
		return err
	}
}
