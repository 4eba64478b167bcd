package task

import (
	_ "log"

	_ "github.com/agent-taskbay/taskbay/internal/api"
)
