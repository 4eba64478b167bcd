package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// script answers one request after the other; the last answer is given again.
type script struct {
	answers []answer
	asked   []string // method, path, idempotency key and Last-Event-ID
	keys    []string
}

type answer struct {
	status     int // 0 breaks the connection
	retryAfter string
	mediaType  string // "" is application/json
	body       string
	stream     io.ReadCloser // in the place of body
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	a := s.answers[min(len(s.asked), len(s.answers)-1)]
	s.asked = append(s.asked, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Last-Event-ID")))
	s.keys = append(s.keys, r.Header.Get("Idempotency-Key"))
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if a.status == 0 {
		return nil, errors.New("connection reset by peer")
	}
	header := http.Header{"Content-Type": {"application/json"}}
	if a.mediaType != "" {
		header.Set("Content-Type", a.mediaType)
	}
	if a.retryAfter != "" {
		header.Set("Retry-After", a.retryAfter)
	}
	body := a.stream
	if body == nil {
		body = io.NopCloser(strings.NewReader(a.body))
	}
	return &http.Response{StatusCode: a.status, Header: header, Body: body, Request: r}, nil
}

func (s *script) client(t *testing.T, o Options) *Client {
	t.Helper()
	o.HTTPClient = &http.Client{Transport: s}
	c, err := New("http://bay.example", o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const problemJSON = "application/problem+json"

func TestAddressesThatAreNone(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "bay.example", "ftp://bay.example", "http://", "http://me:secret@bay.example", "http://bay.example?a=b", "http://bay.example/#x", ":"} {
		if _, err := New(address, Options{}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("New(%q): %v, want an error that does not repeat it", address, err)
		}
	}
}

func TestWhatIsRepeated(t *testing.T) {
	t.Parallel()
	agent := func(ctx context.Context, c *Client) error { return second(c.Agent(ctx, "id")) }
	submit := func(ctx context.Context, c *Client) error { return second(c.Submit(ctx, "id", CommandBody{Text: "t"})) }
	resend := func(ctx context.Context, c *Client) error { return second(c.Resend(ctx, "id")) }
	good, busy := answer{status: 200, body: "{}"}, answer{status: 503, mediaType: problemJSON, retryAfter: "5", body: `{"detail":"Later."}`}
	tests := map[string]struct {
		call    func(context.Context, *Client) error
		answers []answer
		times   int
		took    time.Duration
		status  int // of the problem; 0 for none
	}{
		"a read that is busy":               {agent, []answer{busy, good}, 2, 5 * time.Second, 0},
		"a send that is limited":            {submit, []answer{{status: 429, retryAfter: "7"}, good}, 2, 7 * time.Second, 0},
		"a send whose connection breaks":    {submit, []answer{{}, {}, good}, 3, 750 * time.Millisecond, 0},
		"a proxy that has no server":        {agent, []answer{{status: 502, mediaType: "text/html", body: "<p>"}, good}, 2, 250 * time.Millisecond, 0},
		"longer than is waited for":         {agent, []answer{{status: 429, retryAfter: "61"}, good}, 1, 0, 429},
		"busy for good":                     {agent, []answer{busy}, 4, 15 * time.Second, 503},
		"what could be done twice":          {resend, []answer{busy, good}, 1, 0, 503},
		"what could have been done already": {resend, []answer{{}, good}, 1, 0, 0},
		"what stays wrong":                  {submit, []answer{{status: 409, mediaType: problemJSON, body: `{}`}, good}, 1, 0, 409},
		"a redirect":                        {submit, []answer{{status: 307}, good}, 1, 0, 307},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &script{answers: tc.answers}
				begin := time.Now()
				err := tc.call(t.Context(), s.client(t, Options{}))
				if len(s.asked) != tc.times || time.Since(begin) != tc.took {
					t.Errorf("asked %d times in %s, want %d in %s", len(s.asked), time.Since(begin), tc.times, tc.took)
				}
				var problem *Problem
				if errors.As(err, &problem) != (tc.status != 0) || problem != nil && problem.Status != tc.status {
					t.Errorf("the error is %v, want status %d", err, tc.status)
				}
				for _, key := range s.keys {
					if key != s.keys[0] {
						t.Errorf("the idempotency key changes: %q", s.keys)
					}
				}
			})
		})
	}
}

