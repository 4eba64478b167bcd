package command

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// Record is a command as it is stored.
type Record struct {
	Command        Command
	OrganisationID string
	PersonID       string
	Key            string
	Digest         string // of what the caller asked for
	Request        Request
	Unreadable     bool   // what was stored to be sent cannot be read, so there is nothing to send
	Answers        string // messageId of the question; "" if it answers none
	QuestionNumber int64
	RunAt          time.Time
}

// Tx is a transaction of the record as the package needs it.
type Tx interface {
	task.Tx
	ReachTx
	// CommandByKey returns the organisation's command with that idempotency
	// key; fault.NotFound if there is none.
	CommandByKey(organisationID, key string) (Record, error)
	// CommandByID returns one command; fault.NotFound if there is none.
	CommandByID(id string) (Record, error)
	// InsertCommand stores a new command. Of two that answer one question, the
	// second is a fault.Conflict.
	InsertCommand(Record) error
	// AddUserMessage puts a command's message on its task's timeline.
	// definition is the form that it fills in, or nil.
	AddUserMessage(taskID string, m task.NewMessage, commandID string, definition []byte) error
	// AddCancel puts a stored cancel on its task's timeline.
	AddCancel(taskID, commandID string) error
	// SetAnsweredBy says which command answers the task's question; "" opens it
	// again.
	SetAnsweredBy(taskID, commandID string) error
	// AnswerTo returns the last command, not failed, that answered a question of
	// the task with that message ID; fault.NotFound if there is none.
	AnswerTo(taskID, messageID string) (Record, error)
	// MessageIDUsed reports whether a command to the agent has that message ID, or a
	// person's message on the task.
	MessageIDUsed(agentID, taskID, messageID string) (bool, error)
	// UnconfirmedSends counts the task's sends that the agent may have or may
	// yet get without having answered: pending, dispatching and uncertain ones.
	UnconfirmedSends(taskID string) (int, error)
	// Message returns a message of a task's timeline.
	Message(taskID, messageID, digest string) (task.StoredMessage, error)
	// DueCommands returns the lanes in which commands are due, the one that has
	// waited longest first.
	DueCommands() ([]Lane, error)
	// ClaimCommands marks up to limit due commands of a lane as dispatching by
	// owner, oldest first. Of one task it never claims a send while another one is
	// on its way; a cancel waits for nothing. Without a lease owner gets none.
	ClaimCommands(owner string, lane Lane, limit int) ([]Record, error)
	// UnclaimCommands makes pending again what owner has claimed, but for those that
	// it is sending, as if it had not been claimed: nothing of it was sent.
	UnclaimCommands(owner string, sending []string) error
	// SettleCommand ends the attempt of a command that owner claimed. It
	// reports false, and does nothing, if the command is no longer owner's.
	SettleCommand(id, owner string, v Verdict) (bool, error)
	// ResendCommand makes an uncertain command pending again, because a person
	// said so; fault.Conflict if it is not uncertain.
	ResendCommand(id, personID, name string) (Record, error)
	// ClaimStream makes owner the one who follows a task's stream, in a new epoch.
	ClaimStream(taskID, owner string) (epoch int64, err error)
	// OrphanCommands makes uncertain what processes without a lease were
	// dispatching, and returns it.
	OrphanCommands(problem string) ([]Record, error)
	// NextCommand is when the next command that is not due yet will be; zero if
	// there is none.
	NextCommand() (time.Time, error)
	// AnyAgent returns one agent; fault.NotFound if there is none of that ID.
	AnyAgent(id string) (agent.Agent, error)
	// Audit puts an entry on the trail, if the transaction is committed.
	Audit(audit.Entry) error
	// ScheduleCheck sets when the agent is asked about a task; zero: not again.
	ScheduleCheck(taskID string, at time.Time, interval time.Duration) error
}

// Agents is the catalogue as the package needs it.
type Agents interface {
	Get(ctx context.Context, p access.Principal, id string) (agent.Agent, error)
}

// Service accepts commands. Everything that it accepts is durable.
type Service struct {
	Update func(context.Context, func(Tx) error) error
	View   func(context.Context, func(Tx) error) error
	Agents Agents
	Bytes  task.Bytes
	NewID  func() string // UUIDv7
	Live   *live.Hub
}

