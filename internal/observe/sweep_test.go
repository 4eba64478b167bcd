package observe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// sweepBench is the record, the catalogue and the agent of one sweep.
type sweepBench struct {
	now  time.Time
	open []Open
	list func(remote.ListRequest) (remote.Page, error)

	asked   []remote.ListRequest
	soon    map[string]bool
	putOff  map[string]time.Duration
	swept   Swept
	signals int
}

func (b *sweepBench) Now() time.Time   { return b.now }
func (b *sweepBench) Signal(...string) { b.signals++ }
func (b *sweepBench) ClaimSweeps(int, time.Time, time.Time) ([]Sweep, error) {
	return nil, errors.New("not here")
}
func (b *sweepBench) OpenTasks(string, int) ([]Open, error) { return b.open, nil }
func (b *sweepBench) AskSoon(taskID string) error {
	b.soon[taskID] = true
	return nil
}
func (b *sweepBench) PutOffCheck(o Open, at time.Time, interval time.Duration) error {
	b.putOff[o.Head.TaskID] = interval
	if at.Before(b.now.Add(interval)) {
		return fmt.Errorf("put off by less than %s", interval)
	}
	return nil
}
func (b *sweepBench) StoreSweep(s Swept) error {
	b.swept = s
	return nil
}

func (b *sweepBench) Get(context.Context, access.Principal, string) (agent.Agent, error) {
	a := agent.Agent{ID: "agent", CardRaw: []byte(`{"name":"A","supportedInterfaces":[{"url":"http://127.0.0.1/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`)}
	a.Load()
	return a, nil
}
func (b *sweepBench) Ensure(context.Context, string, string) {}

func (b *sweepBench) List(_ context.Context, _ remote.Target, r remote.ListRequest) (remote.Page, error) {
	b.asked = append(b.asked, r)
	return b.list(r)
}

// sweep makes one.
func (b *sweepBench) sweep(t *testing.T, w Sweep) {
	t.Helper()
	b.soon, b.putOff, b.asked = map[string]bool{}, map[string]time.Duration{}, nil
	s := &Sweeper{
		Update: func(_ context.Context, f func(SweepTx) error) error { return f(b) },
		Agents: b, Remote: b, Every: time.Minute, Log: slog.New(slog.DiscardHandler),
	}
	if err := s.sweep(t.Context(), w); err != nil {
		t.Fatalf("sweep: %v", err)
	}
}

// at is the agent's time of a status.
func at(second int) time.Time { return time.Date(2026, 1, 2, 3, 4, second, 0, time.UTC) }

// quiet is a task at work since second 6 of which nothing was heard for so long.
func quiet(now time.Time, id string, since time.Duration) Open {
	return Open{
		Head: task.Head{
			TaskID: "local-" + id, RemoteTaskID: id, Kind: task.KindTask, State: a2a.StateWorking,
			StateAt: at(6), ObservedAt: now.Add(-since),
		},
		Interval: 15 * time.Second,
	}
}

func entry(id, state string, second int) remote.Observation {
	raw := fmt.Sprintf(`{"id":%q,"contextId":"c","status":{"state":"TASK_STATE_%s","timestamp":%q}}`, id, state, at(second).Format(time.RFC3339))
	return remote.Observation{Raw: []byte(raw), Payload: json.RawMessage(`{"task":` + raw + `}`)}
}

