package store

import (
	"fmt"
	"time"
)

// Beat implements worker.Tx.
func (tx *Tx) Beat(owner string, ttl time.Duration) error {
	_, err := tx.exec(`INSERT INTO worker_lease (id, expires_us) VALUES (?, `+tx.dialect.clock+` + ?)
		ON CONFLICT (id) DO UPDATE SET expires_us = excluded.expires_us`, owner, ttl.Microseconds())
	if err != nil {
		return fmt.Errorf("renew the lease of a process: %w", err)
	}
	return nil
}

// EndLease implements worker.Tx.
func (tx *Tx) EndLease(owner string) error {
	if _, err := tx.exec("DELETE FROM worker_lease WHERE id = ? OR ? = ''", owner, owner); err != nil {
		return fmt.Errorf("end the lease of a process: %w", err)
	}
	return nil
}

// leased is a condition: the process that the column or placeholder names has a
// lease that has not run out.
func (tx *Tx) leased(owner string) string {
	return "EXISTS (SELECT 1 FROM worker_lease w WHERE w.id = " + owner + " AND w.expires_us > " + tx.dialect.clock + ")"
}
