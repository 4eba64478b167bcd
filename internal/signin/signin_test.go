package signin_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/signin"
	"github.com/agent-taskbay/taskbay/internal/signin/providertest"
)

// real is a bench at a real provider, where "Ada" is a member.
func real(t *testing.T) (*bench, *providertest.Provider) {
	t.Helper()
	p := providertest.Start(t, origin+signin.CallbackPath)
	return at(t, p), p
}

func at(t *testing.T, p *providertest.Provider) *bench {
	t.Helper()
	b := newBench(t, signin.Options{Issuer: p.Issuer, ClientID: providertest.ClientID, ClientSecretFile: p.SecretFile, CAFile: p.CAFile})
	b.members[[2]string{p.Issuer, "Ada"}] = signin.Member{ID: "member-ada"}
	return b
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	b, p := real(t)
	address, browser := b.begins("/tasks?state=done")
	for name, want := range map[string]string{
		"response_type": "code", "client_id": providertest.ClientID, "redirect_uri": origin + "/auth/callback", "scope": "openid", "code_challenge_method": "S256",
	} {
		if got := parameter(address, name); got != want {
			t.Errorf("the provider is asked with %s=%q, want %q", name, got, want)
		}
	}
	if browser.Name != "__Host-taskbay-signin" || !browser.Secure || !browser.HttpOnly || browser.SameSite != http.SameSiteLaxMode || browser.Path != "/" || browser.MaxAge != 600 || browser.Domain != "" {
		t.Errorf("the cookie is %v", browser)
	}
	for _, secret := range []string{parameter(address, "state"), parameter(address, "nonce"), "tasks"} {
		if secret == "" || strings.Contains(browser.Value, secret) {
			t.Errorf("the cookie shows %q, which is to be encrypted in it", secret)
		}
	}
	member, to, err := b.returns(p.SignIn(t, address, "Ada"), browser)
	if err != nil || member.ID != "member-ada" || to != "/tasks?state=done" {
		t.Fatalf("Finish = %q, %q, %v", member.ID, to, err)
	}
	if forget := b.Forget(); forget.Name != browser.Name || forget.MaxAge >= 0 || forget.Value != "" {
		t.Errorf("the cookie is dropped by %v", forget)
	}
	if got := b.SignOutURL(); got != p.Issuer+"/end_session?client_id="+providertest.ClientID {
		t.Errorf("the provider's page to sign out is %q", got)
	}
}

