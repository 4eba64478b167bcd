package a2a_test

import (
	"encoding/json"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/a2a"
)

func TestCondense(t *testing.T) {
	t.Parallel()
	const (
		task     = `{"task":{"id":"t","contextId":"c","status":{"state":"S","timestamp":"T","message":{"messageId":"m"},"x":1},"history":[{}],"artifacts":[{"artifactId":"a"}],"metadata":{"k":1.0}}}`
		status   = `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"S","message":{"messageId":"m"}},"final":true,"metadata":{}}}`
		artifact = `{"artifactUpdate":{"taskId":"t","artifact":{"artifactId":"a","parts":[{"data":1.50}]},"append":true,"lastChunk":false,"metadata":{}}}`
		message  = `{"message":{"messageId":"m","taskId":"t","role":"ROLE_AGENT","parts":[{"text":"x"}],"metadata":{}}}`
	)
	all := a2a.Keep{Message: true, Artifacts: true}
	tests := map[string]struct {
		payload string
		keep    a2a.Keep
		want    string
	}{
		"task":                {task, a2a.Keep{}, `{"task":{"id":"t","contextId":"c","status":{"state":"S","timestamp":"T"}}}`},
		"task, all":           {task, all, `{"task":{"id":"t","contextId":"c","status":{"state":"S","timestamp":"T","message":{"messageId":"m"}},"artifacts":[{"artifactId":"a"}]}}`},
		"task, unwrapped":     {`{"kind":"task","id":"t","status":"S"}`, all, `{"task":{"id":"t","status":"S"}}`},
		"status":              {status, a2a.Keep{}, `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"S"}}}`},
		"status, all":         {status, all, `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"S","message":{"messageId":"m"}}}}`},
		"artifact":            {artifact, a2a.Keep{Message: true}, ""},
		"artifact, all":       {artifact, all, `{"artifactUpdate":{"taskId":"t","artifact":{"artifactId":"a","parts":[{"data":1.50}]},"append":true,"lastChunk":false}}`},
		"message":             {message, a2a.Keep{Artifacts: true}, ""},
		"message, all":        {message, all, `{"message":{"messageId":"m","taskId":"t","role":"ROLE_AGENT","parts":[{"text":"x"}]}}`},
		"of no known kind":    {`{"progress":1}`, all, ""},
		"not JSON":            {`{"task":`, all, ""},
		"nothing of a task":   {`{"task":{}}`, all, `{"task":{}}`},
		"members that repeat": {`{"statusUpdate":{"taskId":"t","status":{"state":"A","state":"B"}}}`, all, `{"statusUpdate":{"taskId":"t","status":{"state":"A","state":"B"}}}`},
	}
	for name, tc := range tests {
		if got := string(a2a.Condense(json.RawMessage(tc.payload), tc.keep)); got != tc.want {
			t.Errorf("%s: %s\nwant %s", name, got, tc.want)
		}
	}
}
