package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/credential"
	"github.com/agent-taskbay/taskbay/internal/web/formview"
	"github.com/agent-taskbay/taskbay/internal/web/views"
)

func (s *server) agentShow(w http.ResponseWriter, r *http.Request) error {
	a, err := s.Agents.Get(r.Context(), s.Principal(r), r.PathValue("id"))
	if err != nil {
		return err
	}
	query := r.URL.Query()
	start := startAttempt{withForm: query.Get("start") == "form", text: skillExample(a, query.Get("example"))}
	return s.agentPage(w, r, http.StatusOK, a, start)
}

// startAttempt is what stands in the controls that start a task, and why the
// last attempt failed.
type startAttempt struct {
	withForm bool
	text     string
	skill    string         // that was chosen
	problem  string         // about the text
	post     *formview.Post // of the form
	errors   form.Errors    // about the form's fields
	notice   string         // about neither
}

func (s *server) agentPage(w http.ResponseWriter, r *http.Request, status int, a agent.Agent, start startAttempt) error {
	frame, err := s.shell(r, a.Name, sectionAgents)
	if err != nil {
		return err
	}
	frame.WithSheets("task.css", "agent.css")
	var history []credential.Binding
	if frame.Administers {
		if history, err = s.Credentials.History(r.Context(), s.Principal(r), a.ID); err != nil {
			return err
		}
	}
	reach, err := s.Agents.Reach(r.Context(), s.Principal(r), a.ID)
	if err != nil {
		return err
	}
	found, err := s.access(r.Context(), s.Principal(r), a, history)
	if err != nil {
		return err
	}
	action := "/agents/" + a.ID + "/tasks"
	p := views.AgentPage{
		Shell: frame, Agent: a, Access: found, Reach: reach, WithForm: start.withForm, Problem: start.notice,
		Already: r.URL.Query().Has("already"),
		Composer: views.Composer{
			Action: action, Key: uuid.NewString(), Button: "Start task", Unmet: views.Unmet(a),
			Text: start.text, Error: start.problem, Draft: "agent:" + a.ID,
			Skills: operable(a, reach), Skill: start.skill, General: reach.Operates(""),
		},
	}
	drawn, notes := startForm(a)
	p.FormNotes = notes
	if drawn != nil && (p.Composer.General || len(p.Composer.Skills) == 1) {
		if !p.Composer.General {
			action += "?skill=" + url.QueryEscape(p.Composer.Skills[0].ID)
		}
		p.Shell.WithForms()
		p.StartForm = &formview.Open{
			Form: drawn, Action: action, Key: uuid.NewString(), Scope: a.ID,
			Post: start.post, Errors: start.errors,
		}
	}
	return page(r.Context(), w, status, views.Agent(p))
}

// operable returns the skills of an agent that somebody may send by.
func operable(a agent.Agent, reach access.Reach) []agent.Skill {
	var may []agent.Skill
	for _, skill := range a.RoutedSkills() {
		if reach.Operates(skill.ID) {
			may = append(may, skill)
		}
	}
	return may
}

// startForm returns the start form of an agent's card, or why a definition that
// is there is not drawn.
func startForm(a agent.Agent) (*form.Form, []form.Note) {
	extension, ok := a.Card.Extension(form.URI)
	if !ok {
		return nil, nil
	}
	var params struct {
		StartForm json.RawMessage `json:"startForm"`
	}
	if err := json.Unmarshal(extension.Params, &params); err != nil || params.StartForm == nil {
		return nil, nil
	}
	drawn, err := form.Parse(params.StartForm)
	var rejected *form.RejectedError
	if errors.As(err, &rejected) {
		return nil, rejected.Reasons
	}
	return drawn, nil
}

// skillExample returns the example of a skill by its place: "1.0" is the first
// example of the second skill. It returns "" for any other text.
func skillExample(a agent.Agent, place string) string {
	first, second, _ := strings.Cut(place, ".")
	i, err := strconv.Atoi(first)
	if err != nil || i < 0 || i >= len(a.Card.Skills) {
		return ""
	}
	examples := a.Card.Skills[i].Examples
	j, err := strconv.Atoi(second)
	if err != nil || j < 0 || j >= len(examples) {
		return ""
	}
	return examples[j]
}
