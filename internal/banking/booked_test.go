package banking_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/app/apptest"
	"sepad/internal/banking"
	"sepad/internal/store/listing"
	"sepad/internal/store/storetest"
)

// booking is one line of a statement that names a payment.
func booking(sign, subFamily, amount, id, more string) string {
	return fmt.Sprintf(`<Document><BkToCstmrStmt><Stmt><Id>%s</Id><Acct><Id><IBAN>DE89370400440532013000</IBAN></Id><Ccy>EUR</Ccy></Acct>
		<Ntry><Amt Ccy="EUR">%s</Amt><CdtDbtInd>%s</CdtDbtInd><Sts>BOOK</Sts>
		<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>IDDT</Cd><SubFmlyCd>%s</SubFmlyCd></Fmly></Domn></BkTxCd>
		<NtryDtls><TxDtls><Refs><EndToEndId>%s</EndToEndId></Refs>%s</TxDtls></NtryDtls></Ntry></Stmt></BkToCstmrStmt></Document>`,
		id, amount, sign, subFamily, id, more)
}

func TestMoneyThatMovesIsNeverIgnored(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		const returned = `<RtrInf><Rsn><Cd>AM04</Cd></Rsn></RtrInf>`
		paid := b.settled(t, apptest.Approved, apptest.Approved)
		first, second := b.statusOf(t, paid[0]).MerchantTransactionID, b.statusOf(t, paid[1]).MerchantTransactionID
		for _, one := range []struct {
			what, answer string
			want         banking.Counts
		}{
			{"charges", booking("DBIT", "CHRG", "3.00", first, ""), banking.Counts{Ignored: 1}},
			{"a debit of another kind", booking("DBIT", "OTHR", "49.00", first, ""), banking.Counts{Unmatched: 1}},
			{"a debit of another kind and payment", booking("DBIT", "OTHR", "49.00", "TXN-20260101-AAAAAAAA", ""), banking.Counts{Ignored: 1}},
			{"what was cancelled at the bank", booking("DBIT", "RCDD", "49.00", first, ""), banking.Counts{Returned: 1}},
			{"a return", booking("DBIT", "UPDD", "49.00", second, returned), banking.Counts{Returned: 1}},
			{"a return that is taken back", booking("CRDT", "UPDD", "49.00", second, returned), banking.Counts{Unmatched: 1}},
			{"one that only its code tells", booking("CRDT", "UPDD", "49.00", second, ""), banking.Counts{Unmatched: 1}},
		} {
			if counts := b.read(t, one.answer); counts != one.want {
				t.Errorf("%s gives %+v, want %+v", one.what, counts, one.want)
			}
		}
		b.wantStatus(t, paid[0], "charged_back")
	})
}

// A booking that is told by account and amount alone is held against each payment that has both, also one that is spoilt: it may be
// that one, and what stands beside it is read all the same.
func TestAnAccountThatCannotBeReadHoldsUpNoStatement(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		paid := b.settled(t, otherName, otherName, apptest.Approved)
		b.Env.Exec(t, `UPDATE transactions SET iban_sealed = 'k1:spoilt' WHERE id = $1`, paid[0])
		back := `<RltdPties><DbtrAcct><Id><IBAN>` + otherName + `</IBAN></Id></DbtrAcct></RltdPties><RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>`
		named := b.statusOf(t, paid[2]).MerchantTransactionID
		both := parts("Stmt", booking("DBIT", "UPDD", "49.00", "NOTPROVIDED", back), booking("DBIT", "UPDD", "49.00", named, back))
		if counts := b.read(t, both); counts != (banking.Counts{Returned: 1, Unmatched: 1}) {
			t.Errorf("%+v", counts)
		}
		b.wantStatus(t, paid[1], "approved")
		b.wantStatus(t, paid[2], "charged_back")
	})
}

