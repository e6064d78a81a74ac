package playedbank

import (
	"time"

	"sepad/internal/gateway/sandbox"
	"sepad/internal/sepa"
)

// verdict is what becomes of one collection.
type verdict struct {
	// reject is the code of a refusal before any money moves, "" for none.
	reject string
	// giveBack is the code with which the money goes back after it was credited, "" for none.
	giveBack string
	// after is how many business days after the due date it goes back.
	after int
}

// verdicts is what the test accounts do at a bank. Whatever is refused by a gateway at once is refused here before the
// due date, in the status report; what is decided later comes back in statements. Rebills that are refused come back
// too: a bank does not see that a collection is the second of its kind, but it sees the sequence.
var verdicts = map[sandbox.Outcome]verdict{
	sandbox.DeclinedInsufficientFunds: {reject: "AM04"},
	sandbox.DeclinedInvalidIBAN:       {reject: "AC01"},
	sandbox.DeclinedMandateRejected:   {reject: "MD01"},
	sandbox.DeclinedAccountClosed:     {reject: "AC04"},
	sandbox.DeclinedDoNotHonor:        {reject: "MS03"},
	sandbox.DeclinedUnknown:           {reject: "NARR"},
	sandbox.DeclinedFinal:             {reject: "FRAD"},
	sandbox.PendingDeclined:           {giveBack: "AM04", after: 2},
	sandbox.Chargeback:                {giveBack: "MD06", after: 3},
	sandbox.ReturnedInsufficientFunds: {giveBack: "AM04", after: 3},
	sandbox.ReturnedMandateRejected:   {giveBack: "MD01", after: 3},
	sandbox.ReturnedAccountClosed:     {giveBack: "AC04", after: 3},
}

// onlyRebills are accounts that pay the first time.
var onlyRebills = map[sandbox.Outcome]verdict{
	sandbox.RebillDeclinedOnce:  {giveBack: "AM04", after: 1},
	sandbox.RebillDeclined:      {giveBack: "AM04", after: 1},
	sandbox.RebillAccountClosed: {giveBack: "AC04", after: 1},
}

var outcomes = testAccounts()

func testAccounts() map[string]sandbox.Outcome {
	accounts := map[string]sandbox.Outcome{}
	for _, test := range sandbox.TestIBANs() {
		accounts[test.IBAN] = test.Outcome
	}
	return accounts
}

// judge says what becomes of a collection.
func judge(b *Block, d *Debit) verdict {
	account, err := sepa.ParseIBAN(d.IBAN)
	if err != nil {
		return verdict{reject: "AC01"}
	}
	if needsAddress[account.Country()] && !d.HasAddress {
		return verdict{reject: "BE04"}
	}
	outcome := outcomes[d.IBAN]
	if v, listed := onlyRebills[outcome]; listed && b.Sequence == "RCUR" && b.Due.Sub(d.Signed) > 10*24*time.Hour {
		return v
	}
	return verdicts[outcome]
}

// needsAddress are countries whose banks want to know where the payer lives.
var needsAddress = map[string]bool{"CH": true, "GB": true, "MC": true, "SM": true, "AD": true, "VA": true, "GI": true}

// businessDaysAfter counts days on which money moves.
func businessDaysAfter(day time.Time, count int) time.Time {
	for range count {
		day = sepa.NextBusinessDay(day.AddDate(0, 0, 1))
	}
	return day
}
