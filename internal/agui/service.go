package agui

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// Agents is the catalogue. What the principal may not see is fault.NotFound.
type Agents interface {
	Get(ctx context.Context, p access.Principal, id string) (agent.Agent, error)
}

// Tasks reads the projection of all work. What the principal may not see is
// fault.NotFound.
type Tasks interface {
	Get(ctx context.Context, p access.Principal, id string) (task.Task, error)
	// Changes returns the task with those entries whose version is above since.
	Changes(ctx context.Context, p access.Principal, id string, since int64) (task.Delta, error)
}

// Commands is the one way out. Submit accepts a command in one transaction, and runs
// also within it, before it is committed; an error of also refuses the command. A
// command that the key has named before is returned without also.
type Commands interface {
	Submit(ctx context.Context, p access.Principal, agentID, key string, body command.Body, also func(Tx, command.Command) error) (command.Command, error)
}

// Live wakes watchers: a signal follows every change of a topic, and signals that
// nobody has received yet are one. The caller calls stop at the end.
type Live interface {
	Watch(topics ...string) (signals <-chan struct{}, stop func())
}

// Service runs agents for AG-UI clients.
type Service struct {
	Update   func(context.Context, func(Tx) error) error
	View     func(context.Context, func(Tx) error) error
	Agents   Agents
	Tasks    Tasks
	Commands Commands
	Live     Live
	NewID    func() string // UUIDv7
	Origin   string        // where people open this server; "" for the address that a client called
	Log      *slog.Logger
}

// errMoved says that the thread went on while it was decided what to do.
var errMoved = errors.New("the thread went on meanwhile")

// maxTurns is how often a request is decided anew, because the thread went on.
const maxTurns = 5

// started is a request that was taken: what it came to, and the thread as it is then.
type started struct {
	decision
	history  history
	open     *Asked // the interrupt that is shown again; nil for none
	accepted bool   // this very request brought the command
}

// begin decides what a request comes to, and does it: the decision of a person and
// the command that carries it out are one transaction.
//
// Errors: those of the command service, fault.NotFound, and fault.Conflict with the
// code run_active or run_id_conflict.
func (s *Service) begin(ctx context.Context, p access.Principal, agentID string, in Input) (started, error) {
	if _, err := s.Agents.Get(ctx, p, agentID); err != nil {
		return started{}, err
	}
	var err error
	for range maxTurns {
		var h history
		var open *Asked
		var d decision
		if h, open, err = s.load(ctx, p, agentID, in.ThreadID); err == nil {
			d, err = decide(&h, open, in)
		}
		if err != nil {
			return started{}, err
		}
		st := started{decision: d, history: h, open: open}
		switch d.do {
		case actSend, actAnswer, actCancel:
			st.accepted, err = s.accept(ctx, p, agentID, in, &st)
			if err == nil && st.accepted {
				return st, nil
			}
			if err != nil && !moved(err, d.do) {
				return started{}, err
			}
		default:
			return st, nil
		}
	}
	if err == nil || errors.Is(err, errMoved) {
		err = errRunActive()
	}
	return started{}, err
}

// moved reports whether a command was refused for what has happened to the task
// meanwhile: the question is answered, or the task has ended.
func moved(err error, do action) bool {
	return errors.Is(err, errMoved) || do != actSend && fault.KindOf(err) == fault.Conflict
}

// load reads a thread, and the interrupt in it that waits for an answer.
func (s *Service) load(ctx context.Context, p access.Principal, agentID, key string) (h history, open *Asked, err error) {
	err = s.View(ctx, func(tx Tx) (err error) {
		h = history{}
		if h.thread, err = tx.Thread(p.OrganisationID, p.PersonID, agentID, key); err != nil {
			return err
		}
		return h.read(tx)
	})
	if fault.KindOf(err) == fault.NotFound {
		return h, nil, nil
	}
	last := h.last()
	if err != nil || last == nil {
		return h, nil, err
	}
	now, err := s.Tasks.Get(ctx, p, last.TaskID)
	if fault.KindOf(err) == fault.NotFound { // it may no longer be seen
		return h, nil, nil
	}
	if err != nil {
		return h, nil, err
	}
	h.now = &now
	if v, ended := outcome(now, delivery(now, last.CommandID)); ended && v.ending == endAsks {
		open, err = s.interrupt(ctx, h.thread.ID, last.ID, now)
		if errors.Is(err, errMoved) {
			return s.load(ctx, p, agentID, key)
		}
		if err == nil && h.interrupt(open.Interrupt.ID) == nil {
			h.interrupts = append(h.interrupts, *open)
		}
	}
	return h, open, err
}

