package billing_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/checkout"
	"sepad/internal/checkout/checkouttest"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// rebills reads what was collected of a subscription, or tried to be, in order.
func (d desk) rebills(t *testing.T, sub payment.Subscription) []payment.Transaction {
	t.Helper()
	rows, err := d.Env.DB(t).QueryContext(t.Context(),
		`SELECT id FROM transactions WHERE subscription_id = $1 AND type = 'sdd_rebill' ORDER BY created_at, id`, sub.ID.String())
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var found []payment.Transaction
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		found = append(found, d.Debit(t, uuid.MustParse(id)).Transaction)
	}
	return found
}

// restore makes the desk's database one that is behind its gateways.
func (d desk) restore(t *testing.T) {
	t.Helper()
	d.restoreTo(t, d.Time.Now())
}

func (d desk) restoreTo(t *testing.T, backupAt time.Time) {
	t.Helper()
	d.Env.Write(t, func(tx *store.Tx) error {
		tx.MarkRestored(backupAt)
		return nil
	})
}

// recallAll asks the gateways about the lost time, after which billing goes on.
func (d desk) recallAll(t *testing.T) {
	t.Helper()
	if err := d.Recall(t.Context(), d.Time.Now()); err != nil {
		t.Fatal(err)
	}
	d.Env.Now = d.Time.Now()
	d.Env.Write(t, func(tx *store.Tx) error {
		tx.EndRecall()
		return nil
	})
}

// returned has a file tell that a bank has sent a collection back for lack of money.
func (d desk) returned(t *testing.T, collected payment.Transaction) {
	t.Helper()
	taken, err := d.TakeChargebacks(t.Context(), d.Setup(t, d.Shop), checkout.ChargebackReport{
		GatewayID: collected.GatewayID, Source: payment.ChargebackImported,
		Chargebacks: []checkout.ReportedChargeback{{Chargeback: payment.Chargeback{
			MerchantTransactionID: collected.MerchantTransactionID, AmountMinor: collected.AmountMinor, Currency: collected.Currency, ReasonCode: "AM04",
		}}},
	})
	if err != nil || taken[0].Refused != nil {
		t.Fatalf("%+v: %v", taken, err)
	}
}

func TestNothingIsBilledBeforeTheGatewaysHaveAnswered(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.due(t)
		d.restore(t)
		d.Gateway.Answer(approved)
		d.bill(t, 0)
		if sent := len(d.Gateway.Submitted()); sent != 1 {
			t.Errorf("%d payments were sent", sent)
		}
		d.Gateway.Silence()
		if err := d.Recall(t.Context(), d.Time.Now()); err == nil {
			t.Error("a gateway that does not answer was passed over")
		}
		if after := d.Subscription(t, sub.ID); after.DueAt().IsZero() || len(d.rebills(t, sub)) > 0 {
			t.Errorf("without an answer there is a rebill")
		}
	})
}

func TestWhatAGatewayHasIsTakenIntoTheBooks(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.due(t)
		d.restore(t)
		known := map[string]payment.Outcome{
			payment.RebillReference(sub, 1): {Verdict: payment.VerdictLost}, // sent, and it never arrived
			payment.RebillReference(sub, 2): declined,
			payment.RebillReference(sub, 3): approved,
		}
		d.Gateway.AnswerEach(known)
		if err := d.Recall(t.Context(), d.Time.Now()); err != nil {
			t.Fatal(err)
		}
		rebills, after := d.rebills(t, sub), d.Subscription(t, sub.ID)
		if len(rebills) != 2 || rebills[0].Status != payment.TransactionDeclined || rebills[1].Status != payment.TransactionApproved {
			t.Fatalf("the books have %d rebills", len(rebills))
		}
		if after.Period != 2 || after.SuccessfulCount != 1 || after.RevenueMinor != 2*storetest.Monthly.PriceMinor || after.OpenTransactionID != nil {
			t.Errorf("period %d, %d collected, %s in all", after.Period, after.SuccessfulCount, after.RevenueMinor)
		}
		if sent := len(d.Gateway.Submitted()); sent != 1 {
			t.Errorf("%d payments were sent", sent)
		}
	})
}

