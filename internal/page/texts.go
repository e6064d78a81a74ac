package page

import (
	"slices"
	"strings"

	"sepad/internal/payment"
)

// texts is everything that the page says, in one language. Words in braces are
// filled in; a text with "|" has one form for each plural of its language. A
// test holds every language to the same fields and the same braces.
type texts struct {
	// The frame.
	Skip, Language, TestMode, TestIBANs, TestIBANHint string
	PayTitle, CollectedBy, RefundRight, Help          string

	// The order.
	Order, DueToday, FromDate, OnceOnly, ThenRhythm, OpenRhythm, TrialFree, TrialPaid string
	EveryWeek, EveryTwoWeeks, EveryMonth, EveryQuarter, EveryHalfYear, EveryYear      string
	Days, Weeks, Months                                                               string

	// The form.
	FormTitle, IBAN, IBANHint, Bank, Holder, ErrorSummary                string
	IBANMissing, IBANCharacter, IBANCountry, IBANNoCountry, IBANLength   string
	IBANDigit, IBANLetter, IBANChecksum, IBANOutsideSEPA                 string
	HolderMissing, HolderLong, HolderCharacter                           string
	AgreeMissing, MandateChanged, NotNow, TooFast                        string
	PayButton, TrialFreeButton, TrialPaidButton, PayBusy                 string
	AgreeOnce, AgreeRecurring, ImplicitOnce, ImplicitRecurring, FullText string

	// The mandate.
	MandateTitle, MandateAuthorise, MandateRefund                                  string
	Creditor, Address, Identifier, Reference, Payments, TypeOnce, TypeRecurring    string
	Account, AgreedOn, PrintOrSave, Print, Save, BackToPayment, MandateTypeOfDebit string

	// Results.
	ProcessingTitle, ProcessingText, ProcessingLong, CheckAgain             string
	DeclinedTitle, AccountUsed, AttemptsLeft                                string
	VerifyTitle, VerifyText, VerifyButton, VerifyCheck, VerifyNotYet        string
	VerifyBusy                                                              string
	PaidTitle, PaidText, TrialTitle, TrialText                              string
	PendingTitle, PendingText, PendingDate, Statement, NextPayment, OrderNo string
	RefundedTitle, RefundedText, ReturnedTitle, ReturnedText                string
	FailedTitle, FailedText, ExpiredTitle, ExpiredText                      string
	CancelledTitle, CancelledText, UnknownTitle, UnknownText                string
	ErrorTitle, ErrorText, TooManyTitle, TooManyText                        string
	Redirecting, Continue, Stay, BackTo                                     string

	// Why a payment was refused, and what to try.
	Declines map[payment.DeclineCode]declineWords
}

// declineWords are one decline code in human words.
type declineWords struct{ What, Try string }

// decline gives the words for a code; one that is newer than the page is said
// as unknown.
func (t *texts) decline(code payment.DeclineCode) declineWords {
	if words, known := t.Declines[code]; known {
		return words
	}
	return t.Declines[payment.DeclineUnknown]
}

// fill puts values in the place of the words in braces, given in pairs. Values
// are not looked at again, so that a brace in a shop's name stays one.
func fill(text string, pairs ...string) string {
	replacements := make([]string, 0, len(pairs))
	for pair := range slices.Chunk(pairs, 2) {
		replacements = append(replacements, "{"+pair[0]+"}", pair[1])
	}
	return strings.NewReplacer(replacements...).Replace(text)
}
