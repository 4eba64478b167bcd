package demo

import (
	"context"
	"encoding/json"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// moodURI names an extension that exists nowhere else.
const moodURI = "urn:example:mood:v1"

func newWeatherDesk(Options) (*bot, error) {
	return &bot{
		Variant: Variant{
			Name:        Unknown,
			Title:       "Weather desk",
			Description: "Answers at once. Its card advertises an extension that nobody knows, which is listed and otherwise ignored.",
		},
		skills: []a2a.AgentSkill{{
			ID:          "forecast",
			Name:        "Tell the weather",
			Description: "Forecasts tomorrow’s weather in the bay, in words and as data.",
			Tags:        []string{"weather"},
			Examples:    []string{"How will the weather be tomorrow?"},
		}},
		extensions: []a2a.AgentExtension{{URI: moodURI, Description: "Says in which mood the forecast was made."}},
		start: func(_ context.Context, t *turn) {
			t.artifact("Forecast", "Tomorrow, as data.",
				dataPart(json.RawMessage(`{"place":"Taskbay","high":21.50,"low":14.00,"wind":"west","rain":false}`), "application/json"),
				dataPart(json.RawMessage(`{"mood":"sunny"}`), "application/vnd.example.mood+json"))
			t.complete("Tomorrow in the bay: fair, up to 21 °C, a light wind from the west.")
		},
		resume: func(_ context.Context, t *turn) { t.complete("It will still be fair.") },
	}, nil
}
