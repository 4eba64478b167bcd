package app

import (
	"log/slog"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/config"
	"github.com/agent-taskbay/taskbay/internal/httpguard"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/store"
)

// door makes what lets requests in, and what keeps sessions and tokens.
func (a *App) door(hub *live.Hub, c config.Config, o Options) *httpguard.Door {
	a.sessions = &access.Sessions{
		Update: store.For[access.SessionTx](a.db.Update), View: store.For[access.SessionTx](a.db.View), NewID: newID, Life: c.SessionLife,
	}
	a.apiTokens = newTokens(a.db, o.Log)
	a.apiTokens.Local = !c.SignIn.On()
	a.collector = &access.Collector{Update: store.For[access.CollectTx](a.db.Update), Log: o.Log}
	limiter := &access.Limiter{Limits: c.Limits}
	if !a.alone() {
		limiter.Update = store.For[access.AllowanceTx](a.db.Update)
	}
	return &httpguard.Door{Origin: c.SignIn.Origin, Sessions: a.sessions, Tokens: a.apiTokens, Limiter: limiter, Live: hub, Log: o.Log}
}

func newTokens(db *store.DB, log *slog.Logger) *access.Tokens {
	return &access.Tokens{Update: store.For[access.TokenTx](db.Update), View: store.For[access.TokenTx](db.View), NewID: newID, Log: log}
}
