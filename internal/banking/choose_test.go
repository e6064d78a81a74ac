package banking_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/app/apptest"
	"sepad/internal/banking"
	"sepad/internal/payment"
)

// series pays subscriptions until their third payment is at the bank, after days that pass one by one or several at a time, and gives
// the payments of each in their order.
func (b *bundle) series(t *testing.T, subscriptions int, frequency string, days ...int) (all [][]payment.Transaction) {
	t.Helper()
	first := make([]string, subscriptions)
	for i := range first {
		first[i] = b.pay(t, apptest.Approved, apptest.Body{"billing_type": "RECURRING", "billing_frequency": frequency})
	}
	for _, days := range days {
		b.Advance(t, time.Duration(days)*24*time.Hour)
	}
	tenant := b.App.Store.Tenant(uuid.MustParse(apptest.Shop))
	for _, id := range first {
		var ids []string
		mandate := b.statusOf(t, id).MandateReference
		entries, err := tenant.BankEntriesByMandate(t.Context(), b.account.ID, []string{mandate})
		must(t, err)
		for _, e := range entries {
			ids = append(ids, e.TransactionID.String())
		}
		slices.Sort(ids) // they begin with the time
		var series []payment.Transaction
		for _, id := range ids {
			series = append(series, b.statusOf(t, id))
		}
		if len(series) != 3 || series[1].Status != payment.TransactionApproved || series[2].Status != payment.TransactionPending {
			t.Fatalf("%+v", series)
		}
		all = append(all, series)
	}
	return all
}

func (b *bundle) weeks(t *testing.T, subscriptions int) [][]payment.Transaction {
	t.Helper()
	return b.series(t, subscriptions, "WEEKLY", slices.Repeat([]int{1}, 19)...)
}

func (b *bundle) months(t *testing.T, subscriptions int) [][]payment.Transaction {
	t.Helper()
	return b.series(t, subscriptions, "MONTHLY", 14, 15, 4, 14, 13, 1, 1, 1)
}

// anonymous books a debit that came back, and names the mandate alone.
func anonymous(message, mandate, reason string, on time.Time) string {
	day := ""
	if !on.IsZero() {
		day = "<BookgDt><Dt>" + on.Format(time.DateOnly) + "</Dt></BookgDt>"
	}
	outer, inner := "BkToCstmrStmt", "Stmt"
	switch message {
	case "camt.052":
		outer, inner = "BkToCstmrAcctRpt", "Rpt"
	case "camt.054":
		outer, inner = "BkToCstmrDbtCdtNtfctn", "Ntfctn"
	}
	part := fmt.Sprintf(`<%[1]s><Acct><Id><IBAN>DE89370400440532013000</IBAN></Id></Acct><Ntry><Amt Ccy="EUR">49.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts>%[2]s
		<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>IDDT</Cd><SubFmlyCd>UPDD</SubFmlyCd></Fmly></Domn></BkTxCd><NtryDtls><TxDtls>
		<Refs><EndToEndId>NOTPROVIDED</EndToEndId><MndtId>%[3]s</MndtId></Refs><RtrInf><Rsn><Cd>%[4]s</Cd></Rsn></RtrInf></TxDtls></NtryDtls></Ntry></%[1]s>`,
		inner, day, mandate, reason)
	return "<Document><" + outer + ">" + part + "</" + outer + "></Document>"
}

// refusal is a status report that refuses a payment, by whatever it names it.
func refusal(endToEndID, reason, reference string) string {
	return fmt.Sprintf(`<Document><CstmrPmtStsRpt><GrpHdr><MsgId>%s</MsgId></GrpHdr><OrgnlGrpInfAndSts><OrgnlMsgId>M</OrgnlMsgId></OrgnlGrpInfAndSts>
		<OrgnlPmtInfAndSts><OrgnlPmtInfId>B</OrgnlPmtInfId><TxInfAndSts><OrgnlEndToEndId>%s</OrgnlEndToEndId><TxSts>RJCT</TxSts>
		<StsRsnInf><Rsn><Cd>%s</Cd></Rsn></StsRsnInf>%s</TxInfAndSts></OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>`, uuid.NewString(), endToEndID, reason, reference)
}

