package banking_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/app/apptest"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// collections gives all debits under a mandate that are in files.
func (b *bundle) collections(t *testing.T, mandate string) []store.BankFileEntry {
	t.Helper()
	entries, err := b.App.Store.Tenant(uuid.MustParse(apptest.Shop)).BankEntriesByMandate(t.Context(), b.account.ID, []string{mandate})
	must(t, err)
	return entries
}

// An account without money gives every debit back some days after it was booked, while the next period is being collected or the one
// before it is tried again. Each period is tried as often as it says, and then the subscription ends.
func TestAnEmptyAccountIsNotDebitedForEver(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		mandates := make([]string, 3)
		for i := range mandates {
			mandates[i] = b.statusOf(t, b.pay(t, apptest.Approved, apptest.Body{"billing_type": "RECURRING", "billing_frequency": "WEEKLY"})).MandateReference
		}
		booked := map[string]time.Time{}
		going := func() int {
			return storetest.Scalar[int](t, b.Env, `SELECT COUNT(*) FROM subscriptions WHERE cancel_reason <> $1`, string(payment.CancelledByDunning))
		}
		for day := 0; day < 90 && going() > 0; day++ {
			now := b.Advance(t, 24*time.Hour)
			for i, mandate := range mandates {
				for _, e := range b.collections(t, mandate) {
					switch at, isBooked := booked[e.EndToEndID]; {
					case !isBooked && e.DueDate <= now.Format(time.DateOnly):
						booked[e.EndToEndID] = now
						b.read(t, on(now, booking("CRDT", "ESDD", "49.00", e.EndToEndID, "")))
					case isBooked && !e.IsBack && now.Sub(at) >= time.Duration(2+i)*24*time.Hour:
						b.read(t, on(now, booking("DBIT", "UPDD", "49.00", e.EndToEndID, `<RtrInf><Rsn><Cd>AM04</Cd></Rsn></RtrInf>`)))
					}
				}
			}
		}
		if count := going(); count > 0 {
			t.Errorf("after %d debits %d of %d are still tried", len(booked), count, len(mandates))
		}
		for _, mandate := range mandates {
			tries := map[int]int{}
			for _, e := range b.collections(t, mandate) {
				if one := b.statusOf(t, e.TransactionID.String()); one.Period != nil {
					tries[*one.Period]++
				}
			}
			for period, count := range tries {
				if count > 1+len(payment.DefaultDunning()) {
					t.Errorf("period %d was collected %d times", period, count)
				}
			}
		}
	})
}
