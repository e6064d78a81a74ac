package banking_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/banking"
	"sepad/internal/store"
)

// read takes an answer of the bank in and gives what became of its lines.
func (b *bundle) read(t *testing.T, content string) banking.Counts {
	t.Helper()
	readings, err := b.App.Banking.Read(t.Context(), b.account, "answer.xml", asFile([]byte(content)), false)
	must(t, err)
	if len(readings) != 1 || readings[0].Problem != "" {
		t.Fatalf("%+v", readings)
	}
	return readings[0].Counts
}

// refusedCopy is a status report by an id that refuses a file, with what it says of its payments.
func refusedCopy(id string, file store.BankFile, reason, payments string) string {
	const because = `<StsRsnInf><Rsn><Cd>%s</Cd></Rsn></StsRsnInf>`
	return fmt.Sprintf(`<Document><CstmrPmtStsRpt><GrpHdr><MsgId>%s</MsgId></GrpHdr><OrgnlGrpInfAndSts><OrgnlMsgId>%s</OrgnlMsgId>
		<GrpSts>RJCT</GrpSts>`+because+`</OrgnlGrpInfAndSts><OrgnlPmtInfAndSts><OrgnlPmtInfId>%s-1</OrgnlPmtInfId><PmtInfSts>RJCT</PmtInfSts>%s</OrgnlPmtInfAndSts>
		</CstmrPmtStsRpt></Document>`, id, file.MessageID, reason, file.MessageID, payments)
}

// underWay is the one file that the bank has and has said nothing of.
func (b *bundle) underWay(t *testing.T) store.BankFile {
	t.Helper()
	files := slices.DeleteFunc(b.files(t), func(file store.BankFile) bool { return file.State != store.BankFileSent })
	if len(files) != 1 {
		t.Fatalf("%d files are under way", len(files))
	}
	return files[0]
}

func inCopy(ids ...string) (payments string) {
	for _, id := range ids {
		payments += `<TxInfAndSts><OrgnlEndToEndId>` + id + `</OrgnlEndToEndId><TxSts>RJCT</TxSts><StsRsnInf><Rsn><Cd>AM05</Cd></Rsn></StsRsnInf></TxInfAndSts>`
	}
	return payments
}

// A file that was handed in twice, at a portal beside the folder, is refused once; what the bank has had before stands.
func TestACopyThatIsRefused(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		id := b.pay(t, apptest.Approved)
		b.cutOff(t)
		reference := b.statusOf(t, id).MerchantTransactionID
		wantCopy := func(id, status string, file store.BankFile) {
			t.Helper()
			for _, reason := range []string{"DU01", "AM05", "DUPL"} {
				if counts := b.read(t, refusedCopy(status, file, reason, inCopy(reference))); counts != (banking.Counts{Unmatched: 1}) {
					t.Errorf("%s of what is %s gives %+v", reason, status, counts)
				}
				b.wantStatus(t, id, status)
			}
		}
		wantCopy(id, "pending", b.files(t)[0])
		if state := b.files(t)[0].State; state != store.BankFileSent {
			t.Errorf("the file is %s", state)
		}
		paid := b.settled(t, apptest.Approved)[0]
		wantCopy(paid, "approved", b.files(t)[len(b.files(t))-1])

		refund := b.refund(t, paid, 49_00)
		b.cutOff(t)
		file, _ := b.transfers(t)
		wantCopy(refund, "pending", file)
		b.wantRefundable(t, paid, 0)
		for _, line := range b.open(t) {
			if !strings.Contains(line.Note, "refuses a copy") {
				t.Errorf("an open line says %q", line.Note)
			}
		}
	})
}

// TestAFileThatLooksLikeACopy may be the only one: nothing is made of the bank's silence before somebody could ask, unless it has
// said that it takes the first.
func TestAFileThatLooksLikeACopy(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s, "settle_days: 3")
		id := b.pay(t, apptest.Approved)
		b.cutOff(t)
		b.read(t, refusedCopy("one", b.files(t)[0], "DU01", ""))
		b.Advance(t, 12*day)
		b.wantStatus(t, id, "pending")
		b.Advance(t, 10*day)
		b.wantStatus(t, id, "approved")

		id = b.pay(t, apptest.Approved)
		b.cutOff(t)
		file := b.underWay(t)
		b.read(t, strings.ReplaceAll(refusedCopy("two", file, "", ""), "RJCT", "ACCP"))
		b.read(t, refusedCopy("three", file, "DU01", ""))
		b.Advance(t, 12*day)
		b.wantStatus(t, id, "approved")
	})
}

// TestABlockThatLooksLikeACopy of a file that the bank takes in part, or took at first, may never have been there before.
func TestABlockThatLooksLikeACopy(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s, "settle_days: 3")
		because := `<StsRsnInf><Rsn><Cd>AM05</Cd></Rsn></StsRsnInf>`
		for _, before := range []string{"PART", "ACCP"} {
			id := b.pay(t, apptest.Approved)
			b.cutOff(t)
			file := b.underWay(t)
			report := strings.Replace(refusedCopy(before, file, "", because), "RJCT", before, 1)
			if counts := b.read(t, report); counts.Rejected > 0 || counts.Unmatched != 1 {
				t.Errorf("%s: %+v", before, counts)
			}
			b.Advance(t, 12*day)
			b.wantStatus(t, id, "pending")
			b.Advance(t, 10*day)
			b.wantStatus(t, id, "approved")
		}
	})
}
