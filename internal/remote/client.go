package remote

import (
	"context"
	"iter"
	"log/slog"
)

// Options say how a Client reaches agents. The zero value works.
type Options struct {
	Limits Limits // zero fields take the defaults of DefaultLimits

	// Guard is asked before every connection, with the address that is really
	// connected to ("tcp4", "192.0.2.1:443"). Its error refuses the connection and
	// is shown to the person, so it says which rule was broken. Nil allows all.
	Guard func(network, address string) error

	// Record is given every piece of every exchange as it happens. Nil records nothing.
	Record Recorder

	Log       *slog.Logger // nil discards
	UserAgent string       // "" is "Agent-Taskbay"
}

// Client calls agents. It is safe for concurrent use; one is enough for a process.
//
// Every error that its methods return is a *Error. A call never follows a
// redirect and is never sent twice.
type Client struct{}

// New returns a client.
func New(o Options) *Client { return &Client{} }

// Close drops idle connections. Calls that are running are ended by their contexts.
func (c *Client) Close() {}

// Send asks the agent to take a message and waits for its one answer
// (SendMessage): a task or a message.
func (c *Client) Send(ctx context.Context, t Target, r SendRequest) (Observation, error) {
	return Observation{}, &Error{}
}

// Stream asks the agent to take a message and yields what it says about it
// (SendStreamingMessage) until the agent ends the stream, the loop is left or ctx
// is done. It yields at least one observation or an error; an error is the last
// thing it yields. An error after an observation has Delivery Answered: the agent
// has the message, and the error says how its stream ended.
func (c *Client) Stream(ctx context.Context, t Target, r SendRequest) iter.Seq2[Observation, error] {
	return func(yield func(Observation, error) bool) { yield(Observation{}, &Error{}) }
}

// Subscribe yields what the agent says about a task from now on
// (SubscribeToTask), as Stream does. Agents answer with the codes
// CodeTaskNotFound or CodeUnsupportedOperation when the task cannot be streamed at
// the moment; Get then tells how it stands.
func (c *Client) Subscribe(ctx context.Context, t Target, taskID string) iter.Seq2[Observation, error] {
	return func(yield func(Observation, error) bool) { yield(Observation{}, &Error{}) }
}

// Get asks how a task stands (GetTask). The payload is {"task":…}. historyLength
// bounds the messages of its history; nil leaves it to the agent.
func (c *Client) Get(ctx context.Context, t Target, taskID string, historyLength *int) (Observation, error) {
	return Observation{}, &Error{}
}

// Cancel asks the agent to cancel a task (CancelTask). The payload is {"task":…},
// as it stands after that, which need not be canceled.
func (c *Client) Cancel(ctx context.Context, t Target, taskID string) (Observation, error) {
	return Observation{}, &Error{}
}

// Page is one page of an agent's tasks.
type Page struct {
	Tasks []Observation // each payload is {"task":…}
	Next  string        // the token of the next page, "" at the end
}

// List asks for a page of the agent's tasks (ListTasks), of one context if
// contextID is not "". pageToken is "" for the first page. Many agents do not
// list: CodeUnsupportedOperation and CodeMethodNotFound are usual answers.
func (c *Client) List(ctx context.Context, t Target, contextID, pageToken string) (Page, error) {
	return Page{}, &Error{}
}

// CardFetch is a card as it was found, and the way to it.
type CardFetch struct {
	Raw      []byte    // a JSON object, without the byte order mark that some servers put before it
	URL      string    // where it was found
	Attempts []Attempt // in order; the last one is the success, if there was one
}

// Attempt is one address that was asked for a card.
type Attempt struct {
	URL     string `json:"url"`
	Problem string `json:"problem,omitempty"` // in words for a newcomer; "" if the card was there
}

// FetchCard finds an agent's card from what a person typed: the card itself if
// the path ends in .json, else the well-known places below the URL and at its
// origin, and the URL itself last. CardFetch.Attempts is filled in on an error too.
func (c *Client) FetchCard(ctx context.Context, rawURL string) (CardFetch, error) {
	return CardFetch{}, &Error{}
}
