package banking

import (
	"cmp"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/iso20022"
	"sepad/internal/sepa"
	"sepad/internal/store"
)

// pick is a collection that a line of a kind was found to speak of, in a part of its file; nil where the file has none. One statement
// may have both a collection's money and its return.
type pick struct {
	transactionID uuid.UUID
	part          *iso20022.Statement
	kind          string
}

func (it *item) pick(e store.BankFileEntry) pick { return pick{e.TransactionID, it.part, it.line.Kind} }

// What a line without a name leaves open is told to the person who decides.
const (
	severalFit = "Several payments fit, and it names none of them: the same payer may have taken any of them back."
	fitsTwice  = "It fits a payment of which another line of the same statement tells already."
	mayBeGone  = "It may be of a payment that left after the backup and is not known here yet."
)

// choose finds the collection that a line speaks of among those that fit. What comes in is of the latest; so is what has a name,
// which hardly ever fits two. What did not go through, or came back, without a name is of the only one that it can be: where there
// are two, a guess would give a payer's money for gone that is there, and a person has to say it.
func (r *reader) choose(it *item, entries []store.BankFileEntry) (*store.BankFileEntry, error) {
	switch {
	case it.isTakenBack:
		return first(entries, it.cameBackThen, isBad, isAny), nil
	case it.isNamed || it.line.IsCredit:
		return r.latest(it, entries), nil
	}
	able, err := r.ableToBe(it, entries)
	if err != nil || len(able) == 0 {
		return nil, err
	}
	others, err := r.ableToBe(it, it.others)
	switch {
	case err != nil:
		return nil, err
	case len(able)+len(others) > 1:
		it.line.Note = severalFit
		return nil, nil
	case r.chosen[it.pick(able[0])]:
		it.line.Note = fitsTwice
		return nil, nil
	}
	if isLost, err := r.mayBeLost(it); err != nil || isLost {
		return nil, err
	}
	r.chosen[it.pick(able[0])] = true
	return &able[0], nil
}

// cameBackThen tells a collection that came back on the day of a booking.
func (it *item) cameBackThen(e store.BankFileEntry) bool {
	return e.IsBack && dateText(e.BackAt) == dateText(it.clue.date)
}

// latest finds the collection that no line of the kind has spoken of yet in its part of the file: one that came back on the day, or
// else one that went through if there is any.
func (r *reader) latest(it *item, entries []store.BankFileEntry) *store.BankFileEntry {
	free := keep(entries, func(e store.BankFileEntry) bool { return len(entries) == 1 || !r.chosen[it.pick(e)] })
	isOpen := func(e store.BankFileEntry) bool { return !isBad(e) }
	found := first(free, it.cameBackThen, isOpen, isAny)
	if found != nil {
		r.chosen[it.pick(*found)] = true
	}
	return found
}

// first gives the first collection by the first rule that fits one.
func first(entries []store.BankFileEntry, rules ...func(store.BankFileEntry) bool) *store.BankFileEntry {
	for _, fits := range rules {
		if i := slices.IndexFunc(entries, fits); i >= 0 {
			return &entries[i]
		}
	}
	return nil
}

// isBad tells a collection that did not go through.
func isBad(e store.BankFileEntry) bool { return e.IsBack || e.IsDeclined }

func isAny(store.BankFileEntry) bool { return true }

// sameNews is how far apart two files tell of one booking: a status report as it comes, and the statement with its own day
// and a weekend between them.
const sameNews = 5 * 24 * time.Hour

// ableToBe leaves those of which a line without a name can speak: those of the due date that it names, or else those that can still
// come back for its reason.
func (r *reader) ableToBe(it *item, entries []store.BankFileEntry) ([]store.BankFileEntry, error) {
	if it.clue.namesDueDate() {
		return keep(entries, func(e store.BankFileEntry) bool { return e.DueDate == dateText(it.clue.date) }), nil
	}
	able, err := r.withoutPast(it, r.toldAt(it.clue.date), entries)
	if err != nil {
		return nil, err
	}
	days, err := r.collectedLate(it, able)
	return keep(able, func(e store.BankFileEntry) bool { return r.isInTime(it, max(e.DueDate, days[e.TransactionID])) }), err
}

// lateFor is how many banking days after its due date a collection may be made: a bank that gets a file late collects late, unless it
// refuses the file.
const lateFor = 10

