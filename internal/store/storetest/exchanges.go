package storetest

import (
	"fmt"
	"net/http"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/agent/signature"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/wire"
)

func (b *bench) exchange(c wire.Change) {
	b.Helper()
	b.update(func(tx *store.Tx) error { return tx.StoreExchange(c) })
}

func testExchanges(b *bench) {
	taskID, agentID := b.task("t")
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	whole := wire.Change{Exchange: wire.Exchange{
		ID: newID(), AgentID: agentID, TaskID: taskID, CommandID: "c", Operation: "SendStreamingMessage", Binding: "JSONRPC", Version: "1.0",
		Method: "POST", URL: "http://127.0.0.1/rpc", RequestHeader: http.Header{"A": {"1", "2"}}, RequestBody: []byte{'{', 0xff}, RequestSize: 9,
		StartedAt: at,
	}}
	b.exchange(whole)
	whole.Status, whole.ResponseHeader, whole.Events, whole.AnsweredAt = 200, http.Header{"B": {"3"}}, 1, at.Add(time.Second)
	whole.New = []wire.Event{{Number: 1, At: at, ID: "i", Type: "t", Body: []byte("x"), Size: 5}}
	b.exchange(whole)
	whole.Events, whole.Error, whole.EndedAt = 2, "cut", at.Add(time.Minute)
	whole.New = []wire.Event{{Number: 2, At: at, Size: 0}}
	b.exchange(whole)
	b.view(func(tx *store.Tx) error {
		got, events, err := tx.Exchange(whole.ID)
		want := whole.Exchange
		want.ResponseBody = got.ResponseBody // nothing, in one form or another
		if diff := cmp.Diff(want, got); diff != "" || len(got.ResponseBody) != 0 {
			b.Errorf("exchange mismatch (-want +got):\n%s", diff)
		}
		if len(events) != 2 || string(events[0].Body) != "x" || events[0].Size != 5 || len(events[1].Body) != 0 {
			b.Errorf("events = %+v, want both", events)
		}
		if _, _, err := tx.Exchange("none"); fault.KindOf(err) != fault.NotFound {
			b.Errorf("Exchange of none: %v, want not found", err)
		}
		return err
	})
	b.otherExchanges(agentID, taskID, at)
}

// otherExchanges adds more to an agent that has one, and drops some.
func (b *bench) otherExchanges(agentID, taskID string, at time.Time) {
	b.Helper()
	for i := range 5 {
		b.exchange(wire.Change{Exchange: wire.Exchange{
			ID: newID(), AgentID: agentID, Operation: fmt.Sprint("Op", i), Status: 200 + i, StartedAt: at.Add(time.Duration(i+1) * time.Hour),
		}})
	}
	b.exchange(wire.Change{Exchange: wire.Exchange{ID: newID(), AgentID: agentID, Operation: "AgentCard", Status: 401, StartedAt: at.AddDate(0, 0, 1)}})
	b.exchange(wire.Change{Exchange: wire.Exchange{ID: newID(), AgentID: agentID, Operation: "GetTask", Error: "no answer", StartedAt: at.AddDate(0, 0, 1)}})
	wants := func(latest string, total, ofTask int) {
		b.Helper()
		b.view(func(tx *store.Tx) error {
			list, count, err := tx.AgentExchanges(agentID, 3)
			if err != nil || count != total || len(list) != 3 {
				b.Errorf("AgentExchanges: %d of %d, %v; want 3 of %d", len(list), count, err, total)
			}
			if _, count, err := tx.TaskExchanges(taskID, 3); err != nil || count != ofTask {
				b.Errorf("TaskExchanges: %d, %v; want %d", count, err, ofTask)
			}
			last, err := tx.LastAnswered(agentID)
			if last.Operation != latest {
				b.Errorf("LastAnswered: %s, want %s", last.Operation, latest)
			}
			return err
		})
	}
	wants("Op4", 8, 1)
	b.update(func(tx *store.Tx) error { return tx.PruneExchanges(at.Add(90 * time.Minute)) })
	wants("Op4", 6, 0)
	b.update(func(tx *store.Tx) error { return tx.KeepExchanges(agentID, 6) })
	wants("Op4", 6, 0)
	b.update(func(tx *store.Tx) error { return tx.KeepExchanges(agentID, 3) })
	wants("Op4", 3, 0)
}

func testPins(b *bench) {
	key, err := signature.ParseKey(`{"kty":"OKP","crv":"Ed25519","kid":"k","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`, "")
	if err != nil {
		b.Fatal(err)
	}
	pin := agent.Pin{ID: newID(), OrganisationID: access.LocalOrganisation, Origin: "https://a.example", Key: key,
		ExpiresAt: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), CreatedBy: "Ann", CreatedAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	b.update(func(tx *store.Tx) error { return tx.InsertPin(pin) })
	b.view(func(tx *store.Tx) error {
		got, err := tx.Pins(access.LocalOrganisation)
		if diff := cmp.Diff([]agent.Pin{pin}, got); diff != "" {
			b.Errorf("pins mismatch (-want +got):\n%s", diff)
		}
		if others, err := tx.Pins("other"); len(others) != 0 || err != nil {
			b.Errorf("Pins of others: %v, %v; want none", others, err)
		}
		return err
	})
	b.update(func(tx *store.Tx) error {
		if err := tx.RemovePin("other", pin.ID); fault.KindOf(err) != fault.NotFound {
			b.Errorf("RemovePin of another's: %v, want not found", err)
		}
		return tx.RemovePin(access.LocalOrganisation, pin.ID)
	})
	id := b.agent()
	for _, pinned := range []*remote.Interface{{URL: "http://127.0.0.1/x", Binding: "GRPC", ProtocolVersion: "1.0", Tenant: "t"}, nil} {
		b.update(func(tx *store.Tx) error { return tx.SetInterface(id, pinned) })
		b.view(func(tx *store.Tx) error {
			a, err := tx.AnyAgent(id)
			if diff := cmp.Diff(pinned, a.Pinned); diff != "" {
				b.Errorf("interface mismatch (-want +got):\n%s", diff)
			}
			return err
		})
	}
}
