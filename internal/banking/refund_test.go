package banking_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/app/apptest"
	"sepad/internal/checkout"
	"sepad/internal/gateway/bank/playedbank"
	"sepad/internal/iso20022"
	"sepad/internal/iso20022/iso20022test"
	"sepad/internal/payment"
	"sepad/internal/store"
)

const (
	rejectsRefunds = "DE34370400440532013020"
	returnsRefunds = "DE61370400440532013019"
	otherName      = "DE29370400440532013013"
)

// refund asks for one and gives its id.
func (b *bundle) refund(t *testing.T, id string, amount payment.Minor) string {
	t.Helper()
	refund, err := b.App.Checkout.Refund(t.Context(), uuid.MustParse(apptest.Shop), uuid.MustParse(id), checkout.RefundRequest{AmountMinor: &amount}, store.RequestKey{})
	must(t, err)
	if refund.Status != payment.TransactionPending {
		t.Errorf("the refund is %s at once", refund.Status)
	}
	return refund.ID.String()
}

// settled makes a payment whose money has come.
func (b *bundle) settled(t *testing.T, ibans ...string) (ids []string) {
	t.Helper()
	for _, iban := range ibans {
		ids = append(ids, b.pay(t, iban))
	}
	b.cutOff(t)
	b.Advance(t, 12*24*time.Hour)
	for _, id := range ids {
		b.wantStatus(t, id, "approved")
	}
	return ids
}

// transfers gives the file of refunds, held against its schema.
func (b *bundle) transfers(t *testing.T) (file store.BankFile, content string) {
	t.Helper()
	for _, one := range b.files(t) {
		if one.Kind == store.BankTransfers {
			var out strings.Builder
			must(t, b.App.Banking.Content(t.Context(), one, &out))
			iso20022test.Validate(t, one.Format, []byte(out.String()))
			return one, out.String()
		}
	}
	t.Fatal("there is no file of refunds")
	return file, content
}

func TestRefundsGoOutAsTransfers(t *testing.T) {
	t.Parallel()
	for _, format := range iso20022.DebitFormats {
		for _, shape := range playedbank.Shapes {
			t.Run(string(format)+" at a "+string(shape)+" bank", func(t *testing.T) {
				t.Parallel()
				b := setup(t, apptest.SQLite(t, apptest.Options{}), "format: "+string(format))
				testRefunds(t, b, shape)
			})
		}
	}
	t.Run("booked one by one", func(t *testing.T) {
		t.Parallel()
		apptest.Each(t, func(t *testing.T, s *apptest.Server) {
			testRefunds(t, setup(t, s, "batch_booking: false"), playedbank.German)
		})
	})
}

func testRefunds(t *testing.T, b *bundle, shape playedbank.Shape) {
	paid := b.settled(t, apptest.Approved, rejectsRefunds, returnsRefunds, otherName)
	var refunds []string
	for _, id := range paid {
		refunds = append(refunds, b.refund(t, id, 20_00))
	}
	held := b.refund(t, paid[0], 5_00)
	must(t, b.App.Banking.Hold(t.Context(), uuid.MustParse(apptest.Shop), uuid.MustParse(held)))
	preview, err := b.App.Banking.Preview(t.Context(), b.account, b.Now(t))
	must(t, err)
	if preview.Refunds.Count != 4 || preview.Refunds.SumMinor != 80_00 || preview.Count != 0 || len(preview.Held) != 1 {
		t.Errorf("%+v", preview)
	}
	b.cutOff(t)
	file, content := b.transfers(t)
	if file.Count != 4 || file.SumMinor != 80_00 || file.State != store.BankFileSent {
		t.Errorf("%+v", file)
	}
	for _, id := range paid {
		if reference := b.statusOf(t, id).MerchantTransactionID; !strings.Contains(content, reference) {
			t.Errorf("the payer is not told that it is of %s", reference)
		}
	}
	if err := b.App.Banking.Hold(t.Context(), uuid.MustParse(apptest.Shop), uuid.MustParse(refunds[0])); payment.KindOf(err) != payment.Conflict {
		t.Errorf("holding back what is in a file gives %v", err)
	}
	b.answer(t, shape)
	b.wantStatus(t, refunds[1], "declined")
	b.Advance(t, 36*time.Hour)
	b.answer(t, shape)
	b.Advance(t, 14*24*time.Hour)
	if again := b.answer(t, shape); again.Settled+again.Rejected+again.Returned+again.Unmatched != 0 {
		t.Errorf("hearing it again does %+v", again)
	}
	for i, status := range []string{"approved", "declined", "declined", "approved"} {
		b.wantStatus(t, refunds[i], status)
	}
	if open := b.open(t); len(open) != 0 {
		t.Errorf("open lines: %+v", open)
	}
	b.wantRefundable(t, paid[0], 24_00) // 5.00 are held back
	b.wantRefundable(t, paid[1], 49_00)
	b.wantRefundable(t, paid[2], 49_00)
	file, _ = b.transfers(t)
	matching, err := b.App.Banking.Match(t.Context(), file)
	must(t, err)
	if file.State != store.BankFileSettled || !matching.Agrees() || matching.DebitedMinor == nil || *matching.DebitedMinor != 40_00 {
		t.Errorf("%+v of %+v", matching, file)
	}
	b.wantStatus(t, held, "pending")
}