func TestReturns(t *testing.T) {
	t.Parallel()
	p := providertest.Start(t, origin+signin.CallbackPath)
	for name, tc := range map[string]struct {
		spoil func(b *bench, back string, browser *http.Cookie) (string, []*http.Cookie)
		why   string
	}{
		"without a state": {func(_ *bench, back string, c *http.Cookie) (string, []*http.Cookie) {
			return with(back, map[string]string{"state": ""}), []*http.Cookie{c}
		}, "the state that came back is not"},
		"with two states": {func(_ *bench, back string, c *http.Cookie) (string, []*http.Cookie) {
			return back + "&state=" + parameter(back, "state"), []*http.Cookie{c}
		}, "the state that came back is not"},
		"to another sign-in of the browser": {func(b *bench, back string, _ *http.Cookie) (string, []*http.Cookie) {
			_, another := b.begins("/")
			return back, []*http.Cookie{another}
		}, "the state that came back is not"},
		"to another browser": {func(_ *bench, back string, _ *http.Cookie) (string, []*http.Cookie) {
			return back, nil
		}, "no sign-in under way"},
		"with a cookie of somebody else's besides": {func(b *bench, back string, c *http.Cookie) (string, []*http.Cookie) {
			_, tossed := b.begins("/")
			return back, []*http.Cookie{tossed, c}
		}, "several sign-ins"},
		"with the same cookie twice": {func(_ *bench, back string, c *http.Cookie) (string, []*http.Cookie) {
			return back, []*http.Cookie{c, c}
		}, "several sign-ins"},
		"with a cookie by another name": {func(_ *bench, back string, c *http.Cookie) (string, []*http.Cookie) {
			return back, []*http.Cookie{{Name: "taskbay-signin", Value: c.Value}}
		}, "no sign-in under way"},
		"with a changed cookie": {func(_ *bench, back string, c *http.Cookie) (string, []*http.Cookie) {
			return back, []*http.Cookie{{Name: c.Name, Value: c.Value[:len(c.Value)-8] + "AAAAAAAA"}}
		}, "cannot be read"},
		"with a huge cookie": {func(_ *bench, back string, c *http.Cookie) (string, []*http.Cookie) {
			return back, []*http.Cookie{{Name: c.Name, Value: strings.Repeat("a", 5000)}}
		}, "too large"},
		"too late": {func(b *bench, back string, c *http.Cookie) (string, []*http.Cookie) {
			b.passed = signin.Life + time.Second
			return back, []*http.Cookie{c}
		}, "more than 10m0s ago"},
		"without a code": {func(_ *bench, back string, c *http.Cookie) (string, []*http.Cookie) {
			return with(back, map[string]string{"code": ""}), []*http.Cookie{c}
		}, "has no code"},
		"with a code that is none": {func(_ *bench, back string, c *http.Cookie) (string, []*http.Cookie) {
			return with(back, map[string]string{"code": "guessed"}), []*http.Cookie{c}
		}, "takes the code for no tokens"},
		"with the issuer of another provider": {func(_ *bench, back string, c *http.Cookie) (string, []*http.Cookie) {
			return with(back, map[string]string{"iss": "https://other.example"}), []*http.Cookie{c}
		}, "does not say that it is of this provider"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := at(t, p)
			address, browser := b.begins("/tasks")
			back, cookies := tc.spoil(b, p.SignIn(t, address, "Ada"), browser)
			member, _, err := b.returns(back, cookies...)
			b.refuses(tc.why, member, err)
		})
	}
}

func TestComesBackOnce(t *testing.T) {
	t.Parallel()
	b, p := real(t)
	address, browser := b.begins("/")
	back := p.SignIn(t, address, "Ada")
	if _, _, err := b.returns(back, browser); err != nil {
		t.Fatal(err)
	}
	member, _, err := b.returns(back, browser)
	b.refuses("has come back before", member, err)

	// Nor does the code work in another sign-in.
	address, another := b.begins("/")
	member, _, err = b.returns(with(back, map[string]string{"state": parameter(address, "state")}), another)
	b.refuses("takes the code for no tokens", member, err)
}

// TestCodeOfAnother has a code that somebody got for themself put into the sign-in of
// somebody else: PKCE keeps it from working there.
func TestCodeOfAnother(t *testing.T) {
	t.Parallel()
	b, p := real(t)
	theirs, _ := b.begins("/")
	code := parameter(p.SignIn(t, theirs, "Ada"), "code")
	mine, browser := b.begins("/")
	member, _, err := b.returns(with(p.SignIn(t, mine, "Eve"), map[string]string{"code": code}), browser)
	b.refuses("takes the code for no tokens", member, err)
}

func TestDenied(t *testing.T) {
	t.Parallel()
	b, p := real(t)
	address, browser := b.begins("/")
	member, _, err := b.returns(p.Deny(t, address), browser)
	b.refuses("access_denied", member, err)
}

// TestMembers has only the exact subject let in, and one and the same answer for who is
// unknown and who is disabled.
func TestMembers(t *testing.T) {
	t.Parallel()
	b, p := real(t)
	b.members[[2]string{p.Issuer, "Bob"}] = signin.Member{ID: "member-bob", Disabled: true}
	b.members[[2]string{p.Issuer + "/", "Cy"}] = signin.Member{ID: "member-cy"}
	for subject, why := range map[string]string{
		"ada": "nobody made this person a member", "ADA": "nobody made", "Ada ": "nobody made", " Ada": "nobody made", "Ada\u200b": "nobody made",
		"Bob": "this member is disabled", "Cy": "nobody made", strings.Repeat("a", 256): "the subject of the ID token is none", "Ada\x00": "the subject of the ID token is none",
	} {
		address, browser := b.begins("/")
		member, _, err := b.returns(p.SignIn(t, address, subject), browser)
		b.refuses(why, member, err)
	}
	if got := b.log.String(); !strings.Contains(got, `command="add `+p.Issuer+` ada"`) {
		t.Errorf("the log does not say how to let somebody in:\n%s", got)
	}
}

