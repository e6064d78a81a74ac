package checkout_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"sepad/internal/checkout"
	"sepad/internal/checkout/checkouttest"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

func TestChargeBackByHand(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		paid := till.Paid(t, approved, storetest.WithTerms(storetest.Monthly))
		taken, err := till.ChargeBack(t.Context(), till.Shop.ID, paid.Transaction.ID, payment.Chargeback{Source: payment.ChargebackManual}, store.RequestKey{})
		if err != nil || taken.AmountMinor != paid.Transaction.AmountMinor || *taken.TransactionID != paid.Transaction.ID || taken.GatewayReference != "GW-1" {
			t.Fatalf("the chargeback is %+v: %v", taken.AmountMinor, err)
		}
		d := till.Debit(t, paid.Transaction.ID)
		if !d.Transaction.IsChargedBack() || d.Order.Status != payment.OrderChargedBack || d.Subscription.Status != payment.SubscriptionCancelled {
			t.Errorf("payment %s, order %s, subscription %s", d.Transaction.Status, d.Order.Status, d.Subscription.Status)
		}
		if got := till.Events(t); got[payment.EventChargebackCreated] != 1 || got[payment.EventTransactionStatusChanged] != 1 {
			t.Errorf("told were %v", got)
		}
		if n := till.Env.Count(t, "audit_entries WHERE action = 'chargeback.create' AND object_id = '"+taken.ID.String()+
			"' AND tenant_id = '"+till.Shop.ID.String()+"'"); n != 1 {
			t.Errorf("%d entries in the audit trail", n)
		}
		for what, id := range map[string]payment.Transaction{"a second time": paid.Transaction, "what was declined": till.Paid(t, declined).Transaction} {
			if _, err := till.ChargeBack(t.Context(), till.Shop.ID, id.ID, payment.Chargeback{}, store.RequestKey{}); payment.KindOf(err) != payment.Conflict {
				t.Errorf("%s: %v", what, err)
			}
		}
		if _, err := till.ChargeBack(t.Context(), till.Shop.ID, payment.NewID(), payment.Chargeback{}, store.RequestKey{}); payment.KindOf(err) != payment.NotFound {
			t.Errorf("what nobody knows: %v", err)
		}
	})
}

func TestAnOperatorMayKeepSubscriptions(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t))
	till.KeepSubscriptions = true
	paid := till.Paid(t, approved, storetest.WithTerms(storetest.Monthly))
	if _, err := till.ChargeBack(t.Context(), till.Shop.ID, paid.Transaction.ID, payment.Chargeback{}, store.RequestKey{}); err != nil {
		t.Fatal(err)
	}
	if sub := till.Subscription(t, paid.Subscription.ID); sub.Status != payment.SubscriptionActive {
		t.Errorf("the subscription is %s", sub.Status)
	}
}

// TestACampaignMayKeepSubscriptions, whatever the deployment does.
func TestACampaignMayKeepSubscriptions(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		for _, keeps := range []bool{true, false} {
			till.KeepSubscriptions = !keeps
			campaign := till.Env.Campaign(t, till.Shop.ID, func(c *merchant.Campaign) {
				c.OfferID, c.GatewayID, c.KeepsClaimed = till.Shop.Offer.ID, till.Shop.Gateway.ID, &keeps
			})
			paid := till.Paid(t, approved, storetest.WithTerms(storetest.Monthly), func(d *storetest.Draft) { d.Session.CampaignID = &campaign.ID })
			claimed := report(paid.Transaction)
			claimed.ReasonCode = "MD06"
			take(t, till, till.Setup(t, till.Shop), claimed)
			if sub := till.Subscription(t, paid.Subscription.ID); (sub.Status == payment.SubscriptionActive) != keeps {
				t.Errorf("where the campaign keeps them is %t, the subscription is %s", keeps, sub.Status)
			}
		}
	})
}

// report is a chargeback as a processor speaks of it.
func report(t payment.Transaction) checkout.ReportedChargeback {
	return checkout.ReportedChargeback{Chargeback: payment.Chargeback{
		MerchantTransactionID: t.MerchantTransactionID, AmountMinor: t.AmountMinor, Currency: t.Currency, ReasonCode: "AM04",
	}}
}

func take(t *testing.T, till *checkouttest.Till, setup *merchant.Setup, reports ...checkout.ReportedChargeback) []checkout.TakenChargeback {
	t.Helper()
	taken, err := till.TakeChargebacks(t.Context(), setup, checkout.ChargebackReport{
		GatewayID: till.Shop.Gateway.ID, Source: payment.ChargebackImported, Chargebacks: reports,
	})
	if err != nil || len(taken) != len(reports) {
		t.Fatalf("%d of %d were answered: %v", len(taken), len(reports), err)
	}
	return taken
}

