package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
)

const (
	streamAgents  = 16 // so that as many messages go out at once as the product sends
	streamCallers = 16
)

// measureStreams has the product follow streams that do not end, of agents in
// another process, and looks at how much memory it holds.
func measureStreams(ctx context.Context, b *bench) (err error) {
	agents, err := startProcess(role{Agents: streamAgents})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, agents.stop()) }()
	product, err := startProcess(role{Product: &b.place})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, product.stop()) }()
	c, err := newCaller(product.url, streamCallers)
	if err != nil {
		return err
	}
	defer c.close()
	ids, err := c.register(ctx, agents.url, streamAgents)
	if err != nil {
		return err
	}
	before, err := steadyMemory(ctx, product.cmd.Process.Pid, b.size.streamRest)
	if err != nil {
		return err
	}
	over := time.Now().Add(b.size.streamTime)
	for _, want := range b.size.streams {
		began := time.Now()
		if err := follow(ctx, c, ids, want, over); err != nil {
			return err
		}
		took := time.Since(began)
		after, err := steadyMemory(ctx, product.cmd.Process.Pid, b.size.streamRest)
		if err != nil {
			return err
		}
		held, err := streams(ctx, c) // as many as there still are
		if err != nil {
			return err
		}
		b.add(fmt.Sprintf("%d wanted", want), figure{Name: "held", Value: float64(held)},
			figure{"memory before", float64(before) / 1024, "MiB"}, figure{"memory with them", float64(after) / 1024, "MiB"},
			figure{"a stream", float64(after-before) / float64(max(held, 1)), "KiB"}, figure{"opened in", took.Seconds(), "s"})
		if held < want {
			break // the time is over
		}
	}
	return nil
}

// streams is how many streams the product follows.
func streams(ctx context.Context, c *caller) (int, error) {
	n, err := c.gauge(ctx, "taskbay_streams")
	return int(n), err
}

// follow starts tasks until that many streams are followed, or the time is over.
func follow(ctx context.Context, c *caller, agentIDs []string, want int, over time.Time) error {
	held, err := streams(ctx, c)
	if err != nil {
		return err
	}
	var begun atomic.Int64
	missing := int64(want - held)
	group, groupCtx := errgroup.WithContext(ctx)
	for range streamCallers {
		group.Go(func() error {
			for {
				n := begun.Add(1)
				if n > missing || time.Now().After(over) {
					return nil
				}
				if err := c.send(groupCtx, agentIDs[n%int64(len(agentIDs))], uuid.NewString()); err != nil {
					return err
				}
			}
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	_, err = until(ctx, max(time.Until(over), time.Second), 50*time.Millisecond, func() (bool, error) {
		held, err := streams(ctx, c)
		return held >= want, err
	})
	return err
}

// steadyMemory is how much memory a process holds once it has been quiet.
func steadyMemory(ctx context.Context, pid int, quiet time.Duration) (int64, error) {
	if err := rest(ctx, quiet); err != nil {
		return 0, err
	}
	return resident(pid)
}
