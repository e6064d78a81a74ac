package banking_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/banking"
	"sepad/internal/payment"
)

// debtor is what a bank says of the payer's account.
const debtor = `<RltdPties><DbtrAcct><Id><IBAN>` + otherName + `</IBAN></Id></DbtrAcct></RltdPties>`

// under gives a booking a mandate.
func under(mandate, file string) string {
	return strings.Replace(file, "</EndToEndId>", "</EndToEndId><MndtId>"+mandate+"</MndtId>", 1)
}

// on gives a booking its day.
func on(day time.Time, file string) string {
	return strings.Replace(file, "<Sts>BOOK</Sts>", "<Sts>BOOK</Sts><BookgDt><Dt>"+day.Format(time.DateOnly)+"</Dt></BookgDt>", 1)
}

// A merchant's other program, or another gateway, may collect the same amount from the same payer to the same bank account: what names
// its mandate or its payment is never one of ours.
func TestWhatNamesSomebodyElsesDebitIsNoneOfOurs(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		paid := b.settled(t, otherName)[0]
		const none, old, mandate = "NOTPROVIDED", "RE-2026-0815", "ALT-77"
		back := debtor + `<RtrInf><Rsn><Cd>MD06</Cd></Rsn></RtrInf>`
		reference := `<OrgnlTxRef><Amt><InstdAmt Ccy="EUR">49.00</InstdAmt></Amt><MndtRltdInf><MndtId>` + mandate + `</MndtId></MndtRltdInf>
			<DbtrAcct><Id><IBAN>` + otherName + `</IBAN></Id></DbtrAcct></OrgnlTxRef>`
		for what, answer := range map[string]string{
			"a return with both":       under(mandate, booking("DBIT", "UPDD", "49.00", old, back)),
			"a return with a mandate":  under(mandate, booking("DBIT", "UPDD", "49.00", none, back)),
			"a return with a name":     booking("DBIT", "UPDD", "49.00", old, back),
			"a credit with both":       under(mandate, booking("CRDT", "ESDD", "49.00", old, debtor)),
			"a return on another one":  strings.Replace(booking("DBIT", "UPDD", "49.00", none, back), "DE89370400440532013000", "DE02120300000000202051", 1),
			"a refusal with both":      refusal(old, "AM04", reference),
			"a refusal with a mandate": refusal(none, "AM04", reference),
		} {
			if counts := b.read(t, answer); counts != (banking.Counts{Unmatched: 1}) {
				t.Errorf("%s gives %+v", what, counts)
			}
			b.wantStatus(t, paid, "approved")
		}
		if counts := b.read(t, booking("DBIT", "UPDD", "49.00", none, back)); counts != (banking.Counts{Returned: 1}) {
			t.Errorf("a return with the account alone gives %+v", counts)
		}
	})
}

// Two people may pay from one account, and one person twice: which payment came back is not said by the account.
func TestAnAccountWithSeveralMandatesNamesNone(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		paid := b.settled(t, otherName, otherName)
		back := booking("DBIT", "UPDD", "49.00", "NOTPROVIDED", debtor+`<RtrInf><Rsn><Cd>MD06</Cd></Rsn></RtrInf>`)
		due := `<OrgnlTxRef><Amt><InstdAmt Ccy="EUR">49.00</InstdAmt></Amt><ReqdColltnDt>` + b.statusOf(t, paid[0]).DueDate.String() + `</ReqdColltnDt>
			<DbtrAcct><Id><IBAN>` + otherName + `</IBAN></Id></DbtrAcct></OrgnlTxRef>`
		for _, answer := range []string{back, refusal("NOTPROVIDED", "MD06", due)} {
			if counts := b.read(t, answer); counts != (banking.Counts{Unmatched: 1}) {
				t.Errorf("%+v", counts)
			}
			b.wantStatus(t, paid[0], "approved")
			b.wantStatus(t, paid[1], "approved")
		}
		named := booking("DBIT", "UPDD", "49.00", b.statusOf(t, paid[0]).MerchantTransactionID, `<RtrInf><Rsn><Cd>MD06</Cd></Rsn></RtrInf>`)
		if counts := b.read(t, on(b.Now(t), named)); counts != (banking.Counts{Returned: 1}) {
			t.Errorf("%+v", counts)
		}
		again := strings.NewReplacer("BkToCstmrStmt", "BkToCstmrDbtCdtNtfctn", "Stmt>", "Ntfctn>").Replace(on(b.Now(t), back))
		if counts := b.read(t, again); counts != (banking.Counts{Unmatched: 1}) {
			t.Errorf("the same in a notice gives %+v", counts)
		}
		b.wantStatus(t, paid[1], "approved")
	})
}

