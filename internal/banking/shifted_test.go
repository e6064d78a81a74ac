package banking_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/banking"
	"sepad/internal/sepa"
)

// credited books money that came: with the payment's name, or as that of a block.
func credited(references, batch string, on time.Time) string {
	return fmt.Sprintf(`<Document><BkToCstmrStmt><Stmt><Acct><Id><IBAN>DE89370400440532013000</IBAN></Id></Acct><Ntry><Amt Ccy="EUR">49.00</Amt><CdtDbtInd>CRDT</CdtDbtInd>
		<Sts>BOOK</Sts><BookgDt><Dt>%s</Dt></BookgDt><BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>IDDT</Cd><SubFmlyCd>ESDD</SubFmlyCd></Fmly></Domn></BkTxCd><NtryDtls>%s%s</NtryDtls></Ntry></Stmt>
		</BkToCstmrStmt></Document>`, on.Format(time.DateOnly), batch, references)
}

// A bank that gets a file late collects later than it was asked to, and what comes back is later by as much.
func TestWhatIsCollectedLaterComesBackLater(t *testing.T) {
	t.Parallel()
	byName := func(endToEndID, _ string, on time.Time) string {
		return credited("<TxDtls><Refs><EndToEndId>"+endToEndID+"</EndToEndId></Refs></TxDtls>", "", on)
	}
	byBlock := func(_, blockID string, on time.Time) string {
		return credited("", "<Btch><PmtInfId>"+blockID+"</PmtInfId><NbOfTxs>1</NbOfTxs></Btch>", on)
	}
	for how, late := range map[string]struct {
		credit   func(endToEndID, blockID string, on time.Time) string
		together bool
	}{
		"booked by name": {byName, false}, "booked with its block": {byBlock, false},
		"by name in the same file": {byName, true}, "with its block in the same file": {byBlock, true},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			apptest.Each(t, func(t *testing.T, s *apptest.Server) {
				b := setup(t, s)
				series := b.weeks(t, 1)[0]
				entry, err := b.App.Store.Tenant(b.account.Setup.Tenant.ID).BankEntry(t.Context(), series[1].ID)
				must(t, err)
				due := series[1].DueDate.Start()
				came := late.credit(entry.EndToEndID, entry.BlockID, sepa.AddBusinessDays(due, 4))
				back := anonymous("camt.053", series[1].MandateReference, "AM04", sepa.AddBusinessDays(due, 9))
				if want := (banking.Counts{Known: 1, Unmatched: 1}); late.together {
					_, entries, _ := strings.Cut(back, "</Acct>")
					entries, _, _ = strings.Cut(entries, "</Stmt>")
					if counts := b.read(t, strings.Replace(came, "</Ntry>", "</Ntry>"+entries, 1)); counts != want {
						t.Errorf("%+v", counts)
					}
				} else if first, then := b.read(t, came), b.read(t, back); first.Unmatched != 0 || then != (banking.Counts{Unmatched: 1}) {
					t.Errorf("%+v, then %+v", first, then)
				}
				b.wantStates(t, how, series, "approved approved pending")
			})
		})
	}
}
