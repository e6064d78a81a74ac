package iso20022_test

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"sepad/internal/iso20022"
	"sepad/internal/iso20022/iso20022test"
	"sepad/internal/sepa"
)

func day(text string) time.Time {
	date, err := time.Parse("2006-01-02", text)
	if err != nil {
		panic(err)
	}
	return date
}

func iban(text string) sepa.IBAN {
	account, err := sepa.ParseIBAN(text)
	if err != nil {
		panic(err)
	}
	return account
}

var (
	writtenAt = time.Date(2026, 11, 16, 9, 30, 0, 0, time.UTC)
	creditor  = iso20022.Creditor{
		Party: iso20022.Party{
			Name: "Müller & Söhne GmbH", Account: iban("DE89370400440532013000"), BIC: "COBADEFFXXX",
			Address: iso20022.Address{Street: "Hauptstraße", Building: "1a", PostCode: "10115", Town: "Köln", Country: "DE"},
		},
		Identifier: "DE98ZZZ09999999999", NameWithIdentifier: true,
	}
)

func someDebit() *iso20022.Debit {
	return &iso20022.Debit{
		EndToEndID: "TXN-20261116-ABCDEFGH", AmountMinor: 2999,
		Mandate:    iso20022.Mandate{Reference: "MND-ABCDEFGHJKLM", SignedDate: day("2026-11-14")},
		Debtor:     iso20022.Party{Name: "Łukasz Größe", Account: iban("DE02120300000000202051")},
		Remittance: "MY SHOP Premium ORD-12345678",
	}
}

// write makes a whole message of one block for each list of collections.
func write(t testing.TB, format iso20022.Format, blocks ...[]*iso20022.Debit) []byte {
	t.Helper()
	var out bytes.Buffer
	header := iso20022.Header{MessageID: "SEPAD-20261116-0001", CreatedAt: writtenAt, Initiator: creditor.Name}
	for _, block := range blocks {
		for _, debit := range block {
			header.Count++
			header.SumMinor += debit.AmountMinor
		}
	}
	debits, err := iso20022.NewDebits(&out, format, header)
	must(t, err)
	for i, block := range blocks {
		must(t, debits.Block(someBlock(i, block)))
		for _, debit := range block {
			must(t, debits.Add(debit))
		}
	}
	must(t, debits.Close())
	return out.Bytes()
}

