package banking

import (
	"errors"
	"slices"

	"sepad/internal/iso20022"
	"sepad/internal/store"
)

// guess is a booking by which a part of a file speaks of a collection that it does not name.
type guess struct {
	part    *iso20022.Statement
	booking string
}

// A payer may take several payments back on one day, and some banks tell each of them in a file or a part of its own.
const mayBeAnother = "It may repeat what is known of a payment, or be another payment of the same payer: another file of the same kind has told of that one already."

// withoutOthers leaves out collections of which another part of the same file has told by another booking. Where the bank gives its
// bookings no names, a person has to say whether it is the same one, unless all have come back. Reports during a day tell the same
// again and again.
func (r *reader) withoutOthers(it *item, entries []store.BankFileEntry) (rest []store.BankFileEntry, isUnclear bool) {
	if it.isNamed || it.line.IsCredit || len(entries) < 2 || it.line.Source == string(iso20022.Report) {
		return entries, false
	}
	hasOpen := slices.ContainsFunc(entries, func(e store.BankFileEntry) bool { return !isBad(e) })
	for _, e := range entries {
		told, isTold := r.guessed[e.TransactionID]
		isTold = isTold && told.part != it.part
		hasNames := told.booking != "" && it.booking != ""
		if isTold && !hasNames && hasOpen {
			it.line.Note = mayBeAnother
			return nil, true
		}
		if !isTold || !hasNames || told.booking == it.booking {
			rest = append(rest, e)
		}
	}
	return rest, false
}

// isBetween tells a line that names the payer's account alone, while collections under several mandates would do: they may be of two
// people, and of two orders in any case.
func (r *reader) isBetween(it *item, entries []store.BankFileEntry, fits func(store.BankFileEntry) bool) bool {
	if it.isNamed || it.line.IsCredit {
		return false
	}
	mandates := map[string]bool{}
	for _, e := range entries {
		if fits(e) && !r.chosen[it.pick(e)] {
			mandates[e.MandateReference] = true
		}
	}
	if len(mandates) > 1 {
		it.line.Note = "Payments under several mandates from this account have this amount."
	}
	return len(mandates) > 1
}

// noteGuess remembers a line that does not name its collection, while another one that has not come back would do as well.
func (r *reader) noteGuess(it *item, entries []store.BankFileEntry, found *store.BankFileEntry) {
	if found == nil || it.part == nil || it.isNamed || it.line.IsCredit {
		return
	}
	isOther := func(e store.BankFileEntry) bool { return !isBad(e) && e.TransactionID != found.TransactionID }
	it.isGuess = slices.ContainsFunc(entries, isOther)
	if _, isTold := r.guessed[found.TransactionID]; !isTold && len(entries) > 1 {
		r.guessed[found.TransactionID] = guess{it.part, it.booking}
	}
}

// doubt looks once more at lines of this file that name no collection, when they are written down: each kind of file tells a
// booking once. Where another file of the kind has told of the same collection, which may have been read at the same time, the
// line that brought nothing new may be of another one, and is a person's.
func (r *reader) doubt() error {
	if r.isDryRun || len(r.guesses) == 0 {
		return nil
	}
	doubted, err := r.tenant(r.account).RivalBankLines(r.ctx, r.statement.ID, r.guesses)
	if err != nil {
		return err
	}
	for _, line := range doubted {
		before, isOurs := line.Result, line.StatementID == r.statement.ID
		line.Result, line.Note, line.TransactionID = store.LineUnmatched, mayBeAnother, nil
		err := r.store().Write(r.ctx, r.now, func(tx *store.Tx) error {
			tx.AssignBankLine(before, line)
			return nil
		})
		switch {
		case errors.Is(err, store.ErrBankLineTaken):
		case err != nil:
			return err
		case isOurs:
			r.reading.Counts.Known--
			r.reading.Counts.Unmatched++
		default:
			r.Logger.ErrorContext(r.ctx, "a line of a bank's answer may be of another payment and needs a person", "gateway_id", r.account.ID,
				"statement_id", line.StatementID)
		}
	}
	return nil
}
