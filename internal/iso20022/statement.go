package iso20022

import (
	"cmp"
	"encoding/xml"
	"time"

	"sepad/internal/sepa"
)

// AccountKind is the kind of message that an account's bookings came in. The same booking may come in all three.
type AccountKind string

// The kinds.
const (
	Report       AccountKind = "camt.052" // during the day
	FullDay      AccountKind = "camt.053" // the statement
	Notification AccountKind = "camt.054" // details of single bookings
)

var accountKinds = map[string]AccountKind{
	"BkToCstmrAcctRpt": Report, "BkToCstmrStmt": FullDay, "BkToCstmrDbtCdtNtfctn": Notification,
}

// Statement is one account's part of a file.
type Statement struct {
	Kind      AccountKind
	MessageID string
	ID        string
	// Sequence is the electronic sequence number, or the legal one.
	Sequence string
	// CreatedAt is as the bank wrote it: too often it is no instant.
	CreatedAt string
	Account   sepa.IBAN
	Currency  string
	From, To  time.Time
	Balances  []Balance
}

// Balance of the account on a day; negative when it is a debit.
type Balance struct {
	Type     string // OPBD, CLBD, …
	Minor    int64
	Currency string
	Date     time.Time
}

func readAccount(decoder *decoder, kind AccountKind, visit Visitor) error {
	messageID := ""
	return eachChild(decoder, func(start xml.StartElement) error {
		switch start.Name.Local {
		case "Rpt", "Stmt", "Ntfctn":
			held := decoder.held
			err := readStatement(decoder, &Statement{Kind: kind, MessageID: messageID}, visit)
			decoder.held = held
			return err
		}
		e, err := readElement(decoder, start)
		if err == nil && e.name == "GrpHdr" {
			messageID = e.value("MsgId")
		}
		return err
	})
}

func readStatement(decoder *decoder, statement *Statement, visit Visitor) error {
	isTold, index := false, 0
	tell := func() error {
		if isTold || visit.Statement == nil {
			return nil
		}
		isTold = true
		return visit.Statement(statement)
	}
	err := eachChild(decoder, func(start xml.StartElement) error {
		held := decoder.held
		e, err := readElement(decoder, start)
		if err != nil {
			return err
		}
		if e.name != "Ntry" {
			statement.take(e)
			return nil
		}
		decoder.held = held // it is gone once it was told
		if err := tell(); err != nil || visit.Entry == nil {
			return err
		}
		index++
		return visit.Entry(newEntry(statement, index, e))
	})
	if err != nil {
		return err
	}
	return tell()
}

// take fills in a part of the statement that stands outside its entries.
func (s *Statement) take(e *element) {
	switch e.name {
	case "Id":
		s.ID = e.text
	case "ElctrncSeqNb":
		s.Sequence = e.text
	case "LglSeqNb":
		s.Sequence = cmp.Or(s.Sequence, e.text)
	case "CreDtTm":
		s.CreatedAt = e.text
	case "FrToDt":
		s.From, s.To = readDate(e.value("FrDtTm")), readDate(e.value("ToDtTm"))
	case "Acct":
		s.Account, _ = sepa.ParseIBAN(e.value("Id", "IBAN"))
		if currency := e.value("Ccy"); len(currency) <= currencyLength {
			s.Currency = currency
		}
	case "Bal":
		amount := readMoney(e.find("Amt"))
		if e.value("CdtDbtInd") == debitMark {
			amount.minor = -amount.minor
		}
		s.Balances = append(s.Balances, Balance{
			Type: cmp.Or(e.value("Tp", "CdOrPrtry", "Cd"), e.value("Tp", "CdOrPrtry", "Prtry")), Minor: amount.minor,
			Currency: amount.currency, Date: dateOf(e.find("Dt")),
		})
	}
}
