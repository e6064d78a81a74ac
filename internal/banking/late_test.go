package banking_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/app/apptest"
	"sepad/internal/gateway/bank/playedbank"
	"sepad/internal/payment"
	"sepad/internal/privacy"
)

// returnedDebit books one debit that came back, with what the bank says to find it by.
func returnedDebit(number int, references, parties string, on time.Time) string {
	return fmt.Sprintf(`<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><GrpHdr><MsgId>L%d</MsgId></GrpHdr><Stmt><Id>L%[1]d</Id>`+
		`<Acct><Id><IBAN>DE89370400440532013000</IBAN></Id></Acct><Ntry><Amt Ccy="EUR">52.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>`+
		`<BookgDt><Dt>%[2]s</Dt></BookgDt><BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>IDDT</Cd><SubFmlyCd>UPDD</SubFmlyCd></Fmly></Domn></BkTxCd><NtryDtls><TxDtls>`+
		`<Refs>%[3]s</Refs><AmtDtls><InstdAmt><Amt Ccy="EUR">49.00</Amt></InstdAmt></AmtDtls>%[4]s<RtrInf><Rsn><Cd>MD01</Cd></Rsn></RtrInf></TxDtls></NtryDtls></Ntry>`+
		`</Stmt></BkToCstmrStmt></Document>`, number, on.Format(time.DateOnly), references, parties)
}

// TestADebitCanComeBackAfterThirteenMonths has payers say that there was no mandate, when all about their payments was
// settled, told and swept away long ago.
func TestADebitCanComeBackAfterThirteenMonths(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		yearly := apptest.Body{"billing_type": "RECURRING", "billing_frequency": "YEARLY"}
		accounts := []string{apptest.Approved, otherName, "FR1420041010050500013M02606"}
		ids := []string{b.pay(t, accounts[0], yearly), b.pay(t, accounts[1]), b.pay(t, accounts[2])}
		b.cutOff(t)
		file := b.files(t)[0]
		b.Advance(t, 14*24*time.Hour)
		b.answer(t, playedbank.Plain)
		b.clearOut(t)
		now := b.Advance(t, 396*24*time.Hour)
		for _, id := range ids {
			b.wantStatus(t, id, "approved")
		}
		day := 24 * time.Hour
		sweep := &privacy.Privacy{
			Store: b.App.Store, Clock: standing(now), Real: standing(now), Logger: slog.New(slog.DiscardHandler), Observe: func(string, int) {},
			Keep: privacy.Retention{Sessions: 90 * day, Events: 90 * day, DeliveryLogs: 30 * day, Evidence: 425 * day, BankFiles: 3650 * day},
		}
		must(t, sweep.Retain(t.Context()))

		statements := []string{
			returnedDebit(1, "<EndToEndId>"+b.statusOf(t, ids[0]).MerchantTransactionID+"</EndToEndId>", "", now),
			returnedDebit(2, "<EndToEndId>NOTPROVIDED</EndToEndId><MndtId>"+b.statusOf(t, ids[1]).MandateReference+"</MndtId>", "", now),
			returnedDebit(3, "", "<RltdPties><DbtrAcct><Id><IBAN>"+accounts[2]+"</IBAN></Id></DbtrAcct></RltdPties>", now),
		}
		for i, statement := range statements {
			for _, name := range []string{"once.xml", "twice.xml"} {
				readings, err := b.App.Banking.Read(t.Context(), b.account, name, asFile([]byte(statement)), false)
				must(t, err)
				if counts := readings[0].Counts; counts.Unmatched != 0 || (counts.Returned == 1) != (name == "once.xml") {
					t.Errorf("statement %d, %s: %+v", i+1, name, counts)
				}
			}
			b.wantLateChargeback(t, ids[i])
		}
		paid, err := b.App.Store.Tenant(uuid.MustParse(apptest.Shop)).Debit(t.Context(), uuid.MustParse(ids[0]))
		must(t, err)
		if paid.Order.Status != payment.OrderChargedBack || paid.Subscription.Status != payment.SubscriptionCancelled {
			t.Errorf("the order is %s, the subscription %s", paid.Order.Status, paid.Subscription.Status)
		}
		matching, err := b.App.Banking.Match(t.Context(), file)
		must(t, err)
		if !matching.Agrees() || *matching.DebitedMinor != 3*49_00 || matching.ReturnedMinor != 3*49_00 {
			t.Errorf("%+v", matching)
		}
	})
}

// wantLateChargeback holds what a return has become against what the bank said: its code, its charges, told once.
func (b *bundle) wantLateChargeback(t *testing.T, id string) {
	t.Helper()
	b.wantStatus(t, id, "charged_back")
	tenant := b.App.Store.Tenant(uuid.MustParse(apptest.Shop))
	found, err := tenant.ChargebacksByMerchantID(t.Context(), []string{b.statusOf(t, id).MerchantTransactionID})
	must(t, err)
	if len(found) != 1 || found[0].ReasonCode != "MD01" || found[0].AmountMinor != 49_00 || found[0].BankFeeMinor == nil || *found[0].BankFeeMinor != 3_00 {
		t.Fatalf("%+v", found)
	}
	if told := b.Env.Count(t, "events WHERE event_key = 'chargeback.created:"+found[0].ID.String()+"'"); told != 1 {
		t.Errorf("the chargeback was told %d times", told)
	}
}
