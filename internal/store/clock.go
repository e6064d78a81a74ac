package store

import (
	"context"
	"fmt"
	"time"

	"sepad/internal/db"
)

// farApart is how far this machine's clock and the database's may be apart for either to be believed. No zone of Europe is
// further from UTC, for which a machine's time is mistaken most often.
const farApart = 4 * time.Hour

// CheckClock refuses a machine's time that is far from the database's: one of the two is wrong, and nobody can tell which. Whoever did
// what falls due by it would bill a year at once, or take a bank's silence for money.
func (s *Store) CheckClock(ctx context.Context, world time.Time) error {
	if !s.HasOwnClock() {
		return nil
	}
	there, err := s.Now(ctx)
	if apart := world.Sub(there); err == nil && apart.Abs() > farApart {
		err = fmt.Errorf("this machine's clock says %s and the database's %s: set right whichever is wrong", world.Format(time.RFC3339), there.Format(time.RFC3339))
	}
	return err
}

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
