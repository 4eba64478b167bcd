package web

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/task"
	"github.com/agent-taskbay/taskbay/internal/web/formview"
	"github.com/agent-taskbay/taskbay/internal/web/views"
)

func (s *server) taskShow(w http.ResponseWriter, r *http.Request) error {
	t, err := s.Tasks.Get(r.Context(), s.Principal(r), r.PathValue("id"))
	if err != nil {
		return err
	}
	if t.ID != r.PathValue("id") {
		return moved(w, r, "/tasks/"+t.ID)
	}
	return s.taskPage(w, r, http.StatusOK, t, reply{text: textOf(t, r.URL.Query().Get("again"))})
}

// reply is what stands in the controls of a task's page, and why the last
// attempt to send it failed.
type reply struct {
	text        string
	textProblem string
	post        *formview.Post // of the question's form
	postForm    *form.Form     // that was posted; nil if it is not known
	errors      form.Errors    // about its fields
	notice      string         // about the answer as a whole, or a cancel
}

func (s *server) taskPage(w http.ResponseWriter, r *http.Request, status int, t task.Task, entered reply) error {
	frame, err := s.shell(r, views.StateAndTitle(t), sectionTasks)
	if err != nil {
		return err
	}
	a, err := s.Agents.Get(r.Context(), s.Principal(r), t.AgentID)
	if err != nil {
		return err
	}
	reach, err := s.Agents.Reach(r.Context(), s.Principal(r), t.AgentID)
	if err != nil {
		return err
	}
	frame.Live = fmt.Sprintf("/tasks/%s/events?seen=%d", t.ID, t.Version)
	frame.WithSheets("task.css", "audit.css")
	frame.WithForms()
	p := views.TaskPage{
		Shell: frame, Task: t, Problem: entered.notice, CancelID: uuid.NewString(),
		Question: openForm(t), ReadOnly: !reach.Operates(t.SkillID),
		Composer: views.Composer{
			Action: "/tasks/" + t.ID + "/messages", Key: uuid.NewString(), Button: "Send", Unmet: views.Unmet(a),
			Text: entered.text, Error: entered.textProblem, Draft: "task:" + t.ID,
		},
	}
	if p.Trail, err = s.latestDeeds(r.Context(), s.Principal(r), t.ID); err != nil {
		return err
	}
	switch {
	case entered.post == nil:
	case p.Question != nil && p.Question.Question == entered.post.Question:
		p.Question.Post, p.Question.Errors = entered.post, entered.errors
	case entered.postForm != nil:
		p.Closed = &formview.Open{
			Form: entered.postForm, Scope: t.ID, Question: entered.post.Question, Post: entered.post, Closed: entered.notice,
		}
		p.Problem = ""
	}
	return page(r.Context(), w, status, views.Task(p))
}

// openForm returns the form of the question that is open, or nil.
func openForm(t task.Task) *formview.Open {
	if t.Question == nil || t.Question.Form == nil {
		return nil
	}
	return &formview.Open{
		Form:     t.Question.Form,
		Action:   "/tasks/" + t.ID + "/answer",
		Key:      uuid.NewString(),
		Question: t.Question.MessageID,
		Scope:    t.ID,
		Earlier:  earlierAnswer(t),
	}
}

// earlierAnswer returns the last answer to the question that is open, if it
// failed: what a person typed is not lost with it.
func earlierAnswer(t task.Task) *formview.Earlier {
	for _, m := range slices.Backward(t.Messages) {
		if m.Answers != t.Question.MessageID {
			continue
		}
		if m.Delivery == nil || m.AnswerTo == nil || command.Status(m.Delivery.Status) != command.Failed {
			return nil
		}
		why := "Your earlier answer was not sent: "
		if m.Delivery.Refused {
			why = "Your earlier answer was refused by the agent: "
		}
		for _, p := range m.Parts {
			if p.Data != nil {
				return &formview.Earlier{Name: m.ID, Data: p.Data, Why: why + m.Delivery.Error}
			}
		}
		return nil
	}
	return nil
}

// textOf returns the text of the message at a place of the timeline, for
// sending it once more.
func textOf(t task.Task, place string) string {
	seq, err := strconv.ParseInt(place, 10, 64)
	if err != nil {
		return ""
	}
	for _, m := range t.Messages {
		if m.Seq == seq && len(m.Parts) == 1 && m.Parts[0].Text != nil {
			return *m.Parts[0].Text
		}
	}
	return ""
}
