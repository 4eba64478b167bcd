package scheme_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/credential/scheme"
)

func parse(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// holder returns a holder of a credential, with the time standing still if it is
// not that of a running server.
func holder(t *testing.T, c scheme.Credential, change func(*scheme.Options)) *scheme.Holder {
	t.Helper()
	o := scheme.Options{Redactor: &scheme.Redactor{}}
	if change != nil {
		change(&o)
	}
	h, err := scheme.NewHolder("binding-1", c, o)
	if err != nil {
		t.Fatalf("NewHolder() error = %v", err)
	}
	return h
}

func TestApply(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		credential scheme.Credential
		want       http.Header
	}{
		"bearer":           {good(t, scheme.Bearer), http.Header{"Authorization": {"Bearer " + canary}}},
		"API key":          {good(t, scheme.APIKey), http.Header{"X-Api-Key": {canary}}},
		"basic":            {good(t, scheme.Basic), http.Header{"Authorization": {"Basic YW5uOmNhbmFyeS0zYjFmLys9OWM="}}},
		"key as user name": {scheme.Credential{Kind: scheme.Basic, Origins: []string{origin}, Username: "key-12"}, http.Header{"Authorization": {"Basic a2V5LTEyOg=="}}},
	}
	for name, tc := range tests {
		got := apply(t, holder(t, tc.credential, nil), origin+"/a2a?x#y")
		if diff := cmp.Diff(tc.want, got.Header); diff != "" || got.TLS != nil || got.ID != "binding-1" {
			t.Errorf("%s: applied %+v; header mismatch (-want +got):\n%s", name, got, diff)
		}
		for header := range got.Header {
			if clean := got.Redactor.Header(got.Header).Get(header); strings.Contains(clean, "canary") || !strings.Contains(clean, "[redacted]") {
				t.Errorf("%s: the header is recorded as %q", name, clean)
			}
		}
		got.Refused() // changes nothing
	}
	scheme.Applied{}.Refused()
}

func TestApplyKeepsToTheOrigins(t *testing.T) {
	t.Parallel()
	c := good(t, scheme.Bearer)
	c.Origins = []string{origin, "https://agent.example:8443", "http://127.0.0.1:1"}
	h := holder(t, c, nil)
	for address, ok := range map[string]bool{
		origin: true, "https://AGENT.example:443/x": true, "https://agent.example:8443": true, "http://127.0.0.1:1/": true,
		"http://agent.example": false, "https://agent.example:8444": false, "https://other.example": false, "https://agent.example.evil.example": false,
		"https://agent.example.": false, "https://agent.example@evil.example": false, "https://evil.example/https://agent.example": false,
		"http://127.0.0.1": false, "http://127.0.0.2:1": false, "http://[::ffff:127.0.0.1]:1": false, "ftp://agent.example": false, "agent.example": false,
	} {
		applied, err := h.Apply(t.Context(), parse(t, address))
		if (err == nil) != ok || (applied.Header == nil) == ok {
			t.Errorf("Apply(%s) = %v, %v; want it to apply: %v", address, applied, err, ok)
		}
		if err != nil && (!strings.Contains(err.Error(), "https://agent.example:8443") || strings.Contains(err.Error(), canary)) {
			t.Errorf("Apply(%s) error = %v, want it to name the origins and no secret", address, err)
		}
	}
}

func TestSecretsAreNotShown(t *testing.T) {
	t.Parallel()
	c := good(t, scheme.Basic)
	c.Username = canary
	var shown []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		shown = append(shown, fmt.Sprintf(verb, c), fmt.Sprintf(verb, &c), fmt.Sprintf(verb, c.Secret))
	}
	raw, err := json.Marshal(map[string]any{"c": c, "s": c.Secret})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "c", c, "s", c.Secret)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "c", c, "s", c.Secret)
	shown = append(shown, string(raw), log.String())
	hex := fmt.Sprintf("%x", canary)
	for _, s := range shown {
		if strings.Contains(s, "canary") || strings.Contains(strings.ToLower(s), hex) {
			t.Errorf("the secret is shown: %s", s)
		}
	}
}

func TestRevealAndRead(t *testing.T) {
	t.Parallel()
	for _, kind := range scheme.Kinds() {
		want := good(t, kind)
		revealed, err := want.Reveal()
		if err != nil {
			t.Fatalf("Reveal() error = %v", err)
		}
		got, err := scheme.Read(revealed)
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b scheme.Secret) bool { return string(a) == string(b) })); diff != "" || err != nil {
			t.Errorf("%s: Read() error = %v, mismatch (-want +got):\n%s", kind, err, diff)
		}
	}
	if _, err := scheme.Read([]byte(`{"secret":` + canary)); err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("Read() error = %v, want one that does not repeat what it read", err)
	}
}

func TestExpiresOnlyForCertificates(t *testing.T) {
	t.Parallel()
	if got := good(t, scheme.Bearer).Expires(); !got.Equal(time.Time{}) {
		t.Errorf("a token expires at %v, want never", got)
	}
}