func TestWhatNoGatewayHasIsBilledUnderTheSameName(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.due(t)
		d.restore(t)
		d.Gateway.Answer(payment.Outcome{Verdict: payment.VerdictLost})
		d.recallAll(t)
		d.Gateway.AnswerEach(map[string]payment.Outcome{})
		d.Gateway.Answer(approved)
		d.bill(t, 1)
		sent := d.Gateway.Submitted()
		if got := sent[len(sent)-1].MerchantTransactionID; got != payment.RebillReference(sub, 1) {
			t.Errorf("it was sent as %s", got)
		}
	})
}

func TestAGatewayThatCannotBeAskedRecognizesARepeat(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		d.due(t)
		d.restore(t)
		if err := d.Recall(t.Context(), d.Time.Now()); err != nil {
			t.Errorf("it holds up all others: %v", err)
		}
	}, checkouttest.WithoutAbilities)
}

// TestTheNameOfADebit is what makes a repeat after a restore the same debit.
func TestTheNameOfADebit(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.due(t)
		d.Gateway.Answer(declined)
		d.bill(t, 1)
		again := d.Subscription(t, sub.ID)
		d.Time.Set(again.NextBillingDate.Start())
		d.Gateway.Answer(approved)
		d.bill(t, 1)
		rebills := d.rebills(t, sub)
		first, second := rebills[0], rebills[1]
		if first.MerchantTransactionID != payment.RebillReference(sub, 1) || second.MerchantTransactionID != payment.RebillReference(sub, 2) {
			t.Errorf("the tries are %s and %s", first.MerchantTransactionID, second.MerchantTransactionID)
		}
		keys := map[string]bool{}
		for _, charge := range d.Gateway.Submitted()[1:] {
			keys[charge.IdempotencyKey] = true
		}
		if !keys[payment.RebillKey(first)] || !keys[payment.RebillKey(second)] || len(keys) != 2 {
			t.Errorf("the keys are %v", keys)
		}
		day := time.Date(2026, time.April, 30, 0, 0, 0, 0, time.UTC).Format("20060102")
		if got := first.MerchantTransactionID[4:12]; got != day {
			t.Errorf("it is dated %s, the period is billed on %s", got, day)
		}
	})
}

func TestAReferenceThatIsTakenIsPassedOver(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub, other := d.due(t), d.due(t)
		d.Env.Exec(t, `UPDATE transactions SET merchant_transaction_id = $1 WHERE subscription_id IS NOT NULL
			AND subscription_id = $2`, payment.RebillReference(sub, 1), other.ID.String())
		d.Gateway.Answer(approved)
		d.bill(t, 2)
		if got := d.rebills(t, sub)[0].MerchantTransactionID; got != payment.RebillReference(sub, 2) {
			t.Errorf("it is %s", got)
		}
		if got := d.rebills(t, other)[0].MerchantTransactionID; got != payment.RebillReference(other, 1) {
			t.Errorf("the other is %s", got)
		}
	})
}

// TestARecalledDebitHasThePriceItWasSentWith: the price was changed after the period was first tried.
func TestARecalledDebitHasThePriceItWasSentWith(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub, price := d.due(t), payment.Minor(1234)
		d.Gateway.Answer(declined)
		d.bill(t, 1)
		if _, err := d.ChangeTerms(t.Context(), sub.TenantID, sub.ID, payment.NewTerms{AmountMinor: &price}); err != nil {
			t.Fatal(err)
		}
		d.Time.Set(d.Subscription(t, sub.ID).NextBillingDate.Start())
		d.restore(t)
		d.Gateway.AnswerEach(map[string]payment.Outcome{payment.RebillReference(sub, 2): approved})
		if err := d.Recall(t.Context(), d.Time.Now()); err != nil {
			t.Fatal(err)
		}
		rebills := d.rebills(t, sub)
		if last := rebills[len(rebills)-1]; len(rebills) != 2 || last.Status != payment.TransactionApproved || last.AmountMinor != sub.AmountMinor {
			t.Errorf("%d rebills, the last is %s of %s", len(rebills), last.Status, last.AmountMinor)
		}
	})
}

