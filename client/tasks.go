package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// TaskSummary is a task as a list has it.
type TaskSummary struct {
	ID           string    `json:"id"`
	RemoteTaskID string    `json:"remoteTaskId"` // the agent's own; "" until it has answered
	AgentID      string    `json:"agentId"`
	AgentName    string    `json:"agentName"`
	Tenant       string    `json:"tenant"`
	SkillID      string    `json:"skillId,omitempty"` // that it is held to; "" if none
	ContextID    string    `json:"contextId"`
	Kind         string    `json:"kind"`  // task, or message if the agent answered directly
	State        string    `json:"state"` // an A2A 1.0 name such as TASK_STATE_WORKING, or what the agent sent instead
	Title        string    `json:"title"`
	Version      int64     `json:"version"` // grows with every change
	CreatedAt    time.Time `json:"createdAt"`
	UpdatedAt    time.Time `json:"updatedAt"`
}

// Task is everything about one task.
type Task struct {
	TaskSummary
	Push         *Push        `json:"push,omitempty"`
	CheckError   string       `json:"checkError,omitempty"`  // why it could not be found out how the task stands
	ForgottenAt  *time.Time   `json:"forgottenAt,omitempty"` // since when the agent does not know the task
	PurgedAt     *time.Time   `json:"purgedAt,omitempty"`
	HistoryLacks bool         `json:"historyLacks,omitempty"`
	Cut          *Cut         `json:"cut,omitempty"`
	Messages     []Message    `json:"messages"`
	Artifacts    []Artifact   `json:"artifacts"`
	Transitions  []Transition `json:"transitions"`
	Question     *Question    `json:"question,omitempty"` // there while the task waits and nobody has answered
}

// Ended reports whether the task is in a state that it stays in.
func (t TaskSummary) Ended() bool {
	switch t.State {
	case "TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED", "TASK_STATE_REJECTED":
		return true
	}
	return false
}

// Push says how far an agent was asked to push what happens on a task.
type Push struct {
	State   string     `json:"state"` // wanted, registered, failed, removing or removed
	LastAt  *time.Time `json:"lastAt,omitempty"`
	Problem string     `json:"problem,omitempty"`
}

// Cut is what is not kept of what an agent sent about a task.
type Cut struct {
	Observations int64 `json:"observations"`
	Bytes        int64 `json:"bytes"`
}

// Message is one message of a task's conversation.
type Message struct {
	ID    string    `json:"id"`
	Role  string    `json:"role"` // user or agent
	Parts []Part    `json:"parts"`
	At    time.Time `json:"at"`
}

// Artifact is one output of the agent's work.
type Artifact struct {
	ArtifactID  string `json:"artifactId"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Parts       []Part `json:"parts"`
	Complete    bool   `json:"complete"`
}

// Transition is one change of a task's state.
type Transition struct {
	State string    `json:"state"`
	At    time.Time `json:"at"`
}

// Question is what a waiting task asks.
type Question struct {
	MessageID string `json:"messageId"`
	Prompt    string `json:"prompt"`
	Parts     []Part `json:"parts"`
	Form      *Form  `json:"form,omitempty"`    // the form to fill in, if there is one
	NotForm   []Note `json:"notForm,omitempty"` // why a part that means to be a form is not one
}

// Part is one part of a message or an artifact: it has one of Text, Data, URL and
// Artifact, unless it is of a kind that is not known.
type Part struct {
	Text      *string         `json:"text,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"` // as the agent sent it
	URL       *string         `json:"url,omitempty"`
	Artifact  *Blob           `json:"artifact,omitempty"`
	MediaType string          `json:"mediaType,omitempty"`
	Filename  string          `json:"filename,omitempty"`
	Metadata  json.RawMessage `json:"metadata,omitempty"`

	Raw json.RawMessage `json:"-"` // the whole part as the server sent it
}

// UnmarshalJSON reads a part, of whatever kind, and keeps the whole of it as well.
func (p *Part) UnmarshalJSON(raw []byte) error {
	type plain Part
	if err := json.Unmarshal(raw, (*plain)(p)); err != nil {
		return err
	}
	p.Raw = append(p.Raw[:0:0], raw...)
	return nil
}

// Blob names bytes that are kept outside the part; Download gets them.
type Blob struct {
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
	Limit  int64  `json:"limit,omitempty"` // there if the bytes were not kept, as they were more than these
}

// TaskFilter narrows a list of tasks; zero members narrow nothing.
type TaskFilter struct {
	State    string // a state of A2A 1.0
	AgentID  string
	Text     string // in titles and messages
	PageSize int    // how many to ask for at once, at most 100; 0 is 50
}

// TaskPage is one page of a list of tasks.
type TaskPage struct {
	Items []TaskSummary
	Next  string // the cursor of the next page; "" on the last
}

// TaskPage returns one page of the tasks that the caller may see, newest change
// first: the first page for the cursor "".
func (c *Client) TaskPage(ctx context.Context, f TaskFilter, cursor string) (TaskPage, error) {
	query := queryOf(map[string]string{"state": f.State, "agentId": f.AgentID, "q": f.Text})
	items, next, err := fetchPage[TaskSummary](ctx, c, "/tasks", query, cursor, f.PageSize)
	return TaskPage{items, next}, err
}

// Tasks returns all tasks that the caller may see, newest change first, page by page
// as they are taken. An error is the last thing that it yields.
func (c *Client) Tasks(ctx context.Context, f TaskFilter) iter.Seq2[TaskSummary, error] {
	return pages(func(cursor string) ([]TaskSummary, string, error) {
		p, err := c.TaskPage(ctx, f, cursor)
		return p.Items, p.Next, err
	})
}

// fetchPage gets the page of a list that begins at cursor, and where the next one
// begins: "" for the first page, and behind the last. A size of 0 leaves it to the server.
func fetchPage[T any](ctx context.Context, c *Client, path string, query url.Values, cursor string, size int) (items []T, next string, err error) {
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	if size != 0 {
		query.Set("limit", strconv.Itoa(size))
	}
	list, err := fetch[page[T]](ctx, c, call{method: http.MethodGet, path: path, query: query})
	if err == nil && list.Next != nil {
		next = *list.Next
	}
	return list.Items, next, err
}

// pages yields the items of one page after the other.
func pages[T any](read func(cursor string) (items []T, next string, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for cursor := ""; ; {
			items, next, err := read(cursor)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if next == "" {
				return
			}
			cursor = next
		}
	}
}

// Task returns everything about a task.
func (c *Client) Task(ctx context.Context, id string) (Task, error) {
	return fetch[Task](ctx, c, call{method: http.MethodGet, path: pathOf("/tasks/{}", id)})
}

// RefreshTask has the agent asked how a task stands, now rather than when it is due,
// and returns the task as it is before.
func (c *Client) RefreshTask(ctx context.Context, id string) (Task, error) {
	return fetch[Task](ctx, c, call{method: http.MethodPost, path: pathOf("/tasks/{}/refresh", id)})
}

// WaitTask returns a task once it is as is says, and looks again at each change. It
// waits until then or until ctx ends.
func (c *Client) WaitTask(ctx context.Context, id string, is func(Task) bool) (Task, error) {
	for _, err := range c.WatchTask(ctx, id, 0) {
		if err != nil {
			return Task{}, err
		}
		t, err := c.Task(ctx, id)
		if err != nil || is(t) {
			return t, err
		}
	}
	return Task{}, ctx.Err() // the events end with an error
}
