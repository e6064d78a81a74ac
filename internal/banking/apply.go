package banking

import (
	"errors"
	"strings"
	"time"

	"sepad/internal/checkout"
	"sepad/internal/gateway/bank"
	"sepad/internal/iso20022"
	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/store"
)

// status takes one verdict of a status report.
func (r *reader) status(s *iso20022.Status) error {
	line := store.BankLine{
		Source: "pain.002", Kind: string(s.Level) + "_" + string(s.Verdict), AmountMinor: payment.Minor(s.AmountMinor), Currency: s.Currency,
		Reference: firstOf(s.EndToEndID, s.BlockID, s.MessageID), Reason: s.Reason.Code, Result: store.LineIgnored,
	}
	var err error
	switch {
	case s.Verdict == iso20022.Protocol, s.Verdict == iso20022.PayeeChecked, s.Verdict == iso20022.Waiting, s.Verdict == iso20022.NoVerdict:
		line.Note = "It decides nothing about a collection."
	case s.Level == iso20022.OfPayment:
		err = r.paymentStatus(s, &line)
	case s.Level == iso20022.OfBlock:
		err = r.blockStatus(s, &line)
	default:
		err = r.messageStatus(s, &line)
	}
	if err != nil {
		return err
	}
	return r.take(line, s.Reason.Text)
}

func (r *reader) paymentStatus(s *iso20022.Status, line *store.BankLine) error {
	found, err := r.match(clue{
		endToEndID: s.EndToEndID, mandate: s.MandateReference, account: s.Account, amount: payment.Minor(s.AmountMinor), date: s.DueDate, text: s.Reason.Text,
	})
	switch {
	case err != nil:
		return err
	case found == nil:
		line.Result = store.LineUnmatched
		return nil
	case s.Verdict == iso20022.Rejected:
		return r.reject(*found, s.Reason, line)
	}
	line.Result, line.TransactionID = store.LineKnown, &found.TransactionID
	return nil
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
	return entries.each(func(entry store.BankFileEntry) error {
		one := store.BankLine{}
		if err := r.reject(entry, reason, &one); err != nil {
			return err
		}
		if one.Result == store.LineRejected || one.Result == store.LineContradicts {
			line.Result, line.Note = one.Result, one.Note
		}
		return nil
	})
}

// reject takes a refusal. Of money that has come it is news from after the settlement, and so is a payer's claim.
func (r *reader) reject(entry store.BankFileEntry, reason iso20022.Reason, line *store.BankLine) error {
	line.TransactionID = &entry.TransactionID
	isClaim := sepa.ReasonFor(reason.Code).Follows == sepa.FollowsClaim
	switch {
	case entry.IsDeclined:
		line.Result = store.LineKnown
		return nil
	case !entry.IsOpen || isClaim:
		return r.giveBack(entry, reason, 0, r.now, line)
	}
	line.Result = store.LineRejected
	return r.settle(entry, bank.RejectedOutcome(reason), line)
}

// settle applies an outcome to a collection.
func (r *reader) settle(entry store.BankFileEntry, outcome payment.Outcome, line *store.BankLine) error {
	if r.isDryRun {
		return nil
	}
	err := r.Checkout.SettleReported(r.ctx, r.account.Setup, entry.TransactionID, outcome)
	if payment.KindOf(err) != 0 {
		line.Result, line.Note = store.LineContradicts, err.Error()
		return nil
	}
	return wrap(err)
}

// giveBack takes a collection that came back. That it came back proves that the money had come.
func (r *reader) giveBack(entry store.BankFileEntry, reason iso20022.Reason, charges payment.Minor, at time.Time, line *store.BankLine) error {
	line.TransactionID = &entry.TransactionID
	line.Result = store.LineReturned
	if entry.IsBack {
		line.Result = store.LineKnown
	}
	if r.isDryRun {
		return nil
	}
	known := sepa.ReasonFor(reason.Code)
	report := payment.Chargeback{
		MerchantTransactionID: entry.EndToEndID, AmountMinor: entry.AmountMinor, Currency: "EUR", ReportedAt: at.UTC(),
		ReasonCode: known.Code, ReasonMessage: known.Meaning, ReportType: "bank_statement", ReportMessage: reason.Text,
	}
	if charges > 0 {
		report.BankFeeMinor = &charges
	}
	taken, err := r.Checkout.TakeChargebacks(r.ctx, r.account.Setup, checkout.ChargebackReport{
		GatewayID: r.account.ID, Source: payment.ChargebackReconciled, Chargebacks: []checkout.ReportedChargeback{{Chargeback: report}},
	})
	if err != nil {
		return failure{err}
	}
	switch {
	case taken[0].Refused != nil:
		line.Result, line.Note = store.LineContradicts, taken[0].Refused.Error()
	case taken[0].Taken == payment.TakenUnchanged:
		line.Result = store.LineKnown
	}
	return nil
}

