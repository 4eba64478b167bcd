package artifact

import (
	"bytes"
	"context"
	"time"
)

// collectEvery is how often one of the processes that share a record collects.
const collectEvery = time.Hour

// retryMove is how long to wait before bytes are moved again that could not be.
const retryMove = time.Minute

// turn names the duty of collecting among the processes that share a record.
const turn = "collect artifacts"

// Run moves into the bucket what an earlier release kept in the database, and then
// collects what nothing refers to, until ctx ends. It returns nil.
func (k *Keeper) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		moved, err := k.Move(ctx)
		if moved > 0 {
			k.Log.Info("moved artifacts out of the database", "artifacts", moved, "bucket", k.Bucket.String())
		}
		if err == nil {
			break
		}
		if ctx.Err() == nil {
			k.Log.Error("move artifacts out of the database", "error", err)
		}
		wait(ctx, retryMove)
	}
	for ctx.Err() == nil {
		if err := k.collectInTurn(ctx); err != nil && ctx.Err() == nil {
			k.Log.Error("collect artifacts that nothing refers to", "error", err)
		}
		wait(ctx, collectEvery)
	}
	return nil
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// Check logs an error if the bucket lacks what the record has: it is that of another
// record, or a directory that is not the one which the other processes share.
func (k *Keeper) Check(ctx context.Context) {
	var latest Object
	err := k.View(ctx, func(tx Tx) (err error) {
		latest, err = tx.LatestObject()
		return err
	})
	there := true
	if err == nil && latest.Name != "" {
		there, err = k.Bucket.Has(ctx, latest.Name, latest.Size)
	}
	switch {
	case err != nil && ctx.Err() == nil:
		k.Log.Error("look whether artifacts are where they are kept", "error", err)
	case !there:
		k.Log.Error("artifacts that the record has are not where this process looks for them; "+
			"processes that share a database need one place for artifacts, see --artifact-url", "object", latest.Name, "bucket", k.Bucket.String())
	}
}

func (k *Keeper) collectInTurn(ctx context.Context) error {
	mine := false
	err := k.Update(ctx, func(tx Tx) (err error) {
		mine, err = tx.TakeTurn(turn, tx.Now().Add(collectEvery))
		return err
	})
	if err != nil || !mine {
		return err
	}
	dropped, err := k.Collect(ctx)
	if dropped > 0 {
		k.Log.Info("collected artifacts that nothing refers to", "artifacts", dropped)
	}
	return err
}

// Collect drops objects that nothing refers to and nobody has used for a day, then
// deletes their bytes, and those that an earlier collection could not delete. It
// returns how many it dropped.
func (k *Keeper) Collect(ctx context.Context) (dropped int, err error) {
	for after := ""; ; {
		var before time.Time
		var unused []Object
		err := k.View(ctx, func(tx Tx) (err error) {
			before = tx.Now().Add(-grace)
			unused, err = tx.UnusedObjects(before, after, page)
			return err
		})
		if err != nil {
			return dropped, err
		}
		for _, o := range unused {
			gone := false
			err := k.Update(ctx, func(tx Tx) (err error) {
				gone, err = tx.DropObject(o.SHA256, before)
				return err
			})
			if err != nil {
				return dropped, err
			}
			if gone {
				dropped++
			}
			after = o.SHA256
		}
		if len(unused) < page {
			return dropped, k.sweep(ctx)
		}
	}
}

// sweep deletes the bytes of dropped objects.
func (k *Keeper) sweep(ctx context.Context) error {
	for {
		var names []string
		err := k.View(ctx, func(tx Tx) (err error) {
			names, err = tx.Garbage(page)
			return err
		})
		if err != nil || len(names) == 0 {
			return err
		}
		for _, name := range names {
			if err := k.Bucket.Delete(ctx, name); err != nil {
				return err
			}
			if err := k.Update(ctx, func(tx Tx) error { return tx.ForgetGarbage(name) }); err != nil {
				return err
			}
		}
	}
}

// Move moves the bytes that an earlier release kept in the database into the
// bucket, one after the other, and returns how many. It goes on where it was
// interrupted; several processes may do it at once.
func (k *Keeper) Move(ctx context.Context) (moved int, err error) {
	for {
		var o Object
		var content []byte
		more := false
		err := k.View(ctx, func(tx Tx) (err error) {
			o, content, more, err = tx.ObjectInRow()
			return err
		})
		if err != nil || !more {
			return moved, err
		}
		err = k.Update(ctx, func(tx Tx) (err error) {
			o, err = tx.ReserveObject(o.SHA256, o.Size, o.SHA256[:2]+"/"+o.SHA256+"-"+k.NewID())
			return err
		})
		if err == nil {
			err = k.Bucket.Write(ctx, o.Name, bytes.NewReader(content))
		}
		if err == nil {
			err = k.Update(ctx, func(tx Tx) error { return tx.ObjectMoved(o.SHA256, o.Name) })
		}
		if err != nil {
			return moved, err
		}
		moved++
	}
}
