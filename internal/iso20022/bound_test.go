package iso20022

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPiecesAreBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, want string }{
		"a text":      {"<Document><BkToCstmrStmt><Stmt><Id>" + strings.Repeat("x", 3*maxPiece), "a piece of more"},
		"a comment":   {"<Document><!--" + strings.Repeat("x", 3*maxPiece), "a piece of more"},
		"a tag":       {"<Document " + strings.Repeat("x", 3*maxPiece), "a piece of more"},
		"an envelope": {strings.Repeat("<a>", 2*maxDepth), "nest deeper"},
		"an entry":    {"<Document><BkToCstmrStmt><Stmt><Ntry>" + strings.Repeat("<a>", 2*maxDepth), "nest deeper"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := Read(strings.NewReader(c.file), Visitor{}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("it is read: %v", err)
			}
		})
	}
}

// TestWhatIsHeldIsBounded gives a file whose parts are many and small a reader that holds nearly all it may: an element of four
// letters takes thirty times as much memory.
func TestWhatIsHeldIsBounded(t *testing.T) {
	t.Parallel()
	const many = 1000
	for name, c := range map[string]struct {
		file string
		fits bool
	}{
		"children of a booking":     {"<BkToCstmrStmt><Stmt><Ntry>" + strings.Repeat("<a/>", many), false},
		"payments of a booking":     {"<BkToCstmrStmt><Stmt><Ntry><NtryDtls>" + strings.Repeat("<TxDtls/>", many), false},
		"balances between bookings": {"<BkToCstmrStmt><Stmt>" + strings.Repeat("<Bal/><Ntry/>", many), false},
		"a block's own parts":       {"<CstmrPmtStsRpt><OrgnlPmtInfAndSts>" + strings.Repeat("<a/><TxInfAndSts/>", many), false},
		"names":                     {"<BkToCstmrStmt><Stmt><Ntry><" + strings.Repeat("a", many*elementWeight) + "/>", false},
		"texts":                     {"<BkToCstmrStmt><Stmt><Ntry>" + strings.Repeat("<a>"+strings.Repeat("x", maxText)+"</a>", many/10), false},
		"bookings":                  {"<BkToCstmrStmt><Stmt>" + strings.Repeat("<Ntry><a/></Ntry>", many) + "</Stmt></BkToCstmrStmt>", true},
		"statements":                {"<BkToCstmrStmt>" + strings.Repeat("<Stmt><Bal/><Ntry/></Stmt>", many) + "</BkToCstmrStmt>", true},
		"payments of a report":      {"<CstmrPmtStsRpt><OrgnlPmtInfAndSts>" + strings.Repeat("<TxInfAndSts/>", many) + "</OrgnlPmtInfAndSts></CstmrPmtStsRpt>", true},
		"blocks of a report":        {"<CstmrPmtStsRpt>" + strings.Repeat("<OrgnlPmtInfAndSts><a/></OrgnlPmtInfAndSts>", many) + "</CstmrPmtStsRpt>", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDecoder(strings.NewReader(c.file))
			d.held, d.isHeavy = maxHeld-many*elementWeight/2, true
			if err := d.read(Visitor{}); (err == nil) != c.fits || err != nil && !strings.Contains(err.Error(), "a booking of more") {
				t.Errorf("reading ends with %v", err)
			}
		})
	}
}

// TestWhoHoldsMuchDoesSoAlone has a booking of many payments told while nobody else may hold as much.
func TestWhoHoldsMuchDoesSoAlone(t *testing.T) {
	large := "<BkToCstmrStmt><Stmt><Ntry>" + strings.Repeat("<a/>", maxBeside/elementWeight) + "</Ntry></Stmt></BkToCstmrStmt>"
	told := false
	err := Read(strings.NewReader(large), Visitor{Entry: func(*Entry) error {
		if told = true; heavy.TryLock() {
			heavy.Unlock()
			t.Error("another one may hold as much")
		}
		return nil
	}})
	if err != nil || !told {
		t.Fatalf("it was not told: %v", err)
	}
	if !heavy.TryLock() {
		t.Fatal("nobody may hold much afterwards")
	}
	heavy.Unlock()
}

// TestTextsAreCut has words that every payment of a booking would be written down with.
func TestTextsAreCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", maxPiece/4)
	words := strings.Repeat("<AddtlNtryInf>"+long+"</AddtlNtryInf>", 3)
	file := "<BkToCstmrStmt><Stmt><Id>" + long + "</Id><Acct><Ccy>" + long + "</Ccy></Acct><Ntry><Amt Ccy=\"" + long + "\">1</Amt>" + words + "</Ntry></Stmt></BkToCstmrStmt>"
	err := Read(strings.NewReader(file), Visitor{Entry: func(e *Entry) error {
		for name, text := range map[string]string{"the entry": e.Text, "the statement's id": e.Statement.ID, "the currency": e.Currency} {
			if len(text) > maxText || !utf8.ValidString(text) {
				t.Errorf("%s has %d bytes", name, len(text))
			}
		}
		if e.Problem == "" {
			t.Error("an amount in a currency that nobody knows is taken")
		}
		return nil
	}})
	if err != nil {
		t.Error(err)
	}
}

// TestAmountsAddUp holds that no amount is so large that the sum of many is none.
func TestAmountsAddUp(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{
		"9999999999.99": true, "0000000000000000001.00": true, "10000000000": false, "1e9": false, "1E400": false, "0x10": false, "-1": false, "+1": false, "١": false,
		strings.Repeat("9", maxText): false, strings.Repeat("0", maxText): true, "": false, ".5": false, "NaN": false, "Inf": false, "1.": true,
	} {
		if minor, got := parseDecimal(text); got != ok || minor < 0 || minor > 1_000_000_000_000 {
			t.Errorf("%.20s is read as %d: %v", text, minor, got)
		}
	}
}

// TestATextInPieces has a text that comments part a hundred thousand times, which once took minutes.
func TestATextInPieces(t *testing.T) {
	t.Parallel()
	const pieces = 100_000
	file := "<Document><BkToCstmrStmt><Stmt><Id>" + strings.Repeat("a<!---->", pieces) + "</Id><Ntry/></Stmt></BkToCstmrStmt></Document>"
	var id string
	err := Read(strings.NewReader(file), Visitor{Entry: func(e *Entry) error { id = e.Statement.ID; return nil }})
	if err != nil || id != strings.Repeat("a", maxText) {
		t.Errorf("%d characters, %v", len(id), err)
	}
}
