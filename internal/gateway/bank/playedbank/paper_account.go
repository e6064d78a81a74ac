package playedbank

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// returnCharge is what the bank takes for a debit that comes back, in cents.
const returnCharge = 300

// statement is the account's statement of a day.
func (p *paper) statement(d *bookingDay) File {
	entries, balance := p.collections(d)
	if p.order.IsTransfers {
		entries, balance = p.transfers(d)
	}
	version := p.statementVersion()
	id := "STM-" + last(p.order.MessageID, 20) + d.date.Format("-060102")
	content := el("BkToCstmrStmt", el("GrpHdr", el("MsgId", id), el("CreDtTm", d.date.Format("2006-01-02")+"T20:00:00")),
		el("Stmt", el("Id", id), el("ElctrncSeqNb", fmt.Sprint(d.date.YearDay())), el("CreDtTm", d.date.Format("2006-01-02")+"T20:00:00"),
			el("Acct", el("Id", el("IBAN", p.order.Blocks[0].Account)), el("Ccy", "EUR")),
			p.balance("OPBD", 0, d.date), p.balance("CLBD", balance, d.date), entries))
	return File{p.fileName("camt053", d.date.Format("-20060102")), message(standard+"camt.053.001."+version, content)}
}

// collections books the credits of blocks, then what came back.
func (p *paper) collections(d *bookingDay) (entries string, balance int64) {
	var out strings.Builder
	for _, id := range slices.Sorted(maps.Keys(d.credited)) {
		payments := d.credited[id]
		balance += sum(payments)
		out.WriteString(p.credits(d.date, payments))
	}
	balance -= sum(d.returned)
	out.WriteString(p.returns(d.date, d.returned))
	if p.chargesInside() {
		balance -= returnCharge * int64(len(d.returned))
	}
	return out.String(), balance
}

// notice tells what came back on a day apart from the statement, which tells it once more.
func (p *paper) notice(d *bookingDay) File {
	id := "NOT-" + last(p.order.MessageID, 20) + d.date.Format("-060102")
	content := el("BkToCstmrDbtCdtNtfctn", el("GrpHdr", el("MsgId", id), el("CreDtTm", d.date.Format("2006-01-02")+"T18:00:00")),
		el("Ntfctn", el("Id", id), el("CreDtTm", d.date.Format("2006-01-02")+"T18:00:00"),
			el("Acct", el("Id", el("IBAN", p.order.Blocks[0].Account)), el("Ccy", "EUR")), p.returns(d.date, d.returned)))
	return File{p.fileName("camt054", d.date.Format("-20060102")), message(standard+"camt.054.001."+p.statementVersion(), content)}
}

func (p *paper) balance(kind string, cents int64, date time.Time) string {
	sign := "CRDT"
	if cents < 0 {
		sign, cents = "DBIT", -cents
	}
	return el("Bal", el("Tp", el("CdOrPrtry", el("Cd", kind))), amount("Amt", cents), el("CdtDbtInd", sign), day("Dt", date))
}

func (p *paper) status() string {
	if p.statementVersion() == "08" {
		return el("Sts", el("Cd", "BOOK"))
	}
	return el("Sts", "BOOK")
}

// credits books the money of a block: at once, or payment by payment, as the block asks.
func (p *paper) credits(date time.Time, payments []playedPayment) string {
	block := payments[0].block
	if !block.BatchBooking {
		var out strings.Builder
		for _, payment := range payments {
			out.WriteString(p.entry(payment.debit.Cents, "CRDT", false, date, payment.debit.EndToEndID, p.collectionCode(false), el("NtryDtls", p.details(payment, ""))))
		}
		return out.String()
	}
	batch := el("Btch", el("MsgId", p.order.MessageID), el("PmtInfId", block.ID), el("NbOfTxs", fmt.Sprint(len(payments))))
	details := ""
	if p.shape == Swiss {
		// The block is named by the payments, which are listed one by one.
		batch = el("Btch", el("NbOfTxs", fmt.Sprint(len(payments))))
		for _, payment := range payments {
			details += p.details(payment, el("PmtInfId", block.ID))
		}
	}
	return p.entry(sum(payments), "CRDT", false, date, block.ID, p.collectionCode(true), el("NtryDtls", batch, details))
}

// entry is a booking.
func (p *paper) entry(cents int64, sign string, isReversal bool, date time.Time, reference, code, details string) string {
	reversal := ""
	if isReversal {
		reversal = el("RvslInd", "true")
	}
	return el("Ntry", amount("Amt", cents), el("CdtDbtInd", sign), reversal, p.status(), day("BookgDt", date), day("ValDt", date),
		el("AcctSvcrRef", p.reference(reference)), code, details) + "\n"
}

func (p *paper) reference(own string) string {
	if p.shape == German {
		return "NONREF"
	}
	return "BK" + last(own, 30)
}

func (p *paper) collectionCode(isBatch bool) string {
	switch {
	case p.shape == Swiss:
		return code("RDDT", "PMDD", "")
	case p.shape == German && isBatch:
		return code("IDDT", "ESDD", "NMSC+192+00931")
	case p.shape == German:
		return code("IDDT", "ESDD", "NDDT+171+00931")
	}
	return code("IDDT", "ESDD", "")
}

