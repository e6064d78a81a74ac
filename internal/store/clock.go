package store

import (
	"context"
	"time"

	"sepad/internal/db"
)

// ClockOffset is how far the sandbox's clock is ahead of real time.
func (s *Store) ClockOffset(ctx context.Context) (time.Duration, error) {
	result, err := s.Query(ctx, `SELECT offset_us FROM service_clock WHERE id = 1`)
	return db.One(result, err, func(r db.Rows) (time.Duration, error) {
		var us int64
		err := r.Scan(&us)
		return time.Duration(us) * time.Microsecond, err
	})
}

// SetClockOffset moves the sandbox's clock, forward only: one that is ahead
// already stays where it is.
func (tx *Tx) SetClockOffset(offset time.Duration) {
	tx.Then(`UPDATE service_clock SET offset_us = $1 WHERE id = 1 AND offset_us < $1`, offset.Microseconds())
}
