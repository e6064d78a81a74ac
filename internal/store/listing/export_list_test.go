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

// UnknownPayments are those of which nobody knows what became of them.
const UnknownPayments = unknownPayments + ` LIMIT 1`

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
	if len(c.passing) == 0 {
		return slices.Concat(c.indexed, s.beyond(id))
	}
	return slices.Concat(c.indexed, s.beyond(id), s.upTo(id, s.Beyond), c.passing)
}

// The statements of the ways to what was typed, likewise.

func (f TransactionSearch) Ways(s Paging) []Statement  { return transactionSearch.ways(s, f.ways()) }
func (f SessionSearch) Ways(s Paging) []Statement      { return sessionSearch.ways(s, f.ways()) }
func (f ChargebackSearch) Ways(s Paging) []Statement   { return chargebackSearch.ways(s, f.ways()) }
func (f SubscriptionSearch) Ways(s Paging) []Statement { return subscriptionSearch.ways(s, f.ways()) }
func (f LeadSearch) Ways(s Paging) []Statement         { return leadSearch.ways(s, f.ways()) }
func (f EventSearch) Ways(s Paging) []Statement        { return eventSearch.ways(s, f.ways()) }
func (f MandateSearch) Ways(s Paging) []Statement      { return mandateSearch.ways(s, f.ways()) }

// Statement is a text with its arguments.
type Statement struct {
	Text string
	Args []any
}

func (l searched[T]) ways(s Paging, ways []conditions) (all []Statement) {
	for _, way := range ways {
		text, args := l.statement(s, slices.Concat(way.indexed, s.beyond(l.name+".id"), way.passing))
		all = append(all, Statement{text, args})
	}
	return all
}

// The statements of a history, each with one value behind it: an id, or a text.

func HistoryByID() []string {
	return withOne(paymentsOfOrders, refundsOf, sessionsOfLeads, eventsByID, importsByID, agreementsOf, paymentsByID, sessionsByID, leadsByID, subscriptionsByID,
		subscriptionsOfOrders, chargebacksByID, chargebacksOf, mailsOf, bankLinesOf, bankLinesByID, deedsByID, attemptsOf(mostTriesEach))
}

func HistoryByText() []string {
	return withOne(paymentsUnder, strayPayments, strayChargebacks, eventsAbout, deedsTo)
}

func withOne(statements ...string) []string {
	for i := range statements {
		statements[i] += `($2)`
	}
	return statements
}
