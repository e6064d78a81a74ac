package playedbank_test

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"sepad/internal/gateway/bank/playedbank"
	"sepad/internal/gateway/sandbox"
	"sepad/internal/iso20022"
	"sepad/internal/iso20022/iso20022test"
	"sepad/internal/sepa"
)

// The bank's reader and writer are its own; what is sent to it, and what is made of its answers, is ours.

var writtenAt = time.Date(2026, 11, 16, 9, 30, 0, 0, time.UTC) // a Monday

func date(text string) time.Time {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err)
	}
	return day
}

func account(text string) sepa.IBAN {
	iban, err := sepa.ParseIBAN(text)
	if err != nil {
		panic(err)
	}
	return iban
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var creditor = iso20022.Creditor{
	Party:      iso20022.Party{Name: "Müller & Söhne GmbH", Account: account("DE89370400440532013000")},
	Identifier: "DE98ZZZ09999999999", NameWithIdentifier: true,
}

// order writes one collection from every test account, in two blocks.
func order(t testing.TB, format iso20022.Format, batchBooking bool) []byte {
	t.Helper()
	var debits []*iso20022.Debit
	for i, test := range sandbox.TestIBANs() {
		debits = append(debits, &iso20022.Debit{
			EndToEndID: fmt.Sprintf("TXN-20261116-%08d", i), AmountMinor: int64(1000 + i),
			Mandate:    iso20022.Mandate{Reference: fmt.Sprintf("MND-%012d", i), SignedDate: date("2026-10-01")},
			Debtor:     iso20022.Party{Name: "Jürgen Größe", Account: account(test.IBAN)},
			Remittance: "MY SHOP Prämium ORD-12345678",
		})
	}
	half := len(debits) / 2
	return write(t, format, batchBooking, debits[:half], debits[half:])
}

func write(t testing.TB, format iso20022.Format, batchBooking bool, blocks ...[]*iso20022.Debit) []byte {
	t.Helper()
	var out bytes.Buffer
	header := iso20022.Header{MessageID: "SEPAD-20261116-0001", CreatedAt: writtenAt, Initiator: creditor.Name}
	sums := make([]int64, len(blocks))
	for i, block := range blocks {
		for _, debit := range block {
			header.Count++
			header.SumMinor += debit.AmountMinor
			sums[i] += debit.AmountMinor
		}
	}
	message, err := iso20022.NewDebits(&out, format, header)
	must(t, err)
	for i, block := range blocks {
		must(t, message.Block(&iso20022.DebitBlock{
			ID: fmt.Sprintf("SEPAD-20261116-0001-%d", i+1), DueDate: date("2026-11-18"), Sequence: []string{"OOFF", "RCUR"}[i%2],
			BatchBooking: batchBooking, Creditor: creditor, Count: len(block), SumMinor: sums[i],
		}))
		for _, debit := range block {
			must(t, message.Add(debit))
		}
	}
	must(t, message.Close())
	return out.Bytes()
}

// understood is what our reader makes of the bank's answers.
type understood struct {
	rejected  map[string]string // reason by end-to-end id
	returned  map[string]string // reason by mandate or end-to-end id
	collected int64
	charges   int64
	balance   int64
}

func read(t testing.TB, files []playedbank.File) understood {
	t.Helper()
	u := understood{rejected: map[string]string{}, returned: map[string]string{}}
	var notices []string
	for _, file := range files {
		err := iso20022.Read(bytes.NewReader(file.Content), iso20022.Visitor{
			Status: func(s *iso20022.Status) error {
				if s.Level == iso20022.OfPayment && s.Verdict == iso20022.Rejected {
					u.rejected[s.EndToEndID] = s.Reason.Code + s.Reason.Given
				}
				return nil
			},
			Statement: func(s *iso20022.Statement) error {
				for _, balance := range s.Balances {
					if balance.Type == "CLBD" {
						u.balance += balance.Minor
					}
				}
				return nil
			},
			Entry: func(e *iso20022.Entry) error {
				if e.Statement.Kind == iso20022.Notification {
					notices = append(notices, e.Lines[0].EndToEndID)
					return nil
				}
				u.take(t, e)
				return nil
			},
		})
		must(t, err)
	}
	for _, id := range notices {
		if u.returned[id] == "" {
			t.Errorf("%s is in a notice and not in a statement", id)
		}
	}
	return u
}

func (u *understood) take(t testing.TB, e *iso20022.Entry) {
	t.Helper()
	if e.Problem != "" || e.IsUnexplained || !e.IsBooked {
		t.Errorf("entry %d of %s is not understood: %+v", e.Index, e.Statement.ID, e)
	}
	for _, line := range e.Lines {
		switch line.Kind {
		case iso20022.Collected:
			u.collected += line.AmountMinor
		case iso20022.Returned:
			u.collected -= line.AmountMinor
			u.charges += line.ChargesMinor
			id := line.EndToEndID
			if id == "" {
				id = strings.Replace(line.MandateReference, "MND-0000", "TXN-20261116-", 1)
			}
			u.returned[id] = line.Reason.Code
		default:
			t.Errorf("a line of %s is %s", e.Statement.ID, line.Kind)
		}
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, shape := range playedbank.Shapes {
		for _, format := range iso20022.DebitFormats {
			for _, batch := range []bool{true, false} {
				t.Run(fmt.Sprintf("a %s bank answers %s, batch booking %t, and is understood to the cent", shape, format, batch), func(t *testing.T) {
					t.Parallel()
					taken, err := playedbank.Take(order(t, format, batch), playedbank.Limits{})
					must(t, err)
					files, err := playedbank.Answers(taken, shape, date("2026-12-31"))
					must(t, err)
					checkAnswers(t, shape, files)
				})
			}
		}
	}
}

// wanted says what each test account must lead to: a reason before settlement, or after it.
var wanted = map[sandbox.Outcome]struct{ rejected, returned string }{
	sandbox.DeclinedInsufficientFunds: {"AM04", ""}, sandbox.DeclinedInvalidIBAN: {"AC01", ""},
	sandbox.DeclinedMandateRejected: {"MD01", ""}, sandbox.DeclinedAccountClosed: {"AC04", ""},
	sandbox.DeclinedDoNotHonor: {"MS03", ""}, sandbox.DeclinedUnknown: {"NARR", ""}, sandbox.DeclinedFinal: {"FRAD", ""},
	sandbox.PendingDeclined: {"", "AM04"}, sandbox.Chargeback: {"", "MD06"},
	sandbox.ReturnedInsufficientFunds: {"", "AM04"}, sandbox.ReturnedMandateRejected: {"", "MD01"}, sandbox.ReturnedAccountClosed: {"", "AC04"},
	sandbox.RebillDeclinedOnce: {"", "AM04"}, sandbox.RebillDeclined: {"", "AM04"}, sandbox.RebillAccountClosed: {"", "AC04"},
}

func checkAnswers(t *testing.T, shape playedbank.Shape, files []playedbank.File) {
	t.Helper()
	u := read(t, files)
	var collected, returns int64
	for i, test := range sandbox.TestIBANs() {
		id, want := fmt.Sprintf("TXN-20261116-%08d", i), wanted[test.Outcome]
		if u.rejected[id] != want.rejected || u.returned[id] != want.returned {
			t.Errorf("%s: want %q before and %q after settlement, got %q and %q", test.Outcome, want.rejected, want.returned, u.rejected[id], u.returned[id])
		}
		if want.rejected == "" && want.returned == "" {
			collected += int64(1000 + i)
		}
		if want.returned != "" {
			returns++
		}
	}
	if u.collected != collected {
		t.Errorf("collected %d, want %d", u.collected, collected)
	}
	charges := map[playedbank.Shape]int64{playedbank.German: 300, playedbank.Swiss: 70}[shape]
	if u.charges != returns*charges {
		t.Errorf("charges %d, want %d", u.charges, returns*charges)
	}
	inside := int64(0)
	if shape == playedbank.German {
		inside = u.charges
	}
	if u.balance != collected-inside {
		t.Errorf("the statements end with %d, the bookings with %d", u.balance, collected-inside)
	}
	for _, file := range files {
		validate(t, file)
	}
}

var version = regexp.MustCompile(`xmlns="urn:iso:std:iso:20022:tech:xsd:((?:camt|pain)[.0-9]+)"`)

// validate holds an answer against its schema where there is an official one.
func validate(t *testing.T, file playedbank.File) {
	t.Helper()
	match := version.FindSubmatch(file.Content)
	if match == nil || string(match[1]) == "pain.002.001.03" {
		return
	}
	iso20022test.Validate(t, string(match[1]), file.Content)
}

func TestAnswersComeInTime(t *testing.T) {
	t.Parallel()
	taken, err := playedbank.Take(order(t, iso20022.Debits08, true), playedbank.Limits{})
	must(t, err)
	for _, example := range []struct {
		until string
		files int
	}{{"2026-11-16", 1}, {"2026-11-18", 2}, {"2026-11-19", 3}, {"2026-11-20", 4}, {"2026-11-22", 4}, {"2026-11-23", 5}} {
		files, err := playedbank.Answers(taken, playedbank.Plain, date(example.until))
		must(t, err)
		if len(files) != example.files {
			t.Errorf("until %s there are %d answers, want %d", example.until, len(files), example.files)
		}
	}
	if _, err := playedbank.Answers(taken, "martian", writtenAt); !errors.Is(err, playedbank.ErrNoShape) {
		t.Errorf("an unknown shape gives %v", err)
	}
}

func TestTake(t *testing.T) {
	t.Parallel()
	good := string(order(t, iso20022.Debits08, true))
	for _, example := range []struct {
		name, code string
		file       string
		limits     playedbank.Limits
	}{
		{"another version is refused", "FF01", strings.Replace(good, "pain.008.001.08", "pain.008.001.11", 1), playedbank.Limits{}},
		{"what is no XML is refused", "FF01", good[:500], playedbank.Limits{}},
		{"a wrong control sum is refused", "AM10", regexp.MustCompile(`<CtrlSum>\d+`).ReplaceAllString(good, "<CtrlSum>1"), playedbank.Limits{}},
		{"a wrong count is refused", "AM18", strings.Replace(good, "<NbOfTxs>", "<NbOfTxs>1", 1), playedbank.Limits{}},
		{"an id that comes twice is refused", "AM05", strings.Replace(good, "TXN-20261116-00000001", "TXN-20261116-00000000", 1), playedbank.Limits{}},
		{"characters outside the scheme are refused", "FF10", strings.Replace(good, "Juergen", "Jürgen", 1), playedbank.Limits{}},
		{"a due date on a Sunday is refused", "DT01", strings.ReplaceAll(good, "2026-11-18", "2026-11-22"), playedbank.Limits{}},
		{"a due date on Christmas is refused", "DT01", strings.ReplaceAll(good, "2026-11-18", "2026-12-25"), playedbank.Limits{}},
		{"a due date of today is refused", "DT01", strings.ReplaceAll(good, "2026-11-18", "2026-11-16"), playedbank.Limits{}},
		{"a name beside the identifier is refused where the bank does not want it", "FF01", good, playedbank.Limits{RefuseSchemeName: true}},
		{"too many collections are refused", "AM13", good, playedbank.Limits{Entries: 5}},
		{"too many bytes are refused", "FF01", good, playedbank.Limits{Bytes: 1000}},
		{"two due dates are refused where the bank wants one", "DT01", strings.Replace(good, "2026-11-18", "2026-11-19", 1), playedbank.Limits{OneDueDate: true}},
	} {
		t.Run(example.name, func(t *testing.T) {
			t.Parallel()
			_, err := playedbank.Take([]byte(example.file), example.limits)
			refusal, isRefusal := errors.AsType[*playedbank.Refusal](err)
			if !isRefusal || refusal.Code != example.code {
				t.Fatalf("want %s, got %v", example.code, err)
			}
			file := playedbank.Refuse(refusal, playedbank.Plain, writtenAt)
			validate(t, file)
			if !bytes.Contains(file.Content, []byte("<GrpSts>RJCT</GrpSts>")) {
				t.Errorf("the report does not refuse the file: %s", file.Content)
			}
		})
	}
	t.Run("a Swiss payer without an address is refused alone", func(t *testing.T) {
		t.Parallel()
		changed := strings.Replace(good, sandbox.TestIBANs()[0].IBAN+"</IBAN></Id></DbtrAcct>", "CH9300762011623852957</IBAN></Id></DbtrAcct>", 1)
		taken, err := playedbank.Take([]byte(changed), playedbank.Limits{})
		must(t, err)
		files, err := playedbank.Answers(taken, playedbank.Plain, writtenAt)
		must(t, err)
		if got := read(t, files).rejected["TXN-20261116-00000000"]; got != "BE04" {
			t.Errorf("got %q", got)
		}
	})
}