// TestWhatIsNeverBilledByItselfHoldsUpNobody: its mandate lapses one day, which is no debit that a gateway could have.
func TestWhatIsNeverBilledByItselfHoldsUpNobody(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.due(t)
		d.Env.Exec(t, `UPDATE subscriptions SET billing_frequency = '', next_billing_date = NULL WHERE id = $1`, sub.ID.String())
		d.restore(t)
		d.Gateway.Answer(approved)
		if err := d.Recall(t.Context(), d.Time.Now()); err != nil {
			t.Error(err)
		}
		if asked := len(d.Gateway.Asked()); asked != 0 {
			t.Errorf("the gateway was asked %d times", asked)
		}
	})
}

// TestAGatewayThatClaimsToHaveEverything is believed of what it can have: what is billed months from now nobody has sent.
func TestAGatewayThatClaimsToHaveEverything(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.due(t)
		d.restore(t)
		d.Gateway.Answer(approved)
		patience, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := d.Recall(patience, d.Time.Now()); err != nil {
			t.Error(err)
		}
		if rebills := len(d.rebills(t, sub)); rebills != 2 {
			t.Errorf("%d rebills were taken into the books", rebills)
		}
	})
}

// lostTime is what a database knows of a subscription, and what its gateway does when that is restored.
type lostTime struct {
	before func(t *testing.T, d desk) payment.Subscription
	// known are the answers to the tries of its periods, from the first on. What is lost the gateway does not know.
	known  [][]payment.Outcome
	passes time.Duration
	want   []payment.TransactionStatus
}

// TestWhatWasNotDueIsRecalledAsWell: what a collection that the database waits for has come to in the lost time, and what was
// billed after it, or sooner than the database knows, is asked about before the next debit is sent.
func TestWhatWasNotDueIsRecalledAsWell(t *testing.T) {
	t.Parallel()
	const days = 24 * time.Hour
	weekly := storetest.Monthly
	weekly.Frequency = payment.Weekly
	later := func(d desk, wait time.Duration) payment.Outcome {
		return payment.Outcome{Verdict: payment.VerdictPending, GatewayReference: "GW-P", SettlesAt: d.Time.Now().Add(wait)}
	}
	billed := func(answer func(d desk), change ...func(*storetest.Draft)) func(*testing.T, desk) payment.Subscription {
		return func(t *testing.T, d desk) payment.Subscription {
			sub := d.due(t, change...)
			answer(d)
			d.bill(t, 1)
			return sub
		}
	}
	due := func(t *testing.T, d desk) payment.Subscription { return d.due(t, storetest.WithTerms(weekly)) }
	one, none, lost := []payment.Outcome{approved}, []payment.Outcome{}, payment.Outcome{Verdict: payment.VerdictLost}
	again := []payment.Outcome{declined, approved}
	const no, yes = payment.TransactionDeclined, payment.TransactionApproved
	triedAgain := []payment.TransactionStatus{no, yes}
	for name, test := range map[string]lostTime{
		"a rebill that was taken in, refused and tried again": {
			billed(func(d desk) { d.Gateway.Answer(later(d, 14*days)) }), [][]payment.Outcome{again}, 5 * days, triedAgain,
		},
		"a rebill without an answer that was refused and tried again": {
			billed(func(d desk) { d.Gateway.Silence() }), [][]payment.Outcome{again}, 5 * days, triedAgain,
		},
		"a refused one that was tried again sooner": {
			billed(func(d desk) { d.Gateway.Answer(declined) }), [][]payment.Outcome{again}, 2 * days, triedAgain,
		},
		"what was billed after a first payment that was taken in": {
			func(t *testing.T, d desk) payment.Subscription {
				return *d.Paid(t, later(d, 20*days), storetest.WithTerms(weekly)).Subscription
			},
			[][]payment.Outcome{one}, 9 * days, []payment.TransactionStatus{yes},
		},
		"a period that was left out, and one behind it":         {due, [][]payment.Outcome{again, none, one}, 15 * days, []payment.TransactionStatus{no, yes, yes}},
		"no period that was left out":                           {due, [][]payment.Outcome{again, one, one}, 15 * days, []payment.TransactionStatus{no, yes, yes, yes}},
		"one that was left out behind one collected at once":    {due, [][]payment.Outcome{one, none, one}, 15 * days, []payment.TransactionStatus{yes, yes}},
		"a try that the gateway has lost, which left one out":   {due, [][]payment.Outcome{{lost, approved}, none, one}, 15 * days, []payment.TransactionStatus{yes, yes}},
		"one that was lost, and no period that has begun since": {due, [][]payment.Outcome{{lost, approved}}, 8 * days, []payment.TransactionStatus{yes}},
		"what was billed after a second try that was taken in": {
			func(t *testing.T, d desk) payment.Subscription {
				sub := billed(func(d desk) { d.Gateway.Answer(declined) }, storetest.WithTerms(weekly))(t, d)
				d.Time.Set(d.Subscription(t, sub.ID).NextBillingDate.Start())
				d.Gateway.Answer(later(d, 2*days))
				d.bill(t, 1)
				return sub
			},
			[][]payment.Outcome{again, one, one}, 12 * days, []payment.TransactionStatus{no, yes, yes, yes},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, d desk) { test.isRecalled(t, d, d.recallAll) })
		})
		t.Run(name+", from a gateway that is silent in between", func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, d desk) { test.isRecalled(t, d, d.recallBrokenOff) })
		})
	}
}