func (h *history) read(tx Tx) (err error) {
	if h.runs, err = tx.Runs(h.thread.ID); err != nil {
		return err
	}
	if h.said, err = tx.Said(h.thread.ID); err != nil {
		return err
	}
	h.interrupts, err = tx.Interrupts(h.thread.ID)
	return err
}

// interrupt returns what a waiting task asks as the interrupt that stands for it, the
// same one each time. errMoved if the task went on since it was read.
func (s *Service) interrupt(ctx context.Context, threadID, runID string, t task.Task) (*Asked, error) {
	asked := Asked{ThreadID: threadID, RunID: runID, TaskID: t.ID, Interrupt: interruptOf(t)}
	asked.Interrupt.ID = s.NewID()
	err := s.Update(ctx, func(tx Tx) (err error) {
		head, _, err := tx.TaskHead(t.ID)
		if err != nil {
			return err
		}
		if !head.NeedsYou() || head.Question.MessageID != questionOf(t).MessageID || head.State != t.State {
			return errMoved
		}
		asked.Subject, asked.CreatedAt = fmt.Sprintf("question/%d", head.Question.Number), tx.Now()
		asked, err = tx.KeepInterrupt(asked)
		return err
	})
	return &asked, err
}

// accept has the command service take the command that a decision asks for, and keeps
// what belongs to it. It reports false if another request has brought that command.
func (s *Service) accept(ctx context.Context, p access.Principal, agentID string, in Input, st *started) (bool, error) {
	body, unsent, err := s.body(ctx, p, in, st)
	if err != nil {
		return false, err
	}
	accepted := false
	_, err = s.Commands.Submit(ctx, p, agentID, s.key(p, agentID, in, st), body, func(tx Tx, c command.Command) error {
		thread, err := tx.HoldThread(Thread{ID: s.NewID(), OrganisationID: p.OrganisationID, PersonID: p.PersonID, AgentID: agentID, Key: in.ThreadID, CreatedAt: tx.Now()})
		if err != nil {
			return err
		}
		h := history{thread: thread}
		if err := h.read(tx); err != nil {
			return err
		}
		if len(h.runs) != len(st.history.runs) || len(h.said) != len(st.history.said) {
			return errMoved
		}
		r := Run{
			ID: s.NewID(), ThreadID: thread.ID, Number: int64(len(h.runs) + 1), Key: in.RunID,
			TaskID: c.TaskID, CommandID: c.ID, Resume: resumeDigest(in.Resume), CreatedAt: tx.Now(),
		}
		if err := s.keep(tx, &h, r, st, unsent); err != nil {
			return err
		}
		h.now = st.history.now
		accepted, st.history, st.run = true, h, h.last()
		return nil
	})
	return accepted && err == nil, err
}

// keep stores a run with what the client said and decided.
func (s *Service) keep(tx Tx, h *history, r Run, st *started, unsent bool) error {
	if err := tx.InsertRun(r); err != nil {
		return err
	}
	h.runs = append(h.runs, r)
	for _, f := range st.fresh {
		said := Said{
			ThreadID: r.ThreadID, MessageID: f.ID, Number: int64(len(h.said) + 1), RunID: r.ID,
			Sent: !unsent, Digest: f.digest(), Plain: f.Plain, Content: f.Content,
		}
		if unsent {
			said.Content = withoutBytes(said.Content)
		}
		if err := tx.InsertSaid(said); err != nil {
			return err
		}
		h.said = append(h.said, said)
	}
	if st.do == actSend {
		return nil
	}
	return tx.DecideInterrupt(st.open.Interrupt.ID, decisionDigest(st.resume), r.CommandID)
}

// withoutBytes leaves out bytes that are kept nowhere.
func withoutBytes(content []Content) []Content {
	var kept []Content
	for _, c := range content {
		if c.bytes == nil {
			kept = append(kept, c)
		}
	}
	return kept
}

