package recon

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func TestParseAmount(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1234.56": "1234.56", "1234,56": "1234.56", "1.234,56": "1234.56", "1,234.56": "1234.56", "1.234.567,8": "1234567.80",
		"12": "12.00", "0,5": "0.50", "1 234,00": "1234.00", "1\u00a0234,00": "1234.00", "1'234.50": "1234.50", "007.10": "7.10",
		"-5.00": "-5.00", "1.234.567,80": "1234567.80", "1 234 567,80": "1234567.80", "1'234": "1234.00", "- 5,00": "-5.00",
		"10 00": "", "10\u00a000": "", "1'00": "", "12 34,00": "", "1 2345": "", "5, 00": "", " ": "",
		"1.234": "", "1,234": "", "1.2.3": "", "": "", "x": "", "1,23,4": "", "12.34,56": "", "1e3": "", "--1": "", "1.": "", "1234,567": "",
		"999999999.00": "", ",50": "", "1234.567,00": "",
	} {
		amount, negative, err := parseAmount(text)
		if negative {
			amount = -amount
		}
		switch {
		case want == "" && err == nil:
			t.Errorf("%q was read as %s", text, amount)
		case want != "" && (err != nil || amount.String() != want):
			t.Errorf("%q was read as %s, %v, want %s", text, amount, err, want)
		}
	}
}

func TestParseInstant(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2026-03-31T12:00:00Z": noon, "2026-03-31T12:00:00.000000Z": noon, "2026-03-31T14:00:00+02:00": noon,
		"2026-03-31 12:00:00": noon, "2026-03-31T12:00:00": noon, "31.03.2026 12:00": noon, "31.03.2026 12:00:00": noon,
		"2026-03-31": noon.Add(-12 * time.Hour), "31.03.2026": noon.Add(-12 * time.Hour), "31.3.2026": noon.Add(-12 * time.Hour),
		"2026-03-31T12:00:00.123456Z": noon.Add(123456 * time.Microsecond),
		"2026-02-30T12:00:00Z":        {}, "03/31/2026": {}, "": {}, "2026-13-01": {}, "31.02.2026": {}, "2026-03-31T25:00:00Z": {},
	} {
		at, err := parseInstant(text)
		if want.IsZero() != (err != nil) || err == nil && !at.Equal(want) {
			t.Errorf("%q was read as %s, %v", text, at, err)
		}
	}
}

// readAll gives every record of a text, its fields joined with bars.
func readAll(t *testing.T, text string) (records []string, faults int) {
	t.Helper()
	r := newCSVReader(strings.NewReader(text))
	for {
		fields, _, err := r.next()
		switch {
		case errors.Is(err, io.EOF):
			return records, faults
		case isFault(err):
			faults++
			continue
		case err != nil:
			t.Fatal(err)
		}
		cells := make([]string, len(fields))
		for i, field := range fields {
			cells[i] = decodeText(field)
		}
		records = append(records, strings.Join(cells, "|"))
	}
}

func TestCSVReader(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text   string
		want   string
		faults int
	}{
		"plain":              {"a,b\n1,2\n", "a|b 1|2", 0},
		"no line end":        {"a;b\r\n1;2", "a|b 1|2", 0},
		"empty lines":        {"a,b\n\n\n1,2\n\n", "a|b 1|2", 0},
		"empty cells":        {"a,b,c\n,,\n", "a|b|c ||", 0},
		"quotes":             {"a,b\n\"x,\"\"y\"\"\",\"\"\n", `a|b x,"y"|`, 0},
		"line in quotes":     {"a,b\n\"x\ny\",2\n3,4\n", "a|b x\ny|2 3|4", 0},
		"quote within":       {"a,b\nx\"y,2\n", `a|b x"y|2`, 0},
		"wrong quotes":       {"a,b\n\"x\"y,2\n3,4\n", "a|b 3|4", 1},
		"quote never closed": {"a,b\n\"x,2\n3,4\n", "a|b", 1},
		"another alphabet":   {"a;b\nM\xfcller;\x80\n", "a|b Müller|€", 0},
		"a mark":             {"\xEF\xBB\xBFa\tb\n1\t2\n", "a|b 1|2", 0},
		"nothing":            {"", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if records, faults := readAll(t, test.text); strings.Join(records, " ") != test.want || faults != test.faults {
				t.Errorf("read %q with %d faults", records, faults)
			}
		})
	}
	t.Run("a line without an end is not held", func(t *testing.T) {
		t.Parallel()
		if records, faults := readAll(t, "a,b\n"+strings.Repeat("x", 3*maxRecord)+"\n1,2\n"); len(records) != 2 || faults != 1 {
			t.Errorf("%d records, %d faults", len(records), faults)
		}
	})
}

