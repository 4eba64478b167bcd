package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/task"
)

func working(taskID string) string {
	return fmt.Sprintf(`{"statusUpdate":{"taskId":"remote-%s","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`, taskID)
}

func completed(taskID string) string {
	return fmt.Sprintf(`{"statusUpdate":{"taskId":"remote-%s","contextId":"c","status":{"state":"TASK_STATE_COMPLETED",
		"message":{"messageId":"done","role":"ROLE_AGENT","parts":[{"text":"All done"}]}}}}`, taskID)
}

func testIngestOnce(b *bench) {
	id, _ := b.task("t")
	first := b.hears(id, "s/0", working(id))
	before := b.record(id).Task.Version
	again := b.hears(id, "s/0", working(id))
	if first.Duplicate || !again.Duplicate {
		b.Errorf("duplicate: first %v, again %v; want false, true", first.Duplicate, again.Duplicate)
	}
	if after := b.record(id).Task.Version; after != before {
		b.Errorf("version went from %d to %d by an observation that was there", before, after)
	}
	b.hears(id, "s/1", working(id))
	if after := b.record(id).Task.Version; after != before {
		b.Errorf("version went from %d to %d by an observation that says nothing new", before, after)
	}
}

func testTimeline(b *bench) {
	id, agentID := b.task("t")
	b.command(id, agentID)
	b.hears(id, "s/0", working(id))
	middle := b.record(id).Task.Version
	b.hears(id, "s/1", completed(id))

	if got := b.record(id).Task; got.State != a2a.StateCompleted || got.RemoteTaskID != "remote-"+id || got.ContextID != "c" {
		b.Errorf("task %s %q in %q, want it completed as remote-%s in c", got.State, got.RemoteTaskID, got.ContextID, id)
	}
	b.view(func(tx *store.Tx) error {
		all, err := tx.Messages(id, 0)
		if err != nil {
			return err
		}
		if len(all) != 2 || all[0].Message.Author != "Ann" || all[0].Message.Delivery == nil || all[1].Message.Role != a2a.RoleAgent {
			b.Errorf("messages %+v, want Ann's and the agent's", all)
		}
		late, err := tx.Messages(id, middle)
		if len(late) != 1 || late[0].Message.ID != "done" {
			b.Errorf("messages after version %d: %+v, want the last one", middle, late)
		}
		if err != nil {
			return err
		}
		states, err := tx.Transitions(id, 0)
		if len(states) != 2 || states[1].State != a2a.StateCompleted {
			b.Errorf("transitions %+v, want working and completed", states)
		}
		return err
	})
}

func testArtifactChunks(b *bench) {
	id, _ := b.task("t")
	chunk := `{"artifactUpdate":{"taskId":"remote-%s","artifact":{"artifactId":"a","name":"Log","parts":[%s]},"append":%v,"lastChunk":%v}}`
	b.hears(id, "s/0", fmt.Sprintf(chunk, id, `{"text":"one "}`, false, false))
	b.hears(id, "s/1", fmt.Sprintf(chunk, id, `{"text":"two "}`, true, false))
	b.hears(id, "s/2", fmt.Sprintf(chunk, id, `{"text":"three"},{"data":{"n":1}}`, true, true))
	want := []a2a.Part{a2a.TextPart("one two three"), {Data: json.RawMessage(`{"n":1}`)}}
	want[0].MediaType = ""
	check := func(name string) {
		b.view(func(tx *store.Tx) error {
			got, err := tx.Artifacts(id, 0)
			if err != nil || len(got) != 1 {
				b.Fatalf("%s: artifacts %+v, %v; want one", name, got, err)
			}
			if diff := cmp.Diff(want, got[0].Parts); diff != "" || !got[0].Complete || got[0].Name != "Log" {
				b.Errorf("%s: artifact %+v (-want +got):\n%s", name, got[0], diff)
			}
			return nil
		})
	}
	check("after the last chunk")
	b.hears(id, "s/3", fmt.Sprintf(`{"task":{"id":"remote-%s","status":{"state":"TASK_STATE_WORKING"},"artifacts":[{"artifactId":"a","name":"Log",
		"parts":[{"text":"one "},{"text":"two "},{"text":"three"},{"data":{"n":1}}]}]}}`, id))
	check("after a snapshot with the chunks as parts")
}

