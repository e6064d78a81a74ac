// Package ledgertest is the suite that every ledger of the sandbox passes: the
// one in memory and the one in the database behave the same.
package ledgertest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/gateway/sandbox"
	"sepad/internal/payment"
)

var at = time.Date(2026, time.March, 2, 9, 30, 0, 123456000, time.UTC)

// Run tests a ledger; open gives an empty one, and newKey a key of a tenant and
// an account that it accepts.
func Run(t *testing.T, open func(t *testing.T) sandbox.Ledger, newKey func(t *testing.T, l sandbox.Ledger) sandbox.Key) {
	t.Helper()
	setup := func(t *testing.T) (sandbox.Ledger, sandbox.Entry) {
		t.Helper()
		t.Parallel()
		ledger := open(t)
		return ledger, newEntry(newKey(t, ledger))
	}
	t.Run("an entry comes back as it was inserted", func(t *testing.T) {
		ledger, entry := setup(t)
		testRoundTrip(t, ledger, entry)
	})
	t.Run("a taken key keeps its first entry", func(t *testing.T) {
		ledger, entry := setup(t)
		testTakenKey(t, ledger, entry)
	})
	t.Run("of many inserts at once one wins", func(t *testing.T) {
		ledger, entry := setup(t)
		testConcurrentInserts(t, ledger, entry)
	})
	t.Run("an unknown payment and an unknown page are not found", func(t *testing.T) {
		ledger, entry := setup(t)
		testNotFound(t, ledger, entry)
	})
	t.Run("of two decisions one wins", func(t *testing.T) {
		ledger, entry := setup(t)
		testDecide(t, ledger, entry)
	})
}

func newEntry(key sandbox.Key) sandbox.Entry {
	return sandbox.Entry{
		Key: key, Reference: "SBX-" + uuid.NewString()[:16], VerificationReference: "VRF-" + uuid.NewString(),
		Outcome: sandbox.VerificationPage, State: sandbox.StateAwaiting, Type: payment.Sale,
		AmountMinor: 29_99, Currency: "EUR", MandateReference: "MND-ABCDEFGHIJKL",
		MerchantName: "Köllner & Söhne", ReturnURL: "https://shop.example/back?order=1",
		ReceivedAt: at, DecidedAt: at, SettlesAt: at.Add(time.Hour), ChargebackAt: at.Add(2 * time.Hour), NotifyAt: at.Add(time.Hour),
	}
}

func testRoundTrip(t *testing.T, ledger sandbox.Ledger, entry sandbox.Entry) {
	t.Helper()
	insert(t, ledger, entry)
	wantEntry(t, find(t, ledger, entry.Key), entry)
	byPage, found, err := ledger.FindByVerification(context.Background(), entry.VerificationReference)
	if err != nil || !found {
		t.Fatalf("finding by verification: found %v, error %v", found, err)
	}
	wantEntry(t, byPage, entry)

	bare := sandbox.Entry{
		Key: entry.Key, Reference: "SBX-BARE", Outcome: sandbox.Approved, State: sandbox.StateApproved,
		Type: payment.Mandate, Currency: "EUR", ReceivedAt: at, DecidedAt: at,
	}
	bare.MerchantTransactionID += "-BARE"
	insert(t, ledger, bare)
	wantEntry(t, find(t, ledger, bare.Key), bare)
}

func testTakenKey(t *testing.T, ledger sandbox.Ledger, entry sandbox.Entry) {
	t.Helper()
	insert(t, ledger, entry)
	again := entry
	again.Reference, again.VerificationReference, again.State = "SBX-OTHER", "", sandbox.StateApproved
	stored, inserted, err := ledger.Insert(context.Background(), again)
	if err != nil || inserted {
		t.Fatalf("inserting a taken key: inserted %v, error %v", inserted, err)
	}
	wantEntry(t, stored, entry)
}

func testConcurrentInserts(t *testing.T, ledger sandbox.Ledger, entry sandbox.Entry) {
	t.Helper()
	var wins atomic.Int32
	var senders sync.WaitGroup
	for range 8 {
		senders.Go(func() {
			mine := entry
			mine.Reference, mine.VerificationReference = "SBX-"+uuid.NewString(), "VRF-"+uuid.NewString()
			_, inserted, err := ledger.Insert(context.Background(), mine)
			if err != nil {
				t.Errorf("inserting: %v", err)
			}
			if inserted {
				wins.Add(1)
			}
		})
	}
	senders.Wait()
	if wins.Load() != 1 {
		t.Errorf("%d inserts of one key won", wins.Load())
	}
}

func testNotFound(t *testing.T, ledger sandbox.Ledger, entry sandbox.Entry) {
	t.Helper()
	other := entry.Key
	other.AccountID = uuid.New()
	insert(t, ledger, entry)
	for _, key := range []sandbox.Key{other, {}} {
		if _, found, err := ledger.Find(context.Background(), key); found || err != nil {
			t.Errorf("found %v, error %v", found, err)
		}
	}
	for _, reference := range []string{"", "VRF-NONE", "../assets"} {
		if _, found, err := ledger.FindByVerification(context.Background(), reference); found || err != nil {
			t.Errorf("page %q: found %v, error %v", reference, found, err)
		}
	}
	if moved, err := ledger.Decide(context.Background(), other, sandbox.StateAwaiting, sandbox.StateApproved, at); moved || err != nil {
		t.Errorf("deciding an unknown payment: moved %v, error %v", moved, err)
	}
}

func testDecide(t *testing.T, ledger sandbox.Ledger, entry sandbox.Entry) {
	t.Helper()
	insert(t, ledger, entry)
	later := at.Add(time.Minute)
	var wins atomic.Int32
	var deciders sync.WaitGroup
	for _, to := range []sandbox.State{sandbox.StateApproved, sandbox.StateClosed, sandbox.StateDeclined} {
		deciders.Go(func() {
			moved, err := ledger.Decide(context.Background(), entry.Key, sandbox.StateAwaiting, to, later)
			if err != nil {
				t.Errorf("deciding: %v", err)
			}
			if moved {
				wins.Add(1)
				entry.State = to
			}
		})
	}
	deciders.Wait()
	if wins.Load() != 1 {
		t.Fatalf("%d decisions won", wins.Load())
	}
	entry.DecidedAt = later
	wantEntry(t, find(t, ledger, entry.Key), entry)
}

func insert(t *testing.T, ledger sandbox.Ledger, entry sandbox.Entry) {
	t.Helper()
	stored, inserted, err := ledger.Insert(context.Background(), entry)
	if err != nil || !inserted {
		t.Fatalf("inserting: inserted %v, error %v", inserted, err)
	}
	wantEntry(t, stored, entry)
}

func find(t *testing.T, ledger sandbox.Ledger, key sandbox.Key) sandbox.Entry {
	t.Helper()
	entry, found, err := ledger.Find(context.Background(), key)
	if err != nil || !found {
		t.Fatalf("finding: found %v, error %v", found, err)
	}
	return entry
}

func wantEntry(t *testing.T, got, want sandbox.Entry) {
	t.Helper()
	if got != want {
		t.Errorf("the ledger holds\n%+v, want\n%+v", got, want)
	}
}
