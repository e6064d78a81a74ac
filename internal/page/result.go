package page

import (
	"cmp"
	"encoding/json"
	"net/url"
	"time"

	"sepad/internal/merchant"
	"sepad/internal/payment"
)

// tone chooses the icon of a result; its sentence says the same in words.
type tone string

const (
	toneGood    tone = "good"
	toneWait    tone = "wait"
	toneBad     tone = "bad"
	toneNeutral tone = "neutral"
)

// resultView is one icon, one sentence, a receipt, one next step.
type resultView struct {
	Tone  tone
	Title string
	Text  string
	// More is a second paragraph, the merchant's own or ours; Slow is what
	// takes its place while a gateway takes its time, as JSON for the script.
	More, Slow string
	Facts      []fact
	// HasMandate offers the mandate to print or save.
	HasMandate bool
	// Ways lead on, the first as the main button.
	Ways []way
	// Retry offers to load the page again.
	Retry bool
	// BankURL is where the payer confirms a mandate; Unconfirmed tells that
	// the bank knew nothing of it yet.
	BankURL     string
	Unconfirmed bool
	// Long tells that a gateway takes its time.
	Long bool
}

// result puts a stage that has no form into words.
func (v visit) result(at stage) *resultView {
	switch at {
	case stageProcessing:
		return v.processing()
	case stageVerify:
		return v.verification()
	case stagePaid, stagePending:
		return v.success(at)
	case stageFailed:
		return v.failure()
	}
	words := map[stage][2]string{
		stageRefunded:  {v.RefundedTitle, v.RefundedText},
		stageReturned:  {v.ReturnedTitle, v.ReturnedText},
		stageExpired:   {v.ExpiredTitle, v.ExpiredText},
		stageCancelled: {v.CancelledTitle, v.CancelledText},
	}[at]
	res := &resultView{Tone: toneNeutral, Title: words[0], Text: v.fillAttempt(words[1])}
	// What was refunded or returned was a payment all the same: the address
	// for failures is not where it belongs.
	if at == stageExpired || at == stageCancelled {
		v.lead(res, v.FailureRedirectURL(), v.BackTo)
	}
	if len(res.Ways) == 0 {
		v.offer(res, v.ownPages().Shop, v.BackTo)
	}
	return res
}

// A gateway that takes longer than slow is spoken of, and again after slower.
const (
	slow   = 5 * time.Second
	slower = 15 * time.Second
)

// processing asks for patience, and says more the longer it takes.
func (v visit) processing() *resultView {
	res := &resultView{Tone: toneWait, Title: v.ProcessingTitle, Text: v.ProcessingText, Retry: true}
	longer := fill(v.ProcessingLonger, "merchant", v.Tenant.Name)
	switch taken := v.now.Sub(v.last.Transaction.CreatedAt); {
	case taken >= slower || v.last.Transaction.Attempt.LookupCount > 0:
		res.Long, res.More = true, longer
	default:
		words, _ := json.Marshal([]string{v.ProcessingLong, longer}) // texts can always be written
		res.Slow = string(words)
		if taken >= slow {
			res.More = v.ProcessingLong
		}
	}
	return res
}

// verification names the shop and the amount before it sends anyone anywhere.
func (v visit) verification() *resultView {
	text := v.VerifyText
	if v.last.Transaction.Type == payment.Mandate {
		text = v.VerifyTrial
	}
	return &resultView{Tone: toneWait, Title: v.VerifyTitle, Text: v.fillAttempt(text), BankURL: webAddress(&v.last.Transaction.VerificationURL)}
}

// success thanks, and is the receipt: what was bought, from which account it
// is debited, when, and what the bank statement will say.
func (v visit) success(at stage) *resultView {
	res := &resultView{Tone: toneGood, Title: v.PaidTitle, Text: v.PaidText, More: v.content("success_text"), HasMandate: true}
	switch {
	case v.last.Transaction.Type == payment.Mandate:
		res.Title, res.Text = v.TrialTitle, v.TrialText
	case at == stagePending:
		res.Title, res.Text = v.PendingTitle, v.PendingText
	}
	res.Text, res.Facts = v.fillAttempt(res.Text), v.receipt(at)
	v.lead(res, v.SuccessRedirectURL(), v.Continue)
	if len(res.Ways) == 0 {
		v.offer(res, v.ownPages().Shop, v.BackTo)
	}
	return res
}

