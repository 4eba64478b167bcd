// Package crash kills whole processes of the product and looks at what is left.
package crash

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/agent-taskbay/taskbay/client"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/app"
	"github.com/agent-taskbay/taskbay/internal/config"
	"github.com/agent-taskbay/taskbay/internal/store/postgrestest"
)

// placeVariable holds the place of a process that gets killed.
const placeVariable = "TASKBAY_CRASH_TEST_PLACE"

// place is where a process keeps its data, and what it does there.
type place struct {
	DataDir     string
	DatabaseURL string // "" is SQLite in DataDir
	Workers     bool   // it sends commands
	WorkOnly    bool   // it serves nothing
}

// TestMain is also the process that gets killed: the product, and nothing else.
func TestMain(m *testing.M) {
	if encoded := os.Getenv(placeVariable); encoded != "" {
		if err := run(encoded); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func run(encoded string) error {
	var at place
	if err := json.Unmarshal([]byte(encoded), &at); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	a, err := app.New(ctx, config.Config{
		Listen: "127.0.0.1:0", DataDir: at.DataDir, DatabaseURL: at.DatabaseURL, AutoMigrate: true, Workers: &at.Workers, Limits: access.Unlimited(),
	}, app.Options{Log: log, Version: "crash", WorkerOnly: at.WorkOnly})
	if err != nil {
		return err
	}
	if at.WorkOnly {
		fmt.Println("at work")
	} else {
		fmt.Println(a.URL())
	}
	return a.Run(ctx)
}

// onEachDatabase runs a test on both, each time in a place of its own.
func onEachDatabase(t *testing.T, test func(*testing.T, place)) {
	t.Run("SQLite", func(t *testing.T) {
		test(t, place{DataDir: t.TempDir(), Workers: true})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		test(t, place{DataDir: t.TempDir(), DatabaseURL: postgrestest.URL(t), Workers: true})
	})
}

// process is one life of the product.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	api *client.Client // which asks for nothing twice; nil of a process that serves nothing
}

func start(t *testing.T, at place) *process {
	t.Helper()
	encoded, err := json.Marshal(at)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), placeVariable+"="+string(encoded))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the process said nothing: %v", err)
	}
	p := &process{t: t, cmd: cmd}
	t.Cleanup(p.kill)
	if !at.WorkOnly {
		if p.api, err = client.New(strings.TrimSpace(line), client.Options{Attempts: 1}); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// kill ends the process with SIGKILL. Killing twice is once.
func (p *process) kill() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	}
}

// sent is a message that the test gave the product.
type sent struct {
	key       string
	messageID string
	commandID string // "" if the product was killed before it accepted
}

func newMessages(n int) []*sent {
	messages := make([]*sent, n)
	for i := range messages {
		messages[i] = &sent{key: uuid.NewString(), messageID: uuid.NewString()}
	}
	return messages
}

func (p *process) register(cardURL string) string {
	p.t.Helper()
	agent, err := p.api.RegisterAgent(p.t.Context(), cardURL)
	if err != nil {
		p.t.Fatal(err)
	}
	return agent.ID
}

// submit returns an error if the process is gone, or about to be.
func (p *process) submit(agentID string, s *sent) error {
	c, err := p.api.Submit(p.t.Context(), agentID, client.CommandBody{IdempotencyKey: s.key, Text: "count me", MessageID: s.messageID})
	var refused *client.Problem
	if errors.As(err, &refused) && refused.Status != http.StatusServiceUnavailable {
		p.t.Errorf("a command was refused: %v", refused)
		return nil
	}
	if err == nil {
		s.commandID = c.ID
	}
	return err
}

// moments are the steps of a command's life at which the process is killed.
var moments = map[string]func(*process, *agent, []*sent){
	"once it is accepted":         func(*process, *agent, []*sent) {},
	"when the agent has it":       func(_ *process, a *agent, batch []*sent) { a.next(batch) },
	"when the agent has several":  func(_ *process, a *agent, batch []*sent) { a.next(batch); a.next(batch); a.next(batch) },
	"when the agent has answered": func(_ *process, a *agent, batch []*sent) { a.next(batch); <-a.answered },
	"when the answer is stored":   func(p *process, a *agent, batch []*sent) { p.settled(a.next(batch).commandID) },
}

