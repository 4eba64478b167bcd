package backup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"
)

// Writer writes an archive: what the manifest says, in the order keys, database,
// artifacts, and then Close.
type Writer struct {
	zip  *gzip.Writer
	tar  *tar.Writer
	at   time.Time
	left Manifest // what is still to come
}

// NewWriter begins an archive with its manifest, whose format it sets.
func NewWriter(w io.Writer, m Manifest) (*Writer, error) {
	zip, err := gzip.NewWriterLevel(w, gzip.BestSpeed) // artifacts are mostly compressed already
	if err != nil {
		return nil, err
	}
	m.Format = Format
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the manifest: %w", err)
	}
	out := &Writer{zip: zip, tar: tar.NewWriter(zip), at: m.CreatedAt, left: m}
	return out, out.entry(manifestName, int64(len(raw)), bytes.NewReader(raw))
}

// Keys adds the file of the vault's keys.
func (w *Writer) Keys(content []byte) error {
	keys := w.left.Keys
	if keys == nil {
		return errors.New("the manifest has no keys")
	}
	w.left.Keys = nil
	return w.entry(keysName, keys.Size, verified(bytes.NewReader(content), *keys, keysName))
}

// Database adds the database.
func (w *Writer) Database(content io.Reader) error {
	return w.entry(databaseName, w.left.Database.Size, verified(content, w.left.Database, databaseName))
}

// Artifact adds the bytes of an artifact, which must have the SHA-256 in its name.
func (w *Writer) Artifact(name string, size int64, content io.Reader) error {
	sum := digestOf(name)
	if sum == "" {
		return fmt.Errorf("%q is no name of an artifact", name)
	}
	w.left.Artifacts.Count--
	w.left.Artifacts.Bytes -= size
	return w.entry(artifactsDir+name, size, verified(content, File{sum, size}, name))
}

// Close ends the archive. It does not close what is written to.
func (w *Writer) Close() error {
	if w.left.Keys != nil || w.left.Artifacts.Count != 0 || w.left.Artifacts.Bytes != 0 {
		return errors.New("the archive does not hold what its manifest says")
	}
	return errors.Join(w.tar.Close(), w.zip.Close())
}

func (w *Writer) entry(name string, size int64, content io.Reader) error {
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: w.at, Format: tar.FormatPAX}
	if err := w.tar.WriteHeader(header); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if _, err := io.Copy(w.tar, content); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// verifier passes bytes on and ends with an error unless they are those of a file.
type verifier struct {
	from io.Reader
	want File
	name string
	sum  hash.Hash
	seen int64
}

func verified(from io.Reader, want File, name string) io.Reader {
	return &verifier{from: from, want: want, name: name, sum: sha256.New()}
}

// Read implements io.Reader.
func (v *verifier) Read(p []byte) (int, error) {
	n, err := v.from.Read(p)
	v.seen += int64(n)
	_, _ = v.sum.Write(p[:n]) // never fails
	switch {
	case v.seen > v.want.Size, errors.Is(err, io.EOF) && v.seen != v.want.Size:
		return n, fmt.Errorf("%s does not have the %d bytes that it should have", v.name, v.want.Size)
	case errors.Is(err, io.EOF) && hex.EncodeToString(v.sum.Sum(nil)) != v.want.SHA256:
		return n, fmt.Errorf("%s is not what it should be: its bytes have another SHA-256", v.name)
	}
	return n, err
}

// Digest reads to the end and returns the size and SHA-256.
func Digest(r io.Reader) (File, error) {
	sum := sha256.New()
	n, err := io.Copy(sum, r)
	return File{SHA256: hex.EncodeToString(sum.Sum(nil)), Size: n}, err
}
