package cli_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/artifact"
	"github.com/agent-taskbay/taskbay/internal/demo"
	"github.com/agent-taskbay/taskbay/internal/store"
)

// filing is an agent that answers a message with a file that has its text, and holds
// the answer to "hold" back.
type filing struct {
	*httptest.Server
	held    chan struct{} // closed when it got "hold"
	release chan struct{}

	mu  sync.Mutex
	got []string // texts
}

func startFiling(t *testing.T) *filing {
	f := &filing{held: make(chan struct{}), release: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /card.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"name":"Filing","description":"d","version":"1","capabilities":{},"defaultInputModes":[],"defaultOutputModes":[],
			"skills":[],"supportedInterfaces":[{"url":"%s/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, f.URL)
	})
	mux.HandleFunc("POST /rpc", f.call)
	f.Server = httptest.NewServer(mux)
	t.Cleanup(f.Close)
	return f
}

func (f *filing) call(w http.ResponseWriter, r *http.Request) {
	var call struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Message struct {
				MessageID string
				Parts     []struct{ Text string }
			}
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil || call.Method != "SendMessage" {
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	text := call.Params.Message.Parts[0].Text
	f.mu.Lock()
	f.got = append(f.got, text)
	f.mu.Unlock()
	if text == "hold" {
		close(f.held) // a second one ends the test
		<-f.release
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"task":{"id":"t-%s","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"},
		"artifacts":[{"artifactId":"a","parts":[{"raw":%q,"filename":"said.txt"}]}]}}}`, call.ID, call.Params.Message.MessageID, base64.StdEncoding.EncodeToString([]byte(text)))
}

func (f *filing) texts() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.got)
}

func sha256Of(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// TestBackupAndRestore backs a server up while messages and streams come and go, and
// one message is on its way, and restores it elsewhere.
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	agent := startFiling(t)
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "taskbay.backup")
	s := apptest.Start(t, apptest.Options{DataDir: dir, SampleAgents: true})
	filer, slow := s.Register(agent.URL+"/card.json"), s.SampleAgent(demo.Slow)
	before := s.Send(filer.ID, map[string]any{"text": "before"})
	var held apptest.Command
	if status := s.Call("POST", "/api/v1/agents/"+filer.ID+"/commands", map[string]any{"text": "hold"}, &held, "Idempotency-Key", "held"); status != http.StatusAccepted {
		t.Fatalf("the message was answered with %d", status)
	}
	<-agent.held
	var flow sync.WaitGroup
	stop := make(chan struct{})
	for i, id := range []string{filer.ID, slow.ID} {
		flow.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
					s.Send(id, map[string]any{"text": fmt.Sprintf("%d of %d", n, i)})
				}
			}
		})
	}
	got := taskbay(t, "", "backup", file, "--data-dir", dir)
	if got.code != 0 || !strings.Contains(got.out, "The vault's keys are not in it") {
		t.Fatalf("backup = %+v", got)
	}
	close(stop)
	flow.Wait()
	if again := taskbay(t, "", "backup", file, "--data-dir", dir); again.code != 2 || !strings.Contains(again.err, "--force") {
		t.Errorf("backup over a file = %+v", again)
	}
	if running := taskbay(t, "", "restore", file, "--data-dir", dir, "--force"); running.code != 1 || !strings.Contains(running.err, "another taskbay") {
		t.Errorf("restore into a running server's directory = %+v", running)
	}
	close(agent.release)
	s.Stop()
	checkFiles(t, dir, file)

	other := t.TempDir()
	got = taskbay(t, "", "restore", file, "--data-dir", other)
	if got.code != 0 || !strings.Contains(got.out, " about to be sent then") {
		t.Fatalf("restore = %+v", got)
	}
	if got := taskbay(t, "", "rebuild", "--data-dir", other); got.code != 0 || !strings.Contains(got.out, " 0 differ, 0 cannot be replayed.") {
		t.Errorf("rebuild of what was restored = %+v", got)
	}
	restored := apptest.Start(t, apptest.Options{DataDir: other})
	if task := restored.TaskIn(before.TaskID, "TASK_STATE_COMPLETED"); len(task.Artifacts) != 1 {
		t.Errorf("the task has %d artifacts, want 1", len(task.Artifacts))
	}
	if page := restored.Page("/artifacts/" + sha256Of("before")); page != "before" {
		t.Errorf("the artifact is %q", page)
	}
	restored.Call("GET", "/api/v1/commands/"+held.ID, nil, &held)
	if held.Status != "uncertain" || !strings.Contains(held.Error, "before the backup was made") {
		t.Errorf("the message that was on its way is %s: %s", held.Status, held.Error)
	}
	restored.Send(filer.ID, map[string]any{"text": "after"})
	texts := agent.texts()
	slices.Sort(texts)
	if n := len(texts) - len(slices.Compact(texts)); n != 0 {
		t.Errorf("%d messages were sent twice", n)
	}
}

// checkFiles makes sure that nothing is left of a backup but its file, which is its
// owner's alone.
func checkFiles(t *testing.T, dir, file string) {
	t.Helper()
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup: %v, %v; want mode 0600", info, err)
	}
	for _, pattern := range []string{file + ".*", filepath.Join(dir, "backup-*")} {
		if left, err := filepath.Glob(pattern); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}

// TestRestoreOverData keeps what was there before, and restores all or nothing.
func TestRestoreOverData(t *testing.T) {
	t.Parallel()
	agent := startFiling(t)
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "taskbay.backup")
	s := apptest.Start(t, apptest.Options{DataDir: dir})
	filer := s.Register(agent.URL + "/card.json")
	first := s.Send(filer.ID, map[string]any{"text": "first"})
	lost := s.Send(filer.ID, map[string]any{"text": "lost"})
	if got := taskbay(t, "canary\n", "credential", "set", "Filing", "--kind", "bearer", "--origin", agent.URL, "--data-dir", dir); got.code != 0 {
		t.Fatalf("credential set = %+v", got)
	}
	if stored, err := filepath.Glob(filepath.Join(dir, artifact.Dir, "*", sha256Of("lost")+"-*")); err != nil || len(stored) != 1 || os.Remove(stored[0]) != nil {
		t.Fatalf("the stored file: %v, %v", stored, err)
	}
	if got := taskbay(t, "", "backup", file, "--with-keys", "--data-dir", dir); got.code != 0 || !strings.Contains(got.out, "1 artifact is not in it") {
		t.Fatalf("backup = %+v", got)
	}
	second := s.Send(filer.ID, map[string]any{"text": "second"})
	s.Stop()

	if got := taskbay(t, "", "restore", file, "--data-dir", dir); got.code != 1 || !strings.Contains(got.err, "--force") {
		t.Errorf("restore over data = %+v", got)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut")
	if err := os.WriteFile(cut, whole[:len(whole)-20], 0o600); err != nil {
		t.Fatal(err)
	}
	if got := taskbay(t, "", "restore", cut, "--data-dir", dir, "--force"); got.code != 1 || !strings.Contains(got.err, "not copied whole") {
		t.Errorf("restore of half a backup = %+v", got)
	}
	s = apptest.Start(t, apptest.Options{DataDir: dir}) // as it was
	s.TaskIn(second.TaskID, "TASK_STATE_COMPLETED")
	s.Stop()

	got := taskbay(t, string(whole), "restore", "-", "--data-dir", dir, "--force")
	if got.code != 0 || !strings.Contains(got.out, "Restored 2 tasks and 1 artifact ") || strings.Contains(got.out, "vault's key") {
		t.Fatalf("restore --force = %+v", got)
	}
	for pattern, want := range map[string]int{"restore*": 0, "before-restore-*/" + store.FileName: 1, "before-restore-*/" + artifact.Dir: 1, "before-restore-*/vault.key": 1} {
		if found, err := filepath.Glob(filepath.Join(dir, pattern)); err != nil || len(found) != want {
			t.Errorf("%s: %v, %v; want %d", pattern, found, err, want)
		}
	}
	s = apptest.Start(t, apptest.Options{DataDir: dir})
	s.TaskIn(first.TaskID, "TASK_STATE_COMPLETED")
	for path, want := range map[string]int{
		"/api/v1/tasks/" + second.TaskID: 404, "/artifacts/" + sha256Of("first"): 200, "/artifacts/" + sha256Of("lost"): 410, "/api/v1/tasks/" + lost.TaskID: 200,
	} {
		if status := s.Call("GET", path, nil, nil); status != want {
			t.Errorf("%s: %d, want %d", path, status, want)
		}
	}
	s.Stop()

	fresh := t.TempDir() // the key file is not there, and not in this backup
	if got := taskbay(t, "", "backup", file, "--force", "--data-dir", dir); got.code != 0 {
		t.Fatalf("backup --force = %+v", got)
	}
	if got := taskbay(t, "", "restore", file, "--data-dir", fresh); got.code != 0 || !strings.Contains(got.out, "The vault's key for the credentials of 1 agent is not here") {
		t.Errorf("restore without keys = %+v", got)
	}
}

// TestBrokenOffRestore: no server starts on half of the old data and half of the new.
func TestBrokenOffRestore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "restore.unfinished"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"serve", "--listen", "127.0.0.1:0"}, {"rebuild"}} {
		if got := taskbay(t, "", append(command, "--data-dir", dir)...); got.code != 1 || !strings.Contains(got.err, "was broken off") {
			t.Errorf("%v = %+v", command, got)
		}
	}
}

func TestBackupRefusals(t *testing.T) {
	t.Parallel()
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "x")
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"nothing there":       {[]string{"backup", file, "--data-dir", dir}, "there is no Taskbay in"},
		"PostgreSQL":          {[]string{"backup", file, "--database-url", "postgres://u:s3cret@127.0.0.1/x"}, "pg_dump"},
		"restore PostgreSQL":  {[]string{"restore", "-", "--database-url", "postgres://u:s3cret@127.0.0.1/x"}, "pg_dump"},
		"no backup":           {[]string{"restore", "-", "--data-dir", dir}, "no backup that taskbay made"},
		"nothing to restore":  {[]string{"restore", file, "--data-dir", dir}, "no such file"},
		"a size that is none": {[]string{"restore", "-", "--max-size", "0", "--data-dir", dir}, "--max-size"},
	} {
		if got := taskbay(t, "hello", test.args...); got.code == 0 || !strings.Contains(got.err, test.want) || strings.Contains(got.err, "s3cret") {
			t.Errorf("%s: %+v, want an error with %q", name, got, test.want)
		}
	}
}
