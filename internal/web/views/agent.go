package views

import (
	"strings"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/web/formview"
)

// AgentsPage is the catalogue.
type AgentsPage struct {
	Shell   Shell
	Agents  []agent.Agent
	Lacking map[string]bool // agents, by ID, that need a credential and have none
	Welcome *Welcome        // what to click first; nil if it is not to be shown

	Choosing bool // whoever looks wants to start a task with one of them
}

// NewAgentPage is where an agent is added.
type NewAgentPage struct {
	Shell Shell
	URL   string // what was entered
	Error string // why it was not accepted
}

// AgentPage is one agent, with the start of a task.
type AgentPage struct {
	Shell     Shell
	Agent     agent.Agent
	Access    Access
	Reach     access.Reach // of whoever looks
	Composer  Composer
	StartForm *formview.Open // the start form, if the agent offers a valid one
	WithForm  bool           // the form is shown rather than the composer
	FormNotes []form.Note    // why the card's start form is not offered
	Already   bool           // it was to be added and was there
	Problem   string         // why an action failed
}

func healthLook(h agent.Health) look {
	switch h.Status {
	case agent.HealthReachable:
		return look{"done", "done", "Reachable"}
	case agent.HealthUnreachable:
		return look{"failed", "failed", "Not reachable"}
	case agent.HealthMismatch:
		return look{"waiting", "alert", "New card not accepted"}
	}
	return look{"unknown", "unknown", "Not checked yet"}
}

// understands lists what the console gives meaning to, of what the agent
// advertises.
func understands(a agent.Agent) string {
	var names []string
	for _, e := range a.Card.Extensions {
		if agent.Understood(e.URI) {
			names = append(names, extensionName(e.URI))
		}
	}
	return strings.Join(names, ", ")
}

func extensionName(uri string) string {
	if uri == form.URI {
		return "Structured form"
	}
	return uri
}

// Unmet returns the first extension that the agent requires and the console does
// not understand, or "".
func Unmet(a agent.Agent) string {
	for _, e := range unmet(a) {
		return e.URI
	}
	return ""
}

// unmet lists the extensions that the agent requires and the console does not
// understand.
func unmet(a agent.Agent) []agent.Extension {
	var list []agent.Extension
	for _, e := range a.Card.Extensions {
		if e.Required && !agent.Understood(e.URI) {
			list = append(list, e)
		}
	}
	return list
}

// chosen returns the interface that is used, or why there is none.
func chosen(a agent.Agent) (i remote.Interface, why string) {
	i, err := a.Chosen()
	if err != nil {
		return i, err.Error()
	}
	return i, ""
}

type findingGroup struct {
	title    string
	kind     string
	findings []agent.Finding
}

// findingGroups orders the findings by what they mean for the agent's author.
func findingGroups(all []agent.Finding) []findingGroup {
	groups := []findingGroup{
		{title: "Errors", kind: "danger"},
		{title: "Warnings", kind: "warning"},
		{title: "Good to know", kind: "info"},
	}
	at := map[agent.Severity]int{agent.Error: 0, agent.Warning: 1}
	for _, f := range all {
		i, ok := at[f.Severity]
		if !ok {
			i = 2
		}
		groups[i].findings = append(groups[i].findings, f)
	}
	return groups
}

func modes(list []string) string {
	if len(list) == 0 {
		return "Not stated"
	}
	return strings.Join(list, ", ")
}

func pointer(path string) string {
	if path == "" {
		return "(whole card)"
	}
	return path
}

func yesNo(b bool) string {
	if b {
		return "Yes"
	}
	return "No"
}

func or(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

func extensionTitle(e agent.Extension) string {
	if agent.Understood(e.URI) {
		return extensionName(e.URI)
	}
	return "Extension"
}
