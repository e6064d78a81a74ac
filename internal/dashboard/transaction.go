package dashboard

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"sepad/internal/checkout"
	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/store/listing"
)

var errNoAmount = errors.New("An amount is more than zero.")

const (
	refundPath     = "/dashboard/transactions/{id}/refund/"
	chargebackPath = "/dashboard/transactions/{id}/chargeback/"
)

func (d *Dashboard) transactionOwner(r *http.Request, id uuid.UUID) (uuid.UUID, error) {
	return d.Store.TransactionOwner(r.Context(), id)
}

// showTransaction answers GET /dashboard/transactions/{id}/.
func (d *Dashboard) showTransaction(w http.ResponseWriter, r *http.Request) error {
	tenantID, id, n, err := d.named(r, d.transactionOwner)
	if err != nil {
		return err
	}
	found, err := d.Store.Tenant(tenantID).Debit(r.Context(), id)
	if err != nil {
		return err
	}
	t := found.Transaction
	shown := objectView{
		List: "transactions", ListTitle: "Transactions", Title: t.MerchantTransactionID, Status: status(t.Status), Headline: t.AmountMinor.String() + " " + t.Currency,
		Facts: transactionFacts(t, n), Related: d.relatedTo(found),
	}
	switch {
	case t.InFlight() && t.Attempt.LookupCount > 0:
		shown.Note = "The gateway has not said what became of this payment. It is being asked; nothing is collected twice meanwhile."
	case t.RefundingMinor > 0:
		shown.Note = t.RefundingMinor.String() + " " + t.Currency + " are on their way back."
	}
	d.addMoneyActions(r, &shown, t, n)
	if shown.Timeline, err = d.told(r, tenantID, listing.Subject{TransactionID: id}); err != nil {
		return err
	}
	return d.page(w, r, "object", t.MerchantTransactionID, shown)
}

func transactionFacts(t payment.Transaction, n names) []fact {
	facts := []fact{
		{"Type", text(string(t.Type))},
		{"Account holder", text(t.HolderName)},
		{"Account", text(strings.TrimSpace(t.IBANCountry + " " + account(t.MaskedIBAN).Text))},
		{"Bank", text(t.BankName)},
		{"Email", text(t.Email)},
		{"Gateway", text(n.of(t.GatewayID))},
		{"Gateway's reference", text(t.GatewayReference)},
		{"Source", text(string(t.Source))},
		{"Created", when(t.CreatedAt)},
		{"Processed", when(t.ProcessedAt)},
		{"Collected on", text(t.DueDate.String())},
		{"Tenant", text(n.of(t.TenantID))},
	}
	if t.TenantReferenceID != nil {
		facts = append(facts, fact{"Merchant's reference", text(*t.TenantReferenceID)})
	}
	if t.RefundedMinor > 0 {
		facts = append(facts, fact{"Refunded", money(t.RefundedMinor, t.Currency)}, fact{"Left", money(t.RefundableMinor(), t.Currency)})
	}
	if t.Decline != nil {
		facts = append(facts, fact{"Declined", text(string(t.Decline.Code) + ": " + t.Decline.Words())}, fact{"Gateway said", text(t.Decline.GatewayCode + " " + t.Decline.GatewayMessage)})
	}
	return said(facts)
}

// said are facts that say something.
func said(facts []fact) []fact {
	return slices.DeleteFunc(facts, func(f fact) bool { return f.At.IsZero() && (f.Text == "" || f.Text == " ") })
}

// relatedTo are what belongs to a payment.
func (d *Dashboard) relatedTo(p payment.Debit) (related []fact) {
	t := p.Transaction
	if p.Order != nil {
		related = append(related, fact{"Order", cell{Text: p.Order.Number + " (" + string(p.Order.Status) + ")", Href: "/dashboard/transactions/?q=" + p.Order.Number}})
	}
	if t.SessionID != nil {
		related = append(related, fact{"Session", to("sessions", *t.SessionID, "Session")})
	}
	if t.SubscriptionID != nil {
		related = append(related, fact{"Subscription", to("subscriptions", *t.SubscriptionID, "Subscription")})
	}
	if t.LeadID != nil {
		related = append(related, fact{"Payer", to("leads", *t.LeadID, "Payer")})
	}
	if t.MandateReference != "" {
		related = append(related, fact{"Mandate", cell{Text: t.MandateReference, Href: "/dashboard/mandates/" + t.MandateReference + "/"}})
	}
	if t.RefundOf != nil {
		related = append(related, fact{"Refund of", to("transactions", *t.RefundOf, "Payment")})
	}
	if t.IsChargedBack() {
		related = append(related, fact{"Chargeback", cell{Text: "Chargeback", Href: "/dashboard/chargebacks/?transaction_id=" + t.ID.String()}})
	}
	return append(related, fact{"Events", cell{Text: "Events", Href: "/dashboard/events/?q=" + t.ID.String()}})
}

