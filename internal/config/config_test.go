package config_test

import (
	"flag"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/artifact"
	"github.com/agent-taskbay/taskbay/internal/config"
	"github.com/agent-taskbay/taskbay/internal/netpolicy"
)

var update = flag.Bool("update", false, "write the golden files anew")

// parse fills a Config as the command line does.
func parse(t *testing.T, args ...string) (config.Config, error) {
	t.Helper()
	var root struct {
		Serve config.Config `cmd:""`
	}
	parser, err := kong.New(&root, config.Defaults(), kong.Writers(io.Discard, io.Discard), kong.Exit(func(int) {}))
	if err != nil {
		t.Fatalf("kong.New() error = %v", err)
	}
	_, err = parser.Parse(append([]string{"serve"}, args...))
	return root.Serve, err
}

// write makes a file of options and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "taskbay.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	got, err := parse(t)
	if err != nil {
		t.Fatalf("parse() error = %v", err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	want := asDefault()
	want.Listen, want.DataDir, want.LogLevel, want.LogFormat = "127.0.0.1:3002", filepath.Join(home, ".taskbay"), "info", "text"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("defaults mismatch (-want +got):\n%s", diff)
	}
}

// asDefault returns a Config in which everything is on that is on by default.
func asDefault() config.Config {
	yes := true
	return config.Config{
		Workers: &yes, AGUI: &yes, TaskRecordMB: 64, TaskRecordEvents: 100_000, Artifacts: artifact.Options{MaxMiB: 64},
		SessionLife: access.SessionLife, Limits: access.Limits{Reads: 900, Operations: 120, Administrative: 60, SignIns: 240},
	}
}

// TestHome gives ~ in every way that a path can be given.
func TestHome(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for name, text := range map[string]string{"taskbay.json": "\uFEFF{\"data-dir\":\"~/of-file\"}", "key.pem": "x"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dataDir := func(want string, args ...string) {
		t.Helper()
		if got, err := parse(t, args...); err != nil || got.DataDir != filepath.Join(home, want) {
			t.Errorf("parse(%q) has the data in %q, %v; want %s in %s", args, got.DataDir, err, want, home)
		}
	}
	dataDir(".taskbay")
	dataDir("of-flag", "--data-dir=~/of-flag")
	dataDir("", "--data-dir=~")
	dataDir("of-file", "--config=~/taskbay.json")
	t.Setenv("TASKBAY_DATA_DIR", "~/of-environment")
	dataDir("of-environment")

	if got, err := parse(t, "--data-dir=~other"); err != nil || filepath.Base(got.DataDir) != "~other" {
		t.Errorf("parse() has the data in %q, %v; want ~other as it is, under this directory", got.DataDir, err)
	}
	var root struct {
		CA string `type:"existingfile"`
	}
	parser, err := kong.New(&root, config.Defaults(), kong.Writers(io.Discard, io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse([]string{"--ca=~/key.pem"}); err != nil || root.CA != filepath.Join(home, "key.pem") {
		t.Errorf("an existing file is %q, %v; want key.pem in %s", root.CA, err, home)
	}
}

func TestPrecedence(t *testing.T) {
	file := write(t, `{"listen":"127.0.0.1:1","log-level":"error","log-format":"json","open":true}`)
	t.Setenv("TASKBAY_CONFIG", file)
	t.Setenv("TASKBAY_LISTEN", "127.0.0.1:2")
	t.Setenv("TASKBAY_LOG_LEVEL", "warn")
	got, err := parse(t, "--listen=127.0.0.1:3", "--data-dir=/d")
	if err != nil {
		t.Fatalf("parse() error = %v", err)
	}
	yes := true
	want := asDefault()
	want.Listen = "127.0.0.1:3" // flag over environment
	want.DataDir = "/d"
	want.Open = &yes        // file over default
	want.LogLevel = "warn"  // environment over file
	want.LogFormat = "json" // file over default
	want.File = config.File(file)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("config mismatch (-want +got):\n%s", diff)
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]bool{"--open": true, "--no-open": false, "--open=false": false} {
		got, err := parse(t, args)
		if err != nil {
			t.Fatalf("parse(%s) error = %v", args, err)
		}
		if got.Open == nil || *got.Open != want {
			t.Errorf("parse(%s).Open = %v, want %v", args, got.Open, want)
		}
	}
}

func TestRefusedOptions(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args []string
		want string
	}{
		"open to others":       {[]string{"--listen", "0.0.0.0:3002"}, "nobody signs in: whoever"},
		"every interface":      {[]string{"--listen", ":8080"}, "ssh -L 8080:127.0.0.1:8080"},
		"another machine":      {[]string{"--listen", "example.com:80"}, "nobody signs in: whoever"},
		"push path":            {[]string{"--push-origin", "https://a.example/push"}, "more than an origin"},
		"push slash":           {[]string{"--push-origin", "https://a.example/"}, "more than an origin"},
		"push user":            {[]string{"--push-origin", "https://u:hunter2@a.example"}, "has a user name"},
		"push in clear":        {[]string{"--push-origin", "http://a.example"}, "begin with https://"},
		"push without scheme":  {[]string{"--push-origin", "a.example"}, "is none"},
		"push query":           {[]string{"--push-origin", "https://a.example?"}, "more than an origin"},
		"half a sign-in":       {[]string{"--oidc-issuer", "https://login.example"}, "--oidc-client-id is missing"},
		"an origin alone":      {[]string{"--origin", "https://console.example"}, "--origin goes with --oidc-issuer"},
		"no port":              {[]string{"--listen", "127.0.0.1"}, "is no HOST:PORT"},
		"no data directory":    {[]string{"--data-dir", ""}, "--data-dir is empty"},
		"unknown level":        {[]string{"--log-level", "loud"}, "--log-level must be one of"},
		"unknown flag":         {[]string{"--lisen", "x"}, `did you mean "--listen"?`},
		"missing file":         {[]string{"--config", "/nowhere/at/all"}, "cannot be read"},
		"file of no object":    {[]string{"--config", write(t, `[]`)}, "is no JSON object"},
		"file of two objects":  {[]string{"--config", write(t, `{} {}`)}, "more than one"},
		"unknown option":       {[]string{"--config", write(t, `{"lisen":"x"}`)}, `no option is called "lisen"`},
		"wrong type in a file": {[]string{"--config", write(t, `{"open":"perhaps"}`)}, "bool value must be true"},
		"origin of no use":     {[]string{"--allow-origin", "https://a.example/agent"}, "leave out the path"},
		"proxy of no use":      {[]string{"--proxy", "socks5://proxy.example"}, "proxy cannot be used"},
		"refused from a file":  {[]string{"--config", write(t, `{"listen":"0.0.0.0:1"}`)}, "nobody signs in: whoever"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parse(t, tc.args...)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("parse(%q) error = %v, want one that contains %q", tc.args, err, tc.want)
			}
		})
	}
}

