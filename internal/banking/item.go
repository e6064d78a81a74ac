package banking

import (
	"errors"
	"slices"
	"strings"

	"github.com/google/uuid"

	"sepad/internal/checkout"
	"sepad/internal/iso20022"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// lineBatch is how many lines are worked on at a time: what they speak of is read, changed and written together, by
// statements that list as many.
const lineBatch = 1024

// item is one line of a file on its way: what it says and, where it may speak of one collection, how that is found and
// what it means for it.
type item struct {
	line store.BankLine
	text string
	clue *clue
	// part is the statement of the file that it stands in, nil in a status report.
	part *iso20022.Statement
	// isTakenBack tells a credit that takes a return back.
	isTakenBack bool
	// mayMiss tells a line that is about something else if nothing is found.
	mayMiss bool
	// isNamed tells that what was found has the name that the line has.
	isNamed bool
	// others are collections that it may speak of as well, and of which none is taken for it.
	others []store.BankFileEntry
	mean   func(found store.BankFileEntry, it *item)
}

// take puts a line behind those before it.
func (r *reader) take(it *item) error {
	r.items = append(r.items, it)
	if len(r.items) < lineBatch {
		return nil
	}
	return r.handOver()
}

// handOver has the lines so far worked on while further ones are read. Those before them come first.
func (r *reader) handOver() error {
	batch := r.items
	r.items = nil
	return r.working.begin(func() error { return r.apply(batch) })
}

// flush does what all lines so far say, and writes them down.
func (r *reader) flush() error {
	return errors.Join(r.handOver(), r.working.end(), r.writing.end())
}

// beside is work that goes on beside its owner, one piece after the other.
type beside struct{ done chan error }

// begin begins a piece when the one before it has ended well.
func (b *beside) begin(work func() error) error {
	if err := b.end(); err != nil {
		return err
	}
	done := make(chan error, 1)
	b.done = done
	go func() { done <- work() }()
	return nil
}

// end waits for the last piece.
func (b *beside) end() error {
	if b.done == nil {
		return nil
	}
	err := <-b.done
	b.done = nil
	return err
}

// apply does what lines say, and has them written down with what became of them.
func (r *reader) apply(items []*item) error {
	if len(items) == 0 {
		return nil
	}
	alike, err := r.find(items)
	if err != nil {
		return failure{err}
	}
	touched := map[uuid.UUID]bool{}
	for i, it := range items {
		if it.clue == nil {
			continue
		}
		if alike[i], err = r.afresh(alike[i], touched); err != nil {
			return err
		}
		found, err := r.choose(it, alike[i])
		if err != nil {
			return failure{err}
		}
		if found == nil {
			if !it.mayMiss {
				it.line.Result = store.LineUnmatched
			}
			continue
		}
		entry := *found
		if touched[entry.TransactionID] {
			// A line before this one changes the same collection, and that comes first.
			if err := r.work(); err != nil {
				return err
			}
			clear(touched)
			if entry, err = r.tenant(r.account).BankEntry(r.ctx, entry.TransactionID); err != nil {
				return failure{err}
			}
		}
		touched[entry.TransactionID] = true
		it.mean(entry, it)
	}
	if err := r.work(); err != nil {
		return err
	}
	return r.writeDown(items)
}

// afresh reads collections anew of which one is to be chosen, when a line before has changed one of them.
func (r *reader) afresh(alike []store.BankFileEntry, touched map[uuid.UUID]bool) ([]store.BankFileEntry, error) {
	isTouched := func(e store.BankFileEntry) bool { return touched[e.TransactionID] }
	if len(alike) < 2 || !slices.ContainsFunc(alike, isTouched) {
		return alike, nil
	}
	if err := r.work(); err != nil {
		return nil, err
	}
	clear(touched)
	present := make([]store.BankFileEntry, len(alike))
	for i, e := range alike {
		var err error
		if present[i], err = r.tenant(r.account).BankEntry(r.ctx, e.TransactionID); err != nil {
			return nil, failure{err}
		}
	}
	return present, nil
}

// longestReference is how much of a bank's reference is kept: more is no reference, and no index takes it.
const longestReference = 140

// writeDown numbers and counts the lines, and has them kept with what became of them while those behind them are worked on.
func (r *reader) writeDown(items []*item) error {
	for _, it := range items {
		r.statement.LineCount++
		it.line.Position = r.statement.LineCount
		it.line.Reference = iso20022.Shorten(it.line.Reference, longestReference)
		r.reading.Counts.add(it.line.Result)
	}
	if r.isDryRun {
		return nil
	}
	statement := r.statement
	return r.writing.begin(func() error { return wrap(r.keepLines(statement, items)) })
}

func (r *reader) keepLines(statement store.BankStatement, items []*item) error {
	lines := make([]store.BankLine, len(items))
	for i, it := range items {
		lines[i] = it.line
		text := strings.TrimSpace(it.text)
		if text == "" {
			continue
		}
		sealed, err := r.Checkout.Vault.Seal([]byte(text), store.BindBankLine(statement.TenantID, statement.ID, it.line.Position))
		if err != nil {
			return err
		}
		lines[i].SealedText = sealed
	}
	err := r.store().Write(r.ctx, r.now, func(tx *store.Tx) error {
		tx.Relax() // the end of the reading brings them to the disk, and without it they are read again
		return tx.LoadBankLines(statement, lines)
	})
	if errors.Is(err, store.ErrStale) {
		err = r.store().Write(r.ctx, r.now, func(tx *store.Tx) error {
			tx.AddBankLines(statement, lines)
			return nil
		})
	}
	return err
}

// settlement is an outcome that a line brings to a collection, returned one that a line says has come back.
type (
	settlement struct {
		entry   store.BankFileEntry
		outcome payment.Outcome
		it      *item
	}
	returned struct {
		entry  store.BankFileEntry
		report payment.Chargeback
		it     *item
	}
)

// work does what lines were found to mean: first outcomes, then what came back, each kind together. One that cannot be
// done fails alone.
func (r *reader) work() error {
	settling, returning := r.settling, r.returning
	r.settling, r.returning = nil, nil
	if r.isDryRun {
		return nil
	}
	if err := apart(settling, r.settleAll, func(one settlement, err error) error { return r.poisoned(one.entry, one.it, err) }); err != nil {
		return err
	}
	return apart(returning, r.giveBackAll, func(one returned, err error) error { return r.poisoned(one.entry, one.it, err) })
}

// apart works on all together and, where that fails, on halves of them, until what fails stands alone.
func apart[T any](all []T, together func([]T) error, alone func(T, error) error) error {
	if len(all) == 0 {
		return nil
	}
	err := together(all)
	switch {
	case err == nil:
		return nil
	case len(all) == 1:
		return alone(all[0], err)
	}
	if err := apart(all[:len(all)/2], together, alone); err != nil {
		return err
	}
	return apart(all[len(all)/2:], together, alone)
}

// poisoned sets a line aside whose collection cannot be changed though the database is there. Everything else is a
// failure of ours, after which the file is read again.
func (r *reader) poisoned(entry store.BankFileEntry, it *item, why error) error {
	if errors.Is(why, store.ErrStale) || errors.Is(why, store.ErrBankLineTaken) || r.ctx.Err() != nil {
		return failure{why}
	}
	if _, err := r.tenant(r.account).BankEntry(r.ctx, entry.TransactionID); err != nil {
		return failure{why}
	}
	r.Logger.ErrorContext(r.ctx, "a line of a bank's answer could not be applied and needs a person", "gateway_id", r.account.ID,
		"transaction_id", entry.TransactionID, "error", why)
	it.line.Result, it.line.Note = store.LineContradicts, "It could not be applied: the log says why."
	return nil
}

func (r *reader) settleAll(all []settlement) error {
	reports := make([]checkout.Report, len(all))
	for i, one := range all {
		reports[i] = checkout.Report{TransactionID: one.entry.TransactionID, Outcome: one.outcome}
	}
	refused, err := r.Checkout.SettleReportedWith(r.ctx, r.account.Setup, reports, r.along)
	for i, why := range refused {
		if why != nil {
			all[i].it.line.Result, all[i].it.line.Note = store.LineContradicts, why.Error()
		}
	}
	return err
}

func (r *reader) giveBackAll(all []returned) error {
	report := checkout.ChargebackReport{GatewayID: r.account.ID, Source: payment.ChargebackReconciled, Along: r.along}
	for _, one := range all {
		report.Chargebacks = append(report.Chargebacks, checkout.ReportedChargeback{Chargeback: one.report})
	}
	taken, err := r.Checkout.TakeChargebacks(r.ctx, r.account.Setup, report)
	for i, one := range taken {
		switch line := &all[i].it.line; {
		case one.Refused != nil:
			line.Result, line.Note = store.LineContradicts, one.Refused.Error()
		case one.Taken == payment.TakenUnchanged:
			line.Result = store.LineKnown
		}
	}
	return err
}