// form is what a bank tells of one series of payments, and what should come of it.
type form struct {
	what    string
	answers []string
	want    []banking.Counts
	states  string
}

// wantForms hands in what a bank tells of each series.
func (b *bundle) wantForms(t *testing.T, all [][]payment.Transaction, forms []form) {
	t.Helper()
	for i, form := range forms {
		for k, answer := range form.answers {
			if counts := b.read(t, answer); counts != form.want[k] {
				t.Errorf("%s: answer %d gives %+v, want %+v", form.what, k+1, counts, form.want[k])
			}
		}
		b.wantStates(t, form.what, all[i], form.states)
	}
}

// Many banks tell of a return by its mandate alone, in several files and on days of their own. Where only one payment can be meant, it
// is that one, once.
func TestAReturnWithoutANameIsOfTheOnlyOneItCanBe(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		all := b.months(t, 7)
		now := b.Now(t)
		told := func(i int, message, reason string, on time.Time) string {
			return anonymous(message, all[i][2].MandateReference, reason, on)
		}
		reference := `<OrgnlTxRef><Amt><InstdAmt Ccy="EUR">49.00</InstdAmt></Amt><ReqdColltnDt>` + all[2][1].DueDate.String() + `</ReqdColltnDt>
			<MndtRltdInf><MndtId>` + all[2][2].MandateReference + `</MndtId></MndtRltdInf></OrgnlTxRef>`
		twice := told(3, "camt.053", "AM04", now)
		entry := twice[strings.Index(twice, "<Ntry>") : strings.Index(twice, "</Ntry>")+len("</Ntry>")]
		report := told(4, "camt.052", "AM04", now)
		b.wantForms(t, all, []form{
			{"a report without a day, a notice and a statement", []string{
				told(0, "camt.052", "AM04", time.Time{}), told(0, "camt.054", "AM04", now), told(0, "camt.053", "AM04", now.AddDate(0, 0, 1)),
			}, []banking.Counts{{Returned: 1}, {Known: 1}, {Known: 1}}, "approved approved charged_back"},
			{"a refusal with its name, and its booking", []string{
				refusal(all[1][2].MerchantTransactionID, "AM04", ""), told(1, "camt.053", "AM04", now.AddDate(0, 0, 1)),
			}, []banking.Counts{{Rejected: 1}, {Unmatched: 1}}, "approved approved declined"},
			{"a claim by its due date, twice", []string{
				refusal("NOTPROVIDED", "MD06", reference), refusal("NOTPROVIDED", "MD06", reference),
			}, []banking.Counts{{Returned: 1}, {Known: 1}}, "approved charged_back pending"},
			{"two in one statement", []string{strings.Replace(twice, entry, entry+entry, 1)}, []banking.Counts{{Returned: 1, Unmatched: 1}}, "approved approved charged_back"},
			{"two reports in one file", []string{parts("Rpt", report, report)}, []banking.Counts{{Returned: 1, Known: 1}}, "approved approved charged_back"},
			{"one more in a statement of another day", []string{told(5, "camt.053", "AM04", now), told(5, "camt.053", "AM04", now.AddDate(0, 0, 1))}, []banking.Counts{{Returned: 1}, {Unmatched: 1}}, "approved approved charged_back"},
			{"a bank's reason, long after it could send anything back", []string{told(6, "camt.053", "AM04", now.AddDate(0, 0, 12))}, []banking.Counts{{Unmatched: 1}}, "approved approved pending"},
		})
	})
}