func (v visit) receipt(at stage) (facts []fact) {
	t := v.last.Transaction
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, fact{name, value})
		}
	}
	if v.showsName() {
		add(v.Product, v.product())
	}
	if t.Type != payment.Mandate {
		add(v.texts.Amount, v.money(t.AmountMinor))
	}
	add(v.Account, v.accountWords())
	if t.Type != payment.Mandate {
		add(v.DebitDate, v.Date(v.debitOf(at)))
	}
	if s := v.last.Subscription; s != nil && !s.NextBillingDate.IsZero() {
		add(v.NextPayment, v.Money(s.AmountMinor, s.Currency)+", "+v.Date(s.NextBillingDate.DueDate()))
	}
	add(v.Statement, v.Gateway.Descriptor)
	add(v.Reference, v.Session.MandateReference)
	add(v.Identifier, v.Tenant.Creditor.Identifier)
	add(v.OrderNo, v.last.Order.Number)
	return facts
}

// accountWords are "Commerzbank •••• 3000".
func (v visit) accountWords() string {
	t := v.last.Transaction
	return cmp.Or(readableName(t.BankName), t.IBANCountry) + " •••• " + t.IBANLast4()
}

// debitOf is the day on which the payment is debited, as far as it is known.
func (v visit) debitOf(at stage) payment.Date {
	t := v.last.Transaction
	switch {
	case !t.DueDate.IsZero():
		return t.DueDate
	case at == stagePending && !t.SettleDueAt.IsZero():
		return payment.DateOf(t.SettleDueAt).DueDate()
	default:
		return payment.DateOf(t.CreatedAt).AddDays(1).DueDate()
	}
}

// failure says why, in human words, that it is over, and where to go from here.
func (v visit) failure() *resultView {
	res := &resultView{Tone: toneBad, Title: v.FailedTitle, Text: v.FailedText, More: v.content("failure_text")}
	if d := v.last.Transaction.Decline; d != nil {
		res.Text = v.decline(d.Code).What + " " + v.FailedText
	}
	// What a payer still wants is to pay.
	v.offer(res, v.ownPages().OtherPayment, v.texts.OtherPayment)
	before := len(res.Ways)
	if v.lead(res, v.FailureRedirectURL(), v.BackTo); len(res.Ways) == before {
		v.offer(res, v.ownPages().Shop, v.BackTo)
	}
	return res
}

// ownPages are the merchant's, none where no hosted page names them.
func (v visit) ownPages() merchant.Links {
	if v.Page == nil {
		return merchant.Links{}
	}
	return v.Page.Links
}

// fillAttempt puts the attempt's amount and account into a sentence.
func (v visit) fillAttempt(text string) string {
	pairs := []string{"merchant", v.Tenant.Name}
	if v.last != nil {
		pairs = append(pairs, "amount", v.money(v.last.Transaction.AmountMinor), "last4", v.last.Transaction.IBANLast4())
	}
	return fill(text, pairs...)
}

// lead offers a way on that is told which session it was.
func (v visit) lead(res *resultView, address *string, label string) {
	if address == nil {
		return
	}
	if target := withQuery(*address, "session_token", v.Session.Token); target != "" {
		res.Ways = append(res.Ways, way{fill(label, "merchant", v.Tenant.Name), target})
	}
}

// offer offers a page of the merchant's that need not know.
func (v visit) offer(res *resultView, address *string, label string) {
	if target := webAddress(address); target != "" {
		res.Ways = append(res.Ways, way{fill(label, "merchant", v.Tenant.Name), target})
	}
}

// withQuery adds pairs of names and texts to a merchant's address, and nothing else.
func withQuery(address string, pairs ...string) string {
	target, err := url.Parse(address)
	if err != nil || target.Scheme != "https" && target.Scheme != "http" || target.Host == "" {
		return ""
	}
	for i := 0; i < len(pairs); i += 2 {
		added := pairs[i] + "=" + url.QueryEscape(pairs[i+1])
		if target.RawQuery != "" {
			added = target.RawQuery + "&" + added
		}
		target.RawQuery = added
	}
	return target.String()
}
