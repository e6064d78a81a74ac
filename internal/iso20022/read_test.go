package iso20022_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"sepad/internal/iso20022"
)

// tell reads a file and writes down, one thing a line, what it says.
func tell(input io.Reader) (string, error) {
	var out strings.Builder
	err := iso20022.Read(input, iso20022.Visitor{
		Status:    func(s *iso20022.Status) error { tellStatus(&out, s); return nil },
		Statement: func(s *iso20022.Statement) error { tellStatement(&out, s); return nil },
		Entry:     func(e *iso20022.Entry) error { tellEntry(&out, e); return nil },
	})
	return out.String(), err
}

func tellStatus(out io.Writer, s *iso20022.Status) {
	fmt.Fprintf(out, "%s %s of %s", s.Level, s.Verdict, s.MessageID)
	writePart(out, " block ", s.BlockID)
	writePart(out, " id ", s.EndToEndID)
	tellReason(out, s.Reason)
	if s.AmountMinor != 0 {
		fmt.Fprintf(out, " amount %d %s due %s", s.AmountMinor, s.Currency, s.DueDate.Format("01-02"))
	}
	writePart(out, " mandate ", s.MandateReference)
	writePart(out, " account ", s.Account.Last4())
	fmt.Fprintln(out)
}

func tellReason(out io.Writer, r iso20022.Reason) {
	writePart(out, " reason ", r.Code)
	writePart(out, " given ", r.Given)
}

func writePart(out io.Writer, label, text string) {
	if text != "" {
		fmt.Fprint(out, label, text)
	}
}

func tellStatement(out io.Writer, s *iso20022.Statement) {
	fmt.Fprintf(out, "%s %s of %s", s.Kind, s.ID, s.MessageID)
	writePart(out, " account ", s.Account.Last4())
	writePart(out, " number ", s.Sequence)
	for _, balance := range s.Balances {
		fmt.Fprintf(out, " %s %d", balance.Type, balance.Minor)
	}
	fmt.Fprintln(out)
}

func tellEntry(out io.Writer, e *iso20022.Entry) {
	fmt.Fprintf(out, " %d: %d credit=%t", e.Index, e.AmountMinor, e.IsCredit)
	if !e.IsBooked {
		fmt.Fprint(out, " not booked")
	}
	writePart(out, " batch ", strings.TrimSpace(e.Batch.MessageID+" "+e.Batch.BlockID))
	if e.ChargesMinor != 0 {
		fmt.Fprintf(out, " charges %d", e.ChargesMinor)
	}
	if e.IsUnexplained {
		fmt.Fprint(out, " unexplained")
	}
	writePart(out, " ", e.Problem)
	fmt.Fprintln(out)
	for _, line := range e.Lines {
		fmt.Fprintf(out, "  %s %d", line.Kind, line.AmountMinor)
		if line.ChargesMinor != 0 {
			fmt.Fprintf(out, " charges %d", line.ChargesMinor)
		}
		writePart(out, " id ", line.EndToEndID)
		writePart(out, " mandate ", line.MandateReference)
		writePart(out, " block ", line.BlockID)
		writePart(out, " account ", line.Account.Last4())
		tellReason(out, line.Reason)
		writePart(out, " type ", line.RType)
		fmt.Fprintln(out)
	}
}

