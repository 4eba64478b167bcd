package browser

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/config"
	"github.com/agent-taskbay/taskbay/internal/demo"
)

// TestAGUIExample does the main job on the example page, which is of another origin
// than the console and brings an API token.
func TestAGUIExample(t *testing.T) {
	t.Parallel()
	page := httptest.NewServer(http.FileServer(http.Dir("../../examples/ag-ui")))
	t.Cleanup(page.Close)
	s := apptest.Start(t, apptest.Options{SampleAgents: true, Change: func(c *config.Config) { c.AGUIOrigins = []string{page.URL} }})
	agent := s.SampleAgent(demo.Form).ID
	p := openTab(t)
	p.visit(page.URL)
	p.fill("#console", s.URL())
	p.fill("#token", s.ServiceToken("Page", access.Operator, access.ScopeOperate, agent))
	p.fill("#agent", agent)
	p.click("#connection button")
	p.fill("#message", "Deploy <b>billing</b>")
	p.click("#composer button")
	p.until(`document.querySelector("#answer select[name=environment]")`)
	if evaluate[bool](p, `document.querySelector("#composer").checkVisibility()`) {
		t.Error("a message can be written where only an answer is taken")
	}
	p.shot("ag-ui-example-asks")
	p.choose("#field-environment", "staging")
	p.fill("#field-replicas", "2")
	p.click("#answer menu button")
	p.until(`document.querySelector("#status").textContent === "The run ended: success."`)
	p.until(`[...document.querySelectorAll("#thread li.assistant")].at(-1)?.textContent === "Deploying 2 replica(s) to staging."`)
	if got := p.text("#thread li.user"); got != "Deploy <b>billing</b>" {
		t.Errorf("what was said reads %q", got)
	}
	p.shot("ag-ui-example-done")
}
