package billing_test

import (
	"testing"
	"time"

	"sepad/internal/payment"
	"sepad/internal/store"
)

// TestWhatWasMissedIsBilledThoughATryWasRefused: four periods were missed, of which the first is refused, or comes back when the
// second is due.
func TestWhatWasMissedIsBilledThoughATryWasRefused(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]func(*testing.T, desk, payment.Subscription){
		"it is refused": func(t *testing.T, d desk, _ payment.Subscription) {
			d.Gateway.Answer(declined)
			d.bill(t, 1)
		},
		"it comes back": func(t *testing.T, d desk, sub payment.Subscription) {
			d.Gateway.Answer(payment.Outcome{Verdict: payment.VerdictPending, GatewayReference: "GW-7"})
			d.bill(t, 1)
			rebill := d.rebills(t, sub)[0]
			d.Gateway.Answer(approved)
			d.Time.Pass(24 * time.Hour)
			if _, err := d.Till.RunDue(t.Context(), d.Time.Now()); err != nil {
				t.Fatal(err)
			}
			report := payment.Chargeback{Source: payment.ChargebackManual, AmountMinor: rebill.AmountMinor, ReasonCode: "AM04"}
			if _, err := d.ChargeBack(t.Context(), d.Shop.ID, rebill.ID, report, store.RequestKey{}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, d desk) {
				sub := d.Subscribed(t)
				d.Time.Set(sub.PeriodStart(4).Start().Add(time.Hour))
				first(t, d, sub)
				d.Gateway.Answer(approved)
				d.Time.Pass(4 * 24 * time.Hour)
				d.bill(t, 4)
				d.bill(t, 0)
				collected := 0
				for _, rebill := range d.rebills(t, sub) {
					if rebill.Status == payment.TransactionApproved {
						collected++
					}
				}
				after := d.Subscription(t, sub.ID)
				if collected != 4 || after.Period != 5 || after.NextBillingDate != sub.PeriodStart(5) || after.Owed != "" || after.Status != payment.SubscriptionActive {
					t.Errorf("%d periods were collected, and it is %s in period %d, next on %s, owed %q", collected, after.Status, after.Period, after.NextBillingDate, after.Owed)
				}
			})
		})
	}
}
