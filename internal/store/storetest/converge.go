package storetest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// converging is an agent at work, and everything that tells of it and has not arrived.
type converging struct {
	*bench
	r    *rand.Rand
	id   string
	now  time.Time
	todo []string // what the agent is still to do: a state, or "artifact text"

	state     string
	at        int // seconds of its clock
	history   []string
	artifacts map[string]string
	did       []string // the states that it had

	stream  []string // events that are on their way, in order
	streams int      // how many there were
	place   int
	pushes  []string // on their way, in any order
	polls   []sight
	lists   []sight
}

type sight struct {
	asked   time.Time
	payload string
}

// testConverge has one task observed by its streams, pushes, checks and lists at once, with
// whatever delays, repetitions and breaks: what is shown in the end is what the agent
// itself shows, and follows from the ledger.
func testConverge(b *bench) {
	const tasks = 12
	for seed := range uint64(tasks) {
		id, _ := b.task(fmt.Sprint("seed ", seed))
		c := &converging{bench: b, r: rand.New(rand.NewPCG(seed, 1)), id: id, now: time.Now().Truncate(time.Microsecond), artifacts: map[string]string{}}
		c.todo = []string{"WORKING", "a 1", "a 2", "WORKING", "b x", "a 3", "INPUT_REQUIRED", "WORKING", "b y", "a 4", "b z"}
		c.do("SUBMITTED")
		c.arrive(task.SourceStream, "first-0/0", c.snapshot(), time.Time{})
		for len(c.todo) > 0 {
			c.step()
		}
		c.do("COMPLETED")
		for len(c.stream)+len(c.pushes)+len(c.polls)+len(c.lists) > 0 {
			c.step()
		}
		c.settle()
		c.check(seed)
	}
	b.replays()
}

// do has the agent do something, which its stream and pushes tell of.
func (c *converging) do(what string) {
	if artifact, text, ok := strings.Cut(what, " "); ok {
		appended := c.artifacts[artifact] != ""
		c.artifacts[artifact] += text
		c.tell(fmt.Sprintf(`{"artifactUpdate":{"taskId":"remote-%s","append":%t,"artifact":%s}}`, c.id, appended, artifactOf(artifact, text)))
		return
	}
	c.at++
	c.state = what
	c.did = append(c.did, "TASK_STATE_"+what)
	c.history = append(c.history, fmt.Sprintf(`{"messageId":"m-%d","role":"ROLE_AGENT","parts":[{"text":"said %d"}]}`, c.at, c.at))
	c.tell(fmt.Sprintf(`{"statusUpdate":{"taskId":"remote-%s","status":%s}}`, c.id, c.status()))
}

func artifactOf(id, text string) string {
	return fmt.Sprintf(`{"artifactId":%q,"parts":[{"text":%q}]}`, id, text)
}

func (c *converging) tell(event string) {
	c.stream = append(c.stream, event)
	for range 1 + c.r.IntN(2) { // some come twice
		c.pushes = append(c.pushes, event)
	}
	if c.r.IntN(4) == 0 {
		c.pushes = append(c.pushes, c.snapshot())
	}
}

func (c *converging) status() string {
	return fmt.Sprintf(`{"state":"TASK_STATE_%s","timestamp":"2026-01-02T03:04:%02dZ","message":%s}`, c.state, c.at, c.history[len(c.history)-1])
}

// snapshot is the whole task.
func (c *converging) snapshot() string {
	var artifacts []string
	for _, id := range []string{"a", "b"} {
		if c.artifacts[id] != "" {
			artifacts = append(artifacts, artifactOf(id, c.artifacts[id]))
		}
	}
	return fmt.Sprintf(`{"task":{"id":"remote-%s","contextId":"c","status":%s,"history":[%s],"artifacts":[%s]}}`,
		c.id, c.status(), strings.Join(c.history[:len(c.history)-1], ","), strings.Join(artifacts, ","))
}

