package banking

import (
	"strings"
	"time"

	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/store"
)

// clue is what a bank says that may tell which collection it speaks of.
type clue struct {
	endToEndID string
	mandate    string
	account    sepa.IBAN
	amount     payment.Minor // 0 when it is not said
	date       time.Time     // of the booking; zero when it is not said
	text       string
}

// lookBack is how long after its due date a collection can come back: thirteen months, and the days it takes.
const lookBack = 14 * 31 * 24 * time.Hour

// match finds the collection that a bank speaks of, nil for none: by our id, by our id inside of what the bank made of
// it, by mandate and amount, or by account and amount.
func (r *reader) match(c clue) (*store.BankFileEntry, error) {
	for _, id := range []string{c.endToEndID, r.idIn(c.endToEndID), r.idIn(c.text)} {
		if id == "" {
			continue
		}
		found, err := r.tenant(r.account).BankEntriesByID(r.ctx, r.account.ID, id)
		if err != nil || len(found) > 0 {
			return r.choose(found, c.date), wrap(err)
		}
	}
	if c.amount == 0 {
		return nil, nil
	}
	by, from := r.window(c.date)
	if c.mandate != "" {
		found, err := r.tenant(r.account).BankEntriesByMandate(r.ctx, r.account.ID, c.mandate, c.amount, by)
		if err != nil || len(found) > 0 {
			return r.choose(found, c.date), wrap(err)
		}
	}
	if c.account.IsZero() {
		return nil, nil
	}
	alike, err := r.tenant(r.account).BankEntriesByAmount(r.ctx, r.account.ID, c.amount, c.account.Masked(), from, by)
	if err != nil {
		return nil, failure{err}
	}
	var found []store.BankFileEntry
	for _, entry := range alike {
		same, err := r.debits(entry, c.account)
		if err != nil {
			return nil, failure{err}
		}
		if same {
			found = append(found, entry)
		}
	}
	return r.choose(found, c.date), nil
}

func wrap(err error) error {
	if err == nil {
		return nil
	}
	return failure{err}
}

// idIn finds our id by the account's pattern: its first group, or the whole of what it finds.
func (r *reader) idIn(text string) string {
	pattern := r.account.Terms.ReferencePattern
	if pattern == nil {
		return ""
	}
	found := pattern.FindStringSubmatch(text)
	if len(found) == 0 {
		return ""
	}
	return strings.TrimSpace(found[len(found)-1])
}

// window is between which due dates a booking of a day can belong to.
func (r *reader) window(booked time.Time) (by, from string) {
	if booked.IsZero() {
		booked = r.now
	}
	return booked.Format(time.DateOnly), booked.Add(-lookBack).Format(time.DateOnly)
}

// choose takes one of several collections that would do, the latest first: one that is known to have come back on that
// day, because a bank tells the same booking in up to three files, or else one that has not come back. Two lines of
// one file are two bookings, and never the same collection.
func (r *reader) choose(entries []store.BankFileEntry, booked time.Time) *store.BankFileEntry {
	isSame := func(e store.BankFileEntry) bool { return e.IsBack && dateText(e.BackAt) == dateText(booked) }
	isOpen := func(e store.BankFileEntry) bool { return !e.IsBack && !e.IsDeclined }
	isAny := func(store.BankFileEntry) bool { return true }
	for _, fits := range []func(store.BankFileEntry) bool{isSame, isOpen, isAny} {
		for i := range entries {
			if e := &entries[i]; fits(*e) && (len(entries) == 1 || !r.chosen[e.TransactionID]) {
				r.chosen[e.TransactionID] = true
				return e
			}
		}
	}
	return nil
}

// debits tells whether a collection is from an account: their endings are the same for many.
func (r *reader) debits(entry store.BankFileEntry, account sepa.IBAN) (bool, error) {
	sealed, err := r.tenant(r.account).SealedIBAN(r.ctx, entry.TransactionID)
	if err != nil {
		return false, err
	}
	electronic, err := r.Checkout.Vault.Open(sealed, store.PurposeIBAN(r.statement.TenantID))
	if err != nil {
		return false, err
	}
	return string(electronic) == account.Electronic(), nil
}
