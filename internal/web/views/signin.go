package views

import (
	"net/http"
	"net/url"
)

// SignInPage is what the page to sign in shows.
type SignInPage struct {
	Shell      Shell
	Provider   string // host that people sign in at
	To         string // page that the person was going to
	SignedOut  bool   // the person has just signed out
	SignOutURL string // page of the provider to sign out there as well; "" for none
}

// href begins to sign in.
func (p SignInPage) href() string { return "/auth/login?" + url.Values{"to": {p.To}}.Encode() }

// SignInRefusedPage is what somebody sees who was not let in. It is the same whatever
// the reason is.
type SignInRefusedPage struct {
	Shell   Shell
	Request string // ID of the request, by which the log has the reason
}

const refusedStatus = http.StatusUnauthorized