func TestASweepComparesWhatIsKnown(t *testing.T) {
	t.Parallel()
	now := time.Now()
	changed := func(id string, change func(*Open)) Open {
		o := quiet(now, id, 2*time.Minute)
		change(&o)
		return o
	}
	b := &sweepBench{now: now, open: []Open{
		quiet(now, "same", 2*time.Minute),
		quiet(now, "for-long", 2*time.Hour),
		quiet(now, "busy", 10*time.Second),
		quiet(now, "ended", 2*time.Minute),
		quiet(now, "later", 2*time.Minute),
		quiet(now, "lagging", 2*time.Minute),
		quiet(now, "not-listed", 2*time.Minute),
		quiet(now, "heard-since", -time.Minute),
		changed("answered", func(o *Open) { o.Head.AnsweredBy = "c" }),
		changed("unsettled", func(o *Open) { o.Head.Unsettled = now }),
		changed("asked-for", func(o *Open) { o.Interval = 0 }),
		changed("put-off", func(o *Open) { o.Interval = 5 * time.Minute }),
		changed("fails", func(o *Open) { o.Failed = true }),
		changed("asks", func(o *Open) {
			o.Head.State, o.Head.Question = a2a.StateInputRequired, task.Asked{MessageID: "q-1", Digest: "d", Number: 1}
		}),
	}}
	b.list = func(remote.ListRequest) (remote.Page, error) {
		page := remote.Page{Tasks: []remote.Observation{entry("stranger", "WORKING", 6), {Raw: []byte("{}"), Payload: json.RawMessage("{}")}}}
		for _, o := range b.open {
			id := o.Head.RemoteTaskID
			switch id {
			case "ended":
				page.Tasks = append(page.Tasks, entry(id, "COMPLETED", 9))
			case "later":
				page.Tasks = append(page.Tasks, entry(id, "WORKING", 9))
			case "lagging":
				page.Tasks = append(page.Tasks, entry(id, "SUBMITTED", 5))
			case "heard-since":
				page.Tasks = append(page.Tasks, entry(id, "COMPLETED", 9))
			case "asks":
				asks := entry(id, "INPUT_REQUIRED", 6)
				asks.Payload = json.RawMessage(strings.Replace(string(asks.Payload), `"state"`, `"message":{"messageId":"q-2","role":"ROLE_AGENT","parts":[{"text":"?"}]},"state"`, 1))
				page.Tasks = append(page.Tasks, asks)
			case "not-listed":
			default:
				page.Tasks = append(page.Tasks, entry(id, "WORKING", 6))
			}
		}
		return page, nil
	}
	b.sweep(t, Sweep{AgentID: "agent"})
	for _, id := range []string{"ended", "later", "asks"} {
		if !b.soon["local-"+id] {
			t.Errorf("the agent is not asked about %s at once", id)
		}
	}
	if len(b.soon) != 3 || b.signals == 0 {
		t.Errorf("asked about at once %v, with %d signals", b.soon, b.signals)
	}
	if len(b.putOff) != 2 || b.putOff["local-same"] != 5*time.Minute || b.putOff["local-for-long"] != 10*time.Minute {
		t.Errorf("put off %v, want the two that are quiet", b.putOff)
	}
	if b.swept.Problem != "" || !b.swept.Listed || b.swept.Interval != time.Minute {
		t.Errorf("it came to %+v", b.swept)
	}
	if r := b.asked[0]; !r.Brief || !r.After.Before(at(6)) || r.After.Before(at(4)) {
		t.Errorf("asked for %+v, want what changed since the first of them, in short", r)
	}
}

// TestAThousandQuietTasks cost one call for a hundred of them.
func TestAThousandQuietTasks(t *testing.T) {
	t.Parallel()
	const tasks, size = 1000, 100
	b := &sweepBench{now: time.Now()}
	for i := range tasks {
		b.open = append(b.open, quiet(b.now, fmt.Sprint(i), 2*time.Hour))
	}
	b.list = func(r remote.ListRequest) (page remote.Page, err error) {
		from := 0
		if r.PageToken != "" {
			_, err = fmt.Sscan(r.PageToken, &from)
		}
		for i := range size {
			page.Tasks = append(page.Tasks, entry(fmt.Sprint(from+i), "WORKING", 6))
		}
		page.Next = fmt.Sprint(from + size)
		return page, err
	}
	b.sweep(t, Sweep{AgentID: "agent"})
	if len(b.asked) != tasks/size || len(b.putOff) != tasks || b.swept.Interval != 5*time.Minute {
		t.Errorf("%d calls put %d checks off, and the next is in %s", len(b.asked), len(b.putOff), b.swept.Interval)
	}
}