// body is the command of a decision. The answer to a form goes alone: unsent says that
// what was said besides is not sent.
func (s *Service) body(ctx context.Context, p access.Principal, in Input, st *started) (body command.Body, unsent bool, err error) {
	if st.do == actCancel {
		if len(st.fresh) > 0 {
			st.warnings = append(st.warnings, "The task was canceled, so what was said with that was not sent.")
		}
		return command.Body{Action: command.Cancel, TaskID: st.history.now.ID}, true, nil
	}
	body.Config.Metadata = in.metadata()
	var words []a2a.Part
	for _, f := range st.fresh {
		for _, c := range f.Content {
			words = append(words, c.part())
		}
	}
	if st.do == actSend {
		body.Parts = words
		if len(words) == 0 {
			return body, false, fault.New(fault.Invalid, "Nothing of what was said can be sent to the agent: say it in words.")
		}
		body.ContextID, err = s.contextOf(ctx, p, &st.history)
		return body, false, err
	}
	now := *st.history.now
	body.TaskID = now.ID
	question := questionOf(now)
	body.Answers = question.MessageID
	body.Parts, _ = answer(now, st.resume.Payload) // decide has looked
	if question.Form == nil || now.State == a2a.StateAuthRequired {
		body.Parts = append(body.Parts, words...)
		return body, false, nil
	}
	if len(st.fresh) > 0 {
		st.warnings = append(st.warnings, "The answer to a form goes alone, so what was said with it was not sent.")
	}
	return body, true, nil
}

// contextOf is the agent's context of a thread, that of its latest task that has one.
func (s *Service) contextOf(ctx context.Context, p access.Principal, h *history) (string, error) {
	if h.now != nil && h.now.ContextID != "" {
		return h.now.ContextID, nil
	}
	for i := len(h.runs) - 1; i >= 0; i-- {
		t, err := s.Tasks.Get(ctx, p, h.runs[i].TaskID)
		if fault.KindOf(err) == fault.NotFound {
			continue
		}
		if err != nil || t.ContextID != "" {
			return t.ContextID, err
		}
	}
	return "", nil
}

// key names the command of a request, so that a request that comes twice brings one
// command.
func (s *Service) key(p access.Principal, agentID string, in Input, st *started) string {
	said := make([]string, 0, len(st.fresh))
	for _, f := range st.fresh {
		said = append(said, f.ID, f.digest())
	}
	sum := sha256.Sum256(mustJSON([]any{p.PersonID, agentID, in.ThreadID, in.RunID, len(st.history.runs), said, resumeDigest(in.Resume)}))
	return "ag-ui-" + hex.EncodeToString(sum[:])
}

// Cancel has the task of a run canceled. threadKey names the thread where the run is
// one that only followed; "" if the client does not say. fault.NotFound if the person
// has no such run, fault.Conflict if its task has ended.
func (s *Service) Cancel(ctx context.Context, p access.Principal, agentID, runKey, threadKey string) (command.Command, error) {
	if _, err := s.Agents.Get(ctx, p, agentID); err != nil {
		return command.Command{}, err
	}
	var run Run
	err := s.View(ctx, func(tx Tx) (err error) {
		run, _, err = tx.RunByKey(p.OrganisationID, p.PersonID, agentID, runKey)
		if fault.KindOf(err) != fault.NotFound || threadKey == "" {
			return err
		}
		thread, err := tx.Thread(p.OrganisationID, p.PersonID, agentID, threadKey)
		if err != nil {
			return err
		}
		h := history{thread: thread}
		if err := h.read(tx); err != nil {
			return err
		}
		if h.last() == nil {
			return fault.New(fault.NotFound, "There is no such run.")
		}
		run = *h.last()
		return nil
	})
	if err != nil {
		return command.Command{}, err
	}
	t, err := s.Tasks.Get(ctx, p, run.TaskID)
	if err != nil {
		return command.Command{}, err
	}
	vain := 0
	for _, c := range t.Cancels {
		if command.Status(c.Delivery.Status).Settled() {
			vain++
		}
	}
	key := fmt.Sprintf("ag-ui-cancel-%s-%d", t.ID, vain)
	nothing := func(Tx, command.Command) error { return nil }
	return s.Commands.Submit(ctx, p, agentID, key, command.Body{Action: command.Cancel, TaskID: t.ID}, nothing)
}
