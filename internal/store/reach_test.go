package store_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// lookUps are those that begin without a tenant, each made so that it finds something of the shop, and no error where
// it finds nothing but one that says so.
func lookUps(t *testing.T, env *storetest.Env, shop storetest.Shop) map[string]func(context.Context) (bool, error) {
	t.Helper()
	sold := env.Settled(t, shop, storetest.WithTerms(storetest.Monthly))
	paid := collected(t, env, shop)
	back := unlinked(env, shop, "CB-"+payment.NewID().String()).Change
	if err := env.Apply(t, back); err != nil {
		t.Fatal(err)
	}
	imported, file, mail := anImport(env, shop), fileWith(t, env, store.BankFileWritten, awaitingFile(t, env, shop)), mailOf(paid.Transaction, "one")
	statement := store.BankStatement{ID: payment.NewID(), TenantID: shop.ID, GatewayID: shop.Gateway.ID, Name: "a", ContentHash: "a", State: store.BankStatementReading}
	env.Write(t, func(tx *store.Tx) error {
		tx.PutImport(imported)
		tx.AddMail(mail, paid.Transaction, false)
		tx.PutBankStatement(statement)
		tx.AddBankLines(statement, []store.BankLine{{Position: 1, Source: "camt.053", Kind: "returned", Result: store.LineUnmatched}})
		tx.PauseRebills(payment.RebillPause{TenantID: shop.ID, GatewayID: shop.Gateway.ID, Reason: payment.PausedByCreditorCode, Since: env.Now})
		return nil
	})
	line := uuid.MustParse(storetest.Scalar[string](t, env, `SELECT CAST(id AS TEXT) FROM bank_lines WHERE tenant_id = $1`, shop.ID.String()))
	owner := func(find func(context.Context, uuid.UUID) (uuid.UUID, error), id uuid.UUID) func(context.Context) (bool, error) {
		return func(ctx context.Context) (bool, error) {
			tenantID, err := find(ctx, id)
			return tenantID == shop.ID, err
		}
	}
	s, event, version := env.Store, sold.Events[0].ID, int64(0)
	return map[string]func(context.Context) (bool, error){
		"transaction": owner(s.TransactionOwner, paid.Transaction.ID), "chargeback": owner(s.ChargebackOwner, back.Chargeback.ID),
		"subscription": owner(s.SubscriptionOwner, sold.Subscription.ID), "event": owner(s.EventOwner, event), "import": owner(s.ImportOwner, imported.ID),
		"bank file": owner(s.BankFileOwner, file.ID), "statement": owner(s.BankStatementOwner, statement.ID), "line": owner(s.BankLineOwner, line),
		"mail": owner(s.MailOwner, mail.ID), "lead": owner(s.LeadOwner, paid.Session.LeadID),
		"endpoint": func(ctx context.Context) (bool, error) {
			e, err := s.EndpointOf(ctx, event)
			return e == endpointOf(shop), err
		},
		"record": func(ctx context.Context) (bool, error) {
			tenantID, kind, found, err := s.RecordOwner(ctx, shop.Gateway.ID)
			return found && tenantID == shop.ID && kind == "gateway", err
		},
		"version": func(ctx context.Context) (bool, error) {
			version, err := s.SetupVersion(ctx, shop.ID)
			return version > 0, err
		},
		"setup": func(ctx context.Context) (bool, error) {
			version-- // one that nobody has read before
			_, err := s.Setup(ctx, shop.ID, version)
			return err == nil, err
		},
		"page": func(ctx context.Context) (bool, error) {
			setup, err := s.SetupOfPage(ctx, shop.HostedPage.ID)
			return err == nil && setup.Tenant.ID == shop.ID, err
		},
		"mandate": func(ctx context.Context) (bool, error) {
			all, err := s.MandateOwners(ctx, paid.Transaction.MandateReference)
			return slices.Equal(all, []uuid.UUID{shop.ID}), err
		},
		"pause": func(ctx context.Context) (bool, error) {
			all, err := s.RebillPauses(ctx)
			return slices.ContainsFunc(all, func(p payment.RebillPause) bool { return p.TenantID == shop.ID }), err
		},
		"waiting file": func(ctx context.Context) (bool, error) {
			all, err := s.BankFilesWaiting(ctx)
			return slices.ContainsFunc(all, func(f store.BankFile) bool { return f.ID == file.ID }), err
		},
		"session": func(ctx context.Context) (bool, error) {
			session, err := s.Tenant(shop.ID).Session(ctx, paid.Session.ID)
			return session.ID == paid.Session.ID, err
		},
	}
}

// TestACallReachesItsTenantsAlone: for one that is bound to others, what a look-up would find is not there.
func TestACallReachesItsTenantsAlone(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop, other := env.Shop(t), env.Shop(t)
		env.Settled(t, other)
		for name, look := range lookUps(t, env, shop) {
			for who, c := range map[string]struct {
				ctx  context.Context
				want bool
			}{
				"one without a bound":        {t.Context(), true},
				"one that is bound to it":    {store.Within(t.Context(), []uuid.UUID{other.ID, shop.ID}), true},
				"one that is bound to else":  {store.Within(t.Context(), []uuid.UUID{other.ID}), false},
				"one that is bound to none":  {store.Within(t.Context(), []uuid.UUID{}), false},
				"one whose bound was lifted": {store.Beyond(store.Within(t.Context(), []uuid.UUID{other.ID})), true},
			} {
				found, err := look(c.ctx)
				isTold := err == nil || payment.KindOf(err) == payment.NotFound || store.IsNotFound(err) || errors.Is(err, store.ErrNoDelivery)
				if found != c.want || c.want && err != nil || !isTold {
					t.Errorf("%s finds the %s: %v, %v", who, name, found, err)
				}
			}
		}
	})
}

// TestADeedIsNotedWhereACallReaches, under the name of who did it.
func TestADeedIsNotedWhereACallReaches(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop, other := env.Shop(t), env.Shop(t)
		bound := store.Within(t.Context(), []uuid.UUID{shop.ID})
		note := func(tenantID uuid.UUID) error {
			return env.Store.Note(bound, store.Deed{Action: "test.deed", ObjectType: "test", ObjectID: "one", TenantID: tenantID})
		}
		for what, c := range map[string]struct {
			of   uuid.UUID
			want bool
		}{"its own": {shop.ID, true}, "nobody's": {uuid.Nil, true}, "another's": {other.ID, false}} {
			before := env.Count(t, "audit_entries")
			err := note(c.of)
			if isNoted := env.Count(t, "audit_entries") == before+1; isNoted != c.want || (err == nil) != c.want {
				t.Errorf("%s is noted: %v, %v", what, isNoted, err)
			}
		}
	})
}