func someBlock(i int, block []*iso20022.Debit) *iso20022.DebitBlock {
	var sum int64
	for _, debit := range block {
		sum += debit.AmountMinor
	}
	return &iso20022.DebitBlock{
		ID: "SEPAD-20261116-0001-" + string(rune('1'+i)), DueDate: day("2026-11-18"), Sequence: []string{"FRST", "RCUR", "OOFF", "FNAL"}[i%4],
		BatchBooking: i%2 == 0, Creditor: creditor, Count: len(block), SumMinor: sum,
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestDebits(t *testing.T) {
	t.Parallel()
	swiss := someDebit()
	swiss.EndToEndID, swiss.Debtor.Account, swiss.Debtor.BIC = "TXN-20261116-SWISSXXX", iban("CH9300762011623852957"), "POFICHBEXXX"
	swiss.Debtor.Address = iso20022.Address{Street: "Zürcherstrasse", Building: "3", PostCode: "8001", Town: "Zürich", Country: "CH"}
	moved := someDebit()
	moved.EndToEndID, moved.Mandate.Amendment = "TXN-20261116-MOVEDXXX", &iso20022.Amendment{NewAccount: true}
	renamed := someDebit()
	renamed.EndToEndID = "TXN-20261116-RENAMEDX"
	renamed.Mandate.Amendment = &iso20022.Amendment{
		OriginalReference: "OLD-1", OriginalCreditorName: "Älter KG", OriginalCreditorIdentifier: "DE98ZZZ09999999999",
		OriginalAccount: iban("DE02120300000000202051"),
	}
	newBIC := someDebit()
	newBIC.EndToEndID, newBIC.Debtor.BIC = "TXN-20261116-NEWBICXX", "1ABCDE00"

	for _, format := range iso20022.DebitFormats {
		t.Run("a "+string(format)+" is what its schema says", func(t *testing.T) {
			t.Parallel()
			file := write(t, format, []*iso20022.Debit{someDebit(), swiss}, []*iso20022.Debit{moved, renamed}, []*iso20022.Debit{newBIC})
			iso20022test.Validate(t, string(format), file)
			for _, want := range []string{
				"<NbOfTxs>5</NbOfTxs><CtrlSum>149.95</CtrlSum>", "<NbOfTxs>2</NbOfTxs><CtrlSum>59.98</CtrlSum>",
				"<Nm>Mueller + Soehne GmbH</Nm>", "<Nm>Lukasz Groesse</Nm>", "<ReqdColltnDt>2026-11-18</ReqdColltnDt>",
				"<MndtId>MND-ABCDEFGHJKLM</MndtId><DtOfSgntr>2026-11-14</DtOfSgntr>", "<SeqTp>FRST</SeqTp>", "<SeqTp>RCUR</SeqTp>",
				`<InstdAmt Ccy="EUR">29.99</InstdAmt>`, "<Othr><Id>SMNDA</Id></Othr>", "<Ustrd>MY SHOP Premium ORD-12345678</Ustrd>",
			} {
				if !bytes.Contains(file, []byte(want)) {
					t.Errorf("the file has no %s", want)
				}
			}
		})
	}

	t.Run("addresses are in parts where the version knows them, and lines in the older one", func(t *testing.T) {
		t.Parallel()
		newer, older := write(t, iso20022.Debits08, []*iso20022.Debit{swiss}), write(t, iso20022.Debits02, []*iso20022.Debit{swiss})
		expectText(t, newer, "<PstlAdr><StrtNm>Zuercherstrasse</StrtNm><BldgNb>3</BldgNb><PstCd>8001</PstCd><TwnNm>Zuerich</TwnNm><Ctry>CH</Ctry></PstlAdr>")
		expectText(t, older, "<PstlAdr><Ctry>CH</Ctry><AdrLine>Zuercherstrasse 3</AdrLine><AdrLine>8001 Zuerich</AdrLine></PstlAdr>")
		expectText(t, newer, "<DbtrAgt><FinInstnId><BICFI>POFICHBEXXX</BICFI>")
		expectText(t, older, "<DbtrAgt><FinInstnId><BIC>POFICHBEXXX</BIC>")
	})
}

func TestDebitsThatAreNoMessage(t *testing.T) {
	t.Parallel()

	t.Run("a message that does not hold what it announces is refused", func(t *testing.T) {
		t.Parallel()
		for _, announced := range []iso20022.Header{
			{Count: 2, SumMinor: 2999}, {Count: 1, SumMinor: 3000},
		} {
			announced.MessageID, announced.CreatedAt, announced.Initiator = "M1", writtenAt, "Shop"
			debits, err := iso20022.NewDebits(io.Discard, iso20022.Debits08, announced)
			must(t, err)
			must(t, debits.Block(someBlock(0, []*iso20022.Debit{someDebit()})))
			must(t, debits.Add(someDebit()))
			if err := debits.Close(); err == nil {
				t.Errorf("header %d of %d was believed", announced.Count, announced.SumMinor)
			}
		}
		debits, err := iso20022.NewDebits(io.Discard, iso20022.Debits08, iso20022.Header{MessageID: "M1", CreatedAt: writtenAt, Initiator: "Shop", Count: 1, SumMinor: 2999})
		must(t, err)
		if err := debits.Add(someDebit()); err == nil {
			t.Error("a collection without a block was taken")
		}
		must(t, debits.Block(someBlock(0, []*iso20022.Debit{someDebit()})))
		if err := debits.Block(someBlock(1, []*iso20022.Debit{someDebit()})); err == nil {
			t.Error("an empty block was believed")
		}
	})

	t.Run("a stream that fails is an error of the message", func(t *testing.T) {
		t.Parallel()
		debits, err := iso20022.NewDebits(fullDisk{}, iso20022.Debits08, iso20022.Header{MessageID: "M1", CreatedAt: writtenAt, Initiator: "Shop", Count: 1, SumMinor: 2999})
		must(t, err)
		must(t, debits.Block(someBlock(0, []*iso20022.Debit{someDebit()})))
		must(t, debits.Add(someDebit()))
		if err := debits.Close(); err == nil {
			t.Error("the message was called whole")
		}
	})
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func expectText(t testing.TB, file []byte, want string) {
	t.Helper()
	if !bytes.Contains(file, []byte(want)) {
		t.Errorf("the file has no %s:\n%s", want, file)
	}
}

func TestDebitFaults(t *testing.T) {
	t.Parallel()
	for _, example := range []struct {
		name, field string
		isFatal     bool
		change      func(*iso20022.Debit)
	}{
		{"a name without any character of the scheme is refused", "name", true, func(d *iso20022.Debit) { d.Debtor.Name = "李明" }},
		{"a name that loses a character is told", "name", false, func(d *iso20022.Debit) { d.Debtor.Name = "Anna 李" }},
		{"a name that is too long is cut and told", "name", false, func(d *iso20022.Debit) { d.Debtor.Name = strings.Repeat("ä", 36) }},
		{"no amount is refused", "amount", true, func(d *iso20022.Debit) { d.AmountMinor = 0 }},
		{"more than the scheme's largest amount is refused", "amount", true, func(d *iso20022.Debit) { d.AmountMinor = iso20022.MaxAmountMinor + 1 }},
		{"an end-to-end id with a blank is refused", "end-to-end id", true, func(d *iso20022.Debit) { d.EndToEndID = "A B" }},
		{"an id that begins with a slash is refused", "end-to-end id", true, func(d *iso20022.Debit) { d.EndToEndID = "/A" }},
		{"an id of 36 characters is refused", "end-to-end id", true, func(d *iso20022.Debit) { d.EndToEndID = strings.Repeat("A", 36) }},
		{"a mandate with markup is refused", "mandate", true, func(d *iso20022.Debit) { d.Mandate.Reference = "<A>" }},
		{"a mandate without a day is refused", "mandate", true, func(d *iso20022.Debit) { d.Mandate.SignedDate = time.Time{} }},
		{"a mandate of next week is refused", "mandate", true, func(d *iso20022.Debit) { d.Mandate.SignedDate = day("2026-11-24") }},
		{"no account is refused", "account", true, func(d *iso20022.Debit) { d.Debtor.Account = sepa.IBAN{} }},
		{"a Swiss account without an address is refused", "address", true, func(d *iso20022.Debit) { d.Debtor.Account = iban("CH9300762011623852957") }},
		{"an address without its country is refused", "address", true, func(d *iso20022.Debit) { d.Debtor.Address.Town = "Bern" }},
		{"an address without its town is refused", "town", true, func(d *iso20022.Debit) { d.Debtor.Address.Country = "DE" }},
		{"a BIC in small letters is refused", "bic", true, func(d *iso20022.Debit) { d.Debtor.BIC = "cobadeff" }},
		{"an amendment that says nothing is refused", "amendment", true, func(d *iso20022.Debit) { d.Mandate.Amendment = &iso20022.Amendment{} }},
		{"a long text is cut and told", "remittance", false, func(d *iso20022.Debit) { d.Remittance = strings.Repeat("x", 141) }},
	} {
		t.Run(example.name, func(t *testing.T) {
			t.Parallel()
			debit := someDebit()
			example.change(debit)
			faults := debit.Faults(writtenAt)
			if len(faults) != 1 || faults[0].Field != example.field || faults[0].Fatal != example.isFatal {
				t.Fatalf("want one fault of %s, fatal %t; got %+v", example.field, example.isFatal, faults)
			}
			debits, err := iso20022.NewDebits(io.Discard, iso20022.Debits08, iso20022.Header{MessageID: "M1", CreatedAt: writtenAt, Initiator: "Shop", Count: 1, SumMinor: 1})
			must(t, err)
			must(t, debits.Block(someBlock(0, []*iso20022.Debit{someDebit()})))
			if err := debits.Add(debit); (err != nil) != example.isFatal {
				t.Errorf("writing it says %v", err)
			}
		})
	}
	if faults := someDebit().Faults(writtenAt); len(faults) != 0 {
		t.Errorf("a good collection has faults: %+v", faults)
	}
}

// TestDebitsAreFlat writes a file of 100,000 collections and looks at what is left in memory.
func TestDebitsAreFlat(t *testing.T) {
	const count = 100_000
	debit := someDebit()
	block := someBlock(0, nil)
	block.Count, block.SumMinor = count, count*debit.AmountMinor
	size := &counter{}
	debits, err := iso20022.NewDebits(size, iso20022.Debits08, iso20022.Header{MessageID: "M1", CreatedAt: writtenAt, Initiator: "Shop", Count: count, SumMinor: block.SumMinor})
	must(t, err)
	must(t, debits.Block(block))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range count {
		must(t, debits.Add(debit))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	must(t, debits.Close())
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 4<<20 {
		t.Errorf("after %d collections %d bytes more are held", count, grown)
	}
	if size.bytes < 40<<20 {
		t.Errorf("only %d bytes were written", size.bytes)
	}
}

type counter struct{ bytes int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.bytes += int64(len(p))
	return len(p), nil
}

func TestNoMessageIsLongerThanItsBound(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("W", 200)
	address := iso20022.Address{Street: long, Building: long, PostCode: long, Town: long, Country: "MT"}
	account := iban("MT84MALT011000012345MTLCAST001S")
	party := iso20022.Party{Name: long, Account: account, BIC: "COBADEFFXXX", Address: address}
	identifier := strings.Repeat("X", 35)
	debit := &iso20022.Debit{
		EndToEndID: identifier, AmountMinor: iso20022.MaxAmountMinor, Debtor: party, Remittance: long,
		Mandate: iso20022.Mandate{Reference: identifier, SignedDate: day("2026-11-14"), Amendment: &iso20022.Amendment{
			OriginalReference: identifier, OriginalCreditorName: long, OriginalCreditorIdentifier: identifier, OriginalAccount: account,
		}},
	}
	for _, format := range iso20022.DebitFormats {
		var out bytes.Buffer
		message, err := iso20022.NewDebits(&out, format, iso20022.Header{
			MessageID: identifier, CreatedAt: writtenAt, Initiator: long, Count: 2, SumMinor: 2 * iso20022.MaxAmountMinor,
		})
		must(t, err)
		must(t, message.Block(&iso20022.DebitBlock{
			ID: identifier, DueDate: day("2026-11-18"), Sequence: "RCUR", Count: 2, SumMinor: 2 * iso20022.MaxAmountMinor,
			Creditor: iso20022.Creditor{Party: party, Identifier: identifier, NameWithIdentifier: true},
		}))
		must(t, message.Add(debit))
		must(t, message.Add(debit))
		must(t, message.Close())
		if out.Len() > iso20022.MostBytes(1, 2) {
			t.Errorf("%s: %d bytes, bound %d", format, out.Len(), iso20022.MostBytes(1, 2))
		}
		t.Logf("%s: %d bytes, bound %d", format, out.Len(), iso20022.MostBytes(1, 2))
	}
}