func testExactJSON(b *bench) {
	id, _ := b.task("t")
	for i, data := range []string{
		`{"n":9007199254740993,"z":1.10,"a":1e400}`, `{"b":1,"a":2,"b":3}`, `{"x":"\\u0000y","lone":"\ud800","html":"<&>"}`, `"\u2028"`,
	} {
		payload := fmt.Sprintf(`{"statusUpdate":{"taskId":"remote-%s","status":{"state":"TASK_STATE_WORKING",
			"message":{"messageId":"m%d","role":"ROLE_AGENT","parts":[{"data":%s}]}}}}`, id, i, data)
		b.hears(id, fmt.Sprint("s/", i), payload)
		b.view(func(tx *store.Tx) error {
			all, err := tx.Messages(id, 0)
			if err != nil {
				return err
			}
			if got := string(all[i].Message.Parts[0].Data); got != data {
				b.Errorf("data %s, want %s", got, data)
			}
			return nil
		})
	}
}

func testMergeTask(b *bench) {
	known, agentID := b.task("known")
	b.hears(known, "s/0", working(known))
	started := b.taskOf(agentID, "started")
	r := b.command(started, agentID)
	outcome := b.hears(started, "reply", working(known))
	if outcome.TaskID != known {
		b.Errorf("the answer is about %s, want %s", outcome.TaskID, known)
	}
	if got := b.record(started).Task.ID; got != known {
		b.Errorf("the merged task leads to %s, want %s", got, known)
	}
	b.view(func(tx *store.Tx) error {
		moved, err := tx.CommandByID(r.Command.ID)
		if moved.Command.TaskID != known {
			b.Errorf("the command belongs to %s, want %s", moved.Command.TaskID, known)
		}
		if err != nil {
			return err
		}
		messages, err := tx.Messages(known, 0)
		if len(messages) != 1 || messages[0].Message.Author != "Ann" {
			b.Errorf("messages %+v, want Ann's", messages)
		}
		return err
	})
}

func testAnotherTask(b *bench) {
	id, _ := b.task("t")
	b.hears(id, "s/0", working(id))
	outcome := b.hears(id, "s/1", `{"task":{"id":"foreign","status":{"state":"TASK_STATE_COMPLETED"}}}`)
	if outcome.TaskID == id {
		b.Error("an answer about another task was taken for this one")
	}
	if got := b.record(id).Task.State; got != a2a.StateWorking {
		b.Errorf("this task is %s, want it to stay working", got)
	}
	if got := b.record(outcome.TaskID).Task; got.RemoteTaskID != "foreign" || got.State != a2a.StateCompleted {
		b.Errorf("the other task is %q, %s; want foreign, completed", got.RemoteTaskID, got.State)
	}
}

func (b *bench) list(f task.Filter) ([]string, string) {
	b.Helper()
	var titles []string
	var next string
	b.view(func(tx *store.Tx) error {
		tasks, cursor, err := tx.ListTasks(everything, f)
		next = cursor
		for _, t := range tasks {
			titles = append(titles, t.Title)
		}
		return err
	})
	return titles, next
}