func code(family, subFamily, own string) string {
	proprietary := ""
	if own != "" {
		proprietary = el("Prtry", el("Cd", own), el("Issr", "DK"))
	}
	return el("BkTxCd", el("Domn", el("Cd", "PMNT"), el("Fmly", el("Cd", family), el("SubFmlyCd", subFamily))), proprietary)
}

// details of a credited payment.
func (p *paper) details(payment playedPayment, references string) string {
	content := el("Refs", references, el("EndToEndId", payment.debit.EndToEndID), el("MndtId", payment.debit.MandateID))
	if p.statementVersion() == "02" {
		return el("TxDtls", content, el("AmtDtls", el("TxAmt", amount("Amt", payment.debit.Cents))))
	}
	return el("TxDtls", content, amount("Amt", payment.debit.Cents), el("CdtDbtInd", "CRDT"))
}

func (p *paper) chargesInside() bool { return p.shape == German }

// returns books what came back: one booking each, or all of a day at once.
func (p *paper) returns(date time.Time, payments []playedPayment) string {
	if len(payments) == 0 {
		return ""
	}
	if p.shape == Dutch {
		details := el("Btch", el("NbOfTxs", fmt.Sprint(len(payments))), amount("TtlAmt", sum(payments)), el("CdtDbtInd", "DBIT"))
		for _, payment := range payments {
			details += p.returnDetails(payment)
		}
		return p.entry(sum(payments), "DBIT", true, date, payments[0].debit.EndToEndID, code("IDDT", "UPDD", ""), el("NtryDtls", details))
	}
	var out strings.Builder
	for _, payment := range payments {
		cents, bankCode := payment.debit.Cents, code("IDDT", "UPDD", "")
		if p.chargesInside() {
			cents, bankCode = cents+returnCharge, el("BkTxCd", el("Prtry", el("Cd", "NRTI+109+00931"), el("Issr", "DK")))
		}
		if p.shape == Swiss && payment.verdict.giveBack == "MD06" {
			bankCode = code("IDDT", "PRDD", "")
		}
		out.WriteString(p.entry(cents, "DBIT", p.shape == Swiss, date, payment.debit.EndToEndID, bankCode, el("NtryDtls", p.returnDetails(payment))))
	}
	return out.String()
}

// returnDetails writes one returned payment. The order of elements differs between the versions.
func (p *paper) returnDetails(payment playedPayment) string {
	debit, reason := payment.debit, payment.verdict.giveBack
	switch p.shape {
	case German:
		return el("TxDtls", el("Refs", el("EndToEndId", "NOTPROVIDED"), el("MndtId", debit.MandateID)), amount("Amt", debit.Cents+returnCharge), el("CdtDbtInd", "DBIT"),
			el("AmtDtls", el("InstdAmt", amount("Amt", debit.Cents))), el("Chrgs", el("Rcrd", amount("Amt", returnCharge))),
			el("RltdPties", el("Dbtr", el("Pty", el("Nm", debit.Name))), iban("DbtrAcct", debit.IBAN)),
			el("RmtInf", el("Ustrd", "Rueckgabegrund: "+reason+" Lastschrift "+debit.Text[:min(len(debit.Text), 60)])))
	case Dutch:
		return el("TxDtls", el("Refs", el("EndToEndId", debit.EndToEndID), el("MndtId", debit.MandateID)), el("AmtDtls", el("TxAmt", amount("Amt", debit.Cents))),
			el("RltdPties", el("Cdtr", el("Nm", debit.Name)), iban("CdtrAcct", debit.IBAN)), returnReason(reason, ""),
			el("AddtlTxInf", "Incasso AC07 Rek.nummer blokkade"))
	case Swiss:
		return el("TxDtls", el("Refs", el("PmtInfId", payment.block.ID), el("EndToEndId", debit.EndToEndID)), amount("Amt", debit.Cents), el("CdtDbtInd", "DBIT"),
			el("Chrgs", amount("TtlChrgsAndTaxAmt", 70), el("Rcrd", amount("Amt", 70), el("CdtDbtInd", "DBIT"), el("ChrgInclInd", "false"))),
			returnReason(reason, "Rueckbelastung"))
	case French:
		kind := "/RTYP/RTRN"
		if reason == "MD06" {
			kind = "/RTYP/RFND"
		}
		return el("TxDtls", el("Refs", el("EndToEndId", debit.EndToEndID), el("MndtId", debit.MandateID)), el("AmtDtls", el("InstdAmt", amount("Amt", debit.Cents))),
			el("RltdPties", el("Dbtr", el("Nm", debit.Name)), iban("DbtrAcct", debit.IBAN)), returnReason(reason, kind), el("AddtlTxInf", "/SQTP/"+payment.block.Sequence))
	}
	return el("TxDtls", el("Refs", el("EndToEndId", debit.EndToEndID), el("MndtId", debit.MandateID)), amount("Amt", debit.Cents), el("CdtDbtInd", "DBIT"),
		el("RltdPties", el("Dbtr", el("Pty", el("Nm", debit.Name))), iban("DbtrAcct", debit.IBAN)), returnReason(reason, ""))
}

func iban(element, number string) string { return el(element, el("Id", el("IBAN", number))) }

func returnReason(reason, information string) string {
	return el("RtrInf", el("Rsn", el("Cd", reason)), el("AddtlInf", information))
}
