package web

import "sepad/internal/payment"

// What is asked of a subscription, by its merchant and by operators alike.

// ReadCancelAt reads when a subscription is to end, and says whether that is with its
// period.
func ReadCancelAt(in *Reader) (atPeriodEnd bool) {
	const now, periodEnd = "now", "period_end"
	return Enum(in, "at", []string{now, periodEnd}) == periodEnd
}

// ReadNewTerms reads what is to change about a subscription.
func ReadNewTerms(in *Reader) payment.NewTerms {
	return payment.NewTerms{AmountMinor: in.Amount("amount"), NextBillingDate: in.Date("next_billing_date")}
}
