package storetest

import (
	"context"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/listing"
)

// picks are how work is found that is due, and what is counted of it.
func picks() []Walk {
	return []Walk{
		walking("subscriptions due", func(ctx context.Context, st *store.Store, at Place) (struct{}, error) {
			return lookIn(ctx, st, at.Before, func(tx *store.Tx) error {
				_, err := tx.SubscriptionsDue(at.Before, walkPage)
				return err
			})
		}),
		walking("subscriptions to prepare", func(ctx context.Context, st *store.Store, at Place) (struct{}, error) {
			return lookIn(ctx, st, at.Before, func(tx *store.Tx) error {
				_, err := tx.SubscriptionsAhead(store.Ahead{TenantID: at.TenantID, GatewayID: at.GatewayID, Until: payment.DateOf(at.Before)}, at.Before, walkPage)
				return err
			})
		}),
		walking("next billing", func(ctx context.Context, st *store.Store, _ Place) (time.Time, error) { return st.NextBilling(ctx) }),
		walking("next billing of an account", func(ctx context.Context, st *store.Store, at Place) (payment.Date, error) {
			return st.Tenant(at.TenantID).NextBillingAfter(ctx, at.GatewayID, payment.DateOf(at.From))
		}),
		walking("next thing due", func(ctx context.Context, st *store.Store, at Place) (bool, error) {
			_, found, err := st.NextDue(ctx, at.From)
			return found, err
		}),
		walking("sessions due", func(ctx context.Context, st *store.Store, at Place) ([]store.Due, error) {
			return st.SessionsDue(ctx, at.From, walkPage)
		}),
		walking("settlements due", func(ctx context.Context, st *store.Store, at Place) ([]store.Due, error) {
			return st.SettlementsDue(ctx, at.Before, walkPage)
		}),
		walking("look-ups due", func(ctx context.Context, st *store.Store, at Place) ([]store.Due, error) {
			return st.LookupsDue(ctx, at.Before, walkPage)
		}),
		walking("rebills left open", func(ctx context.Context, st *store.Store, _ Place) ([]store.Due, error) { return st.OpenRebills(ctx) }),
		walking("unknown outcomes", func(ctx context.Context, st *store.Store, _ Place) (int, error) { return st.UnknownOutcomes(ctx) }),
		walking("collections that ended", func(ctx context.Context, st *store.Store, _ Place) ([]store.Due, error) {
			return st.CollectionsEnded(ctx, walkPage)
		}),
		walking("collections that wait", func(ctx context.Context, st *store.Store, _ Place) ([]store.BankDue, error) {
			return st.CollectionsWaiting(ctx)
		}),
		walking("accounts of which nothing is heard", func(ctx context.Context, st *store.Store, at Place) ([]store.BankDue, error) {
			return st.SilentAccounts(ctx, at.Before)
		}),
	}
}

// deliveries are how events are found that are to be sent, and what is told of all that waits.
func deliveries() []Walk {
	return []Walk{
		walking("endpoints with something in line", func(ctx context.Context, st *store.Store, _ Place) ([]store.Endpoint, error) {
			return st.EndpointsDue(ctx, 0)
		}),
		walking("deliveries in line", func(ctx context.Context, st *store.Store, at Place) ([]store.Delivery, error) {
			return st.Tenant(at.TenantID).DeliveriesDue(ctx, at.ProfileID, uuid.Nil, walkPage)
		}),
		walking("next retry of a delivery", func(ctx context.Context, st *store.Store, at Place) (time.Time, error) {
			return st.Tenant(at.TenantID).NextRetry(ctx, at.ProfileID, at.Before)
		}),
		walking("backlog of deliveries", func(ctx context.Context, st *store.Store, _ Place) (map[string]int, error) {
			return st.DeliveryBacklog(ctx)
		}),
		walking("arrears", func(ctx context.Context, st *store.Store, at Place) (store.Arrears, error) {
			return st.ReadArrears(ctx, at.From, at.From)
		}),
		walking("mails counted", func(ctx context.Context, st *store.Store, _ Place) (store.MailCounts, error) {
			return st.CountMails(ctx)
		}),
		walking("questions of the overview", func(ctx context.Context, st *store.Store, at Place) (listing.Questions, error) {
			return listing.ReadQuestions(ctx, st.Tenant(at.TenantID), at.From.UnixMicro())
		}),
		walking("days counted", func(ctx context.Context, st *store.Store, at Place) ([]listing.DayCount, error) {
			return listing.DayCounts(ctx, st.Tenant(at.TenantID), payment.DateOf(at.From), payment.DateOf(at.Before))
		}),
	}
}

// sweeps are steps of what goes on in the background; nothing is old enough to be removed.
func sweeps() []Walk {
	long := time.Unix(0, 0)
	past := store.Past{Service: long, Real: long}
	return []Walk{
		walking("sessions to forget", func(ctx context.Context, st *store.Store, at Place) (int, error) {
			return st.ForgetSessions(ctx, at.Before, long, walkPage, nil)
		}),
		walking("events to forget", func(ctx context.Context, st *store.Store, at Place) (int, error) {
			return st.ForgetEvents(ctx, at.TenantID, at.Before, past, walkPage)
		}),
		walking("attempts to forget", func(ctx context.Context, st *store.Store, at Place) (int, error) {
			return st.ForgetAttempts(ctx, at.TenantID, at.Before, long, walkPage)
		}),
		walking("evidence to forget", func(ctx context.Context, st *store.Store, at Place) (int, error) {
			gone, _, err := st.ForgetEvidence(ctx, at.TenantID, at.Before, past, uuid.Nil, walkPage)
			return gone, err
		}),
		walking("erasures due", func(ctx context.Context, st *store.Store, at Place) ([]store.Due, error) {
			return st.ErasuresDue(ctx, at.From, walkPage)
		}),
		walking("changes of days to sum up", func(ctx context.Context, st *store.Store, at Place) (bool, error) {
			return st.SumUpDays(ctx, at.Before)
		}),
		walking("events without a place in the feed", func(ctx context.Context, st *store.Store, at Place) (bool, error) {
			return st.Tenant(at.TenantID).HasUnnumbered(ctx, at.From)
		}),
		walking("a person by e-mail address", func(ctx context.Context, st *store.Store, at Place) (*store.Person, error) {
			return st.Tenant(at.TenantID).PersonByEmail(ctx, at.Email)
		}),
		walking("leads one after the other", func(ctx context.Context, st *store.Store, at Place) ([]store.NamedLead, error) {
			return st.Tenant(at.TenantID).LeadsAfter(ctx, uuid.Nil, walkPage)
		}),
	}
}
