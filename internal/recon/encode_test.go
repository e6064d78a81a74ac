package recon

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"sepad/internal/payment"
	"sepad/internal/record"
	"sepad/internal/store/listing"
)

// hostile draws texts that some format or program takes for something else.
var hostile = rapid.OneOf(
	rapid.SampledFrom([]string{
		"", "=1+1", "+49 30", "-5", "@cmd", "\tx", "\rx", "'", "\"", "\"\"", ",", ";", "a,b", "a\r\nb", "\n", "\r", "]]>", "<!--",
		"&amp;", "<a>", "\x00", "\x1b[31m", "\x7f", "\u0085", "\u2028", "\ufffe", "\uffff", "\ufeff", "😀", "a\xffb", "\xed\xa0\x80", "null", " x ", "\\",
	}),
	rapid.String(),
	rapid.StringOf(rapid.RuneFrom([]rune("=+-@\t\r\n\",;'<>&]\\\x00\x01\x1f\x7fä😀\u2028\ufffe\uffff x"))),
	rapid.Map(rapid.SliceOf(rapid.Byte()), func(raw []byte) string { return string(raw) }),
)

func drawTransaction(t *rapid.T) payment.Transaction {
	text := func() string { return hostile.Draw(t, "text") }
	row := payment.Transaction{
		ID: drawID(t), GatewayID: drawID(t), GatewayReference: text(), MerchantTransactionID: text(), Currency: text(),
		Status: payment.TransactionStatus(text()), Type: payment.TransactionType(text()), Source: payment.Source(text()),
		AmountMinor: payment.Minor(rapid.Int64().Draw(t, "amount")), MaskedIBAN: text(), BIC: text(), HolderName: text(),
		Email: text(), MandateReference: text(), MandateAt: drawInstant(t), ProcessedAt: drawInstant(t), CreatedAt: drawInstant(t),
	}
	if rapid.Bool().Draw(t, "has relations") {
		row.TenantReferenceID, row.OrderID, row.LeadID = new(text()), new(drawID(t)), new(drawID(t))
	}
	return row
}

func drawSubscription(t *rapid.T) payment.Subscription {
	row := payment.Subscription{
		ID: drawID(t), OrderID: drawID(t), Status: payment.SubscriptionStatus(hostile.Draw(t, "status")), Currency: hostile.Draw(t, "currency"),
		AmountMinor: payment.Minor(rapid.Int64().Draw(t, "amount")), RevenueMinor: payment.Minor(rapid.Int64().Draw(t, "revenue")),
		SuccessfulCount: rapid.Int().Draw(t, "count"), StartedAt: drawInstant(t),
	}
	if rapid.Bool().Draw(t, "has a date") {
		row.NextBillingDate = payment.DateOf(drawInstant(t))
	}
	return row
}

func drawID(t *rapid.T) uuid.UUID {
	return uuid.UUID(rapid.SliceOfN(rapid.Byte(), len(uuid.UUID{}), len(uuid.UUID{})).Draw(t, "id"))
}

func drawInstant(t *rapid.T) time.Time {
	const year2286 = 9_999_999_999_000_000
	return time.UnixMicro(rapid.Int64Range(1, year2286).Draw(t, "instant"))
}

func TestTheThreeFormatsAgree(t *testing.T) {
	t.Parallel()
	t.Run("transactions", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			checkAgreement(t, Transactions, rapid.SliceOfN(rapid.Custom(drawTransaction), 0, 5).Draw(t, "rows"))
		})
	})
	t.Run("subscriptions", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			checkAgreement(t, Subscriptions, rapid.SliceOfN(rapid.Custom(drawSubscription), 0, 5).Draw(t, "rows"))
		})
	})
}

// checkAgreement writes a page three times, reads it back with programs that know
// nothing of ours, and holds each value against the column table.
func checkAgreement[T any](t *rapid.T, l *Listing[T], rows []T) {
	page := Page[T]{Listed: listing.Listed[T]{Rows: rows}, Next: "https://pay.example/?a=1&b=<2>", Previous: rapid.SampledFrom([]string{"", "https://x/?p"}).Draw(t, "previous")}
	asJSON, asXML, asCSV := readJSON(t, l, page), readXML(t, l, page), readCSV(t, l, page)
	if len(asJSON) != len(rows) || len(asXML) != len(rows) || len(asCSV) != len(rows) {
		t.Fatalf("%d records were written as %d, %d and %d", len(rows), len(asJSON), len(asXML), len(asCSV))
	}
	for i := range rows {
		for c, column := range l.Columns {
			want := valid(string(column.Value(&rows[i]).Append(nil)))
			if got := asJSON[i][c]; got != want {
				t.Errorf("JSON has %q for %s, want %q", got, column.Name, want)
			}
			if got := asXML[i][c]; got != withoutForbidden(want) {
				t.Errorf("XML has %q for %s, want %q", got, column.Name, withoutForbidden(want))
			}
			if got := asCSV[i][c]; got != guarded(want) {
				t.Errorf("CSV has %q for %s, want %q", got, column.Name, guarded(want))
			}
		}
	}
}

