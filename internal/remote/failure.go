package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

// What an Error may wrap, for errors.Is.
var (
	ErrIdle     = errors.New("the stream was silent for too long")
	ErrTimeout  = errors.New("the agent took too long")
	ErrTooLarge = errors.New("the agent sent more than is read")
)

// errNoHTTP2 is why gRPC cannot be spoken with a server that speaks TLS.
var errNoHTTP2 = errors.New("the server does not offer HTTP/2")

// timeoutError ends a call that took too long. It is the cause of its context's end.
type timeoutError struct {
	format string // with a %s for the time
	limit  time.Duration
	kind   error
}

func (e *timeoutError) Error() string { return fmt.Sprintf(e.format, e.limit) }
func (e *timeoutError) Unwrap() error { return e.kind }

// failure is the outcome of a call that brought no HTTP answer, or lost it on the way.
func (c *call) failure(err error) *Error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // without the address, which may hold secrets
	}
	delivery := NotSent
	if c.sending.sent() {
		delivery = Uncertain
	}
	if c.ctx.Err() != nil {
		cause := context.Cause(c.ctx)
		return &Error{Delivery: delivery, Message: endedWords(c.ctx.Err(), cause), Err: errors.Join(cause, err)}
	}
	return &Error{Delivery: delivery, Message: c.lostWords(err, delivery), Err: err}
}

// endedWords says why this side ended a call.
func endedWords(err, cause error) string {
	var timeout *timeoutError
	switch {
	case errors.As(cause, &timeout):
		return timeout.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return "The call took longer than it was given."
	}
	return "The call was stopped before it was complete."
}

// lostWords says why a call brought no answer.
func (c *call) lostWords(err error, delivery Delivery) string {
	var refused *fault.Error // the network's
	if errors.As(err, &refused) {
		return "The agent was not called. " + refused.Message
	}
	if delivery == NotSent {
		return connectWords(err, cleaned(c.at, 300))
	}
	for _, cut := range []error{syscall.ECONNRESET, syscall.EPIPE, io.EOF, io.ErrUnexpectedEOF} {
		if errors.Is(err, cut) {
			return "The agent cut the connection before its answer was complete."
		}
	}
	return "The connection to the agent failed before its answer was complete."
}

// connectWords covers what can go wrong before there is a connection.
func connectWords(err error, at string) string {
	if words, ok := tlsWords(err); ok {
		return "The agent cannot be reached securely: " + words
	}
	var dns *net.DNSError
	var network net.Error
	unreachable := "The agent does not answer at " + at + ": "
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return "The agent cannot be found: there is no host named " + cleaned(dns.Name, 100) + "."
	case errors.As(err, &dns):
		return "The agent cannot be found: the name " + cleaned(dns.Name, 100) + " could not be looked up."
	case errors.Is(err, syscall.ECONNREFUSED):
		return unreachable + "connection refused. Nothing listens there."
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return unreachable + "there is no way to its network."
	case errors.As(err, &network) && network.Timeout():
		return unreachable + "no connection came about in time."
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF):
		return unreachable + "it closed the connection at once."
	}
	return unreachable + "the connection failed."
}

func tlsWords(err error) (string, bool) {
	var unknown x509.UnknownAuthorityError
	var hostname x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	var alert *net.OpError
	switch {
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return "it does not speak TLS at this port. Its address may have to begin with http://.", true
	case errors.As(err, &unknown):
		return "its certificate is signed by an authority that is not trusted here.", true
	case errors.As(err, &hostname):
		return "its certificate is for another host.", true
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "its certificate has expired or is not valid yet.", true
	case errors.As(err, &invalid):
		return "its certificate is not valid.", true
	case errors.Is(err, errNoHTTP2):
		return "it offers no HTTP/2, which gRPC needs.", true
	case errors.As(err, &alert) && alert.Op == "remote error": // as crypto/tls calls a peer's alert
		return "it broke off the TLS handshake (" + cleaned(strings.TrimPrefix(alert.Err.Error(), "tls: "), 100) + ").", true
	}
	return "", false
}