// Where two payments can be meant, nobody but a person knows which: a guess would take money for gone that is there.
func TestAReturnThatMayBeOfTwoIsAPersons(t *testing.T) {
	t.Parallel()
	one := banking.Counts{Unmatched: 1}
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		all := b.weeks(t, 5)
		now := b.Now(t)
		told := func(i int, message, reason string) string {
			return anonymous(message, all[i][2].MandateReference, reason, now)
		}
		named := strings.Replace(told(3, "camt.053", "MD06"), "NOTPROVIDED", all[3][2].MerchantTransactionID, 1)
		b.wantForms(t, all, []form{
			{"by a bank", []string{told(0, "camt.053", "AM04")}, []banking.Counts{one}, "approved approved pending"},
			{"by the payer, in three files", []string{told(1, "camt.052", "MD06"), told(1, "camt.054", "MD06"), told(1, "camt.053", "MD06")}, []banking.Counts{one, one, one}, "approved approved pending"},
			{"three on a day", []string{parts("Ntfctn", told(2, "camt.054", "MD06"), told(2, "camt.054", "MD06"), told(2, "camt.054", "MD06"))}, []banking.Counts{{Unmatched: 3}}, "approved approved pending"},
			{"once with its name, and once without", []string{named, told(3, "camt.054", "MD06")}, []banking.Counts{{Returned: 1}, one}, "approved approved charged_back"},
			{"without a reason", []string{told(4, "camt.053", "")}, []banking.Counts{one}, "approved approved pending"},
		})
		for _, line := range b.open(t) {
			if !strings.Contains(line.Note, "Several payments fit") {
				t.Errorf("the person is told %q", line.Note)
			}
		}
	})
}

// A file is read again after a crash, and while an account waits after a restore: what it says without a day and a name is said of
// the same payment, however late that is, and however many have come since.
func TestAReturnWithoutANameIsReadAgain(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		series := b.months(t, 1)[0]
		answer := anonymous("camt.053", series[2].MandateReference, "AM04", time.Time{})
		if counts := b.read(t, answer); counts != (banking.Counts{Returned: 1}) {
			t.Errorf("%+v", counts)
		}
		for range 4 {
			b.Advance(t, 8*24*time.Hour)
		}
		b.Env.Exec(t, `UPDATE bank_statements SET state = 'reading'`)
		if counts := b.read(t, answer); counts != (banking.Counts{Known: 1}) {
			t.Errorf("read again it gives %+v", counts)
		}
		if back := b.Env.Count(t, `transactions WHERE status = 'charged_back'`); back != 1 || b.Env.Count(t, `transactions`) < 4 {
			t.Errorf("%d payments of %d came back", back, b.Env.Count(t, `transactions`))
		}
	})
}

// parts puts the statements or notices of several files into one.
func parts(inner string, files ...string) string {
	cut := func(file string) (from, to int) {
		return strings.Index(file, "<"+inner+">"), strings.Index(file, "</"+inner+">") + len(inner) + 3
	}
	from, to := cut(files[0])
	all := files[0][:from]
	for _, file := range files {
		from, to := cut(file)
		all += file[from:to]
	}
	return all + files[0][to:]
}

// wantStates holds the payments of a series against what should have become of them.
func (b *bundle) wantStates(t *testing.T, what string, series []payment.Transaction, want string) {
	t.Helper()
	var states []string
	for _, one := range series {
		states = append(states, string(b.statusOf(t, one.ID.String()).Status))
	}
	if got := strings.Join(states, " "); got != want {
		t.Errorf("%s: %s, want %s", what, got, want)
	}
}

// Files that are read at the same time tell of one return: it is one.
func TestReturnsWithoutANameThatAreReadAtOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		all := b.months(t, 4)
		now := b.Now(t)
		for _, series := range all {
			var reading sync.WaitGroup
			for _, message := range []string{"camt.052", "camt.053", "camt.054"} {
				reading.Go(func() { b.read(t, anonymous(message, series[2].MandateReference, "AM04", now)) })
			}
			reading.Wait()
			b.wantStates(t, "at once", series, "approved approved charged_back")
		}
		if open := b.open(t); len(open) > 0 {
			t.Errorf("%+v", open)
		}
	})
}
