package sepa

import (
	"testing"
	"time"
)

func TestNextBusinessDay(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, at, want string }{
		{"a working day is its own", "2026-11-16T15:04:05Z", "2026-11-16"},
		{"Saturday waits for Monday", "2026-11-14T00:00:00Z", "2026-11-16"},
		{"Sunday waits for Monday", "2026-11-15T23:59:59Z", "2026-11-16"},
		{"Good Friday waits for the Tuesday after Easter", "2026-04-03T10:00:00Z", "2026-04-07"},
		{"Labour Day is none", "2026-05-01T10:00:00Z", "2026-05-04"},
		{"Christmas and the day after are none", "2025-12-25T10:00:00Z", "2025-12-29"},
		{"New Year is none", "2026-01-01T10:00:00Z", "2026-01-02"},
		{"a national holiday is one", "2026-10-26T10:00:00Z", "2026-10-26"},
		{"a holiday on a weekend is not made up for", "2027-05-03T10:00:00Z", "2027-05-03"},
		{"the day is counted in UTC", "2026-11-14T00:30:00+02:00", "2026-11-13"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			at, err := time.Parse(time.RFC3339, test.at)
			if err != nil {
				t.Fatal(err)
			}
			got := NextBusinessDay(at)
			if got.Format(time.RFC3339) != test.want+"T00:00:00Z" {
				t.Errorf("%v, want %s", got, test.want)
			}
		})
	}
}
