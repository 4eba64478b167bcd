package app

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/demo"
)

// samples serves the sample agents beside the console, on an address of their
// own: to the console they are agents like any others.
type samples struct {
	listener net.Listener
	agents   *demo.Agents
	server   *http.Server
}

func newSamples(ctx context.Context, o Options) (*samples, error) {
	l, err := Listen(ctx, "--agents", o.SampleAgents)
	if err != nil {
		return nil, fmt.Errorf("the sample agents: %w", err)
	}
	agents, err := demo.New("http://"+l.Addr().String(), demo.Options{Log: o.Log, Pause: o.Pause})
	if err != nil {
		return nil, fmt.Errorf("the sample agents: %w", err)
	}
	return &samples{listener: l, agents: agents, server: &http.Server{Handler: agents, ReadHeaderTimeout: 10 * time.Second}}, nil
}

func (s *samples) run(ctx context.Context) error {
	return serveUntil(ctx, s.server, s.listener)
}

// registerSamples adds the sample agents to the catalogue. Those that are there
// already stay as they are, with their tasks.
func (a *App) registerSamples(ctx context.Context) error {
	for _, v := range a.samples.agents.Variants() {
		if _, _, err := a.agents.Register(ctx, access.LocalOperator(), a.samples.agents.CardURL(v.Name)); err != nil && ctx.Err() == nil {
			return fmt.Errorf("register the sample agent %s: %w", v.Name, err)
		}
	}
	return nil
}

// SampleCardURL is where the card of a sample agent is, by the name of its
// variant; "" if none run.
func (a *App) SampleCardURL(variant string) string {
	if a.samples == nil {
		return ""
	}
	return a.samples.agents.CardURL(variant)
}
