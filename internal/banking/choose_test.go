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
	"sepad/internal/store"
)

// weeks pays a subscription by the week until its third payment is at the bank, and gives them in their order.
func (b *bundle) weeks(t *testing.T, subscriptions int) (all [][]payment.Transaction) {
	t.Helper()
	first := make([]string, subscriptions)
	for i := range first {
		first[i] = b.pay(t, apptest.Approved, apptest.Body{"billing_type": "RECURRING", "billing_frequency": "WEEKLY"})
	}
	for range 19 {
		b.Advance(t, 24*time.Hour)
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

// A bank tells of one return in several files, on days of its own, and many name no payment but its mandate. However that is
// told, one payment of the series did not go through.
func TestOneReturnInSeveralFilesIsOne(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		now := b.Now(t)
		forms := []struct {
			what    string
			answers func(series []payment.Transaction) []string
			want    []banking.Counts
			states  string
		}{
			{"a refusal with its name, and its booking", func(series []payment.Transaction) []string {
				return []string{refusal(series[2].MerchantTransactionID, "AM04", ""), anonymous("camt.053", series[2].MandateReference, "AM04", now.AddDate(0, 0, 1))}
			}, []banking.Counts{{Rejected: 1}, {Unmatched: 1}}, "approved approved declined"},
			{"a report without a day, a notice and a statement", func(series []payment.Transaction) []string {
				mandate := series[2].MandateReference
				return []string{anonymous("camt.052", mandate, "MD06", time.Time{}), anonymous("camt.054", mandate, "MD06", now.AddDate(0, 0, -2)), anonymous("camt.053", mandate, "MD06", now)}
			}, []banking.Counts{{Returned: 1}, {Known: 1}, {Known: 1}}, "approved approved charged_back"},
			{"two reports in one file", func(series []payment.Transaction) []string {
				report := anonymous("camt.052", series[2].MandateReference, "MD06", now)
				part := report[strings.Index(report, "<Rpt>") : strings.Index(report, "</Rpt>")+len("</Rpt>")]
				return []string{strings.Replace(report, part, part+part, 1)}
			}, []banking.Counts{{Returned: 1, Known: 1}}, "approved approved charged_back"},
			{"a refusal twice, by its due date", func(series []payment.Transaction) []string {
				reference := `<OrgnlTxRef><Amt><InstdAmt Ccy="EUR">49.00</InstdAmt></Amt><ReqdColltnDt>` + series[2].DueDate.String() + `</ReqdColltnDt>
					<MndtRltdInf><MndtId>` + series[2].MandateReference + `</MndtId></MndtRltdInf></OrgnlTxRef>`
				return []string{refusal("NOTPROVIDED", "AM04", reference), refusal("NOTPROVIDED", "AM04", reference)}
			}, []banking.Counts{{Rejected: 1}, {Known: 1}}, "approved approved declined"},
			{"a claim with its name, while a later payment is open", func(series []payment.Transaction) []string {
				return []string{refusal(series[1].MerchantTransactionID, "MD06", ""), anonymous("camt.053", series[1].MandateReference, "MD06", now.AddDate(0, 0, -1))}
			}, []banking.Counts{{Returned: 1}, {Unmatched: 1}}, "approved charged_back pending"},
			{"a booking for another reason", func(series []payment.Transaction) []string {
				return []string{refusal(series[2].MerchantTransactionID, "AM04", ""), anonymous("camt.053", series[2].MandateReference, "MD06", now)}
			}, []banking.Counts{{Rejected: 1}, {Unmatched: 1}}, "approved approved declined"},
			{"two returns on two days", func(series []payment.Transaction) []string {
				return []string{anonymous("camt.053", series[2].MandateReference, "MD06", now.AddDate(0, 0, -1)), anonymous("camt.053", series[2].MandateReference, "MD06", now)}
			}, []banking.Counts{{Returned: 1}, {Returned: 1}}, "approved charged_back charged_back"},
		}
		all := b.weeks(t, len(forms))
		now = b.Now(t)
		for i, form := range forms {
			for k, answer := range form.answers(all[i]) {
				if counts := b.read(t, answer); counts != form.want[k] {
					t.Errorf("%s: answer %d gives %+v, want %+v", form.what, k+1, counts, form.want[k])
				}
			}
			b.wantStates(t, form.what, all[i], form.states)
		}
	})
}

