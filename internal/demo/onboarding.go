package demo

import (
	"context"
	"encoding/json"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/agent-taskbay/taskbay/form"
)

// nested is a definition that the rules reject: a field may not hold an object.
// A console shows it as data, and the person answers in words.
const nested = `{
	"title": "New colleague",
	"schema": {
		"type": "object",
		"properties": {
			"name": {"type": "string", "title": "Name"},
			"address": {
				"type": "object",
				"title": "Home address",
				"properties": {"street": {"type": "string"}, "city": {"type": "string"}}
			}
		},
		"required": ["name"]
	}
}`

func newOnboardingBot(Options) (*bot, error) {
	return &bot{
		Variant: Variant{
			Name:        Invalid,
			Title:       "Onboarding bot",
			Description: "Welcomes new colleagues. Its form has an address inside the form, which the rules do not allow: see what is shown instead, and answer in words.",
		},
		skills: []a2a.AgentSkill{{
			ID:          "onboard",
			Name:        "Onboard a colleague",
			Description: "Prepares accounts and a desk for somebody who starts soon. Asks for name and address.",
			Tags:        []string{"people", "onboarding"},
			Examples:    []string{"Prepare everything for our new colleague"},
		}},
		extensions: []a2a.AgentExtension{{URI: form.URI, Description: "Asks for name and address with a form."}},
		start: func(_ context.Context, t *turn) {
			t.ask("Who is joining, and where do they live?", json.RawMessage(nested), true)
		},
		resume: func(_ context.Context, t *turn) {
			t.complete("Thank you. Everything will be ready on the first day.")
		},
	}, nil
}
