package record

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestInstantsAreWrittenAsPackageTimeWritesThem(t *testing.T) {
	t.Parallel()
	first, last := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro(), time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC).UnixMicro()
	check := func(t interface{ Errorf(string, ...any) }, micros int64) {
		at := time.UnixMicro(micros).UTC()
		if got, want := string(appendInstant(nil, micros)), at.Format("2006-01-02T15:04:05.000000Z"); got != want {
			t.Errorf("%d is written %s, want %s", micros, got, want)
		}
		if got, want := string(appendDate(nil, micros)), at.Format(time.DateOnly); got != want {
			t.Errorf("the day of %d is written %s, want %s", micros, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) { check(t, rapid.Int64Range(first, last).Draw(t, "instant")) })
	for day := time.Date(1896, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2105; day = day.AddDate(0, 0, 1) {
		check(t, day.UnixMicro())
		check(t, day.UnixMicro()-1)
	}
	for _, edge := range []int64{first, last, 0, -1} {
		check(t, edge)
	}
}
