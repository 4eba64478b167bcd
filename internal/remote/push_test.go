package remote_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/remote/agenttest"
)

// TestPushConfigs keeps configurations at an agent on the official SDK, over every
// binding. The secrets in them are in no record.
func TestPushConfigs(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, way agenttest.Way) {
		_, to := serveSDKAgent(t, way)
		var r recorder
		client, ctx := newClient(t, remote.Options{Record: r.record}), testContext(t)
		task := asked(t, client, to, message()).TaskID()

		want := remote.PushConfig{
			TaskID: task, ID: "p-1", URL: "https://console.example/push/1",
			Token: "token-hunter2", Scheme: "Bearer", Credentials: "credentials-hunter2",
		}
		made, err := client.CreatePushConfig(ctx, to, want)
		if diff := cmp.Diff(want, made); diff != "" || err != nil {
			t.Fatalf("Create: %v, mismatch (-want +got):\n%s", err, diff)
		}
		got, err := client.GetPushConfig(ctx, to, task, "p-1")
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("Get: %v, mismatch (-want +got):\n%s", err, diff)
		}
		plain, err := client.CreatePushConfig(ctx, to, remote.PushConfig{TaskID: task, URL: "https://console.example/push/2"})
		if err != nil || plain.ID == "" || plain.URL != "https://console.example/push/2" {
			t.Errorf("Create without an ID: %+v, %v", plain, err)
		}
		list, err := client.ListPushConfigs(ctx, to, task)
		if err != nil || len(list) != 2 {
			t.Errorf("List: %+v, %v, want both", list, err)
		}
		if err := client.DeletePushConfig(ctx, to, task, "p-1"); err != nil {
			t.Errorf("Delete: %v", err)
		}
		if list, err := client.ListPushConfigs(ctx, to, task); err != nil || len(list) != 1 || list[0] != plain {
			t.Errorf("List after Delete: %+v, %v, want %+v alone", list, err, plain)
		}
		_, err = client.GetPushConfig(ctx, to, "no-such-task", "p-1")
		if e := outcome(t, err); e.Delivery != remote.Answered || e.Code == "" {
			t.Errorf("Get of an unknown task = %+v, want an answer", e)
		}
		assertNoSecrets(t, r.records)
	})
}

func assertNoSecrets(t *testing.T, records []remote.Record) {
	t.Helper()
	redacted := 0
	for _, record := range records {
		if strings.Contains(string(record.Body), "hunter2") || strings.Contains(string(record.Body), "/push/") {
			t.Errorf("%s of %s has a secret in it: %s", record.Kind, record.Operation, record.Body)
		}
		redacted += strings.Count(string(record.Body), "[redacted]")
	}
	if redacted < 6 { // in the request and in two answers
		t.Errorf("%d secrets redacted, want at least 6", redacted)
	}
}

// TestPushConfigsOfOddAgents has a row for each way in which agents answer.
func TestPushConfigsOfOddAgents(t *testing.T) {
	t.Parallel()
	want := remote.PushConfig{TaskID: "t-1", ID: "p-1", URL: "https://c.example/1"}
	const flat = `{"taskId":"t-1","id":"p-1","url":"https://c.example/1"}`
	const nested = `{"taskId":"t-1","pushNotificationConfig":{"id":"p-1","url":"https://c.example/1"}}`
	const named = `{"name":"tasks/t-1/pushNotificationConfigs/p-1","pushNotificationConfig":{"id":"p-1","url":"https://c.example/1"}}`
	for _, tt := range []struct {
		name, contentType, body string
		status                  int
	}{
		{"flat", "application/json", flat, 200},
		{"created", "application/a2a+json", flat, 201},
		{"nested", "application/json", nested, 200},
		{"by its name", "application/json", named, 200},
		{"without the task", "application/json", `{"id":"p-1","url":"https://c.example/1"}`, 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, way := range agenttest.Ways() {
				if way.OverGRPC() {
					continue // has one way only
				}
				body := tt.body
				if way.Binding == remote.JSONRPC {
					body = rpc(body)
				}
				agent := newAgent(t, answers(tt.status, tt.contentType, body))
				got, err := newClient(t, remote.Options{}).GetPushConfig(testContext(t), targetBy(way, agent.URL), "t-1", "p-1")
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("%s: %v, mismatch (-want +got):\n%s", way, err, diff)
				}
			}
		})
	}
}

