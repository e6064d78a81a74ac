package listing_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store/listing"
	"sepad/internal/store/storetest"
)

// rarely is how many transactions there are for each that is declined: so many that a page between two of them finds none.
const rarely = listing.SearchDepth + 500

// fillRare gives a tenant many transactions of which few are declined, and the
// ids of those, newest first.
func fillRare(t *testing.T, env *storetest.Env, tenantID uuid.UUID, count int) (declined []uuid.UUID) {
	t.Helper()
	rows := make([]payment.Transaction, count)
	for i := range rows {
		tx := fullTransaction(tenantID)
		tx.Status, tx.MerchantTransactionID, tx.TenantReferenceID = payment.TransactionApproved, fmt.Sprint("TXN-", i), nil
		if i%rarely == 0 {
			tx.Status = payment.TransactionDeclined
			declined = append(declined, tx.ID)
		}
		rows[i] = tx
	}
	env.InsertTransactions(t, rows)
	slices.Reverse(declined)
	return declined
}

// walkSearch follows a search to its end, and gives the ids and how many pages
// it took.
func walkSearch(t *testing.T, env *storetest.Env, f listing.TransactionSearch, s listing.Paging) (ids []uuid.UUID, pages int) {
	t.Helper()
	for {
		part, err := listing.SearchTransactions(t.Context(), env.Store, f, s)
		if err != nil {
			t.Fatal(err)
		}
		pages++
		var page []uuid.UUID
		for _, c := range part.Rows {
			page = append(page, c.Transaction.ID)
		}
		if s.Back {
			ids = append(page, ids...)
		} else {
			ids = append(ids, page...)
		}
		switch {
		case part.Reached != uuid.Nil:
			s.Beyond = part.Reached
		case len(page) == s.Limit && s.Back:
			s.Beyond = page[0]
		case len(page) == s.Limit:
			s.Beyond = page[len(page)-1]
		default:
			return ids, pages
		}
	}
}

func TestSearchForWhatIsRare(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop, other := env.Tenant(t).ID, env.Tenant(t).ID
		want := fillRare(t, env, shop, 2*rarely+1)
		all := slices.Concat(fillRare(t, env, other, rarely+1), want) // the other tenant's are newer
		for name, test := range map[string]struct {
			tenant uuid.UUID
			want   []uuid.UUID
		}{"of one tenant": {shop, want}, "of all tenants": {uuid.Nil, all}} {
			f := listing.TransactionSearch{Common: listing.Common{TenantID: test.tenant}, Status: payment.TransactionDeclined}
			got, pages := walkSearch(t, env, f, listing.Paging{Limit: 2})
			if !slices.Equal(got, test.want) {
				t.Errorf("%s: found %v, want %v", name, got, test.want)
			}
			if least := 2 * rarely / listing.SearchDepth; pages <= least {
				t.Errorf("%s: %d pages have looked at more than they may", name, pages)
			}
			back, _ := walkSearch(t, env, f, listing.Paging{Limit: 2, Back: true, Beyond: uuid.UUID{15: 1}})
			if !slices.Equal(back, test.want) {
				t.Errorf("%s, backward: found %v, want %v", name, back, test.want)
			}
		}
	})
}

// expectSearchesAlongIndexes: a search reads along an index, whatever it asks for.
func expectSearchesAlongIndexes(t *testing.T, env *storetest.Env, l library) {
	t.Helper()
	for name, text := range searches(l) {
		for _, s := range []listing.Paging{{Beyond: payment.NewID(), Limit: 101}, {Beyond: payment.NewID(), Back: true, Limit: 101}} {
			statement, args := text(s)
			plan := env.Explain(t, statement, append([]any{l.tenantID.String()}, args...))
			fault := wayFault(env.Engine, plan)
			if readsInPassing[name] {
				fault = scanIn(env.Engine, plan)
			}
			if fault != "" {
				t.Errorf("%s, backward %v: the plan has %s:\n%s", name, s.Back, fault, plan)
			}
		}
	}
}

// expectWaysAlongIndexes: whatever is typed into the search field is found along an index.
func expectWaysAlongIndexes(t *testing.T, env *storetest.Env, l library) {
	t.Helper()
	for _, typed := range []string{l.rare.String(), "a@x.example", "3000", "29.99", "TXN-1", "txn-1", "Ana Müller"} {
		common := listing.Common{Text: typed}
		expectPagesAlongIndexes(t, env, l, common, listing.Paging{Limit: 51})
		expectPagesAlongIndexes(t, env, l, common, listing.Paging{Beyond: payment.NewID(), Limit: 51})
	}
}

