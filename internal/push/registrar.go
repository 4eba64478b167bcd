package push

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/task"
	"github.com/agent-taskbay/taskbay/internal/worker"
)

// What the registrar keeps to.
const (
	allCalls   = 32               // to agents at once
	eachCalls  = 4                // to one of them
	claimTime  = 2 * time.Minute  // after this, what did not end is due again
	adoptEvery = time.Minute      // between looks for open tasks that nobody told of
	adoptLimit = 500              // tasks of one such look
	lookEvery  = 15 * time.Minute // between looks whether the agent still has it
)

// waits are the times between attempts; after the last one it is given up.
var waits = []time.Duration{
	2 * time.Second, 10 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour,
}

// removals is how often a removal is tried: what is left behind at an agent does no
// harm, as the task has ended.
const removals = 4

// Registrar keeps a registration for each open task of the agents that push.
type Registrar struct {
	Update func(context.Context, func(Tx) error) error
	Agents Agents
	Remote Remote
	Keys   Keys
	Origin string // that agents can reach, such as https://console.example; "" removes what is registered
	NewID  func() string
	Poll   time.Duration // between looks at the table if nothing wakes the registrar
	Log    *slog.Logger

	ready   sync.Once
	wake    chan struct{}
	room    *worker.Room
	running sync.WaitGroup

	mu      sync.Mutex
	known   map[string]bool // open tasks that were seen to
	pending map[string]bool // by task: whether it has ended
}

func (g *Registrar) setUp() {
	g.ready.Do(func() {
		g.wake = make(chan struct{}, 1)
		g.room = worker.NewRoom(allCalls, eachCalls)
		g.known, g.pending = map[string]bool{}, map[string]bool{}
	})
}

// Heard implements observe.Listener: a task that is new gets a registration, and one
// that has ended loses it. It never waits.
func (g *Registrar) Heard(o task.Outcome) {
	h := o.Head
	if g.Origin == "" || h.RemoteTaskID == "" || h.Kind != task.KindTask {
		return
	}
	g.setUp()
	ended := h.State.Terminal()
	g.mu.Lock()
	news := ended || !g.known[h.TaskID]
	if news {
		g.pending[h.TaskID] = ended
	}
	if ended {
		delete(g.known, h.TaskID)
	} else {
		g.known[h.TaskID] = true
	}
	g.mu.Unlock()
	if news {
		select {
		case g.wake <- struct{}{}:
		default:
		}
	}
}

// Run keeps registrations until ctx ends.
func (g *Registrar) Run(ctx context.Context) error {
	g.setUp()
	defer g.running.Wait()
	if err := g.Update(ctx, func(tx Tx) error { return tx.RetireOthers(g.Origin) }); err != nil && ctx.Err() == nil {
		return err
	}
	var adopted time.Time
	for ctx.Err() == nil {
		if g.Origin != "" && time.Since(adopted) >= adoptEvery {
			adopted = time.Now()
			g.attempt(ctx, "look for tasks without a push registration", g.adopt)
		}
		wait := g.Poll
		g.attempt(ctx, "keep push registrations", func(ctx context.Context) (err error) {
			wait, err = g.round(ctx)
			return err
		})
		timer := time.NewTimer(min(wait, adoptEvery))
		select {
		case <-ctx.Done():
		case <-g.wake:
		case <-g.room.Freed():
		case <-timer.C:
		}
		timer.Stop()
	}
	return nil
}

func (g *Registrar) attempt(ctx context.Context, what string, do func(context.Context) error) {
	if err := do(ctx); err != nil && ctx.Err() == nil {
		g.Log.Error(what, "error", err)
	}
}

// adopt makes registrations for open tasks of agents that push, as far as they have
// none: those that were there before this process, or before the agent's card said so.
func (g *Registrar) adopt(ctx context.Context) error {
	var agents []string
	err := g.Update(ctx, func(tx Tx) (err error) {
		agents, err = tx.UnregisteredAgents()
		return err
	})
	for _, agentID := range agents {
		if err != nil || !g.pushes(ctx, agentID) {
			continue
		}
		err = g.Update(ctx, func(tx Tx) error {
			tasks, err := tx.UnregisteredTasks(agentID, adoptLimit)
			for _, id := range tasks {
				if err == nil {
					err = tx.WantRegistration(g.NewID(), id)
				}
			}
			return err
		})
	}
	return err
}

