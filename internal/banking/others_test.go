package banking_test

import (
	"strings"
	"testing"

	"sepad/internal/app/apptest"
	"sepad/internal/banking"
)

// debtor is what a bank says of the payer's account.
const debtor = `<RltdPties><DbtrAcct><Id><IBAN>` + otherName + `</IBAN></Id></DbtrAcct></RltdPties>`

// under gives a booking a mandate.
func under(mandate, file string) string {
	return strings.Replace(file, "</EndToEndId>", "</EndToEndId><MndtId>"+mandate+"</MndtId>", 1)
}

// A merchant's other program, or another gateway, may collect the same amount from the same payer to the same bank account: what names
// its mandate or its payment is never one of ours.
func TestWhatNamesSomebodyElsesDebitIsNoneOfOurs(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		paid := b.settled(t, otherName)[0]
		const none, old, mandate = "NOTPROVIDED", "RE-2026-0815", "ALT-77"
		back := debtor + `<RtrInf><Rsn><Cd>MD06</Cd></Rsn></RtrInf>`
		reference := `<OrgnlTxRef><Amt><InstdAmt Ccy="EUR">49.00</InstdAmt></Amt><MndtRltdInf><MndtId>` + mandate + `</MndtId></MndtRltdInf>
			<DbtrAcct><Id><IBAN>` + otherName + `</IBAN></Id></DbtrAcct></OrgnlTxRef>`
		for what, answer := range map[string]string{
			"a return with both":       under(mandate, booking("DBIT", "UPDD", "49.00", old, back)),
			"a return with a mandate":  under(mandate, booking("DBIT", "UPDD", "49.00", none, back)),
			"a return with a name":     booking("DBIT", "UPDD", "49.00", old, back),
			"a credit with both":       under(mandate, booking("CRDT", "ESDD", "49.00", old, debtor)),
			"a refusal with both":      refusal(old, "AM04", reference),
			"a refusal with a mandate": refusal(none, "AM04", reference),
		} {
			if counts := b.read(t, answer); counts != (banking.Counts{Unmatched: 1}) {
				t.Errorf("%s gives %+v", what, counts)
			}
			b.wantStatus(t, paid, "approved")
		}
		if counts := b.read(t, booking("DBIT", "UPDD", "49.00", none, back)); counts != (banking.Counts{Returned: 1}) {
			t.Errorf("a return with the account alone gives %+v", counts)
		}
	})
}
