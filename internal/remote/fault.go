package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
)

const (
	maxAgentText  = 500 // characters of what an agent says about an error
	maxRetryAfter = 24 * time.Hour
)

// agentFault is an error that an agent answered with, in whichever form: the error
// object of JSON-RPC, google.rpc.Status, problem details (RFC 9457), or the
// looser objects of web frameworks.
type agentFault struct {
	number  int    // a JSON-RPC code, 0 if there is none
	reason  string // of an ErrorInfo, or a problem type
	text    string // what the agent says
	details string // more of it, as JSON
}

// findFault returns the error that an answer holds as its member "error": an
// object, or a text with more beside it.
func findFault(answer json.RawMessage) (agentFault, bool) {
	inner := rawjson.Member(answer, "error")
	switch rawjson.KindOf(inner) {
	case rawjson.Object:
		return readFault(inner), true
	case rawjson.String:
		fault := readFault(answer)
		if fault.text == "" {
			fault.text, _ = rawjson.Text(inner)
		}
		return fault, true
	}
	return agentFault{}, false
}

// readFault reads an error object.
func readFault(object json.RawMessage) agentFault {
	var f agentFault
	var title, detail string
	for name, value := range rawjson.Members(object) {
		text, isText := rawjson.Text(value)
		switch name {
		case "code":
			if number, err := strconv.Atoi(string(value)); err == nil && number < 0 {
				f.number = number
			}
		case "message":
			f.text = text
		case "title":
			title = text
		case "detail":
			if detail = text; !isText {
				detail = string(value)
			}
		case "type":
			f.reason = path.Base(text)
		case "details":
			if reason := reasonIn(value); reason != "" {
				f.reason = reason
			}
		case "data":
			if reason := reasonIn(value); reason != "" {
				f.reason = reason
			}
			if kind := rawjson.KindOf(value); kind == rawjson.Object || kind == rawjson.String {
				f.details = string(value)
			}
		}
	}
	for _, text := range []string{detail, title} {
		if f.text == "" {
			f.text = text
		}
	}
	return f
}

// reasonIn returns the reason of the google.rpc.ErrorInfo among the details of an error.
func reasonIn(details json.RawMessage) string {
	for detail := range rawjson.Elements(details) {
		if reason, ok := rawjson.Text(rawjson.Member(detail, "reason")); ok {
			return reason
		}
	}
	return ""
}

// known returns the protocol's error that a fault is.
func (f agentFault) known() (protocolError, bool) {
	if e, ok := byReason(f.reason); ok {
		return e, true
	}
	return byNumber(f.number)
}

// says returns what the agent says, as a sentence to put after another one.
func (f agentFault) says() string {
	text := cleaned(f.text, maxAgentText)
	if details := cleaned(f.details, maxAgentText); details != "" {
		text = strings.TrimSpace(text + " " + details)
	}
	if text == "" {
		return ""
	}
	return " It says: " + sentence(text)
}

// faultOutcome is the outcome of a call that an agent answered with an error.
func (c *call) faultOutcome(response *http.Response, f agentFault) *Error {
	protocol, known := f.known()
	text := cleaned(f.text, maxAgentText)
	switch {
	case response.StatusCode == http.StatusUnauthorized, response.StatusCode == http.StatusForbidden:
		outcome := c.statusOutcome(response)
		outcome.Message += f.says()
		if known {
			outcome.Code, outcome.Err = protocol.code, protocol.cause(text)
		}
		return outcome
	case known:
		return &Error{
			Delivery: Answered, Code: protocol.code, Message: protocol.words + "." + f.says(),
			RetryAfter: retryAfter(response.Header), Err: protocol.cause(text),
		}
	case isSuccess(response.StatusCode) || f.number != 0:
		outcome := &Error{Delivery: Answered, Code: CodeInternal, Message: "The agent answered with an error." + f.says(), Err: errors.New(text)}
		if f.number != 0 {
			outcome.Code = fmt.Sprintf("JSON-RPC %d", f.number)
		}
		return outcome
	}
	outcome := c.statusOutcome(response)
	outcome.Message += f.says()
	return outcome
}

// statusOutcome is the outcome of a call that was answered with an HTTP status
// that is no success, and nothing else that can be read.
func (c *call) statusOutcome(response *http.Response) *Error {
	status := response.StatusCode
	outcome := &Error{Delivery: Answered, Code: fmt.Sprintf("HTTP %d", status), RetryAfter: retryAfter(response.Header)}
	switch {
	case status >= 300 && status < 400:
		outcome.Message = "The agent answered with a redirect" + redirectTarget(response.Header) +
			", which is not followed. Use the address it points to, if you trust it."
	case status == http.StatusUnauthorized:
		outcome.Message = "The agent wants a credential (401 Unauthorized)." + challenge(response.Header)
	case status == http.StatusForbidden:
		outcome.Message = "The agent refuses this caller (403 Forbidden); it may want another credential." + challenge(response.Header)
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed:
		outcome.Message = fmt.Sprintf("Nothing answers to this call at %s %s (%s).", response.Request.Method, cleaned(c.at, 300), statusText(status))
	case status == http.StatusTooManyRequests, status == http.StatusTooEarly: // which say that nothing was done
		outcome.Message = fmt.Sprintf("The agent is too busy, or does not take this call now (%s).", statusText(status))
	case maybeDelivered(status):
		outcome.Delivery = Uncertain
		outcome.Message = fmt.Sprintf("%s (%s). Whether the agent got the call is not known.", gatewayWords(status), statusText(status))
	default:
		outcome.Message = fmt.Sprintf("The agent answered with an error (%s).", statusText(status))
	}
	return outcome
}

// statusClientClosedRequest is what nginx and those like it say if the connection
// for which they waited for the agent was closed.
const statusClientClosedRequest = 499

// maybeDelivered reports a status that a gateway answers with when it has passed the
// call on and heard nothing more, so that only an A2A error beside it, which no
// gateway writes, says what became of the call. That 503 comes with Retry-After
// proves nothing: gateways add it themselves.
func maybeDelivered(status int) bool {
	switch status {
	case http.StatusRequestTimeout, statusClientClosedRequest,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return status >= 520 // of content networks and load balancers
}

// gatewayWords is the beginning of a sentence about such a status.
func gatewayWords(status int) string {
	switch status {
	case http.StatusServiceUnavailable:
		return "The agent, or a gateway before it, is not available"
	case http.StatusRequestTimeout, statusClientClosedRequest:
		return "The agent, or a gateway before it, gave the call up"
	}
	return "A gateway before the agent got no answer from it"
}

func statusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}

func redirectTarget(header http.Header) string {
	if location := cleaned(header.Get("Location"), 300); location != "" {
		return " to " + location
	}
	return ""
}

// challenge says how an agent wants to be authenticated to.
func challenge(header http.Header) string {
	if challenge := cleaned(strings.Join(header.Values("WWW-Authenticate"), ", "), 300); challenge != "" {
		return " It asks for: " + sentence(challenge)
	}
	return ""
}

// retryAfter returns when an agent wants to be asked again, 0 if it does not say.
func retryAfter(header http.Header) time.Duration {
	value := strings.TrimSpace(header.Get("Retry-After"))
	wait := time.Duration(0)
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		wait = time.Until(at)
	}
	return min(max(wait, 0), maxRetryAfter)
}
