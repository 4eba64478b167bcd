package agent_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/agent"
)

// outline writes findings as "severity pointer section", which leaves their
// wording free.
func outline(findings []agent.Finding) []string {
	lines := []string{}
	for _, f := range findings {
		lines = append(lines, fmt.Sprintf("%s %s %s", f.Severity, f.Path, f.Section))
	}
	return lines
}

// TestParseCardFiles reads whole cards. Each file holds a card, the result, and
// the outline of its findings.
func TestParseCardFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/cards/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cards found: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			var c struct {
				CardURL  string
				Card     json.RawMessage
				Want     agent.Card
				Findings []string
			}
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(raw, &c); err != nil {
				t.Fatal(err)
			}
			got, findings, err := agent.ParseCard(c.Card, c.CardURL)
			if err != nil {
				t.Fatalf("ParseCard: %v", err)
			}
			if diff := cmp.Diff(c.Want, got); diff != "" {
				t.Errorf("card (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.Findings, outline(findings)); diff != "" {
				t.Errorf("findings (-want +got):\n%s\n%v", diff, findings)
			}
		})
	}
}