// valid is a text as UTF-8, with a replacement for each byte that is none.
func valid(text string) string { return string([]rune(text)) }

func withoutForbidden(text string) string {
	return strings.Map(func(letter rune) rune {
		if letter < ' ' && !strings.ContainsRune("\t\n\r", letter) || letter == '\uFFFE' || letter == '\uFFFF' {
			return -1
		}
		return letter
	}, text)
}

func guarded(text string) string {
	if first, _ := utf8.DecodeRuneInString(text); text != "" && strings.ContainsRune("=+-@\t\r＝＋－＠", first) {
		return "'" + text
	}
	return text
}

func TestCellsThatSpreadsheetsWouldCutOrCompute(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain": "plain", "a;b": `"a;b"`, "a\tb": "\"a\tb\"", `say "x"`: `"say ""x"""`, "a,b": `"a,b"`, "two\nlines": "\"two\nlines\"", "a\rb": "\"a\rb\"",
		"=1+1": "'=1+1", "＝1+1": "'＝1+1", "＋1": "'＋1", "－1": "'－1", "＠SUM": "'＠SUM", "=a;b": `"'=a;b"`, "＝a;b": `"'＝a;b"`, "Łódź": "Łódź", "": "",
	} {
		got := string(appendCellText(nil, text))
		if got != want {
			t.Errorf("%q is written as %s, want %s", text, got, want)
		}
		cells, err := csv.NewReader(strings.NewReader("x," + got)).Read()
		if err != nil || unguarded(cells[1]) != text {
			t.Errorf("%q comes back as %q (%v)", text, cells, err)
		}
	}
}

func written[T any](t *rapid.T, l *Listing[T], f Format, page Page[T]) string {
	var text bytes.Buffer
	if err := l.Write(&text, f, page); err != nil {
		t.Fatal(err)
	}
	if !utf8.Valid(text.Bytes()) {
		t.Errorf("%s is not UTF-8: %q", f, text.Bytes())
	}
	return text.String()
}

func readJSON[T any](t *rapid.T, l *Listing[T], page Page[T]) (rows [][]string) {
	var body struct {
		Next, Previous *string
		Results        []map[string]any
	}
	decoder := json.NewDecoder(strings.NewReader(written(t, l, JSON, page)))
	decoder.UseNumber()
	if err := decoder.Decode(&body); err != nil {
		t.Fatal(err)
	}
	if body.Next == nil || *body.Next != page.Next || (body.Previous == nil) != (page.Previous == "") {
		t.Errorf("the addresses are %v and %v", body.Next, body.Previous)
	}
	for _, result := range body.Results {
		var row []string
		for _, column := range l.Columns {
			row = append(row, plain(result[column.Name]))
		}
		if len(result) != len(l.Columns) {
			t.Errorf("a record has %d fields", len(result))
		}
		rows = append(rows, row)
	}
	return rows
}

func plain(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	default:
		return ""
	}
}

// element is any XML element.
type element struct {
	XMLName  xml.Name
	Text     string    `xml:",chardata"`
	Children []element `xml:",any"`
}

func readXML[T any](t *rapid.T, l *Listing[T], page Page[T]) (rows [][]string) {
	var root element
	if err := xml.Unmarshal([]byte(written(t, l, XML, page)), &root); err != nil {
		t.Fatal(err)
	}
	parts := root.Children
	if root.XMLName.Local != "reconciliation" || len(parts) != 3 || parts[0].XMLName.Local != "next" ||
		parts[1].XMLName.Local != "previous" || parts[2].XMLName.Local != "results" {
		t.Fatalf("the elements are %v", parts)
	}
	if parts[0].Text != page.Next || parts[1].Text != page.Previous {
		t.Errorf("the addresses are %q and %q", parts[0].Text, parts[1].Text)
	}
	for _, result := range parts[2].Children {
		var row []string
		for i, field := range result.Children {
			if field.XMLName.Local != l.Columns[i].Name || result.XMLName.Local != l.Element {
				t.Errorf("there is a %s in a %s", field.XMLName.Local, result.XMLName.Local)
			}
			row = append(row, field.Text)
		}
		rows = append(rows, row)
	}
	return rows
}

