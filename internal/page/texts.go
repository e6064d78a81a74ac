package page

import (
	"sepad/internal/locale"
	"sepad/internal/payment"
)

// texts is everything that the page says, in one language. Words in braces are
// filled in; a text with "|" has one form for each plural of its language. A
// test holds every language to the same fields and the same braces.
type texts struct {
	// The frame.
	Skip, Language, TestMode, TestIBANs, TestIBANHint       string
	PayTitle, Method, CollectedBy, Encrypted, BackTo        string
	Help, Terms, Privacy, Imprint, Continue, OtherPayment   string
	Order, OnceOnly, OpenRhythm, Free, ForPeriod, Then      string
	PerWeek, PerTwoWeeks, PerMonth, PerQuarter, PerHalfYear string
	PerYear, EveryWeek, EveryTwoWeeks, EveryMonth           string
	EveryQuarter, EveryHalfYear, EveryYear                  string
	Days, Weeks, Months                                     string

	// When the account is debited.
	PlanTitle, PlanLine, PlanFirst, PlanOnly, PlanToday, PlanNothing, Statement string

	// The form.
	FormTitle, FormTitleTrial, IBAN, IBANHint, IBANCount, IBANValid, Holder string
	ErrorSummary, IBANMissing, IBANCharacter, IBANCountry, IBANNoCountry    string
	IBANLength, IBANDigit, IBANLetter, IBANChecksum, IBANOutsideSEPA        string
	HolderMissing, HolderLong, HolderCharacter                              string
	AddressHint, Street, Town, AddressMissing                               string
	AgreeMissing, MandateChanged, NotNow, TooFast                           string
	PayButton, TrialFreeButton, TrialPaidButton, PayBusy                    string
	AgreeOnce, AgreeRecurring, AgreeTrial                                   string
	ImplicitOnce, ImplicitRecurring, ImplicitTrial, FullText                string
	RefundTitle, RefundRight, NoticeTitle, NoticeText, OnceTitle, OnceText  string

	// The mandate. The first three are the scheme's own text (mandate.go).
	MandateAuthority, MandateRefund, MandateRights                         string
	MandateTitle, Creditor, Address, Identifier, Reference, Payments       string
	TypeOfPayment, TypeOnce, TypeRecurring, Account, AgreedOn, PrintOrSave string
	Print, Save, BackToPayment                                             string

	// Results.
	ProcessingTitle, ProcessingText, ProcessingLong, ProcessingLonger, CheckAgain string
	DeclinedTitle, OutageTitle, NothingCollected, AccountUsed, AttemptsLeft       string
	VerifyTitle, VerifyText, VerifyTrial, VerifyLeaving, VerifyButton             string
	VerifyCheck, VerifyNotYet, VerifyBusy                                         string
	PaidTitle, PaidText, TrialTitle, TrialText, PendingTitle, PendingText         string
	Product, Amount, DebitDate, NextPayment, OrderNo                              string
	RefundedTitle, RefundedText, ReturnedTitle, ReturnedText                      string
	FailedTitle, FailedText, ExpiredTitle, ExpiredText                            string
	CancelledTitle, CancelledText, UnknownTitle, UnknownText                      string
	ErrorTitle, ErrorText, TooManyTitle, TooManyText                              string

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

// fill puts values in the place of the words in braces, given in pairs.
var fill = locale.Fill
