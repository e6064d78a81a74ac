package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// manyRows are more than one unit overwrites (erasedAtOnce) of each of two tables.
const manyRows = 1_500

// knowsMuch has a shop know somebody from very many payments, and tell of each.
func knowsMuch(t *testing.T, env *storetest.Env, shop storetest.Shop, name string) (of knownPerson, rebills []payment.Transaction) {
	t.Helper()
	of = knows(t, env, shop, name)
	var events []store.EventRow
	for i := range manyRows {
		rebill := of.paid.Transaction
		rebill.ID, rebill.Email, rebill.HolderName = payment.NewID(), of.lead.Email, name
		if i%2 == 1 { // a file has brought it
			rebill.LeadID, rebill.OrderID, rebill.SessionID, rebill.SubscriptionID = nil, nil, nil, nil
		}
		rebill.MerchantTransactionID, rebill.GatewayReference, rebill.TenantReferenceID = rebill.ID.String(), rebill.ID.String(), nil
		rebills = append(rebills, rebill)
		events = append(events, store.EventRow{
			Event:   payment.Event{ID: payment.NewID(), Kind: payment.EventTransactionCreated, Key: "transaction.created:" + rebill.ID.String()},
			Payload: name, WebhookProfileID: &shop.Profile.ID,
		})
	}
	env.InsertTransactions(t, rebills)
	env.Write(t, func(tx *store.Tx) error { tx.AddEvents(shop.ID, events); return nil })
	return of, rebills
}

// decide is the first unit of an erasure.
func decide(t *testing.T, env *storetest.Env, shop storetest.Shop, leadID uuid.UUID) (who *store.Person, memory *store.Memory, err error) {
	t.Helper()
	if who, err = env.Store.Tenant(shop.ID).Person(t.Context(), leadID); err != nil {
		t.Fatal(err)
	}
	if memory, err = env.Store.PrepareErasure(t.Context(), shop.ID, env.Now); err != nil {
		t.Fatal(err)
	}
	return who, memory, env.TryWrite(t, func(tx *store.Tx) (err error) {
		if who, err = tx.LockPerson(who); err != nil {
			return err
		}
		if err := tx.RememberErased(who, memory); err != nil {
			return err
		}
		return tx.Erase(who, env.Now.Add(time.Hour), nobody)
	})
}

func named(t *testing.T, env *storetest.Env, name string) int {
	t.Helper()
	return storetest.Scalar[int](t, env, `SELECT (SELECT COUNT(*) FROM transactions WHERE email = $1 OR holder_name = $1) + (SELECT COUNT(*) FROM events WHERE payload = $1)`, name)
}

// TestVeryManyRowsAreErasedSomeAtATime: one unit of all of them keeps everybody else from writing on SQLite. What a process
// that was killed has left is found by the next erasure.
func TestVeryManyRowsAreErasedSomeAtATime(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		gone, rebills := knowsMuch(t, env, shop, "Walburga")
		before := named(t, env, "Walburga")
		if _, _, err := decide(t, env, shop, gone.lead.ID); err != nil {
			t.Fatal(err)
		}
		wantErased(t, env, shop, gone.lead.ID, env.Now)
		if left := named(t, env, "Walburga"); before-left > 1_000 || left == before {
			t.Errorf("one unit has overwritten %d of %d rows", before-left, before)
		}
		who, memory, err := decide(t, env, shop, gone.lead.ID) // again, after a kill
		if err == nil {
			err = env.Store.EraseRest(t.Context(), who, memory, env.Now, nobody)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range linesWith(env.Dump(t), "Walburga") {
			if !strings.HasPrefix(line, "mails") { // a key of ours, which these tests have named so
				t.Errorf("left is %s", line)
			}
		}
		if memory, err = env.Store.Memory(t.Context(), shop.ID); err != nil {
			t.Fatal(err)
		}
		if !memory.KnowsEmail(gone.lead.Email, env.Now) {
			t.Error("the address is not remembered")
		}
		for _, rebill := range rebills {
			if !memory.KnowsPayment(rebill.MerchantTransactionID, env.Now) {
				t.Fatalf("the payment %s is not remembered", rebill.MerchantTransactionID)
			}
		}
	})
}