// recallBrokenOff is recallAll of a gateway that falls silent after whatever it has said of a debit, and is asked anew.
func (d desk) recallBrokenOff(t *testing.T) {
	t.Helper()
	d.Gateway.BeFickle()
	brokenOff := 0
	const enough = 50
	for d.Recall(t.Context(), d.Time.Now()) != nil && brokenOff < enough {
		brokenOff++
	}
	if brokenOff == 0 {
		t.Error("it was not broken off")
	}
	d.recallAll(t)
}

func (l lostTime) isRecalled(t *testing.T, d desk, recall func(*testing.T)) {
	sub := l.before(t, d)
	known := map[string]payment.Outcome{}
	for i, tries := range l.known {
		period := sub
		period.Period += i
		for n, outcome := range tries {
			if outcome.Verdict != payment.VerdictLost {
				known[payment.RebillReference(period, n+1)] = outcome
			}
		}
	}
	if first := sub.OpenTransactionID; first != nil {
		known[d.Debit(t, *first).Transaction.MerchantTransactionID] = approved
	}
	backupAt := d.Time.Now()
	d.Time.Pass(l.passes)
	d.restoreTo(t, backupAt)
	sent := len(d.Gateway.Submitted())
	d.Gateway.AnswerEach(known)
	recall(t)
	var got []payment.TransactionStatus
	for _, rebill := range d.rebills(t, sub) {
		got = append(got, rebill.Status)
	}
	if after := d.Subscription(t, sub.ID); !slices.Equal(got, l.want) || after.OpenTransactionID != nil || after.Status != payment.SubscriptionActive {
		t.Errorf("the rebills are %v, the subscription %s, waits: %t", got, after.Status, after.OpenTransactionID != nil)
	}
	d.Gateway.Answer(approved)
	d.Time.Pass(72 * time.Hour)
	d.bill(t, 0)
	if now := len(d.Gateway.Submitted()); now != sent {
		t.Errorf("%d were sent again", now-sent)
	}
}
