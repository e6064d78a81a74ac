package playedbank

import (
	"errors"
	"strings"
	"time"

	"sepad/internal/sepa"
)

type transferOrder struct {
	Header header `xml:"GrpHdr"`
	Blocks []struct {
		ID      string `xml:"PmtInfId"`
		Method  string `xml:"PmtMtd"`
		Batch   string `xml:"BtchBookg"`
		Count   string `xml:"NbOfTxs"`
		Sum     string `xml:"CtrlSum"`
		Level   string `xml:"PmtTpInf>SvcLvl>Cd"`
		Execute struct {
			Old string `xml:",chardata"`
			New string `xml:"Dt"`
		} `xml:"ReqdExctnDt"`
		Debtor    string `xml:"Dbtr>Nm"`
		Account   string `xml:"DbtrAcct>Id>IBAN"`
		Charges   string `xml:"ChrgBr"`
		Transfers []struct {
			EndToEndID string `xml:"PmtId>EndToEndId"`
			Amount     money  `xml:"Amt>InstdAmt"`
			Name       string `xml:"Cdtr>Nm"`
			IBAN       string `xml:"CdtrAcct>Id>IBAN"`
			Text       string `xml:"RmtInf>Ustrd"`
		} `xml:"CdtTrfTxInf"`
	} `xml:"PmtInf"`
}

// fill takes the blocks over, checking sums and counts of each.
func (d *transferOrder) fill(order *Order, _ Limits, whole *tally) error {
	order.IsTransfers = true
	for i := range d.Blocks {
		b := &d.Blocks[i]
		if b.Method != "TRF" || b.Level != "SEPA" || b.Charges != "SLEV" {
			return &Refusal{Code: "FF01", Text: "the block is no SEPA credit transfer"}
		}
		due, err := time.Parse(time.DateOnly, strings.TrimSpace(b.Execute.Old+b.Execute.New))
		if err != nil {
			return &Refusal{Code: "DT01", Text: "the execution date is none"}
		}
		block := Block{ID: b.ID, Due: due, BatchBooking: b.Batch == "true", Creditor: b.Debtor, Account: b.Account}
		part := whole.part()
		for _, t := range b.Transfers {
			cents, err := part.take(t.EndToEndID, t.Amount)
			if err != nil {
				return err
			}
			block.Debits = append(block.Debits, Debit{EndToEndID: t.EndToEndID, Cents: cents, Name: t.Name, IBAN: t.IBAN, Text: t.Text})
		}
		if err := errors.Join(part.agree(b.Count, b.Sum), block.checkTransfers(order.CreatedAt)); err != nil {
			return err
		}
		whole.add(part)
		order.Blocks = append(order.Blocks, block)
	}
	return order.checkTransferText(d.Header.Party)
}

// checkTransfers holds a block against the calendar.
func (b *Block) checkTransfers(at time.Time) error {
	today := at.UTC().Truncate(24 * time.Hour)
	if !sepa.NextBusinessDay(b.Due).Equal(b.Due) || b.Due.Before(today) || b.Due.After(today.AddDate(0, 0, 30)) {
		return &Refusal{Code: "DT01", Text: "on " + b.Due.Format(time.DateOnly) + " nothing is carried out"}
	}
	if _, err := sepa.ParseIBAN(b.Account); err != nil {
		return &Refusal{Code: "AC02", Text: "the debtor's account is none"}
	}
	return nil
}

// checkTransferText looks at every text of the file as a bank's oldest system would.
func (o *Order) checkTransferText(party string) error {
	texts := []string{o.MessageID, party}
	for i := range o.Blocks {
		texts = append(texts, o.Blocks[i].ID, o.Blocks[i].Creditor)
		for _, t := range o.Blocks[i].Debits {
			texts = append(texts, t.EndToEndID, t.Name, t.Text)
			if len(t.Name) > 70 || len(t.Text) > 140 {
				return &Refusal{Code: "RF01", Text: "a transfer has more than the scheme allows"}
			}
		}
	}
	return checkCharacters(texts)
}