func TestListen(t *testing.T) {
	t.Parallel()
	for addr, loopback := range map[string]bool{
		"127.0.0.1:0": true, "127.8.9.1:80": true, "[::1]:80": true, "localhost:3002": true, "LOCALHOST:1": true,
		"[::]:80": false, "10.0.0.1:80": false, "localhost.example.com:80": false, "[::ffff:10.0.0.1]:80": false, ":80": false,
	} {
		if _, err := parse(t, "--listen", addr); (err == nil) != loopback {
			t.Errorf("--listen %s without sign-in: %v, want ok = %v", addr, err, loopback)
		}
		if _, err := parse(t, "--listen", addr, "--oidc-issuer=https://login.example", "--oidc-client-id=taskbay", "--origin=https://console.example"); err != nil {
			t.Errorf("--listen %s with sign-in: %v", addr, err)
		}
	}
}

func TestLevel(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]slog.Level{"debug": slog.LevelDebug, "error": slog.LevelError, "": slog.LevelInfo} {
		if got := (config.Config{LogLevel: name}).Level(); got != want {
			t.Errorf("Level(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestNetwork(t *testing.T) {
	t.Parallel()
	path := write(t, `{"allow-origin":["https://a.example","https://b.example:8443"],"allow-private":false,"require-https":true}`)
	got, err := parse(t, "--config", path, "--allow-loopback", "--proxy", "http://127.0.0.1:3128")
	if err != nil {
		t.Fatalf("parse() error = %v", err)
	}
	yes, no := true, false
	want := netpolicy.Options{
		AllowLoopback: &yes, AllowPrivate: &no, RequireHTTPS: true, Proxy: "http://127.0.0.1:3128",
		AllowOrigin: []string{"https://a.example", "https://b.example:8443"},
	}
	if diff := cmp.Diff(want, got.Network); diff != "" {
		t.Errorf("options mismatch (-want +got):\n%s", diff)
	}
	if got, err = parse(t, "--allow-origin=https://a.example,https://b.example"); err != nil || len(got.Network.AllowOrigin) != 2 {
		t.Errorf("parse() = %v, %v; want two origins", got.Network.AllowOrigin, err)
	}
}

func TestReference(t *testing.T) {
	t.Parallel()
	const path = "../../docs/configuration.md"
	got, err := config.Reference()
	if err != nil {
		t.Fatalf("Reference() error = %v", err)
	}
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is not what the code says; run go test ./internal/config -update (-want +got):\n%s", path, diff)
	}
}
