package recon

import (
	"maps"
	"slices"

	"sepad/internal/payment"
	"sepad/internal/store"
)

// balance is how two sides add up, by currency. The file is counted as it is read, and whatever does not match as it is
// found: what matches is the rest.
type balance map[string]*Totals

func (b balance) of(currency string) *Totals {
	if b[currency] == nil {
		b[currency] = &Totals{Currency: currency}
	}
	return b[currency]
}

// signed is what an amount adds to a sum; what goes back counts below zero.
func signed(kind payment.TransactionType, amount payment.Minor) payment.Minor {
	if kind == payment.Refund {
		return -amount
	}
	return amount
}

func (b balance) add(m store.Mismatch) {
	if m.File != nil {
		totals := b.of(m.File.Currency)
		if m.Known == nil {
			totals.MissingHere.add(1, signed(m.File.Type, m.File.AmountMinor))
		} else {
			totals.DifferingFile.add(1, signed(m.File.Type, m.File.AmountMinor))
		}
	}
	if m.Known != nil {
		totals := b.of(m.Known.Currency)
		if m.File == nil {
			totals.MissingThere.add(1, signed(m.Known.Type, m.Known.AmountMinor))
		} else {
			totals.DifferingOurs.add(1, signed(m.Known.Type, m.Known.AmountMinor))
		}
	}
}

func (b balance) totals() []Totals {
	all := []Totals{}
	for _, currency := range slices.Sorted(maps.Keys(b)) {
		t := *b[currency]
		t.close()
		all = append(all, t)
	}
	return all
}

// close makes up what follows from the rest, and gives every amount its text.
func (t *Totals) close() {
	t.Matched = t.File
	t.Matched.add(-t.DifferingFile.Count-t.MissingHere.Count, -t.DifferingFile.Minor-t.MissingHere.Minor)
	t.Ours = t.Matched
	t.Ours.add(t.DifferingOurs.Count+t.MissingThere.Count, t.DifferingOurs.Minor+t.MissingThere.Minor)
	for _, a := range []*Amount{
		&t.File, &t.Ours, &t.Matched, &t.DifferingFile, &t.DifferingOurs, &t.MissingHere, &t.MissingThere,
	} {
		a.Text = a.Minor.String()
	}
	t.DifferenceText = (t.File.Minor - t.Ours.Minor).String()
}
