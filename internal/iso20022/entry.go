package iso20022

import (
	"cmp"
	"strings"
	"time"

	"sepad/internal/sepa"
)

const (
	debitMark  = "DBIT"
	creditMark = "CRDT"
)

// Entry is one booking on an account.
type Entry struct {
	Statement *Statement
	// Index counts the statement's entries from 1.
	Index int
	// Reference is the bank's for this booking, "" when it gives none.
	Reference   string
	AmountMinor int64
	Currency    string
	IsCredit    bool
	IsReversal  bool
	// IsBooked is false for what a bank only foresees or mentions.
	IsBooked               bool
	BookingDate, ValueDate time.Time
	Code                   BankCode
	Batch                  Batch
	Text                   string
	// Lines are the payments in the booking; one for the booking itself when the bank does not list them.
	Lines []Line
	// ChargesMinor is what the bank took beyond the lines and their charges; IsUnexplained tells that the lines do not
	// add up to the booking.
	ChargesMinor  int64
	IsUnexplained bool
	// Problem says what could not be understood, in a sentence; such an entry is for a person.
	Problem string
}

// Batch is what a bank says about a booking of many payments.
type Batch struct {
	MessageID, BlockID string
	Count              string // as the bank wrote it
}

// BankCode is the bank transaction code.
type BankCode struct {
	Domain, Family, SubFamily string
	Proprietary               string
}

// Kind is what a line is, seen from the merchant's account.
type Kind string

// The kinds.
const (
	// Collected is money from direct debits.
	Collected Kind = "collected"
	// Returned is a direct debit that came back, for whatever reason and at whatever time.
	Returned Kind = "returned"
	// Transferred is a credit transfer of ours.
	Transferred Kind = "transferred"
	// TransferReturned is one that came back.
	TransferReturned Kind = "transfer_returned"
	// Other is anything else.
	Other Kind = "other"
)

// Line is one payment in a booking.
type Line struct {
	Kind     Kind
	IsCredit bool
	// IsTakenBack tells money of a direct debit that came back and was given to us again: of kind Other, for a person.
	IsTakenBack bool
	// AmountMinor is the payment's own amount, without charges; HasAmount is false when the bank does not say it.
	AmountMinor int64
	HasAmount   bool
	Currency    string
	// ChargesMinor are what the bank takes for this line: the merchant's cost, never the payer's debt.
	ChargesMinor  int64
	chargesInside int64 // the part of them that is in the booking's amount

	EndToEndID       string
	MandateReference string
	MessageID        string
	BlockID          string
	BankReference    string
	// Account is the other side's, wherever the bank put it.
	Account sepa.IBAN
	Code    BankCode
	Reason  Reason
	// RType is the kind of exception that French banks write into the text: RJCT, RTRN, RFND, RVSL.
	RType string
	// Remittance is the payment's text and structured reference, Text what the bank adds.
	Remittance, Text string
}

func newEntry(statement *Statement, index int, e *element) *Entry {
	amount := readMoney(e.find("Amt"))
	entry := &Entry{
		Statement: statement, Index: index,
		Reference:   identifier(cmp.Or(e.value("AcctSvcrRef"), e.value("NtryRef"))),
		AmountMinor: amount.minor, Currency: cmp.Or(amount.currency, statement.Currency),
		IsCredit:    e.value("CdtDbtInd") == creditMark,
		IsReversal:  isTrue(e.value("RvslInd")),
		IsBooked:    isBooked(cmp.Or(e.value("Sts", "Cd"), e.value("Sts"))),
		BookingDate: dateOf(e.find("BookgDt")), ValueDate: dateOf(e.find("ValDt")),
		Code: readBankCode(e.find("BkTxCd")),
		Text: cut(strings.Join(e.values("AddtlNtryInf"), " ")),
	}
	switch sign := e.value("CdtDbtInd"); {
	case !amount.ok:
		entry.Problem = "The amount of the booking cannot be read."
	case sign != creditMark && sign != debitMark:
		entry.Problem = "The booking does not say whether it is a credit or a debit."
	}
	for _, details := range e.all("NtryDtls") {
		entry.takeDetails(e, details)
	}
	if len(entry.Lines) == 0 {
		entry.Lines = []Line{entry.newLine(e, &element{})}
	}
	entry.settleAmounts(e)
	return entry
}

