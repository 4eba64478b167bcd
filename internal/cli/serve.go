package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"

	"github.com/agent-taskbay/taskbay/internal/app"
	"github.com/agent-taskbay/taskbay/internal/config"
	"github.com/agent-taskbay/taskbay/internal/telemetry"
)

type serveCommand struct {
	config.Config `embed:""`
}

// Run serves until ctx ends.
func (c serveCommand) Run(ctx context.Context, s Streams) error {
	return serve(ctx, c.Config, "", s)
}

type demoCommand struct {
	config.Demo `embed:""`
}

// Run serves, with the sample agents, until ctx ends.
func (c demoCommand) Run(ctx context.Context, s Streams) error {
	if c.Open == nil {
		open := isTerminal(s.Out) && hasBrowser()
		c.Open = &open
	}
	return serve(ctx, c.Config, c.Agents, s)
}

// serve runs a server, with the sample agents on an address of theirs if it is
// not "".
func serve(ctx context.Context, c config.Config, sampleAgents string, s Streams) (err error) {
	a, err := app.New(ctx, c, app.Options{Log: newLog(c, s), Version: version(), SampleAgents: sampleAgents})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	at := cmp.Or(c.SignIn.Origin, a.URL())
	if err := announce(at, place(c), sampleAgents, s); err != nil {
		return err
	}
	if c.Open != nil && *c.Open {
		if err := openBrowser(at); err != nil {
			_, _ = fmt.Fprintf(s.Err, "The browser cannot be opened (%v); open %s yourself.\n", err, at)
		}
	}
	return a.Run(ctx)
}

// place says where the data is, without a password.
func place(c config.Config) string {
	if c.DatabaseURL != "" {
		return "PostgreSQL"
	}
	return c.DataDir
}

func announce(url, data, sampleAgents string, s Streams) error {
	p := painter(s.Out)
	text := "Taskbay is at " + p.bold(url) + "\n"
	if sampleAgents != "" {
		text += "Six sample agents are there to try it with; the page says what to do first.\n"
	}
	text += p.dim("Data: "+data+"   Stop: Ctrl-C") + "\n"
	_, err := fmt.Fprint(s.Out, text)
	return err
}

func newLog(c config.Config, s Streams) *slog.Logger {
	options := &slog.HandlerOptions{Level: c.Level()}
	if c.LogFormat == "json" {
		return slog.New(telemetry.LogHandler(slog.NewJSONHandler(s.Err, options)))
	}
	return slog.New(telemetry.LogHandler(slog.NewTextHandler(s.Err, options)))
}

// hasBrowser reports whether there is likely to be a browser with a window.
func hasBrowser() bool {
	switch runtime.GOOS {
	case "darwin", "windows":
		return true
	}
	return os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}

// openBrowser shows url, an address of this server, in the person's browser. It
// does not wait for the browser to end.
func openBrowser(url string) error {
	var command *exec.Cmd
	switch runtime.GOOS {
	case "darwin":
		command = exec.Command("open", url)
	case "windows":
		command = exec.Command("rundll32", "url.dll,FileProtocolHandler", url)
	default:
		command = exec.Command("xdg-open", url)
	}
	if err := command.Start(); err != nil {
		return err
	}
	go func() { _ = command.Wait() }() // whether the browser ends well is not ours to know
	return nil
}
