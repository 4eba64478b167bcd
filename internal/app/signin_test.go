package app_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/config"
)

// person is a browser that somebody uses, without scripts.
type person struct {
	*testing.T
	*http.Client
	console *apptest.Console
	passed  []string // paths of the console that it was sent through
}

func newPerson(t *testing.T, c *apptest.Console) *person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(c.Proxy.Certificate())
	authority, err := os.ReadFile(c.Provider.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	trusted.AppendCertsFromPEM(authority)
	p := &person{T: t, console: c, Client: &http.Client{Jar: jar, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}}}
	p.CheckRedirect = func(next *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(next.URL.String(), c.Origin) {
			p.passed = append(p.passed, next.URL.String())
		}
		return nil
	}
	t.Cleanup(p.CloseIdleConnections)
	return p
}

// goes opens an address and returns where that led, and the page.
func (p *person) goes(address string) (path string, status int, page string) {
	p.Helper()
	return p.read(p.Get(address))
}

func (p *person) read(answer *http.Response, err error) (path string, status int, page string) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	if err := answer.Body.Close(); err != nil {
		p.Fatal(err)
	}
	if err != nil {
		p.Fatal(err)
	}
	return answer.Request.URL.RequestURI(), answer.StatusCode, string(body)
}

// signsIn signs in as a subject, on the way to a page.
func (p *person) signsIn(subject, to string) (path string, status int, page string) {
	p.Helper()
	login, status, page := p.goes(p.console.Origin + "/auth/login?" + url.Values{"to": {to}}.Encode())
	if status != http.StatusOK || !strings.HasPrefix(login, "/login") {
		p.Fatalf("the provider answers %d at %s:\n%s", status, login, page)
	}
	id, err := url.Parse(login)
	if err != nil {
		p.Fatal(err)
	}
	return p.read(p.PostForm(p.console.Provider.Issuer+login, url.Values{"id": {id.Query().Get("id")}, "do": {"login"}, "subject": {subject}}))
}

// posts sends a form as a browser does.
func (p *person) posts(path string, values url.Values) (to string, status int, page string) {
	p.Helper()
	r, err := http.NewRequestWithContext(p.Context(), http.MethodPost, p.console.Origin+path, strings.NewReader(values.Encode()))
	if err != nil {
		p.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "null") // as the pages name no referrer
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return p.read(p.Do(r))
}

func (p *person) wants(path string, status int, part string) func(string, int, string) {
	return func(gotPath string, gotStatus int, page string) {
		p.Helper()
		if gotPath != path || gotStatus != status || !strings.Contains(page, part) {
			p.Errorf("got %d at %s, want %d at %s with %q:\n%s", gotStatus, gotPath, status, path, part, page)
		}
	}
}

// log is a log that can be read while it is written.
type readableLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *readableLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *readableLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestSignIn is a day of somebody who signs in, as their browser sees it.
func TestSignIn(t *testing.T) {
	t.Parallel()
	c := apptest.StartConsole(t, apptest.Options{})
	id := c.Member("248289761001", "Ada Lovelace", access.Admin)
	ada := newPerson(t, c)

	ada.wants("/signin?to=%2Ftasks%3Fstate%3DTASK_STATE_WORKING", http.StatusOK, "Sign in with 127.0.0.1")(ada.goes(c.Origin + "/tasks?state=TASK_STATE_WORKING"))
	if status, _ := ada.asks("/api/v1/tasks"); status != http.StatusUnauthorized {
		t.Errorf("the API answers somebody who is not signed in with %d, want 401", status)
	}
	ada.wants("/tasks?state=TASK_STATE_WORKING", http.StatusOK, "Ada Lovelace")(ada.signsIn("248289761001", "/tasks?state=TASK_STATE_WORKING"))
	if status, _ := ada.asks("/api/v1/tasks"); status != http.StatusOK {
		t.Errorf("the API answers who is signed in with %d, want 200", status)
	}
	ada.wants("/agents", http.StatusOK, "Administrator")(ada.goes(c.Origin + "/signin?to=/agents"))

	callback := ada.passed[len(ada.passed)-3] // before the page, and /agents
	if !strings.Contains(callback, "/auth/callback?") {
		t.Fatalf("the browser was sent through %q", ada.passed)
	}
	path, status, page := ada.goes(callback)
	if status != http.StatusUnauthorized || !strings.Contains(page, "You could not be signed in") {
		t.Errorf("the way back a second time: %d at %s", status, path)
	}
	ada.wants("/agents", http.StatusOK, "Ada Lovelace")(ada.goes(c.Origin + "/agents")) // which takes nothing from the session

	kept := ada.cookies()
	ada.wants("/signin?out", http.StatusOK, "You are signed out")(ada.posts("/auth/signout", nil))
	if left := ada.cookies(); len(left) != 0 {
		t.Errorf("after signing out the browser keeps %v", left)
	}
	ada.wants("/signin?to=%2Ftasks", http.StatusOK, "Sign in")(ada.goes(c.Origin + "/tasks"))
	home, err := url.Parse(c.Origin)
	if err != nil {
		t.Fatal(err)
	}
	ada.Jar.SetCookies(home, kept)
	ada.wants("/signin?to=%2Ftasks", http.StatusOK, "Sign in")(ada.goes(c.Origin + "/tasks"))

	ada.signsIn("248289761001", "/tasks")
	c.Disable(id)
	ada.wants("/signin?to=%2Ftasks", http.StatusOK, "Sign in")(ada.goes(c.Origin + "/tasks"))
}

