package backup_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/store/storetest"
)

// hear reads an answer of the bank.
func (d *bankDrill) hear(t *testing.T, name, answer string) {
	t.Helper()
	content := io.NewSectionReader(strings.NewReader(answer), 0, int64(len(answer)))
	if readings, err := d.App.Banking.Read(t.Context(), d.account(t), name, content, false); err != nil || readings[0].Problem != "" {
		t.Fatalf("%+v, %v", readings, err)
	}
}

// booking is a statement with one booking of a payment.
func booking(id, sign, family, kind, endToEndID, amount, more string) string {
	return fmt.Sprintf(`<Document><BkToCstmrStmt><Stmt><Id>%s</Id><Ntry><Amt Ccy="EUR">%s</Amt><CdtDbtInd>%s</CdtDbtInd><Sts>BOOK</Sts>`+
		`<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>%s</Cd><SubFmlyCd>%s</SubFmlyCd></Fmly></Domn></BkTxCd><NtryDtls><TxDtls><Refs><EndToEndId>%s</EndToEndId></Refs>%s</TxDtls></NtryDtls>`+
		`</Ntry></Stmt></BkToCstmrStmt></Document>`, id, amount, sign, family, kind, endToEndID, more)
}

// refundedSince is a payment of 49.00 that was open at the backup, was settled and refunded in part after it, and restored; the bank's
// files are taken in.
func refundedSince(t *testing.T, env *storetest.Env) (after *bankDrill, restored *storetest.Env) {
	t.Helper()
	d := openBankDrill(t, env)
	d.pay(t, apptest.Body{})
	restore := d.save(t, env)
	d.Advance(t, 20*24*time.Hour)
	d.refund(t, env, "10.00").Want(t, http.StatusCreated, nil)
	d.Advance(t, 3*24*time.Hour)
	after, restored = restore()
	if _, err := after.App.Banking.AdoptSent(t.Context(), after.account(t)); err != nil {
		t.Fatal(err)
	}
	return after, restored
}

// TestALostRefundOfAPaymentThatWasOpenAtTheBackup: the payment was settled, and a part of it given back, in the lost time. The bank
// did not give it back in the end. Its answers are read in whatever order they lie there, before the refund is known again.
func TestALostRefundOfAPaymentThatWasOpenAtTheBackup(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(message, refund string) string{
		"it came back": func(_, refund string) string { return cameBack(refund) },
		"its file was refused": func(message, _ string) string {
			return `<Document><CstmrPmtStsRpt><GrpHdr><MsgId>A</MsgId></GrpHdr><OrgnlGrpInfAndSts><OrgnlMsgId>` + message +
				`</OrgnlMsgId><GrpSts>RJCT</GrpSts><StsRsnInf><Rsn><Cd>AC04</Cd></Rsn></StsRsnInf></OrgnlGrpInfAndSts></CstmrPmtStsRpt></Document>`
		},
		"it was refused": func(message, refund string) string {
			return `<Document><CstmrPmtStsRpt><GrpHdr><MsgId>A</MsgId></GrpHdr><OrgnlGrpInfAndSts><OrgnlMsgId>` + message +
				`</OrgnlMsgId></OrgnlGrpInfAndSts><OrgnlPmtInfAndSts><TxInfAndSts><OrgnlEndToEndId>` + refund +
				`</OrgnlEndToEndId><TxSts>RJCT</TxSts><StsRsnInf><Rsn><Cd>AC04</Cd></Rsn></StsRsnInf></TxInfAndSts></OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>`
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.EachFresh(t, func(t *testing.T, env *storetest.Env) {
				after, restored := refundedSince(t, env)
				debits, transfers := after.read(t, 0), after.read(t, 1)
				after.hear(t, "a.xml", answer(messageID.FindStringSubmatch(transfers)[1], endToEnd.FindStringSubmatch(transfers)[1]))
				after.hear(t, "b.xml", booking("B", "CRDT", "IDDT", "ESDD", endToEnd.FindStringSubmatch(debits)[1], "49.00", ""))
				if _, err := after.App.Banking.Resume(t.Context(), after.account(t)); err != nil {
					t.Fatal(err)
				}
				after.Advance(t, 20*24*time.Hour)
				if booked := storetest.Scalar[int](t, restored, `SELECT refunded_minor FROM transactions WHERE type = 'sdd_sale' AND status = 'approved'`); booked != 0 {
					t.Errorf("%d cents are booked as given back, and the payer has not got them", booked)
				}
				if status := storetest.Scalar[string](t, restored, `SELECT status FROM transactions WHERE type = 'sdd_refund'`); status != "declined" {
					t.Errorf("the refund is %s", status)
				}
				if open := storetest.Scalar[int](t, restored, `SELECT COUNT(*) FROM bank_lines WHERE result IN ('unmatched', 'contradicts')`); open != 0 {
					t.Errorf("%d lines are open", open)
				}
			})
		})
	}
}

