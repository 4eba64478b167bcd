package demo

import (
	"context"
	_ "embed"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/agent-taskbay/taskbay/form"
)

// kitchenSink is a definition with all that is allowed and little that is kind.
// Invisible characters in it are written as escapes.
//
//go:embed kitchen-sink.json
var kitchenSink []byte

func newKitchenSink(Options) (*bot, error) {
	return &bot{
		Variant: Variant{
			Name:        KitchenSink,
			Title:       "Kitchen sink",
			Description: "Asks for everything at once: thirty fields of every kind, with texts that try to break the page. Sends your answer back as it arrived.",
		},
		skills: []a2a.AgentSkill{{
			ID:          "everything",
			Name:        "Ask for everything",
			Description: "Sends a form of thirty fields and returns the answer as an artifact.",
			Tags:        []string{"test", "form"},
			Examples:    []string{"Ask me everything"},
		}},
		extensions: []a2a.AgentExtension{{URI: form.URI, Description: "Asks with as large a form as there can be."}},
		start: func(_ context.Context, t *turn) {
			t.ask("Every kind of field, and every kind of mischief. Leave what you like, send when you are done.", kitchenSink, true)
		},
		resume: func(_ context.Context, t *turn) {
			answer := t.data()
			if answer == nil {
				t.ask("I only understand the form.", kitchenSink, true)
				return
			}
			t.artifact("Your answer", "The data part that I received, digit for digit.", dataPart(answer, "application/json"))
			t.complete("Thank you. Your answer is attached.")
		},
	}, nil
}
