package iso20022

import (
	"io"
	"slices"
	"time"

	"sepad/internal/sepa"
)

// DebitBlock is a group of collections with one due date and one sequence type, for one creditor.
type DebitBlock struct {
	ID       string
	DueDate  time.Time
	Sequence string // FRST, RCUR, FNAL or OOFF
	// BatchBooking asks the bank for one booking of the whole block.
	BatchBooking bool
	Creditor     Creditor
	Count        int
	SumMinor     int64
}

// Creditor is who collects.
type Creditor struct {
	Party
	// Identifier is the creditor identifier of the scheme, DE98ZZZ09999999999.
	Identifier string
	// NameWithIdentifier repeats the name beside the identifier, which some banks ask for and some refuse. The German
	// form of the older version has no place for it.
	NameWithIdentifier bool
}

// Debit is one collection.
type Debit struct {
	EndToEndID  string
	AmountMinor int64
	Mandate     Mandate
	Debtor      Party
	Remittance  string
}

// Mandate is the payer's permission.
type Mandate struct {
	Reference  string
	SignedDate time.Time
	// Amendment is what changed since the last collection under this mandate, or nil.
	Amendment *Amendment
}

// Amendment names what a mandate was before; empty parts did not change.
type Amendment struct {
	OriginalReference          string
	OriginalCreditorName       string
	OriginalCreditorIdentifier string
	OriginalAccount            sepa.IBAN
	// NewAccount says that the payer's account is another one, without naming the old one.
	NewAccount bool
}

var sequences = []string{"FRST", "RCUR", "FNAL", "OOFF"}

// Faults says what a bank would refuse about a collection that is written on a day.
func (d *Debit) Faults(writtenAt time.Time) []Fault {
	var f faults
	f.identifier("end-to-end id", d.EndToEndID)
	f.amount(d.AmountMinor)
	f.text("name", d.Debtor.Name, maxName, true)
	f.account("account", d.Debtor.Account)
	f.bic(d.Debtor.BIC)
	f.address(d.Debtor.Address, d.Debtor.Account)
	f.text("remittance", d.Remittance, maxRemittance, false)
	d.Mandate.check(&f, writtenAt)
	return f
}

func (m *Mandate) check(f *faults, writtenAt time.Time) {
	f.identifier("mandate", m.Reference)
	f.date("mandate", m.SignedDate)
	// The day is the payer's, which can be one ahead of ours.
	if m.SignedDate.After(writtenAt.Add(24 * time.Hour)) {
		f.fatal("mandate", "It is signed after the day on which the file is written.")
	}
	if a := m.Amendment; a != nil {
		if *a == (Amendment{}) {
			f.fatal("amendment", "It does not say what changed.")
		}
		if a.OriginalReference != "" {
			f.identifier("amendment", a.OriginalReference)
		}
		if a.OriginalCreditorIdentifier != "" {
			f.identifier("amendment", a.OriginalCreditorIdentifier)
		}
		if a.OriginalCreditorName != "" {
			f.text("amendment", a.OriginalCreditorName, maxName, true)
		}
	}
}

// Faults says what a bank would refuse about a block.
func (b *DebitBlock) Faults() []Fault {
	var f faults
	f.identifier("block id", b.ID)
	f.date("due date", b.DueDate)
	if !slices.Contains(sequences, b.Sequence) {
		f.fatal("sequence", "It is one of FRST, RCUR, FNAL and OOFF.")
	}
	f.text("creditor name", b.Creditor.Name, maxName, true)
	f.account("creditor account", b.Creditor.Account)
	f.bic(b.Creditor.BIC)
	f.identifier("creditor identifier", b.Creditor.Identifier)
	if !b.Creditor.Address.isEmpty() {
		f.address(b.Creditor.Address, b.Creditor.Account)
	}
	return f
}

// Debits writes a pain.008 message.
type Debits struct{ m *message }

const debitsRoot = "CstmrDrctDbtInitn"

// NewDebits begins a message of collections. What is written must not be used before Close has said that it is whole.
func NewDebits(out io.Writer, format Format, header Header) (*Debits, error) {
	m, err := newMessage(out, format, debitsRoot, header)
	if err != nil {
		return nil, err
	}
	return &Debits{m}, nil
}

