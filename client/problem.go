package client

import (
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"
)

// Problem is what the server refused a request with (RFC 9457). It never repeats
// what was submitted.
type Problem struct {
	Type   string       `json:"type"`
	Title  string       `json:"title"`
	Status int          `json:"status"`
	Detail string       `json:"detail"`
	Errors []InputFault `json:"errors,omitempty"` // the inputs at fault

	RetryAfter time.Duration `json:"-"` // when to try again, if the server said so
}

// InputFault is what is wrong with one input.
type InputFault struct {
	Location string `json:"location"` // a JSON Pointer into the body, the key of a form's field, or a parameter such as query.limit
	Message  string `json:"message"`
}

// Error returns the status, what happened, and the inputs at fault.
func (p *Problem) Error() string {
	text := strconv.Itoa(p.Status) + " " + p.Title
	if p.Detail != "" {
		text += ": " + p.Detail
	}
	for _, fault := range p.Errors {
		text += " " + fault.Location + ": " + fault.Message
	}
	return text
}

// temporary reports whether the same request may be answered in a while.
func (p *Problem) temporary() bool {
	switch p.Status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// problemOf reads the problem of an answer. What stands between may answer in
// another form: then the status is all there is.
func problemOf(response *http.Response) *Problem {
	p := &Problem{}
	mediaType, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if mediaType == "application/problem+json" {
		raw, err := io.ReadAll(io.LimitReader(response.Body, maxProblem))
		if err != nil || json.Unmarshal(raw, p) != nil {
			p = &Problem{}
		}
	}
	p.Status = response.StatusCode
	if p.Title == "" {
		p.Title = http.StatusText(p.Status)
	}
	if p.Type == "" {
		p.Type = "about:blank"
	}
	if p.Status >= 300 && p.Status < 400 {
		p.Detail = "The server sends requests elsewhere, which are not followed; use the address that it has itself."
	}
	p.RetryAfter = retryAfter(response.Header.Get("Retry-After"))
	return p
}

// retryAfter reads a Retry-After header: seconds, or a date.
func retryAfter(value string) time.Duration {
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
