package playedbank

import (
	"encoding/xml"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"sepad/internal/sepa"
)

// Limits are what the bank allows in one file; zero is no limit.
type Limits struct {
	Entries          int
	Bytes            int
	OneDueDate       bool
	RefuseSchemeName bool
}

// Refusal is why a bank does not take a file as a whole.
type Refusal struct {
	Code string // of the external code sets
	Text string
	// MessageID is the file's, "" when it could not be read.
	MessageID string
}

func (r *Refusal) Error() string { return "the bank refuses the file: " + r.Code + " " + r.Text }

// Order is a file that the bank has taken.
type Order struct {
	MessageID string
	Version   string // pain.008.001.08
	// IsTransfers tells credit transfers from collections; their blocks have no sequence and no mandates.
	IsTransfers bool
	CreatedAt   time.Time
	Blocks      []Block
	// judge decides in place of the test accounts, where it is given.
	judge func(*Debit) Verdict
}

// Block is one payment block of it.
type Block struct {
	ID           string
	Due          time.Time
	Sequence     string
	BatchBooking bool
	Creditor     string // name
	Account      string // the creditor's IBAN
	Identifier   string
	Debits       []Debit
}

// Debit is one collection of it, or one credit transfer.
type Debit struct {
	EndToEndID string
	Cents      int64
	MandateID  string
	Signed     time.Time
	IsAmended  bool
	Name       string
	IBAN       string
	Text       string
	HasAddress bool
}

// document is a file as the schemas have it, of collections or of credit transfers. Only what a bank looks at is here.
type document struct {
	XMLName   xml.Name
	Debits    debitOrder    `xml:"CstmrDrctDbtInitn"`
	Transfers transferOrder `xml:"CstmrCdtTrfInitn"`
}

type debitOrder struct {
	Header header `xml:"GrpHdr"`
	Blocks []struct {
		ID         string `xml:"PmtInfId"`
		Method     string `xml:"PmtMtd"`
		Batch      string `xml:"BtchBookg"`
		Count      string `xml:"NbOfTxs"`
		Sum        string `xml:"CtrlSum"`
		Level      string `xml:"PmtTpInf>SvcLvl>Cd"`
		Instrument string `xml:"PmtTpInf>LclInstrm>Cd"`
		Sequence   string `xml:"PmtTpInf>SeqTp"`
		Due        string `xml:"ReqdColltnDt"`
		Creditor   string `xml:"Cdtr>Nm"`
		Account    string `xml:"CdtrAcct>Id>IBAN"`
		Charges    string `xml:"ChrgBr"`
		SchemeName string `xml:"CdtrSchmeId>Nm"`
		Identifier string `xml:"CdtrSchmeId>Id>PrvtId>Othr>Id"`
		Debits     []struct {
			EndToEndID string     `xml:"PmtId>EndToEndId"`
			Amount     money      `xml:"InstdAmt"`
			Mandate    string     `xml:"DrctDbtTx>MndtRltdInf>MndtId"`
			Signed     string     `xml:"DrctDbtTx>MndtRltdInf>DtOfSgntr"`
			Amended    string     `xml:"DrctDbtTx>MndtRltdInf>AmdmntInd"`
			Amendment  *amendment `xml:"DrctDbtTx>MndtRltdInf>AmdmntInfDtls"`
			Name       string     `xml:"Dbtr>Nm"`
			Country    string     `xml:"Dbtr>PstlAdr>Ctry"`
			IBAN       string     `xml:"DbtrAcct>Id>IBAN"`
			Text       string     `xml:"RmtInf>Ustrd"`
		} `xml:"DrctDbtTxInf"`
	} `xml:"PmtInf"`
}

// amendment is what a mandate was before.
type amendment struct {
	Mandate    string `xml:"OrgnlMndtId"`
	Name       string `xml:"OrgnlCdtrSchmeId>Nm"`
	Identifier string `xml:"OrgnlCdtrSchmeId>Id>PrvtId>Othr>Id"`
	IBAN       string `xml:"OrgnlDbtrAcct>Id>IBAN"`
	Account    string `xml:"OrgnlDbtrAcct>Id>Othr>Id"`
}

// isWhole tells an amendment that says what changed, in the scheme's words.
func (a *amendment) isWhole() bool {
	return a == nil || *a != amendment{} && (a.Account == "" || a.Account == "SMNDA" && a.IBAN == "")
}

var versions = map[string]string{
	standard + "pain.008.001.08": "pain.008.001.08", standard + "pain.008.001.02": "pain.008.001.02",
	standard + "pain.001.001.09": "pain.001.001.09", standard + "pain.001.001.03": "pain.001.001.03",
}

// outside finds characters that are not in the scheme's set.
var outside = regexp.MustCompile(`[^A-Za-z0-9/\-?:().,'+ ]`)

// Take reads a file at the moment at which it was made. The error is a *Refusal when the bank does not want it.
func Take(file []byte, limits Limits) (*Order, error) {
	order, err := take(file, limits)
	if refusal, isRefusal := errors.AsType[*Refusal](err); isRefusal && order != nil {
		refusal.MessageID = order.MessageID
	}
	if err != nil {
		return nil, err
	}
	return order, nil
}

