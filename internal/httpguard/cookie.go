package httpguard

import (
	"net/http"
	"time"
)

// sessionCookie is the name of the cookie that a signed-in browser keeps its secret
// in. With the prefix, browsers take it over TLS alone, from this very host, and for
// all of its paths; there is no such name without TLS, which only loopback is.
const (
	sessionCookie       = "taskbay"
	secureSessionCookie = "__Host-" + sessionCookie
)

// maxCookie bounds the secret that a browser sends.
const maxCookie = 128

func sessionCookieName(secure bool) string {
	if secure {
		return secureSessionCookie
	}
	return sessionCookie
}

// SessionCookie returns the cookie that has a browser keep the secret of a session
// until it stops to work. It is secure unless the console is opened over plain HTTP,
// as on loopback.
func SessionCookie(secure bool, secret string, expires time.Time) *http.Cookie {
	return &http.Cookie{
		Name: sessionCookieName(secure), Value: secret, Path: "/", Expires: expires.UTC(),
		Secure: secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
}

// ForgetSession returns the cookie that has a browser drop its session.
func ForgetSession(secure bool) *http.Cookie {
	c := SessionCookie(secure, "", time.Time{})
	c.MaxAge = -1
	return c
}

// sessionSecret returns the secret that a request brings; "" if it brings none. One
// that brings several was given some of them by somebody else: none is believed.
func sessionSecret(r *http.Request, secure bool) string {
	given := r.CookiesNamed(sessionCookieName(secure))
	if len(given) != 1 || len(given[0].Value) > maxCookie {
		return ""
	}
	return given[0].Value
}
