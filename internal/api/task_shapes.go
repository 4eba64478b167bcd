package api

import (
	"time"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// TaskSummary is a task as a list has it.
type TaskSummary struct {
	ID           string    `json:"id" format:"uuid"`
	RemoteTaskID string    `json:"remoteTaskId" doc:"The agent's own ID; empty until it has answered."`
	AgentID      string    `json:"agentId" format:"uuid"`
	AgentName    string    `json:"agentName"`
	Tenant       string    `json:"tenant"`
	SkillID      string    `json:"skillId,omitempty" doc:"The skill that it is held to; absent if none."`
	ContextID    string    `json:"contextId"`
	Kind         string    `json:"kind" enum:"task,message" doc:"message: the agent answered directly, without a task."`
	State        string    `json:"state" doc:"An A2A 1.0 name such as TASK_STATE_INPUT_REQUIRED, or what the agent sent instead."`
	Title        string    `json:"title"`
	Version      int64     `json:"version" doc:"Grows with every change."`
	CreatedAt    time.Time `json:"createdAt"`
	UpdatedAt    time.Time `json:"updatedAt"`
}

// Cut is what is not kept of what an agent sent about a task.
type Cut struct {
	Observations int64 `json:"observations" doc:"How many things that the agent said are kept in part, or not at all."`
	Bytes        int64 `json:"bytes" doc:"Bytes of them that are not kept."`
}

// TaskList is a page of tasks, newest change first.
type TaskList struct {
	Items []TaskSummary `json:"items" nullable:"false"`
	Next  *string       `json:"next" doc:"The cursor of the next page; null on the last."`
}

// Task is everything about one task.
type Task struct {
	TaskSummary
	Push         *Push        `json:"push,omitempty" doc:"There if the agent was asked to push what happens."`
	CheckError   string       `json:"checkError,omitempty" doc:"Why it could not be found out how the task stands, the last time the agent was asked."`
	ForgottenAt  *time.Time   `json:"forgottenAt,omitempty" doc:"Since when the agent, asked again and again, says that it does not know the task; absent if it does. Such a task has no question."`
	PurgedAt     *time.Time   `json:"purgedAt,omitempty" doc:"When the raw record and the files of the task were purged; absent if they were not."`
	HistoryLacks bool         `json:"historyLacks,omitempty" doc:"Whether the agent's own history of the task lacks messages that it had got: it may have begun the task anew."`
	Cut          *Cut         `json:"cut,omitempty" doc:"There if the agent sent more about the task than is kept: what was left out."`
	Messages     []Message    `json:"messages" nullable:"false"`
	Artifacts    []Artifact   `json:"artifacts" nullable:"false"`
	Transitions  []Transition `json:"transitions" nullable:"false"`
	Question     *Question    `json:"question,omitempty" doc:"There while the task waits, nobody has answered and the agent knows it."`
}

// Push says how far an agent was asked to push what happens on a task.
type Push struct {
	State   string     `json:"state" enum:"wanted,registered,failed,removing,removed"`
	LastAt  *time.Time `json:"lastAt,omitempty" doc:"When something was pushed last."`
	Problem string     `json:"problem,omitempty" doc:"What went wrong last."`
}

// Message is one message of a task's conversation.
type Message struct {
	ID    string    `json:"id" doc:"The A2A messageId."`
	Role  string    `json:"role" enum:"user,agent"`
	Parts []Part    `json:"parts" nullable:"false"`
	At    time.Time `json:"at"`
}

// Artifact is one output of the agent's work.
type Artifact struct {
	ArtifactID  string `json:"artifactId"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Parts       []Part `json:"parts" nullable:"false"`
	Complete    bool   `json:"complete" doc:"Whether the agent said that nothing more of it comes."`
}

// Transition is one change of a task's state.
type Transition struct {
	State string    `json:"state"`
	At    time.Time `json:"at"`
}

// Question is what a waiting task asks.
type Question struct {
	MessageID string      `json:"messageId" doc:"Names the question in an answer: the command's answers."`
	Prompt    string      `json:"prompt" doc:"The text parts of the message."`
	Parts     []Part      `json:"parts" nullable:"false"`
	Form      *form.Form  `json:"form,omitempty" doc:"The form to fill in, if there is one that may be drawn."`
	NotForm   []form.Note `json:"notForm,omitempty" nullable:"false" doc:"Why a part that means to be a form is not one."`
}

func summaryShape(t task.Task) TaskSummary {
	return TaskSummary{
		ID:           t.ID,
		RemoteTaskID: t.RemoteTaskID,
		AgentID:      t.AgentID,
		AgentName:    t.AgentName,
		Tenant:       t.Tenant,
		SkillID:      t.SkillID,
		ContextID:    t.ContextID,
		Kind:         string(t.Kind),
		State:        string(t.State),
		Title:        t.Title,
		Version:      t.Version,
		CreatedAt:    t.CreatedAt.UTC(),
		UpdatedAt:    t.UpdatedAt.UTC(),
	}
}

func taskShape(t task.Task) Task {
	out := Task{
		TaskSummary: summaryShape(t),
		CheckError:  t.CheckError,
		Messages:    make([]Message, 0, len(t.Messages)),
		Artifacts:   make([]Artifact, 0, len(t.Artifacts)),
		Transitions: make([]Transition, 0, len(t.Transitions)),
	}
	out.HistoryLacks = t.HistoryLacks
	if t.Ledger.CutEvents > 0 {
		out.Cut = &Cut{Observations: t.Ledger.CutEvents, Bytes: t.Ledger.CutBytes}
	}
	if at := t.ForgottenAt.UTC(); !t.ForgottenAt.IsZero() {
		out.ForgottenAt = &at
	}
	if at := t.PurgedAt.UTC(); !t.PurgedAt.IsZero() {
		out.PurgedAt = &at
	}
	if t.Push != nil {
		out.Push = &Push{State: t.Push.State, Problem: t.Push.Problem}
		if at := t.Push.LastAt.UTC(); !at.IsZero() {
			out.Push.LastAt = &at
		}
	}
	for _, m := range t.Messages {
		out.Messages = append(out.Messages, Message{ID: m.ID, Role: string(m.Role), Parts: partShapes(m.Parts), At: m.At.UTC()})
	}
	for _, a := range t.Artifacts {
		out.Artifacts = append(out.Artifacts, Artifact{
			ArtifactID: a.ID, Name: a.Name, Description: a.Description, Parts: partShapes(a.Parts), Complete: a.Complete,
		})
	}
	for _, tr := range t.Transitions {
		out.Transitions = append(out.Transitions, Transition{State: string(tr.State), At: tr.At.UTC()})
	}
	if q := t.Question; q != nil {
		out.Question = &Question{
			MessageID: q.MessageID, Prompt: q.Prompt, Parts: partShapes(q.Parts), Form: q.Form, NotForm: q.NotForm,
		}
	}
	return out
}