// isInTimeIfLate tells that a collection which was due on a day could still come back if it was made late.
func (r *reader) isInTimeIfLate(it *item, due string) bool {
	day, err := time.Parse(time.DateOnly, due)
	return err == nil && r.isInTime(it, dateText(sepa.AddBusinessDays(day, lateFor)))
}

// collectedLate tells when the money of collections was booked that come back in time only if it came late.
func (r *reader) collectedLate(it *item, entries []store.BankFileEntry) (map[uuid.UUID]string, error) {
	over := keep(entries, func(e store.BankFileEntry) bool { return !r.isInTime(it, e.DueDate) && r.isInTimeIfLate(it, e.DueDate) })
	if len(over) == 0 {
		return nil, nil
	}
	days, err := r.tenant(r.account).BookedOn(r.ctx, transactionsOf(over))
	for _, entry := range over {
		if day := r.bookedLate[entry.TransactionID]; err == nil && day > days[entry.TransactionID] {
			days[entry.TransactionID] = day // by a line of this file, which is not kept yet
		}
	}
	return days, err
}

// withoutPast leaves out collections that are known not to have gone through, when a line cannot tell the same once more: because
// that was long ago, or because this kind of file has told it on another day. A booking of an earlier day may be the same: a refusal
// has no day but that on which it is read, and files may be read late.
func (r *reader) withoutPast(it *item, at time.Time, entries []store.BankFileEntry) ([]store.BankFileEntry, error) {
	able := keep(entries, func(e store.BankFileEntry) bool { return !isBad(e) || at.Sub(e.BadAt()) <= sameNews })
	bad := keep(able, isBad)
	if len(bad) == 0 {
		return able, nil
	}
	told, err := r.tenant(r.account).ToldOnAnotherDay(r.ctx, it.line, r.statement.ID, transactionsOf(bad))
	return keep(able, func(e store.BankFileEntry) bool { return !isBad(e) || !slices.Contains(told, e.TransactionID) }), err
}

func transactionsOf(entries []store.BankFileEntry) []uuid.UUID {
	ids := make([]uuid.UUID, len(entries))
	for i, e := range entries {
		ids[i] = e.TransactionID
	}
	return ids
}

func keep(entries []store.BankFileEntry, fits func(store.BankFileEntry) bool) (kept []store.BankFileEntry) {
	for _, e := range entries {
		if fits(e) {
			kept = append(kept, e)
		}
	}
	return kept
}

// What comes back by itself is sent by the payer's bank within five banking days after the due date; a payer may have authorised
// money back for eight weeks, and what was never authorised for thirteen months (SDD Core rulebook). It has two
// more banking days to be booked.
const (
	returnDays = 5 + 2
	claimDays  = 8 * 7
)

// comesBackBy is the last day on which a collection that was due on a day comes back for a reason.
func comesBackBy(dueDate, reason string) string {
	due, err := time.Parse(time.DateOnly, dueDate)
	if err != nil {
		return dueDate
	}
	switch known := sepa.ReasonFor(reason); {
	case known.Follows == sepa.FollowsUnsaid || known.Code == "MD01": // nobody had authorised it, says the bank or the payer
		return dateText(due.Add(lookBack))
	case known.Follows == sepa.FollowsClaim:
		due = due.AddDate(0, 0, claimDays)
	}
	return dateText(sepa.AddBusinessDays(due, returnDays))
}

// isInTime tells that a collection that was due on a day can still come back for a line's reason.
func (r *reader) isInTime(it *item, due string) bool {
	return dateText(r.toldAt(it.clue.date)) <= comesBackBy(due, it.line.Reason)
}

// toldAt is the day of a booking, or when its file was first taken in. A file that is read again is found to say the same.
func (r *reader) toldAt(booked time.Time) time.Time {
	return cmp.Or(booked, r.statement.CreatedAt, r.now)
}

// mayBeLost tells a line that may speak of a collection that is not known any more: one that left after a backup and is in a file
// that was taken in, but has not been opened here again. The line is read again when the account goes on.
func (r *reader) mayBeLost(it *item) (bool, error) {
	by, from := r.window(it.clue)
	days, err := r.tenant(r.account).LostDebitDays(r.ctx, r.account.ID, it.clue.amount, from, by)
	is := slices.ContainsFunc(days, func(due string) bool {
		if it.clue.namesDueDate() {
			return due == dateText(it.clue.date)
		}
		return r.isInTimeIfLate(it, due)
	})
	if is {
		it.line.Note = mayBeGone
	}
	return is, err
}
