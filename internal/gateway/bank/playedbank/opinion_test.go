package playedbank_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sepad/internal/gateway/bank/playedbank"
	"sepad/internal/iso20022"
	"sepad/internal/iso20022/iso20022test"
)

// theirOrder has a program of others write the same file of one collection.
const theirOrder = `
const SEPA = require("sepa"), format = %q
const doc = new SEPA.Document(format)
Object.assign(doc.grpHdr, {id: "SEPAD-20261116-0001", created: new Date("2026-11-16T09:30:00Z"), initiatorName: "Mueller + Soehne GmbH"})
const info = doc.createPaymentInfo()
Object.assign(info, {id: "1", collectionDate: new Date("2026-11-18T00:00:00Z"), creditorIBAN: "DE89370400440532013000",
  creditorName: "Mueller + Soehne GmbH", creditorId: "DE98ZZZ09999999999", batchBooking: true, sequenceType: "OOFF"})
doc.addPaymentInfo(info)
const tx = info.createTransaction()
Object.assign(tx, {debtorName: "Juergen Groesse", debtorIBAN: "DE02120300000000202051", mandateId: "MND-1", amount: 29.99,
  mandateSignatureDate: new Date("2026-10-01T00:00:00Z"), remittanceInfo: "MY SHOP", end2endId: "TXN-20261116-ABCDEFGH"})
info.addTransaction(tx)
console.log(doc.toString())`

func TestOurFileSaysWhatTheirsSays(t *testing.T) {
	t.Parallel()
	for _, format := range iso20022.DebitFormats {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			ours, err := playedbank.Take(write(t, format, true, []*iso20022.Debit{{
				EndToEndID: "TXN-20261116-ABCDEFGH", AmountMinor: 2999, Remittance: "MY SHOP",
				Mandate: iso20022.Mandate{Reference: "MND-1", SignedDate: date("2026-10-01")},
				Debtor:  iso20022.Party{Name: "Jürgen Größe", Account: account("DE02120300000000202051")},
			}}), playedbank.Limits{})
			must(t, err)
			// It puts the message's id before the block's, as we do with a dash.
			file := bytes.ReplaceAll(iso20022test.Node(t, fmt.Sprintf(theirOrder, format), nil), []byte("0001.1<"), []byte("0001-1<"))
			theirs, err := playedbank.Take(file, playedbank.Limits{})
			must(t, err)
			if fmt.Sprintf("%+v", *ours) != fmt.Sprintf("%+v", *theirs) {
				t.Errorf("ours\n%+v\ntheirs\n%+v", *ours, *theirs)
			}
		})
	}
}

// theirReading prints what a program of others finds in a statement: sign, amount, day and ids of every booking.
const theirReading = `
const {parseCamt053} = require("camt-parser")
const xml = require("fs").readFileSync(0, "utf8")
parseCamt053(xml).then(d => console.log(JSON.stringify(d.statements.flatMap(s => s.transactions.map(t => [t.creditDebitIndicator,
  t.amount.value, t.bookingDate, ...(t.details ?? []).map(x => x.references?.endToEndId ?? "")])))))`

func TestWeReadWhatTheyRead(t *testing.T) {
	t.Parallel()
	for _, shape := range []playedbank.Shape{playedbank.Plain, playedbank.German} {
		t.Run(string(shape), func(t *testing.T) {
			t.Parallel()
			taken, err := playedbank.Take(order(t, iso20022.Debits08, false), playedbank.Limits{})
			must(t, err)
			files, err := playedbank.Answers(taken, shape, date("2026-12-31"))
			must(t, err)
			for _, file := range files[1:] { // the first is the status report
				compareReadings(t, file)
			}
		})
	}
}

func compareReadings(t *testing.T, file playedbank.File) {
	t.Helper()
	var theirs [][]string
	must(t, json.Unmarshal(iso20022test.Node(t, theirReading, file.Content), &theirs))
	var ours [][]string
	must(t, iso20022.Read(bytes.NewReader(file.Content), iso20022.Visitor{Entry: func(e *iso20022.Entry) error {
		sign := map[bool]string{true: "CRDT", false: "DBIT"}[e.IsCredit]
		booking := []string{sign, fmt.Sprintf("%d.%02d", e.AmountMinor/100, e.AmountMinor%100), e.BookingDate.Format("2006-01-02")}
		for _, line := range e.Lines {
			booking = append(booking, line.EndToEndID)
		}
		ours = append(ours, booking)
		return nil
	}}))
	// What stands in place of an id is none for us.
	want := strings.ReplaceAll(fmt.Sprint(theirs), "NOTPROVIDED", "")
	if got := fmt.Sprint(ours); got != want || len(ours) == 0 {
		t.Errorf("%s: we read\n%s\nthey read\n%s", file.Name, got, want)
	}
}