// TestAChargebackThatWaitsAtAnotherGateway is another one, whatever it is called: a processor's names are its own.
func TestAChargebackThatWaitsAtAnotherGateway(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		other := till.SetGateway(t, till.Shop, func(a *merchant.GatewayAccount) { a.ID = payment.NewID() })
		setup, paid := till.Setup(t, till.Shop), till.Paid(t, payment.Outcome{Verdict: payment.VerdictApproved, GatewayReference: "GW-7"})
		waiting := report(paid.Transaction)
		waiting.MerchantTransactionID, waiting.GatewayReference = "", "GW-7"
		taken, err := till.TakeChargebacks(t.Context(), setup, checkout.ChargebackReport{GatewayID: other.ID, Chargebacks: []checkout.ReportedChargeback{waiting}})
		if err != nil || taken[0].Taken != payment.TakenNew {
			t.Fatalf("%+v: %v", taken, err)
		}
		if taken := take(t, till, setup, report(paid.Transaction)); taken[0].Taken != payment.TakenNew {
			t.Errorf("it is %+v", taken[0])
		}
		if d := till.Debit(t, paid.Transaction.ID); !d.Transaction.IsChargedBack() {
			t.Errorf("the payment is %s", d.Transaction.Status)
		}
	})
}

func TestReportedChargebacks(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		setup := till.Setup(t, till.Shop)
		reference := func(name string) payment.Outcome {
			return payment.Outcome{Verdict: payment.VerdictApproved, GatewayReference: name}
		}
		byOurName, byTheirs, byPayment := till.Paid(t, reference("GW-a")), till.Paid(t, reference("GW-b")), till.Paid(t, reference("GW-c"))
		theirs, ofPayment := report(byTheirs.Transaction), report(byPayment.Transaction)
		theirs.MerchantTransactionID, theirs.GatewayReference = "", "GW-b"
		ofPayment.MerchantTransactionID, ofPayment.GatewayReference, ofPayment.PaymentID = "", "CB-c", "GW-c"
		other := report(till.Paid(t, reference("GW-d")).Transaction)
		other.AmountMinor++
		unknown := report(payment.Transaction{MerchantTransactionID: "TXN-unknown", AmountMinor: 5_00, Currency: "EUR"})

		all := []checkout.ReportedChargeback{report(byOurName.Transaction), theirs, ofPayment, other, unknown, report(byOurName.Transaction)}
		taken := take(t, till, setup, all...)
		for i, want := range []payment.Taken{payment.TakenNew, payment.TakenNew, payment.TakenNew, "", payment.TakenNew, payment.TakenUnchanged} {
			if taken[i].Taken != want || (taken[i].Refused != nil) != (want == "") {
				t.Errorf("report %d: %q, %v", i, taken[i].Taken, taken[i].Refused)
			}
		}
		for _, paid := range []checkout.Result{byOurName, byTheirs, byPayment} {
			if d := till.Debit(t, paid.Transaction.ID); !d.Transaction.IsChargedBack() {
				t.Errorf("%s is %s", d.Transaction.GatewayReference, d.Transaction.Status)
			}
		}
		if n := till.Env.Count(t, "chargebacks"); n != 4 {
			t.Errorf("%d chargebacks are recorded", n)
		}
		for _, again := range take(t, till, setup, all[0], all[1], all[2], all[4]) {
			if again.Taken != payment.TakenUnchanged || again.Refused != nil {
				t.Errorf("reported again: %q, %v", again.Taken, again.Refused)
			}
		}
		if told := till.Events(t)[payment.EventChargebackCreated]; told != 4 {
			t.Errorf("%d chargebacks were told of", told)
		}
	})
}

// TestAChargebackThatItsProcessorAloneCanName: it is recorded once, however often it is told, and its payment, which comes later,
// finds it by the processor's name for that.
func TestAChargebackThatItsProcessorAloneCanName(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		setup := till.Setup(t, till.Shop)
		alone := report(payment.Transaction{AmountMinor: 5_00, Currency: "EUR"})
		alone.GatewayReference, alone.PaymentID = "CB-1", "GW-1"
		for _, want := range []payment.Taken{payment.TakenNew, payment.TakenUnchanged} {
			if taken := take(t, till, setup, alone); taken[0].Taken != want {
				t.Errorf("it is %q, want %q", taken[0].Taken, want)
			}
		}
		payer := payment.Debit{Transaction: payment.Transaction{MerchantTransactionID: "TXN-theirs", AmountMinor: 5_00, Currency: "EUR"}}
		hear(t, till, noticeOf(payer, approved))
		found, err := till.Store.Tenant(till.Shop.ID).DebitByMerchantID(t.Context(), "TXN-theirs")
		if err != nil || !found.Transaction.IsChargedBack() || till.Env.Count(t, "chargebacks") != 1 {
			t.Errorf("the payment is %s, %d chargebacks are recorded: %v", found.Transaction.Status, till.Env.Count(t, "chargebacks"), err)
		}
	})
}