// TestALineThatBreaksOffIsNone: an upload whose connection goes away ends within a line as a rule.
func TestALineThatBreaksOffIsNone(t *testing.T) {
	t.Parallel()
	broken := errors.New("the connection is gone")
	long := strings.Repeat("x", 300<<10)
	for name, text := range map[string]string{"short": "a,b\n1,19", "long": "a,b\n1," + long, "quoted": "a,b\n\"1\",\"19", "long and quoted": "a,b\n\"" + long} {
		r := newCSVReader(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)))
		if _, _, err := r.next(); err != nil {
			t.Fatal(err)
		}
		if fields, _, err := r.next(); !errors.Is(err, broken) {
			t.Errorf("%s: %d fields were read, and %v", name, len(fields), err)
		}
	}
}

// TestALineHasSoManyColumns: a mebibyte of commas would be a million of them, held by each file that is read.
func TestALineHasSoManyColumns(t *testing.T) {
	t.Parallel()
	wide := strings.Repeat(",", maxColumns)
	records, faults := readAll(t, "a,b\n"+wide+"\n\"x\""+wide+"\n"+wide[1:]+"\n1,2\n")
	if len(records) != 3 || faults != 2 {
		t.Errorf("%d records, %d faults", len(records), faults)
	}
}

// FuzzCSVReader looks for texts that make it hang, panic or read beyond a line.
func FuzzCSVReader(f *testing.F) {
	for _, seed := range []string{"a,b\n1,2\n", "\"a\"\"\",\"\n\",x", "a;\"b\nc\";\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		records, _ := readAll(t, text)
		if len(strings.Join(records, "")) > 3*len(text)+len(records) {
			t.Errorf("%d bytes became %d", len(text), len(strings.Join(records, "")))
		}
	})
}

// TestLongLinesAreFewAtATime has lines as long as they may be: a batch is full by its text too, and of a line that is not
// taken only its beginning is shown.
func TestLongLinesAreFewAtATime(t *testing.T) {
	t.Parallel()
	const lines = 24
	long := strings.Repeat("ü", maxRecord/4) + "\n" // half as long as a line may be
	reader := &lineReader{csv: newCSVReader(strings.NewReader(strings.Repeat(long, lines)))}
	batches := make(chan *batch, lines)
	refuse := func(*line, *batch) error { return errRecordQuotes }
	if err := readBatches(t.Context(), reader, method{size: 10_000, read: refuse}, batches); err != nil {
		t.Fatal(err)
	}
	close(batches)
	rejected := 0
	for b := range batches {
		rejected += len(b.rejected)
		if len(b.text) > batchText+maxRecord {
			t.Errorf("a batch holds %d bytes", len(b.text))
		}
		for _, r := range b.rejected {
			if r.Text != strings.Repeat("ü", shownText)+"…" {
				t.Fatalf("of line %d %d bytes are shown", r.Line, len(r.Text))
			}
		}
	}
	if rejected != lines {
		t.Errorf("%d lines are not taken", rejected)
	}
}
