package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/task"
)

type (
	listTasks struct {
		State   string `query:"state" enum:"TASK_STATE_UNSPECIFIED,TASK_STATE_SUBMITTED,TASK_STATE_WORKING,TASK_STATE_COMPLETED,TASK_STATE_FAILED,TASK_STATE_CANCELED,TASK_STATE_INPUT_REQUIRED,TASK_STATE_REJECTED,TASK_STATE_AUTH_REQUIRED" doc:"A state of A2A 1.0. A state of an agent's own cannot be asked for."`
		AgentID string `query:"agentId" doc:"Local ID of an agent."`
		Query   string `query:"q" maxLength:"500" doc:"Text to find in titles and messages."`
		Cursor  string `query:"cursor" doc:"next of the page before."`
		Limit   int    `query:"limit" minimum:"1" maximum:"100" default:"50"`
	}
	taskPath struct {
		ID string `path:"id" doc:"Local ID of the task."`
	}
	tasksOut struct {
		Body TaskList
	}
	taskOut struct {
		Body Task
	}
)

func (s *server) registerTasks(api huma.API) {
	tags := []string{"Tasks"}
	huma.Register(api, needs(access.NeedRead, huma.Operation{
		OperationID: "list-tasks", Method: http.MethodGet, Path: "/tasks", Tags: tags,
		Summary:     "List tasks, newest change first",
		Description: "A search for a text looks at some thousand tasks at a time: a page of it may be empty, or short, though next is not null.",
		Responses:   failures(api),
	}), handle(s, "list-tasks", s.listTasks))
	huma.Register(api, needs(access.NeedRead, huma.Operation{
		OperationID: "get-task", Method: http.MethodGet, Path: "/tasks/{id}", Tags: tags,
		Summary: "Read everything about a task", Responses: failures(api, http.StatusNotFound),
	}), handle(s, "get-task", s.getTask))
	huma.Register(api, needs(access.NeedOperate, huma.Operation{
		OperationID: "refresh-task", Method: http.MethodPost, Path: "/tasks/{id}/refresh", Tags: tags,
		Summary:       "Ask the agent about a task now",
		Description:   "What it says is seen on the task, soon after. Of a task whose first message may or may not have arrived, the agent's newest tasks are searched for it. 409 if there is nothing to ask about.",
		DefaultStatus: http.StatusAccepted, Responses: failures(api, http.StatusNotFound, http.StatusConflict),
	}), handle(s, "refresh-task", s.refreshTask))
}

func (s *server) listTasks(ctx context.Context, p access.Principal, in *listTasks) (*tasksOut, error) {
	page, err := s.Tasks.List(ctx, p, task.Filter{
		State: a2a.State(in.State), AgentID: in.AgentID, Query: in.Query, Cursor: in.Cursor, Limit: in.Limit,
	})
	if err != nil {
		return nil, err
	}
	out := &tasksOut{Body: TaskList{Items: make([]TaskSummary, 0, len(page.Items))}}
	for _, t := range page.Items {
		out.Body.Items = append(out.Body.Items, summaryShape(t))
	}
	if page.Next != "" {
		out.Body.Next = &page.Next
	}
	return out, nil
}

func (s *server) refreshTask(ctx context.Context, p access.Principal, in *taskPath) (*taskOut, error) {
	if err := s.Checks.CheckNow(ctx, p, in.ID); err != nil {
		return nil, err
	}
	return s.getTask(ctx, p, in)
}

func (s *server) getTask(ctx context.Context, p access.Principal, in *taskPath) (*taskOut, error) {
	t, err := s.Tasks.Get(ctx, p, in.ID)
	if err != nil {
		return nil, err
	}
	return &taskOut{Body: taskShape(t)}, nil
}
