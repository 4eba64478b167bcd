// Package artifact keeps the bytes that come with tasks: files that agents make
// and people send. They are in a bucket, a directory or S3, named by their
// SHA-256; the record refers to them. Bytes are in the bucket, whole and durable,
// before the transaction that refers to them begins, and no transaction waits for
// a bucket. What nothing refers to is collected.
package artifact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// ErrMissing says that a bucket does not have an object, or not all of it.
var ErrMissing = errors.New("the bytes are missing")

// Bucket is where the objects are.
type Bucket struct {
	objects *blob.Bucket
	dir     string // of a bucket of files; else ""
	place   string // for people
}

// Wrap makes a Bucket of one that is open. Close closes it.
func Wrap(objects *blob.Bucket, place string) *Bucket { return &Bucket{objects: objects, place: place} }

// String names the bucket for people.
func (b *Bucket) String() string { return b.place }

// Close lets go of it.
func (b *Bucket) Close() error { return b.objects.Close() }

// Write puts an object in its place, whole or not at all. When it returns nil,
// the object outlives a power cut.
func (b *Bucket) Write(ctx context.Context, object string, content io.Reader) error {
	var draft *os.File // of a bucket of files
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // a writer that is closed after this writes nothing
	w, err := b.objects.NewWriter(ctx, object, &blob.WriterOptions{
		ContentType: "application/octet-stream", // which also keeps the library from looking for a better one
		BeforeWrite: func(as func(any) bool) error {
			if b.dir != "" && as(&draft) {
				return draft.Chmod(0o600)
			}
			return nil
		},
	})
	if err != nil {
		return fmt.Errorf("write to %s: %w", b.place, err)
	}
	_, err = io.Copy(w, content)
	if err == nil && draft != nil {
		err = draft.Sync() // before it is renamed, so that the name never stands for less
	}
	if err != nil {
		cancel()
		return errors.Join(fmt.Errorf("write to %s: %w", b.place, err), ignoreCanceled(w.Close()))
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("write to %s: %w", b.place, err)
	}
	return b.syncNames(object)
}

func ignoreCanceled(err error) error {
	if errors.Is(err, context.Canceled) || gcerrors.Code(err) == gcerrors.Canceled {
		return nil
	}
	return err
}

// syncNames makes the names durable that lead to an object in a bucket of files.
func (b *Bucket) syncNames(object string) error {
	if b.dir == "" || runtime.GOOS == "windows" { // where directories cannot be synced
		return nil
	}
	for _, path := range []string{filepath.Join(b.dir, filepath.Dir(filepath.FromSlash(object))), b.dir} {
		dir, err := os.Open(path)
		if err != nil {
			return fmt.Errorf("sync a directory of artifacts: %w", err)
		}
		if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
			return fmt.Errorf("sync a directory of artifacts: %w", err)
		}
	}
	return nil
}

// Has reports whether an object of that many bytes is there.
func (b *Bucket) Has(ctx context.Context, object string, size int64) (bool, error) {
	attributes, err := b.objects.Attributes(ctx, object)
	switch {
	case gcerrors.Code(err) == gcerrors.NotFound:
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look into %s: %w", b.place, err)
	}
	return attributes.Size == size, nil
}

// Open returns an object of that many bytes; ErrMissing if it is not there like
// that. Nothing is read before the first Read, and then from where Seek went. The
// caller closes it; ctx must last until then.
func (b *Bucket) Open(ctx context.Context, object string, size int64) (io.ReadSeekCloser, error) {
	there, err := b.Has(ctx, object, size)
	if err == nil && !there {
		err = ErrMissing
	}
	if err != nil {
		return nil, err
	}
	return &reader{ctx: ctx, bucket: b, object: object, size: size}, nil
}

// Delete removes an object, and what a process that died while it wrote the
// object left of it. One that is not there is no error.
func (b *Bucket) Delete(ctx context.Context, object string) error {
	if object == "" {
		return errors.New("delete an artifact without a name") // every name begins like this
	}
	listed := b.objects.List(&blob.ListOptions{Prefix: object})
	for {
		found, err := listed.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("list %s: %w", b.place, err)
		}
		if err := b.objects.Delete(ctx, found.Key); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
			return fmt.Errorf("delete from %s: %w", b.place, err)
		}
	}
}

// reader reads an object from any place, with one request for each run of reads.
type reader struct {
	ctx    context.Context
	bucket *Bucket
	object string
	size   int64
	at     int64
	open   *blob.Reader // at the place at; nil before the first Read after a Seek
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	if r.at >= r.size {
		return 0, io.EOF
	}
	if r.open == nil {
		open, err := r.bucket.objects.NewRangeReader(r.ctx, r.object, r.at, -1, nil)
		if err != nil {
			return 0, fmt.Errorf("read from %s: %w", r.bucket.place, err)
		}
		r.open = open
	}
	n, err := r.open.Read(p)
	r.at += int64(n)
	if errors.Is(err, io.EOF) && r.at < r.size {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Seek implements io.Seeker.
func (r *reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.size
	}
	if offset < 0 {
		return 0, errors.New("seek before the start of an artifact")
	}
	if offset == r.at {
		return offset, nil
	}
	r.at = offset
	return offset, r.Close()
}

// Close implements io.Closer.
func (r *reader) Close() error {
	if r.open == nil {
		return nil
	}
	open := r.open
	r.open = nil
	return open.Close()
}
