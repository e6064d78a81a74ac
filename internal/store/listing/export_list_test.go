package listing

import "slices"

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

func (f SessionFilter) Statement(w Window) (text string, args []any) {
	return sessionListing.query(w, f.filters())
}

// The statements of an operator's searches, likewise.

const SearchDepth = searchDepth

func (f SessionSearch) Statement(s Paging) (text string, args []any) {
	return sessionSearch.statement(s, f.conditions().all(s, "s.id"))
}

func (f TransactionSearch) Statement(s Paging) (text string, args []any) {
	return transactionSearch.statement(s, f.conditions().all(s, "t.id"))
}

func (f ChargebackSearch) Statement(s Paging) (text string, args []any) {
	return chargebackSearch.statement(s, f.conditions().all(s, "c.id"))
}

func (f SubscriptionSearch) Statement(s Paging) (text string, args []any) {
	return subscriptionSearch.statement(s, f.conditions().all(s, "u.id"))
}

func (f LeadSearch) Statement(s Paging) (text string, args []any) {
	return leadSearch.statement(s, f.conditions().all(s, "l.id"))
}

func (c conditions) all(s Paging, id string) []condition {
	return slices.Concat(c.indexed, s.beyond(id), s.upTo(id, s.Beyond), c.passing)
}