// Submit accepts a command in one transaction. Nothing has been sent when it
// returns. The same key with the same content returns the same command.
//
// Errors: fault.Invalid for a body that breaks a rule, fault.NotFound for an
// agent or task that the principal does not see, fault.Forbidden for one that they may
// not send to by this skill, fault.Conflict for a key that was used
// with other content, a messageId that names another message, a question that is
// answered or no longer open, or a task that has ended, fault.Unprocessable with a
// fault per field for an answer that its form does not accept, fault.TooLarge for a
// file over the limit, fault.Unavailable if files cannot be stored now.
func (s *Service) Submit(ctx context.Context, p access.Principal, agentID, key string, body Body) (Command, error) {
	return s.SubmitWith(ctx, p, agentID, key, body, nil)
}

// SubmitWith is Submit for a caller who keeps something of its own with the command:
// also runs in the transaction that accepts it, and an error of also refuses it. It
// does not run for a command that was accepted before.
func (s *Service) SubmitWith(ctx context.Context, p access.Principal, agentID, key string, body Body, also func(Tx, Command) error) (Command, error) {
	if err := checkKey(key); err != nil {
		return Command{}, err
	}
	body, err := normalised(body)
	if err != nil {
		return Command{}, err
	}
	a, err := s.Agents.Get(ctx, p, agentID)
	if err == nil && a.Removed() {
		_, err = a.Target() // says why
	}
	if err != nil {
		return Command{}, err
	}
	digest, err := bodyDigest(agentID, body)
	if err != nil {
		return Command{}, err
	}
	// Before the transaction: what it refers to is there when it is committed.
	shown, blobs, err := task.Detach(ctx, s.Bytes, body.Parts)
	if err != nil {
		return Command{}, err
	}
	said := message{parts: shown, blobs: blobs, request: requestOf(a, body)}
	if said.sha256, err = said.request.digest(); err != nil {
		return Command{}, err
	}
	var accepted Record
	err = s.Update(ctx, func(tx Tx) error {
		earlier, err := tx.CommandByKey(p.OrganisationID, key)
		switch {
		case err == nil:
			accepted = earlier
			return sameAgain(tx, p, earlier, digest)
		case fault.KindOf(err) != fault.NotFound:
			return err
		}
		accepted, err = s.accept(tx, p, a, key, digest, body, said)
		if err == nil && also != nil {
			err = also(tx, accepted.Command)
		}
		return err
	})
	if err != nil {
		return Command{}, err
	}
	return accepted.Command, nil
}

// message is what a command puts on its task's timeline, with the bytes that it
// refers to.
type message struct {
	parts   []a2a.Part
	blobs   []task.Blob
	request Request
	sha256  string // of the request as it is stored
}

// accept stores a new command with what it puts on the task's timeline.
func (s *Service) accept(tx Tx, p access.Principal, a agent.Agent, key, digest string, body Body, said message) (Record, error) {
	r := Record{
		Command: Command{
			ID: s.NewID(), AgentID: a.ID, TaskID: body.TaskID, Action: body.Action, MessageID: body.MessageID,
			Status: Pending, Author: p.Name, CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
		},
		OrganisationID: p.OrganisationID, PersonID: p.PersonID, Key: key, Digest: digest, RunAt: tx.Now(),
	}
	if r.Command.MessageID == "" {
		r.Command.MessageID = s.NewID()
	}
	head, owner, err := s.target(tx, p, a, body, &r)
	if err != nil {
		return Record{}, err
	}
	// Whether the question is answered comes first: that somebody answered it says
	// more than that the task has ended by now.
	definition, err := s.definition(tx, a, head, body, &r)
	if err == nil {
		err = s.allows(tx, head, body)
	}
	if err != nil {
		return Record{}, err
	}
	if body.Action == Cancel {
		if err := s.insert(tx, r); err != nil {
			return Record{}, err
		}
		if err := tx.AddCancel(r.Command.TaskID, r.Command.ID); err != nil {
			return Record{}, err
		}
		return r, tx.Audit(r.entry(p, a.Name, audit.CancelSent, ""))
	}
	r.Request = said.request
	r.Request.SkillID = owner.SkillID
	if err := s.unused(tx, r); err != nil {
		return Record{}, err
	}
	if err := s.insert(tx, r); err != nil {
		return Record{}, err
	}
	if head.State.Waiting() && head.AnsweredBy == "" {
		if err := tx.SetAnsweredBy(head.TaskID, r.Command.ID); err != nil {
			return Record{}, err
		}
	}
	if err := s.show(tx, r, said, definition); err != nil {
		return Record{}, err
	}
	action := audit.MessageSent
	if r.Answers != "" {
		action = audit.QuestionAnswered
	}
	return r, tx.Audit(r.entry(p, a.Name, action, said.sha256))
}

