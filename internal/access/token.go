package access

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
)

// What is true of every token.
const (
	TokenLife    = 90 * 24 * time.Hour  // if nothing else is asked for
	MaxTokenLife = 366 * 24 * time.Hour // at most
	MaxTokens    = 100                  // of one member, not revoked
	touchEvery   = time.Minute          // that a use is written down
)

// Token is a secret that a program calls the API with, as one of the members. The
// secret itself is shown once and not kept.
type Token struct {
	ID             string
	OrganisationID string
	MembershipID   string
	MemberName     string
	MemberKind     Kind
	Name           string
	Scope          Scope // as it was asked for; Principal.Scope is what the owner's role leaves of it
	CreatedBy      string
	CreatedByName  string
	CreatedAt      time.Time
	ExpiresAt      time.Time
	UsedAt         time.Time // to the minute; zero if it never was
}

// NewToken is what somebody asks for.
type NewToken struct {
	MembershipID string // whose it is to be; "" for the one who asks
	Name         string
	Scope        Scope
	ExpiresAt    time.Time // zero for TokenLife from now
}

// TokenTx is a transaction of the record as tokens need it.
type TokenTx interface {
	Now() time.Time
	// Signal publishes topics once the transaction is committed.
	Signal(topics ...string)
	// Member returns fault.NotFound if the organisation has none of that ID.
	Member(organisationID, id string) (Member, error)
	InsertToken(t Token, sha256 string) error
	// TokenIdentities returns whom tokens that work are of, by the SHA-256 of the
	// tokens. Tokens that are revoked or have expired, and those of members who are
	// disabled, are left out. Their scope is the token's own.
	TokenIdentities(sha256 []string) (map[string]Identity, error)
	// Tokens returns the tokens of a member that are not revoked, the latest first;
	// those of all members for "".
	Tokens(organisationID, membershipID string) ([]Token, error)
	// RevokeToken has a token of a member, or of any for "", work no longer;
	// fault.NotFound if there is none that does.
	RevokeToken(organisationID, membershipID, id string) (Token, error)
	// TouchToken writes down that a token was used, unless one did since.
	TouchToken(id string, since time.Time) error
	// Audit puts an entry on the trail, if the transaction is committed.
	Audit(audit.Entry) error
}

// Tokens makes, checks and revokes API tokens. What ends a token ends what is open by
// it.
type Tokens struct {
	Update func(context.Context, func(TokenTx) error) error
	View   func(context.Context, func(TokenTx) error) error
	NewID  func() string
	Local  bool // there is no sign-in: only then the local operator's tokens work
	Log    *slog.Logger

	mu      sync.Mutex
	touched map[string]time.Time // when a use was last written down, by ID
}

// Create makes a token, and returns it with its secret. Everybody makes their own,
// and administrators those of service accounts, of a scope that the owner's role
// allows. fault.Unprocessable with fields name, scope, expiresAt and memberId for what
// cannot be.
func (s *Tokens) Create(ctx context.Context, p Principal, asked NewToken) (t Token, secret string, err error) {
	if err := Allow(p, NeedOwn); err != nil {
		return t, "", err
	}
	secret = newToken()
	err = s.Update(ctx, func(tx TokenTx) error {
		owner, err := tokenOwner(tx, p, asked.MembershipID)
		if err != nil {
			return err
		}
		t = Token{
			ID: s.NewID(), OrganisationID: owner.OrganisationID, MembershipID: owner.ID, MemberName: owner.Name, MemberKind: owner.Kind,
			Name: strings.TrimSpace(asked.Name), Scope: asked.Scope, CreatedBy: p.PersonID, CreatedByName: p.Name,
			CreatedAt: tx.Now(), ExpiresAt: asked.ExpiresAt.UTC().Truncate(time.Microsecond),
		}
		if asked.ExpiresAt.IsZero() {
			t.ExpiresAt = t.CreatedAt.Add(TokenLife)
		}
		if fields := t.faults(owner); len(fields) > 0 {
			return fault.WithFields("The token cannot be made.", fields)
		}
		others, err := tx.Tokens(owner.OrganisationID, owner.ID)
		if err != nil {
			return err
		}
		if len(others) >= MaxTokens {
			return fault.New(fault.Conflict, "There are %d tokens already, which is as many as one member has: revoke some first.", MaxTokens)
		}
		if err := tx.InsertToken(t, digest(secret)); err != nil {
			return err
		}
		return tx.Audit(t.entry(p, audit.TokenMade))
	})
	if err != nil {
		return Token{}, "", err
	}
	return t, secret, nil
}

// entry is what the trail says of something that was done with the token.
func (t Token) entry(p Principal, action audit.Action) audit.Entry {
	return audit.Entry{
		OrganisationID: p.OrganisationID, Actor: p.Actor(), Action: action, ObjectID: t.ID, ObjectName: t.Name,
		Detail: map[string]string{"memberId": t.MembershipID, "member": t.MemberName, "scope": string(t.Scope), "until": t.ExpiresAt.UTC().Format(time.RFC3339)},
	}
}

