package remote

import "context"

// Labels say what an exchange is for. They are not sent.
type Labels struct {
	TaskID    string // local UUID
	CommandID string
}

type labelsKey struct{}

// WithLabels returns a context whose exchanges are recorded with these labels.
func WithLabels(ctx context.Context, l Labels) context.Context {
	return context.WithValue(ctx, labelsKey{}, l)
}