// whom names a payer to somebody who is about to do something to them.
func whom(t payment.Transaction) string {
	name := t.HolderName
	if name == "" {
		name = "the payer"
	}
	if t.MaskedIBAN != "" {
		name += ", account ending in " + t.IBANLast4()
	}
	return name
}

func (d *Dashboard) addMoneyActions(r *http.Request, shown *objectView, t payment.Transaction, n names) {
	path := "/dashboard/transactions/" + t.ID.String() + "/"
	if left := t.RefundableMinor(); left > 0 {
		sum := left.String() + " " + t.Currency
		shown.add(r, refundPath, action{
			Title: "Refund", Path: path + "refund/", Button: "Refund", Sure: "Give the money back to " + whom(t) + "?",
			Sentence: "Gives money back to " + whom(t) + ", through " + n.of(t.GatewayID) + ". " + sum + " of " + t.AmountMinor.String() + " " + t.Currency +
				" are left to refund. It cannot be taken back, and the merchant is told by an event.",
			Fields: []field{{Name: "amount", Label: "Amount in " + t.Currency, Value: left.String(), Hint: "At most " + sum + ".", Kind: "amount", Required: true}},
			Seen:   left.String(),
		})
	}
	if t.MayComeBack() {
		shown.add(r, chargebackPath, action{
			Title: "Record a chargeback", Path: path + "chargeback/", Button: "Record the chargeback", IsDanger: true,
			Sure: "Record that the bank took back the money of " + whom(t) + "?",
			Sentence: "Records that the bank of " + whom(t) + " has taken " + t.AmountMinor.String() + " " + t.Currency +
				" back, where no file or notification says so. The payment becomes charged_back; what becomes of a subscription follows from the reason code. The merchant is told by an event.",
			Fields: []field{
				{Name: "reason_code", Label: "Reason code", Hint: "Such as MD06: the payer took it back.", Required: true},
				{Name: "report_date", Label: "Reported on", Kind: "date"},
			},
		})
	}
}

// refund answers POST /dashboard/transactions/{id}/refund/.
func (d *Dashboard) refund(w http.ResponseWriter, r *http.Request) error {
	if _, err := readForm(w, r); err != nil {
		return err
	}
	tenantID, id, _, err := d.named(r, d.transactionOwner)
	if err != nil {
		return err
	}
	bad := payment.Fields{}
	amount, left := amountOf(r, "amount", bad), amountOf(r, "seen", bad)
	if amount == nil && len(bad) == 0 {
		bad.Add("amount", errNoAmount.Error()) // left out it would be all that is left
	}
	if err := bad.Err(); err != nil {
		return err
	}
	refund, err := d.Checkout.Refund(r.Context(), tenantID, id, checkout.RefundRequest{AmountMinor: amount, LeftMinor: left}, d.requestKey(r))
	if err != nil {
		return err
	}
	done := "The refund of " + refund.AmountMinor.String() + " " + refund.Currency + " is " + string(refund.Status) + "."
	return d.redirect(w, r, "/dashboard/transactions/"+id.String()+"/", done)
}

// chargeBack answers POST /dashboard/transactions/{id}/chargeback/.
func (d *Dashboard) chargeBack(w http.ResponseWriter, r *http.Request) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	tenantID, id, _, err := d.named(r, d.transactionOwner)
	if err != nil {
		return err
	}
	const longest = 500
	bad := payment.Fields{}
	report := payment.Chargeback{Source: payment.ChargebackManual, ReasonCode: form.Get("reason_code"), ReportedAt: readDay("report_date", form.Get("report_date"), bad)}
	if len(report.ReasonCode) > longest {
		bad.Add("reason_code", "A reason code has at most 500 characters.")
	}
	if report.ReasonCode != "" {
		report.ReasonMessage = sepa.ReasonFor(report.ReasonCode).Meaning
	}
	if err := bad.Err(); err != nil {
		return err
	}
	recorded, err := d.Checkout.ChargeBack(r.Context(), tenantID, id, report, d.requestKey(r))
	if err != nil {
		return err
	}
	return d.redirect(w, r, "/dashboard/chargebacks/"+recorded.ID.String()+"/", "The chargeback is recorded.")
}
