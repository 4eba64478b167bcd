package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/cli"
)

// running is a command that goes on until it is stopped.
type running struct {
	t    *testing.T
	out  *io.PipeReader
	stop context.CancelFunc
	wait func() result
}

// start runs a command in the background. Its standard output must be read.
func start(t *testing.T, args ...string) *running {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	reader, writer := io.Pipe()
	var errs bytes.Buffer
	var code int
	var done sync.WaitGroup
	done.Go(func() {
		code = cli.Run(ctx, args, cli.Streams{In: strings.NewReader(""), Out: writer, Err: &errs})
		_ = writer.Close()
	})
	wait := func() result {
		done.Wait()
		return result{code: code, err: errs.String()}
	}
	t.Cleanup(func() { stop(); _ = reader.Close(); wait() })
	return &running{t, reader, stop, wait}
}

// read returns the standard output up to and with a text.
func (r *running) read(until string) string {
	r.t.Helper()
	var text []byte
	one := make([]byte, 1)
	for !bytes.HasSuffix(text, []byte(until)) {
		if _, err := r.out.Read(one); err != nil {
			r.t.Fatalf("the output ended after %q: %+v", text, r.wait())
		}
		text = append(text, one[0])
	}
	return string(text)
}

// end stops the command and checks that it ended well.
func (r *running) end() {
	r.t.Helper()
	r.stop()
	_, _ = io.Copy(io.Discard, r.out)
	if got := r.wait(); got.code != 0 {
		r.t.Errorf("the command ended with %+v, want exit code 0", got)
	}
}

func get(t *testing.T, url string) []byte {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("GET %s = %d, %v", url, response.StatusCode, err)
	}
	return body
}

func TestServe(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	r := start(t, "--listen", "127.0.0.1:0", "--data-dir", dir, "--log-format", "json")
	first := r.read("\n")
	url, ok := strings.CutPrefix(strings.TrimSpace(first), "Taskbay is at ")
	if !ok {
		t.Fatalf("first line = %q, want the URL", first)
	}
	if got := r.read("\n"); !strings.Contains(got, dir) {
		t.Errorf("second line = %q, want the data directory", got)
	}
	if got := string(get(t, url+"/healthz")); got != `{"status":"ok"}`+"\n" {
		t.Errorf("healthz = %s, want ok", got)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("data directory = %v, %v; want it for its owner alone", info, err)
	}
	second := taskbay(t, "", "serve", "--listen", "127.0.0.1:0", "--data-dir", dir)
	if second.code != 1 || !strings.Contains(second.err, dir) {
		t.Errorf("a second process = %+v, want it refused with the directory named", second)
	}
	r.end()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	again := start(t, "--listen", "127.0.0.1:0", "--data-dir", dir)
	again.read("Ctrl-C\n")
	again.end()
	const warning = "others on this machine can look into the data directory"
	if first, second := r.wait().err, again.wait().err; strings.Contains(first, warning) || !strings.Contains(second, warning) || !strings.Contains(second, "mode=0755") {
		t.Errorf("the log is first\n%sand then\n%swant a warning only of the directory that others can look into", first, second)
	}
}

func TestDemo(t *testing.T) {
	t.Parallel()
	r := start(t, "demo", "--listen", "127.0.0.1:0", "--agents", "127.0.0.1:0", "--data-dir", t.TempDir())
	first := r.read("\n")
	url := strings.TrimSpace(strings.TrimPrefix(first, "Taskbay is at "))
	r.read("Ctrl-C\n")
	var agents struct{ Items []struct{ Name string } }
	if err := json.Unmarshal(get(t, url+"/api/v1/agents"), &agents); err != nil {
		t.Fatal(err)
	}
	r.end()
}

func TestDemoAgent(t *testing.T) {
	t.Parallel()
	r := start(t, "demo-agent", "--listen", "127.0.0.1:0")
	variants := []string{"form", "plain", "invalid", "kitchen-sink", "slow", "unknown"}
	var urls []string
	for _, variant := range variants {
		line := r.read("card.json\n")
		_, url, _ := strings.Cut(strings.TrimSpace(line), "http://")
		if !strings.Contains(line, variant+" ") || !strings.HasSuffix(url, "/"+variant+"/card.json") {
			t.Errorf("line = %q, want %s and its card", line, variant)
		}
		urls = append(urls, "http://"+url)
	}
	r.read("\n")
	for i, url := range urls {
		var card struct{ Name string }
		if err := json.Unmarshal(get(t, url), &card); err != nil || card.Name == "" {
			t.Errorf("card of %s = %+v, %v; want a name", variants[i], card, err)
		}
	}
	r.end()
}

func TestAddressInUse(t *testing.T) {
	t.Parallel()
	r := start(t, "demo-agent", "--listen", "127.0.0.1:0")
	line := r.read("card.json\n")
	_, url, _ := strings.Cut(line, "http://")
	address, _, _ := strings.Cut(url, "/")
	for _, args := range [][]string{
		{"demo-agent", "--listen", address},
		{"serve", "--listen", address, "--data-dir", t.TempDir()},
		{"demo", "--listen", "127.0.0.1:0", "--agents", address, "--data-dir", t.TempDir()},
	} {
		if got := taskbay(t, "", args...); got.code != 1 || !strings.Contains(got.err, "cannot listen on "+address) || !strings.Contains(got.err, "127.0.0.1:0 takes a free port") {
			t.Errorf("taskbay %q = %+v, want it to name the address and a way out", args, got)
		}
	}
	r.end()
}