// take gives the order also where it is refused, as far as it could be read.
func take(file []byte, limits Limits) (*Order, error) {
	if limits.Bytes > 0 && len(file) > limits.Bytes {
		return nil, &Refusal{Code: "FF01", Text: fmt.Sprintf("the file has %d bytes, %d are allowed", len(file), limits.Bytes)}
	}
	var d document
	if err := xml.Unmarshal(file, &d); err != nil {
		return nil, &Refusal{Code: "FF01", Text: "no readable XML: " + err.Error()}
	}
	version, known := versions[d.XMLName.Space]
	if !known || d.XMLName.Local != "Document" {
		return nil, &Refusal{Code: "FF01", Text: "the message is none that is taken here: " + d.XMLName.Space}
	}
	if strings.HasPrefix(version, "pain.001.") {
		return d.Transfers.Header.open(version, limits, d.Transfers.fill)
	}
	return d.Debits.Header.open(version, limits, d.Debits.fill)
}

// fill takes the blocks over, checking sums and counts of each.
func (d *debitOrder) fill(o *Order, limits Limits, whole *tally) error {
	for i := range d.Blocks {
		b := &d.Blocks[i]
		if b.Method != "DD" || b.Level != "SEPA" || b.Instrument != "CORE" || b.Charges != "SLEV" {
			return &Refusal{Code: "FF01", Text: "the block is no SEPA core direct debit"}
		}
		if limits.RefuseSchemeName && b.SchemeName != "" {
			return &Refusal{Code: "FF01", Text: "a name beside the creditor identifier is not taken"}
		}
		due, err := time.Parse(time.DateOnly, b.Due)
		if err != nil {
			return &Refusal{Code: "DT01", Text: "the due date is none"}
		}
		block := Block{
			ID: b.ID, Due: due, Sequence: b.Sequence, BatchBooking: b.Batch == "true", Creditor: b.Creditor,
			Account: b.Account, Identifier: b.Identifier,
		}
		part := whole.part()
		for j := range b.Debits {
			t := &b.Debits[j]
			cents, err := part.take(t.EndToEndID, t.Amount)
			if err != nil {
				return err
			}
			signed, err := time.Parse(time.DateOnly, t.Signed)
			if err != nil || (t.Amended == "true") != (t.Amendment != nil) || !t.Amendment.isWhole() {
				return &Refusal{Code: "FF01", Text: "the collection " + t.EndToEndID + " is not as the schema has it"}
			}
			block.Debits = append(block.Debits, Debit{
				EndToEndID: t.EndToEndID, Cents: cents, MandateID: t.Mandate, Signed: signed, IsAmended: t.Amended == "true",
				Name: t.Name, IBAN: t.IBAN, Text: t.Text, HasAddress: t.Country != "",
			})
		}
		if err := errors.Join(part.agree(b.Count, b.Sum), block.check(o.CreatedAt)); err != nil {
			return err
		}
		whole.add(part)
		o.Blocks = append(o.Blocks, block)
	}
	if limits.OneDueDate && !o.hasOneDue() {
		return &Refusal{Code: "DT01", Text: "a file may have one due date"}
	}
	return o.checkText(d.Header.Party)
}

func (o *Order) hasOneDue() bool {
	for i := range o.Blocks {
		if !o.Blocks[i].Due.Equal(o.Blocks[0].Due) {
			return false
		}
	}
	return true
}

// check holds a block against the calendar and the rules of the scheme.
func (b *Block) check(at time.Time) error {
	today := at.UTC().Truncate(24 * time.Hour)
	switch {
	case !sepa.NextBusinessDay(b.Due).Equal(b.Due):
		return &Refusal{Code: "DT01", Text: "on " + b.Due.Format(time.DateOnly) + " nothing settles"}
	case !b.Due.After(today):
		return &Refusal{Code: "DT01", Text: "the due date is over or too near"}
	case b.Due.After(today.AddDate(0, 0, 30)):
		return &Refusal{Code: "DT01", Text: "the due date is too far away"}
	case !strings.Contains(" FRST RCUR OOFF FNAL ", " "+b.Sequence+" "):
		return &Refusal{Code: "FF05", Text: "the sequence type is none"}
	}
	if _, err := sepa.ParseIBAN(b.Account); err != nil {
		return &Refusal{Code: "AC03", Text: "the creditor's account is none"}
	}
	return nil
}

// checkText looks at every text of the file as a bank's oldest system would.
func (o *Order) checkText(party string) error {
	texts := []string{o.MessageID, party}
	for i := range o.Blocks {
		b := &o.Blocks[i]
		texts = append(texts, b.ID, b.Creditor, b.Identifier)
		for j := range b.Debits {
			d := &b.Debits[j]
			texts = append(texts, d.EndToEndID, d.MandateID, d.Name)
			if d.EndToEndID == "" || d.MandateID == "" || d.Name == "" || len(d.Name) > 70 || len(d.Text) > 140 || d.Signed.IsZero() {
				return &Refusal{Code: "RF01", Text: "a collection lacks what the scheme asks for, or has too much"}
			}
			if outside.MatchString(d.Text) {
				return &Refusal{Code: "FF10", Text: "a text has characters outside the scheme"}
			}
		}
	}
	return checkCharacters(texts)
}

// checkCharacters refuses what the scheme's set of characters does not have, and nothing at all.
func checkCharacters(texts []string) error {
	for _, text := range texts {
		if text == "" || outside.MatchString(text) || strings.Contains(text, "//") {
			return &Refusal{Code: "FF10", Text: fmt.Sprintf("%q has characters outside the scheme", text)}
		}
	}
	return nil
}

// ErrNoShape is returned for a bank that is not played here.
var ErrNoShape = errors.New("playedbank: no such shape")
