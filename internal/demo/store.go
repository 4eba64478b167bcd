package demo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
)

// store keeps the tasks of one agent in memory, for anybody. Unlike the SDK's
// own it forgets: the task that changed longest ago makes room for a new one.
type store struct {
	limit int

	mu     sync.Mutex
	tasks  map[a2a.TaskID]*storedTask
	change int64 // counts the changes of all tasks
}

type storedTask struct {
	task    *a2a.Task // never changed in place
	version taskstore.TaskVersion
	change  int64 // the store's count when this task last changed
}

func newStore(limit int) *store {
	return &store{limit: limit, tasks: map[a2a.TaskID]*storedTask{}}
}

// Create implements taskstore.Store.
func (s *store) Create(_ context.Context, task *a2a.Task) (taskstore.TaskVersion, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.tasks[task.ID]; ok {
		return taskstore.TaskVersionMissing, taskstore.ErrTaskAlreadyExists
	}
	if len(s.tasks) >= s.limit {
		delete(s.tasks, s.newestFirst()[len(s.tasks)-1].task.ID)
	}
	return s.put(task, 1), nil
}

// Update implements taskstore.Store.
func (s *store) Update(_ context.Context, update *taskstore.UpdateRequest) (taskstore.TaskVersion, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stored, ok := s.tasks[update.Task.ID]
	if !ok {
		return taskstore.TaskVersionMissing, a2a.ErrTaskNotFound
	}
	if update.PrevVersion != taskstore.TaskVersionMissing && update.PrevVersion != stored.version {
		return taskstore.TaskVersionMissing, taskstore.ErrConcurrentModification
	}
	return s.put(update.Task, stored.version+1), nil
}

func (s *store) put(task *a2a.Task, version taskstore.TaskVersion) taskstore.TaskVersion {
	s.change++
	s.tasks[task.ID] = &storedTask{task: shorten(copyTask(task), maxHistory), version: version, change: s.change}
	return version
}

// Get implements taskstore.Store.
func (s *store) Get(_ context.Context, id a2a.TaskID) (*taskstore.StoredTask, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stored, ok := s.tasks[id]
	if !ok {
		return nil, a2a.ErrTaskNotFound
	}
	return &taskstore.StoredTask{Task: copyTask(stored.task), Version: stored.version}, nil
}

// List implements taskstore.Store: newest change first. A page token is the
// count of the last change on the page before.
func (s *store) List(_ context.Context, r *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	size := r.PageSize
	if size == 0 {
		size = 50
	}
	before := int64(-1)
	if r.PageToken != "" {
		var err error
		if before, err = strconv.ParseInt(r.PageToken, 10, 64); err != nil {
			return nil, fmt.Errorf("unknown page token: %w", a2a.ErrInvalidParams)
		}
	}
	if size < 1 || size > 100 {
		return nil, fmt.Errorf("page size %d is not between 1 and 100: %w", size, a2a.ErrInvalidParams)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	page := &a2a.ListTasksResponse{Tasks: []*a2a.Task{}, PageSize: size}
	var last int64
	for _, stored := range s.newestFirst() {
		if !selected(stored.task, r) {
			continue
		}
		page.TotalSize++
		if before >= 0 && stored.change >= before {
			continue
		}
		if len(page.Tasks) == size {
			page.NextPageToken = strconv.FormatInt(last, 10)
			continue
		}
		page.Tasks = append(page.Tasks, listed(stored.task, r))
		last = stored.change
	}
	return page, nil
}

func (s *store) newestFirst() []*storedTask {
	return slices.SortedFunc(maps.Values(s.tasks), func(a, b *storedTask) int { return int(b.change - a.change) })
}

func selected(task *a2a.Task, r *a2a.ListTasksRequest) bool {
	switch {
	case r.ContextID != "" && r.ContextID != task.ContextID:
		return false
	case r.Status != a2a.TaskStateUnspecified && r.Status != task.Status.State:
		return false
	case r.StatusTimestampAfter != nil && task.Status.Timestamp != nil:
		return task.Status.Timestamp.After(*r.StatusTimestampAfter)
	}
	return true
}

func listed(task *a2a.Task, r *a2a.ListTasksRequest) *a2a.Task {
	task = copyTask(task)
	if !r.IncludeArtifacts {
		task.Artifacts = nil
	}
	if r.HistoryLength != nil {
		task = shorten(task, max(0, *r.HistoryLength))
	}
	return task
}

// shorten cuts the history of a task down to its last messages.
func shorten(task *a2a.Task, history int) *a2a.Task {
	if extra := len(task.History) - history; extra > 0 {
		task.History = slices.Clone(task.History[extra:])
	}
	return task
}

// copyTask copies as deep as the SDK changes tasks: it replaces messages and
// artifacts, and never changes one in place.
func copyTask(task *a2a.Task) *a2a.Task {
	result := *task
	result.History = slices.Clone(task.History)
	result.Artifacts = slices.Clone(task.Artifacts)
	result.Metadata = maps.Clone(task.Metadata)
	return &result
}