// TestOneOfTwoChargebacksIsThePayments: a processor has told of one return by two names before the payment was known, and money
// comes back once.
func TestOneOfTwoChargebacksIsThePayments(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		later := payment.Transaction{MerchantTransactionID: "TXN-later", AmountMinor: 49_00, Currency: "EUR"}
		setup, byTheirs := till.Setup(t, till.Shop), report(later)
		byTheirs.MerchantTransactionID, byTheirs.GatewayReference = "", "GW-"+later.MerchantTransactionID
		take(t, till, setup, report(later), byTheirs)
		paid := broughtIn(t, till, later.MerchantTransactionID, payment.TransactionApproved)
		if err := till.LinkChargebacks(t.Context(), setup, paid.ID); err != nil {
			t.Fatal(err)
		}
		if err := till.LinkChargebacks(t.Context(), setup, paid.ID); !errors.Is(err, payment.ErrChargedBack) {
			t.Errorf("the other one: %v", err)
		}
		if n := till.Env.Count(t, "chargebacks WHERE transaction_id IS NOT NULL"); n != 1 || till.Env.Count(t, "chargebacks") != 2 {
			t.Errorf("%d of %d chargebacks are the payment's", n, till.Env.Count(t, "chargebacks"))
		}
	})
}

// TestAPaymentThatComesInBesideItsChargeback has been looked for before it was there, and is looked for again.
func TestAPaymentThatComesInBesideItsChargeback(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		theirs := payment.Transaction{
			TenantID: till.Shop.ID, GatewayID: till.Shop.Gateway.ID, MerchantTransactionID: "TXN-theirs", GatewayReference: "GW-9", AmountMinor: 5_00, Currency: "EUR",
		}
		brought := payment.BringIn(theirs, approved, payment.SourceWebhook, till.Time.Now()).Transaction
		told := report(payment.Transaction{AmountMinor: 5_00, Currency: "EUR"})
		told.GatewayReference = brought.GatewayReference
		taken, err := till.TakeChargebacks(t.Context(), till.Setup(t, till.Shop), checkout.ChargebackReport{
			GatewayID: till.Shop.Gateway.ID, Source: payment.ChargebackImported, Chargebacks: []checkout.ReportedChargeback{told},
			Along: func(tx *store.Tx) { tx.AddTransaction(brought, nil) },
		})
		if d := till.Debit(t, brought.ID); err != nil || taken[0].Taken != payment.TakenNew || !d.Transaction.IsChargedBack() {
			t.Errorf("the payment is %s: %+v, %v", d.Transaction.Status, taken, err)
		}
	})
}

