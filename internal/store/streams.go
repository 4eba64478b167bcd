package store

import "fmt"

// ClaimStream implements observe.Tx.
func (tx *Tx) ClaimStream(taskID, owner string) (epoch int64, err error) {
	err = tx.row("UPDATE task SET stream_owner = ?, stream_epoch = stream_epoch + 1 WHERE id = ? RETURNING stream_epoch", owner, taskID).Scan(&epoch)
	if err != nil {
		err = fmt.Errorf("claim the stream of task %s: %w", taskID, err)
	}
	return epoch, err
}

// HoldsStream implements observe.Tx.
func (tx *Tx) HoldsStream(taskID, owner string, epoch int64) (bool, error) {
	var n int
	err := tx.row("SELECT COUNT(*) FROM task WHERE id = ? AND stream_owner = ? AND stream_epoch = ?", taskID, owner, epoch).Scan(&n)
	if err != nil {
		err = fmt.Errorf("look who follows task %s: %w", taskID, err)
	}
	return n == 1, err
}

// ReleaseStream implements observe.Tx.
func (tx *Tx) ReleaseStream(taskID, owner string, epoch int64) error {
	_, err := tx.exec("UPDATE task SET stream_owner = '' WHERE id = ? AND stream_owner = ? AND stream_epoch = ?", taskID, owner, epoch)
	if err != nil {
		err = fmt.Errorf("let go of the stream of task %s: %w", taskID, err)
	}
	return err
}

// AdoptStreams implements observe.Tx.
func (tx *Tx) AdoptStreams() (int64, error) {
	n, err := tx.exec(`UPDATE task SET stream_owner = '', check_us = ?, check_interval = 0
		WHERE stream_owner <> '' AND NOT `+tx.leased("task.stream_owner"), us(tx.now))
	if err != nil {
		err = fmt.Errorf("find streams whose process ended: %w", err)
	}
	return n, err
}
