package crash

import (
	"syscall"
	"testing"
)

// drain ends the process as an operator does, with SIGTERM.
func (p *process) drain() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("the process ends with %v", err)
	}
}

// TestDrained stops the product with SIGTERM while it accepts and sends messages, again
// and again. It ends well each time; none that was accepted is lost or sent twice, and
// as the agent answers at once, the outcome of each is known.
func TestDrained(t *testing.T) {
	onEachDatabase(t, testDrained)
}

func testDrained(t *testing.T, at place) {
	a := startAgent(t)
	go func() { // the agent answers at once
		for range a.received {
		}
	}()
	var all []*sent
	for range 4 {
		p := start(t, at)
		agentID := p.register(a.cardURL())
		batch := newMessages(40)
		p.endAmid(agentID, batch, p.drain)
		for _, s := range batch {
			if s.commandID != "" {
				all = append(all, s)
			}
		}
	}
	statuses := check(t, start(t, at), a, all)
	if statuses["uncertain"] > 0 {
		t.Errorf("%d of %d commands are uncertain after a stop with SIGTERM", statuses["uncertain"], len(all))
	}
}
