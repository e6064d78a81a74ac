package payment

import (
	"iter"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func day(t interface{ Fatal(...any) }, text string) Date {
	date, err := ParseDate(text)
	if err != nil {
		t.Fatal(err)
	}
	return date
}

func TestPeriodStart(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name      string
		frequency BillingFrequency
		anchor    string
		want      []string // periods 0, 1, 2, …
	}{
		{"weekly", Weekly, "2026-12-28", []string{"2026-12-28", "2027-01-04", "2027-01-11"}},
		{"biweekly", Biweekly, "2026-02-20", []string{"2026-02-20", "2026-03-06", "2026-03-20"}},
		{"monthly on the 31st finds back after short months", Monthly, "2027-12-31", []string{"2027-12-31", "2028-01-31", "2028-02-29", "2028-03-31", "2028-04-30", "2028-05-31"}},
		{"monthly on the 30th in a common year", Monthly, "2027-01-30", []string{"2027-01-30", "2027-02-28", "2027-03-30"}},
		{"quarterly", Quarterly, "2026-11-30", []string{"2026-11-30", "2027-02-28", "2027-05-30"}},
		{"semiannually", Semiannually, "2026-08-31", []string{"2026-08-31", "2027-02-28", "2027-08-31"}},
		{"yearly on a leap day", Yearly, "2028-02-29", []string{"2028-02-29", "2029-02-28", "2030-02-28", "2031-02-28", "2032-02-29"}},
		{"no frequency", "", "2026-01-01", []string{"", ""}},
		{"an unknown frequency", "DAILY", "2026-01-01", []string{"", ""}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for n, want := range c.want {
				if got := c.frequency.PeriodStart(day(t, c.anchor), n).String(); got != want {
					t.Errorf("period %d starts on %q, want %q", n, got, want)
				}
			}
		})
	}
}

// daysIn is the length of a month by the rule that is taught at school, so
// that it shares nothing with the calculation that it checks.
func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	default:
		return 31
	}
}

// How long a period is, in days or in months.
var (
	daysOf   = map[BillingFrequency]int{Weekly: 7, Biweekly: 14}
	monthsOf = map[BillingFrequency]int{Monthly: 1, Quarterly: 3, Semiannually: 6, Yearly: 12}
)

// counted gives the day one period later, by counting days or months.
func counted(frequency BillingFrequency, anchorDay int, at [3]int) [3]int {
	y, m := at[0], at[1]
	if step := monthsOf[frequency]; step > 0 {
		y, m = y+(m-1+step)/12, (m-1+step)%12+1
		return [3]int{y, m, min(anchorDay, daysIn(y, m))}
	}
	for range daysOf[frequency] {
		at = nextDay(at)
	}
	return at
}

func nextDay(at [3]int) [3]int {
	y, m, d := at[0], at[1], at[2]+1
	if d > daysIn(y, m) {
		d, m = 1, m+1
	}
	if m > 12 {
		m, y = 1, y+1
	}
	return [3]int{y, m, d}
}

func dateOn(at [3]int) Date {
	return DateOf(time.Date(at[0], time.Month(at[1]), at[2], 0, 0, 0, 0, time.UTC))
}

// checkThirtyYears compares every period of thirty years with the count.
func checkThirtyYears(t interface{ Fatalf(string, ...any) }, frequency BillingFrequency, first [3]int) {
	anchor := dateOn(first)
	for n, want := 0, first; want[0] < first[0]+30; n++ {
		y, m, d := frequency.PeriodStart(anchor, n).Start().Date()
		if got := [3]int{y, int(m), d}; got != want {
			t.Fatalf("%s from %s, period %d: %v, want %v", frequency, anchor, n, got, want)
		}
		want = counted(frequency, first[2], want)
	}
}

// everyDay gives the days of some years.
func everyDay(year, years int) iter.Seq[[3]int] {
	return func(yield func([3]int) bool) {
		for at := [3]int{year, 1, 1}; at[0] < year+years && yield(at); {
			at = nextDay(at)
		}
	}
}

func TestPeriodStartOverThirtyYears(t *testing.T) {
	t.Parallel()
	for _, frequency := range BillingFrequencies {
		t.Run("from every day between two leap days, "+string(frequency), func(t *testing.T) {
			t.Parallel()
			for first := range everyDay(2024, 4) {
				checkThirtyYears(t, frequency, first)
			}
		})
	}
	t.Run("from days of any year", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			year, month := rapid.IntRange(1996, 2105).Draw(t, "year"), rapid.IntRange(1, 12).Draw(t, "month")
			// Drawn from the end of the month as often as from anywhere, for that is where it is hard.
			date := min(rapid.OneOf(rapid.IntRange(1, 31), rapid.IntRange(28, 31)).Draw(t, "day"), daysIn(year, month))
			checkThirtyYears(t, rapid.SampledFrom(BillingFrequencies).Draw(t, "frequency"), [3]int{year, month, date})
		})
	})
}

