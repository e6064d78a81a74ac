package backup_test

import (
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/store/storetest"
)

// TestWhatTheBankSaidOfALaterPeriodIsHeardAfterARestore: two periods were sent to the bank in the lost time. The second one falls due
// when the first is settled, which its answers have done as the account went on: what they say of the second is read before it is known.
func TestWhatTheBankSaidOfALaterPeriodIsHeardAfterARestore(t *testing.T) {
	t.Parallel()
	storetest.EachFresh(t, func(t *testing.T, env *storetest.Env) {
		d := openBankDrill(t, env)
		d.MoveToQuietTuesday(t)
		d.pay(t, apptest.Body{"billing_type": "RECURRING", "billing_frequency": "WEEKLY"})
		d.Advance(t, 3*24*time.Hour)
		restore := d.save(t, env)
		for len(d.sent(t)) < 3 {
			d.Advance(t, 24*time.Hour)
		}
		first, second := endToEnd.FindStringSubmatch(d.read(t, 1))[1], endToEnd.FindStringSubmatch(d.read(t, 2))[1]
		d.Advance(t, 3*24*time.Hour)
		after, restored := restore()
		if _, err := after.App.Banking.AdoptSent(t.Context(), after.account(t)); err != nil {
			t.Fatal(err)
		}
		after.hear(t, "a.xml", booking("A", "CRDT", "IDDT", "ESDD", first, "49.00", ""))
		after.hear(t, "b.xml", booking("B", "DBIT", "IDDT", "UPDD", second, "49.00", `<RtrInf><Rsn><Cd>AM04</Cd></Rsn></RtrInf>`))
		if _, err := after.App.Banking.Resume(t.Context(), after.account(t)); err != nil {
			t.Fatal(err)
		}
		after.Advance(t, 3*24*time.Hour)
		for name, want := range map[string]string{first: "approved", second: "charged_back"} {
			if status := storetest.Scalar[string](t, restored, `SELECT COALESCE((SELECT status FROM transactions WHERE merchant_transaction_id = $1), '')`, name); status != want {
				t.Errorf("what the bank has said is %s is %q", want, status)
			}
		}
		if open := storetest.Scalar[int](t, restored, `SELECT COUNT(*) FROM bank_lines WHERE result = 'unmatched'`); open != 0 {
			t.Errorf("%d lines of the bank belong to nothing", open)
		}
		if left := restored.Count(t, "bank_adopted"); left != 0 {
			t.Errorf("%d payments of the lost files are not known", left)
		}
	})
}
