package interop

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/remote/agenttest"
)

var update = flag.Bool("update", false, "write docs/compatibility.md anew")

const matrixFile = "../../docs/compatibility.md"

// peer is an agent of others, spoken to in one way.
type peer struct {
	name, version string
	way           agenttest.Way
	cardURL       string
}

// TestMatrix speaks to agents on the official SDKs in every way that they offer,
// and compares what held with docs/compatibility.md.
func TestMatrix(t *testing.T) {
	t.Parallel()
	peers := append(goPeers(t), jsPeers(t)...)
	held := make([]map[string]string, len(peers))
	t.Run("peers", func(t *testing.T) {
		for i, p := range peers {
			t.Run(p.name+" "+p.version+" "+p.way.String(), func(t *testing.T) {
				t.Parallel()
				held[i] = p.tryAll(t)
			})
		}
	})
	got := matrix(peers, held)
	if *update {
		if err := os.WriteFile(matrixFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(matrixFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not what held (-file +held); run this test with -update if that is right:\n%s", filepath.Base(matrixFile), diff)
	}
}

func goPeers(t *testing.T) []peer {
	t.Helper()
	var peers []peer
	for _, way := range agenttest.Ways() {
		peers = append(peers, peer{"a2a-go", moduleVersion(t, "../../go.mod", "github.com/a2aproject/a2a-go/v2"), way, agenttest.Serve(t, way, true).CardURL})
	}
	old := agenttest.Way{Binding: remote.JSONRPC, Version: "0.3"}
	return append(peers, peer{"a2a-go", moduleVersion(t, goV03Agent+"/go.mod", "github.com/a2aproject/a2a-go"), old, startGoV03Agent(t)})
}

func jsPeers(t *testing.T) []peer {
	t.Helper()
	js := startJSAgent(t)
	version := packageVersion(t, "@a2a-js/sdk")
	var peers []peer
	for _, way := range agenttest.Ways() {
		if way.Legacy() {
			peers = append(peers, peer{"a2a-js", version, way, js.legacyCard})
		} else {
			peers = append(peers, peer{"a2a-js", version, way, js.card})
		}
	}
	return peers
}

// moduleVersion returns the version of a module that a go.mod requires.
func moduleVersion(t *testing.T, file, module string) string {
	t.Helper()
	requirements, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(requirements)) {
		if fields := strings.Fields(strings.TrimPrefix(line, "require ")); len(fields) >= 2 && fields[0] == module {
			return strings.TrimPrefix(fields[1], "v")
		}
	}
	t.Fatalf("%s does not require %s", file, module)
	return ""
}

func packageVersion(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile("js-agent/package.json")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct{ Dependencies map[string]string }
	if err := json.Unmarshal(raw, &manifest); err != nil {
		t.Fatal(err)
	}
	return manifest.Dependencies[name]
}

// target reads the peer's card and returns how to reach it in its way.
func (p peer) target(t *testing.T, client *remote.Client) (remote.Target, error) {
	t.Helper()
	found, err := client.FetchCard(t.Context(), "", p.cardURL)
	if err != nil {
		return remote.Target{}, err
	}
	card, _, err := agent.ParseCard(found.Raw, found.URL)
	if err != nil {
		return remote.Target{}, err
	}
	for _, i := range card.Interfaces {
		if i.Binding == p.way.Binding && i.ProtocolVersion == p.way.Version {
			return remote.Target{AgentID: "peer", Interface: i, Streaming: card.Streaming}, nil
		}
	}
	return remote.Target{}, fmt.Errorf("the card lists no %s", p.way)
}

// yes is how a cell says that all went as A2A has it.
const yes = "yes"

// matrix writes what held as a page: a table of it, and below it what did not.
func matrix(peers []peer, held []map[string]string) string {
	var page, notes strings.Builder
	page.WriteString(`# Compatibility

Taskbay is tested with agents on the official SDKs for Go (a2a-go) and JavaScript (a2a-js), in every way that they and it speak A2A; the versions of today
speak 0.3 by their own compatibility. *yes* means that all went as A2A has it; a number leads to what happened instead.

The test writes this page: ` + "`go test ./test/interop -run TestMatrix -update`" + `. It needs Node.js 20 or later.

| |`)
	for _, p := range peers {
		fmt.Fprintf(&page, " %s %s<br>A2A %s<br>%s |", p.name, p.version, p.way.Version, p.way.Binding)
	}
	page.WriteString("\n| --- |" + strings.Repeat(" --- |", len(peers)) + "\n")
	numbers := map[string]int{}
	for _, row := range rows {
		page.WriteString("| " + row.name + " |")
		for i := range peers {
			cell := held[i][row.name]
			if cell != yes {
				if numbers[cell] == 0 {
					numbers[cell] = len(numbers) + 1
					fmt.Fprintf(&notes, "%d. %s\n", numbers[cell], cell)
				}
				cell = fmt.Sprint(numbers[cell])
			}
			page.WriteString(" " + cell + " |")
		}
		page.WriteString("\n")
	}
	if notes.Len() > 0 {
		page.WriteString("\n" + notes.String())
	}
	return page.String()
}