// A file is read again after a crash, and while an account waits after a restore: what it says without a day and a name is said of
// the same payment, however late that is.
func TestAReturnWithoutANameIsReadAgain(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		series := b.weeks(t, 1)[0]
		answer := anonymous("camt.053", series[2].MandateReference, "MD06", time.Time{})
		if counts := b.read(t, answer); counts != (banking.Counts{Returned: 1}) {
			t.Errorf("%+v", counts)
		}
		b.Advance(t, 30*24*time.Hour)
		b.Env.Exec(t, `UPDATE bank_statements SET state = 'reading'`)
		if counts := b.read(t, answer); counts != (banking.Counts{Known: 1}) {
			t.Errorf("read again it gives %+v", counts)
		}
		b.wantStatus(t, series[1].ID.String(), "approved")
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

// called gives a booking the bank's name.
func called(file, name string) string {
	return strings.Replace(file, "<BkTxCd>", "<AcctSvcrRef>"+name+"</AcctSvcrRef><BkTxCd>", 1)
}

// A payer takes three payments back on one day, and the bank tells each of them in a file or a part of its own, by the mandate alone:
// none of them is taken for another one without a word.
func TestSeveralReturnsOnADayAreNotOne(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		all := b.weeks(t, 5)
		now := b.Now(t)
		one := func(message string, i int) string { return anonymous(message, all[i][2].MandateReference, "MD06", now) }
		named := func(message string, i int) (files []string) {
			for k := range 3 {
				files = append(files, called(one(message, i), fmt.Sprintf("B%d-%d", i, k)))
			}
			return files
		}
		forms := []struct {
			what    string
			answers []string
			want    []banking.Counts
			states  string
		}{
			{"a notice each", named("camt.054", 0), []banking.Counts{{Returned: 1}, {Unmatched: 1}, {Unmatched: 1}}, "approved approved charged_back"},
			{"a statement each", named("camt.053", 1), []banking.Counts{{Returned: 1}, {Unmatched: 1}, {Unmatched: 1}}, "approved approved charged_back"},
			{"parts of a file", []string{parts("Ntfctn", named("camt.054", 2)...)}, []banking.Counts{{Returned: 3}}, "charged_back charged_back charged_back"},
			{
				"parts of a file, without the bank's names", []string{parts("Ntfctn", one("camt.054", 3), one("camt.054", 3))},
				[]banking.Counts{{Returned: 1, Unmatched: 1}}, "approved approved charged_back",
			},
			{
				"reports of the day, and its statement", append(named("camt.052", 4), strings.Replace(parts("Stmt", named("camt.053", 4)...), "</Stmt><Stmt>", "", -1)),
				[]banking.Counts{{Returned: 1}, {Known: 1}, {Known: 1}, {Returned: 2, Known: 1}}, "charged_back charged_back charged_back",
			},
		}
		for i, form := range forms {
			for k, answer := range form.answers {
				if counts := b.read(t, answer); counts != form.want[k] {
					t.Errorf("%s: answer %d gives %+v, want %+v", form.what, k+1, counts, form.want[k])
				}
			}
			b.wantStates(t, form.what, all[i], form.states)
		}
	})
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

// Files that are read at the same time may each find the same payment to have come back: those that brought nothing new are a person's.
func TestReturnsWithoutANameThatAreReadAtOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		series := b.weeks(t, 4)
		now := b.Now(t)
		for i := range series {
			var reading sync.WaitGroup
			for k := range 3 {
				answer := anonymous("camt.053", series[i][2].MandateReference, "MD06", now.AddDate(0, 0, -k))
				reading.Go(func() { b.read(t, answer) })
			}
			reading.Wait()
			back := 0
			for _, one := range series[i] {
				if b.statusOf(t, one.ID.String()).Status == payment.TransactionChargedBack {
					back++
				}
			}
			open, err := b.App.Store.Tenant(uuid.MustParse(apptest.Shop)).OpenBankLines(t.Context(), b.account.ID, uuid.Nil, 100)
			must(t, err)
			ofSeries := slices.DeleteFunc(open, func(l store.BankLine) bool { return l.Reference != series[i][2].MandateReference })
			if back == 0 || back+len(ofSeries) != 3 {
				t.Errorf("of three returns %d are known and %d for a person", back, len(ofSeries))
			}
		}
	})
}
