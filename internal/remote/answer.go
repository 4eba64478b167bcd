package remote

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
)

// readBody reads a whole answer, within limits, and records it.
func (c *call) readBody(response *http.Response, limit int64) ([]byte, error) {
	defer response.Body.Close()
	reader, err := decompressed(response)
	if err != nil {
		return nil, c.unreadable(err)
	}
	return c.readFrom(response, reader, limit)
}

// readFrom reads the whole answer from a reader over its body, and records it.
func (c *call) readFrom(response *http.Response, reader io.Reader, limit int64) ([]byte, error) {
	wait := c.client.limits.Body
	timer := time.AfterFunc(wait, func() { c.cancel(&timeoutError{"The agent did not complete its answer within %s.", wait, ErrTimeout}) })
	defer timer.Stop()
	body, err := readWithin(reader, response.ContentLength, limit)
	body = c.secrets.Bytes(body)
	c.recordResponse(response, body)
	if err != nil && isSuccess(response.StatusCode) {
		return nil, c.unreadable(err)
	}
	return body, nil // of an error the status says enough
}

// readWithin returns at most limit bytes, and an error with them if there are more.
func readWithin(reader io.Reader, announced, limit int64) ([]byte, error) {
	if announced > limit {
		return nil, tooLarge("answer", limit)
	}
	body, err := io.ReadAll(io.LimitReader(reader, limit+1))
	if err == nil && int64(len(body)) > limit {
		return body[:limit], tooLarge("answer", limit)
	}
	return body, err
}

// decompressed returns the body of an answer, also if it was compressed though
// that was not asked for.
func decompressed(response *http.Response) (io.Reader, error) {
	switch encoding := strings.ToLower(response.Header.Get("Content-Encoding")); encoding {
	case "", "identity":
		return response.Body, nil
	case "gzip", "x-gzip":
		return gzip.NewReader(response.Body)
	default:
		return nil, &Error{Delivery: Uncertain, Message: fmt.Sprintf("The agent's answer is compressed with %s, which was not asked for.", cleaned(encoding, 40))}
	}
}

func tooLarge(what string, limit int64) *Error {
	return &Error{
		Delivery: Uncertain, Err: ErrTooLarge,
		Message: fmt.Sprintf("The agent's %s is larger than %s and was not read.", what, megabytes(limit)),
	}
}

func megabytes(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}

// unreadable is the outcome of a call whose answer began and could not be read.
func (c *call) unreadable(err error) *Error {
	outcome := c.fail(err)
	c.err = nil
	if outcome.Delivery == NotSent {
		outcome.Delivery = Uncertain
	}
	return outcome
}

// readAnswer returns what is observed in an answer: a result that is there and
// readable, or the outcome of the call.
func (c *call) readAnswer(response *http.Response, body []byte) (json.RawMessage, error) {
	answer, isJSON := firstJSON(body)
	if !isJSON && c.op.answer == nothingShape && isSuccess(response.StatusCode) && len(bytes.TrimSpace(body)) == 0 {
		return json.RawMessage("null"), nil
	}
	if !isJSON {
		return nil, c.notJSON(response, body)
	}
	result, fault, failed := openAnswer(answer, response.StatusCode)
	if failed {
		return nil, c.faultOutcome(response, fault)
	}
	payload, ok := c.op.payload(result)
	if !ok {
		return nil, c.unlikeA2A(answer)
	}
	return payload, nil
}

// unlikeA2A is the outcome of a call whose answer is not what was asked for.
func (c *call) unlikeA2A(answer []byte) *Error {
	outcome := &Error{
		Delivery: Uncertain, Code: CodeInvalidResponse,
		Message: "The agent's answer does not follow A2A; what was asked for is not in it",
	}
	if c.op.secret {
		outcome.Message += "."
	} else {
		outcome.Message += ": " + cleaned(string(answer), 200)
	}
	return outcome
}

var byteOrderMark = []byte("\xEF\xBB\xBF")

// firstJSON returns the JSON value that an answer begins with, in valid UTF-8. A
// byte order mark before it, and anything behind it, is passed over.
func firstJSON(body []byte) (json.RawMessage, bool) {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, byteOrderMark))
	if !utf8.Valid(body) {
		body = bytes.ToValidUTF8(body, []byte("\uFFFD"))
	}
	if json.Valid(body) {
		return body, true
	}
	var first json.RawMessage
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&first); err != nil || rawjson.KindOf(first) != rawjson.Object {
		return nil, false
	}
	return first, true
}

// openAnswer returns the result in a JSON answer, or the error in it. The result is
// in the envelope of JSON-RPC or, as HTTP+JSON sends it, bare.
func openAnswer(answer json.RawMessage, status int) (result json.RawMessage, fault agentFault, failed bool) {
	result = answer
	if enveloped := rawjson.Member(answer, "result"); enveloped != nil && rawjson.KindOf(enveloped) != rawjson.Null {
		result = enveloped
	}
	if a2a.IsEvent(result) && isSuccess(status) {
		return result, agentFault{}, false
	}
	fault, failed = findFault(result)
	if !failed && !isSuccess(status) {
		fault, failed = readFault(answer), true
	}
	return result, fault, failed
}

// notJSON is the outcome of a call whose answer is something else than JSON.
func (c *call) notJSON(response *http.Response, body []byte) *Error {
	if !isSuccess(response.StatusCode) {
		return c.statusOutcome(response)
	}
	outcome := &Error{Delivery: Uncertain, Code: CodeInvalidResponse}
	switch {
	case len(bytes.TrimSpace(body)) == 0:
		outcome.Message = fmt.Sprintf("The agent answered with nothing (%s).", statusText(response.StatusCode))
	case isPage(response, body):
		outcome.Delivery = Answered
		outcome.Message = "A web page answers at " + cleaned(c.at, 300) + ", not an agent."
	default:
		outcome.Message = fmt.Sprintf("The agent's answer is not JSON (its type is %q).", cleaned(response.Header.Get("Content-Type"), 60))
	}
	return outcome
}

// isPage reports a page that is made for browsers.
func isPage(response *http.Response, body []byte) bool {
	return mediaType(response) == "text/html" || bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))
}

func mediaType(response *http.Response) string {
	header := response.Header.Get("Content-Type")
	if mediaType, _, err := mime.ParseMediaType(header); err == nil {
		return mediaType
	}
	mediaType, _, _ := strings.Cut(header, ";")
	return strings.ToLower(strings.TrimSpace(mediaType))
}
