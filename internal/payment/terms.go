package payment

import (
	"fmt"
	"slices"
)

// BillingType says how a purchase is paid.
type BillingType string

const (
	OneOff         BillingType = "ONE_OFF"
	Recurring      BillingType = "RECURRING"
	TrialRecurring BillingType = "TRIAL_RECURRING"
)

// BillingTypes lists every billing type, in the contract's order.
var BillingTypes = []BillingType{OneOff, Recurring, TrialRecurring}

// BillingFrequency is the rhythm of rebills.
type BillingFrequency string

const (
	Weekly       BillingFrequency = "WEEKLY"
	Biweekly     BillingFrequency = "BIWEEKLY"
	Monthly      BillingFrequency = "MONTHLY"
	Quarterly    BillingFrequency = "QUARTERLY"
	Semiannually BillingFrequency = "SEMIANNUALLY"
	Yearly       BillingFrequency = "YEARLY"
)

// BillingFrequencies lists every frequency, shortest first.
var BillingFrequencies = []BillingFrequency{Weekly, Biweekly, Monthly, Quarterly, Semiannually, Yearly}

// TrialUnit is the unit in which a trial is counted.
type TrialUnit string

const (
	TrialDay   TrialUnit = "day"
	TrialWeek  TrialUnit = "week"
	TrialMonth TrialUnit = "month"
)

// TrialUnits lists every trial unit.
var TrialUnits = []TrialUnit{TrialDay, TrialWeek, TrialMonth}

// maxTrials are the longest trials: a mandate that nobody uses for 36 months
// lapses, and a trial must end before it does.
var maxTrials = map[TrialUnit]int{TrialDay: 1095, TrialWeek: 156, TrialMonth: mandateMonths}

// MaxTrialPeriod is the longest trial in any unit.
const MaxTrialPeriod = 1095

// Terms are what a purchase costs and when. An offer has terms, a session has
// its own: the offer's with the request's overrides.
type Terms struct {
	PriceMinor  Minor // the regular price
	Currency    string
	BillingType BillingType
	Frequency   BillingFrequency // "" when the merchant named none
	TrialUnit   TrialUnit        // "" without a trial
	TrialPeriod int
	TrialMinor  *Minor // nil and 0 both mean a free trial
}

// DueMinor is what the first payment collects.
func (t Terms) DueMinor() Minor {
	if t.BillingType != TrialRecurring {
		return t.PriceMinor
	}
	if t.TrialMinor == nil {
		return 0
	}
	return *t.TrialMinor
}

// StartsSubscription tells whether the purchase is billed again.
func (t Terms) StartsSubscription() bool { return t.BillingType != OneOff }

// Check adds a sentence for every field that does not fit the others. Fields
// already found bad are left alone: a wrong billing type cannot be judged.
func (t Terms) Check(bad Fields) {
	if _, unknown := bad["billing_type"]; unknown {
		return
	}
	if t.BillingType == TrialRecurring {
		if t.TrialPeriod == 0 {
			bad.Add("trial_period", "trial_period is required when billing_type is TRIAL_RECURRING.")
		}
		if t.TrialUnit == "" {
			bad.Add("trial_interval_unit", "trial_interval_unit is required when billing_type is TRIAL_RECURRING.")
		}
		if longest, known := maxTrials[t.TrialUnit]; known && t.TrialPeriod > longest {
			bad.Add("trial_period", fmt.Sprintf("A trial has at most %d %ss: a mandate that is not used for 36 months lapses.", longest, t.TrialUnit))
		}
		return
	}
	const noTrial = "A trial needs billing_type TRIAL_RECURRING."
	if t.TrialPeriod != 0 {
		bad.Add("trial_period", noTrial)
	}
	if t.TrialUnit != "" {
		bad.Add("trial_interval_unit", noTrial)
	}
	if t.TrialMinor != nil {
		bad.Add("trial_price", noTrial)
	}
}

// Valid tells whether the value is one of those the contract lists.
func (b BillingType) Valid() bool      { return slices.Contains(BillingTypes, b) }
func (f BillingFrequency) Valid() bool { return slices.Contains(BillingFrequencies, f) }
func (u TrialUnit) Valid() bool        { return slices.Contains(TrialUnits, u) }