func (b *bundle) wantRefundable(t *testing.T, id string, want payment.Minor) {
	t.Helper()
	if got := b.statusOf(t, id).RefundableMinor(); got != want {
		t.Errorf("of %s %s can be refunded, want %s", id, got, want)
	}
}

func TestMoneyIsNotGivenBackTwice(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		pending := b.pay(t, apptest.Approved)
		if _, err := b.App.Checkout.Refund(t.Context(), uuid.MustParse(apptest.Shop), uuid.MustParse(pending), checkout.RefundRequest{}, store.RequestKey{}); payment.KindOf(err) != payment.Conflict {
			t.Errorf("refunding what has not been collected gives %v", err)
		}
		paid := b.settled(t, apptest.Approved)[0]
		refund := b.refund(t, paid, 49_00)
		_, err := b.App.Checkout.ChargeBack(t.Context(), uuid.MustParse(apptest.Shop), uuid.MustParse(paid), payment.Chargeback{ReasonCode: "MD06"}, store.RequestKey{})
		must(t, err)
		b.cutOff(t)
		b.wantStatus(t, refund, "declined")
		b.wantStatus(t, paid, "charged_back")
		if decline := b.statusOf(t, refund).Decline; decline == nil || decline.Message == "" {
			t.Error("the refund does not say why")
		}
		for _, file := range b.files(t) {
			if file.Kind == store.BankTransfers {
				t.Errorf("a file of refunds was written: %+v", file)
			}
		}
		if _, err := b.App.Checkout.Refund(t.Context(), uuid.MustParse(apptest.Shop), uuid.MustParse(paid), checkout.RefundRequest{}, store.RequestKey{}); payment.KindOf(err) != payment.Conflict {
			t.Errorf("refunding what was charged back gives %v", err)
		}
	})
}

func TestThePayeesNameDecidesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, apptest.SQLite(t, apptest.Options{}))
	refund := b.refund(t, b.settled(t, otherName)[0], 49_00)
	b.cutOff(t)
	b.answer(t, playedbank.German)
	b.wantStatus(t, refund, "pending")
	note := ""
	b.Env.DB(t).QueryRowContext(t.Context(), `SELECT note FROM bank_lines WHERE transaction_id = $1 AND reason = 'RVNM'`, refund).Scan(&note)
	if !strings.Contains(note, "does not match") {
		t.Errorf("the check is noted as %q", note)
	}
}

// TestARefundForSomebodyWhoWasErased: no file could ever have it, and it would be pending for good.
func TestARefundForSomebodyWhoWasErased(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		paid := b.settled(t, apptest.Approved)[0]
		b.operator(t, "leads/"+b.statusOf(t, paid).LeadID.String()+"/erase/", apptest.Body{}).Want(t, 200, nil)
		b.operator(t, "transactions/"+paid+"/refunds/", apptest.Body{}).WantDetail(t, 409,
			"The payer's account is not known here any more, so that the bank cannot be told where to. Give the money back outside.")
		if left := b.statusOf(t, paid).RefundableMinor(); left != 49_00 {
			t.Errorf("%s is left to refund", left)
		}
	})
}
