package web

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/web/formview"
)

const emptyMessage = "Write a message first."

// taskStart starts a task from the composer or from the agent's start form. What
// was entered stays if it cannot be started.
func (s *server) taskStart(w http.ResponseWriter, r *http.Request) error {
	post, err := formview.ReadPost(w, r)
	if err != nil {
		return err
	}
	a, err := s.Agents.Get(r.Context(), s.Principal(r), r.PathValue("id"))
	if err != nil {
		return err
	}
	if r.PostForm.Has("text") {
		return s.startByText(w, r, a, post.Key)
	}
	return s.startByForm(w, r, a, post)
}

func (s *server) startByText(w http.ResponseWriter, r *http.Request, a agent.Agent, key string) error {
	text := typedText(r)
	err := checkText(text)
	if err == nil {
		var sent command.Command
		if sent, err = s.Commands.Submit(r.Context(), s.Principal(r), a.ID, key, command.Body{Text: text, SkillID: chosenSkill(r)}); err == nil {
			return moved(w, r, "/tasks/"+sent.TaskID)
		}
	}
	if wantsJSON(r) || fault.KindOf(err) == fault.Internal {
		return err
	}
	public := fault.Public(err)
	return s.agentPage(w, r, public.Kind.Status(), a, startAttempt{text: text, skill: chosenSkill(r), problem: problemOf(public)})
}

func (s *server) startByForm(w http.ResponseWriter, r *http.Request, a agent.Agent, post formview.Post) error {
	drawn, _ := startForm(a)
	if drawn == nil {
		return fault.New(fault.Conflict, "The agent no longer offers this form, so nothing was sent. Open its page again to see what it offers now.")
	}
	answer, errs := drawn.Check(post.Entries(drawn))
	if len(errs) > 0 {
		return s.startRefused(w, r, a, post, fieldFault(errs))
	}
	body := command.Body{Parts: answerParts(answer), StartForm: true, SkillID: chosenSkill(r)}
	sent, err := s.Commands.Submit(r.Context(), s.Principal(r), a.ID, post.Key, body)
	if err != nil {
		return s.startRefused(w, r, a, post, err)
	}
	return moved(w, r, "/tasks/"+sent.TaskID)
}

func (s *server) startRefused(w http.ResponseWriter, r *http.Request, a agent.Agent, post formview.Post, err error) error {
	if wantsJSON(r) || fault.KindOf(err) == fault.Internal {
		return err
	}
	public := fault.Public(err)
	start := startAttempt{withForm: true, post: &post, errors: formErrors(public.Fields)}
	if len(start.errors) == 0 {
		start.notice = public.Message
	}
	return s.agentPage(w, r, public.Kind.Status(), a, start)
}

// chosenSkill is the skill that a new task is to be held to: of the composer, or in the
// address that a form posts to; "" for none.
func chosenSkill(r *http.Request) string {
	return cmp.Or(r.PostForm.Get("skill"), r.URL.Query().Get("skill"))
}

// problemOf is what a person is told under the composer.
func problemOf(public *fault.Error) string {
	for _, f := range public.Fields {
		if f.Location == "/skillId" {
			return f.Message
		}
	}
	return public.Message
}

// typedText is the text of the composer, with line ends as people type them.
func typedText(r *http.Request) string {
	return strings.ReplaceAll(r.PostForm.Get("text"), "\r\n", "\n")
}

func checkText(text string) error {
	if strings.TrimSpace(text) == "" {
		return fault.WithFields(emptyMessage, []fault.Field{{Location: "text", Message: emptyMessage}})
	}
	return nil
}

// answerParts is a filled-in form as the one part of a message.
func answerParts(answer json.RawMessage) []a2a.Part {
	return []a2a.Part{a2a.DataPart(answer, form.AnswerMediaType)}
}

// fieldFault is a form's errors as the services report them.
func fieldFault(errs form.Errors) error {
	fields := make([]fault.Field, len(errs))
	for i, e := range errs {
		fields[i] = fault.Field{Location: e.Key, Message: e.Message}
	}
	return fault.WithFields("Some answers need another look. Nothing was sent.", fields)
}

// formErrors is the way back.
func formErrors(fields []fault.Field) form.Errors {
	errs := make(form.Errors, len(fields))
	for i, f := range fields {
		errs[i] = form.FieldError{Key: f.Location, Message: f.Message}
	}
	return errs
}