// TestWhatABankTakesForAReturnIsTheMostThatIsTold, in whatever order and by whatever names, alone or together, and whether
// the payment is known before or comes last.
func TestWhatABankTakesForAReturnIsTheMostThatIsTold(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		setup := till.Setup(t, till.Shop)
		take := func(reports ...checkout.ReportedChargeback) []checkout.TakenChargeback {
			t.Helper()
			taken, err := till.TakeChargebacks(t.Context(), setup, checkout.ChargebackReport{GatewayID: till.Shop.Gateway.ID, Source: payment.ChargebackImported, Chargebacks: reports})
			if err != nil {
				t.Fatal(err)
			}
			return taken
		}
		for _, order := range [][]payment.Minor{{0, 100, 300}, {300, 100, 0}, {100, 0, 300}, {0, 300, 300}, {300, 0, 0}} {
			for _, way := range []string{"one by one", "together", "before the payment", "as the payment comes"} {
				var reports []checkout.ReportedChargeback
				paid := till.Paid(t, payment.Outcome{Verdict: payment.VerdictApproved, GatewayReference: "GW-" + payment.NewID().String()}).Transaction
				name := paid.MerchantTransactionID
				switch way {
				case "before the payment":
					name = "TXN-" + payment.NewID().String()
				case "as the payment comes":
					till.Env.InsertChargebacks(t, []payment.Chargeback{{
						ID: payment.NewID(), TenantID: till.Shop.ID, GatewayID: till.Shop.Gateway.ID, MerchantTransactionID: name, AmountMinor: paid.AmountMinor,
						Currency: "EUR", ReportedAt: till.Time.Now(), Source: payment.ChargebackImported, CreatedAt: till.Time.Now(), UpdatedAt: till.Time.Now(),
					}})
				}
				for _, fee := range order {
					report := checkout.ReportedChargeback{Chargeback: payment.Chargeback{MerchantTransactionID: name, AmountMinor: paid.AmountMinor, Currency: "EUR"}}
					if fee > 0 {
						report.BankFeeMinor = &fee
					}
					reports = append(reports, report)
				}
				if way == "together" {
					take(reports...)
				} else {
					for _, report := range reports {
						take(report)
					}
				}
				stored, err := till.Store.Tenant(till.Shop.ID).ChargebackByMerchantID(t.Context(), name)
				if err != nil || stored == nil || stored.BankFeeMinor == nil || *stored.BankFeeMinor != 300 {
					t.Fatalf("%v %s: %+v, %v", order, way, stored, err)
				}
				if isKnown := stored.TransactionID != nil; isKnown != (way != "before the payment") {
					t.Errorf("%v %s: its payment is known: %t", order, way, isKnown)
				}
				if again := take(reports[0])[0]; again.Taken != payment.TakenUnchanged || again.Refused != nil {
					t.Errorf("%v %s, and once more: %+v", order, way, again)
				}
			}
		}
		if told := till.Events(t)[payment.EventChargebackCreated]; told != 15 {
			t.Errorf("told were %d chargebacks", told)
		}
	})
}

func TestADryRunChangesNothing(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		paid := till.Paid(t, approved)
		taken, err := till.TakeChargebacks(t.Context(), till.Setup(t, till.Shop), checkout.ChargebackReport{
			GatewayID: till.Shop.Gateway.ID, Chargebacks: []checkout.ReportedChargeback{report(paid.Transaction)}, IsDryRun: true,
		})
		if err != nil || taken[0].Taken != payment.TakenNew {
			t.Errorf("it would be %q: %v", taken[0].Taken, err)
		}
		if d := till.Debit(t, paid.Transaction.ID); d.Transaction.IsChargedBack() || till.Env.Count(t, "chargebacks") != 0 {
			t.Error("something was written")
		}
	})
}

// TestAChargebackMayComeBeforeItsPayment: whichever comes second finds the other.
func TestAChargebackMayComeBeforeItsPayment(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		setup := till.Setup(t, till.Shop)
		early := report(payment.Transaction{MerchantTransactionID: "TXN-early", AmountMinor: 5_00, Currency: "EUR"})
		take(t, till, setup, early)
		found := payment.BringIn(payment.Transaction{
			TenantID: till.Shop.ID, GatewayID: till.Shop.Gateway.ID, MerchantTransactionID: "TXN-early", AmountMinor: 5_00, Currency: "EUR",
		}, approved, payment.SourceImport, till.Time.Now())
		events, err := till.CreatedEvents(t.Context(), setup, found.Transaction)
		if err != nil {
			t.Fatal(err)
		}
		if err := till.LinkChargebacks(t.Context(), setup, found.Transaction.ID); payment.KindOf(err) != payment.NotFound {
			t.Errorf("a payment that is not there yet: %v", err)
		}
		till.Env.Write(t, addTransaction(found.Transaction, events))
		if err := till.LinkChargebacks(t.Context(), setup, found.Transaction.ID); err != nil {
			t.Fatal(err)
		}
		if d := till.Debit(t, found.Transaction.ID); !d.Transaction.IsChargedBack() {
			t.Errorf("the payment is %s", d.Transaction.Status)
		}
	})
}

// TestABatchThatOthersKeepChangingIsHalved: what belongs to one busy payment does
// not keep the others of a report waiting.
func TestABatchThatOthersKeepChangingIsHalved(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		setup := till.Setup(t, till.Shop)
		var reports []checkout.ReportedChargeback
		var paid []payment.Transaction
		for i := range 5 {
			one := till.Paid(t, payment.Outcome{Verdict: payment.VerdictApproved, GatewayReference: fmt.Sprint("GW-", i)}).Transaction
			paid, reports = append(paid, one), append(reports, report(one))
		}
		// While the decisions are made, somebody changes the third payment: so often
		// that a whole batch never fits, and the payment by itself does in the end.
		busy := &busyClock{Clock: till.Time, changes: 20, change: func() {
			till.Env.Exec(t, `UPDATE transactions SET status = CASE status WHEN 'approved' THEN 'refunded' ELSE 'approved' END WHERE id = $1`, paid[2].ID.String())
		}}
		till.Clock = busy
		taken := take(t, till, setup, reports...)
		for i, one := range taken {
			if one.Taken != payment.TakenNew || one.Refused != nil {
				t.Errorf("report %d: %q, %v", i, one.Taken, one.Refused)
			}
			if d := till.Debit(t, paid[i].ID); !d.Transaction.IsChargedBack() {
				t.Errorf("payment %d is %s", i, d.Transaction.Status)
			}
		}
	})
}