// A statement covers a bank account, and that may be another gateway's too, or have collections that a restore has lost:
// what names one of these is not for a payment of the same payer and amount.
func TestAnIDOfAnotherAccountIsNoneOfOurs(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		paid := b.settled(t, otherName)[0]
		const elsewhere = "TXN-20260101-AAAAAAAA"
		payer := `<RltdPties><DbtrAcct><Id><IBAN>` + otherName + `</IBAN></Id></DbtrAcct></RltdPties>`
		back := payer + `<RtrInf><Rsn><Cd>AM04</Cd></Rsn></RtrInf>`
		mandated := strings.Replace(booking("DBIT", "UPDD", "49.00", elsewhere, back), "</EndToEndId>", "</EndToEndId><MndtId>"+b.statusOf(t, paid).MandateReference+"</MndtId>", 1)
		status := `<Document><CstmrPmtStsRpt><OrgnlGrpInfAndSts><OrgnlMsgId>M</OrgnlMsgId></OrgnlGrpInfAndSts><OrgnlPmtInfAndSts><OrgnlPmtInfId>B</OrgnlPmtInfId>
			<TxInfAndSts><OrgnlEndToEndId>` + elsewhere + `</OrgnlEndToEndId><TxSts>RJCT</TxSts><StsRsnInf><Rsn><Cd>AM04</Cd></Rsn></StsRsnInf>
			<OrgnlTxRef><Amt><InstdAmt Ccy="EUR">49.00</InstdAmt></Amt><MndtRltdInf><MndtId>` + b.statusOf(t, paid).MandateReference + `</MndtId></MndtRltdInf></OrgnlTxRef>
			</TxInfAndSts></OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>`
		for what, answer := range map[string]string{
			"a return from the same account": booking("DBIT", "UPDD", "49.00", elsewhere, back),
			"a return under the mandate":     mandated,
			"a credit":                       booking("CRDT", "ESDD", "49.00", elsewhere, payer),
			"a refusal":                      status,
			"a refund that came back":        strings.Replace(booking("CRDT", "RRTN", "49.00", elsewhere, ""), "<Cd>IDDT</Cd>", "<Cd>RCDT</Cd>", 1),
		} {
			if counts := b.read(t, answer); counts != (banking.Counts{Unmatched: 1}) {
				t.Errorf("%s gives %+v", what, counts)
			}
			b.wantStatus(t, paid, "approved")
		}
	})
}

// What a bank takes for a return is told once, in whatever form it is booked with the payment's amount, and what is left on
// the account is what was booked.
func TestChargesOfAReturnAreToldOnce(t *testing.T) {
	t.Parallel()
	const reason, instructed = `<RtrInf><Rsn><Cd>AM04</Cd></Rsn></RtrInf>`, `<AmtDtls><InstdAmt><Amt Ccy="EUR">49.00</Amt></InstdAmt></AmtDtls>`
	const both, named = `<Amt Ccy="EUR">52.00</Amt>`, `<Chrgs><Rcrd><Amt Ccy="EUR">3.00</Amt></Rcrd></Chrgs>`
	forms := []string{"", both, named, both + named, instructed, both + instructed, both + instructed + named}
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		paid := b.settled(t, slices.Repeat([]string{apptest.Approved}, len(forms))...)
		for i, form := range forms {
			reference := b.statusOf(t, paid[i]).MerchantTransactionID
			if counts := b.read(t, booking("DBIT", "UPDD", "52.00", reference, form+reason)); counts != (banking.Counts{Returned: 1}) {
				t.Errorf("%q gives %+v", form, counts)
			}
			fee := storetest.Scalar[int](t, b.Env, `SELECT bank_fee_minor FROM chargebacks WHERE merchant_transaction_id = $1`, reference)
			line := storetest.Scalar[string](t, b.Env, `SELECT amount_minor || ' and ' || charges_minor FROM bank_lines WHERE reference = $1 AND kind = 'returned'`, reference)
			if fee != 3_00 || line != "4900 and 300" {
				t.Errorf("%q: a fee of %d, and the line has %s", form, fee, line)
			}
		}
	})
}