// step lets one thing happen: the agent works on, or something arrives.
func (c *converging) step() {
	switch c.r.IntN(7) {
	case 0:
		if len(c.todo) > 0 {
			c.do(c.todo[0])
			c.todo = c.todo[1:]
		}
	case 1, 2:
		if len(c.stream) > 0 {
			c.place++
			c.arrive(task.SourceStream, fmt.Sprintf("stream-%d/%d", c.streams, c.place), c.stream[0], time.Time{})
			c.stream = c.stream[1:]
		}
	case 3:
		if n := len(c.pushes); n > 0 {
			i := c.r.IntN(n)
			c.arrive(task.SourcePush, task.PushKey([]byte(c.pushes[i])), c.pushes[i], time.Time{})
			c.pushes = slices.Delete(c.pushes, i, i+1)
		}
	case 4:
		if len(c.todo) > 0 || len(c.stream) > 0 && c.r.IntN(2) == 0 {
			c.polls = append(c.polls, sight{c.now, c.snapshot()})
		}
		if len(c.polls) > 0 && c.r.IntN(2) == 0 {
			c.arrive(task.SourcePoll, newID(), c.polls[0].payload, c.polls[0].asked)
			c.polls = c.polls[1:]
		}
	case 5:
		if c.r.IntN(5) == 0 { // the stream breaks; another one begins, with or without a snapshot
			c.stream, c.place, c.streams = nil, 0, c.streams+1
			if c.r.IntN(2) == 0 {
				c.stream = []string{c.snapshot()}
			}
		}
	case 6:
		if len(c.todo) > 0 {
			c.lists = append(c.lists, sight{c.now, fmt.Sprintf(`{"task":{"id":"remote-%s","status":%s}}`, c.id, c.status())})
		}
		if len(c.lists) > 0 && c.r.IntN(2) == 0 {
			c.listed(c.lists[0])
			c.lists = c.lists[1:]
		}
	}
}

// listed has the agent asked if its list shows something else than what is known.
func (c *converging) listed(l sight) {
	c.Helper()
	head := c.head()
	entry := remote.Observation{Raw: []byte(l.payload), Payload: json.RawMessage(l.payload)}
	switch task.CompareListed(head, entry, l.asked) {
	case task.ListedSame:
		if !strings.Contains(l.payload, `"`+string(head.State)+`"`) {
			c.Errorf("%s is taken for the same as %s", l.payload, head.State)
		}
	case task.ListedNews:
		c.polls = append(c.polls, sight{c.now, c.snapshot()})
	case task.ListedUnclear:
	}
}

func (c *converging) head() (head task.Head) {
	c.Helper()
	c.update(func(tx *store.Tx) (err error) {
		head, _, err = tx.TaskHead(c.id)
		return err
	})
	return head
}

// arrive takes in what was told, some time later.
func (c *converging) arrive(source task.Source, key, payload string, asked time.Time) task.Outcome {
	c.Helper()
	c.now = c.now.Add(time.Millisecond)
	outcome := c.ingest(task.Observed{
		TaskID: c.id, Source: source, SourceKey: key, Asked: asked,
		Observation: remote.Observation{Raw: []byte(payload), Payload: json.RawMessage(payload), Received: c.now},
	})
	for id, text := range c.shown() {
		if !strings.Contains(c.artifacts[id], text) {
			c.Errorf("after %s %s artifact %s is %q; the agent has %q", source, payload, id, text, c.artifacts[id])
		}
	}
	return outcome
}

// shown returns the texts of the artifacts that are shown.
func (c *converging) shown() map[string]string {
	c.Helper()
	texts := map[string]string{}
	c.view(func(tx *store.Tx) error {
		artifacts, err := tx.Artifacts(c.id, 0)
		for _, a := range artifacts {
			for _, p := range a.Parts {
				texts[a.ID] += *p.Text
			}
		}
		return err
	})
	return texts
}

// settle asks the agent as long as checks are planned, which has to end.
func (c *converging) settle() {
	c.Helper()
	for range 3 {
		if at, _ := task.NextCheck(c.head(), false, 0, c.now); at.IsZero() {
			return
		}
		c.now = c.now.Add(time.Second)
		c.arrive(task.SourcePoll, newID(), c.snapshot(), c.now)
	}
	c.Error("a task that has ended is checked again and again")
}

// check compares what is shown with what the agent shows.
func (c *converging) check(seed uint64) {
	c.Helper()
	shown := c.record(c.id)
	if shown.Task.State != a2a.StateCompleted {
		c.Errorf("seed %d: the task is %s", seed, shown.Task.State)
	}
	if diff := cmp.Diff(c.artifacts, c.shown()); diff != "" {
		c.Errorf("seed %d: artifacts (-the agent's +shown):\n%s", seed, diff)
	}
	c.view(func(tx *store.Tx) error {
		messages, err := tx.Messages(c.id, 0)
		if len(messages) != len(c.history) {
			c.Errorf("seed %d: %d messages, the agent said %d", seed, len(messages), len(c.history))
		}
		if err != nil {
			return err
		}
		transitions, err := tx.Transitions(c.id, 0)
		left := c.did
		for _, tr := range transitions {
			i := slices.Index(left, string(tr.State))
			if i < 0 {
				c.Errorf("seed %d: the states %v are not, in order, some of %v", seed, transitions, c.did)
				break
			}
			left = left[i+1:]
		}
		return err
	})
}
