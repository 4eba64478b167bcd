// Package signin lets people in by OpenID Connect: the authorization code flow with
// PKCE, for one provider. It finds out who somebody is, by exact issuer and subject,
// and whether an administrator has made that somebody a member. What the provider says
// of addresses, roles and groups counts for nothing, and its tokens are dropped as soon
// as they are checked.
package signin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

// CallbackPath is where the provider sends browsers back to, at the origin.
const CallbackPath = "/auth/callback"

// Member is somebody whom an administrator let in.
type Member struct {
	ID       string
	Disabled bool
}

// Tx is what a transaction does for sign-ins.
type Tx interface {
	// UseSignIn remembers, until a time, that a sign-in came back, and reports whether
	// it is the first time that it did.
	UseSignIn(digest string, until time.Time) (first bool, err error)
	// MemberByIdentity returns the person of that exact issuer and subject, byte for
	// byte; fault.NotFound if there is none.
	MemberByIdentity(issuer, subject string) (Member, error)
}

// Keys encrypt what browsers keep; vault.Ring has them.
type Keys interface {
	SealFor(purpose string, plaintext []byte) (string, error)
	OpenFor(purpose, sealed string) ([]byte, error)
}

// Dial connects to where the provider is.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Config is what a Service needs besides its Options. All but Now must be set.
type Config struct {
	Update  func(context.Context, func(Tx) error) error
	View    func(context.Context, func(Tx) error) error
	Keys    Keys
	Dial    Dial
	Command func(issuer, subject string) string // that makes somebody a member, for the log
	Log     *slog.Logger
	Now     func() time.Time // nil is the clock
}

// Service signs people in with the provider of its Options.
type Service struct {
	options      Options
	clientSecret string
	update       func(context.Context, func(Tx) error) error
	view         func(context.Context, func(Tx) error) error
	keys         Keys
	command      func(issuer, subject string) string
	log          *slog.Logger
	now          func() time.Time
	http         *http.Client
	known        atomic.Pointer[provider] // nil until the provider was found
	finding      singleflight.Group
}

// New returns a Service for valid Options that are on. It reads the files that they
// name, and asks nobody: see Run.
func New(o Options, c Config) (*Service, error) {
	secret, err := o.secret()
	if err != nil {
		return nil, err
	}
	client, err := newHTTP(o, c.Dial)
	if err != nil {
		return nil, err
	}
	s := &Service{
		options: o, clientSecret: secret, update: c.Update, view: c.View, keys: c.Keys,
		command: c.Command, log: c.Log, now: c.Now, http: client,
	}
	if s.now == nil {
		s.now = time.Now
	}
	return s, nil
}

// Secure reports whether the pages are opened over TLS.
func (s *Service) Secure() bool { return strings.HasPrefix(s.options.Origin, "https://") }

// Issuer is what the provider calls itself, exactly.
func (s *Service) Issuer() string { return s.options.Issuer }

// Provider is the name of the provider's host, for people.
func (s *Service) Provider() string {
	u, err := url.Parse(s.options.Issuer)
	if err != nil {
		return s.options.Issuer
	}
	return u.Hostname()
}

// SignOutURL is the page of the provider that signs somebody out there as well; "" if
// it has none, or is not known.
func (s *Service) SignOutURL() string {
	p := s.known.Load()
	if p == nil || p.endSession == "" {
		return ""
	}
	u, err := url.Parse(p.endSession)
	if err != nil {
		return ""
	}
	query := u.Query()
	query.Set("client_id", s.options.ClientID)
	u.RawQuery = query.Encode()
	return u.String()
}

// How long it is between two looks at the discovery document: after one that found
// nothing, at first and at most, and after one that did, as providers change.
const (
	firstRetry = time.Second
	lastRetry  = time.Minute
	refresh    = time.Hour
)

// Run finds the provider, and looks again from time to time, until ctx ends. That the
// provider is away stops nothing but signing in.
func (s *Service) Run(ctx context.Context) error {
	retry := firstRetry
	for {
		wait := refresh
		if err := s.find(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("the OpenID provider does not answer as one; until it does, nobody can sign in, and who is signed in stays so",
				"issuer", s.options.Issuer, "error", err, "again_in", retry)
			wait, retry = retry, min(2*retry, lastRetry)
		} else {
			retry = firstRetry
		}
		select {
		case <-ctx.Done():
			s.http.CloseIdleConnections()
			return nil
		case <-time.After(wait):
		}
	}
}

// find reads the discovery document, once for all who ask at the same time. What was
// known before stays so if that fails.
func (s *Service) find(ctx context.Context) error {
	done := s.finding.DoChan("", func() (any, error) {
		p, err := s.discover(context.WithoutCancel(ctx))
		if err == nil {
			s.known.Store(p)
		}
		return nil, err
	})
	select {
	case <-ctx.Done():
		return ctx.Err()
	case result := <-done:
		return result.Err
	}
}

// provider returns the provider, asking for it if it is not known yet.
func (s *Service) provider(ctx context.Context) (*provider, error) {
	if p := s.known.Load(); p != nil {
		return p, nil
	}
	if err := s.find(ctx); err != nil {
		return nil, s.away(err)
	}
	return s.known.Load(), nil
}

func (s *Service) away(err error) error {
	return fault.Wrap(err, fault.Unavailable, "%s does not answer, so nobody can sign in at the moment. Try again in a minute; who is signed in already stays so.", s.Provider())
}