// TestNobodyWithVeryManyRowsIsErasedInPart: the first unit refuses, whichever of the payments is open. Money that begins to
// move after it keeps its account, and nothing else.
func TestNobodyWithVeryManyRowsIsErasedInPart(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		gone, rebills := knowsMuch(t, env, shop, "Walburga")
		refunding := func(id uuid.UUID, minor int) {
			env.Exec(t, `UPDATE transactions SET refunding_minor = $2 WHERE id = $1`, id.String(), minor)
		}
		for _, open := range []uuid.UUID{rebills[0].ID, rebills[manyRows/2].ID, rebills[manyRows-1].ID} {
			refunding(open, 1)
			before := named(t, env, "Walburga")
			if _, _, err := decide(t, env, shop, gone.lead.ID); payment.KindOf(err) != payment.Conflict {
				t.Errorf("it is not refused: %v", err)
			}
			if left := named(t, env, "Walburga"); left != before {
				t.Errorf("%d of %d rows were overwritten by an erasure that was refused", before-left, before)
			}
			refunding(open, 0)
		}
		who, memory, err := decide(t, env, shop, gone.lead.ID)
		if err != nil {
			t.Fatal(err)
		}
		refunding(rebills[0].ID, 1)
		if err := env.Store.EraseRest(t.Context(), who, memory, env.Now, nobody); payment.KindOf(err) != payment.Conflict {
			t.Errorf("a refund that has begun meanwhile is not told of: %v", err)
		}
		if left := named(t, env, "Walburga"); left != 1 {
			t.Errorf("%d rows are left, want the one that is being given back", left)
		}
	})
}

// TestAnErasureThatWasBrokenOffIsFoundByAddress: whoever gives the address again is to finish it, and need not know the id.
func TestAnErasureThatWasBrokenOffIsFoundByAddress(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop, other := env.Shop(t), env.Shop(t)
		gone, _ := knowsMuch(t, env, shop, "Walburga")
		knows(t, env, other, "Walburga")
		who, memory, err := decide(t, env, shop, gone.lead.ID)
		if err != nil || who.IsUnfinished() {
			t.Fatalf("it was broken off before: %v", err)
		}
		for _, address := range []string{gone.lead.Email, strings.ToUpper(gone.lead.Email)} {
			found, err := env.Store.Tenant(shop.ID).PersonByEmail(t.Context(), address)
			if err != nil || found.LeadID != gone.lead.ID || !found.IsUnfinished() {
				t.Fatalf("%s finds %v, %v", address, found, err)
			}
		}
		if err := env.Store.EraseRest(t.Context(), who, memory, env.Now, nobody); err != nil {
			t.Fatal(err)
		}
		if found, err := env.Store.Tenant(shop.ID).PersonByEmail(t.Context(), gone.lead.Email); !errors.Is(err, store.ErrNoLead) {
			t.Errorf("afterwards it finds %v, %v", found, err)
		}
	})
}

// TestVeryManyEventsAreLookedForBeforeTheUnit: it took two of SQLite's seconds to look for 200,000 sessions and as many events, and
// everybody waited for them. What comes between the two is found by the next erasure.
func TestVeryManyEventsAreLookedForBeforeTheUnit(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		gone, rebills := knowsMuch(t, env, shop, "Walburga")
		surveyed, err := env.Store.Tenant(shop.ID).Survey(t.Context(), mustKnow(t, env, shop, gone.lead.ID))
		if err != nil {
			t.Fatal(err)
		}
		env.Write(t, func(tx *store.Tx) error {
			tx.AddEvents(shop.ID, []store.EventRow{{
				Event:   payment.Event{ID: payment.NewID(), Kind: payment.EventTransactionCreated, Key: "transaction.created:" + rebills[0].ID.String() + ":later"},
				Payload: "Walburga", WebhookProfileID: &shop.Profile.ID,
			}})
			return nil
		})
		for who, want := range map[*store.Person]int{surveyed: surveyed.Count("events"), mustKnow(t, env, shop, gone.lead.ID): surveyed.Count("events") + 1} {
			env.Write(t, func(tx *store.Tx) error {
				found, err := tx.LockPerson(who)
				if err == nil && found.Count("events") != want {
					t.Errorf("the unit knows of %d events, want %d", found.Count("events"), want)
				}
				return err
			})
		}
	})
}

func mustKnow(t *testing.T, env *storetest.Env, shop storetest.Shop, leadID uuid.UUID) *store.Person {
	t.Helper()
	who, err := env.Store.Tenant(shop.ID).Person(t.Context(), leadID)
	if err != nil {
		t.Fatal(err)
	}
	return who
}
