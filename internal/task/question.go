package task

import (
	"strings"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/a2a"
)

// Why a valid form is data.
const (
	notAdvertised = "The agent's card does not list the structured form extension (" + form.URI + ") in capabilities.extensions, so its forms are shown as data."
	notInput      = "A form is drawn while the task's state is TASK_STATE_INPUT_REQUIRED, in no other, so this is shown as data."
)

// QuestionOf reads the question in the status message of a task in this state.
// advertises says whether the agent's latest stored card lists the structured form
// extension.
func QuestionOf(m Message, state a2a.State, advertises bool) *Question {
	q := &Question{MessageID: m.ID, Prompt: promptOf(m.Parts), Parts: m.Parts, FormPart: -1}
	q.Form, q.FormPart, q.NotForm = findForm(m.Parts, whyNoForm(state, advertises))
	return q
}

// whyNoForm is why no form at all is drawn, or "".
func whyNoForm(state a2a.State, advertises bool) string {
	switch {
	case !advertises:
		return notAdvertised
	case state != a2a.StateInputRequired:
		return notInput
	}
	return ""
}

// FormDefinition returns the JSON of the definition that is drawn, or nil.
func (q *Question) FormDefinition() []byte {
	if q == nil || q.FormPart < 0 {
		return nil
	}
	return q.Parts[q.FormPart].Data
}

func promptOf(parts []a2a.Part) string {
	var texts []string
	for _, p := range parts {
		if p.Text != nil {
			texts = append(texts, *p.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// findForm returns the first valid form among the parts, its index, and why the
// parts before it that mean to be a form are none. never is why none is, or "".
func findForm(parts []a2a.Part, never string) (*form.Form, int, []form.Note) {
	var why []form.Note
	for i, p := range parts {
		if p.Data == nil || !form.IsMediaType(p.MediaType) {
			continue
		}
		if never != "" {
			return nil, -1, []form.Note{{Message: never}}
		}
		drawn, err := form.Parse(p.Data)
		if err == nil {
			return drawn, i, nil
		}
		why = append(why, form.Inspect(p.Data).Reasons...)
	}
	return nil, -1, why
}
