package signin

import (
	"context"
	stdjson "encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-json-experiment/json"
	"golang.org/x/oauth2"
)

// leeway is how far the provider's clock may be off.
const leeway = time.Minute

// maxSubject is the most that OpenID Connect lets a subject be, in bytes.
const maxSubject = 255

// identity is who the provider says somebody is. Nothing else that it says counts.
type identity struct{ Issuer, Subject string }

// claims are the claims of an ID token that decide, by their exact names: the standard
// library's JSON would take "SUB" for "sub", and the last of two for the only one.
type claims struct {
	Issuer     string   `json:"iss"`
	Subject    string   `json:"sub"`
	Audience   audience `json:"aud"`
	Authorized string   `json:"azp"`
	IssuedAt   number   `json:"iat"`
	Expires    number   `json:"exp"`
	Nonce      string   `json:"nonce"`
	AccessHash string   `json:"at_hash"`
}

// audience is one or several, and written as a string or a list.
type audience []string

// UnmarshalJSON implements json.Unmarshaler.
func (a *audience) UnmarshalJSON(text []byte) error {
	if strings.HasPrefix(string(text), `"`) {
		*a = make(audience, 1)
		return json.Unmarshal(text, &(*a)[0])
	}
	return json.Unmarshal(text, (*[]string)(a))
}

// number is a time in seconds, whole or not.
type number float64

// at is the time; one too far off to be one is the beginning of 1970.
func (n number) at() time.Time {
	const most = 1 << 40 // seconds; some 35,000 years
	if !(n > 0 && n < most) {
		return time.Unix(0, 0)
	}
	return time.Unix(int64(n), 0)
}

// check returns who the ID token of an answer is about. It believes nothing of a token
// that is not signed by the provider, for this Taskbay, for this very sign-in, now.
func (p *provider) check(ctx context.Context, answer *oauth2.Token, began pending, now time.Time) (identity, error) {
	raw, ok := answer.Extra("id_token").(string)
	if !ok || raw == "" {
		return identity{}, refuse("the provider sent no ID token")
	}
	token, err := p.verifier.Verify(ctx, raw)
	if err != nil {
		return identity{}, refuse("the ID token is not valid: %s", shorten(err.Error()))
	}
	var payload stdjson.RawMessage
	if err := token.Claims(&payload); err != nil {
		return identity{}, refuse("the ID token cannot be read: %w", err)
	}
	var c claims
	if err := json.Unmarshal(payload, &c); err != nil {
		return identity{}, refuse("the claims of the ID token cannot be read: %s", shorten(err.Error()))
	}
	if err := c.check(token, p.oauth.ClientID, began, now); err != nil {
		return identity{}, err
	}
	if token.AccessTokenHash != "" {
		if err := token.VerifyAccessToken(answer.AccessToken); err != nil {
			return identity{}, refuse("the ID token is of another access token")
		}
	}
	return identity{c.Issuer, c.Subject}, nil
}

// check is what go-oidc leaves to its caller, or is less strict with.
func (c claims) check(token *oidc.IDToken, clientID string, began pending, now time.Time) error {
	alike := token.Issuer == c.Issuer && token.Subject == c.Subject && token.Nonce == c.Nonce &&
		token.AccessTokenHash == c.AccessHash && slices.Equal(token.Audience, c.Audience)
	switch {
	case !alike:
		return refuse("the claims of the ID token can be read in two ways")
	case !same(c.Nonce, began.Nonce):
		return refuse("the ID token is of another sign-in: its nonce is not the one that was sent")
	case len(c.Audience) != 1 && c.Authorized == "":
		return refuse("the ID token is for several audiences, and does not say for which of them it was made")
	case !slices.Contains(c.Audience, clientID), c.Authorized != "" && c.Authorized != clientID:
		return refuse("the ID token was made for another client")
	case !c.Expires.at().Add(leeway).After(now):
		return refuse("the ID token has expired")
	case c.IssuedAt.at().After(now.Add(leeway)):
		return refuse("the ID token is of the future: is the clock of this machine, or of the provider, right?")
	case c.IssuedAt.at().Before(began.Began.Add(-leeway)):
		return refuse("the ID token is older than the sign-in: is the clock of this machine, or of the provider, right?")
	case c.Subject == "" || len(c.Subject) > maxSubject || !utf8.ValidString(c.Subject) || strings.ContainsFunc(c.Subject, unicode.IsControl):
		return refuse("the subject of the ID token is none")
	}
	return nil
}
