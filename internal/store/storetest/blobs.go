package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/artifact"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/task"
)

func digestOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// brings is an observation of an artifact with bytes.
func brings(taskID, key, content string) task.Observed {
	payload := fmt.Sprintf(`{"artifactUpdate":{"taskId":"remote-%s","artifact":{"artifactId":"a","parts":[{"text":"Here:"},{"raw":%q,"filename":"h.txt","mediaType":"text/plain"}]}}}`,
		taskID, base64.StdEncoding.EncodeToString([]byte(content)))
	return task.Observed{
		TaskID: taskID, Source: task.SourceStream, SourceKey: key,
		Observation: remote.Observation{Raw: []byte(payload), Payload: json.RawMessage(payload), Received: time.Now()},
	}
}

// opens returns the bytes as a person of an organisation gets them.
func (b *bench) opens(organisationID, digest string) (string, error) {
	b.Helper()
	blobs := &task.Blobs{View: store.For[task.BlobTx](b.db.View), Bytes: b.keeper}
	content, _, err := blobs.Open(context.Background(), access.System(organisationID), digest)
	if err != nil {
		return "", err
	}
	defer content.Close()
	read, err := io.ReadAll(content)
	return string(read), err
}

func (b *bench) holds(content string) {
	b.Helper()
	if got, err := b.opens(access.LocalOrganisation, digestOf(content)); err != nil || got != content {
		b.Errorf("the bytes are %q, %v; want %q", got, err, content)
	}
}

// object returns what the record knows of bytes.
func (b *bench) object(content string) artifact.Object {
	b.Helper()
	var o artifact.Object
	b.view(func(tx *store.Tx) (err error) {
		o, err = tx.Object(digestOf(content))
		return err
	})
	return o
}

// there reports whether an object is in the bucket.
func (b *bench) there(name string, size int) bool {
	b.Helper()
	there, err := b.bucket.Has(context.Background(), name, int64(size))
	if err != nil {
		b.Fatal(err)
	}
	return there
}

func (b *bench) exec(statement string, args ...any) {
	b.Helper()
	if err := b.db.Exec(context.Background(), statement, args...); err != nil {
		b.Fatal(err)
	}
}

// ages makes it long ago that bytes were used.
func (b *bench) ages(content string) {
	b.Helper()
	b.exec("UPDATE blob SET used_us = ? WHERE sha256 = ?", time.Now().Add(-25*time.Hour).UnixMicro(), digestOf(content))
}

func (b *bench) collects(want int) {
	b.Helper()
	if n, err := b.newKeeper().Collect(context.Background()); n != want || err != nil {
		b.Errorf("collected %d, %v; want %d", n, err, want)
	}
}

func (b *bench) keeps(k *artifact.Keeper, content string) string {
	b.Helper()
	name, err := k.Keep(context.Background(), digestOf(content), []byte(content))
	if err != nil {
		b.Fatalf("Keep: %v", err)
	}
	return name
}

func testBlobs(b *bench) {
	id, _ := b.task("t")
	b.ingest(brings(id, "s/0", "hello, bytes"))
	b.view(func(tx *store.Tx) error {
		artifacts, err := tx.Artifacts(id, 0)
		if err != nil {
			return err
		}
		text := "Here:"
		want := []a2a.Part{{Text: &text}, {Artifact: &a2a.Blob{SHA256: digestOf("hello, bytes"), Size: 12}, Filename: "h.txt", MediaType: "text/plain"}}
		if diff := cmp.Diff(want, artifacts[0].Parts); diff != "" {
			b.Errorf("parts (-want +got):\n%s", diff)
		}
		return nil
	})
	b.holds("hello, bytes")
	for _, digest := range []string{digestOf("hello, bytes"), digestOf("never seen")} {
		if _, err := b.opens("other", digest); fault.KindOf(err) != fault.NotFound || fault.Public(err).Message != "There is no such file." {
			b.Errorf("another organisation gets %v, want that there is no such file", err)
		}
	}
	if err := b.bucket.Delete(context.Background(), b.object("hello, bytes").Name); err != nil {
		b.Fatal(err)
	}
	if _, err := b.opens(access.LocalOrganisation, digestOf("hello, bytes")); fault.KindOf(err) != fault.Gone {
		b.Errorf("bytes that the bucket lost: %v, want that they are gone", err)
	}
	b.keeper = b.newKeeper()
	b.ingest(brings(id, "s/1", "hello, bytes"))
	b.holds("hello, bytes")
}