func TestKeyRotation(t *testing.T) {
	t.Parallel()
	b, p := real(t)
	for range 3 {
		address, browser := b.begins("/")
		if _, _, err := b.returns(p.SignIn(t, address, "Ada"), browser); err != nil {
			t.Fatalf("Finish: %v", err)
		}
		p.Rotate(t)
	}
}

func TestProviderAway(t *testing.T) {
	t.Parallel()
	b, p := real(t)
	p.Away(true)
	_, _, err := b.Begin(t.Context(), "/")
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(fault.Public(err).Message, "127.0.0.1 does not answer") {
		t.Fatalf("Begin: %v, want %s", err, fault.Unavailable)
	}
	if got := b.SignOutURL(); got != "" {
		t.Errorf("a provider that was never found signs out at %q", got)
	}
	p.Away(false)
	address, browser := b.begins("/")
	back := p.SignIn(t, address, "Ada")
	p.Away(true)
	member, _, err := b.returns(back, browser)
	if fault.KindOf(err) != fault.Unavailable || member.ID != "" {
		t.Errorf("Finish = %q, %v; want %s", member.ID, err, fault.Unavailable)
	}
}

// TestRun has the provider asked for at the start, and its absence said and survived.
func TestRun(t *testing.T) {
	t.Parallel()
	b, p := real(t)
	p.Away(true)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Service.Run(ctx) }()
	<-b.log.more
	if got := b.log.String(); !strings.Contains(got, "does not answer as one; until it does, nobody can sign in") || !strings.Contains(got, p.Issuer) {
		t.Errorf("the log says %q", got)
	}
	p.Away(false)
	address, browser := b.begins("/")
	if _, _, err := b.returns(p.SignIn(t, address, "Ada"), browser); err != nil {
		t.Errorf("Finish: %v", err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
}

// TestSecretsStayOut has nothing that lets somebody in written to the log, whatever
// goes wrong.
func TestSecretsStayOut(t *testing.T) {
	t.Parallel()
	b, p := real(t)
	address, browser := b.begins("/")
	back := p.SignIn(t, address, "Eve")
	for _, again := range []string{back, back, with(back, map[string]string{"state": "x"}), with(back, map[string]string{"error": "x"})} {
		if member, _, err := b.returns(again, browser); err == nil {
			t.Fatalf("let in %q", member.ID)
		}
	}
	for _, secret := range []string{providertest.ClientSecret, parameter(back, "code"), parameter(back, "state"), parameter(address, "nonce"), browser.Value, "eyJ"} {
		if strings.Contains(b.log.String(), secret) {
			t.Errorf("the log has %q:\n%s", secret, b.log)
		}
	}
}

func TestWrongSecret(t *testing.T) {
	t.Parallel()
	_, p := real(t)
	b := newBench(t, signin.Options{Issuer: p.Issuer, ClientID: providertest.ClientID, CAFile: p.CAFile})
	address, browser := b.begins("/")
	member, _, err := b.returns(p.SignIn(t, address, "Ada"), browser)
	b.refuses("takes the code for no tokens", member, err)
}

func TestForeignAuthority(t *testing.T) {
	t.Parallel()
	_, p := real(t)
	b := newBench(t, signin.Options{Issuer: p.Issuer, ClientID: providertest.ClientID})
	if _, _, err := b.Begin(t.Context(), "/"); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("Begin at a provider with a certificate of a stranger: %v, want %s", err, fault.Unavailable)
	}
}
