package recon

import (
	"context"

	"sepad/internal/payment"
	"sepad/internal/record"
	"sepad/internal/store"
	"sepad/internal/store/listing"
)

// Listing is one of the three endpoints of reconciliation, or a merchant's list of
// sessions, which is paged alike and has no other form than JSON.
type Listing[T any] struct {
	// Name is that of the endpoint and of its files.
	Name string
	// Element is what XML calls a record.
	Element string
	Columns record.Columns[T]
	// parameters reads those that are the endpoint's own.
	parameters func(reader, *Query)
	position   func(*T) listing.Position
	// changed is the place of a record in the order of changes, nil where that is not
	// offered.
	changed func(*T) listing.Position
	read    func(context.Context, store.Tenant, listing.Window, Filters) (listing.Listed[T], error)
}

// Transactions lists transactions by date_processed.
var Transactions = &Listing[payment.Transaction]{
	Name: "transactions", Element: "transaction", Columns: record.Transactions,
	parameters: func(r reader, q *Query) {
		readExport(r, q, "date_processed", texts(payment.TransactionStatuses), payment.StandardizedTypes)
	},
	position: func(t *payment.Transaction) listing.Position { return listing.Position{At: t.ProcessedAt, ID: t.ID} },
	changed:  func(t *payment.Transaction) listing.Position { return listing.Position{At: t.UpdatedAt, ID: t.ID} },
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
	parameters: func(r reader, q *Query) {
		readExport(r, q, "report_date", []string{payment.ChargebackStatus}, []string{payment.ChargebackType})
	},
	position: func(c *payment.Chargeback) listing.Position { return listing.Position{At: c.ReportedAt, ID: c.ID} },
	changed:  func(c *payment.Chargeback) listing.Position { return listing.Position{At: c.UpdatedAt, ID: c.ID} },
	read: func(ctx context.Context, tenant store.Tenant, w listing.Window, f Filters) (listing.Listed[payment.Chargeback], error) {
		return listing.Chargebacks(ctx, tenant, w, listing.ChargebackFilter{GatewayID: f.GatewayID})
	},
}

// Subscriptions lists subscriptions by created_at.
var Subscriptions = &Listing[payment.Subscription]{
	Name: "subscriptions", Element: "subscription", Columns: record.Subscriptions,
	parameters: func(r reader, q *Query) {
		readExport(r, q, "created_at", texts(payment.SubscriptionStatuses), nil)
		q.Filters.NextBillingFrom, q.Filters.NextBillingTo = r.between(paramBillingFrom, paramBillingTo)
	},
	position: func(s *payment.Subscription) listing.Position { return listing.Position{At: s.CreatedAt, ID: s.ID} },
	changed:  func(s *payment.Subscription) listing.Position { return listing.Position{At: s.UpdatedAt, ID: s.ID} },
	read: func(ctx context.Context, tenant store.Tenant, w listing.Window, f Filters) (listing.Listed[payment.Subscription], error) {
		return listing.Subscriptions(ctx, tenant, w, listing.SubscriptionFilter{
			Statuses: typed[payment.SubscriptionStatus](f.Statuses), GatewayID: f.GatewayID,
			NextBillingFrom: f.NextBillingFrom, NextBillingTo: f.NextBillingTo,
		})
	},
}

const (
	longestEmail     = 254
	longestReference = 255
)

// Sessions lists sessions by created_at.
var Sessions = &Listing[listing.SessionRecord]{
	Name: "sessions",
	parameters: func(r reader, q *Query) {
		q.Start, q.End = r.between(paramCreatedFrom, paramCreatedTo)
		q.Filters = Filters{
			Statuses: r.list(paramStatus, texts(payment.SessionStatuses)), TenantReferenceID: r.text(paramReference, longestReference),
			EmailKey: payment.Lead{Email: r.text(paramEmail, longestEmail)}.EmailKey(),
		}
	},
	position: func(s *listing.SessionRecord) listing.Position {
		return listing.Position{At: s.CreatedAt, ID: s.ID}
	},
	read: func(ctx context.Context, tenant store.Tenant, w listing.Window, f Filters) (listing.Listed[listing.SessionRecord], error) {
		return listing.Sessions(ctx, tenant, w, listing.SessionFilter{
			Statuses: typed[payment.SessionStatus](f.Statuses), Now: f.Now, EmailKey: f.EmailKey, TenantReferenceID: f.TenantReferenceID,
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
