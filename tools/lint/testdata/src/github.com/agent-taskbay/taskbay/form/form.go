package form

import _ "github.com/agent-taskbay/taskbay/internal/task" // want "form must not import .*stands alone"
