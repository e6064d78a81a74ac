package bankpage

import (
	"net/url"
	"strings"

	"sepad/internal/gateway/sandbox"
	"sepad/internal/payment"
)

// view is what the page shows.
type view struct {
	Heading  string
	Sentence string
	// Tone chooses the icon: "ask", "good" or "bad".
	Tone string
	// Merchant and below are empty when there is no payment to speak of.
	Merchant         string
	Amount           string
	MandateReference string
	// Undecided shows the two buttons.
	Undecided bool
	ReturnURL string
}

// entryView says how a payment stands.
func entryView(e sandbox.Entry) view {
	v := view{Merchant: e.MerchantName, Amount: amountWords(e), MandateReference: e.MandateReference, ReturnURL: returnURL(e)}
	switch e.State {
	case sandbox.StateApproved:
		v.Tone, v.Heading = "good", "Mandate approved"
		v.Sentence = "You have allowed " + e.MerchantName + " to collect by direct debit."
	case sandbox.StateDeclined:
		v.Tone, v.Heading = "bad", "Mandate rejected"
		v.Sentence = "Nothing is collected from your account."
	case sandbox.StateClosed:
		v.Tone, v.Heading = "bad", "The time is over"
		v.Sentence = "The request was closed before it was confirmed. Nothing is collected from your account."
	default:
		v.ask(e)
	}
	return v
}

// ask fills the view of a payment that is not decided.
func (v *view) ask(e sandbox.Entry) {
	v.Tone = "ask"
	if e.Outcome.DecidedByPayer() {
		v.Heading, v.Undecided = "Confirm the direct debit", true
		v.Sentence = e.MerchantName + " asks for your permission to collect from your account by direct debit."
		return
	}
	v.Heading = "Nothing to confirm here"
	v.Sentence = "With this test account the verify call approves the mandate by itself."
	if e.Outcome == sandbox.VerificationRejected {
		v.Sentence = "With this test account the verify call rejects the mandate by itself."
	}
}

func unknownView() view {
	return view{Tone: "bad", Heading: "No such request", Sentence: "The address is incomplete, or the request has been removed."}
}

func foreignView() view {
	return view{Tone: "bad", Heading: "Not accepted", Sentence: "The decision did not come from this page. Open the link from the shop again and decide there."}
}

func unclearView() view {
	return view{Tone: "bad", Heading: "Not understood", Sentence: "Go back and choose to approve or to reject."}
}

func failedView() view {
	return view{Tone: "bad", Heading: "Something went wrong", Sentence: "Your decision may not have been recorded. Open the link from the shop again to see how it stands."}
}

// returnURL is where the payer came from, if a browser can be sent there.
func returnURL(e sandbox.Entry) string {
	parsed, err := url.Parse(e.ReturnURL)
	if err != nil || parsed.Host == "" || parsed.Scheme != "https" && parsed.Scheme != "http" {
		return ""
	}
	return e.ReturnURL
}

// amountWords is the amount as an English reader writes it.
func amountWords(e sandbox.Entry) string {
	amount := groupThousands(e.AmountMinor)
	if e.Currency == "EUR" {
		return "€" + amount
	}
	return amount + " " + e.Currency
}

func groupThousands(minor payment.Minor) string {
	whole, decimals, _ := strings.Cut(minor.String(), ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return whole + "." + decimals
}