func TestEveryLeapDayAnchor(t *testing.T) {
	t.Parallel()
	for _, year := range []int{1996, 2000, 2024, 2028, 2096} {
		anchor := DateOf(time.Date(year, 2, 29, 0, 0, 0, 0, time.UTC))
		for n := range 30 {
			got := Yearly.PeriodStart(anchor, n).Start()
			if got.Year() != year+n || got.Month() != time.February || got.Day() != daysIn(year+n, 2) {
				t.Errorf("year %d of %s is %s", n, anchor, got)
			}
		}
	}
}

func TestDate(t *testing.T) {
	t.Parallel()
	t.Run("is that of UTC", func(t *testing.T) {
		t.Parallel()
		if got := DateOf(time.Date(2026, 1, 1, 0, 30, 0, 0, time.FixedZone("Berlin", 3600))).String(); got != "2025-12-31" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("comes back from its text", func(t *testing.T) {
		t.Parallel()
		if got := day(t, "2028-02-29"); got.String() != "2028-02-29" || !got.Start().Equal(time.Date(2028, 2, 29, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("got %s", got)
		}
	})
	t.Run("is refused in any other form", func(t *testing.T) {
		t.Parallel()
		for _, text := range []string{"", "2026-2-1", "2026-02-30", "2027-02-29", "01.02.2026", "2026-02-01T00:00:00Z", " 2026-02-01"} {
			if got, err := ParseDate(text); err == nil {
				t.Errorf("%q is %s", text, got)
			}
		}
	})
	t.Run("of nothing is none", func(t *testing.T) {
		t.Parallel()
		if none := (Date{}); !none.IsZero() || none.String() != "" {
			t.Errorf("got %q", none)
		}
	})
}

func TestDueDate(t *testing.T) {
	t.Parallel()
	for billed, want := range map[string]string{
		"2026-11-13": "2026-11-13", // a Friday
		"2026-11-14": "2026-11-16", // a Saturday
		"2026-11-15": "2026-11-16",
		"2026-12-25": "2026-12-28", // Christmas on a Friday
		"2027-03-26": "2027-03-30", // Good Friday to Easter Monday
		"2027-01-01": "2027-01-04",
	} {
		if got := day(t, billed).DueDate().String(); got != want {
			t.Errorf("what is billed on %s is due on %s, want %s", billed, got, want)
		}
	}
	if !(Date{}).DueDate().IsZero() {
		t.Error("no date has a due date")
	}
}

func TestTrialEnd(t *testing.T) {
	t.Parallel()
	start := day(t, "2027-01-31")
	for want, terms := range map[string]Terms{
		"2027-02-01": {TrialUnit: TrialDay, TrialPeriod: 1},
		"2027-02-14": {TrialUnit: TrialWeek, TrialPeriod: 2},
		"2027-02-28": {TrialUnit: TrialMonth, TrialPeriod: 1},
		"2030-01-31": {TrialUnit: TrialMonth, TrialPeriod: 36},
		"":           {},
	} {
		if got := terms.TrialEnd(start).String(); got != want {
			t.Errorf("%d %s from %s end on %q, want %q", terms.TrialPeriod, terms.TrialUnit, start, got, want)
		}
	}
}

// trialSteps say how a trial of each unit grows by one, in the words of the count
// that checks the periods.
var trialSteps = map[TrialUnit]func(anchorDay int, at [3]int) [3]int{
	TrialDay:   func(_ int, at [3]int) [3]int { return nextDay(at) },
	TrialWeek:  func(anchorDay int, at [3]int) [3]int { return counted(Weekly, anchorDay, at) },
	TrialMonth: func(anchorDay int, at [3]int) [3]int { return counted(Monthly, anchorDay, at) },
}

func TestTrialEndOverThirtyYears(t *testing.T) {
	t.Parallel()
	for _, unit := range TrialUnits {
		t.Run("from every day between two leap days, "+string(unit), func(t *testing.T) {
			t.Parallel()
			for first := range everyDay(2024, 4) {
				// A year of days, seven of weeks, thirty of months.
				for n, want := 1, trialSteps[unit](first[2], first); n <= 366; n++ {
					if got := (Terms{TrialUnit: unit, TrialPeriod: n}).TrialEnd(dateOn(first)); got != dateOn(want) {
						t.Fatalf("%d %s from %s end on %s, want %s", n, unit, dateOn(first), got, dateOn(want))
					}
					want = trialSteps[unit](first[2], want)
				}
			}
		})
	}
}
