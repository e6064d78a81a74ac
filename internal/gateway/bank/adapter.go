// Package bank is the gateway of merchants who collect through their own bank.
//
// It is a batch gateway: nothing is sent when a payment is made. A payment that a bank could take is pending until the
// next cut-off, when package banking puts it into a file; what became of it, the bank's answers say, or their absence.
// A payment that no bank would take is declined at once, so that nothing waits that can never be written.
package bank

import (
	"cmp"
	"context"
	"strings"
	"time"

	"sepad/internal/gateway"
	"sepad/internal/gateway/bank/terms"
	"sepad/internal/iso20022"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/sepa"
)

// Name is how the resource file calls this gateway.
const Name = "bank"

// Kind describes the gateway.
func Kind() gateway.Kind {
	return gateway.Kind{
		Name: Name, DisplayName: "Bank", Real: true, Batch: true, Currencies: []string{"EUR"}, Settings: terms.Settings,
		New: func(account gateway.Account, values gateway.Values) (gateway.Adapter, error) {
			read, err := terms.Read(account, values)
			if err != nil {
				return nil, err
			}
			return &Adapter{Terms: read}, nil
		},
	}
}

// Adapter is an account at a bank.
type Adapter struct{ Terms *terms.Terms }

// Submit takes a payment for the next file, or declines one that cannot be in any. A mandate alone needs no bank.
func (a *Adapter) Submit(_ context.Context, charge gateway.Charge) (payment.Outcome, error) {
	if charge.AmountMinor == 0 {
		return payment.Outcome{Verdict: payment.VerdictApproved}, nil
	}
	debit := Debit(charge)
	if decline, isRefused := refusal(debit.Faults(charge.At)); isRefused {
		return payment.Outcome{Verdict: payment.VerdictDeclined, Decline: decline}, nil
	}
	return a.waiting(charge.At), nil
}

// Refund takes a refund for the next file of credit transfers.
func (a *Adapter) Refund(_ context.Context, r gateway.Refund) (payment.Outcome, error) {
	return a.waiting(r.At), nil
}

// Stranded is the end of a refund that no file carries any more: the payer has taken the payment back meanwhile.
var Stranded = payment.Outcome{Verdict: payment.VerdictDeclined, Decline: payment.Decline{
	Code: payment.DeclineUnknown, Message: "The payer took the payment back before the refund was sent.",
}}

// Status says that a payment or a refund waits: for its file, or for what the bank says. Nobody can be asked.
func (a *Adapter) Status(_ context.Context, l gateway.Lookup) (payment.Outcome, error) {
	return a.waiting(l.At), nil
}

func (a *Adapter) waiting(at time.Time) payment.Outcome {
	return payment.Outcome{Verdict: payment.VerdictPending, SettlesAt: a.Terms.NextCutOff(at)}
}

// Plan says who collects a payment, and when.
func (a *Adapter) Plan(tenant merchant.Tenant, told time.Time, owedFrom payment.Date) payment.Plan {
	agreed, _ := a.Terms.For(tenant) // without a creditor nothing is written either
	return payment.Plan{
		DueDate:      payment.DateOf(agreed.DueAfter(told, owedFrom.Start())),
		CreditorName: agreed.Creditor.Name, CreditorIdentifier: agreed.Creditor.Identifier,
	}
}

// PreparesAt is when the rebills of a billing date are announced.
func (a *Adapter) PreparesAt(billing payment.Date) time.Time {
	return a.Terms.AnnouncesAt(billing.Start())
}

// PreparesUntil is the last billing date whose rebills are announced at an instant.
func (a *Adapter) PreparesUntil(at time.Time) payment.Date {
	return payment.DateOf(a.Terms.AnnouncesUntil(at))
}

// NoticeDays is how many days before a debit payers are told of it.
func (a *Adapter) NoticeDays() int { return a.Terms.NoticeDays }

// Inbox is where the bank's answers lie.
func (a *Adapter) Inbox() string { return a.Terms.Inbox() }

// Debit is a payment as a file has it.
func Debit(charge gateway.Charge) *iso20022.Debit {
	return &iso20022.Debit{
		EndToEndID: charge.MerchantTransactionID, AmountMinor: int64(charge.AmountMinor),
		Mandate: iso20022.Mandate{Reference: charge.MandateReference, SignedDate: charge.MandateAt},
		Debtor:  Debtor(charge.Instrument, charge.Lead),
	}
}

// Debtor is the payer as a file has it. Its address is told only where the scheme asks for it: what is not sent cannot
// be wrong.
func Debtor(instrument payment.Instrument, lead payment.Lead) iso20022.Party {
	name := cmp.Or(instrument.HolderName, strings.TrimSpace(lead.FirstName+" "+lead.LastName))
	party := iso20022.Party{Name: name, Account: instrument.IBAN, BIC: instrument.Bank.BIC}
	if sepa.NeedsPayerAddress(instrument.IBAN.Country()) {
		party.Address = iso20022.Address{Street: lead.Address, PostCode: lead.PostalCode, Town: lead.City, Country: lead.Country}
	}
	return party
}
