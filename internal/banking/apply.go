package banking

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"sepad/internal/gateway"
	"sepad/internal/gateway/bank"
	"sepad/internal/iso20022"
	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/store"
)

// status takes one verdict of a status report.
func (r *reader) status(s *iso20022.Status) error {
	it := &item{text: s.Reason.Text, line: store.BankLine{
		Source: "pain.002", Kind: string(s.Level) + "_" + string(s.Verdict), AmountMinor: payment.Minor(s.AmountMinor), Currency: s.Currency,
		Reference: cmp.Or(s.EndToEndID, s.BlockID, s.MessageID), Reason: s.Reason.Code, Result: store.LineIgnored,
	}}
	var err error
	switch {
	case s.Verdict == iso20022.PayeeChecked:
		r.payeeChecked(s, it)
	case s.Verdict == iso20022.Protocol, s.Verdict == iso20022.Waiting, s.Verdict == iso20022.NoVerdict:
		it.line.Note = "It decides nothing about a payment."
	case s.Verdict == iso20022.Repeated:
		err = r.alone(func() error { return r.repeated(s, &it.line) })
	case s.Level == iso20022.OfPayment:
		r.paymentStatus(s, it)
	case s.Level == iso20022.OfBlock:
		err = r.alone(func() error { return r.blockStatus(s, &it.line) })
	default:
		err = r.alone(func() error { return r.messageStatus(s, &it.line) })
	}
	if err != nil {
		return err
	}
	return r.take(it)
}

// alone takes a line that speaks of many collections, after what the lines before it say.
func (r *reader) alone(take func() error) error {
	if err := r.flush(); err != nil {
		return err
	}
	return take()
}

func (r *reader) paymentStatus(s *iso20022.Status, it *item) {
	it.clue = &clue{
		endToEndID: s.EndToEndID, mandate: s.MandateReference, account: s.Account, amount: payment.Minor(s.AmountMinor), date: s.DueDate, isOfDueDate: true,
		text: s.Reason.Text,
	}
	it.mean = func(found store.BankFileEntry, it *item) {
		if s.Verdict == iso20022.Rejected {
			r.reject(found, s.Reason, it)
			return
		}
		it.line.Result, it.line.TransactionID = store.LineKnown, &found.TransactionID
	}
}

// payeeChecks are what a bank found when it held a payee's name against the account.
var payeeChecks = map[string]string{
	"RCVC": "the name matches", "RVCM": "the name nearly matches", "RVNM": "the name does not match", "RVNA": "it could not be checked",
	"RVMC": "some names do not match",
}

// payeeChecked takes an answer of the verification of payee: it decides nothing, and is shown with the refund.
func (r *reader) payeeChecked(s *iso20022.Status, it *item) {
	it.line.Reason = s.Code
	it.line.Note = "Verification of payee: " + payeeChecks[strings.ToUpper(s.Code)] + ". It decides nothing."
	if s.Level == iso20022.OfPayment && s.EndToEndID != "" {
		it.clue, it.mayMiss = &clue{endToEndID: s.EndToEndID}, true
		it.mean = func(found store.BankFileEntry, it *item) { it.line.TransactionID = &found.TransactionID }
	}
}

func (r *reader) blockStatus(s *iso20022.Status, line *store.BankLine) error {
	entries := r.ofBlock(s.BlockID)
	switch first, err := entries(0, 1); {
	case err != nil:
		return failure{err}
	case len(first) == 0:
		line.Result = store.LineUnmatched
		return nil
	}
	line.Result = store.LineKnown
	if s.Verdict != iso20022.Rejected {
		return nil
	}
	return r.rejectAll(entries, s.Reason, line)
}

// copySilence is for how much longer nothing is made of a bank's silence that has refused a file as a copy, and of which it has
// not said that it takes any: some banks take files for copies that look alike. A person has that long to ask.
const copySilence = 14 * 24 * time.Hour

