package page

import (
	"cmp"

	"sepad/internal/payment"
)

// orderView is what is bought, what it costs and when.
type orderView struct {
	Headline    string
	Intro       string
	Product     string
	Description string
	// PriceLabel is the merchant's own remark on the price.
	PriceLabel string
	// Price is "" where the merchant does not want it shown.
	Price  string
	Rhythm string
	// Trial takes the place of price and rhythm.
	Trial *trialView
}

// trialView is a trial as two lines: what is due today, and what comes later.
type trialView struct {
	DueToday, Period string
	LaterFrom, Later string
}

func (v visit) order() orderView {
	o := orderView{
		Headline: cmp.Or(v.content("headline"), v.texts.Order), Intro: v.content("intro"),
	}
	if v.showsName() {
		o.Product = v.product()
	}
	if v.showsDescription() {
		o.Description = v.override("product_description")
		if v.Offer != nil && v.Offer.ProductDescription != nil {
			o.Description = cmp.Or(o.Description, *v.Offer.ProductDescription)
		}
	}
	if v.showsPrice() {
		v.price(&o)
	}
	return o
}

func (v visit) product() string {
	name := cmp.Or(v.override("product_name"), v.override("name"))
	if v.Offer != nil && v.Offer.ProductName != nil {
		name = cmp.Or(name, *v.Offer.ProductName)
	}
	return cmp.Or(name, v.OfferName())
}

// price says what is collected, never what a label says of it.
func (v visit) price(o *orderView) {
	terms := v.Session.Terms
	o.PriceLabel = v.override("price_label")
	if terms.BillingType == payment.TrialRecurring {
		o.Trial = v.trial()
		return
	}
	o.Price = v.money(terms.PriceMinor)
	today := payment.DateOf(v.now)
	switch {
	case terms.BillingType == payment.OneOff:
		o.Rhythm = v.OnceOnly
	case terms.Frequency == "":
		o.Rhythm = fill(v.OpenRhythm, "merchant", v.Tenant.Name)
	default:
		o.Rhythm = fill(v.ThenRhythm, "amount", v.money(terms.PriceMinor), "rhythm", v.rhythm(),
			"date", v.day(terms.Frequency.PeriodStart(today, 1)))
	}
}

func (v visit) trial() *trialView {
	terms, period := v.Session.Terms, v.trialPeriod()
	if terms.DueMinor() == 0 {
		period = v.trialWords()
	}
	return &trialView{
		DueToday: v.money(terms.DueMinor()), Period: period,
		LaterFrom: fill(v.FromDate, "date", v.day(terms.TrialEnd(payment.DateOf(v.now)))),
		Later:     v.laterWords(),
	}
}

// trialPeriod are "14 days", beside an amount that says what they cost.
func (v visit) trialPeriod() string {
	terms := v.Session.Terms
	forms := map[payment.TrialUnit]string{payment.TrialDay: v.Days, payment.TrialWeek: v.Weeks, payment.TrialMonth: v.Months}
	return v.count(forms[terms.TrialUnit], terms.TrialPeriod)
}

// trialWords are "Free for 14 days", or what that costs.
func (v visit) trialWords() string {
	due := v.Session.Terms.DueMinor()
	if due == 0 {
		return fill(v.TrialFree, "period", v.trialPeriod())
	}
	return fill(v.TrialPaid, "amount", v.money(due), "period", v.trialPeriod())
}

// laterWords are "€29.99 every month".
func (v visit) laterWords() string {
	if v.Session.Terms.Frequency == "" {
		return fill(v.OpenRhythm, "merchant", v.Tenant.Name)
	}
	return v.money(v.Session.Terms.PriceMinor) + " " + v.rhythm()
}

func (v visit) rhythm() string {
	return map[payment.BillingFrequency]string{
		payment.Weekly: v.EveryWeek, payment.Biweekly: v.EveryTwoWeeks, payment.Monthly: v.EveryMonth,
		payment.Quarterly: v.EveryQuarter, payment.Semiannually: v.EveryHalfYear, payment.Yearly: v.EveryYear,
	}[v.Session.Terms.Frequency]
}

// money is an amount in the session's currency.
func (v visit) money(minor payment.Minor) string { return v.amount(minor, v.Session.Terms.Currency) }
