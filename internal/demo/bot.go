package demo

import (
	"context"
	"iter"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// bot is one sample agent: what its card says, and what it does with a message.
type bot struct {
	Variant
	skills      []a2a.AgentSkill
	extensions  []a2a.AgentExtension
	prefersREST bool // the card lists HTTP+JSON first

	start  func(context.Context, *turn) // a new task; its submission is told already
	resume func(context.Context, *turn) // an answer on a task that waits
}

// practice is the skill that all samples share: see executor.command.
var practice = a2a.AgentSkill{
	ID:          "practice",
	Name:        "Practice",
	Description: "Say “help” for a reply without a task, or “fail” to see what a failed task looks like.",
	Tags:        []string{"sample"},
	Examples:    []string{"help", "fail"},
}

// executor lets a bot run on the SDK's server.
type executor struct{ bot *bot }

// Execute hands a message to the bot. The SDK calls it once for each message.
func (e *executor) Execute(ctx context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		t := &turn{ExecutorContext: ec, yield: yield, open: true}
		if ec.StoredTask != nil {
			e.bot.resume(ctx, t)
			return
		}
		if e.command(t) {
			return
		}
		t.emit(a2a.NewSubmittedTask(ec, ec.Message))
		e.bot.start(ctx, t)
	}
}

// command answers the words that every sample knows.
func (e *executor) command(t *turn) bool {
	switch strings.ToLower(strings.Trim(t.text(), " \t\r\n.!?")) {
	case "help":
		t.emit(a2a.NewMessageForTask(a2a.MessageRoleAgent, a2a.TaskInfo{ContextID: t.ContextID}, a2a.NewTextPart(e.help())))
		return true
	case "fail":
		t.emit(a2a.NewSubmittedTask(t, t.Message))
		t.status(a2a.TaskStateFailed, a2a.NewTextPart("As you wish: this task has failed."))
		return true
	}
	return false
}

func (e *executor) help() string {
	lines := []string{e.bot.Description, "You could say:"}
	for _, skill := range e.bot.skills {
		for _, example := range skill.Examples {
			lines = append(lines, "– "+example)
		}
	}
	return strings.Join(lines, "\n")
}

// Cancel ends a task in whatever state it is. The SDK refuses terminal ones.
func (e *executor) Cancel(_ context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		t := &turn{ExecutorContext: ec, yield: yield, open: true}
		t.status(a2a.TaskStateCanceled, a2a.NewTextPart("Canceled. Nothing was done."))
	}
}
