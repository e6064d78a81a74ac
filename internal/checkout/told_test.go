package checkout_test

import (
	"encoding/json"
	"testing"
	"time"

	"sepad/internal/checkout"
	"sepad/internal/checkout/checkouttest"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// believed is what a receiver takes payments for that does as the guide to webhooks says: it
// keeps the latest instant of each, and drops what is not after that.
func believed(t *testing.T, till *checkouttest.Till) map[string]string {
	t.Helper()
	till.Env.Write(t, func(tx *store.Tx) error {
		_, err := tx.NumberEvents(till.Shop.ID, time.Unix(0, 0))
		return err
	})
	told, err := till.Store.Tenant(till.Shop.ID).Feed(t.Context(), 0, store.FeedAll, 100)
	if err != nil {
		t.Fatal(err)
	}
	latest, status := map[string]string{}, map[string]string{}
	for _, e := range told {
		if e.Kind != payment.EventTransactionCreated && e.Kind != payment.EventTransactionStatusChanged {
			continue
		}
		var data struct {
			ID        string `json:"id"`
			Status    string `json:"status"`
			UpdatedAt string `json:"updated_at"`
		}
		if err := json.Unmarshal([]byte(e.Payload), &data); err != nil {
			t.Fatal(err)
		}
		if data.UpdatedAt > latest[data.ID] {
			latest[data.ID], status[data.ID] = data.UpdatedAt, data.Status
		}
	}
	return status
}

// TestWhatAReceiverBelieves: a return that proves a collection tells of both at once, and the
// return is the later word.
func TestWhatAReceiverBelieves(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		pending := payment.Outcome{Verdict: payment.VerdictPending}
		var all []checkout.Result
		for range 4 {
			all = append(all, till.Paid(t, pending))
		}
		till.Time.Pass(time.Hour)
		byHand := payment.Chargeback{Source: payment.ChargebackManual}
		if _, err := till.ChargeBack(t.Context(), till.Shop.ID, all[0].Transaction.ID, byHand, store.RequestKey{}); err != nil {
			t.Fatal(err)
		}
		setup := till.Setup(t, till.Shop)
		take(t, till, setup, report(all[1].Transaction))
		take(t, till, setup, report(all[2].Transaction), report(all[3].Transaction)) // many are written another way
		status := believed(t, till)
		for i, paid := range all {
			if got := status[paid.Transaction.ID.String()]; got != string(payment.TransactionChargedBack) {
				t.Errorf("payment %d is charged back, and a receiver takes it for %s", i, got)
			}
		}
	})
}
