package banking

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

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
	// isOfDueDate tells that the day is not the booking's, but that on which the collection was due.
	isOfDueDate bool
	text        string
}

// namesDueDate tells a line that says when the collection was due.
func (c *clue) namesDueDate() bool { return c.isOfDueDate && !c.date.IsZero() }

// lookBack is how long after its due date a collection can come back: thirteen months, and the days it takes.
const lookBack = 14 * 31 * 24 * time.Hour

// find gives for each line the collections that it may speak of, those of all lines together: by our id, by our id
// inside of what the bank made of it, by mandate and amount, or by account and amount. A line with an id of ours that is
// not known at this account speaks of a collection of another one, or of one that was lost, and never of a third. So does one
// with a mandate or an id that is nobody's here: another program may collect from the same payer, to the same bank account.
func (r *reader) find(items []*item) ([][]store.BankFileEntry, error) {
	found := make([][]store.BankFileEntry, len(items))
	ids := []func(*clue) string{
		func(c *clue) string { return c.endToEndID },
		func(c *clue) string { return r.idIn(c.endToEndID) },
		func(c *clue) string { return r.idIn(c.text) },
	}
	for _, id := range ids {
		err := named(items, found, id, r.tenant(r.account).BankEntriesByID, func(e *store.BankFileEntry) string { return e.EndToEndID }, nil, r)
		if err != nil {
			return nil, err
		}
	}
	for i, it := range items {
		it.isNamed = len(found[i]) > 0
	}
	ofMandate := func(c *clue) string {
		if c.amount == 0 || payment.HasOurForm(c.endToEndID) {
			return ""
		}
		return c.mandate
	}
	fits := func(c *clue, e *store.BankFileEntry) bool {
		by, from := r.window(c)
		return !e.IsTransfer() && e.AmountMinor == c.amount && e.DueDate >= from && e.DueDate <= by
	}
	err := named(items, found, ofMandate, r.tenant(r.account).BankEntriesByMandate, func(e *store.BankFileEntry) string { return e.MandateReference }, fits, r)
	if err != nil {
		return nil, err
	}
	for i, it := range items {
		if it.clue == nil || len(found[i]) > 0 || !r.hasAccountAlone(it) {
			continue
		}
		if found[i], it.others, err = r.ofAccount(it); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// named fills in what lines with nothing so far have by a name, the latest first.
func named(items []*item, found [][]store.BankFileEntry, name func(*clue) string,
	read func(context.Context, uuid.UUID, []string) ([]store.BankFileEntry, error), nameOf func(*store.BankFileEntry) string,
	fits func(*clue, *store.BankFileEntry) bool, r *reader,
) error {
	var names []string
	wanted := map[string][]store.BankFileEntry{}
	for i, it := range items {
		if it.clue == nil || len(found[i]) > 0 {
			continue
		}
		if text := name(it.clue); text != "" && wanted[text] == nil {
			wanted[text] = []store.BankFileEntry{}
			names = append(names, text)
		}
	}
	entries, err := read(r.ctx, r.account.ID, names)
	if err != nil {
		return err
	}
	slices.SortStableFunc(entries, func(a, b store.BankFileEntry) int {
		return cmp.Or(cmp.Compare(b.DueDate, a.DueDate), cmp.Compare(b.Position, a.Position))
	})
	for _, entry := range entries {
		wanted[nameOf(&entry)] = append(wanted[nameOf(&entry)], entry)
	}
	for i, it := range items {
		if it.clue == nil || len(found[i]) > 0 {
			continue
		}
		for _, entry := range wanted[name(it.clue)] {
			if fits == nil || fits(it.clue, &entry) {
				found[i] = append(found[i], entry)
			}
		}
	}
	return nil
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

// window is between which due dates a line can speak of collections. What is booked was due by then; what is refused may not be due
// for some time.
func (r *reader) window(c *clue) (by, from string) {
	told := r.toldAt(c.date)
	by, from = dateText(told), dateText(told.Add(-lookBack))
	if c.isOfDueDate && c.date.IsZero() {
		by = dateText(told.Add(lookBack))
	}
	return by, from
}
