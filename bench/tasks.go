package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/agent-taskbay/taskbay/client"
	"github.com/agent-taskbay/taskbay/internal/live"
)

// measureTasks reads lists of the tasks of years.
func measureTasks(ctx context.Context, b *bench) (err error) {
	db, err := b.place.open(ctx, &live.Hub{}) // makes the schema
	if err != nil {
		return err
	}
	if err := errors.Join(db.Close(), fillTasks(ctx, b.place, b.size.tasks), b.place.settle(ctx)); err != nil {
		return err
	}
	product, err := startProcess(role{Product: &b.place})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, product.stop()) }()
	c, err := newCaller(product.url, 1)
	if err != nil {
		return err
	}
	defer c.close()
	deep, err := middleCursor(ctx, c, b.size.tasks)
	if err != nil {
		return err
	}
	rareAgent := fmt.Sprintf("01900000-0000-7000-8000-%012d", listAgents-1)
	build := fmt.Sprintf("build %d of", b.size.tasks/2)
	for _, list := range []struct{ what, path string }{
		{"page, first", "/tasks"},
		{"page, from the middle", "/tasks?cursor=" + deep},
		{"page, what needs you", "/tasks?needs=you"},
		{"page, one agent in a thousand tasks", "/tasks?agent=" + rareAgent},
		{"page, nobody knows", "/tasks?state=unknown"},
		{"page, replied", "/tasks?state=replied"},
		{"API, first", "/api/v1/tasks"},
		{"API, from the middle", "/api/v1/tasks?cursor=" + deep},
		{"API, one state in 100,000 tasks", "/api/v1/tasks?state=TASK_STATE_REJECTED"},
		{"API, a word of every task", "/api/v1/tasks?q=deploy"},
		{"API, a word of one task in a thousand", "/api/v1/tasks?q=" + url.QueryEscape("service 500 ")},
		{"API, a word of the oldest title", "/api/v1/tasks?q=needle"},
		{"API, words of one message", "/api/v1/tasks?q=" + url.QueryEscape(build)},
		{"API, a word of no task", "/api/v1/tasks?q=haystack"},
	} {
		if err := b.read(ctx, c, list.what, list.path); err != nil {
			return err
		}
	}
	return nil
}

// middleCursor is where the list goes on in the middle. Pages are no shorter way
// there than the one thing that a cursor says.
func middleCursor(ctx context.Context, c *caller, n int) (string, error) {
	newest, err := c.api.TaskPage(ctx, client.TaskFilter{PageSize: 1}, "")
	if err != nil {
		return "", err
	}
	if len(newest.Items) != 1 {
		return "", fmt.Errorf("the list of %d tasks is empty", n)
	}
	middle := newest.Items[0].UpdatedAt.Add(-listYears / 2).UnixMicro()
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d %s", middle, benchAgent)), nil
}

func (b *bench) read(ctx context.Context, c *caller, what, path string) error {
	if _, err := c.get(ctx, path); err != nil { // the first time code and pages of the database are read
		return err
	}
	var times []time.Duration
	for over := time.Now().Add(b.size.readTime); len(times) < b.size.reads && (len(times) == 0 || time.Now().Before(over)); {
		began := time.Now()
		if _, err := c.get(ctx, path); err != nil {
			return err
		}
		times = append(times, time.Since(began))
	}
	b.add(what, append([]figure{{Name: "tasks", Value: float64(b.size.tasks)}, {Name: "reads", Value: float64(len(times))}}, quantiles(times)...)...)
	return nil
}
