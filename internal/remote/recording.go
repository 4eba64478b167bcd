package remote

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// recorded completes a record and hands it to the recorder.
func (c *call) recorded(r Record) {
	if c.client.record == nil {
		return
	}
	r.Exchange, r.AgentID, r.Operation, r.At = c.exchange, c.agentID, c.op.name, time.Now().UTC()
	r.Labels, _ = c.ctx.Value(labelsKey{}).(Labels)
	r.Binding, r.Version = c.binding.name, c.binding.version
	if c.op.secret {
		r.Body, r.Header, r.Err = c.private.Bytes(withoutSecrets(r.Body)), c.private.Header(r.Header), c.private.Text(r.Err)
	}
	c.client.record(r)
}

func (c *call) recordRequest(request *http.Request, body []byte) {
	c.recorded(Record{
		Kind: RecordRequest, Method: request.Method, URL: c.redactText(request.URL.String()),
		Header: c.secrets.Header(redacted(request.Header)), Body: c.secrets.Bytes(body),
	})
}

// recordResponse records an answer, whose secrets are replaced by then; body is
// nil for a stream.
func (c *call) recordResponse(response *http.Response, body []byte) {
	c.recorded(Record{
		Kind: RecordResponse, Status: response.StatusCode,
		Header: redacted(response.Header), Body: body,
	})
}

// secretHeaders hold secrets whatever their values; so does every header whose
// name has one of secretWords in it.
var (
	secretHeaders = []string{"authorization", "proxy-authorization", "cookie", "set-cookie"}
	secretWords   = []string{"token", "secret", "api-key", "apikey", "password", "credential", "signature"}
)

const redaction = "[redacted]"

// redacted returns a copy of a header without secrets.
func redacted(header http.Header) http.Header {
	out := header.Clone()
	for name := range out {
		lower := strings.ToLower(name)
		hasWord := func(word string) bool { return strings.Contains(lower, word) }
		if slices.Contains(secretHeaders, lower) || slices.ContainsFunc(secretWords, hasWord) {
			out[name] = []string{redaction}
		}
	}
	return out
}