// entry takes one booking.
func (r *reader) entry(e *iso20022.Entry) error {
	for i := range e.Lines {
		l := &e.Lines[i]
		line := store.BankLine{
			Source: string(e.Statement.Kind), Kind: string(l.Kind), AmountMinor: payment.Minor(l.AmountMinor), ChargesMinor: payment.Minor(l.ChargesMinor),
			Currency: l.Currency, IsCredit: l.IsCredit, BookingDate: dateText(e.BookingDate), Reason: l.Reason.Code, Result: store.LineIgnored,
			Reference: firstOf(l.EndToEndID, l.BlockID, e.Batch.BlockID, e.Batch.MessageID, l.MandateReference, l.BankReference, e.Reference),
		}
		if err := r.line(e, l, &line); err != nil {
			return err
		}
		if err := r.take(line, strings.Join([]string{l.Remittance, l.Text, l.Reason.Text, e.Text}, " ")); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) line(e *iso20022.Entry, l *iso20022.Line, line *store.BankLine) error {
	switch {
	case e.Problem != "":
		line.Result, line.Note = store.LineUnmatched, e.Problem
		return nil
	case !e.IsBooked:
		line.Note = "It is not booked yet."
		return nil
	case l.Kind != iso20022.Collected && l.Kind != iso20022.Returned:
		return nil
	case l.Currency != "EUR":
		line.Result, line.Note = store.LineUnmatched, "Collections are in euro."
		return nil
	case l.Kind == iso20022.Collected && l.EndToEndID == "" && l.MandateReference == "":
		return r.batch(firstOf(l.BlockID, e.Batch.BlockID), firstOf(l.MessageID, e.Batch.MessageID), payment.Minor(l.AmountMinor), line)
	}
	found, err := r.match(clue{
		endToEndID: l.EndToEndID, mandate: l.MandateReference, account: l.Account, amount: payment.Minor(l.AmountMinor), date: e.BookingDate,
		text: l.Remittance + " " + l.Text,
	})
	if err != nil {
		return err
	}
	if found == nil {
		line.Result = store.LineUnmatched
		return nil
	}
	return r.booked(*found, e, l, line)
}

// booked takes a booking of one collection that was found.
func (r *reader) booked(found store.BankFileEntry, e *iso20022.Entry, l *iso20022.Line, line *store.BankLine) error {
	line.TransactionID = &found.TransactionID
	amount := payment.Minor(l.AmountMinor)
	if l.HasAmount && (amount < found.AmountMinor || amount > found.AmountMinor && l.Kind == iso20022.Collected) {
		line.Result, line.Note = store.LineContradicts, "The collection's amount is "+found.AmountMinor.String()+"."
		return nil
	}
	if l.Kind == iso20022.Returned {
		// What is more than the collection is the bank's.
		line.ChargesMinor += max(0, amount-found.AmountMinor)
		return r.giveBack(found, l.Reason, line.ChargesMinor, firstDate(e.BookingDate, r.now), line)
	}
	return r.collected(found, line)
}

// collected takes money that has come.
func (r *reader) collected(entry store.BankFileEntry, line *store.BankLine) error {
	if !entry.IsOpen && !entry.IsDeclined {
		line.Result = store.LineKnown
		return nil
	}
	line.Result = store.LineSettled
	return r.settle(entry, payment.Outcome{Verdict: payment.VerdictApproved}, line)
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

func firstDate(date, otherwise time.Time) time.Time {
	if date.IsZero() {
		return otherwise
	}
	return date
}

func dateText(date time.Time) string {
	if date.IsZero() {
		return ""
	}
	return date.Format(time.DateOnly)
}
