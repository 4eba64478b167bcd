package backup

import (
	"archive/tar"
	"bufio"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Kind is what an entry of an archive is.
type Kind string

// The kinds.
const (
	Keys     Kind = "keys"
	Database Kind = "database"
	Artifact Kind = "artifact"
)

// Entry is a file of an archive. Reading it to its end gives io.EOF only if it is
// whole and has the digest that it should have.
type Entry struct {
	io.Reader
	Kind   Kind
	Object string // the name of an artifact's object; else ""
	Size   int64  // bytes
}

// Reader reads an archive that anybody may have made.
type Reader struct {
	Manifest Manifest

	tar    *tar.Reader
	zip    *gzip.Reader
	next   Kind // that may come; artifacts come last
	last   string
	count  int64 // artifacts that have come
	bytes  int64 // of them
	opened *Entry
}

// NewReader reads the manifest. What would take more than most bytes, unpacked, is an
// error, as is what a newer Taskbay made. Errors are for the person who named the file.
func NewReader(from io.Reader, most int64) (*Reader, error) {
	zip, err := gzip.NewReader(bufio.NewReaderSize(from, 64<<10))
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errNoBackup
	}
	if err != nil {
		return nil, unread(err)
	}
	zip.Multistream(false)
	r := &Reader{zip: zip, tar: tar.NewReader(zip), next: Keys}
	header, err := r.tar.Next()
	switch {
	case errors.Is(err, tar.ErrHeader), errors.Is(err, io.EOF), err == nil && header.Name != manifestName:
		return nil, errNoBackup
	case err != nil:
		return nil, unread(err)
	case header.Typeflag != tar.TypeReg || header.Size > maxManifest:
		return nil, damaged("its manifest is too large")
	}
	raw, err := io.ReadAll(r.tar)
	if err != nil {
		return nil, unread(err)
	}
	if r.Manifest, err = readManifest(raw); err != nil {
		return nil, err
	}
	if size := r.Manifest.Size(); size > most {
		return nil, fmt.Errorf("the backup would take %d bytes, and at most %d are taken: allow more if you know where it comes from", size, most)
	}
	if r.Manifest.Keys == nil {
		r.next = Database
	}
	return r, nil
}

// Next returns the next entry, whose bytes are those of this until it is called again.
// It returns io.EOF once everything that the manifest promises has come, and no more.
func (r *Reader) Next() (*Entry, error) {
	if r.opened != nil { // what nobody read is looked at all the same
		if _, err := io.Copy(io.Discard, r.opened); err != nil {
			return nil, err
		}
		r.opened = nil
	}
	header, err := r.tar.Next()
	if errors.Is(err, io.EOF) {
		return nil, r.end()
	}
	if err != nil {
		return nil, unread(err)
	}
	if header.Typeflag != tar.TypeReg {
		return nil, damaged("%q in it is no file", header.Name)
	}
	r.opened, err = r.entry(header)
	return r.opened, err
}

func (r *Reader) entry(header *tar.Header) (*Entry, error) {
	m := r.Manifest
	promised := func(kind Kind, file File) (*Entry, error) {
		if header.Size != file.Size {
			return nil, damaged("%s in it has not the size that the manifest says", header.Name)
		}
		return &Entry{Reader: verified(readable{r.tar}, file, header.Name), Kind: kind, Size: file.Size}, nil
	}
	switch name, isArtifact := strings.CutPrefix(header.Name, artifactsDir); {
	case r.next == Keys && header.Name == keysName:
		r.next = Database
		return promised(Keys, *m.Keys)
	case r.next == Database && header.Name == databaseName:
		r.next = Artifact
		return promised(Database, m.Database)
	case r.next == Artifact && isArtifact && digestOf(name) != "" && name > r.last:
		r.last = name
		r.count++
		if r.count > m.Artifacts.Count || header.Size > m.Artifacts.Bytes-r.bytes {
			return nil, damaged("it has more artifacts than the manifest says")
		}
		r.bytes += header.Size
		entry, err := promised(Artifact, File{digestOf(name), header.Size})
		if err == nil {
			entry.Object = name
		}
		return entry, err
	}
	return nil, damaged("%q does not belong where it is", header.Name)
}

// end returns io.EOF if everything came, and nothing is behind it.
func (r *Reader) end() error {
	a := r.Manifest.Artifacts
	if r.next != Artifact || r.count != a.Count || r.bytes != a.Bytes {
		return damaged("it does not hold all that its manifest says")
	}
	switch n, err := io.CopyN(io.Discard, r.zip, 1); { // which checks the sum of all
	case n > 0:
		return damaged("something is behind its end")
	case errors.Is(err, io.EOF):
		return io.EOF
	default:
		return unread(err)
	}
}

// readable says in words what is wrong with an archive.
type readable struct{ from io.Reader }

// Read implements io.Reader.
func (r readable) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = unread(err)
	}
	return n, err
}

func unread(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return damaged("it ends before its end: it was not copied whole")
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader), errors.Is(err, tar.ErrHeader), errors.As(err, &corrupt):
		return damaged("%w", err)
	}
	return fmt.Errorf("the backup cannot be read: %w", err)
}