// asks makes a request of the API with the browser's cookies.
func (p *person) asks(path string) (status int, body string) {
	p.Helper()
	_, status, body = p.goes(p.console.Origin + path)
	return status, body
}

// cookies are those that the browser has of the console.
func (p *person) cookies() []*http.Cookie {
	home, err := url.Parse(p.console.Origin)
	if err != nil {
		p.Fatal(err)
	}
	all := p.Jar.Cookies(home)
	for _, c := range all {
		c.Path, c.Secure = "/", true
	}
	return all
}

// TestNotSignedIn has who is unknown and who is disabled see the same page, and the
// log say why.
func TestNotSignedIn(t *testing.T) {
	t.Parallel()
	var log readableLog
	c := apptest.StartConsole(t, apptest.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	c.Disable(c.Member("gone", "Gone", access.Admin))
	var pages []string
	for _, subject := range []string{"gone", "nobody's"} {
		p := newPerson(t, c)
		_, status, page := p.signsIn(subject, "/tasks")
		if status != http.StatusUnauthorized || strings.Contains(page, subject) {
			t.Errorf("%s gets %d:\n%s", subject, status, page)
		}
		before, after, _ := strings.Cut(page, "<code>") // the ID of the request
		_, after, _ = strings.Cut(after, "</code>")
		pages = append(pages, before+after)
		p.wants("/signin?to=%2Ftasks", http.StatusOK, "Sign in")(p.goes(c.Origin + "/tasks"))
	}
	if pages[0] != pages[1] {
		t.Errorf("the pages tell who is a member:\n%s\n%s", pages[0], pages[1])
	}
	for _, want := range []string{"this member is disabled", `taskbay user add --issuer '` + c.Provider.Issuer + `' --subject 'nobody'\\''s'`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, log.String())
		}
	}
	if strings.Contains(log.String(), "code=") || strings.Contains(log.String(), "eyJ") {
		t.Errorf("the log has what nobody is to read:\n%s", log.String())
	}
}

// TestProviderAway has the server serve those who are signed in while the provider is
// away.
func TestProviderAway(t *testing.T) {
	t.Parallel()
	c := apptest.StartConsole(t, apptest.Options{Log: slog.New(slog.DiscardHandler)})
	c.Member("ada", "Ada", access.Viewer)
	ada, bob := newPerson(t, c), newPerson(t, c)
	ada.signsIn("ada", "/tasks")
	c.Provider.Away(true)
	ada.wants("/tasks", http.StatusOK, "Viewer")(ada.goes(c.Origin + "/tasks"))
	bob.wants("/signin", http.StatusOK, "Sign in")(bob.goes(c.Origin + "/signin"))
}

// TestOriginIsConfigured has nothing that a request says stand in for the origin.
func TestOriginIsConfigured(t *testing.T) {
	t.Parallel()
	c := apptest.StartConsole(t, apptest.Options{})
	for name, header := range map[string]http.Header{
		"Host":              nil,
		"X-Forwarded-Host":  {"X-Forwarded-Host": {"evil.example"}, "X-Forwarded-Proto": {"http"}},
		"Forwarded":         {"Forwarded": {"host=evil.example;proto=http"}},
		"X-Original-Host":   {"X-Original-Host": {"evil.example"}},
		"X-Forwarded-Port":  {"X-Forwarded-Port": {"1"}},
		"X-Forwarded-Proto": {"X-Forwarded-Proto": {"http"}},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.URL()+"/auth/login", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = strings.TrimPrefix(c.Origin, "https://")
		if header == nil {
			r.Host = "evil.example"
		}
		for key, values := range header {
			r.Header[key] = values
		}
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if header == nil {
			if answer.StatusCode != http.StatusForbidden {
				t.Errorf("for another host the answer is %s, want 403", answer.Status)
			}
			continue
		}
		to, err := answer.Location()
		if err != nil {
			t.Fatalf("%s: %s, %v", name, answer.Status, err)
		}
		if got, want := to.Query().Get("redirect_uri"), c.Origin+"/auth/callback"; got != want {
			t.Errorf("with %s, the provider sends people back to %q, want %q", name, got, want)
		}
	}
}

// TestSignInsAreCounted has all people together begin so many sign-ins a minute, and
// who is signed in go on.
func TestSignInsAreCounted(t *testing.T) {
	t.Parallel()
	c := apptest.StartConsole(t, apptest.Options{Change: func(c *config.Config) { c.Limits.SignIns = 4 }})
	c.Member("ada", "Ada", access.Viewer)
	ada, bob := newPerson(t, c), newPerson(t, c)
	ada.signsIn("ada", "/tasks") // two: there and back
	status, asked := 0, 0
	for status != http.StatusTooManyRequests && asked < 20 { // more than fit into a minute, and the next
		_, status, _ = bob.goes(c.Origin + "/signin")
		asked++
	}
	if status != http.StatusTooManyRequests {
		t.Errorf("%d more are all answered, want 429 once there were 4 in a minute", asked)
	}
	ada.wants("/tasks", http.StatusOK, "Viewer")(ada.goes(c.Origin + "/tasks"))
}
