package backup_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/backup"
)

func fileOf(content string) backup.File {
	sum := sha256.Sum256([]byte(content))
	return backup.File{SHA256: hex.EncodeToString(sum[:]), Size: int64(len(content))}
}

// objectOf is the name of an artifact of that content.
func objectOf(content string) string {
	sum := fileOf(content).SHA256
	return sum[:2] + "/" + sum + "-0193"
}

const database, keys, picture = "a database", "k:00", "a picture"

func manifest() backup.Manifest {
	k := fileOf(keys)
	return backup.Manifest{
		Format: backup.Format, Taskbay: "test", Schema: 1, Database: fileOf(database), Keys: &k,
		Artifacts: backup.Artifacts{Count: 1, Bytes: int64(len(picture))},
	}
}

func whole(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := backup.NewWriter(&out, manifest())
	for _, step := range []func() error{
		func() error { return w.Keys([]byte(keys)) },
		func() error { return w.Database(strings.NewReader(database)) },
		func() error { return w.Artifact(objectOf(picture), int64(len(picture)), strings.NewReader(picture)) },
		func() error { return w.Close() },
	} {
		if err == nil {
			err = step()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// read reads an archive to its end.
func read(archive []byte, most int64) (content map[string]string, err error) {
	r, err := backup.NewReader(bytes.NewReader(archive), most)
	if err != nil {
		return nil, err
	}
	content = map[string]string{}
	for {
		entry, err := r.Next()
		if errors.Is(err, io.EOF) {
			return content, nil
		}
		if err != nil {
			return content, err
		}
		raw, err := io.ReadAll(entry)
		if err != nil {
			return content, err
		}
		content[string(entry.Kind)+" "+entry.Object] = string(raw)
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	got, err := read(whole(t), 1000)
	want := map[string]string{"keys ": keys, "database ": database, "artifact " + objectOf(picture): picture}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("read: %v; (-want +got):\n%s", err, diff)
	}
}

// TestDamage cuts an archive anywhere and changes each of its bytes that means
// anything: it never reads as if it were whole with other content.
func TestDamage(t *testing.T) {
	t.Parallel()
	archive := whole(t)
	want, err := read(archive, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for n := range archive {
		if _, err := read(archive[:n], 1000); err == nil {
			t.Errorf("cut to %d of %d bytes, it is read", n, len(archive))
		}
		changed := bytes.Clone(archive)
		changed[n] ^= 0x10
		if got, err := read(changed, 1000); err == nil && !cmp.Equal(want, got) {
			t.Errorf("with byte %d changed, it is read as %v", n, got)
		}
	}
}

// entry is an entry of an archive that somebody made by hand.
type entry struct {
	header  tar.Header
	content string
}

func file(name, content string) entry {
	return entry{tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(content))}, content}
}

func made(t *testing.T, m backup.Manifest, entries ...entry) []byte {
	t.Helper()
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	w := tar.NewWriter(zip)
	for _, e := range append([]entry{file("manifest.json", string(raw))}, entries...) {
		e.header.Mode = 0o600
		if err := w.WriteHeader(&e.header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestHostile(t *testing.T) {
	t.Parallel()
	k, d, p := file("vault.key", keys), file("taskbay.db", database), file("artifacts/"+objectOf(picture), picture)
	change := func(f func(*backup.Manifest)) backup.Manifest {
		m := manifest()
		f(&m)
		return m
	}
	at := func(name string) entry { return file(name, picture) }
	link := entry{header: tar.Header{Typeflag: tar.TypeSymlink, Name: "artifacts/" + objectOf(picture), Linkname: "/etc/passwd"}}
	for name, test := range map[string]struct {
		manifest backup.Manifest
		entries  []entry
		want     string
	}{
		"newer format":      {change(func(m *backup.Manifest) { m.Format = 2 }), []entry{k, d, p}, "use a newer taskbay"},
		"no format":         {change(func(m *backup.Manifest) { m.Format = 0 }), []entry{k, d, p}, "what cannot be"},
		"huge database":     {change(func(m *backup.Manifest) { m.Database.Size = 1 << 50 }), []entry{k, d, p}, "at most 1000"},
		"overflowing":       {change(func(m *backup.Manifest) { m.Artifacts.Bytes = 1<<63 - 1 }), []entry{k, d, p}, "what cannot be"},
		"negative":          {change(func(m *backup.Manifest) { m.Database.Size = -1 }), []entry{k, d, p}, "what cannot be"},
		"huge keys":         {change(func(m *backup.Manifest) { m.Keys.Size = 1 << 20 }), []entry{k, d, p}, "what cannot be"},
		"no database":       {manifest(), []entry{k, p}, "does not belong"},
		"nothing":           {manifest(), nil, "all that its manifest says"},
		"artifact missing":  {manifest(), []entry{k, d}, "all that its manifest says"},
		"artifact twice":    {manifest(), []entry{k, d, p, p}, "does not belong"},
		"another artifact":  {manifest(), []entry{k, d, p, file("artifacts/"+strings.Replace(objectOf(picture), "0193", "0194", 1), picture)}, "more artifacts"},
		"keys not promised": {change(func(m *backup.Manifest) { m.Keys = nil }), []entry{k, d, p}, "does not belong"},
		"database changed":  {manifest(), []entry{k, file("taskbay.db", "b database"), p}, "another SHA-256"},
		"database longer":   {manifest(), []entry{k, file("taskbay.db", database+"!"), p}, "not the size"},
		"artifact changed":  {manifest(), []entry{k, d, file("artifacts/"+objectOf(picture), "b picture")}, "another SHA-256"},
		"up":                {manifest(), []entry{k, d, at("artifacts/../../" + objectOf(picture))}, "does not belong"},
		"root":              {manifest(), []entry{k, d, at("/artifacts/" + objectOf(picture))}, "does not belong"},
		"elsewhere":         {manifest(), []entry{k, d, at("artifacts/00/" + objectOf(picture)[3:])}, "does not belong"},
		"link":              {manifest(), []entry{k, d, link}, "is no file"},
	} {
		if _, err := read(made(t, test.manifest, test.entries...), 1000); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, test.want)
		}
	}
	for name, raw := range map[string][]byte{"nothing": nil, "text": []byte("hello"), "other": gzipped(t, "hello"), "manifest alone": gzipped(t, strings.Repeat("x", 4096))} {
		if _, err := read(raw, 1000); err == nil {
			t.Errorf("%s is read as a backup", name)
		}
	}
}

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	_, err := io.WriteString(zip, text)
	if err := errors.Join(err, zip.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestWhatIsPromisedIsWritten: no archive is made that does not hold what its
// manifest says.
func TestWhatIsPromisedIsWritten(t *testing.T) {
	t.Parallel()
	w, err := backup.NewWriter(io.Discard, manifest())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Artifact(objectOf(picture), int64(len(picture)), strings.NewReader("b picture")); err == nil {
		t.Error("other bytes than those of its name were taken for an artifact")
	}
	if err := w.Close(); err == nil {
		t.Error("an archive without its keys was ended")
	}
}
