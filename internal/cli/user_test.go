package cli_test

import (
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
)

// TestUserAndGrantCommands work on the database beside the server that is running.
func TestUserAndGrantCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := apptest.Start(t, apptest.Options{DataDir: dir})
	s.Register(serve(t, `{"name":"Ada","description":"d"}`) + "/card.json")
	for _, step := range []struct {
		args string
		code int
		want string
	}{
		{"user add --issuer https://id.example --subject 007 --name James --role operator", 0, "James is a member of local now, as operator"},
		{"user add --issuer https://id.example --subject 007 --name James --role operator", 1, "is a member already"},
		{"user add --name Robot --role viewer --service", 0, "Robot is a member"},
		{"user add --name Nobody --role viewer", 1, "--issuer"},
		{"user add --issuer https://id.example --subject 1 --name Ivy --role admin --organisation acme", 1, "no such organisation"},
		{"user add --issuer https://id.example --subject 1 --name Ivy --role admin --organisation acme --create-organisation", 0, "Ivy is a member of acme"},
		{"user list --organisation acme", 0, "Ivy"},
		{"user list", 0, "James"},
		{"grant list", 0, "Nothing is granted"},
		{"grant add --agent Ada --user James --permission operate", 0, "James may operate Ada now"},
		{"grant add --agent Ada --everybody --permission read", 0, "everybody may read Ada now"},
		{"grant add --agent Ada --permission read", 2, "--user, --team or --everybody"},
		{"grant add --agent Ada --everybody --user James --permission read", 2, "can't be used together"},
		{"grant add --agent Ada --user James --permission operate --skill a", 1, "--skill"},
		{"grant add --agent Ada --user James --permission read --organisation acme", 2, "there is no agent Ada"},
		{"grant add --agent Ada --team Reds --permission read", 2, "there is no team Reds"},
		{"grant list", 0, "everybody"},
		{"grant remove nonsense", 1, "no such grant"},
		{"user disable james", 0, "James is disabled"},
		{"user list", 0, "disabled"},
		{"user enable 007", 0, "James may sign in again"},
		{"user disable bond", 2, "there is no member bond"},
	} {
		got := taskbay(t, "", append(strings.Fields(step.args), "--data-dir", dir)...)
		if got.code != step.code || !strings.Contains(got.out+got.err, step.want) {
			t.Errorf("taskbay %s ends with %d and says %q, want %d and %q", step.args, got.code, got.out+got.err, step.code, step.want)
		}
	}
}
