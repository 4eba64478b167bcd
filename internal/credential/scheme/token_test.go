package scheme_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/credential/scheme"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// clock is a time that a test moves.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time          { return noon.Add(time.Duration(c.ahead.Load())) }
func (c *clock) advance(d time.Duration) { c.ahead.Add(int64(d)) }

// endpoint is a token endpoint that numbers its tokens.
type endpoint struct {
	*httptest.Server
	asked  atomic.Int64
	answer func(w http.ResponseWriter, r *http.Request, number int64)
}

func tokenEndpoint(t *testing.T, answer func(http.ResponseWriter, *http.Request, int64)) *endpoint {
	t.Helper()
	e := &endpoint{answer: answer}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.answer(w, r, e.asked.Add(1))
	}))
	t.Cleanup(e.Close)
	return e
}

// issue answers with a token that is valid for an hour.
func issue(w http.ResponseWriter, _ *http.Request, number int64) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"access_token":"token-%04d","token_type":"bearer","expires_in":3600}`, number)
}

func oauthHolder(t *testing.T, e *endpoint, change func(*scheme.Credential)) (*scheme.Holder, *clock) {
	t.Helper()
	c := good(t, scheme.OAuth2)
	c.TokenURL = e.URL + "/token?tenant=a"
	if change != nil {
		change(&c)
	}
	at := &clock{}
	return holder(t, c, func(o *scheme.Options) { o.Tokens, o.Now = http.DefaultTransport, at.now }), at
}

func TestTokenRequest(t *testing.T) {
	t.Parallel()
	post := url.Values{"grant_type": {"client_credentials"}, "scope": {"a b"}, "audience": {"https://agent.example/"}}
	inBody := url.Values{"client_id": {"console:1"}, "client_secret": {canary}}
	for name, values := range post {
		inBody[name] = values
	}
	tests := map[string]struct {
		auth, authorization string
		form                url.Values
	}{
		"basic": {scheme.ClientSecretBasic, "Basic " + base64.StdEncoding.EncodeToString([]byte("console%3A1:"+url.QueryEscape(canary))), post},
		"post":  {scheme.ClientSecretPost, "", inBody},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := tokenEndpoint(t, func(w http.ResponseWriter, r *http.Request, number int64) {
				if err := r.ParseForm(); err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(tc.form, r.PostForm); diff != "" {
					t.Errorf("form mismatch (-want +got):\n%s", diff)
				}
				if got := r.Header.Get("Authorization"); got != tc.authorization || r.Method != http.MethodPost || r.URL.String() != "/token?tenant=a" {
					t.Errorf("%s %s with Authorization %q, want a POST with %q", r.Method, r.URL, got, tc.authorization)
				}
				issue(w, r, number)
			})
			h, _ := oauthHolder(t, e, func(c *scheme.Credential) {
				c.ClientAuth, c.ClientID, c.Scope, c.Audience = tc.auth, "console:1", "a b", "https://agent.example/"
			})
			applied := apply(t, h, origin)
			if got := applied.Header.Get("Authorization"); got != "Bearer token-0001" {
				t.Errorf("Authorization: %s, want the token", got)
			}
			if got := applied.Redactor.Text("token-0001 " + canary); got != "[redacted] [redacted]" {
				t.Errorf("recorded as %q, want nothing of the token and the secret", got)
			}
		})
	}
}

func TestTokenIsKeptToJustBeforeItExpires(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		answer         string
		until, renewed time.Duration
	}{
		"an hour":      {`"expires_in":3600`, 3500 * time.Second, 3571 * time.Second},
		"as a text":    {`"expires_in":"3600"`, 3500 * time.Second, 3571 * time.Second},
		"a minute":     {`"expires_in":60`, 40 * time.Second, 55 * time.Second},
		"does not say": {`"scope":"a"`, 269 * time.Second, 271 * time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := tokenEndpoint(t, func(w http.ResponseWriter, _ *http.Request, number int64) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = fmt.Fprintf(w, `{"access_token":"token-%04d","token_type":"Bearer",%s}`, number, tc.answer)
			})
			h, at := oauthHolder(t, e, nil)
			first := apply(t, h, origin).Header.Get("Authorization")
			at.advance(tc.until)
			if got := apply(t, h, origin).Header.Get("Authorization"); got != first {
				t.Errorf("after %s there is another token", tc.until)
			}
			at.advance(tc.renewed - tc.until)
			if got := apply(t, h, origin).Header.Get("Authorization"); got == first {
				t.Errorf("after %s there is still the same token", tc.renewed)
			}
		})
	}
}

func TestTokenIsAskedForOnce(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	e := tokenEndpoint(t, func(w http.ResponseWriter, r *http.Request, number int64) {
		<-release
		issue(w, r, number)
	})
	h, _ := oauthHolder(t, e, nil)
	impatient, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		_, err := h.Apply(impatient, parse(t, origin))
		if !errors.Is(err, context.Canceled) || fault.KindOf(err) != fault.Unavailable {
			t.Errorf("a call that was stopped got %v", err)
		}
		close(release) // stopping it does not stop the request
	})
	for range 20 {
		all.Go(func() {
			if applied, err := h.Apply(t.Context(), parse(t, origin)); err != nil || applied.Header.Get("Authorization") != "Bearer token-0001" {
				t.Errorf("Apply() = %v, %v; want the one token", applied.Header, err)
			}
		})
	}
	stop()
	all.Wait()
	if got := e.asked.Load(); got != 1 {
		t.Errorf("the endpoint was asked %d times, want once", got)
	}
}

func TestRefusedTokenIsReplacedOnce(t *testing.T) {
	t.Parallel()
	e := tokenEndpoint(t, issue)
	h, at := oauthHolder(t, e, nil)
	wants := func(want string) scheme.Applied {
		t.Helper()
		applied := apply(t, h, origin)
		if got := applied.Header.Get("Authorization"); got != "Bearer "+want {
			t.Errorf("Authorization: %s, want %s", got, want)
		}
		return applied
	}
	first, same := wants("token-0001"), wants("token-0001")
	first.Refused()
	second := wants("token-0002")
	same.Refused() // a late answer about the old token
	wants("token-0002")
	second.Refused() // the agent refuses every token: the endpoint is spared
	wants("token-0002")
	at.advance(time.Minute)
	second.Refused()
	wants("token-0003")
	if got := e.asked.Load(); got != 3 {
		t.Errorf("the endpoint was asked %d times, want 3", got)
	}
}

func TestTokenEndpointFails(t *testing.T) {
	t.Parallel()
	says := func(status int, contentType, body string) func(http.ResponseWriter, *http.Request, int64) {
		return func(w http.ResponseWriter, _ *http.Request, _ int64) {
			w.Header().Set("Content-Type", contentType)
			w.Header().Set("Location", "https://evil.example/")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	const isJSON, form = "application/json", "application/x-www-form-urlencoded"
	tests := map[string]struct {
		answer func(http.ResponseWriter, *http.Request, int64)
		kind   fault.Kind
		want   string
	}{
		"refusal": {says(401, isJSON, `{"error":"invalid_client","error_description":"`+canary+`\u0000 is\nwrong"}`), fault.Unprocessable,
			"401 Unauthorized. It says: invalid_client [redacted] is wrong."},
		"refusal that succeeds": {says(200, isJSON, `{"error":"invalid_scope"}`), fault.Unprocessable, "It says: invalid_scope."},
		"refusal as a form":     {says(400, form, "error=invalid_scope&error_description="+url.QueryEscape(canary)), fault.Unprocessable, "It says: invalid_scope [redacted]."},
		"endless words":         {says(400, isJSON, `{"error":"`+strings.Repeat("x", 1<<16)+`"}`), fault.Unprocessable, "xx…."},
		"page":                  {says(404, "text/html", "<h1>"+canary+"</h1>"), fault.Unprocessable, "answered with 404 Not Found."},
		"busy":                  {says(429, isJSON, `{}`), fault.Unavailable, "429 Too Many Requests"},
		"broken":                {says(503, isJSON, canary), fault.Unavailable, "503 Service Unavailable"},
		"redirect":              {says(302, isJSON, ""), fault.Unprocessable, "redirects are not followed"},
		"resending redirect":    {says(307, isJSON, ""), fault.Unprocessable, "redirects are not followed"},
		"no JSON":               {says(200, isJSON, canary), fault.Unavailable, "did not answer with an access token"},
		"no token":              {says(200, isJSON, `{"token_type":"bearer"}`), fault.Unavailable, "did not answer with an access token"},
		"other type":            {says(200, isJSON, `{"access_token":"abcdefgh","token_type":"DPoP"}`), fault.Unprocessable, "it has to be Bearer"},
		"short token":           {says(200, isJSON, `{"access_token":"abcde","token_type":"Bearer"}`), fault.Unprocessable, "issued a token of fewer than 6 characters, which could not be kept out"},
		"token of two lines":    {says(200, isJSON, `{"access_token":"abcdefgh\r\nX-Evil: 1","token_type":"Bearer"}`), fault.Unprocessable, "cannot be a bearer token"},
		"huge token":            {says(200, isJSON, `{"access_token":"`+strings.Repeat("x", 17<<10)+`","token_type":"Bearer"}`), fault.Unprocessable, "cannot be a bearer token"},
		"huge answer":           {says(200, isJSON, `{"x":"`+strings.Repeat("x", 3<<20)+`","access_token":"abcdefgh","token_type":"Bearer"}`), fault.Unavailable, "did not answer with an access token"},
		"cut off": {func(w http.ResponseWriter, _ *http.Request, _ int64) {
			panic(http.ErrAbortHandler)
		}, fault.Unavailable, "does not answer"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := tokenEndpoint(t, tc.answer)
			h, _ := oauthHolder(t, e, nil)
			_, err := h.Apply(t.Context(), parse(t, origin))
			public := fault.Public(err)
			if public.Kind != tc.kind || !strings.Contains(public.Message, tc.want) {
				t.Errorf("Apply() error = %s: %s; want %s and %q", public.Kind, public.Message, tc.kind, tc.want)
			}
			if text := fmt.Sprintf("%v %+v", err, err); strings.Contains(text, "canary") || strings.Contains(text, "tenant=a") || len(text) > 2000 {
				t.Errorf("the error shows a secret, a query, or too much: %s", text)
			}
		})
	}
}

// policy is a network policy that refuses.
type policy struct{ err error }

func (p policy) RoundTrip(*http.Request) (*http.Response, error) { return nil, p.err }

func TestTokenEndpointOutOfReach(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		err  error
		kind fault.Kind
		want string
	}{
		"refused by policy": {fault.New(fault.Forbidden, "Addresses of this network are not called."), fault.Forbidden, "Taskbay got no access token: Addresses of this network are not called."},
		"no way":            {errors.New("dial " + canary), fault.Unavailable, "Taskbay got no access token: the token endpoint https://login.example/token does not answer."},
		"too late":          {context.DeadlineExceeded, fault.Unavailable, "does not answer."},
	}
	for name, tc := range tests {
		h := holder(t, good(t, scheme.OAuth2), func(o *scheme.Options) { o.Tokens = policy{tc.err} })
		_, err := h.Apply(t.Context(), parse(t, origin))
		if public := fault.Public(err); public.Kind != tc.kind || !strings.HasSuffix(public.Message, tc.want) {
			t.Errorf("%s: Apply() error = %s: %s; want %s and %q", name, public.Kind, public.Message, tc.kind, tc.want)
		}
	}
}

// TestSlowTokenEndpoint lets an endpoint that never ends its answer run into the
// limit, in a time that does not pass.
func TestSlowTokenEndpoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := holder(t, good(t, scheme.OAuth2), func(o *scheme.Options) { o.Tokens = slow{} })
		_, err := h.Apply(t.Context(), parse(t, origin))
		if public := fault.Public(err); public.Kind != fault.Unavailable || !strings.Contains(public.Message, "did not answer within 30s") {
			t.Errorf("Apply() error = %v, want to hear that the endpoint is slow", err)
		}
	})
}

// slow answers with a body that never comes.
type slow struct{}

func (slow) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(never{r.Context()}),
	}, nil
}

type never struct{ ctx context.Context }

func (n never) Read([]byte) (int, error) {
	<-n.ctx.Done()
	return 0, n.ctx.Err()
}