// show puts the command's message on the timeline.
func (s *Service) show(tx Tx, r Record, said message, definition []byte) error {
	for _, b := range said.blobs {
		if err := tx.AttachBlob(r.Command.TaskID, b); err != nil {
			return err
		}
	}
	return tx.AddUserMessage(r.Command.TaskID, task.UserMessage(r.Command.MessageID, said.parts), r.Command.ID, definition)
}

func (s *Service) insert(tx Tx, r Record) error {
	tx.Signal(live.TaskTopic(r.Command.TaskID), live.OrganisationTopic(r.OrganisationID), live.CommandsTopic)
	return tx.InsertCommand(r)
}

// target finds the task that the command is for, or makes the one that it starts, if
// the principal may as of now.
func (s *Service) target(tx Tx, p access.Principal, a agent.Agent, body Body, r *Record) (task.Head, task.Owner, error) {
	reach, err := tx.Reach(p, a.ID)
	if err != nil {
		return task.Head{}, task.Owner{}, err
	}
	if body.TaskID == "" {
		if err := mayStart(tx, p, reach, a, body); err != nil {
			return task.Head{}, task.Owner{}, err
		}
		head := task.Head{TaskID: s.NewID(), ContextID: body.ContextID, Kind: task.KindTask, State: a2a.StateUnspecified}
		r.Command.TaskID = head.TaskID
		owner := task.Owner{OrganisationID: p.OrganisationID, AgentID: a.ID, Tenant: body.Tenant, SkillID: body.SkillID, Title: titleOf(a, body)}
		return head, owner, tx.CreateTask(head, owner)
	}
	head, owner, err := tx.TaskHead(body.TaskID)
	switch {
	case fault.KindOf(err) == fault.NotFound, err == nil && (owner.AgentID != a.ID || !reach.Reads(owner.SkillID)):
		return head, owner, errNoTask()
	case err != nil:
		return head, owner, err
	}
	r.Command.TaskID = head.TaskID
	return head, owner, mayFollow(tx, p, reach, a, head, owner, body)
}

// allows says why the task that a command names cannot take it, or nil.
func (s *Service) allows(tx Tx, head task.Head, body Body) error {
	if body.TaskID == "" {
		return nil
	}
	unconfirmed, err := tx.UnconfirmedSends(head.TaskID)
	if err != nil {
		return err
	}
	return allowed(head, unconfirmed, body.Action)
}

// unused makes sure that the messageId names no other message.
func (s *Service) unused(tx Tx, r Record) error {
	used, err := tx.MessageIDUsed(r.Command.AgentID, r.Command.TaskID, r.Command.MessageID)
	if err == nil && used {
		err = fault.New(fault.Conflict, "This messageId names another message: leave it out, or use a new one for each message.")
	}
	return err
}

func plainTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }

// allowed says why a task as it is can take no such command, or nil. A task
// whose first message failed to reach the agent may be tried again.
func allowed(head task.Head, unconfirmed int, action Action) error {
	begun := head.RemoteTaskID != "" || head.Kind == task.KindMessage
	switch {
	case head.State.Terminal():
		return fault.New(fault.Conflict, "This task has ended (%s), so nothing more can be sent on it: start a new task.", plainState(head.State))
	case !begun && (unconfirmed > 0 || action == Cancel):
		return fault.New(fault.Conflict, "The agent has not confirmed this task yet: wait for its first answer.")
	case head.Kind == task.KindMessage && action == Cancel:
		return fault.New(fault.Conflict, "The agent answered with a message and runs no task, so there is nothing to cancel.")
	}
	return nil
}

func plainState(s a2a.State) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(string(s), "TASK_STATE_"), "_", " "))
}

// requestOf lists the extensions that the agent advertises and the console
// understands, those that the caller adds, and no others.
func requestOf(a agent.Agent, body Body) Request {
	var extensions []string
	for _, e := range a.Card.Extensions {
		if agent.Understood(e.URI) {
			extensions = append(extensions, e.URI)
		}
	}
	for _, uri := range body.Config.Extensions {
		if !slices.Contains(extensions, uri) {
			extensions = append(extensions, uri)
		}
	}
	return Request{
		Parts: body.Parts, ContextID: body.ContextID, Extensions: extensions, Metadata: body.Config.Metadata,
		ReferenceTaskIDs: body.Config.ReferenceTaskIDs, HistoryLength: body.Config.HistoryLength,
		AcceptedOutputModes: body.Config.AcceptedOutputModes,
	}
}