// A statement may cover a week, and have a collection's money and its return: both are of one payment, whatever they name.
func TestACollectionAndItsReturnInOneStatement(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		for i, series := range b.months(t, 3) {
			last, mandate := series[2], series[2].MandateReference
			name := []string{"NOTPROVIDED", last.MerchantTransactionID, "NOTPROVIDED"}[i]
			due, err := time.Parse(time.DateOnly, last.DueDate.String())
			must(t, err)
			files := []string{
				on(due, under(mandate, booking("CRDT", "ESDD", "49.00", name, ""))),
				on(b.Now(t), under(mandate, booking("DBIT", "UPDD", "49.00", "NOTPROVIDED", `<RtrInf><Rsn><Cd>AM04</Cd></Rsn></RtrInf>`))),
			}
			want := banking.Counts{Settled: 1, Returned: 1}
			if i == 2 {
				files[0], files[1], want = files[1], files[0], banking.Counts{Returned: 1, Known: 1}
			}
			if counts := b.read(t, strings.Replace(parts("Stmt", files...), "</Stmt><Stmt>", "", 1)); counts != want {
				t.Errorf("form %d gives %+v", i, counts)
			}
			b.wantStates(t, fmt.Sprintf("form %d", i), series, "approved approved charged_back")
		}
	})
}

// A bank that takes a return back, or collects once more, gives money that nobody expects, also where it names the mandate alone.
func TestMoneyAfterAReturnIsForAPerson(t *testing.T) {
	t.Parallel()
	const none, reason = "NOTPROVIDED", `<RtrInf><Rsn><Cd>AM04</Cd></Rsn></RtrInf>`
	german := func(file, number string) string {
		from, to := strings.Index(file, "<BkTxCd>"), strings.Index(file, "</BkTxCd>")
		return file[:from] + "<BkTxCd><Prtry><Cd>NDDT+" + number + "+00931</Cd></Prtry>" + file[to:]
	}
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		paid := b.statusOf(t, b.settled(t, otherName)[0])
		now, id, mandate := b.Now(t), paid.MerchantTransactionID, paid.MandateReference
		later := now.AddDate(0, 0, 2)
		credit := func(subFamily, more string) string { return on(later, booking("CRDT", subFamily, "49.00", none, more)) }
		first := on(paid.ProcessedAt, under(mandate, booking("CRDT", "ESDD", "49.00", id, "")))
		for _, one := range []struct {
			what, answer string
			want         banking.Counts
		}{
			{"the return", on(now, under(mandate, booking("DBIT", "UPDD", "49.00", none, reason))), banking.Counts{Returned: 1}},
			{"the money before it", first, banking.Counts{Known: 1}},
			{"it is taken back", under(mandate, credit("UPDD", reason)), banking.Counts{Unmatched: 1}},
			{"by its code alone", under(mandate, credit("UPDD", "")), banking.Counts{Unmatched: 1}},
			{"by its mark alone", under(mandate, strings.Replace(credit("ESDD", ""), "<Sts>", "<RvslInd>true</RvslInd><Sts>", 1)), banking.Counts{Unmatched: 1}},
			{"by its number", under(mandate, german(credit("", reason), "109")), banking.Counts{Unmatched: 1}},
			{"by the payer's account", credit("UPDD", debtor+reason), banking.Counts{Unmatched: 1}},
			{"of somebody else", under("ALT-77", credit("UPDD", debtor+reason)), banking.Counts{Ignored: 1}},
			{"it is collected again", on(later, booking("CRDT", "ESDD", "49.00", id, "")), banking.Counts{Unmatched: 1}},
			{"without its name", under(mandate, credit("ESDD", "")), banking.Counts{Unmatched: 1}},
		} {
			if counts := b.read(t, one.answer); counts != one.want {
				t.Errorf("%s gives %+v, want %+v", one.what, counts, one.want)
			}
		}
		if status := b.statusOf(t, paid.ID.String()).Status; status != payment.TransactionChargedBack {
			t.Errorf("it is %s", status)
		}
	})
}
