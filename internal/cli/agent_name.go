package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/app"
)

// findAgent returns the agent that a person means: by its ID, the address of its
// card, or its name.
func findAgent(ctx context.Context, r *app.Record, named string) (agent.Agent, error) {
	return findAgentOf(ctx, r, operator(), named)
}

// findAgentOf is findAgent among those that somebody sees.
func findAgentOf(ctx context.Context, r *app.Record, p access.Principal, named string) (agent.Agent, error) {
	all, err := r.Agents.List(ctx, p)
	if err != nil {
		return agent.Agent{}, err
	}
	var found []agent.Agent
	for _, a := range all {
		if a.ID == named || a.CardURL == named {
			return a, nil
		}
		if strings.EqualFold(a.Name, named) {
			found = append(found, a)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return agent.Agent{}, &failure{exitUsage, fmt.Errorf("%d agents are named %s; name the one by its ID or the address of its card, as taskbay credential list and the agents' pages have them", len(found), oneLine(named))}
	}
	return agent.Agent{}, &failure{exitUsage, noAgent(named, all)}
}

const (
	maxSuggested     = 5  // agents
	maxSuggestedName = 60 // characters of each
)

// noAgent says that no agent is named so, and which ones there are: the closest.
func noAgent(named string, all []agent.Agent) error {
	if len(all) == 0 {
		return fmt.Errorf("there is no agent %s, nor any other; add one first", clipped(named))
	}
	distances := map[string]int{}
	var names []string
	for _, a := range all {
		names = append(names, clipped(a.Name))
		distances[clipped(a.Name)] = distance(strings.ToLower(clipped(named)), strings.ToLower(clipped(a.Name)))
	}
	if len(names) <= maxSuggested {
		return fmt.Errorf("there is no agent %s; there are: %s", clipped(named), strings.Join(names, ", "))
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(distances[a], distances[b]) })
	return fmt.Errorf("there is no agent %s among the %d; the closest are: %s", clipped(named), len(names), strings.Join(names[:maxSuggested], ", "))
}

// clipped is a name on one line and of a bounded length.
func clipped(name string) string {
	runes := []rune(oneLine(name))
	if len(runes) > maxSuggestedName {
		return string(runes[:maxSuggestedName]) + "…"
	}
	return string(runes)
}

// distance is how many characters have to be put in, taken out or replaced to make
// one text the other (Levenshtein).
func distance(a, b string) int {
	other := []rune(b)
	row := make([]int, len(other)+1) // of what has been seen of a, by how much of b
	for j := range row {
		row[j] = j
	}
	for _, r := range a {
		corner := row[0]
		row[0]++
		for j, o := range other {
			replaced := corner
			if r != o {
				replaced++
			}
			corner = row[j+1]
			row[j+1] = min(replaced, corner+1, row[j]+1)
		}
	}
	return row[len(other)]
}
