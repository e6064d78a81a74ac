package storetest

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/listing"
)

// Walk is a read that is made over and over, however many rows there are: a list, a search, a count, a pick of what
// is due, a step of a sweep. None of them may cost more among many rows than among few.
type Walk struct {
	Name string
	Run  func(ctx context.Context, st *store.Store, at Place) error
}

// Place is where walks look: at one tenant's rows, and at what stands in the middle of them.
type Place struct {
	TenantID, GatewayID, ProfileID            uuid.UUID
	SessionID, SubscriptionID, TransactionID  uuid.UUID
	From, Before                              time.Time // the days of the rows
	Email, Reference, Holder, Amount, Account string
}

// Walks are all of them.
func Walks() []Walk {
	return slices.Concat(lists(), searches(), picks(), deliveries(), sweeps())
}

// walking makes one of a read that gives something.
func walking[T any](name string, read func(context.Context, *store.Store, Place) (T, error)) Walk {
	return Walk{name, func(ctx context.Context, st *store.Store, at Place) error {
		_, err := read(ctx, st, at)
		return err
	}}
}

const walkPage = 50

// lists are pages in the middle of what merchants and operators list.
func lists() []Walk {
	window := func(at Place) listing.Window {
		return listing.Window{From: at.From, Before: at.Before, Beyond: &listing.Position{At: at.From.Add(at.Before.Sub(at.From) / 2)}, Limit: walkPage}
	}
	return []Walk{
		walking("list of transactions", func(ctx context.Context, st *store.Store, at Place) (listing.Listed[payment.Transaction], error) {
			return listing.Transactions(ctx, st.Tenant(at.TenantID), window(at), listing.TransactionFilter{})
		}),
		walking("list of declined transactions", func(ctx context.Context, st *store.Store, at Place) (listing.Listed[payment.Transaction], error) {
			return listing.Transactions(ctx, st.Tenant(at.TenantID), window(at), listing.TransactionFilter{Statuses: []payment.TransactionStatus{payment.TransactionDeclined}})
		}),
		walking("list of transactions by change", func(ctx context.Context, st *store.Store, at Place) (listing.Listed[payment.Transaction], error) {
			w := window(at)
			w.ByUpdate = true
			return listing.Transactions(ctx, st.Tenant(at.TenantID), w, listing.TransactionFilter{})
		}),
		walking("list of subscriptions", func(ctx context.Context, st *store.Store, at Place) (listing.Listed[payment.Subscription], error) {
			return listing.Subscriptions(ctx, st.Tenant(at.TenantID), window(at), listing.SubscriptionFilter{})
		}),
		walking("list of chargebacks", func(ctx context.Context, st *store.Store, at Place) (listing.Listed[payment.Chargeback], error) {
			return listing.Chargebacks(ctx, st.Tenant(at.TenantID), window(at), listing.ChargebackFilter{})
		}),
		walking("list of sessions", func(ctx context.Context, st *store.Store, at Place) (listing.Listed[listing.SessionRecord], error) {
			return listing.Sessions(ctx, st.Tenant(at.TenantID), window(at), listing.SessionFilter{Now: at.Before})
		}),
		walking("list of deliveries", func(ctx context.Context, st *store.Store, at Place) ([]listing.DeliveryRecord, error) {
			return listing.Deliveries(ctx, st.Tenant(at.TenantID), listing.DeliveryFilter{ProfileID: at.ProfileID}, listing.Paging{Limit: walkPage})
		}),
		walking("list of deliveries of an endpoint that has none", func(ctx context.Context, st *store.Store, at Place) ([]listing.DeliveryRecord, error) {
			return listing.Deliveries(ctx, st.Tenant(at.TenantID), listing.DeliveryFilter{ProfileID: at.TenantID}, listing.Paging{Limit: walkPage})
		}),
		walking("list of failed deliveries", func(ctx context.Context, st *store.Store, at Place) ([]listing.DeliveryRecord, error) {
			return listing.Deliveries(ctx, st.Tenant(at.TenantID), listing.DeliveryFilter{ProfileID: at.ProfileID, Status: store.DeliveryFailed}, listing.Paging{Limit: walkPage})
		}),
		walking("feed of events", func(ctx context.Context, st *store.Store, at Place) ([]store.FeedEvent, error) {
			return st.Tenant(at.TenantID).Feed(ctx, 1, store.FeedAll, walkPage)
		}),
		walking("feed of events that nobody took", func(ctx context.Context, st *store.Store, at Place) ([]store.FeedEvent, error) {
			return st.Tenant(at.TenantID).Feed(ctx, 1, store.FeedUndelivered, walkPage)
		}),
		walking("beginning of the feed", func(ctx context.Context, st *store.Store, at Place) (int64, error) {
			return st.Tenant(at.TenantID).FeedStart(ctx, at.From)
		}),
		walking("history of a subscription", func(ctx context.Context, st *store.Store, at Place) (listing.History, error) {
			return listing.ReadHistory(ctx, st.Tenant(at.TenantID), listing.Subject{SubscriptionID: at.SubscriptionID})
		}),
		walking("attempts of a session", func(ctx context.Context, st *store.Store, at Place) ([]payment.Transaction, error) {
			return st.Tenant(at.TenantID).AttemptsOf(ctx, at.SessionID)
		}),
		walking("refunds of a payment that were reported", func(ctx context.Context, st *store.Store, at Place) ([]payment.Transaction, error) {
			return st.Tenant(at.TenantID).ReportedRefunds(ctx, payment.Transaction{ID: at.TransactionID, CreatedAt: at.From})
		}),
	}
}

