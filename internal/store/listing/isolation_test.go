package listing_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/listing"
	"sepad/internal/store/storetest"
)

// read tells whether a list of a tenant's finds something.
type read func(context.Context, store.Tenant) (bool, error)

// reads is a table of the lists of one tenant, for which there is something in
// each.
func reads(t *testing.T, env *storetest.Env, shop storetest.Shop) map[string]read {
	t.Helper()
	draft := env.Draft(shop)
	env.Write(t, func(tx *store.Tx) error {
		tx.CreateSession(env.New(t, draft), draft.Lead)
		return nil
	})
	settled := env.Settle(t, env.Attempt(t, env.Find(t, draft.Token)), payment.Outcome{Verdict: payment.VerdictApproved})
	event, paid := settled.Events[0], settled.Transaction.ID
	env.InsertTransactions(t, []payment.Transaction{fullTransaction(shop.ID)})
	env.InsertChargebacks(t, []payment.Chargeback{fullChargeback(shop.ID)})
	env.InsertSubscriptions(t, []payment.Subscription{fullSubscription(shop.ID)})
	statement := bankStatement(t, env, shop)
	table := laterReads(event.ID, paid)
	maps.Copy(table, map[string]read{
		"ReadDayTotals": func(ctx context.Context, scope store.Tenant) (bool, error) {
			day := payment.DateOf(wholeDay(1).From)
			days, err := listing.ReadDayTotals(ctx, scope, day, day)
			return len(days) > 0, err
		},
		"PayoutsOf": func(ctx context.Context, scope store.Tenant) (bool, error) {
			payouts, err := listing.PayoutsOf(ctx, scope, statement)
			return len(payouts) > 0, err
		},
		"FindSession": func(ctx context.Context, scope store.Tenant) (bool, error) {
			_, err := listing.FindSession(ctx, scope, draft.ID)
			return err == nil, nil
		},
		"FindLead": func(ctx context.Context, scope store.Tenant) (bool, error) {
			_, err := listing.FindLead(ctx, scope, draft.Lead.ID)
			return err == nil, nil
		},
		"Delivery": func(ctx context.Context, scope store.Tenant) (bool, error) {
			_, err := listing.Delivery(ctx, scope, event.ID)
			return err == nil, nil
		},
		"Deliveries": func(ctx context.Context, scope store.Tenant) (bool, error) {
			all, err := listing.Deliveries(ctx, scope, listing.DeliveryFilter{}, listing.Paging{Limit: 10})
			return len(all) > 0, err
		},
		"Sessions": func(ctx context.Context, scope store.Tenant) (bool, error) {
			w := listing.Window{Before: storetest.Start.AddDate(1, 0, 0), Limit: 10}
			page, err := listing.Sessions(ctx, scope, w, listing.SessionFilter{})
			return len(page.Rows) > 0, err
		},
		"Transactions": func(ctx context.Context, scope store.Tenant) (bool, error) {
			page, err := listing.Transactions(ctx, scope, wholeDay(10), listing.TransactionFilter{})
			return len(page.Rows) > 0, err
		},
		"Chargebacks": func(ctx context.Context, scope store.Tenant) (bool, error) {
			page, err := listing.Chargebacks(ctx, scope, wholeDay(10), listing.ChargebackFilter{})
			return len(page.Rows) > 0, err
		},
		"Subscriptions": func(ctx context.Context, scope store.Tenant) (bool, error) {
			page, err := listing.Subscriptions(ctx, scope, wholeDay(10), listing.SubscriptionFilter{})
			return len(page.Rows) > 0, err
		},
	})
	return table
}

