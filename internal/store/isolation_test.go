package store_test

import (
	"context"
	"maps"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// tenantReads are all reads of a tenant's scope, each made so that it finds
// something that belongs to the shop. They tell how much they found.
func tenantReads(t *testing.T, env *storetest.Env, shop storetest.Shop) map[string]func(context.Context, store.Tenant) int {
	t.Helper()
	draft := env.Draft(shop)
	if err := createUnder(t, env, draft, "key-1"); err != nil {
		t.Fatal(err)
	}
	claimed := env.Attempt(t, env.Find(t, draft.Token))
	env.Write(t, func(tx *store.Tx) error {
		tx.RecordAcceptance(claimed.Transaction, acceptanceOf(env, claimed.Transaction))
		return nil
	})
	env.Write(t, func(tx *store.Tx) error {
		tx.PauseRebills(payment.RebillPause{TenantID: shop.ID, GatewayID: shop.Gateway.ID, Reason: payment.PausedByCreditorCode, Since: env.Now})
		return nil
	})
	env.Exec(t, `UPDATE transactions SET source = 'hosted_page' WHERE id = $1`, claimed.Transaction.ID.String())
	event := env.Settle(t, claimed, approved).Events[0]
	subscription := env.Settled(t, shop, storetest.WithTerms(storetest.Monthly)).Subscription
	env.Exec(t, "UPDATE events SET next_attempt_at = 5 WHERE id = $1", event.ID.String())
	_, key := env.APIKey(t, shop.ID)
	reads := deliveryReads(shop.Profile.ID)
	maps.Copy(reads, moneyReads(t, env, shop))
	maps.Copy(reads, billingReads(*subscription))
	maps.Copy(reads, mailReads(t, env, claimed.Transaction))
	maps.Copy(reads, bankReads(t, env, shop))
	maps.Copy(reads, feedReads(t, env, event.ID))
	maps.Copy(reads, personReads(t, env, shop))
	maps.Copy(reads, mandateReads(claimed.Transaction))
	maps.Copy(reads, refundReads(t, env, claimed.Transaction))
	maps.Copy(reads, map[string]func(context.Context, store.Tenant) int{
		"APIKeys": func(ctx context.Context, scope store.Tenant) int {
			keys, err := scope.APIKeys(ctx)
			return found(len(keys) > 0, err)
		},
		"Named": func(ctx context.Context, scope store.Tenant) int {
			_, taken, err := scope.Named(ctx, claimed.Transaction.MerchantTransactionID)
			return found(taken, err)
		},
		"KnowsKeyHash": func(ctx context.Context, scope store.Tenant) int {
			known, err := scope.KnowsKeyHash(ctx, merchant.HashAPIKey(key))
			return found(known, err)
		},
		"AttemptsOf": func(ctx context.Context, scope store.Tenant) int {
			attempts, err := scope.AttemptsOf(ctx, draft.ID)
			return found(len(attempts) > 0, err)
		},
		"OrderOf": func(ctx context.Context, scope store.Tenant) int {
			order, err := scope.OrderOf(ctx, draft.ID)
			return found(order != nil, err)
		},
		"Purchase": func(ctx context.Context, scope store.Tenant) int {
			_, err := scope.Debit(ctx, claimed.Transaction.ID)
			return found(true, err)
		},
		"Session": func(ctx context.Context, scope store.Tenant) int {
			_, err := scope.Session(ctx, draft.ID)
			return found(true, err)
		},
		"RebillPauses": func(ctx context.Context, scope store.Tenant) int {
			paused, err := scope.RebillPauses(ctx)
			return found(len(paused) > 0, err)
		},
		"Tenant": func(ctx context.Context, scope store.Tenant) int {
			tenant, err := scope.Tenant(ctx)
			return found(tenant.ID == shop.ID, err)
		},
	})
	return reads
}

// refundReads are those about what was given back: one refund is known from a file alone, and one of another payment of the day.
func refundReads(t *testing.T, env *storetest.Env, paid payment.Transaction) map[string]func(context.Context, store.Tenant) int {
	t.Helper()
	env.Write(t, func(tx *store.Tx) error {
		for _, name := range []string{payment.RefundReference(paid, 1, 0), payment.RefundsDay(paid) + "ANOTHERS"} {
			tx.AddTransaction(payment.Transaction{
				ID: payment.NewID(), TenantID: paid.TenantID, GatewayID: paid.GatewayID, MerchantTransactionID: name,
				Status: payment.TransactionApproved, Type: payment.Refund, AmountMinor: 1, Currency: paid.Currency, Source: payment.SourceImport,
			}, nil)
		}
		return nil
	})
	return map[string]func(context.Context, store.Tenant) int{
		"ReportedRefunds": func(ctx context.Context, scope store.Tenant) int {
			reported, err := scope.ReportedRefunds(ctx, paid)
			return found(len(reported) == 1, err)
		},
	}
}

// mandateReads are those about what a payer agreed to.
func mandateReads(paid payment.Transaction) map[string]func(context.Context, store.Tenant) int {
	return map[string]func(context.Context, store.Tenant) int{
		"Acceptance": func(ctx context.Context, scope store.Tenant) int {
			accepted, err := scope.Acceptance(ctx, paid.ID)
			return found(accepted != nil, err)
		},
		"MandateEvidence": func(ctx context.Context, scope store.Tenant) int {
			evidence, err := scope.MandateEvidence(ctx, paid.MandateReference)
			return found(len(evidence) > 0, err)
		},
	}
}

// personReads are those about persons, of whom one was erased and one is known from a
// file alone.
func personReads(t *testing.T, env *storetest.Env, shop storetest.Shop) map[string]func(context.Context, store.Tenant) int {
	t.Helper()
	person := env.Session(t, shop).Lead
	erased := env.Session(t, shop).Lead
	env.Exec(t, `UPDATE leads SET erased_at = 5 WHERE id = $1`, erased.ID.String())
	env.Exec(t, `UPDATE transactions SET lead_id = NULL WHERE id = $1`, env.Settled(t, shop).Transaction.ID.String())
	return map[string]func(context.Context, store.Tenant) int{
		"ErasedAt": func(ctx context.Context, scope store.Tenant) int {
			at, err := scope.ErasedAt(ctx, erased.ID)
			return found(!at.IsZero(), err)
		},
		"Lead": func(ctx context.Context, scope store.Tenant) int {
			_, err := scope.Lead(ctx, person.ID)
			return found(true, err)
		},
		"SessionHolding": func(ctx context.Context, scope store.Tenant) int {
			held, err := scope.SessionHolding(ctx, person)
			return found(held != nil, err)
		},
		"LeadsAfter": func(ctx context.Context, scope store.Tenant) int {
			leads, err := scope.LeadsAfter(ctx, uuid.Nil, 10)
			return found(len(leads) > 0, err)
		},
		"NamedPaymentsAfter": func(ctx context.Context, scope store.Tenant) int {
			named, err := scope.NamedPaymentsAfter(ctx, uuid.Nil, 10)
			return found(len(named) > 0, err)
		},
		"Person": func(ctx context.Context, scope store.Tenant) int {
			_, err := scope.Person(ctx, person.ID)
			return found(true, err)
		},
		"Survey": func(ctx context.Context, scope store.Tenant) int {
			all, err := scope.Survey(ctx, &store.Person{TenantID: scope.ID, LeadID: person.ID})
			return found(err == nil && all.Count("sessions") > 0, err)
		},
		"PersonByEmail": func(ctx context.Context, scope store.Tenant) int {
			_, err := scope.PersonByEmail(ctx, person.Email)
			return found(true, err)
		},
	}
}

// billingReads are those about a subscription.
func billingReads(subscription payment.Subscription) map[string]func(context.Context, store.Tenant) int {
	return map[string]func(context.Context, store.Tenant) int{
		"NextBillingAfter": func(ctx context.Context, scope store.Tenant) int {
			day, err := scope.NextBillingAfter(ctx, subscription.GatewayID, payment.Date{})
			return found(!day.IsZero(), err)
		},
		"DueSubscription": func(ctx context.Context, scope store.Tenant) int {
			_, err := scope.DueSubscription(ctx, subscription.ID)
			return found(true, err)
		},
		"Subscription": func(ctx context.Context, scope store.Tenant) int {
			_, err := scope.Subscription(ctx, subscription.ID)
			return found(true, err)
		},
	}
}

// deliveryReads are those about events on their way to a profile, of which one
// waits for another try.
func deliveryReads(profileID uuid.UUID) map[string]func(context.Context, store.Tenant) int {
	return map[string]func(context.Context, store.Tenant) int{
		"DeliveriesDue": func(ctx context.Context, scope store.Tenant) int {
			due, err := scope.DeliveriesDue(ctx, profileID, uuid.Nil, 10)
			return found(len(due) > 0, err)
		},
		"NextRetry": func(ctx context.Context, scope store.Tenant) int {
			at, err := scope.NextRetry(ctx, profileID, storetest.Start)
			return found(!at.IsZero(), err)
		},
	}
}

func found(something bool, err error) int {
	if something && err == nil {
		return 1
	}
	return 0
}

func TestTenantsAreApart(t *testing.T) {
	t.Parallel()

	t.Run("every read of a tenant's scope finds its own rows and never another's", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			shop, other := env.Shop(t), env.Shop(t)
			reads := tenantReads(t, env, shop)
			scope := reflect.TypeFor[store.Tenant]()
			for i := range scope.NumMethod() {
				name := scope.Method(i).Name
				if name == "Query" || name == "LaggingQuery" || name == "Browse" {
					continue // what the reads are made of
				}
				read, listed := reads[name]
				if !listed {
					t.Errorf("%s is not in the table of reads", name)
					continue
				}
				if read(t.Context(), env.Store.Tenant(shop.ID)) != 1 {
					t.Errorf("%s does not find the tenant's own rows", name)
				}
				if read(t.Context(), env.Store.Tenant(other.ID)) != 0 {
					t.Errorf("%s finds rows of another tenant", name)
				}
			}
		})
	})

	t.Run("a set-up holds the records of its tenant alone", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			shop, other := env.Shop(t), env.Shop(t)
			wantShop(t, readSetup(t, env.Store, shop.ID), shop)
			wantShop(t, readSetup(t, env.Store, other.ID), other)
		})
	})

	t.Run("what is due names its tenant", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			session := env.Session(t, env.Shop(t), storetest.ExpiresIn(time.Minute)).Session
			env.Session(t, env.Shop(t))
			wantDue(t, env.Store.SessionsDue, session.ExpiresAt, 10, dueSession(session))
		})
	})
}
