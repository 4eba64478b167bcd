package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/app"
	"github.com/agent-taskbay/taskbay/internal/config"
)

// roleVariable holds what a process of its own is to be, as JSON.
const roleVariable = "TASKBAY_BENCH_ROLE"

// role is what a process is: the product as people run it, or agents.
type role struct {
	Product *place // the product with its data there
	Agents  int    // that many agents, whose streams do not end
}

// stopTime is how long a process may take to stop.
const stopTime = 20 * time.Second

// play is the whole of such a process. It ends with the process that started it,
// however that ends.
func play(encoded string) error {
	var r role
	if err := json.Unmarshal([]byte(encoded), &r); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	if r.Product == nil {
		return playAgents(ctx, r.Agents)
	}
	return playProduct(ctx, *r.Product)
}

func playAgents(ctx context.Context, n int) error {
	agents, err := startAgents(n, true)
	if err != nil {
		return err
	}
	fmt.Println(agents.url)
	<-ctx.Done()
	return agents.Close()
}

func playProduct(ctx context.Context, at place) (err error) {
	a, err := app.New(ctx, config.Config{Listen: "127.0.0.1:0", DataDir: at.DataDir, DatabaseURL: at.DatabaseURL, AutoMigrate: true, Limits: access.Unlimited()},
		app.Options{Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})), Version: "bench"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	fmt.Println(a.URL())
	return a.Run(ctx)
}

// process is such a process as the one that started it sees it.
type process struct {
	cmd   *exec.Cmd
	input io.Closer // closing it asks the process to stop
	url   string
}

func startProcess(r role) (*process, error) {
	encoded, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), roleVariable+"="+string(encoded))
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, input: input}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("a process that was started does not say where it is: %w", err), p.stop())
	}
	p.url = strings.TrimSpace(line)
	return p, nil
}

// stop asks the process to stop, and ends it if it takes too long.
func (p *process) stop() error {
	_ = p.input.Close() // gone already if the process is
	limit := time.AfterFunc(stopTime, func() { _ = p.cmd.Process.Kill() })
	defer limit.Stop()
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("a process did not stop as it should: %w", err)
	}
	return nil
}
