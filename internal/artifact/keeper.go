package artifact

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

// Object is bytes of which the record knows.
type Object struct {
	SHA256 string // 64 lower-case hexadecimal digits
	Size   int64
	Name   string    // in the bucket
	Stored bool      // a committed transaction referred to it, so it was whole and durable
	UsedAt time.Time // when it was last asked for
}

// Tx is a transaction of the record as the package needs it.
type Tx interface {
	Now() time.Time
	// Object returns what the record knows of the bytes; Name is "" if nothing.
	Object(sha256 string) (Object, error)
	// ReserveObject makes bytes known under a name, unless they have one, and marks
	// them as used now. It returns what the record knows of them then.
	ReserveObject(sha256 string, size int64, name string) (Object, error)
	// UnusedObjects returns objects that nothing refers to and nobody has used since
	// before, in the order of their digests, after one.
	UnusedObjects(before time.Time, after string, limit int) ([]Object, error)
	// DropObject forgets an object, if still nothing refers to it and nobody has used
	// it, and makes its name garbage. It reports whether it did.
	DropObject(sha256 string, before time.Time) (bool, error)
	// Garbage returns names of dropped objects whose bytes are to be deleted.
	Garbage(limit int) (names []string, err error)
	ForgetGarbage(name string) error
	// ObjectInRow returns bytes that are still in the database; ok is false if there
	// are none.
	ObjectInRow() (o Object, content []byte, ok bool, err error)
	// ObjectMoved says that bytes are in the bucket now, and no longer in the database.
	ObjectMoved(sha256, name string) error
	// ReferencedObjects returns the objects in the bucket that tasks refer to, in the
	// order of their digests, after one.
	ReferencedObjects(after string, limit int) ([]Object, error)
	// LatestObject returns one that was stored last; Name is "" if there is none.
	LatestObject() (Object, error)
	// TakeTurn reports whether it is this process's turn to do what name says, which
	// makes the next turn no earlier than next.
	TakeTurn(name string, next time.Time) (bool, error)
}

// What the keeper keeps to.
const (
	grace      = 24 * time.Hour // for bytes to be referred to, after they were used last
	fresh      = grace / 2      // for which a use is not written down again
	rememberIn = time.Hour      // for which this process takes it that an object is there
	remembered = 10_000         // objects
)

// Keeper keeps bytes in a bucket, and what is known of them in the record.
//
// Each object has a name of its own, "ab/abcd…-ID" with the SHA-256 and an ID. It
// is known to the record before its first byte is written, and is never used again
// once the record has forgotten it. So whoever deletes the bytes of a forgotten
// name, however late, cannot hit those of another who brings the same bytes anew.
type Keeper struct {
	Update func(context.Context, func(Tx) error) error
	View   func(context.Context, func(Tx) error) error
	Bucket *Bucket
	Limit  int64 // bytes of an artifact
	NewID  func() string
	Log    *slog.Logger

	mu   sync.Mutex
	here map[string]held // by digest
}

// held is an object that was in the bucket at a time, and used not long before.
type held struct {
	name string
	at   time.Time
}

// MaxSize implements task.Bytes.
func (k *Keeper) MaxSize() int64 { return k.Limit }

// Keep puts bytes into the bucket, unless they are there, and returns their name.
// They stay for 12 hours at least; a transaction that refers to them within that
// time makes them stay for good. sha256 must be theirs.
//
// A bucket that does not take them is fault.Unavailable.
func (k *Keeper) Keep(ctx context.Context, sha256 string, content []byte) (name string, err error) {
	if name := k.remembered(sha256); name != "" {
		return name, nil
	}
	size := int64(len(content))
	var known Object
	var now time.Time
	err = k.View(ctx, func(tx Tx) (err error) {
		now = tx.Now()
		known, err = tx.Object(sha256)
		return err
	})
	if err != nil {
		return "", err
	}
	if !known.Stored || now.Sub(known.UsedAt) > fresh {
		err := k.Update(ctx, func(tx Tx) (err error) {
			known, err = tx.ReserveObject(sha256, size, sha256[:2]+"/"+sha256+"-"+k.NewID())
			return err
		})
		if err != nil {
			return "", err
		}
	}
	there := false
	if known.Stored { // else nobody knows whether what is there is whole
		there, err = k.Bucket.Has(ctx, known.Name, size)
	}
	if err == nil && !there {
		err = k.Bucket.Write(ctx, known.Name, bytes.NewReader(content))
	}
	if err != nil {
		return "", fault.Wrap(err, fault.Unavailable, "A file could not be stored, as the place for files does not answer as it should. Try again later.")
	}
	k.remember(sha256, known.Name)
	return known.Name, nil
}

func (k *Keeper) remembered(sha256 string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	h := k.here[sha256]
	if time.Since(h.at) > rememberIn {
		return ""
	}
	return h.name
}

func (k *Keeper) remember(sha256, name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.here == nil || len(k.here) >= remembered {
		k.here = make(map[string]held)
	}
	k.here[sha256] = held{name, time.Now()}
}

// Open returns an object by its name in the bucket. The caller closes it; ctx must
// last until then. Whether somebody may see it is for the caller to know.
//
// Errors: fault.Gone if the record has it and the bucket does not, which is logged,
// and fault.Unavailable.
func (k *Keeper) Open(ctx context.Context, name string, size int64) (io.ReadSeekCloser, error) {
	content, err := k.Bucket.Open(ctx, name, size)
	switch {
	case errors.Is(err, ErrMissing):
		k.Log.Error("the bytes of an artifact are missing where artifacts are kept", "object", name, "bucket", k.Bucket.String())
		return nil, fault.Wrap(err, fault.Gone, "The record has this file, but its bytes are missing where files are kept. Whoever runs this Taskbay finds its name in the log.")
	case err != nil:
		return nil, fault.Wrap(err, fault.Unavailable, "The place where files are kept does not answer as it should. Try again later.")
	}
	return content, nil
}

// page is how many rows are read at once.
const page = 100

// Each calls f with every object that a task refers to, in the order of their
// digests, until f returns an error. Those of an earlier release that were not
// moved yet are in the database and not among them.
func (k *Keeper) Each(ctx context.Context, f func(Object) error) error {
	for after := ""; ; {
		var found []Object
		err := k.View(ctx, func(tx Tx) (err error) {
			found, err = tx.ReferencedObjects(after, page)
			return err
		})
		if err != nil {
			return err
		}
		for _, o := range found {
			if err := f(o); err != nil {
				return err
			}
			after = o.SHA256
		}
		if len(found) < page {
			return nil
		}
	}
}

// OpenDigest is Open by the SHA-256; fault.NotFound if the bucket should not have it.
func (k *Keeper) OpenDigest(ctx context.Context, sha256 string) (io.ReadSeekCloser, Object, error) {
	var o Object
	err := k.View(ctx, func(tx Tx) (err error) {
		o, err = tx.Object(sha256)
		return err
	})
	if err == nil && !o.Stored {
		err = fault.New(fault.NotFound, "There is no such file.")
	}
	if err != nil {
		return nil, o, err
	}
	content, err := k.Open(ctx, o.Name, o.Size)
	return content, o, err
}