// corpus says of every file in testdata what it must be understood as. Each is in the shape of a real bank's.
var corpus = map[string]string{
	"irish-rejects.pain.002.001.03.xml": `
payment rejected of SEPAD-1 block SEPAD-1-1 id E2E-1 reason AC01 amount 10000 EUR due 11-18 mandate MND-1 account 2051
payment rejected of SEPAD-1 block SEPAD-1-1 id E2E-2 reason MS02
payment rejected of SEPAD-1 block SEPAD-1-2 id E2E-3 reason MD06
payment rejected of SEPAD-1 block SEPAD-1-2 id E2E-4 reason AM04`,
	"swiss-levels.pain.002.001.03.ch.xml": `
message partly of SEPAD-2
block accepted of SEPAD-2 block SEPAD-2-1
block partly of SEPAD-2 block SEPAD-2-2
payment rejected of SEPAD-2 block SEPAD-2-2 id E2E-5 reason AC01
payment none of SEPAD-2 block SEPAD-2-2 id E2E-6
payment rejected of SEPAD-2 block SEPAD-2-2 id E2E-7 given NARR`,
	"file-rejected.pain.002.001.10.xml": `
message rejected of SEPAD-3 reason AM10`,
	"block-rejected.pain.002.001.03.xml": `
block rejected of SEPAD-4 block SEPAD-4-1 reason DT01
payment rejected of SEPAD-4 block SEPAD-4-1 id E2E-7
payment accepted of SEPAD-4 block SEPAD-4-2 id E2E-8 given 0000
payment rejected of SEPAD-4 block SEPAD-4-2 id E2E-9 reason AC04 given 4711
payment waiting of SEPAD-4 block SEPAD-4-2`,
	"ebics-protocol.pain.002.001.03.xml": `
message protocol of EBICS
block protocol of EBICS block FILE_UPLOAD reason TS01
block protocol of EBICS block ES_VERIFICATION reason DS01
block protocol of EBICS block ORDER_HAC_FINAL_POS`,
	"payee-check.pain.002.001.10.xml": `
message payee_checked of SEPAD-R-1
block payee_checked of SEPAD-R-1 block SEPAD-R-1-1
payment payee_checked of SEPAD-R-1 block SEPAD-R-1-1 id REF-1 account 2051
payment payee_checked of SEPAD-R-1 block SEPAD-R-1-1 id REF-2
payment payee_checked of SEPAD-R-1 block SEPAD-R-1-1 id REF-3`,
	"german-return.camt.052.001.02.xml": `
camt.052 camt052_1 of camt52_1 account 3000 number 00000 CLBD -10000
 1: 5300 credit=false
  returned 5000 charges 300 mandate MND-1 account 2051 reason MS03`,
	"german-text.camt.053.001.08.xml": `
camt.053 C53-1 of 053D-1 account 3000 number 211 OPBD 0 CLBD 96701
 1: 3299 credit=false
  returned 2999 charges 300 id TXN-20261116-AAAAAAAA mandate MND-2 account 2051 reason AC04
 2: 100000 credit=true batch SEPAD-1 SEPAD-1-1
  collected 100000
 3: 500 credit=false not booked
  returned 500`,
	"french-return.camt.054.001.02.xml": `
camt.054 ZY08 of FR-1 account 2606
 1: 10000 credit=false
  returned 10000 id E2E-1 mandate MND-3 account 2051 reason AC06 type RTRN`,
	"dutch-batch.camt.053.001.02.xml": `
camt.053 NL/1/1 of NL/1 account 4300 number 2 OPBD 1556827
 1: 75425 credit=false
  other 75425 id POLICY-1 mandate 188
 2: 66405 credit=false batch SEPAD-5 SEPAD-5-1
  returned 56405 id E2E-8 mandate MND-8 account 6789 reason AC06
  returned 10000 id E2E-7 mandate MND-7 account 6789 reason AC06
 3: 140531 credit=true
  other 140531 id 115
 4: 1000 credit=false
  returned 1000 id E2E-9
camt.053 NL/1/2 of NL/1 account 6789`,
	"swiss-batch.camt.054.001.04.xml": `
camt.054 CH-1-1 of CH-1 account 2957
 1: 2400 credit=true
  collected 1500 id E2E-10 block SEPAD-6-1
  collected 900 id E2E-11 block SEPAD-6-1
 2: 600 credit=false
  returned 600 charges 70 id E2E-12 block SEPAD-6-2 reason MD06 given NARR
 3: 1250 credit=true
  transfer_returned 1250 id REF-1 reason AC04
 4: 750 credit=false
  transferred 750 id REF-2`,
	"lithuanian-mixed.camt.054.001.10.xml": `
camt.054 LT-1-1 of LT-1 account 1000
 1: 7000 credit=true
  collected 10000 id E2E-20
  returned 3000 id E2E-21 reason AM04
 2: 100 credit=true not booked
  other 100
 3: 0 credit=true unexplained The amount of the booking cannot be read.
  other 0
 4: 2000 credit=false
  returned 2000
 5: 50050 credit=true batch SEPAD-9
  collected 50050
 6: 9000 credit=true unexplained
  collected 0 id E2E-22
  collected 0 id E2E-23`,
	"no-namespace.camt.053.xml": `
camt.053 1 of BB-1
 1: 2999 credit=true
  collected 2999 id E2E-30`,
}

func TestRead(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.xml")
	must(t, err)
	if len(files) != len(corpus) {
		t.Errorf("%d files and %d expectations", len(files), len(corpus))
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			content, err := os.ReadFile(file)
			must(t, err)
			got, err := tell(bytes.NewReader(content))
			must(t, err)
			if want := corpus[filepath.Base(file)]; strings.TrimSpace(got) != strings.TrimSpace(want) {
				t.Errorf("want\n%s\ngot\n%s", strings.TrimSpace(want), got)
			}
		})
	}
}

