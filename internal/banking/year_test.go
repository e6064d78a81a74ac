package banking_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/app/apptest"
	"sepad/internal/gateway/bank/playedbank"
	"sepad/internal/gateway/sandbox"
	"sepad/internal/iso20022"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestAYearOfRebills moves the sandbox's clock over a year, a week at a time, with a subscription from every test account: the
// bank answers each week, and at the end every file's sums are those of the statements, to the cent. One bank is enough for
// every day; with SEPAD_PROVE set it goes through all of them.
func TestAYearOfRebills(t *testing.T) {
	t.Parallel()
	shapes := []playedbank.Shape{playedbank.German}
	if os.Getenv("SEPAD_PROVE") != "" {
		shapes = playedbank.Shapes
	}
	for _, shape := range shapes {
		t.Run("at a "+string(shape)+" bank", func(t *testing.T) {
			t.Parallel()
			b := setup(t, apptest.SQLite(t, apptest.Options{}), "settle_days: 15")
			for _, test := range sandbox.TestIBANs() {
				b.pay(t, test.IBAN, apptest.Body{"billing_type": "RECURRING", "billing_frequency": "MONTHLY"})
			}
			for range 53 {
				b.Advance(t, 7*24*time.Hour)
				b.answer(t, shape)
				b.decide(t)
				b.clearOut(t)
			}
			b.Advance(t, 60*24*time.Hour)
			b.answer(t, shape)
			b.decide(t)
			b.wantBooks(t)
		})
	}
}

// decide is the person who says which payment a return was of that names none, where one period's last try and the next one's first
// left within two days of each other.
func (b *bundle) decide(t *testing.T) {
	t.Helper()
	shop := uuid.MustParse(apptest.Shop)
	for _, line := range b.open(t) {
		entries, err := b.App.Store.Tenant(shop).BankEntriesByMandate(t.Context(), b.account.ID, []string{line.Reference})
		must(t, err)
		entries = slices.DeleteFunc(entries, func(e store.BankFileEntry) bool { return e.IsBack || e.IsDeclined || e.DueDate >= line.BookingDate })
		if line.Kind != string(iso20022.Returned) || len(entries) == 0 {
			t.Fatalf("nobody can say of what this is: %+v", line)
		}
		latest := slices.MaxFunc(entries, func(one, other store.BankFileEntry) int { return cmp.Compare(one.DueDate, other.DueDate) })
		_, err = b.App.Banking.Assign(t.Context(), shop, line.ID, latest.TransactionID)
		must(t, err)
	}
}

// clearOut takes away what the bank has answered for long enough.
func (b *bundle) clearOut(t *testing.T) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(b.folder, "out", "*.xml"))
	must(t, err)
	for i := range max(0, len(names)-8) {
		must(t, os.Remove(names[i]))
	}
}

// wantBooks holds every file against the statements, and all of them against the listing.
func (b *bundle) wantBooks(t *testing.T) {
	t.Helper()
	var collected, returned payment.Minor
	rebills := 0
	for _, file := range b.files(t) {
		matching, err := b.App.Banking.Match(t.Context(), file)
		must(t, err)
		if !matching.Agrees() && file.State == store.BankFileSettled {
			t.Errorf("%s: %+v", file.MessageID, matching)
		}
		collected, returned = collected+matching.CollectedMinor, returned+matching.ReturnedMinor
		rebills += file.Count
	}
	sum := func(where string) payment.Minor {
		return payment.Minor(storetest.Scalar[int64](t, b.Env, `SELECT CAST(COALESCE(SUM(amount_minor), 0) AS BIGINT) FROM transactions WHERE `+where))
	}
	if ours := sum(`status IN ('approved', 'charged_back')`); ours != collected {
		t.Errorf("the listing has %s collected, the files %s", ours, collected)
	}
	if ours := sum(`status = 'charged_back'`); ours != returned {
		t.Errorf("the listing has %s returned, the files %s", ours, returned)
	}
	if rebills < 100 {
		t.Errorf("only %d collections in a year", rebills)
	}
	if open := b.open(t); len(open) != 0 {
		t.Errorf("open lines: %+v", open)
	}
	for _, finding := range storetest.ReadBooks(t, b.Env.URL).AuditRecords(b.Now(t)) {
		t.Error(finding)
	}
	if lost := b.Env.Count(t, `(SELECT 1 FROM transactions t WHERE status <> 'pending' AND type <> 'sdd_mandate' AND NOT EXISTS (
		SELECT 1 FROM events e WHERE e.event_key = 'transaction.created:' || t.id)) AS lost`); lost != 0 {
		t.Errorf("%d transactions were never told", lost)
	}
}