// isBooked tells what has happened from what is foreseen (PDNG), mentioned (INFO) or planned (FUTR). Some banks leave
// the status away in notifications of what is booked.
func isBooked(status string) bool { return status == "" || strings.EqualFold(status, "BOOK") }

func (entry *Entry) takeDetails(e, details *element) {
	if batch := details.find("Btch"); batch != nil {
		entry.Batch = Batch{
			MessageID: identifier(batch.value("MsgId")), BlockID: identifier(batch.value("PmtInfId")),
			Count: batch.value("NbOfTxs"),
		}
	}
	for _, transaction := range details.all("TxDtls") {
		entry.Lines = append(entry.Lines, entry.newLine(e, transaction))
	}
}

// newLine reads the details of one payment. Amounts are settled once all lines are known.
func (entry *Entry) newLine(e, details *element) Line {
	references := details.find("Refs")
	line := Line{
		IsCredit:         entry.IsCredit,
		EndToEndID:       identifier(references.value("EndToEndId")),
		MandateReference: identifier(references.value("MndtId")),
		MessageID:        identifier(references.value("MsgId")),
		BlockID:          identifier(references.value("PmtInfId")),
		BankReference:    identifier(cmp.Or(references.value("AcctSvcrRef"), references.value("Prtry", "Ref"))),
		Code:             readBankCode(details.find("BkTxCd")),
		Remittance:       readRemittance(details.find("RmtInf")),
		Text:             cut(strings.Join(details.values("AddtlTxInf"), " ")),
		Account:          entry.otherAccount(details.find("RltdPties")),
	}
	if sign := details.value("CdtDbtInd"); sign == creditMark || sign == debitMark {
		line.IsCredit = sign == creditMark
	}
	returned := details.all("RtrInf")
	line.Kind, line.IsTakenBack = classify(entry, &line, len(returned) > 0), isTakenBack(entry, &line, len(returned) > 0)
	if line.Kind == Returned || line.Kind == TransferReturned {
		line.Reason = readReason(returned, line.Text, entry.Text, line.Remittance)
		line.RType = readRType(line.Reason.Text + " " + line.Text)
	}
	return line
}

// readRType finds the kind of exception in text such as /RTYP/RTRN.
func readRType(text string) string {
	_, after, found := strings.Cut(text, "/RTYP/")
	if !found || len(after) < 4 {
		return ""
	}
	return after[:4]
}

// otherAccount is the account that is not ours. Of a returned debit some banks name the payer as creditor.
func (entry *Entry) otherAccount(parties *element) sepa.IBAN {
	for _, side := range []string{"DbtrAcct", "CdtrAcct"} {
		account, err := sepa.ParseIBAN(parties.value(side, "Id", "IBAN"))
		if err == nil && account != entry.Statement.Account {
			return account
		}
	}
	return sepa.IBAN{}
}

func readRemittance(e *element) string {
	texts := e.values("Ustrd")
	for _, structured := range e.all("Strd") {
		if reference := structured.value("CdtrRefInf", "Ref"); reference != "" {
			texts = append(texts, reference)
		}
	}
	return cut(strings.Join(texts, " "))
}

func readBankCode(e *element) BankCode {
	return BankCode{
		Domain: e.value("Domn", "Cd"), Family: e.value("Domn", "Fmly", "Cd"), SubFamily: e.value("Domn", "Fmly", "SubFmlyCd"),
		Proprietary: e.value("Prtry", "Cd"),
	}
}