// TestPushSecretsThatAreRepeated: an agent that repeats what it is given, in a refusal or
// a header, does so in no record and no error.
func TestPushSecretsThatAreRepeated(t *testing.T) {
	t.Parallel()
	const token, inPath = "token-hunter2-token", "path-hunter2-path"
	agent := newAgent(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Said", inPath)
		answers(http.StatusOK, "application/json", `{"jsonrpc":"2.0","id":"1","error":{"code":-32602,"message":"what is `+token+` at https://c.example/`+inPath+`?"}}`)(w, nil)
	})
	var r recorder
	_, err := newClient(t, remote.Options{Record: r.record}).CreatePushConfig(testContext(t), target(agent.URL, remote.JSONRPC), remote.PushConfig{
		TaskID: "t-1", ID: "p-1", URL: "https://c.example/" + inPath, Token: token, Scheme: "Bearer", Credentials: token,
	})
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error = %v, want one without the secrets", err)
	}
	for _, record := range r.records {
		if text := fmt.Sprintf("%s %s %v", record.Body, record.Err, record.Header); strings.Contains(text, "hunter2") {
			t.Errorf("%s has a secret in it: %s", record.Kind, text)
		}
	}
}

// TestPushConfigsThatAreNone: what is no configuration is told, and not repeated.
func TestPushConfigsThatAreNone(t *testing.T) {
	t.Parallel()
	agent := newAgent(t, answers(http.StatusOK, "application/json", `{"token":"hunter2"}`))
	client, to := newClient(t, remote.Options{}), target(agent.URL, remote.HTTPJSON)
	_, err := client.GetPushConfig(testContext(t), to, "t-1", "p-1")
	if e := outcome(t, err); e.Code != remote.CodeInvalidResponse || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("outcome = %+v, want an invalid response without the secret", e)
	}
	for body, valid := range map[string]bool{`{}`: true, `{"configs":null}`: true, `{"configs":[]}`: true, `[]`: true, `{"configs":{}}`: false, `7`: false} {
		agent := newAgent(t, answers(http.StatusOK, "application/json", body))
		configs, err := client.ListPushConfigs(testContext(t), target(agent.URL, remote.HTTPJSON), "t-1")
		if len(configs) > 0 || (err == nil) != valid {
			t.Errorf("List of %s = %+v, %v", body, configs, err)
		}
	}
}

// TestPushConfigIsDeleted: agents answer with nothing, with null, or with an object.
func TestPushConfigIsDeleted(t *testing.T) {
	t.Parallel()
	for _, way := range agenttest.Ways() {
		if way.OverGRPC() {
			continue // has one way only
		}
		for name, handle := range map[string]http.HandlerFunc{
			"no content": answers(http.StatusNoContent, "", ""),
			"empty":      answers(http.StatusOK, "application/json", ""),
			"object":     answers(http.StatusOK, "application/json", "{}"),
			"null":       answers(http.StatusOK, "application/json", rpc("null")),
		} {
			agent := newAgent(t, handle)
			if err := newClient(t, remote.Options{}).DeletePushConfig(testContext(t), targetBy(way, agent.URL), "t-1", "p-1"); err != nil {
				t.Errorf("%s, %s: %v", way, name, err)
			}
		}
		agent := newAgent(t, answers(http.StatusOK, "application/json", `{"error":{"code":-32003,"message":"no push"}}`))
		err := newClient(t, remote.Options{}).DeletePushConfig(testContext(t), targetBy(way, agent.URL), "t-1", "p-1")
		if e := outcome(t, err); e.Code != remote.CodePushNotSupported || e.Delivery != remote.Answered {
			t.Errorf("%s: outcome = %+v, want %s", way, e, remote.CodePushNotSupported)
		}
	}
}

// TestPushRecordsThatCannotBeRead: what may hold a secret somewhere is not recorded.
func TestPushRecordsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"not JSON": `token=hunter2`,
		"too deep": strings.Repeat("[", 40) + `{"token":"hunter2"}` + strings.Repeat("]", 40),
		"twice":    `{"token":"hunter2"} {"token":"hunter2"}`,
	} {
		agent := newAgent(t, answers(http.StatusOK, "application/json", body))
		var r recorder
		_, _ = newClient(t, remote.Options{Record: r.record}).GetPushConfig(testContext(t), target(agent.URL, remote.HTTPJSON), "t-1", "p-1")
		for _, record := range r.records {
			if strings.Contains(string(record.Body)+record.Err, "hunter2") {
				t.Errorf("%s: %s has the secret in it: %s %s", name, record.Kind, record.Body, record.Err)
			}
		}
	}
}
