package store

import (
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/agui"
	"github.com/agent-taskbay/taskbay/internal/artifact"
	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/audit/trail"
	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/observe"
	"github.com/agent-taskbay/taskbay/internal/push"
	"github.com/agent-taskbay/taskbay/internal/retention"
	"github.com/agent-taskbay/taskbay/internal/signin"
	"github.com/agent-taskbay/taskbay/internal/task"
	"github.com/agent-taskbay/taskbay/internal/worker"
)

// What a transaction is to each noun.
var (
	_ access.SessionTx   = (*Tx)(nil)
	_ access.TokenTx     = (*Tx)(nil)
	_ access.AllowanceTx = (*Tx)(nil)
	_ access.CollectTx   = (*Tx)(nil)
	_ agent.Tx           = (*Tx)(nil)
	_ agui.Tx            = (*Tx)(nil)
	_ artifact.Tx        = (*Tx)(nil)
	_ trail.ReadTx       = (*Tx)(nil)
	_ audit.SealTx       = (*Tx)(nil)
	_ audit.VerifyTx     = (*Tx)(nil)
	_ command.Tx         = (*Tx)(nil)
	_ command.RestoreTx  = (*Tx)(nil)
	_ observe.Tx         = (*Tx)(nil)
	_ observe.SweepTx    = (*Tx)(nil)
	_ push.Tx            = (*Tx)(nil)
	_ retention.Tx       = (*Tx)(nil)
	_ worker.Tx          = (*Tx)(nil)
	_ task.ReadTx        = (*Tx)(nil)
	_ task.BlobTx        = (*Tx)(nil)
	_ task.ReplayTx      = (*Tx)(nil)
	_ signin.Tx          = (*Tx)(nil)
)
