package cli

import (
	"os/user"

	"github.com/agent-taskbay/taskbay/internal/access"
)

// operator is on whose behalf commands act: whoever runs them, by the name that the
// machine has for them. What they do is on the trail under it.
func operator() access.Principal {
	u, err := user.Current()
	if err != nil {
		return access.Command("")
	}
	return access.Command(u.Username)
}
