package web

import (
	"net/http"

	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// taskCancel asks the agent to stop.
func (s *server) taskCancel(w http.ResponseWriter, r *http.Request) error {
	if err := posted(w, r); err != nil {
		return err
	}
	t, err := s.Tasks.Get(r.Context(), s.Principal(r), r.PathValue("id"))
	if err != nil {
		return err
	}
	_, err = s.Commands.Submit(r.Context(), s.Principal(r), t.AgentID, r.PostForm.Get("key"), command.Body{
		Action: command.Cancel, TaskID: t.ID,
	})
	if err == nil {
		return moved(w, r, "/tasks/"+t.ID)
	}
	if wantsJSON(r) || fault.KindOf(err) == fault.Internal {
		return err
	}
	public := fault.Public(err)
	return s.taskPage(w, r, public.Kind.Status(), t, reply{notice: public.Message})
}