// What a bank takes for a return is told by one of its files and not by another, in any order: it is written down once.
func TestChargesOfAReturnAreToldInAnyOrder(t *testing.T) {
	t.Parallel()
	const reason, charges = `<RtrInf><Rsn><Cd>AM04</Cd></Rsn></RtrInf>`, `<Chrgs><Rcrd><Amt Ccy="EUR">%s</Amt></Rcrd></Chrgs>`
	told := func(id, form, amount string) string {
		answer := booking("DBIT", "UPDD", amount, id, form+reason)
		if form == "" {
			answer = strings.NewReplacer("BkToCstmrStmt", "BkToCstmrDbtCdtNtfctn", "Stmt>", "Ntfctn>").Replace(answer)
		}
		return answer
	}
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		orders := [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
		for i, id := range b.settled(t, slices.Repeat([]string{apptest.Approved}, len(orders))...) {
			reference := b.statusOf(t, id).MerchantTransactionID
			files := []string{told(reference, "", "49.00"), told(reference, fmt.Sprintf(charges, "3.00"), "52.00"), told(reference, fmt.Sprintf(charges, "1.00"), "50.00")}
			for n, file := range orders[i] {
				if counts := b.read(t, files[file]); counts.Returned+counts.Known != 1 || (counts.Returned == 1) != (n == 0) {
					t.Errorf("file %d of %v gives %+v", n, orders[i], counts)
				}
			}
			if fee := storetest.Scalar[int](t, b.Env, `SELECT COALESCE(bank_fee_minor, 0) FROM chargebacks WHERE merchant_transaction_id = $1`, reference); fee != 3_00 {
				t.Errorf("in the order %v the fee is %d", orders[i], fee)
			}
		}
	})
}

// A bank may list some of the payments of a booking: what the others come to is not taken for its charges.
func TestAReturnThatIsNotListedIsNoCharge(t *testing.T) {
	t.Parallel()
	const moved, reason = `<AmtDtls><TxAmt><Amt Ccy="EUR">49.00</Amt></TxAmt></AmtDtls>`, `<RtrInf><Rsn><Cd>AM04</Cd></Rsn></RtrInf>`
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		paid := b.settled(t, apptest.Approved, apptest.Approved)
		reference := b.statusOf(t, paid[0]).MerchantTransactionID
		group := reason + `</TxDtls></NtryDtls><NtryDtls><Btch><NbOfTxs>1</NbOfTxs></Btch><TxDtls><Refs><EndToEndId>` +
			b.statusOf(t, paid[1]).MerchantTransactionID + `</EndToEndId></Refs>`
		for _, one := range []struct {
			count, amount, more string
			want                banking.Counts
		}{
			{"2", "98.00", moved, banking.Counts{Unmatched: 1}},
			{"2", "98.00", "", banking.Counts{Unmatched: 1}},
			{"2", "147.00", moved + group + moved, banking.Counts{Unmatched: 2}}, // groups that count their own
			{"2", "49.00", moved, banking.Counts{Returned: 1}},                   // what was collected together
			{"1", "52.00", moved, banking.Counts{Known: 1}},
		} {
			answer := booking("DBIT", "UPDD", one.amount, reference, one.more+reason)
			answer = strings.Replace(answer, "<NtryDtls>", "<NtryDtls><Btch><NbOfTxs>"+one.count+"</NbOfTxs></Btch>", 1)
			if counts := b.read(t, answer); counts != one.want {
				t.Errorf("%+v gives %+v", one, counts)
			}
		}
	})
}

// A finance person adds up what a statement has booked: two payments in one booking, of which the bank says only what they come to
// together, and nothing of what it foresees.
func TestPayoutsAreWhatIsBooked(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		paid := b.settled(t, apptest.Approved, apptest.Approved)
		first, second := b.statusOf(t, paid[0]).MerchantTransactionID, b.statusOf(t, paid[1]).MerchantTransactionID
		both := strings.Replace(booking("CRDT", "ESDD", "98.00", first, ""), "</TxDtls>", "</TxDtls><TxDtls><Refs><EndToEndId>"+second+"</EndToEndId></Refs></TxDtls>", 1)
		foreseen := strings.Replace(booking("CRDT", "ESDD", "49.00", first, ""), "BOOK", "PDNG", 1)
		readings, err := b.App.Banking.Read(t.Context(), b.account, "answer.xml", asFile([]byte(parts("Stmt", both, foreseen))), false)
		must(t, err)
		payouts, err := listing.PayoutsOf(t.Context(), b.App.Store.Tenant(uuid.MustParse(apptest.Shop)), readings[0].ID)
		must(t, err)
		if len(payouts) != 1 || payouts[0].Credited != (listing.Sum{Count: 2, Minor: 98_00}) || payouts[0].NetMinor() != 98_00 {
			t.Errorf("the payouts are %+v", payouts)
		}
	})
}