// laterReads are those of an event, of a payment's history and of what days brought.
func laterReads(eventID, paid uuid.UUID) map[string]read {
	return map[string]read{
		"DayCounts": func(ctx context.Context, scope store.Tenant) (bool, error) {
			day := payment.DateOf(wholeDay(1).From)
			counts, err := listing.DayCounts(ctx, scope, day, day)
			return len(counts) > 0, err
		},
		"ReadQuestions": func(ctx context.Context, scope store.Tenant) (bool, error) {
			questions, err := listing.ReadQuestions(ctx, scope, math.MaxInt64)
			return questions.Unmatched.N > 0, err
		},
		"FindEvent": func(ctx context.Context, scope store.Tenant) (bool, error) {
			_, err := listing.FindEvent(ctx, scope, eventID)
			return err == nil, nil
		},
		"EventPayload": func(ctx context.Context, scope store.Tenant) (bool, error) {
			text, err := listing.EventPayload(ctx, scope, eventID)
			return err == nil && text != "", nil
		},
		"ReadHistory": func(ctx context.Context, scope store.Tenant) (bool, error) {
			h, err := listing.ReadHistory(ctx, scope, listing.Subject{TransactionID: paid})
			return len(h.Payments) > 0 && len(h.Events) > 0, err
		},
	}
}

// bankStatement is one on which a collection was booked and another came back.
func bankStatement(t *testing.T, env *storetest.Env, shop storetest.Shop) uuid.UUID {
	t.Helper()
	s := store.BankStatement{ID: payment.NewID(), TenantID: shop.ID, GatewayID: payment.NewID(), Name: "may.xml", ContentHash: "hash", State: store.BankStatementRead}
	line := func(position int, source string, isCredit bool, amount, charges payment.Minor) store.BankLine {
		return store.BankLine{
			ID: payment.NewID(), TenantID: shop.ID, StatementID: s.ID, GatewayID: s.GatewayID, Position: position, Source: source, Kind: "booked",
			AmountMinor: amount, ChargesMinor: charges, Currency: "EUR", IsCredit: isCredit, BookingDate: "2026-03-31", Result: store.LineUnmatched,
		}
	}
	env.Write(t, func(tx *store.Tx) error {
		tx.PutBankStatement(s)
		tx.AddBankLines(s, []store.BankLine{
			line(1, "camt.053", true, 50_00, 25), line(2, "camt.053", false, 20_00, 3_00), line(3, "camt.054", false, 20_00, 3_00),
		})
		return nil
	})
	return s.ID
}

func TestPayoutsHaveFees(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		payouts, err := listing.PayoutsOf(t.Context(), env.Store.Tenant(shop.ID), bankStatement(t, env, shop))
		if err != nil || len(payouts) != 1 {
			t.Fatalf("the payouts are %v: %v", payouts, err)
		}
		p := payouts[0]
		if p.BookingDate != "2026-03-31" || p.Credited != (listing.Sum{Count: 1, Minor: 50_00}) || p.Debited != (listing.Sum{Count: 1, Minor: 20_00}) ||
			p.FeesMinor != 3_25 || p.NetMinor() != 26_75 {
			t.Errorf("the payout is %+v", p)
		}
	})
}

// tenantLists are the functions of this package that take a tenant's scope.
func tenantLists(t *testing.T) (names []string) {
	t.Helper()
	files := token.NewFileSet()
	sources, err := fs.Glob(os.DirFS("."), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range sources {
		if strings.HasSuffix(source, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(files, source, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, declared := range tree.Decls {
			function, ok := declared.(*ast.FuncDecl)
			if ok && function.Recv == nil && function.Name.IsExported() && takesTenant(function) {
				names = append(names, function.Name.Name)
			}
		}
	}
	return names
}

func takesTenant(function *ast.FuncDecl) bool {
	for _, parameter := range function.Type.Params.List {
		if of, ok := parameter.Type.(*ast.SelectorExpr); ok && of.Sel.Name == "Tenant" {
			return true
		}
	}
	return false
}

func TestTenantsAreApart(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop, other := env.Shop(t), env.Shop(t)
		table := reads(t, env, shop)
		for _, name := range tenantLists(t) {
			list, listed := table[name]
			if !listed {
				t.Errorf("%s is not in the table of reads", name)
				continue
			}
			if found, err := list(t.Context(), env.Store.Tenant(shop.ID)); err != nil || !found {
				t.Errorf("%s does not find the tenant's own rows: %v", name, err)
			}
			if found, err := list(t.Context(), env.Store.Tenant(other.ID)); err != nil || found {
				t.Errorf("%s finds rows of another tenant: %v", name, err)
			}
		}
	})
}