// testBytesBeforeTheRow stops at each step on the way in, as a crash does: nothing
// refers to bytes that are not there.
func testBytesBeforeTheRow(b *bench) {
	id, _ := b.task("t")
	prepared, err := task.Prepare(context.Background(), b.keeper, brings(id, "s/0", "first the bytes"))
	if err != nil {
		b.Fatal(err)
	}
	o := b.object("first the bytes")
	if !b.there(o.Name, 15) || o.Stored {
		b.Errorf("before the transaction: %+v, want the bytes in the bucket, and nothing that says so", o)
	}
	crash := errors.New("crash")
	err = b.db.Update(context.Background(), func(tx *store.Tx) error {
		_, err := task.Ingest(tx, newID, prepared)
		return errors.Join(err, crash)
	})
	if !errors.Is(err, crash) || b.object("first the bytes").Stored {
		b.Errorf("after %v the bytes count as stored", err)
	}
	b.ages("first the bytes")
	b.collects(1)
	if b.there(o.Name, 15) {
		b.Error("the orphan is still there")
	}
	// What was prepared that long ago cannot be taken in any more, but anew.
	if err := b.db.Update(context.Background(), func(tx *store.Tx) error {
		_, err := task.Ingest(tx, newID, prepared)
		return err
	}); err == nil {
		b.Error("a task refers to bytes that were collected")
	}
	b.keeper = b.newKeeper()
	b.ingest(brings(id, "s/0", "first the bytes"))
	b.holds("first the bytes")
}

func testOversizeBytes(b *bench) {
	id, _ := b.task("t")
	large := strings.Repeat("x", artifactLimit+1)
	message := func(key string) {
		b.hears(id, key, fmt.Sprintf(`{"statusUpdate":{"taskId":"remote-%s","status":{"state":"TASK_STATE_WORKING","message":{"messageId":"m","role":"ROLE_AGENT",
			"parts":[{"text":"See:"},{"raw":%q,"filename":"big.bin"},{"raw":"c21hbGw="}]}}}}`, id, base64.StdEncoding.EncodeToString([]byte(large))))
	}
	parts := func() (all [][]a2a.Part) {
		b.view(func(tx *store.Tx) error {
			messages, err := tx.Messages(id, 0)
			for _, m := range messages {
				all = append(all, m.Message.Parts)
			}
			return err
		})
		return all
	}
	message("s/0")
	text := "See:"
	want := [][]a2a.Part{{
		{Text: &text},
		{Artifact: &a2a.Blob{SHA256: digestOf(large), Size: artifactLimit + 1, Limit: artifactLimit}, Filename: "big.bin"},
		{Artifact: &a2a.Blob{SHA256: digestOf("small"), Size: 5}},
	}}
	if diff := cmp.Diff(want, parts()); diff != "" {
		b.Errorf("messages (-want +got):\n%s", diff)
	}
	if o := b.object(large); o.Name != "" {
		b.Errorf("the large bytes are known as %+v", o)
	}
	b.holds("small")
	// The same message under another limit is no other message.
	b.keeper.Limit *= 2
	message("s/1")
	if diff := cmp.Diff(want, parts()); diff != "" {
		b.Errorf("messages after the limit was raised (-want +got):\n%s", diff)
	}
	_, _, err := task.Detach(context.Background(), b.keeper, []a2a.Part{a2a.TextPart("a"), {Raw: make([]byte, 2*artifactLimit+1)}})
	if fault.KindOf(err) != fault.TooLarge || !strings.Contains(err.Error(), "200 bytes") || fault.Public(err).Fields[0].Location != "/parts/1/raw" {
		b.Errorf("a person's oversize part: %v, want a refusal with the limit and the place", err)
	}
}

func testSameBytesTwice(b *bench) {
	one, agentID := b.task("one")
	two := b.taskOf(agentID, "two")
	var all sync.WaitGroup
	for i, id := range []string{one, two, one, two} {
		all.Go(func() { b.ingest(brings(id, fmt.Sprint("s/", i), "the same")) })
	}
	all.Wait()
	name := b.object("the same").Name
	if again := b.keeps(b.newKeeper(), "the same"); again != name {
		b.Errorf("the same bytes are %s and %s", name, again)
	}
	b.holds("the same")
	if !strings.HasPrefix(name, digestOf("the same")[:2]+"/"+digestOf("the same")) {
		b.Errorf("the object is %s, want its digest in the name", name)
	}
}

func testCollection(b *bench) {
	id, _ := b.task("t")
	b.ingest(brings(id, "s/0", "referred to"))
	old, young := b.keeps(b.keeper, "old"), b.keeps(b.keeper, "young")
	b.ages("referred to")
	b.ages("old")
	b.collects(1)
	if b.there(old, 3) || !b.there(young, 5) || !b.there(b.object("referred to").Name, 11) {
		b.Error("what was collected is not what is old and not referred to")
	}
	b.holds("referred to")
	// Bytes that are asked for are used, however long ago they were last.
	b.ages("young")
	b.keeps(b.newKeeper(), "young")
	b.collects(0)
	// A collection that could not delete the bytes does so the next time.
	b.ages("young")
	b.update(func(tx *store.Tx) error {
		gone, err := tx.DropObject(digestOf("young"), time.Now())
		if !gone {
			b.Error("not dropped")
		}
		return err
	})
	b.collects(0)
	if b.there(young, 5) {
		b.Error("the bytes of a dropped object are still there")
	}
}

