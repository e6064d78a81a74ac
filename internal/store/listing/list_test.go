package listing_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/listing"
	"sepad/internal/store/storetest"
)

// listedDay is the day on which everything in these tests happens.
var listedDay = payment.DateOf(storetest.Start)

// wholeDay is the window of all that happened that day.
func wholeDay(limit int) listing.Window {
	return listing.Window{From: listedDay.Start(), Before: listedDay.AddDays(1).Start(), Limit: limit}
}

// fullTransaction has every field that a record shows.
func fullTransaction(tenantID uuid.UUID) payment.Transaction {
	return payment.Transaction{
		ID: payment.NewID(), TenantID: tenantID, OrderID: new(payment.NewID()), SubscriptionID: new(payment.NewID()),
		LeadID: new(payment.NewID()), GatewayID: payment.NewID(), MerchantTransactionID: "TXN-" + payment.NewID().String(),
		TenantReferenceID: new("order-1"), GatewayReference: "GW-1", Status: payment.TransactionApproved, Type: payment.Sale,
		AmountMinor: 29_99, Currency: "EUR", Source: payment.SourceAPI, MaskedIBAN: "******************3000",
		BIC: "COBADEFFXXX", HolderName: "Anna Müller", Email: "anna@example.org", MandateReference: "MND-ABCDEFGHIJKL",
		MandateAt: storetest.Start, ProcessedAt: storetest.Start, CreatedAt: storetest.Start.Add(-time.Second),
		UpdatedAt: storetest.Start.Add(time.Second),
	}
}

func fullChargeback(tenantID uuid.UUID) payment.Chargeback {
	return payment.Chargeback{
		ID: payment.NewID(), TenantID: tenantID, GatewayID: payment.NewID(), TransactionID: new(payment.NewID()),
		LeadID: new(payment.NewID()), MerchantTransactionID: "TXN-" + payment.NewID().String(), TenantReferenceID: new("order-1"),
		GatewayReference: "CB-1", AmountMinor: 29_99, Currency: "EUR", ReportedAt: storetest.Start,
		TransactionAt: storetest.Start.AddDate(0, 0, -9), ReasonCode: "MD06", ReasonMessage: "Refund request", ReportType: "T",
		ReportMessage: "M", ReportInfo: "I", ARN: "74", MaskedIBAN: "******************3000", BIC: "COBADEFFXXX",
		Email: "anna@example.org", Country: "DE", Source: payment.ChargebackManual, BankFeeMinor: new(payment.Minor(3_50)),
		CreatedAt: storetest.Start, UpdatedAt: storetest.Start,
	}
}

func fullSubscription(tenantID uuid.UUID) payment.Subscription {
	return payment.Subscription{
		ID: payment.NewID(), TenantID: tenantID, OrderID: payment.NewID(), LeadID: payment.NewID(), OfferID: new(payment.NewID()),
		GatewayID: payment.NewID(), Status: payment.SubscriptionActive, AmountMinor: 29_99, Currency: "EUR",
		Frequency: payment.Monthly, StartedAt: storetest.Start, NextBillingDate: listedDay.AddMonths(1),
		TrialEndDate: listedDay.AddDays(14), AnchorDate: listedDay, LastBilledAt: storetest.Start, CancelledAt: storetest.Start,
		SuccessfulCount: 3, FailedCount: 1, RevenueMinor: -8997, CreatedAt: storetest.Start, UpdatedAt: storetest.Start,
	}
}

func TestListedRecordsAreWhole(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		tenantID, gatewayID, at := env.Tenant(t).ID, payment.NewID(), storetest.Start.Add(-time.Hour)
		scope := env.Store.Tenant(tenantID)
		full, sparse := fullTransaction(tenantID), payment.Transaction{
			ID: payment.NewID(), TenantID: tenantID, GatewayID: gatewayID, MerchantTransactionID: "TXN-2",
			Status: payment.TransactionPending, Type: payment.Mandate, Currency: "EUR", ProcessedAt: at, CreatedAt: at, UpdatedAt: at,
		}
		env.InsertTransactions(t, []payment.Transaction{sparse, full})
		full.TenantID, sparse.TenantID = uuid.Nil, uuid.Nil // a listing is the tenant's, and does not say so in each row
		wantListed(t, scope, listing.Transactions, listing.TransactionFilter{}, []payment.Transaction{full, sparse})

		reported, unlinked := fullChargeback(tenantID), payment.Chargeback{
			ID: payment.NewID(), TenantID: tenantID, GatewayID: gatewayID, MerchantTransactionID: "TXN-2", Currency: "EUR",
			Source: payment.ChargebackImported, ReportedAt: at, CreatedAt: at, UpdatedAt: at,
		}
		env.InsertChargebacks(t, []payment.Chargeback{unlinked, reported})
		reported.TenantID, unlinked.TenantID = uuid.Nil, uuid.Nil
		wantListed(t, scope, listing.Chargebacks, listing.ChargebackFilter{}, []payment.Chargeback{reported, unlinked})

		started, bare := fullSubscription(tenantID), payment.Subscription{
			ID: payment.NewID(), TenantID: tenantID, OrderID: payment.NewID(), LeadID: payment.NewID(), GatewayID: gatewayID,
			Status: payment.SubscriptionCancelled, Currency: "EUR", AnchorDate: listedDay, StartedAt: at, CreatedAt: at, UpdatedAt: at,
		}
		env.InsertSubscriptions(t, []payment.Subscription{bare, started})
		started.TenantID, bare.TenantID = uuid.Nil, uuid.Nil
		wantListed(t, scope, listing.Subscriptions, listing.SubscriptionFilter{}, []payment.Subscription{started, bare})
	})
}

