package browser

import (
	"testing"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
)

// heaviest is how many bytes a page with a form of thirty fields may take with
// all that it loads, none of it compressed.
const heaviest = 80_000

func TestFormPageIsLight(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Options{SampleAgents: true})
	sent := s.Send(s.SampleAgent("kitchen-sink").ID, map[string]string{"text": "Begin"})
	s.TaskIn(sent.TaskID, "TASK_STATE_INPUT_REQUIRED")
	p := openTab(t)
	p.visit(s.URL() + "/tasks/" + sent.TaskID)
	p.until(`document.querySelector("structured-form")?.fields?.length === 30`)
	p.shot("kitchen-sink")
	sizes := evaluate[map[string]int](p, `Object.fromEntries(
		[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
			.filter((entry) => entry.decodedBodySize)
			.map((entry) => [new URL(entry.name).pathname, entry.decodedBodySize]))`)
	whole := 0
	for _, size := range sizes {
		whole += size
	}
	t.Logf("%d bytes: %v", whole, sizes)
	if whole > heaviest {
		t.Errorf("the page takes %d bytes, want at most %d: %v", whole, heaviest, sizes)
	}
}
