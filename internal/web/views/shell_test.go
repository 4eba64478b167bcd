package views

import "testing"

func TestDocumentTitle(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		shell Shell
		want  string
	}{
		"nothing waits":       {Shell{Title: "Agents"}, "Agents · Taskbay"},
		"tasks wait":          {Shell{Title: "Tasks", NeedsYou: 2}, "(2) Tasks · Taskbay"},
		"a turn of direction": {Shell{Title: "Pay \u202egnp.exe"}, "Pay [U+202E]gnp.exe · Taskbay"},
	}
	for name, tc := range tests {
		if got := tc.shell.documentTitle(); got != tc.want {
			t.Errorf("%s: documentTitle() = %q, want %q", name, got, tc.want)
		}
	}
}
