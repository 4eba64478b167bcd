package reported

import (
	"io"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/remote/agenttest"
)

func answerCases() map[string]reportedCase {
	return map[string]reportedCase{
		"err-data-object": {ways: by(remote.JSONRPC), play: errorData},
		"rpc-version":     {ways: by(remote.JSONRPC), play: noVersionMember, open: "no warning beside the exchange"},
		"version-header":  {ways: where(func(w agenttest.Way) bool { return !w.Legacy() && !w.OverGRPC() }), play: versionHeader},
		"a2a-json-error":  {ways: by(remote.HTTPJSON), play: errorOfA2AType},
		"problem-json":    {ways: by(remote.HTTPJSON), play: problemDetails},
		"list-no-paging":  {ways: where(func(w agenttest.Way) bool { return w != legacyRPC }), play: listWithoutPages},
		"card-v1-prefix":  {ways: by(remote.HTTPJSON), play: otherPrefix, open: "the address of an interface cannot be set by hand"},
		"cancel-race":     {ways: all(), play: cancelTooLate},
	}
}

// legacyRPC has no method that lists.
var legacyRPC = agenttest.Way{Binding: remote.JSONRPC, Version: "0.3"}

// answer answers every call alike.
func answer(status int, contentType, body string) func(agenttest.Call) agenttest.Say {
	return func(agenttest.Call) agenttest.Say {
		return agenttest.Say{HTTP: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}}
	}
}

// refused sends a message, which has to fail with these words.
func (s scene) refused(say func(agenttest.Call) agenttest.Say, words ...string) {
	s.Helper()
	fake, agent := s.agent(say)
	c := s.product.Send(agent.ID, map[string]any{"text": "go"})
	for _, want := range words {
		if want = strings.ReplaceAll(want, "BASE", fake.Interface.URL); c.Status != "failed" || !strings.Contains(c.Error, want) {
			s.Errorf("the message is %s: %q, want it failed with %q", c.Status, c.Error, want)
		}
	}
}

func errorData(s scene) {
	for data, want := range map[string]string{`{"reason":"x"}`: `{"reason":"x"}`, `"str"`: `"str"`, `[1]`: "real"} {
		s.refused(func(agenttest.Call) agenttest.Say {
			return agenttest.Say{Error: &agenttest.Refusal{Code: -32001, Message: "real", Data: data}}
		}, "The agent does not know this task. It says: real", want)
	}
	for _, data := range []string{`{"reason":"x"}`, `"str"`} { // in a stream
		_, _, err := s.heard(func(*agenttest.Fake) []string {
			return []string{`data: {"jsonrpc":"2.0","id":"1","error":{"code":-32001,"message":"real","data":` + data + "}}\n\n"}
		})
		if err == nil || !strings.Contains(err.Error(), "real "+data) {
			s.Errorf("error = %v, want real and %s", err, data)
		}
	}
}

func noVersionMember(s scene) {
	var fake *agenttest.Fake
	fake, agent := s.agent(func(agenttest.Call) agenttest.Say {
		return answer(200, "application/json", `{"id":1,"result":`+fake.Wire(taskCompleted)+`}`)(agenttest.Call{})
	})
	s.product.TaskIn(s.start(agent), "TASK_STATE_COMPLETED")
}

// versionHeader is an agent, and a card, that want to know the version.
func versionHeader(s scene) {
	unversioned := func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("A2A-Version") == "1.0" {
			return false
		}
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"code":-32009,"message":"VERSION_NOT_SUPPORTED"}}`)
		return true
	}
	var fake *agenttest.Fake
	fake = agenttest.Play(s, s.way, true, func(agenttest.Call) agenttest.Say {
		return agenttest.Say{HTTP: func(w http.ResponseWriter, r *http.Request) {
			if !unversioned(w, r) {
				_, _ = io.WriteString(w, fake.Envelope(taskCompleted))
			}
		}}
	})
	card := serve(s, func(w http.ResponseWriter, r *http.Request) {
		if !unversioned(w, r) {
			_, _ = io.WriteString(w, fake.Card(true))
		}
	})
	s.product.TaskIn(s.start(s.product.Register(card+"/"+uuid.NewString()+".json")), "TASK_STATE_COMPLETED")
}

func errorOfA2AType(s scene) {
	s.refused(answer(404, "application/a2a+json",
		`{"error":{"code":404,"status":"NOT_FOUND","message":"no such thing","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org"}]}}`),
		"The agent does not know this task. It says: no such thing.")
}

func problemDetails(s scene) {
	s.refused(answer(400, "application/problem+json", `{"type":"about:blank","title":"Bad input","detail":"The moon is full"}`),
		"400 Bad Request", "The moon is full.")
	s.refused(answer(400, "application/problem+json", `{"type":"about:blank","title":"Bad input"}`), "Bad input.")
}

func listWithoutPages(s scene) {
	fake := agenttest.Play(s, s.way, true, func(c agenttest.Call) agenttest.Say { return events(`{"tasks":[]}`) })
	client := remote.New(remote.Options{})
	s.Cleanup(client.Close)
	page, err := client.List(s.Context(), s.target(fake), remote.ListRequest{})
	if err != nil || page.Next != "" {
		s.Errorf("page %+v, %v; want it to be the last", page, err)
	}
}

func otherPrefix(s scene) {
	s.refused(func(agenttest.Call) agenttest.Say { return agenttest.Say{HTTP: http.NotFound} },
		"Nothing answers to this call at POST BASE", "/message:stream (404 Not Found)")
}

// cancelTooLate: the task has ended just before it was canceled.
func cancelTooLate(s scene) {
	_, agent := s.agent(func(c agenttest.Call) agenttest.Say {
		switch {
		case c.Method == "CancelTask":
			return agenttest.Say{Error: &agenttest.Refusal{Code: -32002, Message: "already done"}}
		case c.Method == "GetTask":
			return events(taskCompleted)
		}
		return agenttest.Say{Events: []string{submitted, working}, Hold: c.Method == "SendStreamingMessage"}
	})
	id := s.start(agent)
	s.product.TaskIn(id, "TASK_STATE_WORKING")
	c := s.product.Send(agent.ID, map[string]any{"action": "cancel", "taskId": id})
	if c.Status != "failed" || !strings.Contains(c.Error, "cannot cancel this task, or not any more") {
		s.Errorf("canceling is %s: %s", c.Status, c.Error)
	}
	s.product.TaskIn(id, "TASK_STATE_COMPLETED")
	if page := s.product.Page("/tasks/" + id); !strings.Contains(page, "Too late: the task had ended") || strings.Contains(page, "Refused by the agent") {
		s.Error("the page does not say that the task had ended by then")
	}
}
