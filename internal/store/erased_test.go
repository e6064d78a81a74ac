package store_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestErasedPersonsAreRememberedUnderAKeyThatIsThere erases one person after the other: a list of hashes knows nobody
// again without the keys that it names.
func TestErasedPersonsAreRememberedUnderAKeyThatIsThere(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		for range 2 {
			remember(t, env, shop, env.Session(t, shop).Lead.ID)
		}
		keys, names, err := env.Store.ErasedOf(t.Context(), shop.ID)
		if err != nil || len(keys) != 1 || len(names) != 2 {
			t.Fatalf("%d names are remembered under %d keys: %v", len(names), len(keys), err)
		}
		for _, name := range names {
			if name.KeyID != keys[0].ID {
				t.Errorf("a name is remembered under %s, and the key is %s", name.KeyID, keys[0].ID)
			}
		}
	})
}

// TestAnErasedPersonIsKnownAgain by the address and by every payment, as far as these are from before the erasure: a file
// that is taken in again brings nobody back, and who comes later is somebody new.
func TestAnErasedPersonIsKnownAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		paid, other := env.Settled(t, shop), env.Settled(t, shop)
		lead := env.Find(t, paid.Session.Token).Lead
		remember(t, env, shop, lead.ID)
		memory, err := env.Store.Memory(t.Context(), shop.ID)
		if err != nil {
			t.Fatal(err)
		}
		before, later := env.Now, env.Now.Add(time.Microsecond)
		for what, c := range map[string]struct{ got, want bool }{
			"the address":                   {memory.KnowsEmail(strings.ToUpper(lead.Email), before), true},
			"the address, later":            {memory.KnowsEmail(lead.Email, later), false},
			"another's address":             {memory.KnowsEmail("other@shop.example", before), false},
			"no address":                    {memory.KnowsEmail("", before), false},
			"the payment":                   {memory.KnowsPayment(paid.Transaction.MerchantTransactionID, before), true},
			"a payment of the name, later":  {memory.KnowsPayment(paid.Transaction.MerchantTransactionID, later), false},
			"another's payment":             {memory.KnowsPayment(other.Transaction.MerchantTransactionID, before), false},
			"a payment without a reference": {memory.KnowsPayment("", before), false},
		} {
			if c.got != c.want {
				t.Errorf("%s is known: %t, want %t", what, c.got, c.want)
			}
		}
		for _, of := range []payment.Transaction{paid.Transaction, other.Transaction} {
			told := payment.Chargeback{MerchantTransactionID: of.MerchantTransactionID, Email: "by-marriage@shop.example", ReportedAt: later}
			memory.ForgetDebtor(&told)
			if isErased := of.ID == paid.Transaction.ID; (told.Email == "") != isErased {
				t.Errorf("of a chargeback of a payer who was erased, %t, is kept %q", isErased, told.Email)
			}
		}
	})
}

// TestWhoRestsOnAMemoryHoldsUpNobodyElse: while a file is taken in that names persons, a person of another tenant can be erased.
func TestWhoRestsOnAMemoryHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	env := storetest.Postgres(t)
	shop, other := env.Shop(t), env.Shop(t)
	memory, err := env.Store.Memory(t.Context(), shop.ID)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := env.Store.Tenant(other.ID).Person(t.Context(), env.Session(t, other).Lead.ID)
	if err != nil {
		t.Fatal(err)
	}
	patience, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	env.Write(t, func(tx *store.Tx) error {
		if err := tx.RestOnMemory(memory); err != nil {
			return err
		}
		return env.Store.Write(patience, env.Now, func(tx *store.Tx) error {
			_, err := tx.LockPerson(theirs)
			return err
		})
	})
}

// TestKeysOfErasedPersonsThatNobodyOpens: a list that is older than a change of the encryption key is of use where its key
// was sealed anew, and would shut everybody out where it was not.
func TestKeysOfErasedPersonsThatNobodyOpens(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		remember(t, env, shop, env.Session(t, shop).Lead.ID)
		keys, _, err := env.Store.ErasedOf(t.Context(), shop.ID)
		if err != nil {
			t.Fatal(err)
		}
		mine, retired := keys[0], "retired:~c2VhbGVk"
		for what, c := range map[string]struct {
			key   store.ErasureKey
			taken bool
		}{
			"its own": {mine, true},
			"its own, under an encryption key before": {store.ErasureKey{ID: mine.ID, Sealed: retired}, true},
			"another one, which nobody opens":         {store.ErasureKey{ID: uuid.New(), Sealed: retired}, false},
		} {
			if err := env.Store.CheckErasureKeys(t.Context(), shop.ID, []store.ErasureKey{c.key}); (err == nil) != c.taken {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

// TestWhoIsKnownFromAPaymentAloneIsLockedWithIt: a file may name a holder and no address, and then the payment is all by
// which the person is found.
func TestWhoIsKnownFromAPaymentAloneIsLockedWithIt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		paid := env.Settled(t, shop).Transaction
		env.Exec(t, `UPDATE transactions SET lead_id = NULL, email = '' WHERE id = $1`, paid.ID.String())
		env.Write(t, func(tx *store.Tx) error {
			locked, err := tx.LockPerson(store.PersonOfPayment(shop.ID, paid.ID))
			if err == nil && locked.Count("transactions") != 1 {
				t.Errorf("%d payments are locked", locked.Count("transactions"))
			}
			return err
		})
	})
}

// remember notes that a person was erased.
func remember(t *testing.T, env *storetest.Env, shop storetest.Shop, leadID uuid.UUID) {
	t.Helper()
	person, err := env.Store.Tenant(shop.ID).Person(t.Context(), leadID)
	if err != nil {
		t.Fatal(err)
	}
	memory, err := env.Store.PrepareErasure(t.Context(), shop.ID, env.Now)
	if err != nil {
		t.Fatal(err)
	}
	env.Write(t, func(tx *store.Tx) error {
		found, err := tx.LockPerson(person)
		if err != nil {
			return err
		}
		return tx.RememberErased(found, memory)
	})
}
