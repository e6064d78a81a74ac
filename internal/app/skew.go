package app

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"sepad/internal/clock"
	"sepad/internal/store"
)

const (
	// maxSkew is how far this machine's clock may be from the database's before
	// somebody should look at it.
	maxSkew   = time.Second
	skewEvery = 30 * time.Second
)

// skew measures how far this machine's clock is from the database's.
type skew struct {
	store  *store.Store
	world  clock.Clock
	logger *slog.Logger
	wrong  atomic.Bool
}

// measure gives how far ahead this machine is, as well as the time that the answer
// took allows to tell.
func (s *skew) measure(ctx context.Context) (time.Duration, error) {
	began, world := clock.Steady(), s.world.Now()
	there, err := s.store.Now(ctx)
	if err != nil {
		return 0, err
	}
	took := clock.Steady().Sub(began)
	ahead := world.Add(took / 2).Sub(there)
	if ahead.Abs() <= took/2 {
		return 0, nil // no further apart than the answer was on its way
	}
	return ahead, nil
}

func isWrong(ahead time.Duration) bool { return ahead.Abs() > maxSkew }

func warning(ahead time.Duration) string {
	direction := "ahead of"
	if ahead < 0 {
		direction = "behind"
	}
	return fmt.Sprintf("this machine's clock is %s %s the database's", ahead.Abs().Round(time.Millisecond), direction)
}

// watch says in the log when the clock goes wrong and when it is right again.
func (s *skew) watch(ctx context.Context) {
	tick := time.NewTicker(skewEvery)
	defer tick.Stop()
	for {
		s.look(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (s *skew) look(ctx context.Context) {
	ahead, err := s.measure(ctx)
	if err != nil {
		return // whoever needs the database says so
	}
	switch wrong := isWrong(ahead); {
	case wrong == s.wrong.Swap(wrong):
	case wrong:
		s.logger.WarnContext(ctx, warning(ahead), "ahead_seconds", ahead.Seconds())
	default:
		s.logger.InfoContext(ctx, "this machine's clock agrees with the database's again")
	}
}
