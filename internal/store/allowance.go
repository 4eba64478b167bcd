package store

import (
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// TakeAllowance implements access.AllowanceTx. The minute is the database's, so that
// processes whose clocks differ count the same one.
func (tx *Tx) TakeAllowance(who, kind string, n, limit int64) (granted int64, left time.Duration, err error) {
	var now, taken int64
	if err := tx.row("SELECT " + tx.dialect.clock).Scan(&now); err != nil {
		return 0, 0, fmt.Errorf("read the clock: %w", err)
	}
	minute := now - now%time.Minute.Microseconds()
	left = time.Duration(minute+time.Minute.Microseconds()-now) * time.Microsecond
	err = tx.row("SELECT taken FROM allowance WHERE who = ? AND kind = ? AND minute_us = ?"+tx.forUpdate(), who, kind, minute).Scan(&taken)
	granted = min(n, max(limit-taken, 0))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		_, err = tx.exec("INSERT INTO allowance (who, kind, minute_us, taken) VALUES (?, ?, ?, ?)", who, kind, minute, granted)
	case err == nil && granted > 0:
		_, err = tx.exec("UPDATE allowance SET taken = taken + ? WHERE who = ? AND kind = ? AND minute_us = ?", granted, who, kind, minute)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("take from an allowance: %w", err)
	}
	return granted, left, nil
}

// CollectAccess implements access.CollectTx.
func (tx *Tx) CollectAccess() error {
	before := us(tx.now.Add(-10 * time.Minute)) // as clocks of processes differ
	for statement, args := range map[string][]any{
		"DELETE FROM session WHERE expires_us <= ? OR ended_us <= ?": {before, before},
		"DELETE FROM used_sign_in WHERE expires_us <= ?":             {before},
		"DELETE FROM allowance WHERE minute_us <= ?":                 {before},
	} {
		if _, err := tx.exec(statement, args...); err != nil {
			return fmt.Errorf("delete what access has no more use for: %w", err)
		}
	}
	return nil
}
