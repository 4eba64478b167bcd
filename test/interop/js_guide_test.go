package interop

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/form"
)

// useOfGuide runs what the guide's JavaScript declares: it prints the question as
// JSON and what the guide finds in an answer and in a text.
const useOfGuide = `
const from = (parts) => Message.fromJSON({ messageId: "m", role: "ROLE_USER", parts });
console.log(JSON.stringify({
  question: Message.toJSON(question("task-1", "context-1")),
  answer: answerIn(from([{ data: { environment: "staging", replicas: 3 }, mediaType: "application/json" }])),
  left: answerIn(from([{ data: { environment: "staging" }, mediaType: "application/json" }])),
  text: answerIn(from([{ text: "staging, please" }])) ?? "none",
}));
`

// TestGuideInJavaScript runs the guide's JavaScript on the official SDK.
func TestGuideInJavaScript(t *testing.T) {
	t.Parallel()
	modules, err := installJSAgent()
	if err != nil {
		skip(t, err)
	}
	guide, err := os.ReadFile("../../docs/structured-form.md")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(guide), "```js\n")
	code, _, found := strings.Cut(code, "```")
	if !found {
		t.Fatal("the guide has no JavaScript")
	}
	dir := t.TempDir()
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "guide.mjs"), []byte(code+useOfGuide), 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := exec.Command("node", filepath.Join(dir, "guide.mjs")).CombinedOutput()
	if err != nil {
		t.Fatalf("the guide's JavaScript does not run: %v\n%s", err, said)
	}
	var got struct {
		Question struct {
			TaskID string
			Parts  []struct {
				Text, MediaType string
				Data            json.RawMessage
			}
		}
		Answer, Left struct {
			Environment string
			Replicas    int
		}
		Text string
	}
	if err := json.Unmarshal(said, &got); err != nil {
		t.Fatalf("%s: %v", said, err)
	}
	if len(got.Question.Parts) != 2 || got.Question.TaskID != "task-1" || !form.IsMediaType(got.Question.Parts[1].MediaType) {
		t.Fatalf("the question is %s, want a prompt and a form", said)
	}
	if report := form.Inspect(got.Question.Parts[1].Data); !report.Accepted || len(report.Advice) > 0 {
		t.Errorf("the form is not drawn without a remark: %+v", report)
	}
	if got.Answer.Environment != "staging" || got.Answer.Replicas != 3 || got.Left.Replicas != 1 || got.Text != "none" {
		t.Errorf("the guide reads %s, want the answer with 3 replicas, 1 where they are left out, and none in a text", said)
	}
}
