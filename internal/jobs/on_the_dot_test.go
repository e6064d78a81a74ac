package jobs

import (
	"testing"
	"time"
)

// TestWhatComesEveryHourComesOnTheHour, however shortly before it the process began that leads the queue.
func TestWhatComesEveryHourComesOnTheHour(t *testing.T) {
	t.Parallel()
	hour := time.Date(2026, 11, 17, 20, 0, 0, 0, time.UTC)
	for _, current := range []time.Time{hour.Add(-time.Nanosecond), hour.Add(-59 * time.Minute), hour.Add(-time.Hour)} {
		if next := onTheDot(time.Hour).Next(current); !next.Equal(hour) {
			t.Errorf("after %s comes %s", current, next)
		}
	}
}

// TestAClockThatIsPutBackStopsNoSweep: what comes next is held against the steady clock too, which only a time has that came
// of it by adding.
func TestAClockThatIsPutBackStopsNoSweep(t *testing.T) {
	t.Parallel()
	for next, i := onTheDot(time.Hour).Next(time.Now()), 0; i < 3; next, i = onTheDot(time.Hour).Next(next), i+1 {
		byTheWall := next.Round(0)
		if next == byTheWall {
			t.Errorf("%s is by the wall's clock alone", next)
		}
		if !byTheWall.Equal(byTheWall.Truncate(time.Hour)) {
			t.Errorf("%s is not on the hour", next)
		}
	}
}
