package scheme

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

// Options are what a Holder works with.
type Options struct {
	// Tokens carries the requests to token endpoints. It stands for the network
	// policy: a *fault.Error of its is shown to people.
	Tokens   http.RoundTripper
	Redactor *Redactor        // learns every secret before it is used
	Now      func() time.Time // nil is time.Now
}

// Holder has a credential ready to be used, with what it takes for that: tokens
// that were issued for it, and its TLS configuration. It is safe for concurrent use.
type Holder struct {
	id         string
	credential Credential
	tls        *tls.Config
	expires    time.Time
	tokens     *tokens
	options    Options
}

// NewHolder returns a holder of a credential that Check found nothing wrong with.
// id names the credential and its content.
func NewHolder(id string, c Credential, o Options) (*Holder, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	h := &Holder{id: id, credential: c, options: o, expires: c.Expires()}
	switch c.Kind {
	case OAuth2:
		h.tokens = newTokens(c, o)
	case MutualTLS:
		var err error
		if h.tls, err = clientTLS(c); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// Applied is what goes with a call. The zero value is nothing.
type Applied struct {
	// ID names the credential and its content: what was made with one ID, such as
	// a connection with its certificate, must not serve a call with another. It is
	// "" if nothing goes with the call.
	ID string

	// Header is set on the request, in the place of what is there.
	Header http.Header

	// TLS has the client certificate, and the authorities that may vouch for the
	// agent if they are not the system's. It is the same one for every call with
	// the same ID, and must not be changed. Nil for other kinds.
	TLS *tls.Config

	// Redactor knows the secrets of this call, and others of the agent.
	Redactor *Redactor

	refused func()
}

// Refused is to be called when the agent answered 401, or UNAUTHENTICATED: the
// next call then gets a new token, if this one had a token that was issued.
func (a Applied) Refused() {
	if a.refused != nil {
		a.refused()
	}
}

// Check returns a *fault.Error if the credential must not, or cannot, go with a
// call of this address.
func (h *Holder) Check(u *url.URL) error {
	origin := OriginOf(u)
	if !slices.Contains(h.credential.Origins, origin) {
		at := origin
		if at == "" {
			at = "this address"
		}
		return fault.New(fault.Unprocessable, "The credential of this agent may not be sent to %s, only to %s. Set it again with all the origins that it is for.",
			at, strings.Join(h.credential.Origins, ", "))
	}
	if h.tls != nil && h.options.Now().After(h.expires) {
		return fault.New(fault.Unprocessable, "The client certificate of this agent's credential expired on %s.", h.expires.Format("2 January 2006"))
	}
	return nil
}

// Apply returns what goes with a call of this address. It may have to wait for a
// token. Its errors are *fault.Errors; of kind fault.Unavailable if trying later
// may help.
func (h *Holder) Apply(ctx context.Context, u *url.URL) (Applied, error) {
	if err := h.Check(u); err != nil {
		return Applied{}, err
	}
	c := h.credential
	h.Learn()
	a := Applied{ID: h.id, Header: http.Header{}, TLS: h.tls, Redactor: h.options.Redactor}
	switch c.Kind {
	case Bearer:
		a.Header.Set("Authorization", "Bearer "+string(c.Secret))
	case APIKey:
		a.Header.Set(c.Header, string(c.Secret))
	case Basic:
		a.Header.Set("Authorization", c.basic())
	case OAuth2:
		value, err := h.tokens.get(ctx)
		if err != nil {
			return Applied{}, err
		}
		a.Header.Set("Authorization", "Bearer "+value)
		h.options.Redactor.Learn(value)
		a.refused = func() { h.tokens.drop(value) }
	}
	return a, nil
}

// Learn makes the holder's redactor look for the secrets of the credential.
func (h *Holder) Learn() { h.options.Redactor.Remember(h.credential.Secrets()...) }
