package signin

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"time"

	"golang.org/x/oauth2"
)

// Life is how long a person may take at the provider.
const Life = 10 * time.Minute

const (
	purpose   = "sign-in under way" // of the key that pending ones are encrypted with
	maxCookie = 4096
)

// pending is a sign-in that is under way. It is kept in the browser that began it
// alone, encrypted, so that it cannot be finished in another one, and nothing that
// strangers do fills the database.
type pending struct {
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"` // of PKCE
	To       string    `json:"to"`
	Began    time.Time `json:"began"`
}

func newPending(to string, now time.Time) pending {
	return pending{State: random(), Nonce: random(), Verifier: oauth2.GenerateVerifier(), To: Path(to), Began: now}
}

func random() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// digest is what is kept of the state to have it used once.
func (p pending) digest() string {
	sum := sha256.Sum256([]byte(p.State))
	return hex.EncodeToString(sum[:])
}

// seal encrypts a pending sign-in into the value of a cookie.
func (s *Service) seal(p pending) (string, error) {
	plain, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	return s.keys.SealFor(purpose, plain)
}

// underWay returns the sign-in that a browser has under way. One that sends several
// has been given some of them by somebody else: none is believed.
func (s *Service) underWay(cookies []*http.Cookie) (pending, error) {
	var p pending
	switch {
	case len(cookies) == 0:
		return p, refuse("the browser has no sign-in under way: it was begun in another one, has ended already, or cookies are blocked")
	case len(cookies) > 1:
		return p, refuse("the browser sent several sign-ins under way")
	case len(cookies[0].Value) > maxCookie:
		return p, refuse("the cookie of the sign-in under way is too large")
	}
	plain, err := s.keys.OpenFor(purpose, cookies[0].Value)
	if err != nil {
		return p, refuse("the cookie of the sign-in under way cannot be read: %w", err)
	}
	if err := json.Unmarshal(plain, &p); err != nil {
		return p, refuse("the cookie of the sign-in under way cannot be read: %w", err)
	}
	if age := s.now().Sub(p.Began); age > Life || age < -leeway {
		return p, refuse("the sign-in was begun more than %v ago", Life)
	}
	return p, nil
}

// same compares what must not be guessed bit by bit.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// cookieName is a name that browsers take from this very origin alone, over TLS.
// There is no such name without TLS, which only loopback origins are.
func (s *Service) cookieName() string {
	if s.Secure() {
		return "__Host-taskbay-signin"
	}
	return "taskbay-signin"
}

// Cookie returns the cookie that has the browser keep a sign-in under way. It comes
// back with the navigation from the provider, and with no other request of a site
// elsewhere.
func (s *Service) Cookie(value string) *http.Cookie {
	return &http.Cookie{
		Name: s.cookieName(), Value: value, Path: "/", MaxAge: int(Life / time.Second),
		Secure: s.Secure(), HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
}

// Forget returns the cookie that has the browser drop the sign-in under way.
func (s *Service) Forget() *http.Cookie {
	c := s.Cookie("")
	c.MaxAge = -1
	return c
}
