package playedbank

import (
	"encoding/xml"
	"fmt"
	"math/big"
	"strings"
	"time"

	"sepad/internal/sepa"
)

// transferDocument is a file of credit transfers as the schema has it. Only what a bank looks at is here.
type transferDocument struct {
	Order struct {
		Header struct {
			ID      string `xml:"MsgId"`
			Created string `xml:"CreDtTm"`
			Count   string `xml:"NbOfTxs"`
			Sum     string `xml:"CtrlSum"`
			Party   string `xml:"InitgPty>Nm"`
		} `xml:"GrpHdr"`
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
				Amount     struct {
					Text     string `xml:",chardata"`
					Currency string `xml:"Ccy,attr"`
				} `xml:"Amt>InstdAmt"`
				Name string `xml:"Cdtr>Nm"`
				IBAN string `xml:"CdtrAcct>Id>IBAN"`
				Text string `xml:"RmtInf>Ustrd"`
			} `xml:"CdtTrfTxInf"`
		} `xml:"PmtInf"`
	} `xml:"CstmrCdtTrfInitn"`
}

var transferVersions = map[string]string{
	"urn:iso:std:iso:20022:tech:xsd:pain.001.001.09": "pain.001.001.09",
	"urn:iso:std:iso:20022:tech:xsd:pain.001.001.03": "pain.001.001.03",
}

// takeTransfers reads a file of credit transfers. It gives the order also where it is refused, as far as it could be
// read.
func takeTransfers(file []byte, version string, limits Limits) (*Order, error) {
	var d transferDocument
	if err := xml.Unmarshal(file, &d); err != nil {
		return nil, &Refusal{Code: "FF01", Text: "no readable XML: " + err.Error()}
	}
	order := &Order{MessageID: d.Order.Header.ID, Version: version, IsTransfers: true}
	var err error
	if order.CreatedAt, err = createdAt(d.Order.Header.Created); err != nil {
		return order, err
	}
	count, sum := 0, new(big.Rat)
	ids := map[string]bool{}
	for i := range d.Order.Blocks {
		b := &d.Order.Blocks[i]
		if b.Method != "TRF" || b.Level != "SEPA" || b.Charges != "SLEV" {
			return order, &Refusal{Code: "FF01", Text: "the block is no SEPA credit transfer"}
		}
		due, err := time.Parse(time.DateOnly, strings.TrimSpace(b.Execute.Old+b.Execute.New))
		if err != nil {
			return order, &Refusal{Code: "DT01", Text: "the execution date is none"}
		}
		block := Block{ID: b.ID, Due: due, BatchBooking: b.Batch == "true", Creditor: b.Debtor, Account: b.Account}
		blockSum := new(big.Rat)
		for _, t := range b.Transfers {
			amount, ok := new(big.Rat).SetString(t.Amount.Text)
			if !ok || t.Amount.Currency != "EUR" {
				return order, &Refusal{Code: "AM01", Text: "an amount is none in euro"}
			}
			cents := new(big.Rat).Mul(amount, big.NewRat(100, 1))
			if ids[t.EndToEndID] || !cents.IsInt() || cents.Sign() <= 0 {
				return order, &Refusal{Code: "AM05", Text: "the transfer " + t.EndToEndID + " comes twice or is of no amount"}
			}
			ids[t.EndToEndID] = true
			blockSum.Add(blockSum, amount)
			block.Debits = append(block.Debits, Debit{EndToEndID: t.EndToEndID, Cents: cents.Num().Int64(), Name: t.Name, IBAN: t.IBAN, Text: t.Text})
		}
		if err := agree(b.Count, b.Sum, len(b.Transfers), blockSum); err != nil {
			return order, err
		}
		count, sum = count+len(b.Transfers), sum.Add(sum, blockSum)
		if err := block.checkTransfers(order.CreatedAt); err != nil {
			return order, err
		}
		order.Blocks = append(order.Blocks, block)
	}
	if limits.Entries > 0 && count > limits.Entries {
		return order, &Refusal{Code: "AM13", Text: fmt.Sprintf("%d transfers, %d are allowed in a file", count, limits.Entries)}
	}
	if err := order.checkTransferText(d.Order.Header.Party); err != nil {
		return order, err
	}
	return order, agree(d.Order.Header.Count, d.Order.Header.Sum, count, sum)
}

func createdAt(text string) (time.Time, error) {
	created, err := time.Parse("2006-01-02T15:04:05", strings.TrimSuffix(text, "Z")) // with or without a zone
	if err != nil {
		return created, &Refusal{Code: "DT01", Text: "the time of creation is none"}
	}
	return created, nil
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
	for _, text := range texts {
		if text == "" || outside.MatchString(text) || strings.Contains(text, "//") {
			return &Refusal{Code: "FF10", Text: fmt.Sprintf("%q has characters outside the scheme", text)}
		}
	}
	return nil
}