// repeated takes the refusal of a copy. What the bank has had before stands, if it is the same.
func (r *reader) repeated(s *iso20022.Status, line *store.BankLine) error {
	line.Result, line.Note = store.LineContradicts, "The bank has this already and refuses a copy of it: the first one stands."
	file, err := r.tenant(r.account).BankFileByMessage(r.ctx, r.account.ID, s.MessageID)
	switch {
	case errors.Is(err, store.ErrNoBankFile):
		return nil
	case err != nil:
		return failure{err}
	case file.State == store.BankFileAccepted && s.Level == iso20022.OfMessage, file.State == store.BankFileRejected, file.State == store.BankFileSettled:
		return nil // the bank has said what it makes of all of it
	}
	// Of a file that it takes in part, or as a whole at first, a block that it refuses may be what it has not had before.
	line.Note = "The bank refuses a copy of a file or of a part of one, and has not said that it takes all of the first. Ask whether it has: what is in it counts as collected two weeks later than usual."
	if r.isDryRun {
		return nil
	}
	return wrap(r.store().WaitLonger(r.ctx, r.now, file, r.account.Terms.SilenceEnds(fileDue(r.account, file, r.now)).Add(copySilence)))
}

func (r *reader) messageStatus(s *iso20022.Status, line *store.BankLine) error {
	file, err := r.tenant(r.account).BankFileByMessage(r.ctx, r.account.ID, s.MessageID)
	if errors.Is(err, store.ErrNoBankFile) {
		line.Result = store.LineUnmatched
		return nil
	}
	if err != nil {
		return failure{err}
	}
	line.Result = store.LineKnown
	states := map[iso20022.Verdict]store.BankFileState{
		iso20022.Accepted: store.BankFileAccepted, iso20022.Rejected: store.BankFileRejected, iso20022.Partly: store.BankFilePartlyRejected,
	}
	if err := r.mark(file, states[s.Verdict]); err != nil || s.Verdict != iso20022.Rejected {
		return err
	}
	return r.rejectAll(r.ofFile(file.ID), s.Reason, line)
}

// mark writes what the bank says of a file as a whole. A report that comes after the money does not turn it back.
func (r *reader) mark(file store.BankFile, to store.BankFileState) error {
	if r.isDryRun || file.State == to || file.State == store.BankFileSettled {
		return nil
	}
	err := r.change(r.ctx, &file, func(file *store.BankFile) { file.State = to }, r.now)
	if errors.Is(err, store.ErrStale) {
		return nil // another report was faster
	}
	return wrap(err)
}

// rejectAll refuses every collection of a file or block.
func (r *reader) rejectAll(entries entryPages, reason iso20022.Reason, line *store.BankLine) error {
	return r.eachOf(entries, line, func(entry store.BankFileEntry, it *item) { r.reject(entry, reason, it) })
}

// reject takes a refusal, or a refund that came back. Of money that has come it is news from after the settlement, and so is a payer's claim.
func (r *reader) reject(entry store.BankFileEntry, reason iso20022.Reason, it *item) {
	it.line.TransactionID = &entry.TransactionID
	isClaim := sepa.ReasonFor(reason.Code).Follows == sepa.FollowsClaim
	switch {
	case entry.IsDeclined:
		it.line.Result = store.LineKnown
	case entry.IsTransfer() && !entry.IsOpen:
		it.line.Result, it.line.Note = store.LineContradicts, "The refund was taken for paid: its money is back, and the payer has not got it."
	case !entry.IsTransfer() && (!entry.IsOpen || isClaim):
		r.giveBack(entry, reason, 0, r.now, it)
	default:
		it.line.Result = store.LineRejected
		r.settling = append(r.settling, settlement{entry, bank.RejectedOutcome(reason), it})
	}
}

// giveBack takes a collection that came back. That it came back proves that the money had come.
func (r *reader) giveBack(entry store.BankFileEntry, reason iso20022.Reason, charges payment.Minor, at time.Time, it *item) {
	it.line.TransactionID = &entry.TransactionID
	it.line.Result = store.LineReturned
	if entry.IsBack {
		it.line.Result = store.LineKnown
	}
	known := sepa.ReasonFor(bank.CodeOf(reason))
	report := payment.Chargeback{
		MerchantTransactionID: entry.EndToEndID, AmountMinor: entry.AmountMinor, Currency: "EUR", ReportedAt: at.UTC(),
		ReasonCode: known.Code, ReasonMessage: known.Meaning, ReportType: "bank_statement", ReportMessage: gateway.CleanWords(reason.Text),
	}
	if charges > 0 {
		report.BankFeeMinor = &charges
	}
	r.returning = append(r.returning, returned{entry, report, it})
}