func TestEachSubmitHasItsOwnKey(t *testing.T) {
	t.Parallel()
	s := &script{answers: []answer{{status: 202, body: "{}"}}}
	c := s.client(t, Options{})
	for _, key := range []string{"", "", "mine"} {
		if _, err := c.Submit(t.Context(), "id", CommandBody{IdempotencyKey: key, Text: "t"}); err != nil {
			t.Fatal(err)
		}
	}
	if s.keys[0] == "" || s.keys[0] == s.keys[1] || s.keys[2] != "mine" {
		t.Errorf("the keys are %q", s.keys)
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	s := &script{answers: []answer{{status: 422, mediaType: problemJSON + "; charset=utf-8", body: `{"type":"about:blank","title":"Unprocessable Entity","status":422,
		"detail":"The answer does not fit the form.","errors":[{"location":"replicas","message":"At least 1"}]}`}}}
	_, err := s.client(t, Options{}).Task(t.Context(), "x/../y")
	var problem *Problem
	if !errors.As(err, &problem) {
		t.Fatalf("the error is %v", err)
	}
	want := &Problem{Type: "about:blank", Title: "Unprocessable Entity", Status: 422, Detail: "The answer does not fit the form.",
		Errors: []InputFault{{"replicas", "At least 1"}}}
	if diff := cmp.Diff(want, problem); diff != "" {
		t.Error(diff)
	}
	if s.asked[0] != "GET /api/v1/tasks/x%2F..%2Fy" {
		t.Errorf("asked for %s", s.asked[0])
	}
	s = &script{answers: []answer{{status: 500, mediaType: "text/html", body: "<h1>secret</h1>"}}}
	_, err = s.client(t, Options{}).Task(t.Context(), "..")
	if !errors.As(err, &problem) || problem.Title != "Internal Server Error" || strings.Contains(err.Error(), "secret") {
		t.Errorf("what is no problem document is %v", err)
	}
	if s.asked[0] != "GET /api/v1/tasks/%2E%2E" {
		t.Errorf("asked for %s", s.asked[0])
	}
}

// TestTokenIsSent sends the token to the server; that no redirect is followed is in
// TestWhatIsRepeated.
func TestTokenIsSent(t *testing.T) {
	t.Parallel()
	server := &answering{mediaType: "application/json", body: "{}"}
	c, err := New("http://bay.example", Options{Token: "tbay_x", HTTPClient: &http.Client{Transport: server}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Agents(t.Context()); err != nil || server.last.Header.Get("Authorization") != "Bearer tbay_x" {
		t.Errorf("%v: the header is %q", err, server.last.Header.Get("Authorization"))
	}
}

func TestPaging(t *testing.T) {
	t.Parallel()
	s := &script{answers: []answer{{status: 200, body: `{"items":[{"id":"1"},{"id":"2"}],"next":"n&"}`}, {status: 200, body: `{"items":[],"next":"m"}`}, {status: 200, body: `{"items":[{"id":"3"}],"next":null}`}}}
	c := s.client(t, Options{})
	var ids []string
	for task, err := range c.Tasks(t.Context(), TaskFilter{Text: "billing"}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, task.ID)
	}
	if diff := cmp.Diff([]string{"1", "2", "3"}, ids); diff != "" {
		t.Error(diff)
	}
	want := []string{"GET /api/v1/tasks?q=billing", "GET /api/v1/tasks?cursor=n%26&q=billing", "GET /api/v1/tasks?cursor=m&q=billing"}
	if diff := cmp.Diff(want, s.asked); diff != "" {
		t.Error(diff)
	}
	s = &script{answers: []answer{{status: 403}}}
	n := 0
	for _, err := range s.client(t, Options{}).Tasks(t.Context(), TaskFilter{}) {
		if n++; err == nil {
			t.Error("an error is not told")
		}
	}
	if n != 1 {
		t.Errorf("%d items, want the error alone", n)
	}
}

// TestStreamComesBack breaks a stream off in the middle of an event, refuses it for a
// while, and lets it fall silent: each time it goes on after the last event.
func TestStreamComesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		mute, _ := io.Pipe()
		stream := func(body string) answer { return answer{status: 200, mediaType: "text/event-stream", body: body} }
		s := &script{answers: []answer{
			stream(": open\n\nevent: snapshot\nid: 3\ndata: {\"id\":\ndata: \"t\"}\n\nevent: change\nid: 4\nda"),
			{status: 503, retryAfter: "2"},
			{},
			{status: 200, stream: &untilCanceled{mute}},
			stream("event: change\r\nid: 9\r\ndata: {\"version\":9}\r\n\r\n"),
			{status: 404, mediaType: problemJSON, body: `{"detail":"There is no such task."}`},
		}}
		var got []string
		var last error
		for e, err := range s.client(t, Options{}).WatchTask(t.Context(), "t", 0) {
			if last = err; err == nil {
				got = append(got, e.Name+e.Task.ID)
			}
		}
		if diff := cmp.Diff([]string{"snapshott", "change"}, got); diff != "" {
			t.Error(diff)
		}
		var problem *Problem
		if !errors.As(last, &problem) || problem.Status != http.StatusNotFound {
			t.Errorf("it ended with %v", last)
		}
		path := "GET /api/v1/tasks/t/events"
		if diff := cmp.Diff([]string{path, path + " 3", path + " 3", path + " 3", path + " 3", path + " 9"}, s.asked); diff != "" {
			t.Error(diff)
		}
	})
}

// untilCanceled is a body that says nothing until the time for silence is over, as
// net/http ends one when the request's context ends.
type untilCanceled struct{ io.ReadCloser }

func (untilCanceled) Read([]byte) (int, error) {
	<-time.After(silence + time.Second)
	return 0, context.Canceled
}

func TestStreamEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		s := &script{answers: []answer{{}}}
		for _, err := range s.client(t, Options{}).WatchTask(ctx, "t", 12) {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("it ended with %v", err)
			}
		}
		if s.asked[0] != "GET /api/v1/tasks/t/events 12" || len(s.asked) < 400 {
			t.Errorf("%d attempts, the first %s", len(s.asked), s.asked[0])
		}
	})
}

func TestPartsKeepTheirText(t *testing.T) {
	t.Parallel()
	body := `{"id":"t","messages":[{"id":"m","parts":[{"data":{"b":1.000,"a":12345678901234567890}},{"spin": 7}]}]}`
	task, err := (&script{answers: []answer{{status: 200, body: body}}}).client(t, Options{}).Task(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	parts := task.Messages[0].Parts
	if string(parts[0].Data) != `{"b":1.000,"a":12345678901234567890}` || !bytes.Equal(parts[1].Raw, []byte(`{"spin": 7}`)) {
		t.Errorf("the parts are %s and %s", parts[0].Data, parts[1].Raw)
	}
}
