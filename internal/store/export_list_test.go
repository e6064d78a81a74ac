package store

// The statements of the listings, with the tenant as their first argument to
// come.

func (f TransactionFilter) Statement(w Window) (text string, args []any) {
	return transactionListing.query(w, f.filters())
}

func (f ChargebackFilter) Statement(w Window) (text string, args []any) {
	return chargebackListing.query(w, f.filters())
}

func (f SubscriptionFilter) Statement(w Window) (text string, args []any) {
	return subscriptionListing.query(w, f.filters())
}
