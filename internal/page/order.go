package page

import (
	"cmp"

	"sepad/internal/payment"
)

// orderView is what is bought, what it costs and when.
type orderView struct {
	// Title is the merchant's headline, or else the product.
	Title       string
	Intro       string
	Product     string
	Description string
	// PriceLabel is the merchant's own remark on the price.
	PriceLabel string
	// Price is "" where the merchant does not want it shown; Rhythm says how
	// often it is paid, or for how long; Then what comes after a trial.
	Price, Rhythm, Then string
	// Plan is nil where nothing is going to be debited.
	Plan *planView
}

func (v visit) order() *orderView {
	o := &orderView{Title: v.content("headline"), Intro: v.content("intro")}
	if v.showsName() {
		o.Product = v.product()
	}
	if o.Title == "" {
		o.Title, o.Product = cmp.Or(o.Product, v.texts.Order), ""
	}
	if v.showsDescription() {
		o.Description = cmp.Or(v.Session.Options.ProductDescription, v.override("product_description"))
		if text := v.ProductDescription(); text != nil {
			o.Description = cmp.Or(o.Description, *text)
		}
	}
	if v.showsPrice() {
		v.price(o)
	}
	return o
}

// product is what is bought. A session without an offer has no name for it but
// the shop's: a hosted page's own name is for its operator.
func (v visit) product() string {
	name := cmp.Or(v.Session.Options.ProductName, v.override("product_name"), v.override("name"))
	if v.Offer == nil {
		return cmp.Or(name, v.Tenant.Name)
	}
	if text := v.ProductName(); text != nil {
		name = cmp.Or(name, *text)
	}
	return cmp.Or(name, v.Offer.Name)
}

// price says what is collected, never what a label says of it.
func (v visit) price(o *orderView) {
	terms := v.Session.Terms
	o.PriceLabel = v.override("price_label")
	o.Price = v.money(terms.DueMinor())
	switch {
	case terms.BillingType == payment.TrialRecurring:
		if terms.DueMinor() == 0 {
			o.Price = v.Free
		}
		o.Rhythm = fill(v.ForPeriod, "period", v.trialPeriod())
		o.Then = fill(v.texts.Then, "what", v.regularPrice())
	case terms.BillingType == payment.OneOff:
		o.Rhythm = v.OnceOnly
	case terms.Frequency == "":
		o.Then = fill(v.OpenRhythm, "merchant", v.Tenant.Name)
	default:
		o.Rhythm = v.perPeriod()
	}
	if note := v.content("price_note"); note != "" {
		if o.Then != "" {
			o.Then += ", " + note
		} else {
			o.Rhythm += ", " + note
		}
	}
}

// trialPeriod are "14 days".
func (v visit) trialPeriod() string {
	terms := v.Session.Terms
	forms := map[payment.TrialUnit]string{payment.TrialDay: v.Days, payment.TrialWeek: v.Weeks, payment.TrialMonth: v.Months}
	return v.count(forms[terms.TrialUnit], terms.TrialPeriod)
}

// regularPrice is "€29.99 per month".
func (v visit) regularPrice() string {
	if v.Session.Terms.Frequency == "" {
		return fill(v.OpenRhythm, "merchant", v.Tenant.Name)
	}
	return v.money(v.Session.Terms.PriceMinor) + " " + v.perPeriod()
}

func (v visit) perPeriod() string {
	return map[payment.BillingFrequency]string{
		payment.Weekly: v.PerWeek, payment.Biweekly: v.PerTwoWeeks, payment.Monthly: v.PerMonth,
		payment.Quarterly: v.PerQuarter, payment.Semiannually: v.PerHalfYear, payment.Yearly: v.PerYear,
	}[v.Session.Terms.Frequency]
}

// rhythm is "every month", "" where none was agreed.
func (v visit) rhythm() string {
	return map[payment.BillingFrequency]string{
		payment.Weekly: v.EveryWeek, payment.Biweekly: v.EveryTwoWeeks, payment.Monthly: v.EveryMonth,
		payment.Quarterly: v.EveryQuarter, payment.Semiannually: v.EveryHalfYear, payment.Yearly: v.EveryYear,
	}[v.Session.Terms.Frequency]
}

// money is an amount in the session's currency.
func (v visit) money(minor payment.Minor) string { return v.Money(minor, v.Session.Terms.Currency) }
