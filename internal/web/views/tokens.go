package views

import (
	"strconv"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
)

// TokensPage is a list of API tokens.
type TokensPage struct {
	Shell  Shell
	Tokens []access.Token
	All    bool // of everybody, rather than one's own
}

// EnteredToken is what stands in the controls that make a token.
type EnteredToken struct {
	Name    string
	Scope   access.Scope
	Expires string // day
}

// NewTokenPage is where a token is made.
type NewTokenPage struct {
	Shell   Shell
	For     string      // ID of the service account whose it is to be; "" for one's own
	Owner   string      // name of the service account
	Role    access.Role // of whose it is to be
	Entered EnteredToken
	Faults  Faults
}

// expiryHint says how long a token may last.
func expiryHint() string {
	return "The last day that it works, by UTC; at most " + strconv.Itoa(int(access.MaxTokenLife/(24*time.Hour))) + " days, today included."
}

// MadeTokenPage shows a token that was made, once.
type MadeTokenPage struct {
	Shell  Shell
	Token  access.Token
	Secret string
	Origin string // where programs find the API
	Own    bool   // it is of whoever looks
}

// back is the list that the token is on.
func (p MadeTokenPage) back() string {
	if p.Own {
		return "/settings/tokens"
	}
	return "/settings/people/" + p.Token.MembershipID
}

// example is a call of the API by the token.
func (p MadeTokenPage) example() string {
	return `curl -H "Authorization: Bearer $TASKBAY_TOKEN" ` + p.Origin + "/api/v1/tasks"
}

// tokenLook says how a token stands.
func tokenLook(t access.Token, now time.Time) look {
	if !t.ExpiresAt.IsZero() && !t.ExpiresAt.After(now) {
		return look{"failed", "cancel", "Expired"}
	}
	return look{"unknown", "check", labelOf(scopes, string(t.Scope))}
}

// SessionsPage is where whoever looks is signed in.
type SessionsPage struct {
	Shell    Shell
	Sessions []access.Session
	Current  string // ID of the session that this is
	SignsIn  bool
}