// pushes reports whether an agent's card says that it pushes.
func (g *Registrar) pushes(ctx context.Context, agentID string) bool {
	a, err := g.Agents.Any(ctx, agentID)
	return err == nil && a.Card.PushNotifications
}

// round sees to the tasks that were heard of, and starts what is due as far as there
// is room. It returns how long nothing more will be due.
func (g *Registrar) round(ctx context.Context) (time.Duration, error) {
	if err := g.seeTo(ctx, g.takePending()); err != nil {
		return 0, err
	}
	var due []Registration
	var next time.Time
	err := g.Update(ctx, func(tx Tx) (err error) {
		if due, err = g.claim(tx); err != nil {
			return err
		}
		next, err = tx.NextRegistration()
		return err
	})
	if err != nil {
		return 0, err
	}
	for _, r := range due {
		g.room.Take(r.AgentID)
		g.running.Go(func() {
			defer g.room.Leave(r.AgentID)
			g.attempt(ctx, "store a push registration", func(ctx context.Context) error { return g.keep(ctx, r) })
		})
	}
	if next.IsZero() {
		return g.Poll, nil
	}
	return min(max(time.Until(next), 0), g.Poll), nil
}

func (g *Registrar) takePending() map[string]bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	pending := g.pending
	g.pending = map[string]bool{}
	return pending
}

func (g *Registrar) seeTo(ctx context.Context, pending map[string]bool) error {
	capable := map[string]bool{}
	for taskID, ended := range pending {
		var owner task.Owner
		err := g.Update(ctx, func(tx Tx) (err error) {
			if ended {
				return tx.RetireRegistration(taskID)
			}
			_, owner, err = tx.TaskHead(taskID)
			return err
		})
		if err != nil {
			return err
		}
		if ended {
			continue
		}
		can, asked := capable[owner.AgentID]
		if !asked {
			can = g.pushes(ctx, owner.AgentID)
			capable[owner.AgentID] = can
		}
		if !can {
			continue
		}
		if err := g.Update(ctx, func(tx Tx) error { return tx.WantRegistration(g.NewID(), taskID) }); err != nil {
			return err
		}
	}
	return nil
}

func (g *Registrar) claim(tx Tx) ([]Registration, error) {
	agents, err := tx.DueRegistrations()
	if err != nil {
		return nil, err
	}
	var due []Registration
	for _, agentID := range agents {
		room := min(g.room.Left(agentID), g.room.LeftInAll()-len(due))
		if room <= 0 {
			continue
		}
		claimed, err := tx.ClaimRegistrations(agentID, room, tx.Now().Add(claimTime))
		if err != nil {
			return nil, err
		}
		due = append(due, claimed...)
	}
	return due, nil
}

// keep does what is due for a registration and stores what became of it.
func (g *Registrar) keep(ctx context.Context, r Registration) error {
	was, problem := r.State, r.Problem
	if r.Ended && (r.State == StateWanted || r.State == StateRegistered) {
		r.State, r.Attempts = StateRemoving, 0
	}
	ctx = remote.WithLabels(ctx, remote.Labels{TaskID: r.TaskID})
	var refused string
	switch r.State {
	case StateWanted:
		refused = g.register(ctx, &r)
	case StateRegistered:
		g.lookAgain(ctx, &r)
	case StateRemoving:
		g.remove(ctx, &r)
	case StateFailed, StateRemoved:
		r.Due = time.Time{}
	}
	if ctx.Err() != nil {
		return nil // whoever comes next does it again
	}
	if r.Problem != "" && r.Problem != problem {
		g.Log.Warn("an agent's pushes", "task", r.TaskID, "agent", r.AgentID, "state", r.State, "problem", r.Problem)
	}
	return g.Update(ctx, func(tx Tx) error {
		if refused != "" {
			if err := tx.RefusePushes(r.AgentID, refused); err != nil {
				return err
			}
		}
		_, err := tx.StoreRegistration(was, r)
		return err
	})
}

