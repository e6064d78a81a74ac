package banking_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/banking"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// A bank refuses a debit before it is due. Where it says neither a name nor the due date, that one can be meant as well as one that
// was due before.
func TestWhatIsRefusedMayNotBeDueYet(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		b.MoveToQuietTuesday(t)
		weekly := b.series(t, 1, "WEEKLY", slices.Repeat([]int{1}, 15)...)[0]
		b.wantRefusal(t, "weekly", weekly[2].MandateReference, weekly[2].DueDate.String(), banking.Counts{Unmatched: 1})
		b.wantStates(t, "weekly", weekly, "approved approved pending")
		first := b.pay(t, apptest.Approved, apptest.Body{"billing_type": "RECURRING", "billing_frequency": "MONTHLY"})
		mandate := b.statusOf(t, first).MandateReference
		for range 40 {
			if len(b.collections(t, mandate)) == 2 {
				break
			}
			b.Advance(t, 24*time.Hour)
		}
		next := b.collections(t, mandate)
		slices.SortFunc(next, func(x, y store.BankFileEntry) int { return cmp.Compare(y.DueDate, x.DueDate) })
		b.wantRefusal(t, "monthly", mandate, next[0].DueDate, banking.Counts{Rejected: 1})
		b.wantStatus(t, first, "approved")
		b.wantStatus(t, next[0].TransactionID.String(), "declined")
	})
}

// wantRefusal hands in a status report of before a due date that names a mandate and an amount alone.
func (b *bundle) wantRefusal(t *testing.T, what, mandate, due string, want banking.Counts) {
	t.Helper()
	if now := b.Now(t).Format(time.DateOnly); due <= now {
		t.Fatalf("%s: it is due on %s, and it is %s", what, due, now)
	}
	reference := `<OrgnlTxRef><Amt><InstdAmt Ccy="EUR">49.00</InstdAmt></Amt><MndtRltdInf><MndtId>` + mandate + `</MndtId></MndtRltdInf></OrgnlTxRef>`
	if counts := b.read(t, refusal("NOTPROVIDED", "AM04", reference)); counts != want {
		t.Errorf("%s: it gives %+v, want %+v", what, counts, want)
	}
}

// A refusal has no day but that on which it is read, and what a person records has that of his deed. The booking of the same is
// older where files are read late, as after a week without the program.
func TestABookingThatIsOlderThanItsNews(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		all := b.weeks(t, 2)
		booked := b.Now(t)
		b.Advance(t, 7*24*time.Hour)
		if counts := b.read(t, refusal(all[0][2].MerchantTransactionID, "AM04", "")); counts != (banking.Counts{Returned: 1}) && counts != (banking.Counts{Rejected: 1}) {
			t.Errorf("the refusal gives %+v", counts)
		}
		last := all[1][2]
		b.operator(t, "chargebacks/", apptest.Body{
			"merchant_transaction_id": last.MerchantTransactionID, "transaction_id": last.ID, "reason_code": "AM04",
		}).Want(t, 201, nil)
		for i, series := range all {
			if counts := b.read(t, anonymous("camt.053", series[2].MandateReference, "AM04", booked)); counts != (banking.Counts{Unmatched: 1}) {
				t.Errorf("form %d: its booking gives %+v", i, counts)
			}
			if status := b.statusOf(t, series[1].ID.String()).Status; status != "approved" {
				t.Errorf("form %d: the payment before it is %s", i, status)
			}
		}
	})
}

