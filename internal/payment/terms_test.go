package payment

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestTermsCheck(t *testing.T) {
	t.Parallel()
	zero := Minor(0)
	cases := []struct {
		name  string
		terms Terms
		known Fields
		want  string
	}{
		{"one-off", Terms{BillingType: OneOff}, Fields{}, ""},
		{"recurring without a frequency", Terms{BillingType: Recurring}, Fields{}, ""},
		{"a whole trial", freeTrial, Fields{}, ""},
		{"a trial without anything", Terms{BillingType: TrialRecurring}, Fields{}, "trial_interval_unit trial_period"},
		{"a trial without a unit", Terms{BillingType: TrialRecurring, TrialPeriod: 1}, Fields{}, "trial_interval_unit"},
		{"trial fields of a one-off", Terms{BillingType: OneOff, TrialPeriod: 1, TrialUnit: TrialDay, TrialMinor: &zero}, Fields{}, "trial_interval_unit trial_period trial_price"},
		{"trial price of a recurring", Terms{BillingType: Recurring, TrialMinor: &zero}, Fields{}, "trial_price"},
		{"the longest trial in months", Terms{BillingType: TrialRecurring, TrialUnit: TrialMonth, TrialPeriod: 36}, Fields{}, ""},
		{"a trial after which the mandate has lapsed", Terms{BillingType: TrialRecurring, TrialUnit: TrialMonth, TrialPeriod: 37}, Fields{}, "trial_period"},
		{"the longest trial in weeks", Terms{BillingType: TrialRecurring, TrialUnit: TrialWeek, TrialPeriod: 156}, Fields{}, ""},
		{"a week too long", Terms{BillingType: TrialRecurring, TrialUnit: TrialWeek, TrialPeriod: 157}, Fields{}, "trial_period"},
		{"the longest trial in days", Terms{BillingType: TrialRecurring, TrialUnit: TrialDay, TrialPeriod: 1095}, Fields{}, ""},
		{"a day too long", Terms{BillingType: TrialRecurring, TrialUnit: TrialDay, TrialPeriod: 1096}, Fields{}, "trial_period"},
		{"a bad billing type is not judged further", Terms{TrialPeriod: 1}, Fields{"billing_type": "bad"}, "billing_type"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.terms.Check(c.known)
			if got := strings.Join(slices.Sorted(maps.Keys(c.known)), " "); got != c.want {
				t.Errorf("bad fields are %q, want %q", got, c.want)
			}
		})
	}
	t.Run("every longest trial ends before its mandate lapses, whenever it begins", func(t *testing.T) {
		t.Parallel()
		for first := range everyDay(2024, 4) {
			for unit, longest := range maxTrials {
				end := Terms{TrialUnit: unit, TrialPeriod: longest}.TrialEnd(dateOn(first))
				if lapse := (Subscription{MandateUsedAt: dateOn(first).Start()}).LapseDate(); !end.Start().Before(lapse.Start()) {
					t.Fatalf("%d %ss from %s end on %s, the mandate lapses on %s", longest, unit, dateOn(first), end, lapse)
				}
			}
		}
	})
	t.Run("what was said of a field stays", func(t *testing.T) {
		t.Parallel()
		bad := Fields{"trial_period": "Too long."}
		Terms{BillingType: TrialRecurring, TrialUnit: TrialDay}.Check(bad)
		if bad["trial_period"] != "Too long." {
			t.Errorf("now %q", bad["trial_period"])
		}
	})
}

func TestEnumerationsAreExact(t *testing.T) {
	t.Parallel()
	for _, b := range BillingTypes {
		if !b.Valid() || BillingType(strings.ToLower(string(b))).Valid() {
			t.Errorf("billing type %s", b)
		}
	}
	for _, f := range BillingFrequencies {
		if !f.Valid() || BillingFrequency(strings.ToLower(string(f))).Valid() {
			t.Errorf("frequency %s", f)
		}
	}
	for _, u := range TrialUnits {
		if !u.Valid() || TrialUnit(strings.ToUpper(string(u))).Valid() {
			t.Errorf("unit %s", u)
		}
	}
	if BillingType("").Valid() || BillingFrequency("").Valid() || TrialUnit("").Valid() {
		t.Error("nothing is a value")
	}
}

func TestStandardizedType(t *testing.T) {
	t.Parallel()
	for kind, want := range map[TransactionType]string{
		Sale: "sdd_sale", Rebill: "sdd_sale", Refund: "sdd_refund", Mandate: "other_type", "card_sale": "other_type", "": "other_type",
	} {
		if got := kind.Standardized(); got != want {
			t.Errorf("%q is %s, want %s", kind, got, want)
		}
	}
}