// read gives the text of one of the files that were sent.
func (d *bankDrill) read(t *testing.T, which int) string {
	t.Helper()
	content, err := os.ReadFile(d.sent(t)[which])
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// cameBack is a booking of a refund's money that came back.
func cameBack(refund string) string {
	return booking("A", "CRDT", "RCDT", "RRTN", refund, "10.00", `<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>`)
}

// TestALostRefundOfALostRebill: the rebill waits under another name, so that its own booking settles it only once it has its place,
// and its refund is opened after that. The refund's answer, which lies there first, is heard a third time.
func TestALostRefundOfALostRebill(t *testing.T) {
	t.Parallel()
	storetest.EachFresh(t, func(t *testing.T, env *storetest.Env) {
		d := openBankDrill(t, env)
		d.pay(t, apptest.Body{"billing_type": "RECURRING", "billing_frequency": "MONTHLY"})
		d.Advance(t, 24*24*time.Hour)
		restore := d.save(t, env)
		d.beforeRebill(t, env)
		d.steer(t, env, "pause")
		d.steer(t, env, "resume")
		d.Advance(t, 20*24*time.Hour)
		rebill := storetest.Scalar[string](t, env, `SELECT CAST(id AS TEXT) FROM transactions WHERE type = 'sdd_rebill' AND status = 'approved'`)
		d.Do(t, apptest.Request{Path: "/admin/v1/transactions/" + rebill + "/refunds/", Key: apptest.AdminToken, Body: apptest.Body{"amount": "10.00"}}).Want(t, http.StatusCreated, nil)
		d.Advance(t, 3*24*time.Hour)
		after, restored := restore()
		after.hear(t, "a.xml", cameBack(endToEnd.FindStringSubmatch(after.read(t, 2))[1]))
		after.hear(t, "b.xml", booking("B", "CRDT", "IDDT", "ESDD", endToEnd.FindStringSubmatch(after.read(t, 1))[1], "49.00", ""))
		if _, err := after.App.Banking.Resume(t.Context(), after.account(t)); err != nil {
			t.Fatal(err)
		}
		if booked := storetest.Scalar[int](t, restored, `SELECT refunded_minor FROM transactions WHERE type = 'sdd_rebill' AND status = 'approved'`); booked != 0 {
			t.Errorf("%d cents are booked as given back, and the payer has not got them", booked)
		}
		if status := storetest.Scalar[string](t, restored, `SELECT status FROM transactions WHERE type = 'sdd_refund'`); status != "declined" {
			t.Errorf("the refund is %s", status)
		}
	})
}

// TestAnAnswerThatCannotBeOpenedHoldsNothing: the key of one answer is gone, and another was taken in by a clock that was behind.
func TestAnAnswerThatCannotBeOpenedHoldsNothing(t *testing.T) {
	t.Parallel()
	storetest.EachFresh(t, func(t *testing.T, env *storetest.Env) {
		after, restored := refundedSince(t, env)
		refund := endToEnd.FindStringSubmatch(after.read(t, 1))[1]
		after.hear(t, "shut.xml", booking("S", "CRDT", "RCDT", "ESCT", "NOTPROVIDED", "1.00", ""))
		after.hear(t, "a.xml", cameBack(refund))
		after.hear(t, "b.xml", booking("B", "CRDT", "IDDT", "ESDD", endToEnd.FindStringSubmatch(after.read(t, 0))[1], "49.00", ""))
		restored.Exec(t, `UPDATE bank_statement_parts SET content_sealed = 'k9.AAAA' WHERE statement_id = (SELECT id FROM bank_statements WHERE name = 'shut.xml')`)
		restoredTo, err := after.App.Banking.RestoredTo(t.Context(), after.account(t))
		if err != nil {
			t.Fatal(err)
		}
		restored.Exec(t, `UPDATE bank_statements SET created_at = $1`, restoredTo.Add(-time.Hour).UnixMicro())
		if _, err := after.App.Banking.Resume(t.Context(), after.account(t)); err != nil {
			t.Fatalf("an answer that nobody can open holds the account: %v", err)
		}
		if status := storetest.Scalar[string](t, restored, `SELECT status FROM transactions WHERE type = 'sdd_refund'`); status != "declined" {
			t.Errorf("the refund is %s, although its money came back", status)
		}
	})
}

// TestALostRebillThatCameBackWithoutItsName: the bank names the mandate alone, which the payments before it have as well. None of
// them is taken for gone while the rebill is in a file that was taken in, but is not opened yet: the one before it is not settled.
func TestALostRebillThatCameBackWithoutItsName(t *testing.T) {
	t.Parallel()
	storetest.EachFresh(t, func(t *testing.T, env *storetest.Env) {
		d := openBankDrill(t, env)
		d.pay(t, apptest.Body{"billing_type": "RECURRING", "billing_frequency": "MONTHLY"})
		d.Advance(t, 24*24*time.Hour)
		restore := d.save(t, env)
		for range 46 {
			d.Advance(t, 24*time.Hour)
		}
		if files := len(d.sent(t)); files != 3 {
			t.Fatalf("%d files have left", files)
		}
		after, restored := restore()
		if _, err := after.App.Banking.AdoptSent(t.Context(), after.account(t)); err != nil {
			t.Fatal(err)
		}
		mandate := storetest.Scalar[string](t, restored, `SELECT mandate_reference FROM transactions WHERE type = 'sdd_sale'`)
		answer := booking("A", "DBIT", "IDDT", "UPDD", "NOTPROVIDED", "49.00", `<RtrInf><Rsn><Cd>MD06</Cd></Rsn></RtrInf>`)
		day := "<BookgDt><Dt>" + after.Now(t).Format(time.DateOnly) + "</Dt></BookgDt><BkTxCd>"
		after.hear(t, "a.xml", strings.Replace(strings.Replace(answer, "</EndToEndId>", "</EndToEndId><MndtId>"+mandate+"</MndtId>", 1), "<BkTxCd>", day, 1))
		if _, err := after.App.Banking.Resume(t.Context(), after.account(t)); err != nil {
			t.Fatal(err)
		}
		back := storetest.Scalar[int](t, restored, `SELECT COUNT(*) FROM transactions WHERE status = 'charged_back'`)
		if open := storetest.Scalar[int](t, restored, `SELECT COUNT(*) FROM bank_lines WHERE result = 'unmatched'`); back != 0 || open != 1 {
			t.Errorf("%d payments are charged back, %d lines are open", back, open)
		}
	})
}