// entry takes one booking.
func (r *reader) entry(e *iso20022.Entry) error {
	for i := range e.Lines {
		l := &e.Lines[i]
		it := &item{part: e.Statement, text: strings.Join([]string{l.Remittance, l.Text, l.Reason.Text, e.Text}, " "), line: store.BankLine{
			Source: string(e.Statement.Kind), Kind: string(l.Kind), AmountMinor: payment.Minor(l.AmountMinor), ChargesMinor: payment.Minor(l.ChargesMinor),
			Currency: l.Currency, IsCredit: l.IsCredit, BookingDate: dateText(e.BookingDate), Reason: l.Reason.Code, Result: store.LineIgnored,
			Reference: cmp.Or(l.EndToEndID, l.BlockID, e.Batch.BlockID, e.Batch.MessageID, l.MandateReference, l.BankReference, e.Reference),
		}}
		if err := r.booking(e, l, it); err != nil {
			return err
		}
		if err := r.take(it); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) booking(e *iso20022.Entry, l *iso20022.Line, it *item) error {
	line := &it.line
	switch {
	case e.Problem != "":
		line.Result, line.Note = store.LineUnmatched, e.Problem
	case !e.IsBooked:
		line.Kind, line.Note = store.ForeseenLine, "It is not booked yet."
	case isOurTransfer(l) && l.Currency != "EUR":
	case l.Kind == iso20022.Other:
		r.notUnderstood(e, l, it)
	case l.Currency != "EUR":
		line.Result, line.Note = store.LineUnmatched, "Collections are in euro."
	case l.Kind == iso20022.TransferReturned && l.EndToEndID == "":
	case l.EndToEndID == "" && (l.Kind == iso20022.Transferred || l.Kind == iso20022.Collected && l.MandateReference == ""):
		blockID, messageID := cmp.Or(l.BlockID, e.Batch.BlockID), cmp.Or(l.MessageID, e.Batch.MessageID)
		return r.batchLine(blockID, messageID, line)
	case isOurTransfer(l):
		it.clue, it.mayMiss = &clue{endToEndID: l.EndToEndID, text: l.Remittance + " " + l.Text}, !isBackOfOurs(l)
		reason := l.Reason
		it.mean = func(found store.BankFileEntry, it *item) { r.transferred(found, reason, it) }
	default:
		it.clue = debitClue(e, l)
		booked, hasAmount, reason := e.BookingDate, l.HasAmount, l.Reason
		it.mean = func(found store.BankFileEntry, it *item) { r.booked(found, booked, hasAmount, reason, it) }
	}
	return nil
}

// debitClue is what a booking says of a collection.
func debitClue(e *iso20022.Entry, l *iso20022.Line) *clue {
	return &clue{
		endToEndID: l.EndToEndID, mandate: l.MandateReference, account: l.Account, amount: payment.Minor(l.AmountMinor), date: e.BookingDate,
		text: l.Remittance + " " + l.Text,
	}
}

// notUnderstood takes a booking that could be anything. Most are nobody's business here, but one that names a payment of
// ours and is worth as much has moved its money, as when a return is taken back. Less is what a bank takes for its work. What takes
// a return back is looked for by all that a return is found by.
func (r *reader) notUnderstood(e *iso20022.Entry, l *iso20022.Line, it *item) {
	it.clue, it.mayMiss, it.isTakenBack = &clue{endToEndID: l.EndToEndID}, true, l.IsTakenBack
	if l.IsTakenBack {
		it.clue = debitClue(e, l)
	}
	it.mean = func(found store.BankFileEntry, it *item) {
		if it.line.AmountMinor >= found.AmountMinor {
			it.line.TransactionID = &found.TransactionID
			it.line.Result, it.line.Note = store.LineContradicts, "It is booked for this payment, and what it means is not understood."
		}
	}
}

// What comes back of a collection is no refund, and the other way round.
const (
	ofCollection = "The reference is that of a collection."
	ofRefund     = "The reference is that of a refund."
)

// isOurTransfer tells what may be a refund: most transfers on an account are none, so that one which matches nothing is
// nobody's business here.
func isOurTransfer(l *iso20022.Line) bool {
	return l.Kind == iso20022.Transferred || l.Kind == iso20022.TransferReturned
}

// isBackOfOurs tells money of a refund that came back: somebody has not got it. Where the refund is not known, it was lost with a
// database or is another account's.
func isBackOfOurs(l *iso20022.Line) bool {
	return l.Kind == iso20022.TransferReturned && payment.HasOurForm(l.EndToEndID)
}

// batchLine takes a booking of many payments. One that names none of our blocks is nobody's, if it is a transfer.
func (r *reader) batchLine(blockID, messageID string, line *store.BankLine) error {
	if blockID == "" && messageID == "" {
		if line.Kind == string(iso20022.Collected) {
			line.Result = store.LineUnmatched
		}
		return nil
	}
	return r.alone(func() error { return r.batch(blockID, messageID, line.AmountMinor, line) })
}

// transferred takes a booking of one refund that was found: paid, or back again. That it was paid decides nothing yet: a
// transfer can come back for some days, and silence after them tells that it has arrived.
func (r *reader) transferred(found store.BankFileEntry, reason iso20022.Reason, it *item) {
	line := &it.line
	line.TransactionID = &found.TransactionID
	switch {
	case !found.IsTransfer():
		line.Result, line.Note = store.LineContradicts, ofCollection
	case line.AmountMinor != found.AmountMinor:
		line.Result, line.Note = store.LineContradicts, "The refund's amount is "+found.AmountMinor.String()+"."
	case line.Kind == string(iso20022.TransferReturned):
		r.reject(found, reason, it)
	default:
		line.Result = store.LineKnown
	}
}

// booked takes a booking of one collection that was found.
func (r *reader) booked(found store.BankFileEntry, booked time.Time, hasAmount bool, reason iso20022.Reason, it *item) {
	line := &it.line
	line.TransactionID = &found.TransactionID
	isReturn := line.Kind == string(iso20022.Returned)
	if found.IsTransfer() {
		line.Result, line.Note = store.LineContradicts, ofRefund
		return
	}
	if !hasAmount {
		line.AmountMinor = found.AmountMinor // what is booked for all of them is theirs together
	}
	if hasAmount && (line.AmountMinor < found.AmountMinor || line.AmountMinor > found.AmountMinor && !isReturn) {
		line.Result, line.Note = store.LineContradicts, "The collection's amount is "+found.AmountMinor.String()+"."
		return
	}
	if !isReturn {
		// Banks send their files in any order, but no money that went back comes later than it went.
		if back := dateText(found.BackAt); found.IsBack && line.BookingDate > max(back, found.DueDate) {
			line.Result, line.Note = store.LineContradicts, "It is booked after the collection came back, on "+back+": the bank may have collected it again."
			return
		}
		r.collected(found, it)
		return
	}
	// What is more than the collection is the bank's, and told once where the bank names it as well.
	if more := line.AmountMinor - found.AmountMinor; more > 0 {
		line.AmountMinor, line.ChargesMinor = found.AmountMinor, max(more, line.ChargesMinor)
	}
	r.giveBack(found, reason, line.ChargesMinor, cmp.Or(booked, r.now), it)
}

// collected takes money that has come.
func (r *reader) collected(entry store.BankFileEntry, it *item) {
	if it.line.BookingDate > max(entry.DueDate, r.bookedLate[entry.TransactionID]) {
		r.bookedLate[entry.TransactionID] = it.line.BookingDate
	}
	if !entry.IsOpen && !entry.IsDeclined {
		it.line.Result = store.LineKnown
		return
	}
	it.line.Result = store.LineSettled
	r.settling = append(r.settling, settlement{entry, payment.Outcome{Verdict: payment.VerdictApproved}, it})
}

func dateText(date time.Time) string {
	if date.IsZero() {
		return ""
	}
	return date.Format(time.DateOnly)
}
