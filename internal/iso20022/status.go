package iso20022

import (
	"cmp"
	"encoding/xml"
	"strings"
	"time"

	"sepad/internal/sepa"
)

// Level says what a status is about.
type Level string

// A bank speaks of the file, of a block in it, or of one payment.
const (
	OfMessage Level = "message"
	OfBlock   Level = "block"
	OfPayment Level = "payment"
)

// Verdict is what a status means for what it is about.
type Verdict string

// The verdicts.
const (
	Accepted Verdict = "accepted"
	Rejected Verdict = "rejected"
	// Repeated is the refusal of a copy: the bank has the same already, and that one stands.
	Repeated Verdict = "repeated"
	// Partly means that the levels below say more.
	Partly Verdict = "partly"
	// Waiting means that the bank has it and has not decided.
	Waiting Verdict = "waiting"
	// PayeeChecked is an answer of the verification of payee: neither accepted nor rejected.
	PayeeChecked Verdict = "payee_checked"
	// Protocol is an EBICS protocol in the dress of a status report: about the transport, never about payments.
	Protocol Verdict = "protocol"
	// NoVerdict is a status that says nothing we know.
	NoVerdict Verdict = "none"
)

// Status is one verdict of a status report (pain.002).
type Status struct {
	ReportID        string
	ReportCreatedAt string // as the bank wrote it
	Level           Level
	Verdict         Verdict
	Code            string // as the bank wrote it: RJCT, ACCP, RVNM
	Reason          Reason

	// What it is about, in our file's words.
	MessageID   string
	MessageName string // lower-case, whatever the bank wrote
	BlockID     string
	EndToEndID  string

	// What the bank repeats of the payment; zero when it does not.
	AmountMinor      int64
	Currency         string
	DueDate          time.Time
	MandateReference string
	Account          sepa.IBAN
}

var verdicts = map[string]Verdict{
	"ACCP": Accepted, "ACTC": Accepted, "ACSP": Accepted, "ACSC": Accepted, "ACCC": Accepted, "ACWC": Accepted,
	"ACWP": Accepted, "ACFC": Accepted,
	"RJCT": Rejected, "CANC": Rejected,
	"PART": Partly, "PATC": Partly,
	"RCVD": Waiting, "PDNG": Waiting, "PRES": Waiting,
	// Verification of payee: matched, close, no match, not possible, mixed.
	"RCVC": PayeeChecked, "RVCM": PayeeChecked, "RVMC": PayeeChecked, "RVNM": PayeeChecked, "RVNA": PayeeChecked,
}

// success is how some banks fill the reason of a payment that went through.
const success = "0000"

// statusReport is what the levels below inherit.
type statusReport struct {
	visit    Visitor
	message  Status
	block    Status
	blockSet bool // the block's own status was told
	protocol bool
}

func readStatusReport(decoder *decoder, visit Visitor) error {
	r := &statusReport{visit: visit}
	return eachChild(decoder, func(start xml.StartElement) error {
		held := decoder.held
		defer func() { decoder.held = held }() // it is gone once it was told
		if start.Name.Local == "OrgnlPmtInfAndSts" {
			return r.readBlock(decoder)
		}
		e, err := readElement(decoder, start)
		if err != nil {
			return err
		}
		switch e.name {
		case "GrpHdr":
			r.message.ReportID, r.message.ReportCreatedAt = e.value("MsgId"), e.value("CreDtTm")
		case "OrgnlGrpInfAndSts":
			return r.tellMessage(e)
		case "TxInfAndSts": // older reports have no blocks
			return r.tellPayment(e)
		}
		return nil
	})
}

func (r *statusReport) tellMessage(e *element) error {
	s := &r.message
	s.Level = OfMessage
	s.MessageID = e.value("OrgnlMsgId")
	s.MessageName = strings.ToLower(e.value("OrgnlMsgNmId"))
	s.Code = e.value("GrpSts")
	s.Reason = readReason(e.all("StsRsnInf"))
	r.protocol = s.MessageName == "ebics" || s.MessageID == "EBICS"
	s.Verdict = r.judge(s.Level, s.Code, s.Reason)
	r.block = *s // payments of older reports hang on the message itself
	if s.Verdict == NoVerdict && s.Code == "" {
		return nil
	}
	return r.tell(*s)
}

