package storetest

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/retention"
	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/task"
)

func (b *bench) retention() *retention.Service {
	return &retention.Service{Update: store.For[retention.Tx](b.db.Update), View: store.For[retention.Tx](b.db.View), Log: slog.New(slog.DiscardHandler)}
}

// ended makes a task that ended long ago, with a file and some observations.
func (b *bench) ended(file string, observations int) (taskID, agentID string) {
	b.Helper()
	id, agentID := b.task("t")
	b.ingest(brings(id, "s/file", file))
	for i := range observations {
		b.hears(id, fmt.Sprint("s/", i), strings.Replace(working(id), "}", fmt.Sprintf(`,"metadata":{"n":%d}}`, i), 1))
	}
	b.hears(id, "s/end", completed(id))
	b.old(id)
	return id, agentID
}

func (b *bench) old(id string) {
	b.Helper()
	b.exec("UPDATE task SET updated_us = ? WHERE id = ?", time.Now().AddDate(0, 0, -40).UnixMicro(), id)
}

// testRetention purges what ended long ago and nothing else.
func testRetention(b *bench) {
	ctx, p, s := context.Background(), access.LocalOperator(), b.retention()
	long, _ := b.ended("shared", 120) // more than one transaction
	waits, waitsFor := b.ended("waits", 0)
	b.command(waits, waitsFor)
	b.old(waits)
	recent, _ := b.ended("shared", 0)
	b.exec("UPDATE task SET updated_us = ? WHERE id = ?", time.Now().UnixMicro(), recent)
	open, _ := b.task("open")
	b.hears(open, "s/0", working(open))
	b.old(open)

	if got, err := s.Purge(ctx, p); err != nil || got != (retention.Found{}) {
		b.Errorf("without a setting %+v is purged, %v", got, err)
	}
	for _, days := range []int64{-1, retention.MaxDays + 1} {
		if _, err := s.Set(ctx, p, days); fault.KindOf(err) != fault.Unprocessable {
			b.Errorf("%d days: %v, want unprocessable", days, err)
		}
	}
	if _, err := s.Set(ctx, p, 30); err != nil {
		b.Fatal(err)
	}
	if got, err := s.Get(ctx, p); err != nil || got.Days != 30 || got.SetBy != p.Name || got.SetAt.IsZero() {
		b.Errorf("the setting is %+v, %v", got, err)
	}
	would, err := s.Try(ctx, p, 30)
	if err != nil || would.Tasks != 1 || would.Events != 122 || would.Artifacts != 1 || would.ArtifactBytes != 6 {
		b.Errorf("a dry run finds %+v, %v", would, err)
	}
	if got := b.shown(long); !got.PurgedAt.IsZero() {
		b.Error("a dry run purged")
	}
	before := b.shown(long)
	if got, err := s.Purge(ctx, p); err != nil || got != would {
		b.Errorf("purged %+v, %v; the dry run found %+v", got, err, would)
	}
	after := b.shown(long)
	if after.PurgedAt.IsZero() || after.Version <= before.Version || !after.UpdatedAt.Equal(before.UpdatedAt) || len(after.Messages) != len(before.Messages) || len(after.Transitions) != len(before.Transitions) {
		b.Errorf("the purged task is %+v, and was %+v", after, before)
	}
	for _, id := range []string{waits, recent, open} {
		if !b.shown(id).PurgedAt.IsZero() {
			b.Errorf("a task was purged that is not to be")
		}
	}
	if got, err := b.opens(access.LocalOrganisation, digestOf("shared")); err != nil || got != "shared" {
		b.Errorf("a file that another task holds is %q, %v", got, err)
	}
	b.exec("UPDATE task SET updated_us = ? WHERE id = ?", time.Now().AddDate(0, 0, -40).UnixMicro(), recent)
	if got, err := s.Purge(ctx, p); err != nil || got.Tasks != 1 {
		b.Errorf("purged %+v, %v; want the other task", got, err)
	}
	if _, err := b.opens(access.LocalOrganisation, digestOf("shared")); fault.KindOf(err) != fault.Gone || !strings.Contains(err.Error(), "purged on") {
		b.Errorf("a purged file: %v, want gone", err)
	}
	if _, err := b.opens("another", digestOf("shared")); fault.KindOf(err) != fault.NotFound {
		b.Errorf("a purged file of another organisation: %v, want not found", err)
	}
	b.collects(0) // a copy of the database may refer to it yet
	b.ages("shared")
	b.collects(1)
	purged := 0
	for _, r := range b.replayAll() {
		if r.Purged {
			purged++
		}
	}
	if purged != 2 {
		b.Errorf("%d tasks say that their record was purged, want 2", purged)
	}
}

