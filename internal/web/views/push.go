package views

import (
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// agentPushes says whether the agent pushes what happens on its tasks.
func agentPushes(a agent.Agent) string {
	switch {
	case !a.Card.PushNotifications:
		return "No"
	case a.PushProblem != "":
		return "Its card says so, but it does not. " + a.PushProblem
	}
	return "Yes, if Taskbay has a push origin"
}

// agentLists says whether the agent lists its tasks, which spares asking about each.
func agentLists(l agent.Listing) string {
	switch l.Status {
	case agent.ListingWorks:
		return "Yes"
	case agent.ListingRefused:
		return "No, so it is asked about each task. " + l.Problem
	case agent.ListingFails:
		return "Not as it should, so it is asked about each task. " + l.Problem
	case agent.ListingUnknown:
	}
	return "Not known yet: it is asked once a task has run for a minute"
}

// pushWords says in words what the agent pushes about a task.
func pushWords(p task.Push) string {
	words := map[string]string{
		"wanted":     "The agent is being asked to push what happens.",
		"registered": "The agent pushes what happens.",
		"failed":     "The agent does not push what happens, so it is asked.",
		"removing":   "The task is over; the agent is being told to push no more.",
		"removed":    "The task is over; nothing is pushed any more.",
	}[p.State]
	if p.Problem != "" {
		words += " " + p.Problem
	}
	return words
}
