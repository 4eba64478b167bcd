package web

import (
	"encoding/json"
	"net/http"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/task"
	"github.com/agent-taskbay/taskbay/internal/web/formview"
)

// questionAnswer sends a filled-in form. Whether the question is still open is
// for the command service to say: a form that is sent twice with one key gets
// its first result again.
func (s *server) questionAnswer(w http.ResponseWriter, r *http.Request) error {
	post, err := formview.ReadPost(w, r)
	if err != nil {
		return err
	}
	t, err := s.Tasks.Get(r.Context(), s.Principal(r), r.PathValue("id"))
	if err != nil {
		return err
	}
	asked, open := askedForm(t, post.Question)
	answer := json.RawMessage("{}")
	if asked != nil {
		checked, errs := asked.Check(post.Entries(asked))
		if len(errs) > 0 && open {
			return s.answerRefused(w, r, post, asked, fieldFault(errs))
		}
		if len(errs) == 0 {
			answer = checked
		}
	}
	sent, err := s.Commands.Submit(r.Context(), s.Principal(r), t.AgentID, post.Key, command.Body{
		TaskID: t.ID, Answers: post.Question, Parts: answerParts(answer),
	})
	if err != nil {
		return s.answerRefused(w, r, post, asked, err)
	}
	return moved(w, r, "/tasks/"+sent.TaskID)
}

// askedForm returns the form of a question of the task, nil if there is none,
// and whether it is the open one. A question that was answered had the form that
// its answer was read by.
func askedForm(t task.Task, questionID string) (asked *form.Form, open bool) {
	if t.Question != nil && t.Question.MessageID == questionID {
		return t.Question.Form, true
	}
	for _, m := range t.Messages {
		if m.Answers == questionID && m.AnswerTo != nil {
			return m.AnswerTo, false
		}
	}
	for _, m := range t.Messages {
		if m.ID == questionID {
			return definedForm(m), false
		}
	}
	return nil, false
}

// definedForm returns the first valid form among the parts of a message.
func definedForm(m task.Message) *form.Form {
	for _, p := range m.Parts {
		if !form.IsMediaType(p.MediaType) {
			continue
		}
		if defined, err := form.Parse(p.Data); err == nil {
			return defined
		}
	}
	return nil
}

// answerRefused shows the task as it stands now, with everything that was
// entered.
func (s *server) answerRefused(w http.ResponseWriter, r *http.Request, post formview.Post, asked *form.Form, err error) error {
	if wantsJSON(r) || fault.KindOf(err) == fault.Internal {
		return err
	}
	t, problem := s.Tasks.Get(r.Context(), s.Principal(r), r.PathValue("id"))
	if problem != nil {
		return problem
	}
	public := fault.Public(err)
	entered := reply{post: &post, postForm: asked, errors: formErrors(public.Fields)}
	if len(entered.errors) == 0 {
		entered.notice = public.Message
	}
	return s.taskPage(w, r, public.Kind.Status(), t, entered)
}
