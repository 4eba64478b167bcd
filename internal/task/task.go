// Package task holds what the console knows of an agent's work: tasks with their
// messages, artifacts and states, and the question that a waiting task asks. It
// is a projection of the ledger: every observation is kept as it came, and
// Reduce says what each changes.
package task

import (
	"time"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/a2a"
)

// Kind tells a task from a message that the agent answered directly.
type Kind string

// The kinds. A direct Message reply stays a message; it never becomes a task.
const (
	KindTask    Kind = "task"
	KindMessage Kind = "message"
)

// Task is one task as the console shows it. Lists leave Messages, Artifacts,
// Transitions, Cancels, Push and Question out.
type Task struct {
	ID             string // local UUIDv7
	OrganisationID string
	RemoteTaskID   string // the agent's; "" until it has answered
	AgentID        string
	AgentRemoved   bool // from the catalogue: nothing is sent to it
	AgentName      string
	Tenant         string
	SkillID        string // the skill that it is held to; "" if none
	ContextID      string
	Kind           Kind
	State          a2a.State // StateUnspecified until the agent has said one
	Title          string    // the start of the first thing that was asked
	Messages       []Message
	Artifacts      []Artifact
	Transitions    []Transition
	Cancels        []CancelRequest
	Sent           *Delivery // of what was sent last, until the agent has told anything of the task; then nil
	Question       *Question // while the task waits and nobody has answered
	NeedsYou       bool      // waits for a person, nobody has answered, and the agent knows the task
	Push           *Push     // what the agent pushes; nil if it was not asked to
	ForgottenAt    time.Time // since when the agent, asked again and again, does not know the task; zero if it does
	CheckError     string    // why the agent could not be asked the last time; "" if it could
	HistoryLacks   bool      // the agent's own history lacks messages that it had got
	Ledger         Ledger    // how much of what the agent sent is kept
	PurgedAt       time.Time // when the raw record and the files were purged; zero if they were not
	ObservedAt     time.Time // when the agent was last heard; zero if never
	Version        int64     // grows with every change
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

// Delivery says what became of a message that a person sent, by its command.
type Delivery struct {
	CommandID string
	Status    string // a command's status: pending, dispatching, succeeded, failed, uncertain
	Error     string // public; "" unless failed or uncertain
	Refused   bool   // it failed because the agent, which has it, refused it
}

// Push says how far an agent was asked to push what happens on a task.
type Push struct {
	State   string    // of the registration: wanted, registered, failed, removing, removed
	LastAt  time.Time // when something was pushed last; zero if never
	Problem string    // what went wrong last, in words; "" for nothing
}

// Message is one entry of the conversation.
type Message struct {
	Seq       int64  // place in the task's timeline
	Version   int64  // the task's version at which the entry last changed
	ID        string // the A2A messageId; one made from the content if the agent gave none
	Digest    string // of role and parts, in hexadecimal
	Role      a2a.Role
	Parts     []a2a.Part
	At        time.Time
	Author    string      // who sent it, for messages sent from here
	Delivery  *Delivery   // for messages sent from here
	Answers   string      // the ID of the question that this message answers, or ""
	AnswerTo  *form.Form  // the form that was answered, for labels; nil if none
	StartForm *form.Form  // the start form that was filled in, for labels; nil if none
	Current   bool        // the question that is open now
	NotForm   []form.Note // why a part that means to be a form is none; see Question
}

// Artifact is one output of the agent's work.
type Artifact struct {
	Seq         int64
	Version     int64
	ID          string
	Name        string
	Description string
	Parts       []a2a.Part // assembled: adjacent text chunks are joined
	Joined      bool       // they were: there is text that no single chunk has
	Complete    bool
	At          time.Time
}

// Transition is one change of a task's state.
type Transition struct {
	Seq     int64
	Version int64
	State   a2a.State
	At      time.Time
}

// CancelRequest is one time that somebody asked for the task to be canceled.
type CancelRequest struct {
	Seq      int64
	Version  int64
	At       time.Time
	Author   string
	Delivery Delivery
}

// Question is what a waiting task asks.
type Question struct {
	MessageID string      // names the question in an answer
	Prompt    string      // the text parts of the message
	Parts     []a2a.Part  // all of its parts
	Form      *form.Form  // the first valid form, if the agent advertises the extension
	FormPart  int         // index of the form's part in Parts; -1 if there is none
	NotForm   []form.Note // why a part that means to be a form is not drawn
}

// Standing tells how a task stands in a way for which A2A has no state.
type Standing string

// The standings. But for the last three they are those of a task of which the
// agent has told nothing, by what became of the message that was sent last.
const (
	StandingSending  Standing = "sending"
	StandingNotSent  Standing = "not-sent" // nothing reached the agent
	StandingRefused  Standing = "refused"  // the agent has it and refused it
	StandingUnknown  Standing = "unknown"  // it may have arrived
	StandingReplied  Standing = "replied"  // with a message, and no task
	StandingAnswered Standing = "answered" // waited for a person, who has answered

	StandingForgotten Standing = "forgotten" // the agent no longer knows it
)

// Filter narrows a list of tasks.
type Filter struct {
	State    a2a.State // "" for all
	Standing Standing  // "" for all
	AgentID  string    // "" for all
	NeedsYou bool
	Query    string // text in title, messages, their data, and artifacts; "" for all
	Cursor   string // from Page.Next
	Limit    int    // 1 to 100; 0 is 50
	Span     int    // how many tasks a page of a search for a text looks at; 0 is SearchSpan
}

// SearchSpan is how many tasks a page of a search for a text looks at. There is no
// index for text, and a list that is watched is read again with each change.
const SearchSpan = 20_000

// Page is one page of a list of tasks, newest change first.
type Page struct {
	Items []Task
	Next  string // "" on the last page
}

// Delta is what changed in a task since a version: the task without the entries
// that did not change.
type Delta struct {
	Since int64
	Task  Task
}

// Counts are the figures beside the navigation.
type Counts struct {
	NeedsYou int // tasks that wait for a person
}

// BlobInfo describes bytes that an agent sent.
type BlobInfo struct {
	SHA256    string
	Size      int64
	Filename  string // the agent's; "" if it gave none
	MediaType string // the agent's; "" if it gave none
}
