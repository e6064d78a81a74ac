package iso20022_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sepad/internal/iso20022"
	"sepad/internal/iso20022/iso20022test"
)

// hostileText is what people, and people who try, put into names: any characters at all.
func hostileText(t *rapid.T, label string) string {
	return rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`[\pL\pM\pN\pP\pS\pZ\pC]{0,200}`),
		rapid.SampledFrom([]string{
			"", " ", "]]>", "<Nm>x</Nm>", "&amp;", "&#0;", "<!--", "\x00", "\xff\xfe", "' OR 1=1", "//", "/", "李明", "🎉", "Ω", "\u202eabc",
			"A\u0308\u0308\u0308", "ﷺ", "ﬃ", "İ", "ǅ", "ß", "NOTPROVIDED",
		}),
	).Draw(t, label)
}

// TestHostileCollections writes 10,000 collections of hostile names, amounts and dates in each version: whatever has no
// fatal fault makes a file that keeps to the schema, and nothing else gets in.
func TestHostileCollections(t *testing.T) {
	t.Parallel()
	const perFile, files = 2500, 4
	for _, format := range iso20022.DebitFormats {
		for file := range files {
			t.Run(fmt.Sprintf("%s, file %d", format, file+1), func(t *testing.T) {
				t.Parallel()
				var debits []*iso20022.Debit
				for i := range perFile {
					debit := rapid.Custom(hostileDebit).Example(file*perFile + i)
					debit.EndToEndID = fmt.Sprintf("E2E-%d-%d", file, i)
					if isWritable(debit) {
						debits = append(debits, debit)
					}
				}
				if len(debits) < perFile/10 {
					t.Fatalf("only %d of %d can be written: the test is about nothing", len(debits), perFile)
				}
				message := write(t, format, debits[:len(debits)/2], debits[len(debits)/2:])
				iso20022test.Validate(t, string(format), message)
				if count := bytes.Count(message, []byte("<EndToEndId>")); count != len(debits) {
					t.Errorf("%d of %d are in the file", count, len(debits))
				}
			})
		}
	}
}

func isWritable(debit *iso20022.Debit) bool {
	for _, fault := range debit.Faults(writtenAt) {
		if fault.Fatal {
			return false
		}
	}
	return true
}

func hostileDebit(t *rapid.T) *iso20022.Debit {
	debit := someDebit()
	debit.AmountMinor = rapid.OneOf(rapid.Int64Range(1, iso20022.MaxAmountMinor), rapid.Just(int64(1)), rapid.Just(int64(iso20022.MaxAmountMinor)),
		rapid.Int64()).Draw(t, "amount")
	debit.Debtor.Name = hostileText(t, "name")
	debit.Remittance = hostileText(t, "remittance")
	debit.Mandate.SignedDate = rapid.OneOf(
		rapid.Just(day("2026-11-14")), rapid.Just(day("2024-02-29")),
		rapid.Map(rapid.Int64Range(-62135596800, 253402300799), func(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }),
	).Draw(t, "signed")
	if rapid.Bool().Draw(t, "has address") {
		debit.Debtor.Address = iso20022.Address{
			Street: hostileText(t, "street"), Building: hostileText(t, "building"), PostCode: hostileText(t, "post code"),
			Town: hostileText(t, "town"), Country: rapid.SampledFrom([]string{"DE", "CH", "", "d1"}).Draw(t, "country"),
		}
	}
	if rapid.Bool().Draw(t, "is amended") {
		debit.Mandate.Amendment = &iso20022.Amendment{
			OriginalReference:    rapid.SampledFrom([]string{"", "OLD", "//", "a b"}).Draw(t, "original"),
			OriginalCreditorName: hostileText(t, "original creditor"), NewAccount: rapid.Bool().Draw(t, "new account"),
		}
	}
	return debit
}