// definition checks an answer or a start form, and returns the definition of the
// form that was filled in, or nil.
func (s *Service) definition(tx Tx, a agent.Agent, head task.Head, body Body, r *Record) ([]byte, error) {
	switch {
	case body.StartForm:
		definition, drawn := a.StartForm()
		if drawn == nil {
			return nil, fault.New(fault.Conflict, "The agent no longer offers a form to start with: reload the page.")
		}
		return definition, checkAnswer(drawn, body.Parts)
	case body.Answers != "":
		return s.answered(tx, a, head, body, r)
	}
	return nil, nil
}

func (s *Service) answered(tx Tx, a agent.Agent, head task.Head, body Body, r *Record) ([]byte, error) {
	if head.AnsweredBy != "" && head.Question.MessageID == body.Answers {
		return nil, s.answeredBy(tx, head.AnsweredBy)
	}
	if !head.Question.Open() || head.Question.MessageID != body.Answers {
		return nil, s.notOpen(tx, head, body.Answers)
	}
	r.Answers, r.QuestionNumber = body.Answers, head.Question.Number
	m, err := tx.Message(head.TaskID, head.Question.MessageID, head.Question.Digest)
	if fault.KindOf(err) == fault.NotFound {
		return nil, nil // shown without a word, so there is no form to fit
	}
	if err != nil {
		return nil, err
	}
	question := task.QuestionOf(m.Message, head.State, a.Advertises(form.URI))
	if question.Form == nil {
		return nil, nil
	}
	return question.FormDefinition(), checkAnswer(question.Form, body.Parts)
}

func (s *Service) answeredBy(tx Tx, commandID string) error {
	c, err := tx.CommandByID(commandID)
	if err != nil {
		return err
	}
	return alreadyAnswered(c)
}

func alreadyAnswered(by Record) error {
	return fault.New(fault.Conflict, "%s answered this question already, at %s UTC. What you entered was not sent.",
		by.Command.Author, plainTime(by.Command.CreatedAt))
}

func (s *Service) notOpen(tx Tx, head task.Head, answers string) error {
	if c, err := tx.AnswerTo(head.TaskID, answers); err == nil {
		return alreadyAnswered(c)
	} else if fault.KindOf(err) != fault.NotFound {
		return err
	}
	if !head.State.Waiting() {
		return fault.New(fault.Conflict, "The task has moved on (it is %s now), so this question is closed. What you entered was not sent.", plainState(head.State))
	}
	return fault.New(fault.Conflict, "The agent asks something else by now, so this question is closed. What you entered was not sent.")
}

// checkAnswer accepts exactly one part of data that the form accepts, its media
// type, and nothing else.
func checkAnswer(f *form.Form, parts []a2a.Part) error {
	if len(parts) != 1 || parts[0].Data == nil || parts[0].MediaType != form.AnswerMediaType || parts[0].Filename != "" || parts[0].Metadata != nil {
		return fault.New(fault.Unprocessable, `An answer to a form is exactly one part of data and mediaType: {"data": {…the form's fields…}, "mediaType": %q}.`, form.AnswerMediaType)
	}
	errs := f.CheckAnswer(parts[0].Data)
	if len(errs) == 0 {
		return nil
	}
	fields := make([]fault.Field, len(errs))
	for i, e := range errs {
		fields[i] = fault.Field{Location: e.Key, Message: e.Message}
	}
	return fault.WithFields("The answer does not fit the form.", fields)
}

// Get returns one command; fault.NotFound if the principal sees no task with one of
// that ID.
func (s *Service) Get(ctx context.Context, p access.Principal, id string) (Command, error) {
	var r Record
	err := s.View(ctx, func(tx Tx) (err error) {
		r, err = seen(tx, p, id)
		return err
	})
	if err != nil {
		return Command{}, err
	}
	return r.Command, nil
}

// Wait is Get once the command is settled, or d has passed.
func (s *Service) Wait(ctx context.Context, p access.Principal, id string, d time.Duration) (Command, error) {
	changed, stop := s.Live.Watch(live.OrganisationTopic(p.OrganisationID))
	defer stop()
	timeout := time.NewTimer(d)
	defer timeout.Stop()
	for {
		c, err := s.Get(ctx, p, id)
		if err != nil || c.Status.Settled() {
			return c, err
		}
		select {
		case <-changed:
		case <-timeout.C:
			return c, nil
		case <-ctx.Done():
			return c, ctx.Err()
		}
	}
}