// Block begins a block; the collections that follow belong to it.
func (d *Debits) Block(block *DebitBlock) error {
	if err := faults(block.Faults()).fatalError("block"); err != nil {
		return err
	}
	m := d.m
	if err := m.openBlock(tally{block.Count, block.SumMinor}); err != nil {
		return err
	}
	m.leaf("PmtInfId", block.ID)
	m.leaf("PmtMtd", "DD")
	if block.BatchBooking {
		m.leaf("BtchBookg", "true")
	} else {
		m.leaf("BtchBookg", "false")
	}
	m.totals(m.block)
	m.out.WriteString("<PmtTpInf><SvcLvl><Cd>SEPA</Cd></SvcLvl><LclInstrm><Cd>CORE</Cd></LclInstrm>")
	m.leaf("SeqTp", block.Sequence)
	m.close("PmtTpInf")
	m.date("ReqdColltnDt", block.DueDate)
	m.writeHolder("Cdtr", block.Creditor.Party)
	m.writeAccount("CdtrAcct", block.Creditor.Account)
	m.writeAgent("CdtrAgt", block.Creditor.BIC)
	m.leaf("ChrgBr", "SLEV")
	m.open("CdtrSchmeId")
	if block.Creditor.NameWithIdentifier && !m.format.isOld() {
		m.text("Nm", block.Creditor.Name, maxName)
	}
	m.schemeIdentifier(block.Creditor.Identifier)
	m.close("CdtrSchmeId")
	return nil
}

// Add writes one collection into the open block.
func (d *Debits) Add(debit *Debit) error {
	if err := faults(debit.Faults(d.m.header.CreatedAt)).fatalError(debit.EndToEndID); err != nil {
		return err
	}
	m := d.m
	if err := m.count(debit.AmountMinor); err != nil {
		return err
	}
	m.out.WriteString("\n<DrctDbtTxInf><PmtId>")
	m.leaf("EndToEndId", debit.EndToEndID)
	m.close("PmtId")
	m.amount(debit.AmountMinor)
	m.out.WriteString("<DrctDbtTx><MndtRltdInf>")
	m.leaf("MndtId", debit.Mandate.Reference)
	m.date("DtOfSgntr", debit.Mandate.SignedDate)
	if debit.Mandate.Amendment != nil {
		m.amendment(debit.Mandate.Amendment)
	}
	m.out.WriteString("</MndtRltdInf></DrctDbtTx>")
	m.writeAgent("DbtrAgt", debit.Debtor.BIC)
	m.writeHolder("Dbtr", debit.Debtor)
	m.writeAccount("DbtrAcct", debit.Debtor.Account)
	m.remittance(debit.Remittance)
	m.close("DrctDbtTxInf")
	return nil
}

// Close ends the message; an error means that what was written is no message.
func (d *Debits) Close() error { return d.m.end(debitsRoot) }

func (m *message) amendment(a *Amendment) {
	m.leaf("AmdmntInd", "true")
	m.open("AmdmntInfDtls")
	if a.OriginalReference != "" {
		m.leaf("OrgnlMndtId", a.OriginalReference)
	}
	if a.OriginalCreditorName != "" || a.OriginalCreditorIdentifier != "" {
		m.open("OrgnlCdtrSchmeId")
		m.text("Nm", a.OriginalCreditorName, maxName)
		if a.OriginalCreditorIdentifier != "" {
			m.schemeIdentifier(a.OriginalCreditorIdentifier)
		}
		m.close("OrgnlCdtrSchmeId")
	}
	switch {
	case !a.OriginalAccount.IsZero():
		m.writeAccount("OrgnlDbtrAcct", a.OriginalAccount)
	case a.NewAccount:
		// "Same mandate, new debtor account", in the words of the scheme.
		m.out.WriteString("<OrgnlDbtrAcct><Id><Othr><Id>SMNDA</Id></Othr></Id></OrgnlDbtrAcct>")
	}
	m.close("AmdmntInfDtls")
}

func (m *message) schemeIdentifier(identifier string) {
	m.out.WriteString("<Id><PrvtId><Othr>")
	m.leaf("Id", identifier)
	m.out.WriteString("<SchmeNm><Prtry>SEPA</Prtry></SchmeNm></Othr></PrvtId></Id>")
}
