package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/url"
	"sync"

	"github.com/agent-taskbay/taskbay/internal/credential/scheme"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// Credentials knows what Taskbay authenticates to each agent with. Errors that
// are a *fault.Error are shown to the person who made the call, which is then not
// made: without a credential, where one is there or is needed, nothing is sent.
type Credentials interface {
	// For returns what goes with a call of an agent at an address.
	For(ctx context.Context, agentID string, u *url.URL) (scheme.Applied, error)
	// ForCard returns what goes with a request for the agent's card: nothing where
	// the agent's credential may not be sent to that address.
	ForCard(ctx context.Context, agentID string, u *url.URL) (scheme.Applied, error)
}

// credential returns what goes with the call at an address. From then on the call
// knows what to keep out of everything that it hands on.
func (c *call) credential(at *url.URL) (scheme.Applied, error) {
	if c.client.credentials == nil || c.agentID == "" {
		return scheme.Applied{}, nil
	}
	find := c.client.credentials.For
	if c.op.name == agentCard.name {
		find = c.client.credentials.ForCard
	}
	applied, err := find(c.ctx, c.agentID, at)
	switch {
	case err != nil && c.ctx.Err() != nil:
		return scheme.Applied{}, c.failure(err)
	case err != nil:
		return scheme.Applied{}, &Error{Delivery: NotSent, Message: fault.Public(err).Message, Err: err}
	}
	c.refused, c.secrets = applied.Refused, applied.Redactor
	return applied, nil
}

// authorise puts the agent's credential on a request, and returns what to send it with.
func (c *call) authorise(request *http.Request) (http.RoundTripper, error) {
	applied, err := c.credential(request.URL)
	if err != nil {
		return nil, err
	}
	for name, values := range applied.Header {
		request.Header[name] = values
	}
	return c.client.certified.transport(c.agentID, applied, c.client.transport), nil
}

// redactText returns a text that came from an agent, or from a library that may
// quote one, without secrets.
func (c *call) redactText(text string) string { return c.private.Text(c.secrets.Text(text)) }

// redactedError is an error whose text has had secrets in it.
type redactedError struct {
	error
	text string
}

// Error returns the text without secrets.
func (e *redactedError) Error() string { return e.text }

// Unwrap returns the error, for errors.Is and errors.As.
func (e *redactedError) Unwrap() error { return e.error }

// redactOutcome takes secrets out of everything that an outcome says.
func (c *call) redactOutcome(e *Error) {
	e.Message, e.Code = c.redactText(e.Message), c.redactText(e.Code)
	if e.Err == nil {
		return
	}
	if text := c.redactText(e.Err.Error()); text != e.Err.Error() {
		e.Err = &redactedError{e.Err, text}
	}
}

// certifiedTransports are those of agents that take a client certificate. A
// connection made with one certificate never serves a call with another.
type certifiedTransports struct {
	mu   sync.Mutex
	open map[string]certifiedTransport // by agent
}

type certifiedTransport struct {
	credential string
	*http.Transport
}

// transport returns what to send a call with: plain, unless a certificate goes
// with it.
func (t *certifiedTransports) transport(agentID string, a scheme.Applied, plain *http.Transport) *http.Transport {
	if a.TLS == nil {
		return plain
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	known, ok := t.open[agentID]
	if ok && known.credential == a.ID {
		return known.Transport
	}
	if ok {
		known.CloseIdleConnections()
	}
	certified := plain.Clone()
	certified.TLSClientConfig = clientTLS(a.TLS, plain.TLSClientConfig)
	if t.open == nil {
		t.open = make(map[string]certifiedTransport)
	}
	t.open[agentID] = certifiedTransport{a.ID, certified}
	return certified
}

// clientTLS is the TLS configuration with a client's certificate. The authorities
// that may vouch for the agent are the credential's own, if it names any.
func clientTLS(certified, plain *tls.Config) *tls.Config {
	config := certified.Clone()
	if config.RootCAs == nil {
		config.RootCAs = plain.RootCAs
	}
	return config
}

func (t *certifiedTransports) closeIdle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.open {
		c.CloseIdleConnections()
	}
}

// certificateOf names the client certificate that goes with a call; "" for none.
func certificateOf(a scheme.Applied) string {
	if a.TLS == nil {
		return ""
	}
	return a.ID
}

// IsRefusal reports whether an outcome is a decision of this side, such as of the
// network policy or about a credential, which trying again does not change.
func IsRefusal(err error) bool {
	var outcome *Error
	var decision *fault.Error
	return errors.As(err, &outcome) && outcome.Delivery == NotSent && errors.As(outcome.Err, &decision) &&
		decision.Kind != fault.Unavailable && decision.Kind != fault.Internal
}
