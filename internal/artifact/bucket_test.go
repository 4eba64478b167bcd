package artifact_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/agent-taskbay/taskbay/internal/artifact"
	"github.com/agent-taskbay/taskbay/internal/artifact/artifacttest"
)

const object = "ab/abcd-1"

// TestBuckets has each kind of bucket do the same.
func TestBuckets(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) *artifact.Bucket{
		"memory": func(t *testing.T) *artifact.Bucket { return artifacttest.Memory(t) },
		"files":  func(t *testing.T) *artifact.Bucket { return openBucket(t, artifact.Options{}) },
		"S3": func(t *testing.T) *artifact.Bucket {
			return openBucket(t, artifact.Options{URL: fakeS3URL(t, "kept", "")})
		},
		"S3 with a prefix": func(t *testing.T) *artifact.Bucket {
			return openBucket(t, artifact.Options{URL: fakeS3URL(t, "kept", "&prefix=taskbay/")})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testBucket(t, open(t))
		})
	}
}

func testBucket(t *testing.T, b *artifact.Bucket) {
	ctx := context.Background()
	content := bytes.Repeat([]byte("0123456789"), 700_000) // of several parts, as S3 counts them
	size := int64(len(content))
	has := func(object string, size int64) bool {
		t.Helper()
		there, err := b.Has(ctx, object, size)
		if err != nil {
			t.Fatal(err)
		}
		return there
	}
	if has(object, size) {
		t.Error("an object is there that nobody wrote")
	}
	if _, err := b.Open(ctx, object, size); !errors.Is(err, artifact.ErrMissing) {
		t.Errorf("Open: %v, want that it is missing", err)
	}
	broken := errors.New("broken")
	if err := b.Write(ctx, object, io.MultiReader(bytes.NewReader(content[:100]), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("Write: %v, want what broke it", err)
	}
	if has(object, 100) {
		t.Error("half an object is there")
	}
	for range 2 { // the second time nothing changes
		if err := b.Write(ctx, object, bytes.NewReader(content)); err != nil {
			t.Fatal(err)
		}
	}
	if !has(object, size) || has(object, size-1) {
		t.Error("the object is not there in its size")
	}
	readAnywhere(t, b, content)
	other := "ab/abcd-2"
	if err := b.Write(ctx, other, strings.NewReader("")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := b.Delete(ctx, object); err != nil {
			t.Errorf("Delete: %v", err)
		}
	}
	if has(object, size) || !has(other, 0) {
		t.Error("not the one object was deleted")
	}
	if err := b.Delete(ctx, ""); err == nil || !has(other, 0) {
		t.Error("an object without a name was deleted")
	}
}

func readAnywhere(t *testing.T, b *artifact.Bucket, content []byte) {
	t.Helper()
	r, err := b.Open(context.Background(), object, int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, offset := range []int64{0, 4_000_000, 10, int64(len(content)), int64(len(content)) + 5, 3} {
		if _, err := r.Seek(offset, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if want := content[min(offset, int64(len(content))):]; err != nil || !bytes.Equal(got, want) {
			t.Errorf("from %d: %d bytes, %v; want %d", offset, len(got), err, len(want))
		}
	}
	if end, err := r.Seek(-1, io.SeekEnd); end != int64(len(content))-1 || err != nil {
		t.Errorf("the end is at %d, %v", end, err)
	}
	if _, err := r.Seek(-1, io.SeekStart); err == nil {
		t.Error("there is something before the start")
	}
}

func openBucket(t *testing.T, o artifact.Options) *artifact.Bucket {
	t.Helper()
	b, err := o.Open(context.Background(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// fakeS3URL runs a server that speaks S3 and returns the URL of a bucket there.
func fakeS3URL(t *testing.T, bucket, rest string) string {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("kept"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	return "s3://" + bucket + "?region=us-east-1&anonymous=true&endpoint=" + url.QueryEscape(server.URL) + rest
}

// TestFiles: only their owner reads them, and there is nothing beside them.
func TestFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "deep", "in")
	b := openBucket(t, artifact.Options{URL: "file://" + filepath.ToSlash(dir)})
	if err := b.Write(context.Background(), object, strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	// What a process that died while it wrote the object leaves.
	draft := filepath.Join(dir, "ab", "abcd-1.18a0b1.tmp")
	if err := os.WriteFile(draft, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	found := map[string]fs.FileMode{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		name, _ := filepath.Rel(dir, path)
		found[filepath.ToSlash(name)] = info.Mode().Perm()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 4 || found["."] != 0o700 || found["ab"] != 0o700 || found[object] != 0o600 {
		t.Errorf("files %v, want one, and its directories, for their owner alone", found)
	}
	if err := b.Delete(context.Background(), object); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(filepath.Join(dir, "ab"))
	if len(left) != 0 || err != nil {
		t.Errorf("left over: %v, %v", left, err)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options artifact.Options
		want    string // in the error; "" for none
	}{
		"nothing":            {artifact.Options{}, ""},
		"a directory":        {artifact.Options{URL: "file:///srv/artifacts"}, ""},
		"a bucket":           {artifact.Options{URL: "s3://b?region=eu-central-1", MaxMiB: 1024}, ""},
		"memory":             {artifact.Options{URL: "mem://"}, "what works is file:// and s3://"},
		"another store":      {artifact.Options{URL: "gs://b"}, "what works is file:// and s3://"},
		"a path":             {artifact.Options{URL: "/srv/artifacts"}, "what works is file:// and s3://"},
		"a relative path":    {artifact.Options{URL: "file://srv/artifacts"}, "absolute directory"},
		"an option of files": {artifact.Options{URL: "file:///srv?metadata=skip"}, "absolute directory"},
		"no bucket":          {artifact.Options{URL: "s3:///b"}, "names a bucket"},
		"a path in a bucket": {artifact.Options{URL: "s3://b/c"}, "prefix=NAME/"},
		"no URL":             {artifact.Options{URL: "s3://%zz:hush"}, "is no URL"},
		"a password":         {artifact.Options{URL: "s3://id:hush@b"}, "AWS_ACCESS_KEY_ID"},
		"too much":           {artifact.Options{MaxMiB: 1025}, "1 to 1024"},
		"less than nothing":  {artifact.Options{MaxMiB: -1}, "1 to 1024"},
	} {
		err := test.options.Validate()
		if (err == nil) != (test.want == "") || err != nil && (!strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hush")) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	if got := (artifact.Options{}).Limit(); got != 64<<20 {
		t.Errorf("the limit is %d if nothing is said, want 64 MiB", got)
	}
}

// TestABucketThatCannotBeUsed: it is found out at start.
func TestABucketThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ url, want string }{
		"no such bucket":       {fakeS3URL(t, "other", ""), "s3://other cannot be used"},
		"no directory":         {"file://" + filepath.ToSlash(file), "directory of artifacts"},
		"an option S3 has not": {fakeS3URL(t, "kept", "&colour=red"), "colour"},
	} {
		b, err := artifact.Options{URL: test.url}.Open(context.Background(), t.TempDir())
		if err == nil {
			t.Errorf("%s: opened %s", name, b)
		} else if !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q in it", name, err, test.want)
		}
	}
}