func (r *statusReport) readBlock(decoder *decoder) error {
	r.block = r.message
	r.block.Level, r.block.Code, r.block.Reason = OfBlock, "", Reason{}
	r.blockSet = false
	block := &element{}
	err := eachChild(decoder, func(start xml.StartElement) error {
		held := decoder.held
		e, err := readElement(decoder, start)
		if err != nil {
			return err
		}
		if e.name != "TxInfAndSts" {
			block.children = append(block.children, e)
			return nil
		}
		decoder.held = held
		if err := r.tellBlock(block); err != nil {
			return err
		}
		return r.tellPayment(e)
	})
	if err != nil {
		return err
	}
	return r.tellBlock(block)
}

// tellBlock tells the block's own status once: before its payments, or at its end when it has none.
func (r *statusReport) tellBlock(e *element) error {
	if r.blockSet {
		return nil
	}
	r.blockSet = true
	s := &r.block
	s.BlockID = e.value("OrgnlPmtInfId")
	s.Code = e.value("PmtInfSts")
	s.Reason = readReason(e.all("StsRsnInf"))
	s.Verdict = r.judge(s.Level, s.Code, s.Reason)
	if s.Verdict == NoVerdict && s.Code == "" {
		return nil
	}
	return r.tell(*s)
}

func (r *statusReport) tellPayment(e *element) error {
	s := r.block
	s.Level = OfPayment
	s.EndToEndID = identifier(e.value("OrgnlEndToEndId"))
	s.Reason = readReason(e.all("StsRsnInf"))
	own := e.value("TxSts")
	// A payment without a status of its own shares that of its block, then of the message. One that is listed with a
	// reason and no status anywhere is listed because it was refused.
	s.Code = cmp.Or(own, r.block.Code, r.message.Code)
	s.Verdict = r.judge(s.Level, s.Code, s.Reason)
	if own == "" && (s.Verdict == NoVerdict || s.Verdict == Partly) {
		s.Verdict = NoVerdict
		if s.Reason.Code != "" || s.Reason.Given != "" {
			s.Verdict = refused(s.Level, s.Reason)
		}
	}
	reference := e.find("OrgnlTxRef")
	amount := readMoney(reference.find("Amt", "InstdAmt"))
	if !amount.ok {
		amount = readMoney(reference.find("IntrBkSttlmAmt"))
	}
	s.AmountMinor, s.Currency = amount.minor, amount.currency
	s.DueDate = cmp.Or(dateOf(reference.find("ReqdColltnDt")), dateOf(reference.find("ReqdExctnDt")))
	s.MandateReference = cmp.Or(reference.value("MndtRltdInf", "MndtId"),
		reference.value("MndtRltdInf", "DrctDbtMndt", "MndtId"))
	s.Account, _ = sepa.ParseIBAN(reference.value("DbtrAcct", "Id", "IBAN"))
	if strings.HasPrefix(s.MessageName, "pain.001") {
		s.Account, _ = sepa.ParseIBAN(reference.value("CdtrAcct", "Id", "IBAN"))
	}
	return r.tell(s)
}

func (r *statusReport) judge(level Level, code string, reason Reason) Verdict {
	switch {
	case r.protocol:
		return Protocol
	case reason.Given == success:
		return Accepted
	}
	switch verdict, known := verdicts[strings.ToUpper(code)]; {
	case !known:
		return NoVerdict
	case verdict == Rejected:
		return refused(level, reason)
	default:
		return verdict
	}
}

// refused tells the refusal of a copy from any other. Our ids are never used twice, so that what comes twice is the same
// file. Of a single payment AM05 and DUPL are also what a payer's bank says that has not paid it.
func refused(level Level, reason Reason) Verdict {
	isOfMany := level != OfPayment && (reason.Code == "AM05" || reason.Code == "DUPL")
	if isOfMany || strings.HasPrefix(reason.Code, "DU0") {
		return Repeated
	}
	return Rejected
}

// isInCopy tells what a refused copy holds: whatever is said of that is not about the first one.
func (r *statusReport) isInCopy(level Level) bool {
	return level != OfMessage && r.message.Verdict == Repeated || level == OfPayment && r.block.Verdict == Repeated
}

func (r *statusReport) tell(s Status) error {
	if r.visit.Status == nil || r.isInCopy(s.Level) {
		return nil
	}
	return r.visit.Status(&s)
}
