package wire

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
)

// fewest is how many exchanges with one outcome are a run.
const fewest = 3

// Run is exchanges that follow each other, newest first: calls that only ask, about the
// same thing and with the same outcome, or a single one of any kind.
type Run struct {
	From  int // the place of the first in the page
	Items []Exchange
}

// Runs returns the exchanges of the page in runs.
func (p Page) Runs() []Run {
	var runs []Run
	for from := 0; from < len(p.Items); {
		to := from + 1
		for to < len(p.Items) && p.Items[from].sameAs(p.Items[to]) {
			to++
		}
		if to-from < fewest {
			to = from + 1
		}
		runs = append(runs, Run{From: from, Items: p.Items[from:to]})
		from = to
	}
	return runs
}

// sameAs reports whether two exchanges asked the same and had the same outcome.
func (e Exchange) sameAs(f Exchange) bool {
	return e.alike(f) && e.Outcome != "" && e.Outcome == f.Outcome
}

// alike reports whether two exchanges may turn out to be the same.
func (e Exchange) alike(f Exchange) bool {
	return e.asks() && e.Operation == f.Operation && e.TaskID == f.TaskID && e.Method == f.Method && e.URL == f.URL &&
		e.Status == f.Status && e.GRPCStatus == f.GRPCStatus && e.Error == f.Error
}

// asks reports whether the call changes nothing at the agent.
func (e Exchange) asks() bool {
	return (e.Operation == "GetTask" || e.Operation == "ListTasks") && !e.EndedAt.IsZero()
}

// outcome names what came of an exchange: the digest of its answer without what names
// the call; "" if not all of it is kept.
func outcome(e Exchange, answer []byte) string {
	if int64(len(answer)) < e.ResponseSize {
		return ""
	}
	sum := sha256.New()
	if e.Binding == "JSONRPC" && rawjson.KindOf(answer) == rawjson.Object {
		for name, value := range rawjson.Members(answer) {
			if name != "id" {
				sum.Write([]byte(name))
				sum.Write(value)
			}
		}
	} else {
		sum.Write(answer)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// setOutcomes names the outcomes of those that may be part of a run.
func setOutcomes(tx Tx, list []Exchange) error {
	for i := range list {
		before, after := i > 0 && list[i].alike(list[i-1]), i+1 < len(list) && list[i].alike(list[i+1])
		if !before && !after {
			continue
		}
		answer, err := tx.Answer(list[i].ID)
		if err != nil {
			return err
		}
		list[i].Outcome = outcome(list[i], answer)
	}
	return nil
}
