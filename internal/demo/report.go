package demo

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/agent-taskbay/taskbay/form"
)

// reportWriter writes a report before one's eyes and then asks what to do with
// it.
type reportWriter struct {
	pause       func(context.Context) error
	publication form.Form
	definition  json.RawMessage
}

type publication struct {
	Audience string `json:"audience"`
	Subject  string `json:"subject"`
	Archive  bool   `json:"archive"`
}

func publicationForm() form.Form {
	return form.Form{
		Title:       "Publish the report",
		SubmitLabel: "Publish",
		Fields: []form.Field{
			{Key: "audience", Kind: form.Choice, Label: "Who should read it?", Required: true, Options: []form.Option{
				{Value: "team", Label: "The team"},
				{Value: "company", Label: "Everybody in the company"},
				{Value: "nobody", Label: "Nobody: keep it as a draft"},
			}},
			{Key: "subject", Kind: form.Text, Label: "Subject", Required: true, MinLength: new(3), MaxLength: new(120), Default: "The week in review"},
			{Key: "archive", Kind: form.Boolean, Label: "Keep a copy in the archive", Default: true},
		},
	}
}

// chunks are the pieces in which the report arrives. They cut across lines, as
// those of a language model do.
var chunks = []string{
	"The week in review\n\nUptime was 99.98",
	" %, the best of this quarter.\nThe one interruption, on Tuesday,",
	" lasted four minutes:\na certificate had run out.",
	" It renews itself from now on.\n\nThe new checkout is live",
	" for every tenth customer.\nThey finish 12 % more often",
	" and write 3 % fewer letters of complaint.",
	"\n\nNext week: the other nine",
	" of ten customers, and the summer party.\n",
}

func newReportWriter(options Options) (*bot, error) {
	w := &reportWriter{pause: options.Pause, publication: publicationForm()}
	var err error
	if w.definition, err = w.publication.Definition(); err != nil {
		return nil, err
	}
	return &bot{
		Variant: Variant{
			Name:        Slow,
			Title:       "Report writer",
			Description: "Takes its time: writes a report while you watch, then asks who should read it.",
		},
		skills: []a2a.AgentSkill{{
			ID:          "report",
			Name:        "Write the weekly report",
			Description: "Streams a short report as it is written and publishes it to the readers you choose.",
			Tags:        []string{"report", "streaming"},
			Examples:    []string{"Write the report of this week"},
		}},
		extensions:  []a2a.AgentExtension{{URI: form.URI, Description: "Asks for the readers with a form."}},
		prefersREST: true,
		start:       w.start,
		resume:      w.resume,
	}, nil
}

func (w *reportWriter) start(ctx context.Context, t *turn) {
	t.working("Writing the report.")
	var id a2a.ArtifactID
	for i, chunk := range chunks {
		if err := w.pause(ctx); err != nil {
			return
		}
		part := a2a.NewTextPart(chunk)
		part.MediaType = "text/plain"
		event := a2a.NewArtifactUpdateEvent(t, id, part)
		if i == 0 {
			event = a2a.NewArtifactEvent(t, part)
			event.Artifact.Name, event.Artifact.Description = "Report", "The report of this week."
			id = event.Artifact.ID
		}
		event.LastChunk = i == len(chunks)-1
		t.emit(event)
	}
	t.ask("The report is written. Who should read it?", w.definition, true)
}

func (w *reportWriter) resume(_ context.Context, t *turn) {
	answer := t.data()
	if answer == nil {
		t.ask("Please choose the readers in the form.", w.definition, true)
		return
	}
	var p publication
	if err := w.publication.DecodeAnswer(answer, &p); err != nil {
		t.ask("I cannot work with that answer: "+inWords(&w.publication, err)+" Please try again.", w.definition, true)
		return
	}
	if p.Audience == "nobody" {
		t.complete(fmt.Sprintf("Kept “%s” as a draft.", p.Subject))
		return
	}
	t.complete(fmt.Sprintf("Published “%s” for the %s.", p.Subject, p.Audience))
}