// searches are what is typed into the search field of each list, and the counts above them.
func searches() (all []Walk) {
	typed := []struct {
		what string
		text func(Place) string
	}{
		{"the newest", func(Place) string { return "" }},
		{"an e-mail address", func(at Place) string { return at.Email }},
		{"a reference", func(at Place) string { return at.Reference }},
		{"an id", func(at Place) string { return at.SessionID.String() }},
		{"a name", func(at Place) string { return at.Holder }},
		{"an amount", func(at Place) string { return at.Amount }},
		{"an account's last digits", func(at Place) string { return at.Account }},
	}
	for _, by := range typed {
		common := func(at Place) listing.Common { return listing.Common{TenantID: at.TenantID, Text: by.text(at)} }
		page := listing.Paging{Limit: walkPage}
		all = append(all,
			walking("transactions by "+by.what, func(ctx context.Context, st *store.Store, at Place) (listing.Part[payment.Debit], error) {
				return listing.SearchTransactions(ctx, st, listing.TransactionSearch{Common: common(at)}, page)
			}),
			walking("count of transactions by "+by.what, func(ctx context.Context, st *store.Store, at Place) (listing.Count, error) {
				return listing.CountTransactions(ctx, st, listing.TransactionSearch{Common: common(at)})
			}),
			walking("sessions by "+by.what, func(ctx context.Context, st *store.Store, at Place) (listing.Part[listing.SessionRecord], error) {
				return listing.SearchSessions(ctx, st, listing.SessionSearch{Common: common(at), Now: at.Before}, page)
			}),
			walking("count of sessions by "+by.what, func(ctx context.Context, st *store.Store, at Place) (listing.Count, error) {
				return listing.CountSessions(ctx, st, listing.SessionSearch{Common: common(at), Now: at.Before})
			}),
			walking("subscriptions by "+by.what, func(ctx context.Context, st *store.Store, at Place) (listing.Part[payment.Subscription], error) {
				return listing.SearchSubscriptions(ctx, st, listing.SubscriptionSearch{Common: common(at)}, page)
			}),
			walking("leads by "+by.what, func(ctx context.Context, st *store.Store, at Place) (listing.Part[listing.LeadRecord], error) {
				return listing.SearchLeads(ctx, st, listing.LeadSearch{Common: common(at)}, page)
			}),
			walking("mandates by "+by.what, func(ctx context.Context, st *store.Store, at Place) (listing.Part[listing.MandateRecord], error) {
				return listing.SearchMandates(ctx, st, listing.MandateSearch{Common: common(at)}, page)
			}),
			walking("events by "+by.what, func(ctx context.Context, st *store.Store, at Place) (listing.Part[listing.EventRecord], error) {
				return listing.SearchEvents(ctx, st, listing.EventSearch{Common: common(at)}, page)
			}),
			walking("chargebacks by "+by.what, func(ctx context.Context, st *store.Store, at Place) (listing.Part[payment.Chargeback], error) {
				return listing.SearchChargebacks(ctx, st, listing.ChargebackSearch{Common: common(at)}, page)
			}))
	}
	return all
}

// errWalked takes back a unit that has only looked.
var errWalked = errors.New("storetest: walked")

// lookIn runs the reads of a unit of work.
func lookIn(ctx context.Context, st *store.Store, now time.Time, look func(*store.Tx) error) (none struct{}, err error) {
	err = st.Write(ctx, now, func(tx *store.Tx) error {
		if err := look(tx); err != nil {
			return err
		}
		return errWalked
	})
	if errors.Is(err, errWalked) {
		err = nil
	}
	return none, err
}

// Reads counts what a PostgreSQL has read of its tables: rows that it went through from end to end, and rows by an index. The
// store asks over one connection, which hands in its counts when it is told to.
func Reads(ctx context.Context, st *store.Store) (whole, indexed int64, err error) {
	for _, query := range []string{`SELECT 0, 0 FROM (SELECT pg_stat_force_next_flush()) AS told`, `
		SELECT SUM(CASE WHEN relname IN ('transactions', 'subscriptions', 'sessions', 'leads', 'orders', 'events', 'webhook_attempts', 'mandate_acceptances', 'chargebacks')
			THEN seq_tup_read ELSE 0 END)::bigint, SUM(COALESCE(idx_tup_fetch, 0))::bigint FROM pg_stat_user_tables WHERE relname NOT LIKE 'river%'`} {
		result, failed := st.Query(ctx, query)
		_, err = db.One(result, failed, func(r db.Rows) (none struct{}, err error) { return none, r.Scan(&whole, &indexed) })
		if err != nil {
			return 0, 0, err
		}
	}
	return whole, indexed, nil
}
