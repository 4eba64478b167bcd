package views

import (
	"fmt"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/a2a"
)

func dataCaption(p a2a.Part) string {
	if form.IsMediaType(p.MediaType) {
		return "Form definition, as data"
	}
	return captioned("Data", p)
}

func urlCaption(p a2a.Part) string { return captioned("Address from the agent, not opened", p) }

// captioned adds what a part says about itself to what it is.
func captioned(what string, p a2a.Part) string {
	if p.Filename != "" {
		what += " · " + clip(p.Filename, 80)
	}
	if p.MediaType != "" && p.MediaType != "application/json" {
		what += " · " + clip(p.MediaType, 80)
	}
	return what
}

func fileName(p a2a.Part) string {
	if p.Filename == "" {
		return "Unnamed file"
	}
	return clip(p.Filename, 120)
}

// oversizeCaption says why there is no file. The numbers are exact: rounded, a size
// just above the limit reads like the limit.
func oversizeCaption(p a2a.Part) string {
	return fmt.Sprintf("%d bytes, above the limit of %d, so it was not kept", p.Artifact.Size, p.Artifact.Limit)
}

func fileCaption(p a2a.Part) string {
	caption := byteSize(p.Artifact.Size)
	if p.MediaType != "" {
		caption += " · " + clip(p.MediaType, 80)
	}
	return caption
}
