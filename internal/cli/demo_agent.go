package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/agent-taskbay/taskbay/internal/app"
	"github.com/agent-taskbay/taskbay/internal/demo"
)

type demoAgentCommand struct {
	Listen string `default:"127.0.0.1:4010" env:"TASKBAY_AGENTS" placeholder:"HOST:PORT" help:"Address to serve the sample agents on; port 0 takes a free one."`
}

// Run prints the sample agents' cards and serves them until ctx ends.
func (c demoAgentCommand) Run(ctx context.Context, s Streams) error {
	listener, err := app.Listen(ctx, "--listen", c.Listen)
	if err != nil {
		return err
	}
	agents, err := demo.New("http://"+listener.Addr().String(), demo.Options{})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	if err := printCards(agents, s); err != nil {
		return errors.Join(err, listener.Close())
	}
	server := &http.Server{Handler: agents, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the sample agents: %w", err)
	}
	return nil
}

func printCards(agents *demo.Agents, s Streams) error {
	p := painter(s.Out)
	for _, v := range agents.Variants() {
		if _, err := fmt.Fprintf(s.Out, "%-14s %s\n%-14s %s\n", v.Name, agents.CardURL(v.Name), "", p.dim(v.Description)); err != nil {
			return err
		}
	}
	return nil
}
