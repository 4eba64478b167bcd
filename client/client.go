// Package client calls a Taskbay server from a Go program. It has a method for
// every operation of the HTTP API, version 1, and needs nothing but the standard
// library:
//
//	bay, err := client.New("https://taskbay.example.com", client.Options{Token: token})
//	command, err := bay.Submit(ctx, agentID, client.CommandBody{Text: "Deploy the billing service"})
//	command, err = bay.WaitCommand(ctx, command.ID)
//	task, err := bay.WaitTask(ctx, command.TaskID, func(t client.Task) bool { return t.Question != nil })
//
// What the server refuses is a [*Problem], which errors.As finds. A call ends when
// its context does. What an agent or a form says as JSON is a json.RawMessage: with
// the member order and every digit of its author.
//
// What can be asked twice without harm is asked again when the connection breaks or
// the server says that it cannot answer now: everything that reads, sets or removes,
// and a send, whose idempotency key makes it one send however often it arrives.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const prefix = "/api/v1"

// Bounds of what a server can make a program hold.
const (
	maxAnswer  = 256 << 20 // bytes of one answer, or of one event of a stream
	maxProblem = 1 << 20   // bytes of a problem document
)

// Options are what a program may choose.
type Options struct {
	// Token is an API token, which begins with tbay_. A server that nobody signs
	// in to, as on a laptop, needs none. It goes to the server's own address only,
	// over HTTPS unless that address says otherwise.
	Token string
	// HTTPClient makes the requests, but never follows redirects: the API has none.
	// nil is one of its own. A Timeout in it ends streams and waiting too; contexts
	// are the better bound.
	HTTPClient *http.Client
	// Attempts is how often a request is made at most, if it can be repeated without
	// harm; 0 is 4.
	Attempts int
	// MaxRetryAfter is the longest time to wait before an attempt because the server
	// asks for it; 0 is a minute. If it asks for more, its answer is the error.
	MaxRetryAfter time.Duration
}

// Client calls one server. Any number of goroutines may use it.
type Client struct {
	base    string // without a slash at the end
	options Options
	http    *http.Client
}

// New returns a client of the server at an address such as https://taskbay.example.com.
func New(baseURL string, o Options) (*Client, error) {
	base, err := url.Parse(baseURL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" ||
		base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, errors.New("client: the address of the server must be http:// or https:// and a host, and at most a path")
	}
	c := &Client{base: strings.TrimRight(base.String(), "/"), options: o}
	if c.options.Attempts == 0 {
		c.options.Attempts = 4
	}
	if c.options.MaxRetryAfter == 0 {
		c.options.MaxRetryAfter = time.Minute
	}
	c.http = &http.Client{}
	if o.HTTPClient != nil {
		copied := *o.HTTPClient
		c.http = &copied
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

// call is one operation as it is asked for.
type call struct {
	method string
	path   string // beneath the prefix, with its parameters escaped
	query  url.Values
	header http.Header
	body   any  // nil for none
	once   bool // it is not repeated: the server could do it twice
}

// pathOf puts escaped parameters into a path: /tasks/{}/events.
func pathOf(pattern string, parameters ...string) string {
	for _, p := range parameters {
		pattern = strings.Replace(pattern, "{}", escape(p), 1)
	}
	return pattern
}

// queryOf is a query with those of the parameters that are not empty.
func queryOf(parameters map[string]string) url.Values {
	query := url.Values{}
	for name, value := range parameters {
		if value != "" {
			query.Set(name, value)
		}
	}
	return query
}

// escape returns a parameter as one segment of a path, which stays one whatever it
// is: dots would be taken for a step up, and an empty one would name the list.
func escape(parameter string) string {
	switch parameter {
	case "":
		return "%20"
	case ".", "..":
		return strings.ReplaceAll(parameter, ".", "%2E")
	}
	return url.PathEscape(parameter)
}

// fetch makes a call and decodes its answer.
func fetch[T any](ctx context.Context, c *Client, k call) (T, error) {
	var answer T
	response, err := c.send(ctx, k)
	if err != nil {
		return answer, err
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := readBounded(response.Body)
	if err != nil {
		return answer, k.failed(err)
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return answer, k.failed(fmt.Errorf("the answer cannot be read: %w", err))
	}
	return answer, nil
}

func readBounded(r io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxAnswer+1))
	if err == nil && len(raw) > maxAnswer {
		err = errTooLarge
	}
	return raw, err
}

var errTooLarge = errors.New("the answer is larger than 256 MiB")

// failed says of an error which operation it is of.
func (k call) failed(err error) error {
	return fmt.Errorf("%s %s: %w", k.method, prefix+k.path, err)
}

// send makes a call, more than once if it may be and has to be, and returns the
// answer if it is what was asked for; the caller closes its body. The error is a
// *Problem if the server answered.
func (c *Client) send(ctx context.Context, k call) (*http.Response, error) {
	var content []byte
	if k.body != nil {
		var err error
		if content, err = encode(k.body); err != nil {
			return nil, k.failed(err)
		}
	}
	for attempt := 1; ; attempt++ {
		response, err := c.try(ctx, k, content)
		if err == nil {
			return response, nil
		}
		wait, again := c.again(err, attempt)
		if k.once || !again || ctx.Err() != nil {
			return nil, k.failed(err)
		}
		if err := pause(ctx, wait); err != nil {
			return nil, k.failed(err)
		}
	}
}

// encode returns JSON in which raw members keep their exact text.
func encode(body any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		return nil, fmt.Errorf("the body cannot be written as JSON: %w", err)
	}
	return out.Bytes(), nil
}

// try makes one request.
func (c *Client) try(ctx context.Context, k call, content []byte) (*http.Response, error) {
	var body io.Reader
	if k.body != nil {
		body = bytes.NewReader(content)
	}
	address := c.base + prefix + k.path
	if len(k.query) > 0 {
		address += "?" + k.query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, k.method, address, body)
	if err != nil {
		return nil, &permanentError{err}
	}
	for name, values := range k.header {
		request.Header[name] = values
	}
	if k.body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.options.Token != "" {
		request.Header.Set("Authorization", "Bearer "+c.options.Token)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= 200 && response.StatusCode < 300 {
		return response, nil
	}
	defer func() { _ = response.Body.Close() }()
	return nil, problemOf(response)
}

// permanentError is of a request that could not be made at all.
type permanentError struct{ error }

// again reports whether another attempt may go better, and how long to wait before
// it: as long as the server asks for, or a little longer each time.
func (c *Client) again(err error, attempt int) (wait time.Duration, ok bool) {
	if attempt >= c.options.Attempts {
		return 0, false
	}
	var permanent *permanentError
	if errors.As(err, &permanent) {
		return 0, false
	}
	wait = backoff(attempt)
	var problem *Problem
	if errors.As(err, &problem) {
		if !problem.temporary() || problem.RetryAfter > c.options.MaxRetryAfter {
			return 0, false
		}
		wait = max(wait, problem.RetryAfter)
	}
	return wait, true
}

// backoff is the time before an attempt after some: a quarter of a second, and twice
// as long each time, up to eight seconds.
func backoff(attempts int) time.Duration {
	return 250 * time.Millisecond << min(attempts-1, 5)
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
