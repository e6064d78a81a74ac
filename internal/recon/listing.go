package recon

import (
	"context"

	"sepad/internal/payment"
	"sepad/internal/record"
	"sepad/internal/store"
	"sepad/internal/store/listing"
)

// Listing is one of the three endpoints.
type Listing[T any] struct {
	// Name is that of the endpoint and of its files.
	Name string
	// Element is what XML calls a record.
	Element string
	Columns record.Columns[T]
	// statuses and types are the values that the filters know; an endpoint
	// without types has no such parameter.
	statuses, types []string
	// byBillingDate tells that next_billing_date_from and _to are parameters.
	byBillingDate bool
	position      func(*T) listing.Position
	read          func(context.Context, store.Tenant, listing.Window, Filters) (listing.Listed[T], error)
}

// Transactions lists transactions by date_processed.
var Transactions = &Listing[payment.Transaction]{
	Name: "transactions", Element: "transaction", Columns: record.Transactions,
	statuses: texts(payment.TransactionStatuses), types: payment.StandardizedTypes,
	position: func(t *payment.Transaction) listing.Position { return listing.Position{At: t.ProcessedAt, ID: t.ID} },
	read: func(ctx context.Context, tenant store.Tenant, w listing.Window, f Filters) (listing.Listed[payment.Transaction], error) {
		return listing.Transactions(ctx, tenant, w, listing.TransactionFilter{
			Statuses: typed[payment.TransactionStatus](f.Statuses), Types: f.Types, GatewayID: f.GatewayID,
		})
	},
}

// Chargebacks lists chargebacks by report_date. They have one status and one
// type, so that these filters can be checked but cannot narrow anything.
var Chargebacks = &Listing[payment.Chargeback]{
	Name: "chargebacks", Element: "chargeback", Columns: record.Chargebacks,
	statuses: []string{payment.ChargebackStatus}, types: []string{payment.ChargebackType},
	position: func(c *payment.Chargeback) listing.Position { return listing.Position{At: c.ReportedAt, ID: c.ID} },
	read: func(ctx context.Context, tenant store.Tenant, w listing.Window, f Filters) (listing.Listed[payment.Chargeback], error) {
		return listing.Chargebacks(ctx, tenant, w, listing.ChargebackFilter{GatewayID: f.GatewayID})
	},
}

// Subscriptions lists subscriptions by created_at.
var Subscriptions = &Listing[payment.Subscription]{
	Name: "subscriptions", Element: "subscription", Columns: record.Subscriptions,
	statuses: texts(payment.SubscriptionStatuses), byBillingDate: true,
	position: func(s *payment.Subscription) listing.Position { return listing.Position{At: s.CreatedAt, ID: s.ID} },
	read: func(ctx context.Context, tenant store.Tenant, w listing.Window, f Filters) (listing.Listed[payment.Subscription], error) {
		return listing.Subscriptions(ctx, tenant, w, listing.SubscriptionFilter{
			Statuses: typed[payment.SubscriptionStatus](f.Statuses), GatewayID: f.GatewayID,
			NextBillingFrom: f.NextBillingFrom, NextBillingTo: f.NextBillingTo,
		})
	},
}

func texts[S ~string](values []S) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = string(v)
	}
	return all
}

func typed[S ~string](values []string) []S {
	all := make([]S, len(values))
	for i, v := range values {
		all[i] = S(v)
	}
	return all
}
