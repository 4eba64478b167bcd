package web

import (
	"net/http"

	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// messageSend sends the composer's text: to the task, or, if the person saw that
// the task has ended, as the first message of a new one in the same context.
func (s *server) messageSend(w http.ResponseWriter, r *http.Request) error {
	if err := posted(w, r); err != nil {
		return err
	}
	t, err := s.Tasks.Get(r.Context(), s.Principal(r), r.PathValue("id"))
	if err != nil {
		return err
	}
	body := command.Body{Text: typedText(r)}
	if r.PostForm.Has("anew") {
		if body, err = s.anew(r, t, body); err != nil {
			return err
		}
	} else {
		body.TaskID, body.Answers = t.ID, r.PostForm.Get("question")
	}
	err = checkText(body.Text)
	if err == nil {
		var sent command.Command
		if sent, err = s.Commands.Submit(r.Context(), s.Principal(r), t.AgentID, r.PostForm.Get("key"), body); err == nil {
			return moved(w, r, "/tasks/"+sent.TaskID)
		}
	}
	if wantsJSON(r) || fault.KindOf(err) == fault.Internal {
		return err
	}
	return s.messageRefused(w, r, fault.Public(err))
}

// anew makes a body one that starts a task beside another one: by its skill and in its
// context, but for those who start new contexts alone.
func (s *server) anew(r *http.Request, t task.Task, body command.Body) (command.Body, error) {
	reach, err := s.Agents.Reach(r.Context(), s.Principal(r), t.AgentID)
	if err != nil {
		return body, err
	}
	body.Tenant, body.SkillID = t.Tenant, t.SkillID
	if reach.Operates("") {
		body.ContextID = t.ContextID
	}
	return body, nil
}

// messageRefused shows the task as it stands now, with the text still in the
// composer.
func (s *server) messageRefused(w http.ResponseWriter, r *http.Request, public *fault.Error) error {
	t, err := s.Tasks.Get(r.Context(), s.Principal(r), r.PathValue("id"))
	if err != nil {
		return err
	}
	return s.taskPage(w, r, public.Kind.Status(), t, reply{text: typedText(r), textProblem: public.Message})
}