// Begin begins a sign-in of somebody who was going to a page. It returns the address at
// the provider that the browser goes to, and what Cookie has the browser keep
// meanwhile; fault.Unavailable if the provider does not answer.
func (s *Service) Begin(ctx context.Context, to string) (address, keep string, err error) {
	p, err := s.provider(ctx)
	if err != nil {
		s.log.WarnContext(ctx, "nobody can sign in, as the OpenID provider does not answer as one", "error", err)
		return "", "", err
	}
	began := newPending(to, s.now())
	if keep, err = s.seal(began); err != nil {
		return "", "", fmt.Errorf("keep a sign-in: %w", err)
	}
	return p.oauth.AuthCodeURL(began.State, oauth2.S256ChallengeOption(began.Verifier), oauth2.SetAuthURLParam("nonce", began.Nonce)), keep, nil
}

// Finish ends the sign-in that a browser has under way, as it comes back from the
// provider. It returns whom to let in, and the page that they were going to. Whatever
// is wrong is one and the same fault.SignedOut, with the reason in the log alone;
// fault.Unavailable if the provider does not answer.
func (s *Service) Finish(r *http.Request) (Member, string, error) {
	member, to, err := s.finish(r)
	var refused *refusal
	if !errors.As(err, &refused) {
		return member, to, err
	}
	s.log.LogAttrs(r.Context(), slog.LevelWarn, "somebody could not be signed in", append([]slog.Attr{slog.String("reason", refused.reason.Error())}, refused.attrs...)...)
	return Member{}, "", fault.Wrap(refused.reason, fault.SignedOut, "You could not be signed in.")
}

func (s *Service) finish(r *http.Request) (Member, string, error) {
	ctx := r.Context()
	began, err := s.underWay(r.CookiesNamed(s.cookieName()))
	if err != nil {
		return Member{}, "", err
	}
	answer := r.URL.Query()
	if len(answer["state"]) != 1 || !same(answer.Get("state"), began.State) {
		return Member{}, "", refuse("the state that came back is not the one that was sent: the answer is for another sign-in")
	}
	if err := s.once(ctx, began); err != nil {
		return Member{}, "", err
	}
	p, err := s.provider(ctx)
	if err != nil {
		return Member{}, "", err
	}
	who, err := s.identify(ctx, p, answer, began)
	if err != nil {
		return Member{}, "", err
	}
	member, err := s.member(ctx, who)
	return member, began.To, err
}

// once makes sure that a sign-in comes back once.
func (s *Service) once(ctx context.Context, began pending) error {
	first := false
	err := s.update(ctx, func(tx Tx) (err error) {
		first, err = tx.UseSignIn(began.digest(), s.now().Add(2*Life))
		return err
	})
	if err != nil {
		return fmt.Errorf("remember a sign-in: %w", err)
	}
	if !first {
		return refuse("the sign-in has come back before")
	}
	return nil
}

// identify has the provider say who somebody is.
func (s *Service) identify(ctx context.Context, p *provider, answer url.Values, began pending) (identity, error) {
	if iss := answer["iss"]; len(iss) > 1 || len(iss) == 1 && iss[0] != s.options.Issuer || len(iss) == 0 && p.namesItself {
		return identity{}, refuse("the answer does not say that it is of this provider")
	}
	if code := answer.Get("error"); code != "" {
		return identity{}, refuse("the provider says %q: %q", shorten(code), shorten(answer.Get("error_description")))
	}
	if len(answer["code"]) != 1 || answer.Get("code") == "" {
		return identity{}, refuse("the answer has no code")
	}
	ctx = context.WithValue(ctx, oauth2.HTTPClient, s.http)
	token, err := p.oauth.Exchange(ctx, answer.Get("code"), oauth2.VerifierOption(began.Verifier))
	if err != nil {
		return identity{}, s.notExchanged(err)
	}
	return p.check(ctx, token, began, s.now())
}

// notExchanged says why a code brought no tokens, without what the provider wrote,
// which may repeat what it was sent.
func (s *Service) notExchanged(err error) error {
	var answered *oauth2.RetrieveError
	var failed net.Error
	switch {
	case errors.As(err, &answered) && answered.Response.StatusCode < http.StatusInternalServerError:
		return refuse("the provider takes the code for no tokens: %q (HTTP status %d)", shorten(answered.ErrorCode), answered.Response.StatusCode)
	case errors.As(err, &answered):
		return s.away(fmt.Errorf("the token endpoint answered with HTTP status %d", answered.Response.StatusCode))
	case errors.As(err, &failed):
		return s.away(err)
	}
	return refuse("the answer of the token endpoint cannot be used")
}

// member returns the member that an administrator made of somebody.
func (s *Service) member(ctx context.Context, who identity) (Member, error) {
	var member Member
	err := s.view(ctx, func(tx Tx) (err error) {
		member, err = tx.MemberByIdentity(who.Issuer, who.Subject)
		return err
	})
	switch {
	case fault.KindOf(err) == fault.NotFound:
		refused := refuse("nobody made this person a member; the command does")
		refused.attrs = []slog.Attr{slog.String("issuer", who.Issuer), slog.String("subject", who.Subject), slog.String("command", s.command(who.Issuer, who.Subject))}
		return Member{}, refused
	case err != nil:
		return Member{}, fmt.Errorf("look for a member: %w", err)
	case member.Disabled:
		refused := refuse("this member is disabled")
		refused.attrs = []slog.Attr{slog.String("member", member.ID)}
		return Member{}, refused
	}
	return member, nil
}

// refusal is why somebody is not let in, for the log.
type refusal struct {
	reason error
	attrs  []slog.Attr
}

func refuse(format string, args ...any) *refusal {
	return &refusal{reason: fmt.Errorf(format, args...)}
}

// Error returns the reason.
func (r *refusal) Error() string { return r.reason.Error() }