// TestKilledAtEveryStep kills the product with messages at every step of their
// way, several times over, and finds that none that was accepted is lost and
// none reached the agent twice.
func TestKilledAtEveryStep(t *testing.T) {
	onEachDatabase(t, testKilledAtEveryStep)
}

func testKilledAtEveryStep(t *testing.T, at place) {
	const rounds, batch = 4, 6
	a := startAgent(t)
	var all []*sent
	var agentID string
	for round := range rounds {
		for name, moment := range moments {
			p := start(t, at)
			agentID = p.register(a.cardURL())
			messages := newMessages(batch)
			all = append(all, messages...)
			for _, s := range messages {
				if err := p.submit(agentID, s); err != nil {
					t.Fatalf("round %d, %s: %v", round, name, err)
				}
			}
			moment(p, a, messages)
			p.kill()
		}
	}
	check(t, start(t, at), a, all)
}

// endAmid submits messages until the process ends, which end has it do once ten of them
// were accepted.
func (p *process) endAmid(agentID string, batch []*sent, end func()) {
	accepted := make(chan struct{}, len(batch))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, s := range batch {
			if p.submit(agentID, s) != nil {
				return
			}
			accepted <- struct{}{}
		}
	}()
	for range 10 {
		<-accepted
	}
	end()
	<-done
}

// TestKilledWhileAccepting kills the product while it accepts messages. Given
// again under their keys, each is there once.
func TestKilledWhileAccepting(t *testing.T) {
	onEachDatabase(t, testKilledWhileAccepting)
}

func testKilledWhileAccepting(t *testing.T, at place) {
	a := startAgent(t)
	var all []*sent
	p := start(t, at)
	agentID := p.register(a.cardURL())
	go func() { // the agent answers at once
		for range a.received {
		}
	}()
	for range 5 {
		batch := newMessages(40)
		all = append(all, batch...)
		p.endAmid(agentID, batch, p.kill)
		p = start(t, at)
		for _, s := range batch {
			had := s.commandID
			if err := p.submit(agentID, s); err != nil {
				t.Fatal(err)
			}
			if had != "" && s.commandID != had {
				t.Errorf("the key of command %s gave command %s after a restart", had, s.commandID)
			}
		}
	}
	check(t, p, a, all)
}

// TestKilledWorkers has two workers share the load of one server, and kills one
// of them again and again: what it was sending is uncertain, everything else is
// sent by the others.
func TestKilledWorkers(t *testing.T) {
	a := startAgent(t)
	at := place{DataDir: t.TempDir(), DatabaseURL: postgrestest.URL(t)}
	server := start(t, at)
	at.WorkOnly = true
	start(t, at)
	agentID := server.register(a.cardURL())
	var all []*sent
	for range 6 {
		victim := start(t, at)
		batch := newMessages(12)
		all = append(all, batch...)
		for _, s := range batch {
			if err := server.submit(agentID, s); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 {
			a.next(batch)
		}
		victim.kill()
	}
	check(t, server, a, all)
}

// check waits until every command is settled and compares what the product says
// with what the agent saw. It returns how many commands have which status.
func check(t *testing.T, p *process, a *agent, all []*sent) (statuses map[string]int) {
	t.Helper()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			select {
			case <-a.received:
			case <-stop:
				return
			}
		}
	}()
	statuses = map[string]int{}
	for _, s := range all {
		status := p.settled(s.commandID)
		statuses[status]++
		reached := a.count(s.messageID)
		if reached > 1 {
			t.Errorf("message %s reached the agent %d times", s.messageID, reached)
		}
		if status == "succeeded" && reached != 1 {
			t.Errorf("message %s is said to have succeeded, and reached the agent %d times", s.messageID, reached)
		}
		if status != "succeeded" && status != "uncertain" {
			t.Errorf("message %s is %s", s.messageID, status)
		}
	}
	t.Logf("%d accepted: %v", len(all), statuses)
	return statuses
}

func (p *process) settled(commandID string) string {
	p.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		c, err := p.api.Command(p.t.Context(), commandID, 20*time.Second)
		if err != nil {
			p.t.Fatal(err)
		}
		if c.Settled() {
			return c.Status
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("command %s stays %s", commandID, c.Status)
		}
	}
}