// lister is one of the listings.
type lister[T, F any] func(context.Context, store.Tenant, listing.Window, F) (listing.Listed[T], error)

func wantListed[T, F any](t *testing.T, scope store.Tenant, list lister[T, F], f F, want []T) {
	t.Helper()
	page, err := list(t.Context(), scope, wholeDay(10), f)
	if err != nil {
		t.Fatal(err)
	}
	if page.More || len(page.Rows) != len(want) {
		t.Fatalf("%d records are listed and more: %v", len(page.Rows), page.More)
	}
	for i := range want {
		storetest.Equal(t, page.Rows[i], want[i])
	}
}

// shelf is what the filters of transactions are tried on: few values, and many
// records of one instant.
type shelf struct {
	tenantID uuid.UUID
	gateways []uuid.UUID
	rows     []payment.Transaction // newest first
}

func fillShelf(t *testing.T, env *storetest.Env, count int) shelf {
	t.Helper()
	s := shelf{tenantID: env.Tenant(t).ID, gateways: []uuid.UUID{payment.NewID(), payment.NewID(), payment.NewID()}}
	random := rand.New(rand.NewPCG(1, 2))
	types := []payment.TransactionType{payment.Sale, payment.Rebill, payment.Refund, payment.Mandate, "imported_otherwise"}
	for i := range count {
		s.rows = append(s.rows, payment.Transaction{
			ID: uuid.New(), TenantID: s.tenantID, GatewayID: s.gateways[random.IntN(3)], MerchantTransactionID: fmt.Sprint("TXN-", i),
			Status: payment.TransactionStatuses[random.IntN(5)], Type: types[random.IntN(5)], Currency: "EUR",
			ProcessedAt: listedDay.Start().Add(time.Duration(random.IntN(count/8)) * time.Second),
			CreatedAt:   storetest.Start, UpdatedAt: storetest.Start,
		})
	}
	env.InsertTransactions(t, s.rows)
	slices.SortFunc(s.rows, newestFirst)
	return s
}

func newestFirst(a, b payment.Transaction) int {
	if order := b.ProcessedAt.Compare(a.ProcessedAt); order != 0 {
		return order
	}
	return slices.Compare(b.ID[:], a.ID[:])
}

func (s shelf) matching(f listing.TransactionFilter) (ids []uuid.UUID) {
	for _, row := range s.rows {
		if (f.GatewayID == nil || *f.GatewayID == row.GatewayID) &&
			(len(f.Statuses) == 0 || slices.Contains(f.Statuses, row.Status)) &&
			(len(f.Types) == 0 || slices.Contains(f.Types, row.Type.Standardized())) {
			ids = append(ids, row.ID)
		}
	}
	return ids
}

// filters are all combinations of none, one and several values.
func (s shelf) filters() (all []listing.TransactionFilter) {
	for _, statuses := range [][]payment.TransactionStatus{nil, {payment.TransactionRefunded}, {payment.TransactionApproved, payment.TransactionPending}} {
		for _, types := range [][]string{nil, {"sdd_sale"}, {"other_type"}, {"other_type", "sdd_refund"}} {
			for _, gateway := range []*uuid.UUID{nil, &s.gateways[1]} {
				all = append(all, listing.TransactionFilter{Statuses: statuses, Types: types, GatewayID: gateway})
			}
		}
	}
	return all
}

