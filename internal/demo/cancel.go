package demo

import (
	"context"
	"errors"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// How often and after how long a refused cancellation is tried again.
const (
	cancelAttempts = 100
	cancelPause    = 10 * time.Millisecond
)

// patientCanceler cancels tasks that have just begun to wait. For a moment after
// an agent has asked, the SDK still counts the task as running, sends the
// cancellation to a run that no longer listens, and calls the task not
// cancelable.
type patientCanceler struct {
	a2asrv.RequestHandler
	tasks *store
}

// CancelTask implements a2asrv.RequestHandler.
func (p patientCanceler) CancelTask(ctx context.Context, request *a2a.CancelTaskRequest) (*a2a.Task, error) {
	if _, err := p.tasks.Get(ctx, request.ID); err != nil {
		return nil, err // the SDK calls that a fault of the agent, in its log
	}
	for attempt := 1; ; attempt++ {
		task, err := p.RequestHandler.CancelTask(ctx, request)
		if !errors.Is(err, a2a.ErrTaskNotCancelable) || attempt == cancelAttempts || p.isOver(ctx, request.ID) {
			return task, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(cancelPause):
		}
	}
}

func (p patientCanceler) isOver(ctx context.Context, id a2a.TaskID) bool {
	stored, err := p.tasks.Get(ctx, id)
	return err != nil || stored.Task.Status.State.Terminal()
}