func TestASweepEnds(t *testing.T) {
	t.Parallel()
	big := entry("big", "WORKING", 6)
	big.Raw = make([]byte, sweepBytes)
	for name, c := range map[string]struct {
		page  func(n int) remote.Page
		calls int
	}{
		"tokens that repeat": {func(n int) remote.Page {
			return remote.Page{Tasks: []remote.Observation{entry("x", "WORKING", 6)}, Next: fmt.Sprint(n % 2)}
		}, 3},
		"tokens without end": {func(n int) remote.Page {
			return remote.Page{Tasks: []remote.Observation{entry("x", "WORKING", 6)}, Next: fmt.Sprint(n)}
		}, sweepPages},
		"too many bytes": {func(n int) remote.Page {
			return remote.Page{Tasks: []remote.Observation{big, entry("x", "WORKING", 6)}, Next: fmt.Sprint(n)}
		}, 1},
	} {
		b := &sweepBench{now: time.Now()}
		b.open = []Open{quiet(b.now, "x", time.Hour), quiet(b.now, "never", time.Hour)}
		b.list = func(remote.ListRequest) (remote.Page, error) { return c.page(len(b.asked)), nil }
		b.sweep(t, Sweep{AgentID: "agent"})
		if len(b.asked) != c.calls {
			t.Errorf("%s: %d calls, want %d", name, len(b.asked), c.calls)
		}
	}
}

func TestAnAgentThatDoesNotList(t *testing.T) {
	t.Parallel()
	answer := func(code string) error {
		return &remote.Error{Delivery: remote.Answered, Code: code, Message: "No. " + code}
	}
	for name, c := range map[string]struct {
		err      error
		refused  string
		interval time.Duration
	}{
		"unsupported":     {answer(remote.CodeUnsupportedOperation), "way-1", 4 * time.Minute},
		"unknown method":  {answer(remote.CodeMethodNotFound), "way-1", 4 * time.Minute},
		"unauthenticated": {answer(remote.CodeUnauthenticated), "way-1", 4 * time.Minute},
		"HTTP 401":        {answer("HTTP 401"), "way-1", 4 * time.Minute},
		"HTTP 404":        {answer("HTTP 404"), "", 4 * time.Minute},
		"away":            {&remote.Error{Delivery: remote.NotSent, Message: "No. "}, "", 4 * time.Minute},
		"none of ours":    {nil, "", 4 * time.Minute},
	} {
		b := &sweepBench{now: time.Now()}
		b.open = []Open{quiet(b.now, "x", time.Minute)}
		b.list = func(remote.ListRequest) (remote.Page, error) { return remote.Page{}, c.err }
		b.sweep(t, Sweep{AgentID: "agent", Way: "way-1", Interval: 2 * time.Minute})
		if b.swept.Refused != c.refused || b.swept.Interval != c.interval || b.swept.Problem == "" || b.swept.Listed != (c.err == nil) {
			t.Errorf("%s: it came to %+v", name, b.swept)
		}
		if len(b.putOff)+len(b.soon) != 0 {
			t.Errorf("%s: checks were put off, %v, or made due, %v", name, b.putOff, b.soon)
		}
	}
}

// TestAListThatTakesNoTime is asked for whole.
func TestAListThatTakesNoTime(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]error{
		"refused": &remote.Error{Delivery: remote.Answered, Code: remote.CodeInvalidParams, Message: "What time?"}, "misread": nil,
	} {
		b := &sweepBench{now: time.Now()}
		b.open = []Open{quiet(b.now, "x", 2*time.Minute)}
		b.list = func(r remote.ListRequest) (remote.Page, error) {
			if !r.After.IsZero() {
				return remote.Page{}, refusal
			}
			return remote.Page{Tasks: []remote.Observation{entry("x", "WORKING", 6)}}, nil
		}
		b.sweep(t, Sweep{AgentID: "agent"})
		if len(b.asked) != 2 || len(b.putOff) != 1 || b.swept.Problem != "" {
			t.Errorf("%s: %d calls came to %+v", name, len(b.asked), b.swept)
		}
	}
}