func TestListedTransactionsAreThoseOfTheFilters(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		s := fillShelf(t, env, 400)
		scope := env.Store.Tenant(s.tenantID)
		for _, f := range s.filters() {
			want := s.matching(f)
			if len(want) == 0 {
				t.Fatalf("nothing matches %+v: the test shows nothing", f)
			}
			if got := walk(t, scope, f, false, nil); !slices.Equal(got, want) {
				t.Errorf("%+v: forward gives %d records, want %d", f, len(got), len(want))
			}
			oldest := &listing.Position{At: listedDay.Start().Add(-time.Second)}
			if got := walk(t, scope, f, true, oldest); !slices.Equal(got, want) {
				t.Errorf("%+v: backward gives %d records, want %d", f, len(got), len(want))
			}
		}
	})
}

// walk reads a whole listing in small pages and gives it newest first.
func walk(t *testing.T, scope store.Tenant, f listing.TransactionFilter, backward bool, from *listing.Position) (ids []uuid.UUID) {
	t.Helper()
	w := wholeDay(7)
	w.Backward, w.Beyond = backward, from
	for {
		page, err := listing.Transactions(t.Context(), scope, w, f)
		if err != nil {
			t.Fatal(err)
		}
		var more []uuid.UUID
		for _, row := range page.Rows {
			more = append(more, row.ID)
		}
		edge := len(page.Rows) - 1
		if backward {
			ids, edge = append(more, ids...), 0
		} else {
			ids = append(ids, more...)
		}
		if !page.More {
			return ids
		}
		w.Beyond = &listing.Position{At: page.Rows[edge].ProcessedAt, ID: page.Rows[edge].ID}
	}
}

func TestListingsEndWithTheirDays(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		tenantID := env.Tenant(t).ID
		at := func(instant time.Time) payment.Transaction {
			row := fullTransaction(tenantID)
			row.ProcessedAt, row.TenantReferenceID = instant, nil
			return row
		}
		first, last := at(listedDay.Start()), at(listedDay.AddDays(1).Start().Add(-time.Microsecond))
		unanswered := at(time.Time{})
		env.InsertTransactions(t, []payment.Transaction{
			at(listedDay.Start().Add(-time.Microsecond)), first, last, at(listedDay.AddDays(1).Start()), unanswered,
		})
		want := []uuid.UUID{last.ID, first.ID}
		if got := walk(t, env.Store.Tenant(tenantID), listing.TransactionFilter{}, false, nil); !slices.Equal(got, want) {
			t.Errorf("listed are %v, want %v", got, want)
		}
	})
}

func TestListedSubscriptionsAreThoseOfTheFilters(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		tenantID := env.Tenant(t).ID
		due := func(days int, status payment.SubscriptionStatus) payment.Subscription {
			row := fullSubscription(tenantID)
			row.NextBillingDate, row.Status = listedDay.AddDays(days), status
			return row
		}
		soon, later, past := due(3, payment.SubscriptionActive), due(30, payment.SubscriptionActive), due(3, payment.SubscriptionPastDue)
		never := due(0, payment.SubscriptionCancelled)
		never.NextBillingDate = payment.Date{}
		env.InsertSubscriptions(t, []payment.Subscription{soon, later, past, never})
		for name, c := range map[string]struct {
			filter listing.SubscriptionFilter
			want   []payment.Subscription
		}{
			"all":                {listing.SubscriptionFilter{}, []payment.Subscription{soon, later, past, never}},
			"one status":         {listing.SubscriptionFilter{Statuses: []payment.SubscriptionStatus{"ACTIVE"}}, []payment.Subscription{soon, later}},
			"one gateway":        {listing.SubscriptionFilter{GatewayID: &past.GatewayID}, []payment.Subscription{past}},
			"billed from a day":  {listing.SubscriptionFilter{NextBillingFrom: listedDay.AddDays(4)}, []payment.Subscription{later}},
			"billed up to a day": {listing.SubscriptionFilter{NextBillingTo: listedDay.AddDays(3)}, []payment.Subscription{soon, past}},
			"billed on a day and active": {listing.SubscriptionFilter{
				NextBillingFrom: listedDay.AddDays(3), NextBillingTo: listedDay.AddDays(3), Statuses: []payment.SubscriptionStatus{"ACTIVE"},
			}, []payment.Subscription{soon}},
		} {
			page, err := listing.Subscriptions(t.Context(), env.Store.Tenant(tenantID), wholeDay(10), c.filter)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := subscriptionIDs(page.Rows), subscriptionIDs(c.want); !slices.Equal(got, want) {
				t.Errorf("%s: got %v, want %v", name, got, want)
			}
		}
	})
}

// subscriptionIDs are in order of the ids: all of the test are of one instant.
func subscriptionIDs(rows []payment.Subscription) (ids []string) {
	for _, row := range rows {
		ids = append(ids, row.ID.String())
	}
	slices.Sort(ids)
	return ids
}
