package banking

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"sepad/internal/iso20022"
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

// choose takes one of several collections that would do, the latest first: one that was due on the day that is named, one that is
// known to have come back on that day, because a bank tells the same booking in up to three files, one of which another kind
// of file has said that it did not go through, or else one that has not come back. Two lines of a kind in one statement are two
// bookings, and never the same collection. A return that is taken back is of one that came back.
func (r *reader) choose(it *item, entries []store.BankFileEntry) (*store.BankFileEntry, error) {
	day := dateText(it.clue.date)
	isDue := func(e store.BankFileEntry) bool { return it.clue.isOfDueDate && e.DueDate == day }
	isSame := func(e store.BankFileEntry) bool { return e.IsBack && dateText(e.BackAt) == day }
	isOpen := func(e store.BankFileEntry) bool { return !isBad(e) }
	isAny := func(store.BankFileEntry) bool { return true }
	if it.isTakenBack {
		return latest(entries, isSame, isBad, isAny), nil
	}
	entries, isUnclear := r.withoutOthers(it, entries)
	if isUnclear || r.isBetween(it, entries, isDue) {
		return nil, nil
	}
	if isLost, err := r.mayBeLost(it, entries); err != nil || isLost {
		return nil, err
	}
	found := r.first(it, entries, isDue, isSame)
	if found == nil {
		told, err := r.told(it, entries)
		if err != nil || told == doubtful {
			return nil, err
		}
		if told == uuid.Nil && r.isBetween(it, entries, isOpen) {
			return nil, nil
		}
		isTold := func(e store.BankFileEntry) bool { return e.TransactionID == told }
		found = r.first(it, entries, isTold, isOpen, isAny)
	}
	r.noteGuess(it, entries, found)
	return found, nil
}

// first gives the first collection by the first rule that fits one, and notes it.
func (r *reader) first(it *item, entries []store.BankFileEntry, rules ...func(store.BankFileEntry) bool) *store.BankFileEntry {
	for _, fits := range rules {
		for i := range entries {
			picked := it.pick(entries[i])
			if fits(entries[i]) && (len(entries) == 1 || !r.chosen[picked]) {
				r.chosen[picked] = true
				return &entries[i]
			}
		}
	}
	return nil
}

// latest gives the first collection by the first rule that fits one.
func latest(entries []store.BankFileEntry, rules ...func(store.BankFileEntry) bool) *store.BankFileEntry {
	for _, fits := range rules {
		if i := slices.IndexFunc(entries, fits); i >= 0 {
			return &entries[i]
		}
	}
	return nil
}

// isBad tells a collection that did not go through.
func isBad(e store.BankFileEntry) bool { return e.IsBack || e.IsDeclined }

// sameNews is how far apart two kinds of files tell of one booking: a status report as it comes, and the statement with its own day
// and a weekend between them.
const sameNews = 5 * 24 * time.Hour

// doubtful stands for a collection that nobody but a person can name.
var doubtful = uuid.Max

// told finds the collection among several of which it is known that it did not go through, but not by this kind of file: a
// line without a name that brings the same news repeats it, and must not take the money of the month before for gone as well.
// Where it may as well be a later one's, or has another reason, a person has to say so.
func (r *reader) told(it *item, entries []store.BankFileEntry) (uuid.UUID, error) {
	if len(entries) < 2 || it.line.IsCredit || !slices.ContainsFunc(entries, isBad) {
		return uuid.Nil, nil
	}
	news, err := r.tenant(r.account).BankNews(r.ctx, it.line, r.statement.ID, transactionsOf(entries))
	if err != nil {
		return uuid.Nil, err
	}
	at := r.now
	if !it.clue.isOfDueDate {
		at = cmp.Or(it.clue.date, r.now)
	}
	isFree := func(e store.BankFileEntry) bool { return isBad(e) && !r.chosen[it.pick(e)] }
	for _, e := range entries {
		if news[e.TransactionID].IsOfThisFile && isFree(e) {
			return e.TransactionID, nil // the file is read again
		}
	}
	for i, e := range entries {
		known, isKnown := news[e.TransactionID]
		if !isKnown || !isFree(e) || known.At.Sub(at).Abs() > sameNews {
			continue
		}
		isLater := func(e store.BankFileEntry) bool { return !isBad(e) }
		if slices.ContainsFunc(entries[:i], isLater) || !isSameReason(known.Reason, it.line.Reason) {
			it.line.Note = "It may repeat what is known of " + e.EndToEndID + ", or be another payment of the same payer."
			return doubtful, nil
		}
		return e.TransactionID, nil
	}
	return uuid.Nil, nil
}

// mayBeLost tells a line without a name that may speak of a later collection than those that are known: one that left after a
// backup and is in a file that was taken in, but has not been opened here again. The line is read again when the account goes on.
func (r *reader) mayBeLost(it *item, entries []store.BankFileEntry) (bool, error) {
	if it.isNamed || it.line.IsCredit || len(entries) == 0 {
		return false, nil
	}
	by, _ := r.window(it.clue.date)
	is, err := r.tenant(r.account).HasLostDebit(r.ctx, r.account.ID, it.clue.amount, entries[0].DueDate, by)
	if is {
		it.line.Note = "It may be of a payment that left after the backup and is not known here yet."
	}
	return is, err
}

// isSameReason tells reasons that do not contradict each other: some files leave theirs away.
func isSameReason(one, other string) bool {
	return one == "" || other == "" || strings.EqualFold(one, other)
}

func transactionsOf(entries []store.BankFileEntry) []uuid.UUID {
	ids := make([]uuid.UUID, len(entries))
	for i, e := range entries {
		ids[i] = e.TransactionID
	}
	return ids
}