// testPurgeIsNarrow: an observation loses its bytes once its task has ended, and
// nothing else of it ever changes.
func testPurgeIsNarrow(b *bench) {
	const purge = "UPDATE event SET raw = ?, payload = NULL, purged_size = length(raw), purged_us = 7"
	b.broken = true
	ended, agentID := b.ended("file", 1)
	try := func(what, statement string, args ...any) {
		b.Helper()
		if err := b.db.Exec(context.Background(), statement, args...); err == nil {
			b.Errorf("%s was allowed", what)
		}
	}
	for _, column := range []string{
		"id = id || 'x'", "task_id = (SELECT MIN(id) FROM task WHERE id <> event.task_id)", "source = 'poll'", "source_key = 'x'", "sha256 = 'x'", "asked_us = 5", "received_us = 5",
		"cut_size = 5", "artifact_limit = 5", "number = number + 100", "seq = 5", "answered_by = 'x'", "after_answer = NOT after_answer",
	} {
		try("a purge that sets "+column, purge+", "+column+" WHERE source_key = 's/0'", []byte{})
		try("setting "+column, "UPDATE event SET "+column+" WHERE source_key = 's/0'")
	}
	try("other bytes", purge, []byte("x"))
	try("no time", "UPDATE event SET raw = ?, payload = NULL, purged_size = length(raw)", []byte{})
	try("another size", "UPDATE event SET raw = ?, payload = NULL, purged_size = 1, purged_us = 7", []byte{})
	try("a payload that stays", "UPDATE event SET raw = ?, payload = 'x', purged_size = length(raw), purged_us = 7", []byte{})
	try("deleting", "DELETE FROM event")
	open, _ := b.task("open")
	b.hears(open, "s/open", working(open))
	try("purging an open task", purge+" WHERE task_id = '"+open+"'", []byte{})
	r := b.command(ended, agentID)
	try("purging while a command is pending", purge+" WHERE task_id = '"+ended+"'", []byte{})
	b.claim("w1")
	b.settle(r.Command.ID, "w1", command.Uncertain)
	try("purging with an uncertain command", purge+" WHERE task_id = '"+ended+"'", []byte{})
	b.exec("UPDATE command SET status = 'succeeded', confirmed_us = 1")
	b.exec(purge+" WHERE task_id = '"+ended+"'", []byte{})
	try("purging twice", "UPDATE event SET purged_us = 8 WHERE task_id = '"+ended+"'")
	try("bringing bytes back", "UPDATE event SET raw = ? WHERE task_id = '"+ended+"'", []byte("x"))
}

// testRetentionOfReplies: a conversation in which the agent answered without a task is
// purged as well, with the files that a person sent, and again when it has gone on.
func testRetentionOfReplies(b *bench) {
	ctx, p, s := context.Background(), access.LocalOperator(), b.retention()
	id, agentID := b.task("conversation")
	r := b.newCommand(id, agentID)
	r.Request.Parts = []a2a.Part{a2a.TextPart("see"), {Raw: []byte("my file"), Filename: "mine.txt", MediaType: "text/plain"}}
	b.update(func(tx *store.Tx) error { return b.accept(tx, r) })
	reply := func(key string) {
		b.Helper()
		b.hears(id, key, `{"message":{"messageId":"`+key+`","role":"ROLE_AGENT","parts":[{"text":"seen"}]}}`)
		b.old(id)
	}
	reply("m-1")
	if got := b.shown(id); got.Kind != task.KindMessage {
		b.Fatalf("the conversation is a %s", got.Kind)
	}
	if _, err := s.Set(ctx, p, 30); err != nil {
		b.Fatal(err)
	}
	purges := func(want int64) {
		b.Helper()
		would, err := s.Try(ctx, p, 30)
		if err != nil {
			b.Error(err)
		}
		got, err := s.Purge(ctx, p)
		if err != nil || got.Tasks != want || got.Events != want || got != would {
			b.Errorf("purged %+v, %v, the dry run found %+v; want %d", got, err, would, want)
		}
	}
	purges(0) // its command is not settled
	b.claim("w1")
	b.settle(r.Command.ID, "w1", command.Succeeded)
	b.old(id)
	purges(1)
	b.view(func(tx *store.Tx) error {
		kept, err := tx.CommandByID(r.Command.ID)
		if err != nil || len(kept.Request.Parts) != 2 || kept.Unreadable || kept.Digest != r.Digest {
			b.Fatalf("what was sent is %+v, %v", kept, err)
		}
		text, file := kept.Request.Parts[0], kept.Request.Parts[1]
		if text.Text == nil || *text.Text != "see" || file.Raw != nil || file.Filename != "mine.txt" || file.Artifact == nil || file.Artifact.SHA256 != digestOf("my file") || file.Artifact.Size != 7 {
			b.Errorf("what was sent is %+v; want the text, and the file's name, size and digest", kept.Request.Parts)
		}
		return nil
	})
	purges(0)
	b.exec("UPDATE task SET purged_us = ? WHERE id = ?", time.Now().AddDate(0, 0, -50).UnixMicro(), id) // a while ago
	reply("m-2")
	purges(1)
	if got := b.shown(id); len(got.Messages) != 3 {
		b.Errorf("the conversation has %d messages after the purge, want 3", len(got.Messages))
	}
}