func readCSV[T any](t *rapid.T, l *Listing[T], page Page[T]) [][]string {
	rows := parseCSV(written(t, l, CSV, page))
	for i, column := range l.Columns {
		if rows[0][i] != column.Name {
			t.Errorf("column %d is called %q", i, rows[0][i])
		}
	}
	for _, row := range rows {
		if len(row) != len(l.Columns) {
			t.Fatalf("a line has %d cells: %q", len(row), row)
		}
	}
	return rows[1:]
}

// parseCSV follows RFC 4180 to the letter: the reader of the standard library
// drops carriage returns within cells.
func parseCSV(text string) (rows [][]string) {
	var row []string
	for text != "" {
		var cell strings.Builder
		isQuoted := strings.HasPrefix(text, `"`)
		if isQuoted {
			for text = text[1:]; ; {
				before, after, _ := strings.Cut(text, `"`)
				cell.WriteString(before)
				text = after
				if !strings.HasPrefix(text, `"`) {
					break
				}
				cell.WriteByte('"')
				text = text[1:]
			}
		}
		end := strings.IndexAny(text, ",\r")
		cell.WriteString(text[:end])
		row = append(row, cell.String())
		if text[end] == ',' {
			text = text[end+1:]
			continue
		}
		rows, row = append(rows, row), nil
		text = strings.TrimPrefix(text[end:], "\r\n")
	}
	return rows
}

// TestXMLIsWellFormedToOthers asks a parser that many programs use.
func TestXMLIsWellFormedToOthers(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("xmllint")
	if err != nil {
		t.Skip("this test needs xmllint: make test installs libxml2-utils")
	}
	row := payment.Transaction{Currency: "EUR"}
	var page Page[payment.Transaction]
	for letter := rune(0); letter < 0x3000; letter++ {
		row.HolderName = "x" + string(letter) + "\ufffe\uffff]]>\xff&<"
		page.Rows = append(page.Rows, row)
	}
	for i := range 256 {
		row.HolderName = string([]byte{byte(i), 0xed, 0xa0, byte(i), 0xf4, 0x90})
		page.Rows = append(page.Rows, row)
	}
	var text bytes.Buffer
	if err := Transactions.Write(&text, XML, page); err != nil {
		t.Fatal(err)
	}
	check := exec.CommandContext(t.Context(), program, "--noout", "--huge", "-")
	check.Stdin = &text
	if output, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v: %.2000s", err, output)
	}
}

func TestNothingHiddenIsEverWritten(t *testing.T) {
	t.Parallel()
	hidden := strings.Fields(`raw_data import_error import_session origin_adapter_status origin_adapter_txn_type
		origin_adapter_cb_status origin_adapter_cb_type card_holder card_number card_brand adapter adapter_id remote_ip
		reference_transaction_id reference_transaction_type transition merchant terminal payment_details_token edit_history
		metadata error_reason billing_frequency_days iban_sealed tenant_id session_id bank_name`)
	for _, f := range []Format{JSON, XML, CSV} {
		var text bytes.Buffer
		err := errors.Join(Transactions.Write(&text, f, emptyRecords[payment.Transaction](1)),
			Chargebacks.Write(&text, f, emptyRecords[payment.Chargeback](1)),
			Subscriptions.Write(&text, f, emptyRecords[payment.Subscription](1)))
		if err != nil {
			t.Fatal(err)
		}
		words := strings.FieldsFunc(text.String(), func(c rune) bool { return (c < 'a' || c > 'z') && c != '_' })
		for _, word := range words {
			for _, name := range hidden {
				if word == name {
					t.Errorf("%s shows %s", f, name)
				}
			}
		}
		if len(words) < len(record.Transactions) {
			t.Errorf("%s shows hardly anything: %s", f, text.String())
		}
	}
}

func emptyRecords[T any](count int) Page[T] {
	return Page[T]{Listed: listing.Listed[T]{Rows: make([]T, count)}}
}

// deadWriter takes a few pieces and then is gone.
type deadWriter struct{ pieces int }

func (w *deadWriter) Write(piece []byte) (int, error) {
	if w.pieces++; w.pieces > 2 {
		return 0, io.ErrClosedPipe
	}
	return len(piece), nil
}

func TestWritingEndsWithItsReader(t *testing.T) {
	t.Parallel()
	page := emptyRecords[payment.Transaction](3000)
	for _, f := range []Format{JSON, XML, CSV} {
		gone := &deadWriter{}
		if err := Transactions.Write(gone, f, page); !errors.Is(err, io.ErrClosedPipe) || gone.pieces != 3 {
			t.Errorf("%s: %v after %d pieces", f, err, gone.pieces)
		}
	}
}