// busyClock has something happen whenever it is looked at, for a while.
type busyClock struct {
	*checkouttest.Clock
	quiet   int // so many looks at the clock before it begins
	changes int
	change  func()
}

func (c *busyClock) Now() time.Time {
	if c.quiet > 0 {
		c.quiet--
	} else if c.changes > 0 {
		c.changes--
		c.change()
	}
	return c.Clock.Now()
}

// TestAStaleReportGivesUpAlone: a single chargeback that others keep from being
// written is an error, and no endless work.
func TestAStaleReportGivesUpAlone(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t))
	paid := till.Paid(t, approved)
	till.Clock = &busyClock{Clock: till.Time, changes: 1 << 20, change: func() {
		till.Env.Exec(t, `UPDATE transactions SET status = CASE status WHEN 'approved' THEN 'refunded' ELSE 'approved' END WHERE id = $1`, paid.Transaction.ID.String())
	}}
	_, err := till.TakeChargebacks(context.WithoutCancel(t.Context()), till.Setup(t, till.Shop), checkout.ChargebackReport{
		GatewayID: till.Shop.Gateway.ID, Chargebacks: []checkout.ReportedChargeback{report(paid.Transaction)},
	})
	if err == nil {
		t.Error("it was taken over somebody's change")
	}
}

// TestAStaleReportOfManyIsTold: what others keep from being written was not taken, whichever half of the report it is in.
func TestAStaleReportOfManyIsTold(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t))
	for stale, name := range []string{"the first", "the second"} {
		t.Run(name, func(t *testing.T) {
			paid := []payment.Transaction{till.Paid(t, approved).Transaction, till.Paid(t, approved).Transaction}
			_, err := till.TakeChargebacks(t.Context(), till.Setup(t, till.Shop), checkout.ChargebackReport{
				GatewayID: till.Shop.Gateway.ID, Chargebacks: []checkout.ReportedChargeback{report(paid[0]), report(paid[1])},
				RestsOn: func(tx *store.Tx) error {
					if !till.Debit(t, paid[0].ID).Transaction.IsChargedBack() && stale == 1 {
						tx.Then(`UPDATE transactions SET status = 'refunded' WHERE id = $1`, paid[1].ID)
						return nil
					}
					return store.ErrStale
				},
			})
			if !errors.Is(err, store.ErrStale) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestAChargebackOfAnUnknownPaymentIsKnownByItsReference: a processor that names its own
// reference alone has each of its reports recorded, and each only once.
func TestAChargebackOfAnUnknownPaymentIsKnownByItsReference(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		of := func(reference string) checkout.ReportedChargeback {
			r := report(payment.Transaction{AmountMinor: 5_00, Currency: "EUR"})
			r.GatewayReference = reference
			return r
		}
		for i, one := range take(t, till, till.Setup(t, till.Shop), of("CB-1"), of("CB-2"), of("CB-1")) {
			want := payment.TakenNew
			if i == 2 {
				want = payment.TakenUnchanged
			}
			if one.Taken != want || one.Refused != nil {
				t.Errorf("report %d: %q, %v", i, one.Taken, one.Refused)
			}
		}
	})
}

// TestWhatGoesAlongWithReports is written with them, and not where one is refused.
func TestWhatGoesAlongWithReports(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		for _, refused := range []bool{false, true} {
			one, wrote := report(till.Paid(t, approved).Transaction), 0
			if refused {
				one.AmountMinor++
			}
			for range 2 { // known already, it goes along alone
				if _, err := till.TakeChargebacks(t.Context(), till.Setup(t, till.Shop), checkout.ChargebackReport{
					GatewayID: till.Shop.Gateway.ID, Chargebacks: []checkout.ReportedChargeback{one}, Along: func(*store.Tx) { wrote++ },
				}); err != nil {
					t.Fatal(err)
				}
			}
			if (wrote == 0) != refused || !refused && wrote < 2 {
				t.Errorf("refused is %t, and it was written %d times", refused, wrote)
			}
		}
	})
}