// tokenOwner returns the member that somebody makes a token for.
func tokenOwner(tx TokenTx, p Principal, membershipID string) (Member, error) {
	own := membershipID == "" || membershipID == p.PersonID
	if own {
		membershipID = p.PersonID
	} else if err := Allow(p, NeedAdminister); err != nil {
		return Member{}, fault.New(fault.Forbidden, "Administrators alone make tokens of others.")
	}
	owner, err := tx.Member(p.OrganisationID, membershipID)
	wrong := ""
	switch {
	case fault.KindOf(err) == fault.NotFound:
		wrong = "There is no such member."
	case err != nil:
		return owner, err
	case !owner.Enabled():
		wrong = "Is disabled."
	case !own && owner.Kind != KindService && p.Kind != KindCommand:
		wrong = "Is no service account: people make their own tokens."
	}
	if wrong != "" {
		return owner, fault.WithFields("The token cannot be made.", []fault.Field{{Location: "memberId", Message: wrong}})
	}
	return owner, nil
}

// faults returns what is wrong with a token that somebody asks for.
func (t Token) faults(owner Member) (fields []fault.Field) {
	wrong := func(location, message string) {
		fields = append(fields, fault.Field{Location: location, Message: message})
	}
	if !isName(t.Name) {
		wrong("name", fmt.Sprintf("Give it a name of at most %d characters, so that you know it again.", maxName))
	}
	switch {
	case rank[t.Scope] == 0:
		wrong("scope", "Must be read, operate or administer.")
	case t.Scope != within(owner.Role, t.Scope):
		wrong("scope", fmt.Sprintf("Is more than the role %s allows, which is %s.", owner.Role, within(owner.Role, ScopeAdminister)))
	}
	if life := t.ExpiresAt.Sub(t.CreatedAt); life <= 0 || life > MaxTokenLife {
		wrong("expiresAt", fmt.Sprintf("Must be in the future, within %d days.", MaxTokenLife/(24*time.Hour)))
	}
	return fields
}

// rank orders the scopes.
var rank = map[Scope]int{ScopeRead: 1, ScopeOperate: 2, ScopeAdminister: 3}

// within returns what a role leaves of a scope.
func within(role Role, scope Scope) Scope {
	most := map[Role]Scope{Admin: ScopeAdminister, Operator: ScopeOperate, Viewer: ScopeRead}[role]
	if rank[scope] > rank[most] {
		return most
	}
	return scope
}

// Identify returns whom a token is of, as the record has them now, and that it was
// used; fault.SignedOut if it is of nobody, or works no longer.
func (s *Tokens) Identify(ctx context.Context, token string) (Identity, error) {
	found, err := s.Standing(ctx, []string{token})
	if err != nil {
		return Identity{}, err
	}
	who, ok := found[token]
	if !ok {
		return who, fault.New(fault.SignedOut, "This API token is none that works: it may have expired or been revoked.")
	}
	s.touch(ctx, who.Principal.TokenID)
	return who, nil
}

// Standing is Identify for many tokens at once, without a use of them. Those that
// stand for nobody are left out.
func (s *Tokens) Standing(ctx context.Context, tokens []string) (map[string]Identity, error) {
	var whole []string
	for _, token := range tokens {
		if wellFormed(token) {
			whole = append(whole, token)
		}
	}
	if len(whole) == 0 {
		return nil, nil
	}
	var found map[string]Identity
	sums := digests(whole)
	err := s.View(ctx, func(tx TokenTx) (err error) {
		found, err = tx.TokenIdentities(sums)
		return err
	})
	by := bySecret(whole, sums, found)
	for token, who := range by {
		if who.Principal.Kind == KindLocal && !s.Local {
			delete(by, token)
			continue
		}
		who.Principal.Scope = within(who.Principal.Role, who.Principal.Scope)
		by[token] = who
	}
	return by, err
}

// touch writes down that a token is used, at most once a minute. A use that cannot be
// written down is a use all the same.
func (s *Tokens) touch(ctx context.Context, id string) {
	now := time.Now()
	s.mu.Lock()
	recent := now.Sub(s.touched[id]) < touchEvery
	if !recent {
		if s.touched == nil || len(s.touched) > maxTouched {
			s.touched = map[string]time.Time{}
		}
		s.touched[id] = now
	}
	s.mu.Unlock()
	if recent {
		return
	}
	err := s.Update(ctx, func(tx TokenTx) error { return tx.TouchToken(id, tx.Now().Add(-touchEvery)) })
	if err != nil && ctx.Err() == nil {
		s.Log.WarnContext(ctx, "that a token was used could not be stored", "token", id, "error", err)
	}
}

// maxTouched bounds what is remembered of uses.
const maxTouched = 10_000

// List returns the principal's tokens, the latest first; all of the organisation's,
// for administrators alone, if all is set.
func (s *Tokens) List(ctx context.Context, p Principal, all bool) (tokens []Token, err error) {
	of := p.PersonID
	if all {
		if err := Allow(p, NeedAdminister); err != nil {
			return nil, err
		}
		of = ""
	}
	err = s.View(ctx, func(tx TokenTx) (err error) {
		tokens, err = tx.Tokens(p.OrganisationID, of)
		return err
	})
	return tokens, err
}

// Revoke has a token work no longer: one's own, and any for administrators. A token
// that is another's is fault.NotFound.
func (s *Tokens) Revoke(ctx context.Context, p Principal, id string) (t Token, err error) {
	if err := Allow(p, NeedOwn); err != nil {
		return t, err
	}
	of := p.PersonID
	if Allow(p, NeedAdminister) == nil {
		of = ""
	}
	err = s.Update(ctx, func(tx TokenTx) (err error) {
		if t, err = tx.RevokeToken(p.OrganisationID, of, id); err != nil {
			return err
		}
		tx.Signal(live.AccessTopic(p.OrganisationID))
		return tx.Audit(t.entry(p, audit.TokenRevoked))
	})
	return t, err
}
