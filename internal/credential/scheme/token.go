package scheme

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
	"golang.org/x/sync/singleflight"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

const (
	tokenTimeout   = 30 * time.Second // of one request to a token endpoint, to the end of its answer
	tokenMargin    = 30 * time.Second // a token is not used in the last of its time, or in the last tenth if that is less
	tokenLifetime  = 5 * time.Minute  // of a token that comes without one
	refusedTokens  = time.Minute      // a token that replaced a refused one is kept at least so long
	maxTokenReason = 200              // characters of what a token endpoint says about an error
)

// tokens gets the bearer tokens of one OAuth client, and keeps the last one.
type tokens struct {
	config clientcredentials.Config
	client *http.Client
	now    func() time.Time
	learn  func(values ...string) // hears of every token before it is used
	clean  func(string) string    // takes secrets out of a text

	fetching singleflight.Group

	mu      sync.Mutex
	current token
	refused bool // the last token was dropped, and no other has come yet
}

type token struct {
	value    string
	until    time.Time // it is not used after that
	fetched  time.Time
	replaces bool // one that an agent refused
}

func newTokens(c Credential, o Options) *tokens {
	t := &tokens{
		config: clientcredentials.Config{
			ClientID: c.ClientID, ClientSecret: string(c.Secret), TokenURL: c.TokenURL,
			Scopes: strings.Fields(c.Scope), AuthStyle: oauth2.AuthStyleInHeader,
		},
		client: &http.Client{
			Transport:     o.Tokens,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		now: o.Now, learn: o.Redactor.Learn, clean: o.Redactor.Text,
	}
	if c.ClientAuth == ClientSecretPost {
		t.config.AuthStyle = oauth2.AuthStyleInParams
	}
	if c.Audience != "" {
		t.config.EndpointParams = url.Values{"audience": {c.Audience}}
	}
	return t
}

// get returns a token. Those who want one at once wait for one request; whoever
// stops waiting does not stop it. Its errors are *fault.Errors.
func (t *tokens) get(ctx context.Context) (string, error) {
	if value := t.cached(); value != "" {
		return value, nil
	}
	result := t.fetching.DoChan("", func() (any, error) {
		if value := t.cached(); value != "" {
			return value, nil // it came in between
		}
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), tokenTimeout)
		defer cancel()
		return t.fetch(limited)
	})
	select {
	case <-ctx.Done():
		return "", fault.Wrap(ctx.Err(), fault.Unavailable, "The call was stopped while Taskbay waited for an access token.")
	case r := <-result:
		if r.Err != nil {
			return "", r.Err
		}
		return r.Val.(string), nil
	}
}

func (t *tokens) cached() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.now().Before(t.current.until) {
		return t.current.value
	}
	return ""
}

// drop forgets a token that an agent refused, unless it is so new that another
// would be refused as well.
func (t *tokens) drop(value string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current.value != value || t.current.replaces && t.now().Sub(t.current.fetched) < refusedTokens {
		return
	}
	t.current, t.refused = token{}, true
}

func (t *tokens) fetch(ctx context.Context) (string, error) {
	got, err := t.config.Token(context.WithValue(ctx, oauth2.HTTPClient, t.client))
	if err != nil {
		return "", t.failure(ctx, err)
	}
	value := got.AccessToken
	t.learn(value)
	switch {
	case !strings.EqualFold(got.Type(), "Bearer"):
		return "", t.fault(fault.Unprocessable, "issued a token of a type that Taskbay cannot use; it has to be Bearer")
	case len(value) < MinSecret:
		return "", t.fault(fault.Unprocessable, fmt.Sprintf("issued a token of fewer than %d characters, which could not be kept out of what is recorded", MinSecret))
	case len(value) > MaxSecret || strings.Contains(value, " ") || !isHeaderValue(value):
		return "", t.fault(fault.Unprocessable, "issued something that cannot be a bearer token")
	}
	lifetime := tokenLifetime
	if !got.Expiry.IsZero() {
		lifetime = time.Until(got.Expiry)
	}
	now := t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.current = token{value: value, until: now.Add(lifetime - min(tokenMargin, lifetime/10)), fetched: now, replaces: t.refused}
	t.refused = false
	return value, nil
}

// failure says why there is no token. What the endpoint answered may repeat the
// secret, so no more than its error is used, and that without secrets.
func (t *tokens) failure(ctx context.Context, err error) error {
	var answer *oauth2.RetrieveError
	var known *fault.Error
	var transport *url.Error
	switch {
	case errors.As(err, &answer):
		return t.refusal(answer)
	case errors.As(err, &known): // the network policy's
		return &fault.Error{Kind: known.Kind, Message: "Taskbay got no access token: " + known.Message, Err: known.Err}
	case ctx.Err() != nil:
		return t.fault(fault.Unavailable, fmt.Sprintf("did not answer within %s", tokenTimeout))
	case errors.As(err, &transport):
		f := t.fault(fault.Unavailable, "does not answer")
		f.Err = transport.Err // without the address
		return f
	}
	return t.fault(fault.Unavailable, "did not answer with an access token")
}

func (t *tokens) refusal(answer *oauth2.RetrieveError) error {
	status := answer.Response.StatusCode
	kind := fault.Unprocessable
	if status >= 500 || status == http.StatusTooManyRequests {
		kind = fault.Unavailable
	}
	words := fmt.Sprintf("answered with %d %s", status, http.StatusText(status))
	if status >= 300 && status < 400 {
		words += ", and redirects are not followed"
	}
	reason := strings.TrimSpace(answer.ErrorCode + " " + answer.ErrorDescription)
	if reason = Plain(t.clean(reason), maxTokenReason); reason != "" {
		words += ". It says: " + reason
	}
	return t.fault(kind, words)
}

// fault is an error about the token endpoint; words go on a sentence.
func (t *tokens) fault(kind fault.Kind, words string) *fault.Error {
	at := t.config.TokenURL
	if u, err := url.Parse(at); err == nil {
		at = OriginOf(u) + u.EscapedPath()
	}
	return fault.New(kind, "Taskbay got no access token: the token endpoint %s %s.", at, strings.TrimSuffix(words, "."))
}

// Plain returns what can be printed of somebody else's text, on one line, in at
// most n characters.
func Plain(s string, n int) string {
	var out []rune
	for _, r := range s {
		if unicode.IsSpace(r) {
			r = ' '
		}
		if unicode.IsPrint(r) {
			out = append(out, r)
		}
		if len(out) > n {
			return string(out[:n]) + "…"
		}
	}
	return string(out)
}
