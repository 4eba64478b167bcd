package storetest

import (
	"fmt"
	"slices"

	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// cancels returns the task's cancels that changed after a version.
func (b *bench) cancels(taskID string, since int64) []task.CancelRequest {
	b.Helper()
	var cancels []task.CancelRequest
	b.view(func(tx *store.Tx) (err error) {
		cancels, err = tx.Cancels(taskID, since)
		return err
	})
	return cancels
}

// ends claims all that is due and settles one command so.
func (b *bench) ends(id string, v command.Verdict) {
	b.Helper()
	b.claim("w1")
	b.update(func(tx *store.Tx) error {
		v.RunAt = tx.Now()
		mine, err := tx.SettleCommand(id, "w1", v)
		if !mine {
			b.Errorf("command %s could not be settled", id)
		}
		return err
	})
}

// testCancels has a cancel as an entry behind what is there, which changes with
// what becomes of it.
func testCancels(b *bench) {
	id, agentID := b.task("t")
	b.hears(id, "s/0", working(id))
	r := b.newCommand(id, agentID)
	r.Command.Action = command.Cancel
	before := b.record(id).Task.Version
	b.update(func(tx *store.Tx) error {
		if err := tx.InsertCommand(r); err != nil {
			return err
		}
		return tx.AddCancel(id, r.Command.ID)
	})
	asked := b.cancels(id, before)
	if len(asked) != 1 || asked[0].Author != "Ann" || asked[0].Seq == 0 || asked[0].Delivery.Status != string(command.Pending) {
		b.Fatalf("cancels %+v, want Ann's, pending", asked)
	}
	b.hears(id, "s/1", completed(id))
	seen := b.record(id).Task.Version
	b.ends(r.Command.ID, command.Verdict{Status: command.Failed, Problem: "It has ended.", Refused: true})
	want := task.Delivery{CommandID: r.Command.ID, Status: string(command.Failed), Error: "It has ended.", Refused: true}
	if got := b.cancels(id, seen); len(got) != 1 || got[0].Delivery != want || got[0].Seq != asked[0].Seq {
		b.Errorf("cancels after it was refused: %+v, want %+v in the same place", got, want)
	}
	if got := b.cancels(id, b.record(id).Task.Version); len(got) != 0 {
		b.Errorf("cancels that did not change: %+v", got)
	}
}

// testStandings has the list tell, and find, how tasks stand of which no agent
// has told anything.
func testStandings(b *bench) {
	agentID := b.agent()
	for title, v := range map[string]command.Verdict{
		"lost": {Status: command.Failed}, "refused": {Status: command.Failed, Refused: true}, "unsure": {Status: command.Uncertain},
	} {
		b.ends(b.command(b.taskOf(agentID, title), agentID).Command.ID, v)
	}
	id := b.taskOf(agentID, "tried again")
	b.ends(b.command(id, agentID).Command.ID, command.Verdict{Status: command.Failed})
	b.command(id, agentID)
	known := b.taskOf(agentID, "known")
	b.ends(b.command(known, agentID).Command.ID, command.Verdict{Status: command.Failed})
	b.hears(known, "s/0", working(known))
	for standing, want := range map[task.Standing][]string{
		task.StandingNotSent: {"lost"}, task.StandingRefused: {"refused"}, task.StandingUnknown: {"unsure"},
		task.StandingSending: {"tried again"}, task.StandingReplied: nil, task.StandingAnswered: nil, "none": nil,
	} {
		if got, _ := b.list(task.Filter{Standing: standing, Limit: 9}); !slices.Equal(got, want) {
			b.Errorf("%s: %v, want %v", standing, got, want)
		}
	}
	if sent := b.record(id).Task.Sent; sent == nil || sent.Status != string(command.Dispatching) {
		b.Errorf("what was sent last is %+v, want the second message, which was claimed", sent)
	}
	if sent := b.record(known).Task.Sent; sent != nil {
		b.Errorf("a task that the agent has told of has %+v", sent)
	}
}

// testSearchInData finds what stands in data and artifacts, also across chunks.
func testSearchInData(b *bench) {
	id, _ := b.task("t")
	b.hears(id, "s/0", fmt.Sprintf(`{"statusUpdate":{"taskId":"remote-%s","contextId":"c","status":{"state":"TASK_STATE_WORKING",
		"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"data":{"city":"Zürich","list":["one",{"deep":"Bern"}],"n":4711,"nul":"a\u0000b"}}]}}}}`, id))
	chunk := `{"artifactUpdate":{"taskId":"remote-%s","artifact":{"artifactId":"a","name":"Travel log","parts":[{"text":%q}]},"append":%v}}`
	b.hears(id, "s/1", fmt.Sprintf(chunk, id, "Gen", false))
	b.hears(id, "s/2", fmt.Sprintf(chunk, id, "eva", true))
	for query, found := range map[string]bool{
		"ZÜRICH": true, "one": true, "bern": true, "4711": true, "travel": true, "geneva": true, "city": false, "deep": false,
	} {
		if got, _ := b.list(task.Filter{Query: query, Limit: 9}); (len(got) == 1) != found {
			b.Errorf("search %q: %v, found should be %v", query, got, found)
		}
	}
}