func testListAndPage(b *bench) {
	agentID := b.agent()
	ids := map[string]string{}
	for _, title := range []string{"a", "b", "c", "d", "e"} {
		ids[title] = b.taskOf(agentID, title)
	}
	b.hears(ids["b"], "s/0", working(ids["b"]))
	b.asks(ids["a"], "s/0", "q")
	var pages [][]string
	for f := (task.Filter{Limit: 2}); ; {
		titles, next := b.list(f)
		pages = append(pages, titles)
		if f.Cursor = next; next == "" {
			break
		}
	}
	if diff := cmp.Diff([][]string{{"a", "b"}, {"e", "d"}, {"c"}}, pages); diff != "" {
		b.Errorf("pages (-want +got):\n%s", diff)
	}
	for name, test := range map[string]struct {
		filter task.Filter
		want   []string
	}{
		"which need me": {task.Filter{NeedsYou: true, Limit: 9}, []string{"a"}},
		"state":         {task.Filter{State: a2a.StateWorking, Limit: 9}, []string{"b"}},
		"agent":         {task.Filter{AgentID: newID(), Limit: 9}, nil},
	} {
		if got, _ := b.list(test.filter); !slices.Equal(got, test.want) {
			b.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
	b.view(func(tx *store.Tx) error {
		counts, err := tx.CountTasks(everything)
		if counts != (task.Counts{NeedsYou: 1}) {
			b.Errorf("counts %+v, want 1 that needs you", counts)
		}
		return err
	})
	err := b.db.View(context.Background(), func(tx *store.Tx) error {
		_, _, err := tx.ListTasks(everything, task.Filter{Cursor: "nonsense", Limit: 1})
		return err
	})
	if fault.KindOf(err) != fault.Invalid {
		b.Errorf("a cursor of nonsense: %v, want an invalid fault", err)
	}
}

func testSearch(b *bench) {
	agentID := b.agent()
	b.taskOf(agentID, "Ärger mit 100% Last")
	other := b.taskOf(agentID, "Other")
	b.hears(other, "s/0", completed(other))
	for query, want := range map[string][]string{
		"ärger": {"Ärger mit 100% Last"}, "100%": {"Ärger mit 100% Last"}, "1%0": nil, "ALL DONE": {"Other"}, "_": nil, `\`: nil, "'": nil,
	} {
		if got, _ := b.list(task.Filter{Query: query, Limit: 9}); !slices.Equal(got, want) {
			b.Errorf("search %q: %v, want %v", query, got, want)
		}
	}
}

// testSearchSpan searches a few tasks at a time.
func testSearchSpan(b *bench) {
	agentID := b.agent()
	for _, title := range []string{"oldest hit", "b", "c", "d", "newer hit", "f"} {
		b.taskOf(agentID, title)
	}
	var pages [][]string
	for f := (task.Filter{Query: "hit", Limit: 9, Span: 3}); ; {
		titles, next := b.list(f)
		pages = append(pages, titles)
		if f.Cursor = next; next == "" {
			break
		}
	}
	if diff := cmp.Diff([][]string{{"newer hit"}, {"oldest hit"}, nil}, pages); diff != "" {
		b.Errorf("pages of a search (-want +got):\n%s", diff)
	}
	if got, next := b.list(task.Filter{Query: "hit", Limit: 9}); len(got) != 2 || next != "" {
		b.Errorf("a search of all: %v, next %q", got, next)
	}
}

func testLedgerIsAppendOnly(b *bench) {
	id, _ := b.task("t")
	b.hears(id, "s/0", working(id))
	for _, statement := range []string{
		"UPDATE event SET source_key = 'x'",
		"DELETE FROM event",
		"INSERT OR REPLACE INTO event SELECT * FROM event",
		"INSERT OR REPLACE INTO event (id, task_id, source, source_key, raw, sha256, received_us, number) SELECT 'x', task_id, source, 'x', raw, 'x', 0, number FROM event",
		"INSERT OR REPLACE INTO event (rowid, id, task_id, source, source_key, raw, sha256, received_us, number) SELECT rowid, 'x', task_id, source, 'x', raw, 'x', 0, 99 FROM event",
	} {
		if err := b.db.Exec(context.Background(), statement); err == nil {
			b.Errorf("%s was allowed", statement)
		}
	}
	// What was observed before is left as it is, without an error: PostgreSQL has no
	// such statement, SQLite ignores it.
	_ = b.db.Exec(context.Background(), `INSERT OR REPLACE INTO event (id, task_id, source, source_key, raw, sha256, received_us, number)
		SELECT 'x', task_id, source, source_key, raw, 'x', 0, 99 FROM event`)
	b.view(func(tx *store.Tx) error {
		events, err := tx.Events(id, 0, 9)
		if err == nil && (len(events) != 1 || events[0].Digest == "x") {
			b.Errorf("the ledger is %+v, want the one observation as it was", events)
		}
		return err
	})
}

func testChecks(b *bench) {
	id, agentID := b.task("t")
	b.hears(id, "s/0", working(id))
	now := time.Now()
	b.update(func(tx *store.Tx) error { return tx.ScheduleCheck(id, now.Add(-time.Second), time.Minute) })
	claim := func() (n int) {
		b.update(func(tx *store.Tx) error {
			checks, err := tx.ClaimChecks(agentID, 9, now.Add(time.Hour))
			for _, c := range checks {
				if c.TaskID != id || c.RemoteTaskID != "remote-"+id || c.Interval != time.Minute {
					b.Errorf("check %+v, want that of the task", c)
				}
			}
			n = len(checks)
			return err
		})
		return n
	}
	if first, second := claim(), claim(); first != 1 || second != 0 {
		b.Errorf("claimed %d, then %d; want 1, then 0", first, second)
	}
	b.update(func(tx *store.Tx) error { return tx.CheckAllSoon() })
	if n := claimAny(b); n != 1 {
		b.Errorf("claimed %d after a restart, want 1", n)
	}
	b.update(func(tx *store.Tx) error { return tx.ScheduleCheck(id, time.Time{}, 0) })
	b.update(func(tx *store.Tx) error {
		next, err := tx.NextCheck()
		if !next.IsZero() {
			b.Errorf("next check %v, want none", next)
		}
		return err
	})
}

func claimAny(b *bench) (n int) {
	b.update(func(tx *store.Tx) error {
		agents, err := tx.DueChecks()
		if err != nil {
			return err
		}
		for _, agentID := range agents {
			checks, err := tx.ClaimChecks(agentID, 9, time.Now().Add(time.Hour))
			if err != nil {
				return err
			}
			n += len(checks)
		}
		return nil
	})
	return n
}

func testSignalsAfterCommit(b *bench) {
	id, _ := b.task("t")
	b.published.take()
	b.hears(id, "s/0", working(id))
	if got := b.published.take(); !slices.Contains(got, live.TaskTopic(id)) || !slices.Contains(got, live.OrganisationTopic(access.LocalOrganisation)) {
		b.Errorf("published %v, want the task and its organisation", got)
	}
	failure := errors.New("no")
	_ = b.db.Update(context.Background(), func(tx *store.Tx) error {
		tx.Signal("x")
		return failure
	})
	if got := b.published.take(); len(got) != 0 {
		b.Errorf("published %v of an update that failed", got)
	}
}

func testNothingOfAFailedUpdate(b *bench) {
	agentID := b.agent()
	failure := errors.New("no")
	err := b.db.Update(context.Background(), func(tx *store.Tx) error {
		head := task.Head{TaskID: newID(), Kind: task.KindTask, State: a2a.StateUnspecified}
		if err := tx.CreateTask(head, task.Owner{OrganisationID: access.LocalOrganisation, AgentID: agentID, Title: "t"}); err != nil {
			return err
		}
		return failure
	})
	if !errors.Is(err, failure) {
		b.Errorf("Update: %v, want its own failure", err)
	}
	if titles, _ := b.list(task.Filter{Limit: 9}); len(titles) != 0 {
		b.Errorf("tasks %v, want none", titles)
	}
}

func testOtherOrganisationsSeeNothing(b *bench) {
	id, agentID := b.task("t")
	b.command(id, agentID)
	b.view(func(tx *store.Tx) error {
		if _, err := tx.TaskRecord(access.Everything("other"), id); fault.KindOf(err) != fault.NotFound {
			b.Errorf("TaskRecord: %v, want not found", err)
		}
		if _, err := tx.Agent(access.Everything("other"), agentID); fault.KindOf(err) != fault.NotFound {
			b.Errorf("Agent: %v, want not found", err)
		}
		if tasks, _, err := tx.ListTasks(access.Everything("other"), task.Filter{Limit: 9}); len(tasks) != 0 || err != nil {
			b.Errorf("ListTasks: %v, %v; want none", tasks, err)
		}
		agents, err := tx.ListAgents(access.Everything("other"))
		if len(agents) != 0 {
			b.Errorf("ListAgents: %v, want none", agents)
		}
		return err
	})
}

func testAgentsAndCards(b *bench) {
	id := b.agent()
	b.update(func(tx *store.Tx) error {
		return tx.StoreDiscovery(id, agent.Discovery{
			CardID: newID(), Raw: []byte(`{"name":"Ada","description":"d"}`), URL: "http://127.0.0.1/card",
			Health:   agent.Health{Status: agent.HealthReachable, CheckedAt: tx.Now(), Attempts: []agent.Attempt{{URL: "u"}}},
			NextTurn: tx.Now().Add(time.Hour),
		})
	})
	b.view(func(tx *store.Tx) error {
		a, err := tx.Agent(everything, id)
		if err != nil {
			return err
		}
		if a.Name != "Ada" || a.ResolvedCardURL != "http://127.0.0.1/card" || a.Health.Status != agent.HealthReachable || len(a.Health.Attempts) != 1 {
			b.Errorf("agent %+v, want Ada, reachable", a)
		}
		return nil
	})
	b.update(func(tx *store.Tx) error {
		due, err := tx.ClaimRefresh(9, tx.Now().Add(time.Hour))
		if len(due) != 0 {
			b.Errorf("due %v before its time", due)
		}
		return err
	})
}

// testDeepCard: a card that an earlier release took, and this one does not, is as
// good as none.
func testDeepCard(b *bench) {
	id := b.agent()
	raw := `{"name":"Deep","x":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`
	b.update(func(tx *store.Tx) error {
		return tx.StoreDiscovery(id, agent.Discovery{CardID: newID(), Raw: []byte(raw), Health: agent.Health{Status: agent.HealthReachable}, NextTurn: tx.Now()})
	})
	b.view(func(tx *store.Tx) error {
		a, err := tx.Agent(everything, id)
		if a.HasCard() {
			b.Error("the agent has a card that breaks whoever reads it")
		}
		return err
	})
}

func testCardHistory(b *bench) {
	id := b.agent()
	taskID := b.taskOf(id, "waits")
	b.asks(taskID, "s/0", "q")
	before := b.record(taskID).Task.Version
	for _, name := range []string{"one", "one", "two"} {
		b.update(func(tx *store.Tx) error {
			return tx.StoreDiscovery(id, agent.Discovery{CardID: newID(), Raw: fmt.Appendf(nil, `{"name":%q}`, name), Health: agent.Health{Status: agent.HealthReachable}, NextTurn: tx.Now()})
		})
	}
	b.update(func(tx *store.Tx) error {
		return tx.StoreDiscovery(id, agent.Discovery{CardID: newID(), Health: agent.Health{Status: agent.HealthUnreachable, Error: "gone"}, NextTurn: tx.Now()})
	})
	b.view(func(tx *store.Tx) error {
		a, err := tx.Agent(everything, id)
		if a.Name != "two" || a.Health.Error != "gone" {
			b.Errorf("agent %q, %q; want the last card and the last error", a.Name, a.Health.Error)
		}
		return err
	})
	if after := b.record(taskID).Task.Version; after != before+2 {
		b.Errorf("the waiting task's version went from %d to %d, want one for each of two cards", before, after)
	}
}
