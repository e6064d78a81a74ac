package page

import (
	"net/url"

	"sepad/internal/payment"
	"sepad/internal/sepa"
)

// tone chooses the icon of a result; its sentence says the same in words.
type tone string

const (
	toneGood    tone = "good"
	toneWait    tone = "wait"
	toneBad     tone = "bad"
	toneNeutral tone = "neutral"
)

// resultView is one icon, one sentence, one next step.
type resultView struct {
	Tone  tone
	Title string
	Text  string
	// More is a second paragraph, the merchant's own or ours.
	More  string
	Facts []fact
	// HasMandate offers the mandate to print or save.
	HasMandate bool
	// Next is where the merchant wants the payer to go on, "" for nowhere.
	Next, NextLabel string
	// Leaving tells that the browser goes there by itself.
	Leaving bool
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
func (v visit) result(at stage, stays bool) *resultView {
	switch at {
	case stageProcessing:
		return v.processing()
	case stageVerify:
		return &resultView{Tone: toneWait, Title: v.VerifyTitle, Text: v.VerifyText, BankURL: bankURL(v.last.Transaction)}
	case stagePaid, stagePending:
		return v.success(at, stays)
	case stageFailed:
		return v.failure(stays)
	}
	words := map[stage][2]string{
		stageRefunded:  {v.RefundedTitle, v.RefundedText},
		stageReturned:  {v.ReturnedTitle, v.ReturnedText},
		stageExpired:   {v.ExpiredTitle, v.ExpiredText},
		stageCancelled: {v.CancelledTitle, v.CancelledText},
	}[at]
	res := &resultView{Tone: toneNeutral, Title: words[0], Text: v.fillAttempt(words[1])}
	if v.Page != nil {
		v.lead(res, v.Page.FailureRedirectURL, v.BackTo)
	}
	return res
}

func (v visit) processing() *resultView {
	res := &resultView{Tone: toneWait, Title: v.ProcessingTitle, Text: v.ProcessingText, Retry: true}
	if v.last.Transaction.Attempt.LookupCount > 0 {
		res.Long, res.More = true, fill(v.ProcessingLong, "merchant", v.Tenant.Name)
	}
	return res
}

// success thanks, and says what will be seen on the account and when.
func (v visit) success(at stage, stays bool) *resultView {
	t := v.last.Transaction
	res := &resultView{Tone: toneGood, Title: v.PaidTitle, Text: v.PaidText, More: v.content("success_text"), HasMandate: true}
	switch {
	case t.Type == payment.Mandate:
		res.Title, res.Text = v.TrialTitle, v.TrialText
	case at == stagePending:
		res.Title, res.Text = v.PendingTitle, v.PendingText
		if !t.SettleDueAt.IsZero() {
			res.Facts = append(res.Facts, fact{v.PendingDate, v.day(payment.DateOf(sepa.NextBusinessDay(t.SettleDueAt)))})
		}
	}
	res.Text = v.fillAttempt(res.Text)
	if v.Gateway.Descriptor != "" {
		res.Facts = append(res.Facts, fact{v.Statement, v.Gateway.Descriptor})
	}
	if s := v.last.Subscription; s != nil && !s.NextBillingDate.IsZero() {
		res.Facts = append(res.Facts, fact{v.NextPayment, v.amount(s.AmountMinor, s.Currency) + ", " + v.day(s.NextBillingDate)})
	}
	res.Facts = append(res.Facts, fact{v.OrderNo, v.last.Order.Number})
	if v.Page != nil {
		v.lead(res, v.Page.SuccessRedirectURL, v.Continue)
		res.Leaving = res.Next != "" && !stays
	}
	return res
}

// failure says why, in human words, and that it is over.
func (v visit) failure(stays bool) *resultView {
	res := &resultView{Tone: toneBad, Title: v.FailedTitle, Text: v.FailedText, More: v.content("failure_text")}
	if d := v.last.Transaction.Decline; d != nil {
		res.Text = v.decline(d.Code).What + " " + v.FailedText
	}
	if v.Page != nil {
		v.lead(res, v.Page.FailureRedirectURL, v.Continue)
		res.Leaving = res.Next != "" && !stays && v.Session.HasFailed()
	}
	return res
}

// fillAttempt puts the attempt's amount and account into a sentence.
func (v visit) fillAttempt(text string) string {
	pairs := []string{"merchant", v.Tenant.Name}
	if v.last != nil {
		pairs = append(pairs, "amount", v.money(v.last.Transaction.AmountMinor), "last4", v.last.Transaction.IBANLast4())
	}
	return fill(text, pairs...)
}

// lead sets the next step, if the merchant has named one.
func (v visit) lead(res *resultView, address *string, label string) {
	if address == nil {
		return
	}
	if res.Next = withToken(*address, v.Session.Token); res.Next != "" {
		res.NextLabel = fill(label, "merchant", v.Tenant.Name)
	}
}

// withToken adds the session's token to a merchant's address, and nothing else.
func withToken(address, token string) string {
	target, err := url.Parse(address)
	if err != nil || target.Scheme != "https" && target.Scheme != "http" || target.Host == "" {
		return ""
	}
	added := "session_token=" + url.QueryEscape(token)
	if target.RawQuery != "" {
		added = target.RawQuery + "&" + added
	}
	target.RawQuery = added
	return target.String()
}

// bankURL is where a gateway sends the payer, if a browser can be sent there.
func bankURL(t payment.Transaction) string {
	target, err := url.Parse(t.VerificationURL)
	if err != nil || target.Scheme != "https" && target.Scheme != "http" || target.Host == "" {
		return ""
	}
	return target.String()
}
