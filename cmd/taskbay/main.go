// Taskbay is the console for people who work with A2A agents.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/agent-taskbay/taskbay/internal/cli"
)

//go:generate go run -C ../../tools ./notice

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the first signal asks for a clean stop; a second one is not caught any more
	os.Exit(cli.Run(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
