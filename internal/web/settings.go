package web

import (
	"net/http"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/web/views"
)

// settingsShow lists what an administrator can set.
func (s *server) settingsShow(w http.ResponseWriter, r *http.Request) error {
	if err := access.Allow(s.Principal(r), access.NeedAdminister); err != nil {
		return err
	}
	frame, err := s.shell(r, "Settings", sectionSettings)
	if err != nil {
		return err
	}
	return page(r.Context(), w, http.StatusOK, views.Settings(frame))
}
