package payment

import (
	"slices"
	"testing"
)

// The listings of the store read one range for each value of these lists: a
// value that is missing here would be missing from every filtered listing.
func TestListsOfValuesAreComplete(t *testing.T) {
	t.Parallel()
	for _, rule := range TransactionRules {
		if !slices.Contains(TransactionStatuses, rule.From) || !slices.Contains(TransactionStatuses, rule.To) {
			t.Errorf("the statuses of %+v are not all listed", rule)
		}
	}
	for _, rule := range SubscriptionRules {
		if !slices.Contains(SubscriptionStatuses, rule.From) || !slices.Contains(SubscriptionStatuses, rule.To) {
			t.Errorf("the statuses of %+v are not all listed", rule)
		}
	}
	for _, kind := range []TransactionType{Sale, Rebill, Refund, Mandate, "", "anything"} {
		if !slices.Contains(StandardizedTypes, kind.Standardized()) {
			t.Errorf("%q is standardized to %q, which is not listed", kind, kind.Standardized())
		}
	}
}
