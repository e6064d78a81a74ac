package iso20022

import (
	"io"
	"time"
)

// TransferBlock is a group of credit transfers from one account on one day.
type TransferBlock struct {
	ID           string
	ExecuteDate  time.Time
	BatchBooking bool
	// Debtor is who pays: the merchant.
	Debtor   Party
	Count    int
	SumMinor int64
}

// Transfer is one credit transfer, such as a refund.
type Transfer struct {
	EndToEndID  string
	AmountMinor int64
	// Creditor is who is paid. Banks hold the name against the account (verification of payee).
	Creditor   Party
	Remittance string
}

// Faults says what a bank would refuse about a transfer.
func (t *Transfer) Faults() []Fault {
	var f faults
	f.identifier("end-to-end id", t.EndToEndID)
	f.amount(t.AmountMinor)
	f.text("name", t.Creditor.Name, maxName, true)
	f.account("account", t.Creditor.Account)
	f.bic(t.Creditor.BIC)
	if !t.Creditor.Address.isEmpty() {
		f.address(t.Creditor.Address, t.Creditor.Account)
	}
	f.text("remittance", t.Remittance, maxRemittance, false)
	return f
}

// Faults says what a bank would refuse about a block.
func (b *TransferBlock) Faults() []Fault {
	var f faults
	f.identifier("block id", b.ID)
	f.date("execution date", b.ExecuteDate)
	f.text("debtor name", b.Debtor.Name, maxName, true)
	f.account("debtor account", b.Debtor.Account)
	f.bic(b.Debtor.BIC)
	return f
}

// Transfers writes a pain.001 message.
type Transfers struct{ m *message }

const transfersRoot = "CstmrCdtTrfInitn"

// NewTransfers begins a message of credit transfers. What is written must not be used before Close has said that it is
// whole.
func NewTransfers(out io.Writer, format Format, header Header) (*Transfers, error) {
	m, err := newMessage(out, format, transfersRoot, header)
	if err != nil {
		return nil, err
	}
	return &Transfers{m}, nil
}

// Block begins a block; the transfers that follow belong to it.
func (t *Transfers) Block(block *TransferBlock) error {
	if err := faults(block.Faults()).fatalError("block"); err != nil {
		return err
	}
	m := t.m
	if err := m.openBlock(tally{block.Count, block.SumMinor}); err != nil {
		return err
	}
	m.leaf("PmtInfId", block.ID)
	m.leaf("PmtMtd", "TRF")
	if block.BatchBooking {
		m.leaf("BtchBookg", "true")
	} else {
		m.leaf("BtchBookg", "false")
	}
	m.totals(m.block)
	m.out.WriteString("<PmtTpInf><SvcLvl><Cd>SEPA</Cd></SvcLvl></PmtTpInf>")
	if m.format.isOld() {
		m.date("ReqdExctnDt", block.ExecuteDate)
	} else {
		m.open("ReqdExctnDt")
		m.date("Dt", block.ExecuteDate)
		m.close("ReqdExctnDt")
	}
	m.writeHolder("Dbtr", Party{Name: block.Debtor.Name})
	m.writeAccount("DbtrAcct", block.Debtor.Account)
	m.writeAgent("DbtrAgt", block.Debtor.BIC)
	m.leaf("ChrgBr", "SLEV")
	return nil
}

// Add writes one transfer into the open block.
func (t *Transfers) Add(transfer *Transfer) error {
	if err := faults(transfer.Faults()).fatalError(transfer.EndToEndID); err != nil {
		return err
	}
	m := t.m
	if err := m.count(transfer.AmountMinor); err != nil {
		return err
	}
	m.out.WriteString("\n<CdtTrfTxInf><PmtId>")
	m.leaf("EndToEndId", transfer.EndToEndID)
	m.out.WriteString("</PmtId><Amt>")
	m.amount(transfer.AmountMinor)
	m.close("Amt")
	if transfer.Creditor.BIC != "" {
		m.writeAgent("CdtrAgt", transfer.Creditor.BIC)
	}
	m.writeHolder("Cdtr", transfer.Creditor)
	m.writeAccount("CdtrAcct", transfer.Creditor.Account)
	m.remittance(transfer.Remittance)
	m.close("CdtTrfTxInf")
	return nil
}

// Close ends the message; an error means that what was written is no message.
func (t *Transfers) Close() error { return t.m.end(transfersRoot) }