func (g *Registrar) target(ctx context.Context, r Registration) (remote.Target, error) {
	a, err := g.Agents.Any(ctx, r.AgentID)
	if err != nil {
		return remote.Target{}, err
	}
	target, err := a.Target()
	if r.Tenant != "" {
		target.Interface.Tenant = r.Tenant
	}
	return target, err
}

// register asks the agent to push. It returns in words why the agent pushes nothing
// at all, if it says so.
func (g *Registrar) register(ctx context.Context, r *Registration) (refused string) {
	keyID, token := secret(g.Keys, inHeader, r.ID)
	_, address := secret(g.Keys, inAddress, r.ID)
	target, err := g.target(ctx, *r)
	var made remote.PushConfig
	if err == nil {
		made, err = g.Remote.CreatePushConfig(ctx, target, remote.PushConfig{
			TaskID: r.RemoteTaskID, ID: r.ID, URL: g.Origin + Path + r.ID + "/" + address,
			Token: token, Scheme: "Bearer", Credentials: token,
		})
	}
	if err == nil {
		r.State, r.Attempts, r.Problem, r.Origin, r.KeyID = StateRegistered, 0, "", g.Origin, keyID
		if r.ConfigID = made.ID; r.ConfigID == "" {
			r.ConfigID = r.ID
		}
		r.Due = later(lookEvery)
		return ""
	}
	r.Problem = inWords(err)
	switch code := codeOf(err); {
	case code == remote.CodePushNotSupported, code == remote.CodeUnsupportedOperation, code == remote.CodeMethodNotFound:
		r.State, r.Due = StateFailed, time.Time{}
		return r.Problem
	case code == remote.CodeTaskNotFound, !r.again(len(waits)):
		r.State, r.Due = StateFailed, time.Time{}
	}
	return ""
}

// lookAgain asks whether the agent still has the registration, and has it made anew
// if not, or if its secrets are derived from a key that is gone.
func (g *Registrar) lookAgain(ctx context.Context, r *Registration) {
	r.Due = later(lookEvery)
	if !g.Keys.Holds(r.KeyID) {
		r.State, r.Attempts, r.Due = StateWanted, 0, time.Now()
		return
	}
	target, err := g.target(ctx, *r)
	if err == nil {
		_, err = g.Remote.GetPushConfig(ctx, target, r.RemoteTaskID, r.ConfigID)
	}
	if code := codeOf(err); code == remote.CodeTaskNotFound || code == "HTTP 404" {
		r.State, r.Attempts, r.Due = StateWanted, 0, time.Now()
	}
}

// remove has the agent forget the registration.
func (g *Registrar) remove(ctx context.Context, r *Registration) {
	if r.ConfigID == "" {
		r.State, r.Due = StateRemoved, time.Time{}
		return
	}
	target, err := g.target(ctx, *r)
	if err == nil {
		err = g.Remote.DeletePushConfig(ctx, target, r.RemoteTaskID, r.ConfigID)
	}
	var answer *remote.Error
	answered := errors.As(err, &answer) && answer.Delivery == remote.Answered
	if err == nil || answered || !r.again(removals) {
		r.State, r.Due = StateRemoved, time.Time{}
	}
}

// again plans another attempt and reports whether there is one.
func (r *Registration) again(attempts int) bool {
	if r.Attempts >= attempts {
		return false
	}
	r.Due = later(waits[r.Attempts])
	r.Attempts++
	return true
}

// later is that much later, with some jitter.
func later(d time.Duration) time.Time { return time.Now().Add(d + rand.N(d/4+1)) }

// codeOf returns what an agent answered with, or "".
func codeOf(err error) string {
	var answer *remote.Error
	if errors.As(err, &answer) && answer.Delivery == remote.Answered {
		return answer.Code
	}
	return ""
}

func inWords(err error) string {
	var answer *remote.Error
	if errors.As(err, &answer) {
		return answer.Message
	}
	return fault.Public(err).Message
}
