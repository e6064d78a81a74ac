package playedbank

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"time"
)

// paper writes the answers to one order in one bank's way.
type paper struct {
	shape Shape
	order *Order
}

// el is an element around parts; one without parts is not written.
func el(name string, parts ...string) string {
	inner := strings.Join(parts, "")
	if inner == "" {
		return ""
	}
	return "<" + name + ">" + inner + "</" + name + ">"
}

// text escapes what people wrote.
func text(content string) string {
	var out bytes.Buffer
	_ = xml.EscapeText(&out, []byte(content)) // a buffer takes everything
	return out.String()
}

func amount(name string, cents int64) string {
	return `<` + name + ` Ccy="EUR">` + euro(cents) + `</` + name + `>`
}

func day(name string, date time.Time) string { return el(name, el("Dt", date.Format(time.DateOnly))) }

// message wraps what is inside in the envelope of its version.
func message(namespace, content string) []byte {
	return []byte(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<Document xmlns="` + namespace + `">` + content + "</Document>\n")
}

const standard = "urn:iso:std:iso:20022:tech:xsd:"

// statementVersion and reportVersion are what banks of the shape still send.
func (p *paper) statementVersion() string {
	switch p.shape {
	case Dutch, French:
		return "02"
	case Swiss:
		return "04"
	}
	return "08"
}

func (p *paper) reportNamespace() string {
	switch p.shape {
	case Swiss:
		return "http://www.six-interbank-clearing.com/de/pain.002.001.03.ch.02.xsd"
	case Dutch, French:
		return standard + "pain.002.001.03"
	}
	return standard + "pain.002.001.10"
}

func (p *paper) fileName(kind, suffix string) string {
	return fmt.Sprintf("%s-%s%s.xml", kind, strings.Map(fileCharacter, p.order.MessageID), suffix)
}

func fileCharacter(r rune) rune {
	if r == '/' || r == ' ' || r == ':' {
		return '-'
	}
	return r
}

// statusReport says what is refused. Some banks say so of each block, some of payments alone.
func (p *paper) statusReport(payments []playedPayment) File {
	rejected := map[string][]playedPayment{}
	count := 0
	for _, payment := range payments {
		if payment.verdict.reject != "" {
			rejected[payment.block.ID] = append(rejected[payment.block.ID], payment)
			count++
		}
	}
	var blocks strings.Builder
	for i := range p.order.Blocks {
		b := &p.order.Blocks[i]
		status := "ACCP"
		if len(rejected[b.ID]) > 0 {
			status = "PART"
		}
		if len(rejected[b.ID]) == len(b.Debits) {
			status = "RJCT"
		}
		if p.shape == French && len(rejected[b.ID]) > 0 {
			status = ""
		}
		blocks.WriteString(el("OrgnlPmtInfAndSts", el("OrgnlPmtInfId", b.ID), el("PmtInfSts", status), p.rejects(rejected[b.ID])))
	}
	group := "ACCP"
	switch {
	case p.shape == French, p.shape == Swiss && count > 0:
		group = ""
	case count == len(payments):
		group = "RJCT"
	case count > 0:
		group = "PART"
	}
	return File{p.fileName("pain002", ""), message(p.reportNamespace(), el("CstmrPmtStsRpt", p.reportHeader(),
		el("OrgnlGrpInfAndSts", el("OrgnlMsgId", p.order.MessageID), el("OrgnlMsgNmId", p.orderName()), el("GrpSts", group)), blocks.String()))}
}

func (p *paper) reportHeader() string {
	return el("GrpHdr", el("MsgId", "STS-"+last(p.order.MessageID, 30)), el("CreDtTm", p.order.CreatedAt.UTC().Format("2006-01-02T15:04:05")))
}

// last keeps the bank's own references within the length of the standard.
func last(content string, length int) string { return content[max(0, len(content)-length):] }

func (p *paper) orderName() string {
	if p.shape == French {
		return strings.ToUpper(p.order.Version)
	}
	return p.order.Version
}

func (p *paper) rejects(payments []playedPayment) string {
	var out strings.Builder
	for i, payment := range payments {
		status := "RJCT"
		if p.shape == Swiss {
			status = "" // listed, therefore refused
		}
		reason := el("Cd", payment.verdict.reject)
		information := ""
		if payment.verdict.reject == "NARR" {
			information = "Refused for a reason given in words only"
		}
		out.WriteString(el("TxInfAndSts", el("StsId", fmt.Sprintf("R%d", i+1)), el("OrgnlEndToEndId", payment.debit.EndToEndID), el("TxSts", status),
			el("StsRsnInf", el("Rsn", reason), el("AddtlInf", information)),
			p.original(payment)))
	}
	return out.String()
}

// original repeats what the payment was.
func (p *paper) original(payment playedPayment) string {
	amount := el("Amt", amount("InstdAmt", payment.debit.Cents))
	if p.order.IsTransfers {
		return el("OrgnlTxRef", amount)
	}
	return el("OrgnlTxRef", amount, el("ReqdColltnDt", payment.block.Due.Format(time.DateOnly)), el("MndtRltdInf", el("MndtId", payment.debit.MandateID)))
}

func (p *paper) fileRejected(refusal *Refusal) File {
	return File{p.fileName("pain002", ""), message(p.reportNamespace(), el("CstmrPmtStsRpt", p.reportHeader(),
		el("OrgnlGrpInfAndSts", el("OrgnlMsgId", p.order.MessageID), el("OrgnlMsgNmId", p.orderName()), el("GrpSts", "RJCT"),
			el("StsRsnInf", el("Rsn", el("Cd", refusal.Code)), el("AddtlInf", text(cut(refusal.Text, 105)))))))}
}

func cut(content string, length int) string { return content[:min(len(content), length)] }