// testCollectionRace has collections and uploads of the same bytes at once: whatever
// is referred to is there in the end.
func testCollectionRace(b *bench) {
	id, _ := b.task("t")
	ctx := context.Background()
	const rounds = 12
	for round := range rounds {
		content := fmt.Sprint("racing ", round)
		b.keeps(b.newKeeper(), content)
		b.ages(content)
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := b.newKeeper().Collect(ctx); err != nil {
				b.Errorf("Collect: %v", err)
			}
		})
		all.Go(func() {
			prepared, err := task.Prepare(ctx, b.newKeeper(), brings(id, fmt.Sprint("s/", round), content))
			if err == nil {
				err = b.db.Update(ctx, func(tx *store.Tx) error {
					_, err := task.Ingest(tx, newID, prepared)
					return err
				})
			}
			if err != nil {
				b.Errorf("round %d: %v", round, err)
			}
		})
		all.Wait()
		b.collects(0)
		b.holds(content)
	}
}

// testLateDelete: a collector that is slow to delete does not hit who brings the
// same bytes meanwhile, nor does a drop that waits for a transaction that refers to them.
func testLateDelete(b *bench) {
	id, _ := b.task("t")
	first := b.keeps(b.newKeeper(), "twice")
	b.ages("twice")
	b.update(func(tx *store.Tx) error {
		_, err := tx.DropObject(digestOf("twice"), time.Now())
		return err
	})
	b.ingest(brings(id, "s/0", "twice"))
	b.collects(0) // deletes what was dropped
	b.holds("twice")
	if second := b.object("twice").Name; second == first || b.there(first, 5) {
		b.Errorf("the object is %s, was %s; want another one, and the first deleted", second, first)
	}
	b.ages("twice")
	b.update(func(tx *store.Tx) error {
		gone, err := tx.DropObject(digestOf("twice"), time.Now())
		if gone {
			b.Error("bytes that a task refers to were dropped")
		}
		return err
	})
}

func testMoveOutOfTheDatabase(b *bench) {
	id, _ := b.task("t")
	contents := []string{"kept in a row", "", strings.Repeat("y", 3*artifactLimit)}
	for i, content := range contents {
		b.exec("INSERT INTO blob (sha256, size, content, created_us) VALUES (?, ?, ?, ?)", digestOf(content), len(content), []byte(content), i)
		b.exec("INSERT INTO task_blob (task_id, sha256, filename, media_type) VALUES (?, ?, 'f', '')", id, digestOf(content))
		b.holds(content)
	}
	b.ingest(brings(id, "s/0", "kept in a row")) // comes again before it is moved
	b.holds("kept in a row")
	for _, want := range []int{3, 0} {
		if moved, err := b.keeper.Move(context.Background()); moved != want || err != nil {
			b.Errorf("moved %d, %v; want %d", moved, err, want)
		}
	}
	for _, content := range contents {
		b.holds(content)
		if o := b.object(content); !o.Stored || !b.there(o.Name, len(content)) {
			b.Errorf("%.10q is %+v, want it in the bucket", content, o)
		}
	}
	b.collects(0)
	b.view(func(tx *store.Tx) error {
		_, content, more, err := tx.ObjectInRow()
		if more {
			b.Errorf("%q is still in the database", content)
		}
		return err
	})
}

func testReferencedBytes(b *bench) {
	id, _ := b.task("t")
	var want []string
	for i := range 3 {
		content := fmt.Sprint("content ", i)
		b.ingest(brings(id, fmt.Sprint("s/", i), content))
		want = append(want, digestOf(content))
	}
	b.keeps(b.keeper, "an orphan")
	slices.Sort(want)
	var got []string
	err := b.keeper.Each(context.Background(), func(o artifact.Object) error {
		got = append(got, o.SHA256)
		content, _, err := b.keeper.OpenDigest(context.Background(), o.SHA256)
		if err != nil {
			return err
		}
		defer content.Close()
		read, err := io.ReadAll(content)
		if !bytes.HasPrefix(read, []byte("content ")) || int64(len(read)) != o.Size {
			b.Errorf("object %+v is %q", o, read)
		}
		return err
	})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		b.Errorf("Each: %v (-want +got):\n%s", err, diff)
	}
	if _, _, err := b.keeper.OpenDigest(context.Background(), digestOf("an orphan")); fault.KindOf(err) != fault.NotFound {
		b.Errorf("an orphan: %v, want not found", err)
	}
}

func testTurns(b *bench) {
	take := func(next time.Duration) (mine bool) {
		b.update(func(tx *store.Tx) (err error) {
			mine, err = tx.TakeTurn("sweep", tx.Now().Add(next))
			return err
		})
		return mine
	}
	if got := []bool{take(-time.Second), take(time.Hour), take(time.Hour)}; !slices.Equal(got, []bool{true, true, false}) {
		b.Errorf("turns %v, want the third to be too early", got)
	}
}
