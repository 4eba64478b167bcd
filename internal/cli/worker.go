package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/agent-taskbay/taskbay/internal/app"
	"github.com/agent-taskbay/taskbay/internal/config"
)

type workerCommand struct {
	config.Config `embed:""`
}

// Run works until ctx ends.
func (c workerCommand) Run(ctx context.Context, s Streams) (err error) {
	if c.DatabaseURL == "" {
		return &failure{exitUsage, errors.New("a worker needs --database-url: on SQLite one taskbay does everything")}
	}
	a, err := app.New(ctx, c.Config, app.Options{Log: newLog(c.Config, s), Version: version(), WorkerOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if _, err := fmt.Fprintln(s.Out, "A Taskbay worker is at work.   Stop: Ctrl-C"); err != nil {
		return err
	}
	return a.Run(ctx)
}
