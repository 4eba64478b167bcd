package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
)

// How long a session lasts.
const (
	SessionLife    = 8 * time.Hour // if nothing else is set
	MinSessionLife = time.Minute
	MaxSessionLife = 24 * time.Hour
)

// maxClient bounds what a browser calls itself, in characters.
const maxClient = 200

// Session is a browser that somebody is signed in with. Its secret is known to the
// browser alone.
type Session struct {
	ID           string
	MembershipID string
	Client       string // the browser, as it calls itself
	CreatedAt    time.Time
	ExpiresAt    time.Time
}

// Identity is whom a secret is of, as the record has them now.
type Identity struct {
	Principal Principal
	ExpiresAt time.Time // when the secret stops to work; zero if it does not by itself
}

// SessionTx is a transaction of the record as sessions need it.
type SessionTx interface {
	Now() time.Time
	// Signal publishes topics once the transaction is committed.
	Signal(topics ...string)
	// InsertSession stores a session of a person; fault.Forbidden if there is no such
	// person or they are disabled.
	InsertSession(s Session, sha256 string) error
	// SessionIdentities returns whom sessions that are in use are of, by the SHA-256
	// of their secrets. Sessions that have ended, and those of people who are
	// disabled, are left out.
	SessionIdentities(sha256 []string) (map[string]Identity, error)
	// Sessions returns the sessions of a member that are in use, the latest first.
	Sessions(membershipID string) ([]Session, error)
	// EndSession ends one session, and EndOtherSessions all of a member's but one.
	EndSession(membershipID, id string) (ended bool, err error)
	EndOtherSessions(membershipID, except string) (ended int64, err error)
	// Presences returns how the people of an organisation are signed in, by the IDs of
	// their memberships; of one member alone unless memberID is "".
	Presences(organisationID, memberID string) (map[string]Presence, error)
	// Audit puts an entry on the trail, if the transaction is committed.
	Audit(audit.Entry) error
}

// Sessions keeps who is signed in. What ends a session ends what is open by it.
type Sessions struct {
	Update func(context.Context, func(SessionTx) error) error
	View   func(context.Context, func(SessionTx) error) error
	NewID  func() string
	Life   time.Duration // 0 is SessionLife
}

// Begin signs a person in with a browser, and returns the secret that the browser
// keeps in its cookie and when it stops to work. fault.Forbidden if the person may
// not sign in.
func (s *Sessions) Begin(ctx context.Context, membershipID, client string) (secret string, expires time.Time, err error) {
	secret = newSecret()
	life := s.Life
	if life == 0 {
		life = SessionLife
	}
	err = s.Update(ctx, func(tx SessionTx) error {
		begun := Session{ID: s.NewID(), MembershipID: membershipID, Client: clientName(client), CreatedAt: tx.Now(), ExpiresAt: tx.Now().Add(life)}
		expires = begun.ExpiresAt
		sum := digest(secret)
		if err := tx.InsertSession(begun, sum); err != nil {
			return err
		}
		found, err := tx.SessionIdentities([]string{sum})
		if err != nil {
			return err
		}
		p := found[sum].Principal
		return tx.Audit(audit.Entry{OrganisationID: p.OrganisationID, Actor: p.Actor(), Action: audit.SignedIn, Detail: map[string]string{"browser": begun.Client}})
	})
	if err != nil {
		return "", time.Time{}, err
	}
	return secret, expires, nil
}

// Identify returns whom a session's secret is of, as the record has them now;
// fault.SignedOut if it is of nobody, or the session has ended.
func (s *Sessions) Identify(ctx context.Context, secret string) (Identity, error) {
	found, err := s.Standing(ctx, []string{secret})
	if err != nil {
		return Identity{}, err
	}
	who, ok := found[secret]
	if !ok {
		return who, fault.New(fault.SignedOut, "You are not signed in, or no longer: sign in to go on.")
	}
	return who, nil
}

// Standing is Identify for many secrets at once. Those that stand for nobody are left
// out.
func (s *Sessions) Standing(ctx context.Context, secrets []string) (map[string]Identity, error) {
	var found map[string]Identity
	sums := digests(secrets)
	err := s.View(ctx, func(tx SessionTx) (err error) {
		found, err = tx.SessionIdentities(sums)
		return err
	})
	return bySecret(secrets, sums, found), err
}

// End signs the principal out of the session that it came by, if it came by one.
func (s *Sessions) End(ctx context.Context, p Principal) error {
	if p.SessionID == "" {
		return nil
	}
	return s.Update(ctx, func(tx SessionTx) error {
		ended, err := tx.EndSession(p.PersonID, p.SessionID)
		tx.Signal(live.AccessTopic(p.OrganisationID))
		if err != nil || !ended {
			return err
		}
		return tx.Audit(audit.Entry{OrganisationID: p.OrganisationID, Actor: p.Actor(), Action: audit.SignedOut})
	})
}

// EndOthers signs the principal out everywhere but in the session that it came by,
// and returns of how many sessions.
func (s *Sessions) EndOthers(ctx context.Context, p Principal) (ended int64, err error) {
	err = s.Update(ctx, func(tx SessionTx) (err error) {
		ended, err = tx.EndOtherSessions(p.PersonID, p.SessionID)
		tx.Signal(live.AccessTopic(p.OrganisationID))
		if err != nil || ended == 0 {
			return err
		}
		return tx.Audit(audit.Entry{
			OrganisationID: p.OrganisationID, Actor: p.Actor(), Action: audit.SessionEnded, ObjectID: p.PersonID, ObjectName: p.Name,
			Detail: map[string]string{"sessions": strconv.FormatInt(ended, 10)},
		})
	})
	return ended, err
}

// List returns the principal's sessions, the latest first.
func (s *Sessions) List(ctx context.Context, p Principal) (all []Session, err error) {
	err = s.View(ctx, func(tx SessionTx) (err error) {
		all, err = tx.Sessions(p.PersonID)
		return err
	})
	return all, err
}

// Presence is how a person is signed in.
type Presence struct {
	Sessions int       // that are in use
	LastAt   time.Time // that they signed in, by the trail; zero if they never did
}

// Presences says how the people of the organisation are signed in, by the IDs of their
// memberships; of one member alone unless memberID is "". Only administrators may know,
// others get fault.Forbidden.
func (s *Sessions) Presences(ctx context.Context, p Principal, memberID string) (all map[string]Presence, err error) {
	if err := Allow(p, NeedAdminister); err != nil {
		return nil, err
	}
	err = s.View(ctx, func(tx SessionTx) (err error) {
		all, err = tx.Presences(p.OrganisationID, memberID)
		return err
	})
	return all, err
}

// clientName bounds what a browser calls itself, and takes out what does not show.
func clientName(given string) string {
	name := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(given, ""))
	if cut := []rune(name); len(cut) > maxClient {
		name = string(cut[:maxClient])
	}
	return name
}

// newSecret returns 32 random bytes as text.
func newSecret() string { return base64.RawURLEncoding.EncodeToString(random()) }

func random() []byte {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return b
}

// digest is what the record keeps of a secret. The secrets are random and long: no
// slower digest would make them harder to find.
func digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func digests(secrets []string) []string {
	sums := make([]string, len(secrets))
	for i, secret := range secrets {
		sums[i] = digest(secret)
	}
	return sums
}

// bySecret turns what was found by digests into what was asked for.
func bySecret(secrets, sums []string, found map[string]Identity) map[string]Identity {
	by := make(map[string]Identity, len(found))
	for i, secret := range secrets {
		if who, ok := found[sums[i]]; ok {
			by[secret] = who
		}
	}
	return by
}
