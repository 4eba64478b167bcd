package command_test

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/artifact"
	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// fakeBytes keeps bytes, at most 10 of one part, but for as often as it fails.
type fakeBytes struct {
	*artifact.Keeper

	mu    sync.Mutex
	fails int
}

func (f *fakeBytes) Keep(ctx context.Context, sha256 string, content []byte) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fails > 0 {
		f.fails--
		return "", fault.New(fault.Unavailable, "The place for files does not answer.")
	}
	return f.Keeper.Keep(ctx, sha256, content)
}

func (b *bench) read(p a2a.Part) string {
	b.t.Helper()
	blobs := &task.Blobs{View: store.For[task.BlobTx](b.db.View), Bytes: b.bytes}
	content, _, err := blobs.Open(context.Background(), b.person, p.Artifact.SHA256)
	if err != nil {
		b.t.Fatal(err)
	}
	defer content.Close()
	read, err := io.ReadAll(content)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(read)
}

func TestAFileOfAPerson(t *testing.T) {
	t.Parallel()
	b := setUp(t)
	b.remote.says(question)
	sent := []a2a.Part{a2a.TextPart("See:"), {Raw: []byte("my file"), Filename: "f"}}
	c := b.send(command.Body{Parts: sent})
	if got := b.remote.calls()[0].Message.Parts[1]; string(got.Raw) != "my file" || got.Artifact != nil {
		t.Errorf("sent %+v, want the bytes themselves", got)
	}
	if sent[1].Raw == nil {
		t.Error("the caller's parts were changed")
	}
	if got := b.read(b.task(c.TaskID).Messages[0].Parts[1]); got != "my file" {
		t.Errorf("the timeline has %q, want what was sent", got)
	}
}

// TestAFileThatIsRefused: nothing of a command is stored, and nothing sent.
func TestAFileThatIsRefused(t *testing.T) {
	t.Parallel()
	b := setUp(t)
	for name, test := range map[string]struct {
		bytes string
		fails int
		want  fault.Kind
	}{
		"over the limit":   {"12345678901", 0, fault.TooLarge},
		"cannot be stored": {"1234567890", 1, fault.Unavailable},
	} {
		b.bytes.fails = test.fails
		_, err := b.submit(newID(), command.Body{Parts: []a2a.Part{{Raw: []byte(test.bytes)}}})
		if fault.KindOf(err) != test.want || test.want == fault.TooLarge && !strings.Contains(fault.Public(err).Message, "10 bytes") {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
	page, err := b.tasks.List(context.Background(), b.person, task.Filter{})
	if len(page.Items) != 0 || err != nil || len(b.remote.calls()) != 0 {
		t.Errorf("tasks %+v, %v and %d calls; want none", page.Items, err, len(b.remote.calls()))
	}
}

const answerWithFiles = `{"task":{"id":"r","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a","parts":[
	{"text":"Done"},{"raw":"c21hbGw=","filename":"small.txt"},{"raw":"bXVjaCB0b28gbGFyZ2U=","filename":"large.txt"}]}]}}`

// TestAnAnswerWithFiles: an answer is stored once its files can be, and what is over
// the limit does not keep the rest from being shown.
func TestAnAnswerWithFiles(t *testing.T) {
	t.Parallel()
	b := setUp(t)
	b.bytes.fails = 1
	b.remote.says(answerWithFiles)
	c := b.send(command.Body{Text: "go"})
	if c.Status != command.Succeeded {
		t.Fatalf("the command is %s: %s", c.Status, c.Error)
	}
	got := b.task(c.TaskID)
	parts := got.Artifacts[0].Parts
	if got.State != a2a.StateCompleted || *parts[0].Text != "Done" || b.read(parts[1]) != "small" {
		t.Errorf("task %+v, want all but the large file", got)
	}
	if large := parts[2].Artifact; large == nil || large.Kept() || large.Size != 14 || large.Limit != 10 || parts[2].Filename != "large.txt" {
		t.Errorf("in place of the large file stands %+v", parts[2])
	}
}
