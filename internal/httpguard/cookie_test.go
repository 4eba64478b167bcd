package httpguard_test

import (
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/internal/httpguard"
)

func TestSessionCookie(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for want, secure := range map[string]bool{
		"__Host-taskbay=s3cret; Path=/; Expires=Sun, 01 Mar 2026 12:00:00 GMT; HttpOnly; Secure; SameSite=Lax": true,
		"taskbay=s3cret; Path=/; Expires=Sun, 01 Mar 2026 12:00:00 GMT; HttpOnly; SameSite=Lax":                false,
	} {
		if got := httpguard.SessionCookie(secure, "s3cret", at).String(); got != want {
			t.Errorf("SessionCookie(%t) = %s\nwant %s", secure, got, want)
		}
	}
	if got, want := httpguard.ForgetSession(true).String(), "__Host-taskbay=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax"; got != want {
		t.Errorf("ForgetSession(true) = %s\nwant %s", got, want)
	}
}
