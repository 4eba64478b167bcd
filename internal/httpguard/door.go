package httpguard

import (
	"context"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// Identities says whom secrets are of, as the record has them now.
type Identities interface {
	// Identify returns whom a secret is of; fault.SignedOut if it is of nobody.
	Identify(ctx context.Context, secret string) (access.Identity, error)
	// Standing is Identify for many at once, and no use of them. Those of nobody are
	// left out.
	Standing(ctx context.Context, secrets []string) (map[string]access.Identity, error)
}

// Limiter counts requests.
type Limiter interface {
	// Take counts one, and returns how long to wait if that is one too many; else 0.
	Take(ctx context.Context, p access.Principal, need access.Need) (wait time.Duration, err error)
}

// Live wakes watchers: a signal follows every change of a topic, and signals that
// nobody has received yet are one.
type Live interface {
	Watch(topics ...string) (signals <-chan struct{}, stop func())
}

// Door lets requests in. All of its members but Origin, Sessions and Recheck must be
// set. It is safe for concurrent use.
type Door struct {
	Origin   string     // where people open this server and sign in; "" for the local operator alone
	Sessions Identities // by the cookie; not used without Origin
	Tokens   Identities // by API tokens
	Limiter  Limiter
	Live     Live
	Log      *slog.Logger
	// Recheck is how often it is looked whether those who have something open still
	// may, besides after each signal, which changes by commands on this machine may not
	// make; 0 is half a second.
	Recheck time.Duration

	mu   sync.Mutex
	open map[string]*organisation // by ID: those of which something is open
}

type identityKey struct{}

// Principal returns on whose behalf a request is that was let in, by its context; the
// zero one, which may do nothing, if it was not, or if nobody is signed in.
func Principal(ctx context.Context) access.Principal { return Identity(ctx).Principal }

// Identity is Principal with the time when what they came by stops to work.
func Identity(ctx context.Context) access.Identity {
	who, _ := ctx.Value(identityKey{}).(access.Identity)
	return who
}

// Admit returns a handler that passes on to next the requests of those who may make
// them, and answers the rest with refuse. In this order: somebody who is not signed in
// is fault.SignedOut, somebody whose role or token does not meet the need
// fault.Forbidden, a request too many fault.TooMany, and one that changes something and
// that a page of another site has a browser send fault.Forbidden. A need that is none,
// such as "", is met by nobody.
//
// The request's context has the Principal. It ends when the principal, as it is, may no
// longer: signed out, disabled, of another role, with a token revoked or expired.
func (d *Door) Admit(need access.Need, next http.Handler, refuse Refuse) http.Handler {
	if need == access.NeedNothing {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, err := d.visitor(r)
		if fault.KindOf(err) == fault.SignedOut && need == access.NeedSignIn && !v.byToken {
			v, err = visit{}, nil // that is what the pages to sign in are for
		}
		if err != nil {
			d.refuse(w, r, err, refuse, v)
			return
		}
		r = r.WithContext(context.WithValue(r.Context(), identityKey{}, v.who))
		if err := d.permit(w, r, need, v); err != nil {
			d.refuse(w, r, err, refuse, v)
			return
		}
		ctx, end := d.enter(r.Context(), v)
		defer end()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// permit returns why a visitor may not do what they ask for; nil if they may.
func (d *Door) permit(w http.ResponseWriter, r *http.Request, need access.Need, v visit) error {
	if err := access.Allow(v.who.Principal, need); err != nil {
		return err
	}
	wait, err := d.Limiter.Take(r.Context(), v.who.Principal, need)
	if err != nil {
		return err
	}
	if wait > 0 {
		seconds := strconv.Itoa(int(math.Ceil(wait.Seconds())))
		w.Header().Set("Retry-After", seconds)
		return fault.New(fault.TooMany, "That was more than is answered in a minute. Try again in %s s.", seconds)
	}
	if !v.byToken && !d.sameOrigin(r) {
		return errOtherSite()
	}
	return nil
}

// visitor finds out who makes a request. A token that is given counts, whatever else
// there is.
func (d *Door) visitor(r *http.Request) (visit, error) {
	token, given, err := bearer(r)
	switch {
	case err != nil:
		return visit{byToken: true}, err
	case given:
		who, err := d.Tokens.Identify(r.Context(), token)
		return visit{who: who, secret: token, by: d.Tokens, byToken: true}, err
	case d.local():
		return visit{who: access.Identity{Principal: access.LocalOperator()}}, nil
	}
	secret := sessionSecret(r, strings.HasPrefix(d.Origin, "https://"))
	if secret == "" {
		return visit{}, fault.New(fault.SignedOut, "You are not signed in.")
	}
	who, err := d.Sessions.Identify(r.Context(), secret)
	return visit{who: who, secret: secret, by: d.Sessions}, err
}

// bearer returns the token that a request brings. Other ways to authenticate are those
// of what stands between, and are left alone.
func bearer(r *http.Request) (token string, given bool, err error) {
	for _, value := range r.Header.Values("Authorization") {
		scheme, credentials, _ := strings.Cut(value, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			continue
		}
		if given {
			return "", true, fault.New(fault.SignedOut, "The request brings several API tokens.")
		}
		token, given = strings.Trim(credentials, " "), true
	}
	return token, given, nil
}

func (d *Door) refuse(w http.ResponseWriter, r *http.Request, err error, refuse Refuse, v visit) {
	if fault.KindOf(err) == fault.SignedOut {
		challenge := `Bearer realm="Agent Taskbay"`
		if v.byToken {
			challenge += `, error="invalid_token"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
	}
	if fault.KindOf(err) == fault.Internal && r.Context().Err() == nil {
		d.Log.ErrorContext(r.Context(), "it could not be found out whether a request may be made", slog.Any("error", err))
	}
	refuse(w, r, fault.Public(err))
}
