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
