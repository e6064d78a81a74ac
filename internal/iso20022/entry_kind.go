package iso20022

import (
	"cmp"
	"strings"
)

// German banks' numbers for kinds of bookings (Geschäftsvorfallcodes), as seen from the creditor's account.
var germanNumbers = map[string]Kind{
	"108": Returned, "109": Returned,
	"171": Collected, "174": Collected, "192": Collected, "196": Collected,
	"116": Transferred, "117": Transferred, "119": Transferred, "122": Transferred, "191": Transferred,
	"159": TransferReturned,
}

// ABN AMRO's number for a returned debit.
const dutchReturn = "N245"

// classify says what a line is. The details' code and the booking's often contradict each other, and one of them is
// often empty, so each mark of a return counts, wherever it stands.
func classify(entry *Entry, line *Line, hasReturn bool) Kind {
	debits := entry.Code.isDebit() || line.Code.isDebit()
	transfers := !debits && (entry.Code.isTransfer() || line.Code.isTransfer())
	numbered := cmp.Or(line.Code.numbered(), entry.Code.numbered())
	switch {
	case isTakenBack(entry, line, hasReturn):
		return Other
	case !line.IsCredit && !transfers && numbered != TransferReturned &&
		(hasReturn || debits && entry.IsReversal || entry.Code.isReturn() || line.Code.isReturn() || numbered == Returned):
		return Returned
	case line.IsCredit && !debits && (hasReturn || transfers && (entry.Code.isReturn() || line.Code.isReturn()) || numbered == TransferReturned):
		return TransferReturned
	case line.IsCredit && (debits || numbered == Collected || line.looksCollected(entry)):
		return Collected
	case !line.IsCredit && (transfers || numbered == Transferred):
		return Transferred
	}
	return Other
}

// isTakenBack tells a credit with the marks of a debit that came back: the return is taken back, which is for a person.
func isTakenBack(entry *Entry, line *Line, hasReturn bool) bool {
	debits := entry.Code.isDebit() || line.Code.isDebit()
	transfers := !debits && (entry.Code.isTransfer() || line.Code.isTransfer())
	isNumbered := cmp.Or(line.Code.numbered(), entry.Code.numbered()) == Returned
	isMarked := hasReturn || entry.IsReversal || entry.Code.isReturn() || line.Code.isReturn() || isNumbered
	return line.IsCredit && !transfers && isMarked && (debits || isNumbered || line.MandateReference != "")
}

// looksCollected tells a credit that carries a mandate, or our own block, but no code.
func (line *Line) looksCollected(entry *Entry) bool {
	hasNoCode := entry.Code == BankCode{} && line.Code == BankCode{}
	return hasNoCode && (line.MandateReference != "" || line.BlockID != "" || entry.Batch.BlockID != "" || entry.Batch.MessageID != "")
}

// isDebit takes issued and received direct debits alike: Swiss banks book collections as received.
func (c BankCode) isDebit() bool { return c.Family == "IDDT" || c.Family == "RDDT" }

func (c BankCode) isTransfer() bool {
	return c.Family == "ICDT" || c.Family == "RCDT" || c.Family == "IRCT" || c.Family == "RRCT"
}

// isReturn tells unpaid, refunded and cancelled debits, and returns of either kind of payment.
func (c BankCode) isReturn() bool {
	switch c.SubFamily {
	case "UPDD", "PRDD", "RCDD", "RRTN", "RPCR":
		return true
	}
	return c.Proprietary == dutchReturn
}

// numbered reads a German number out of a code such as NDDT+109+00931.
func (c BankCode) numbered() Kind {
	for part := range strings.SplitSeq(c.Proprietary, "+") {
		if kind := germanNumbers[part]; kind != "" {
			return kind
		}
	}
	return ""
}
