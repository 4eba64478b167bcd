package interop

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/remote/agenttest"
)

// goV03Agent is a module of its own: what the console needs asks for a later
// version of the SDK than the one to be tried.
const goV03Agent = "go-agent-v03"

// startGoV03Agent runs an agent on the official Go SDK of A2A 0.3, until the test
// ends, and returns the URL of its card.
func startGoV03Agent(t *testing.T) (cardURL string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "agent")
	build := exec.Command("go", "build", "-C", goV03Agent, "-buildvcs=false", "-o", program, ".")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", goV03Agent, err, said)
	}
	plan, err := json.Marshal(map[string]any{
		"SayMessage": agenttest.SayMessage, "SayWork": agenttest.SayWork, "SayReport": agenttest.SayReport,
		"Report": agenttest.Report(), "Definition": json.RawMessage(agenttest.Definition),
		"MediaType": form.MediaType, "Extension": form.URI,
	})
	if err != nil {
		t.Fatal(err)
	}
	return runProgram(t, exec.Command(program), string(plan)+"\n", 1)[0]
}
