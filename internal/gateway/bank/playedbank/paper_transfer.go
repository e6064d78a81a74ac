package playedbank

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sepad/internal/gateway/sandbox"
	"sepad/internal/sepa"
)

// refundVerdicts is what the test accounts do with money that is sent to them.
var refundVerdicts = map[sandbox.Outcome]verdict{
	sandbox.RebillAccountClosed: {reject: "AC04"},
	sandbox.RebillDeclined:      {giveBack: "MS03", after: 1},
}

// payeeChecks is what the verification of payee says of them, where it is not that the name matches.
var payeeChecks = map[sandbox.Outcome]string{sandbox.VerificationRejected: "RVNM", sandbox.VerificationPage: "RVCM"}

// judgeTransfer says what becomes of a credit transfer.
func judgeTransfer(d *Debit) verdict {
	if _, err := sepa.ParseIBAN(d.IBAN); err != nil {
		return verdict{reject: "AC01"}
	}
	return refundVerdicts[outcomes[d.IBAN]]
}

// checksPayees tells the banks that report the verification of payee: older versions have no words for it.
func (p *paper) checksPayees() bool { return p.shape == Plain || p.shape == German }

// payeeReport says whether names match their accounts, before anything is decided.
func (p *paper) payeeReport(payments []playedPayment) File {
	group := "RCVC"
	blocks := map[string]string{}
	for i, payment := range payments {
		check := payeeChecks[outcomes[payment.debit.IBAN]]
		if check == "" {
			check = "RCVC"
		} else {
			group = "RVMC"
		}
		blocks[payment.block.ID] += el("TxInfAndSts", el("StsId", fmt.Sprintf("V%d", i+1)), el("OrgnlEndToEndId", payment.debit.EndToEndID), el("TxSts", check))
	}
	var content strings.Builder
	for i := range p.order.Blocks {
		id := p.order.Blocks[i].ID
		content.WriteString(el("OrgnlPmtInfAndSts", el("OrgnlPmtInfId", id), blocks[id]))
	}
	header := el("GrpHdr", el("MsgId", "VOP-"+last(p.order.MessageID, 30)), el("CreDtTm", p.order.CreatedAt.UTC().Format("2006-01-02T15:04:05")))
	return File{p.fileName("pain002", "-payees"), message(p.reportNamespace(), el("CstmrPmtStsRpt", header,
		el("OrgnlGrpInfAndSts", el("OrgnlMsgId", p.order.MessageID), el("OrgnlMsgNmId", p.orderName()), el("GrpSts", group)), content.String()))}
}

// transfers books what was paid on a day and what came back.
func (p *paper) transfers(d *bookingDay) (entries string, balance int64) {
	var out strings.Builder
	for _, id := range slices.Sorted(maps.Keys(d.credited)) {
		payments := d.credited[id]
		balance -= sum(payments)
		block := payments[0].block
		if block.BatchBooking {
			batch := el("Btch", el("MsgId", p.order.MessageID), el("PmtInfId", block.ID), el("NbOfTxs", fmt.Sprint(len(payments))))
			out.WriteString(p.entry(sum(payments), "DBIT", false, d.date, block.ID, p.transferCode(true), el("NtryDtls", batch)))
			continue
		}
		for _, payment := range payments {
			out.WriteString(p.entry(payment.debit.Cents, "DBIT", false, d.date, payment.debit.EndToEndID, p.transferCode(false),
				el("NtryDtls", p.transferDetails(payment, "DBIT", ""))))
		}
	}
	for _, payment := range d.returned {
		balance += payment.debit.Cents
		out.WriteString(p.entry(payment.debit.Cents, "CRDT", false, d.date, payment.debit.EndToEndID, p.transferReturnCode(),
			el("NtryDtls", p.transferDetails(payment, "CRDT", returnReason(payment.verdict.giveBack, "")))))
	}
	return out.String(), balance
}

func (p *paper) transferCode(isBatch bool) string {
	switch {
	case p.shape == German && isBatch:
		return code("ICDT", "ESCT", "NMSC+191+00931")
	case p.shape == German:
		return code("ICDT", "ESCT", "NTRF+117+00931")
	}
	return code("ICDT", "ESCT", "")
}

func (p *paper) transferReturnCode() string {
	if p.shape == German {
		return code("RCDT", "RRTN", "NRTI+159+00931")
	}
	return code("RCDT", "RRTN", "")
}

func (p *paper) transferDetails(payment playedPayment, sign, back string) string {
	references := el("Refs", el("EndToEndId", payment.debit.EndToEndID))
	parties := el("RltdPties", el("Cdtr", el("Nm", payment.debit.Name)), iban("CdtrAcct", payment.debit.IBAN))
	if p.statementVersion() == "08" {
		parties = el("RltdPties", el("Cdtr", el("Pty", el("Nm", payment.debit.Name))), iban("CdtrAcct", payment.debit.IBAN))
	}
	if p.statementVersion() == "02" {
		return el("TxDtls", references, el("AmtDtls", el("TxAmt", amount("Amt", payment.debit.Cents))), parties, back)
	}
	return el("TxDtls", references, amount("Amt", payment.debit.Cents), el("CdtDbtInd", sign), parties, back)
}
