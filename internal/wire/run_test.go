package wire

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// answered is a check that a task's agent answered, as the record has it.
func answered(change func(*Exchange)) Exchange {
	e := Exchange{Operation: "GetTask", Binding: "JSONRPC", TaskID: "t", Method: "POST", URL: "u", Status: 200, Outcome: "same", EndedAt: time.Unix(1, 0)}
	if change != nil {
		change(&e)
	}
	return e
}

func TestRuns(t *testing.T) {
	t.Parallel()
	same := answered(nil)
	for name, test := range map[string]struct {
		items []Exchange
		want  []int // how many are in each run
	}{
		"nothing":           {nil, nil},
		"two are no run":    {[]Exchange{same, same}, []int{1, 1}},
		"three are":         {[]Exchange{same, same, same}, []int{3}},
		"another answer":    {[]Exchange{same, same, same, answered(func(e *Exchange) { e.Outcome = "other" }), same, same, same, same}, []int{3, 1, 4}},
		"not known whether": {[]Exchange{answered(func(e *Exchange) { e.Outcome = "" }), answered(func(e *Exchange) { e.Outcome = "" }), answered(func(e *Exchange) { e.Outcome = "" })}, []int{1, 1, 1}},
		"another task":      {[]Exchange{same, same, answered(func(e *Exchange) { e.TaskID = "t2" })}, []int{1, 1, 1}},
		"another status":    {[]Exchange{same, same, answered(func(e *Exchange) { e.Status = 500 })}, []int{1, 1, 1}},
		"one is under way":  {[]Exchange{answered(func(e *Exchange) { e.EndedAt = time.Time{} }), same, same, same}, []int{1, 3}},
		"messages":          {[]Exchange{answered(send), answered(send), answered(send)}, []int{1, 1, 1}},
	} {
		var got []int
		next := 0
		for _, run := range (Page{Items: test.items}).Runs() {
			if run.From != next {
				t.Errorf("%s: a run begins at %d, want %d", name, run.From, next)
			}
			next += len(run.Items)
			got = append(got, len(run.Items))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func send(e *Exchange) { e.Operation = "SendMessage" }

// TestOutcome: the ID of a JSON-RPC call is none of its outcome, and everything else is.
func TestOutcome(t *testing.T) {
	t.Parallel()
	of := func(binding, answer string, size int) string {
		return outcome(Exchange{Binding: binding, ResponseSize: int64(size)}, []byte(answer))
	}
	rpc := func(id int, result string) string {
		answer := `{"jsonrpc":"2.0","id":` + strconv.Itoa(id) + `,"result":` + result + `}`
		return of("JSONRPC", answer, len(answer))
	}
	if rpc(1, `{"id":1}`) != rpc(2, `{"id":1}`) {
		t.Error("the ID of the call makes it another outcome")
	}
	if rpc(1, `{"id":1}`) == rpc(1, `{"id":2}`) {
		t.Error("another result is the same outcome")
	}
	if of("HTTP+JSON", `{"id":1}`, 8) == of("HTTP+JSON", `{"id":2}`, 8) {
		t.Error("another task is the same outcome")
	}
	if got := of("JSONRPC", `{"id":1}`, 9); got != "" {
		t.Errorf("the outcome of an answer that is not all there is %q", got)
	}
	if of("JSONRPC", "not JSON", 8) == "" {
		t.Error("an answer that is no JSON has no outcome")
	}
}
