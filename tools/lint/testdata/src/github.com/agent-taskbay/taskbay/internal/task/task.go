package task

import (
	_ "log" // want "internal/task must not import log"
	_ "log/slog"
	"time"

	"github.com/a-h/templ"                            // want "internal/task must not import"
	_ "github.com/a2aproject/a2a-go/v2/a2a"           // want "internal/remote is what speaks A2A"
	_ "github.com/agent-taskbay/taskbay/internal/api" // want "the API is what is outermost"
	_ "github.com/agent-taskbay/taskbay/internal/remote"
)

func init() {} // want "init: whoever needs it calls it"

func Wait() {
	time.Sleep(1) // want "time.Sleep: wait for what is to happen"
	<-time.After(1)
}

func Page(said string) string {
	return templ.Raw(said) // want "templ.Raw does not escape"
}