func expectPagesAlongIndexes(t *testing.T, env *storetest.Env, l library, common listing.Common, s listing.Paging) {
	t.Helper()
	for name, ways := range map[string][]listing.Statement{
		"transactions":  listing.TransactionSearch{Common: common}.Ways(s),
		"sessions":      listing.SessionSearch{Common: common}.Ways(s),
		"chargebacks":   listing.ChargebackSearch{Common: common}.Ways(s),
		"subscriptions": listing.SubscriptionSearch{Common: common}.Ways(s),
		"leads":         listing.LeadSearch{Common: common}.Ways(s),
		"events":        listing.EventSearch{Common: common}.Ways(s),
		"mandates":      listing.MandateSearch{Common: common}.Ways(s),
	} {
		if len(ways) == 0 {
			t.Errorf("%q can mean nothing in %s", common.Text, name)
		}
		for _, way := range ways {
			plan := env.Explain(t, way.Text, append([]any{l.tenantID.String()}, way.Args...))
			if fault := wayFault(env.Engine, plan); fault != "" {
				t.Errorf("%q in %s: the plan has %s:\n%s\n%s", common.Text, name, fault, way.Text, plan)
			}
		}
	}
}

// wayFault is what a way to something that was typed must not have: a table that is read whole, or as SQLite would have it, all
// that one tenant has. "f" and "w" are the few that were found before.
func wayFault(engine, plan string) string {
	if engine == "postgres" {
		return scanIn(engine, plan)
	}
	for line := range strings.Lines(plan) {
		line = strings.TrimSpace(line)
		isFew := strings.HasSuffix(line, "SCAN f") || strings.HasSuffix(line, "SCAN w")
		if strings.Contains(line, "SCAN ") && !isFew || strings.HasSuffix(line, "(tenant_id=?)") || strings.HasSuffix(line, "(tenant_id=? AND id<?)") || strings.HasSuffix(line, "(tenant_id=? AND id>?)") {
			return line
		}
	}
	return ""
}

// readsInPassing are searches that hold one record after the other against what was asked for.
var readsInPassing = map[string]bool{
	"chargebacks": true, "chargebacks by reason": true, "chargebacks of a day": true, "subscriptions": true, "subscriptions by status": true,
	"sessions": true, "sessions by status": true, "sessions of a campaign": true, "leads": true, "leads of a day": true, "transactions": true,
	"transactions of a gateway": true, "transactions by status": true, "transactions by type": true, "transactions of a day": true,
}

// searches are all of them with one condition each.
func searches(l library) map[string]func(listing.Paging) (string, []any) {
	common := listing.Common{CreatedFrom: storetest.Start, CreatedBefore: storetest.Start.AddDate(0, 0, 1)}
	all := map[string]func(listing.Paging) (string, []any){
		"chargebacks":               listing.ChargebackSearch{}.Statement,
		"chargebacks by reference":  listing.ChargebackSearch{MerchantTransactionID: "TXN-1"}.Statement,
		"chargebacks of a payment":  listing.ChargebackSearch{TransactionID: l.rare}.Statement,
		"chargebacks by reason":     listing.ChargebackSearch{ReasonCode: "AM04"}.Statement,
		"chargebacks of a day":      listing.ChargebackSearch{Common: common}.Statement,
		"subscriptions":             listing.SubscriptionSearch{}.Statement,
		"subscriptions by order":    listing.SubscriptionSearch{OrderNumber: "ORD-1"}.Statement,
		"subscriptions by address":  listing.SubscriptionSearch{EmailKey: "a@x.example"}.Statement,
		"subscriptions by status":   listing.SubscriptionSearch{Status: payment.SubscriptionCancelled}.Statement,
		"sessions":                  listing.SessionSearch{}.Statement,
		"sessions by address":       listing.SessionSearch{EmailKey: "a@x.example"}.Statement,
		"sessions of a lead":        listing.SessionSearch{LeadID: l.rare}.Statement,
		"sessions by order":         listing.SessionSearch{OrderNumber: "ORD-1"}.Statement,
		"sessions by status":        listing.SessionSearch{Status: payment.SessionExpired, Now: storetest.Start}.Statement,
		"sessions of a campaign":    listing.SessionSearch{CampaignID: l.rare}.Statement,
		"leads":                     listing.LeadSearch{}.Statement,
		"leads by address":          listing.LeadSearch{EmailKey: "a@x.example"}.Statement,
		"leads of a day":            listing.LeadSearch{Common: common}.Statement,
		"transactions of a gateway": listing.TransactionSearch{GatewayID: l.rare}.Statement,
	}
	for name, f := range map[string]listing.TransactionSearch{
		"": {}, " by reference": {MerchantTransactionID: "TXN-1"}, " by the gateway's id": {GatewayReference: "GW-9"},
		" by the merchant's id": {TenantReferenceID: "order-9"}, " by order": {OrderNumber: "ORD-1"}, " of a session": {SessionID: l.rare},
		" of a subscription": {SubscriptionID: l.rare}, " by address": {EmailKey: "a@x.example"},
		" by status": {Status: payment.TransactionDeclined}, " by type": {Type: "sdd_refund"}, " of a day": {Common: common},
	} {
		all["transactions"+name] = f.Statement
	}
	return all
}

// scanIn names a table that is read from one end to the other. Those that the
// library leaves empty PostgreSQL may read so: it knows that they are.
func scanIn(engine, plan string) string {
	faults := []string{"Seq Scan on transactions", "Seq Scan on chargebacks", "Seq Scan on subscriptions"}
	if engine == "sqlite" {
		faults = []string{"SCAN "}
	}
	for _, fault := range faults {
		if strings.Contains(plan, fault) {
			return fault
		}
	}
	return ""
}