// One bank account may be that of several gateways, and its statements are handed in at each of them. A payer's account names none of
// two payments, also where they went through two gateways.
func TestOneBankAccountOfTwoGateways(t *testing.T) {
	t.Parallel()
	const second = "019d0000-0000-7000-8000-0000000000c1"
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		s.Apply(t, fmt.Sprintf(`tenants:
  - id: %s
    name: Bergladen
    creditor: {name: Bergladen GmbH, address: "Hangweg 1, 83471 Berchtesgaden, DE", identifier: DE98ZZZ09999999999}
    gateways:
      - id: %s
        name: Second
        adapter: bank
        test_mode: true
        settings: {account_iban: DE89370400440532013000, folder: %s, notice_days: 1}
`, apptest.Shop, second, t.TempDir()))
		b.refresh(t)
		other := b.pay(t, otherName, apptest.Body{"gateway_id": second})
		paid := b.settled(t, otherName, apptest.Approved)
		at, err := b.App.Banking.Find(t.Context(), "Second")
		must(t, err)
		beside := &bundle{Server: s, folder: b.folder, account: at}
		back := on(b.Now(t), booking("DBIT", "UPDD", "49.00", "NOTPROVIDED", debtor+`<RtrInf><Rsn><Cd>MD06</Cd></Rsn></RtrInf>`))
		for i, one := range []*bundle{b, beside} {
			if counts := one.read(t, back); counts != (banking.Counts{Unmatched: 1}) {
				t.Errorf("gateway %d: %+v", i+1, counts)
			}
		}
		b.wantStatus(t, paid[0], "approved")
		b.wantStatus(t, other, "approved")
	})
}

// The account of somebody who was erased is not known any more: what comes back to an account may be of that payment as well.
func TestAnAccountMayBeThatOfSomebodyWhoWasErased(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		paid := b.settled(t, otherName, otherName)
		b.operator(t, "leads/"+b.statusOf(t, paid[0]).LeadID.String()+"/erase/", apptest.Body{}).Want(t, 200, nil)
		told := func(reason string, day time.Time) string {
			return on(day, booking("DBIT", "UPDD", "49.00", "NOTPROVIDED", debtor+`<RtrInf><Rsn><Cd>`+reason+`</Cd></Rsn></RtrInf>`))
		}
		if counts := b.read(t, told("MD06", b.Now(t))); counts != (banking.Counts{Unmatched: 1}) {
			t.Errorf("%+v", counts)
		}
		b.wantStatus(t, paid[1], "approved")
		b.Advance(t, 30*24*time.Hour)
		later := b.settled(t, otherName)[0]
		due, err := time.Parse(time.DateOnly, b.statusOf(t, later).DueDate.String())
		must(t, err)
		if counts := b.read(t, told("AM04", due.AddDate(0, 0, 1))); counts != (banking.Counts{Returned: 1}) {
			t.Errorf("a month later it gives %+v", counts)
		}
		b.wantStatus(t, later, "charged_back")
	})
}

// A payment that left after a backup and was never opened here again holds up what came back only as long as it may be meant.
func TestALostPaymentIsMeantForAsLongAsItCanComeBack(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		paid := b.settled(t, otherName)[0]
		due, err := time.Parse(time.DateOnly, b.statusOf(t, paid).DueDate.String())
		must(t, err)
		file := store.BankFile{
			ID: payment.NewID(), TenantID: b.account.Setup.Tenant.ID, GatewayID: b.account.ID, Kind: store.BankDebits,
			MessageID: "SD-LOST", State: store.BankFileSent, Name: "lost.xml", Draft: "adopted", DueDate: due.AddDate(0, 0, -30).Format(time.DateOnly),
		}
		b.Env.Write(t, func(tx *store.Tx) error {
			tx.AddAdopted(file, []store.Adopted{{
				EndToEndID: payment.NewMerchantTransactionID(due), Position: 1, BlockID: "SD-LOST-1", DueDate: file.DueDate, AmountMinor: 49_00, SequenceType: "RCUR",
			}})
			tx.AdoptBankFile(file)
			return nil
		})
		mandate := b.statusOf(t, paid).MandateReference
		for _, told := range []struct {
			reason string
			want   banking.Counts
		}{{"MD06", banking.Counts{Unmatched: 1}}, {"AM04", banking.Counts{Returned: 1}}} {
			if counts := b.read(t, anonymous("camt.053", mandate, told.reason, due.AddDate(0, 0, 1))); counts != told.want {
				t.Errorf("%s gives %+v, want %+v", told.reason, counts, told.want)
			}
		}
	})
}