func TestReadBroken(t *testing.T) {
	t.Parallel()
	whole, err := os.ReadFile("testdata/dutch-batch.camt.053.001.02.xml")
	must(t, err)

	t.Run("a file that ends in the middle is an error", func(t *testing.T) {
		t.Parallel()
		for _, length := range []int{len(whole) / 3, len(whole) / 2, len(whole) - 20} {
			if _, err := tell(bytes.NewReader(whole[:length])); !errors.Is(err, io.ErrUnexpectedEOF) && err == nil {
				t.Errorf("%d of %d bytes: %v", length, len(whole), err)
			}
		}
	})
	t.Run("a file that is something else says what it is", func(t *testing.T) {
		t.Parallel()
		for _, text := range []string{"<html><body/></html>", "<Document><CstmrDrctDbtInitn/></Document>", "", "just text"} {
			if _, err := tell(strings.NewReader(text)); !errors.Is(err, iso20022.ErrUnknownMessage) {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
	t.Run("elements that nest without end are refused", func(t *testing.T) {
		t.Parallel()
		if _, err := tell(strings.NewReader("<BkToCstmrStmt>" + strings.Repeat("<a>", 10_000))); err == nil {
			t.Error("it was read")
		}
	})
	t.Run("bytes that are no text, and characters that XML forbids, lose no entry", func(t *testing.T) {
		t.Parallel()
		broken := bytes.ReplaceAll(whole, []byte("Test Klant"), []byte("Test\xfc\x01 &nbsp; Klant"))
		got, err := tell(bytes.NewReader(broken))
		must(t, err)
		if strings.TrimSpace(got) != strings.TrimSpace(corpus["dutch-batch.camt.053.001.02.xml"]) {
			t.Errorf("got\n%s", got)
		}
	})
	t.Run("a byte order mark and 16 bits a character are read", func(t *testing.T) {
		t.Parallel()
		for _, content := range [][]byte{append([]byte("\ufeff"), whole...), utf16(string(whole))} {
			got, err := tell(bytes.NewReader(content))
			must(t, err)
			if strings.TrimSpace(got) != strings.TrimSpace(corpus["dutch-batch.camt.053.001.02.xml"]) {
				t.Errorf("got\n%s", got)
			}
		}
	})
	t.Run("an error of the visitor ends the reading", func(t *testing.T) {
		t.Parallel()
		stop := errors.New("enough")
		entries := 0
		err := iso20022.Read(bytes.NewReader(whole), iso20022.Visitor{Entry: func(*iso20022.Entry) error { entries++; return stop }})
		if !errors.Is(err, stop) || entries != 1 {
			t.Errorf("%d entries, %v", entries, err)
		}
	})
}

func utf16(text string) []byte {
	out := []byte{0xFE, 0xFF}
	for _, r := range text {
		out = append(out, byte(r>>8), byte(r))
	}
	return out
}

func TestUnpack(t *testing.T) {
	t.Parallel()
	whole, err := os.ReadFile("testdata/no-namespace.camt.053.xml")
	must(t, err)
	unpack := func(content []byte) (names []string, err error) {
		err = iso20022.Unpack("delivery", bytes.NewReader(content), int64(len(content)), func(member iso20022.Member) error {
			names = append(names, member.Name)
			for range 2 { // it can be read again
				content, err := member.Open()
				must(t, err)
				if _, err := tell(content); err != nil {
					return err
				}
				must(t, content.Close())
			}
			return nil
		})
		return names, err
	}
	t.Run("a plain file is itself", func(t *testing.T) {
		t.Parallel()
		names, err := unpack(whole)
		if err != nil || strings.Join(names, " ") != "delivery" {
			t.Errorf("%v, %v", names, err)
		}
	})
	t.Run("a zip gives its files, not its folders and litter", func(t *testing.T) {
		t.Parallel()
		names, err := unpack(zipped(t, map[string][]byte{"a.xml": whole, "sub/b.xml": whole, "__MACOSX/._a.xml": []byte("x"), ".DS_Store": []byte("x")}))
		if err != nil || len(names) != 2 {
			t.Errorf("%v, %v", names, err)
		}
	})
	t.Run("a zip with a list of very many files is not held", func(t *testing.T) {
		t.Parallel()
		var content bytes.Buffer
		archive := zip.NewWriter(&content)
		for i := range 100_000 {
			_, err := archive.CreateRaw(&zip.FileHeader{Name: strconv.Itoa(i)})
			must(t, err)
		}
		must(t, archive.Close())
		if names, err := unpack(content.Bytes()); !errors.Is(err, iso20022.ErrTooLarge) || len(names) > 0 {
			t.Errorf("%d files, %v", len(names), err)
		}
	})
	t.Run("a zip that is cut off is an error", func(t *testing.T) {
		t.Parallel()
		content := zipped(t, map[string][]byte{"a.xml": whole})
		if _, err := unpack(content[:len(content)-10]); err == nil {
			t.Error("it was read")
		}
	})
}

func TestASmallArchiveDoesNotFillTheDisk(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		bytes int
		fits  bool
	}{"what a bank may send": {15 << 20, true}, "what only an attacker sends": {60 << 20, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content := zipped(t, map[string][]byte{"a.xml": bytes.Repeat([]byte(" "), test.bytes)})
			err := iso20022.Unpack("delivery", bytes.NewReader(content), int64(len(content)), func(member iso20022.Member) error {
				unpacked, err := member.Open()
				must(t, err)
				_, err = io.Copy(io.Discard, unpacked)
				return err
			})
			if (err == nil) != test.fits || err != nil && !errors.Is(err, iso20022.ErrTooLarge) {
				t.Errorf("%d bytes in %d: %v", test.bytes, len(content), err)
			}
		})
	}
}

func zipped(t *testing.T, files map[string][]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for name, content := range files {
		member, err := archive.Create(name)
		must(t, err)
		_, err = member.Write(content)
		must(t, err)
	}
	must(t, archive.Close())
	return out.Bytes()
}

// TestReadIsFlat reads a statement of 100,000 entries and looks at what is held meanwhile.
func TestReadIsFlat(t *testing.T) {
	const count = 100_000
	var before, during runtime.MemStats
	entries := 0
	runtime.GC()
	runtime.ReadMemStats(&before)
	err := iso20022.Read(longStatement(count), iso20022.Visitor{Entry: func(*iso20022.Entry) error {
		if entries++; entries == count-1 {
			runtime.GC()
			runtime.ReadMemStats(&during)
		}
		return nil
	}})
	must(t, err)
	if grown := int64(during.HeapAlloc) - int64(before.HeapAlloc); entries != count || grown > 4<<20 {
		t.Errorf("%d entries, %d bytes more are held", entries, grown)
	}
}

// longStatement gives a statement of returned debits without holding it.
func longStatement(count int) io.Reader {
	const entry = `<Ntry><Amt Ccy="EUR">32.99</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2026-11-20</Dt></BookgDt><ValDt><Dt>2026-11-20</Dt></ValDt>` +
		`<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>IDDT</Cd><SubFmlyCd>UPDD</SubFmlyCd></Fmly></Domn></BkTxCd><NtryDtls><TxDtls><Refs><EndToEndId>TXN-20261116-AAAAAAAA</EndToEndId>` +
		`<MndtId>MND-ABCDEFGHJKLM</MndtId></Refs><AmtDtls><InstdAmt><Amt Ccy="EUR">29.99</Amt></InstdAmt></AmtDtls><RltdPties><Dbtr><Nm>Anna Beispiel</Nm></Dbtr><DbtrAcct><Id>` +
		`<IBAN>DE02120300000000202051</IBAN></Id></DbtrAcct></RltdPties><RmtInf><Ustrd>MY SHOP Premium</Ustrd></RmtInf><RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf></TxDtls></NtryDtls></Ntry>` + "\n"
	readers := []io.Reader{strings.NewReader(`<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"><BkToCstmrStmt><GrpHdr><MsgId>M</MsgId></GrpHdr><Stmt><Id>1</Id>`)}
	for range count {
		readers = append(readers, strings.NewReader(entry))
	}
	return io.MultiReader(append(readers, strings.NewReader("</Stmt></BkToCstmrStmt></Document>"))...)
}

func BenchmarkRead(b *testing.B) {
	content, err := io.ReadAll(longStatement(10_000))
	must(b, err)
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		must(b, iso20022.Read(bytes.NewReader(content), iso20022.Visitor{Entry: func(*iso20022.Entry) error { return nil }}))
	}
}

func FuzzRead(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.xml")
	for _, file := range files {
		content, err := os.ReadFile(file)
		must(f, err)
		f.Add(content)
	}
	f.Fuzz(func(_ *testing.T, content []byte) {
		_, _ = tell(bytes.NewReader(content)) // whatever comes, it ends
	})
}

func TestReasonsInWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Rueckgabegrund: MS03 Sonstige":            "MS03",
		"RÜCKGABEGRUND FRTR, Mandat widerrufen":    "FRTR",
		"motif AGNT":                               "AGNT",
		"The CUST of the TECH Shop GmbH, AM04":     "AM04",
		"The CUST of the TECH Shop GmbH":           "",
		"Grund dafür: das Konto ist nicht bekannt": "",
	} {
		statement := `<BkToCstmrStmt><Stmt><Ntry><Amt Ccy="EUR">1.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts><BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>IDDT</Cd>` +
			`<SubFmlyCd>UPDD</SubFmlyCd></Fmly></Domn></BkTxCd><NtryDtls><TxDtls><RmtInf><Ustrd>` + text + `</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry></Stmt></BkToCstmrStmt>`
		err := iso20022.Read(strings.NewReader(statement), iso20022.Visitor{Entry: func(e *iso20022.Entry) error {
			if got := e.Lines[0].Reason.Code; got != want {
				t.Errorf("%q gives %q, want %q", text, got, want)
			}
			return nil
		}})
		if err != nil {
			t.Error(err)
		}
	}
}
