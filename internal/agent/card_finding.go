package agent

import "fmt"

// Severity says how much a finding matters.
type Severity string

// The severities. An Error breaks the specification or costs a part of the card;
// a Warning was worked round, but other clients may not; an Info is good to know.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
)

// Finding is one remark about how a card keeps to the A2A specification, written
// for the author of the agent.
type Finding struct {
	Severity Severity `json:"severity"`
	Path     string   `json:"path"` // JSON Pointer into the card; "" is the whole card
	Message  string   `json:"message"`
	Section  string   `json:"section"` // of the A2A 1.0 specification, such as "4.4.6"
}

// Sections of the A2A 1.0 specification that findings refer to.
const (
	sectionCard         = "4.4.1"
	sectionProvider     = "4.4.2"
	sectionCapabilities = "4.4.3"
	sectionExtension    = "4.4.4"
	sectionSkill        = "4.4.5"
	sectionInterface    = "4.4.6"
	sectionSignature    = "4.4.7"
	sectionScheme       = "4.5.1"
	sectionVersioning   = "3.6"
	sectionTransport    = "7.1"
	sectionDeclaration  = "8.3.1"
)

const maxFindings = 200

// report collects the findings of one card, at most maxFindings of them.
type report struct {
	findings []Finding
	omitted  int
}

func (r *report) add(severity Severity, path, section, format string, args ...any) {
	if len(r.findings) == maxFindings {
		r.omitted++
		return
	}
	r.findings = append(r.findings, Finding{severity, path, fmt.Sprintf(format, args...), section})
}

// list returns the findings, with a last one for those that were too many.
func (r *report) list() []Finding {
	if r.omitted == 0 {
		return r.findings
	}
	return append(r.findings, Finding{Info, "", fmt.Sprintf("There is more to say about this card: %d remarks are not listed.", r.omitted), sectionCard})
}

// Score sums up how well a card keeps to the specification, from 100 for one
// without a fault down to 0.
func Score(findings []Finding) int {
	const perError, perWarning = 20, 5
	score := 100
	for _, f := range findings {
		switch f.Severity {
		case Error:
			score -= perError
		case Warning:
			score -= perWarning
		case Info:
		}
	}
	return max(score, 0)
}
