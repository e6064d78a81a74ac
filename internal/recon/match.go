package recon

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"sepad/internal/checkout"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// maxListed bounds each list of a report; what is beyond it is counted all the
// same, so that the totals always add up.
const maxListed = 100_000

// Report is a processor's file held against our records.
type Report struct {
	Kind ImportKind `json:"kind"`
	// FirstDay and LastDay are the period of the file, by its own dates.
	FirstDay string `json:"first_day"`
	LastDay  string `json:"last_day"`
	// Totals are by currency, in the currency's order.
	Totals       []Totals     `json:"totals"`
	Differing    []Differing  `json:"differing"`
	MissingHere  []OneSided   `json:"missing_here"`
	MissingThere []OneSided   `json:"missing_there"`
	Unreadable   []Unreadable `json:"unreadable"`
	// Applied counts what was settled by the file.
	Applied int `json:"applied"`
}

// Totals say how two sides of one currency add up: what the file has is matched,
// differing or missing here; what we have is matched, differing or missing there.
type Totals struct {
	Currency       string `json:"currency"`
	File           Amount `json:"file"`
	Ours           Amount `json:"ours"`
	Matched        Amount `json:"matched"`
	DifferingFile  Amount `json:"differing_in_file"`
	DifferingOurs  Amount `json:"differing_in_ours"`
	MissingHere    Amount `json:"missing_here"`
	MissingThere   Amount `json:"missing_there"`
	DifferenceText string `json:"difference"`
}

// Amount is a number of records and what they come to; refunds count below zero.
type Amount struct {
	Count int           `json:"count"`
	Minor payment.Minor `json:"-"`
	Text  string        `json:"amount"`
}

func (a *Amount) add(count int, minor payment.Minor) {
	a.Count += count
	a.Minor += minor
}

// Differing is a record that both sides have and describe differently.
type Differing struct {
	Line                  int          `json:"line"`
	MerchantTransactionID string       `json:"merchant_transaction_id"`
	Differences           []Difference `json:"differences"`
	Applied               bool         `json:"applied"`
}

// Difference is one field in which the sides differ.
type Difference struct {
	Field string `json:"field"`
	Ours  string `json:"ours"`
	File  string `json:"file"`
}

// OneSided is a record that one side lacks. Line is 0 for one of ours.
type OneSided struct {
	Line                  int    `json:"line,omitempty"`
	MerchantTransactionID string `json:"merchant_transaction_id"`
	Date                  string `json:"date"`
	Status                string `json:"status"`
	Type                  string `json:"type"`
	Amount                string `json:"amount"`
	Currency              string `json:"currency"`
	Applied               bool   `json:"applied,omitempty"`
}

// Unreadable is a line of the file that could not be compared.
type Unreadable struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

// Reconcile holds a file against our records of its period. With apply, it
// settles what the file proves: a pending payment that was collected or refused,
// and a payment that was charged back.
func (im *Importer) Reconcile(ctx context.Context, req ImportRequest, apply bool) (Report, error) {
	run, lines, err := im.open(ctx, req)
	if err != nil {
		return Report{}, err
	}
	// Whatever happens, the lines do not stay behind.
	defer func() {
		_ = im.Store.Write(context.WithoutCancel(ctx), run.record.CreatedAt, func(tx *store.Tx) error {
			tx.Unstage(req.TenantID, run.record.ID)
			return nil
		})
	}()
	report := Report{Kind: req.Kind, Differing: []Differing{}, MissingHere: []OneSided{}, MissingThere: []OneSided{}, Unreadable: []Unreadable{}}
	match, err := run.stage(ctx, lines, &report)
	if err != nil {
		return Report{}, err
	}
	found, err := run.compare(ctx, match, &report)
	if err != nil || !apply {
		return report, err
	}
	if err := im.Store.Note(ctx, run.deed("reconciliation.apply")); err != nil {
		return report, err
	}
	return report, run.apply(ctx, found, &report)
}

// stage reads the whole file beside our records, and its period.
func (r *running) stage(ctx context.Context, lines *lineReader, report *Report) (store.Match, error) {
	size, writers := r.Store.BulkBatch()
	batches := make(chan *batch, writers)
	group, working := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(batches)
		return readBatches(working, lines, method{size: size, read: r.compareLine}, batches)
	})
	staged := staging{running: r, report: report}
	for range writers {
		group.Go(func() error {
			for b := range batches {
				if err := staged.add(working, b); err != nil {
					return err
				}
			}
			return nil
		})
	}
	match := store.Match{
		TenantID: r.TenantID, ImportID: r.record.ID, GatewayID: r.GatewayID, IsChargebacks: r.Kind == ImportChargebacks,
	}
	if err := group.Wait(); err != nil {
		return match, err
	}
	if first, last := payment.DateOf(staged.first), payment.DateOf(staged.last); !staged.first.IsZero() {
		match.From, match.To = first.Start(), last.AddDays(1).Start()
		report.FirstDay, report.LastDay = first.String(), last.String()
	}
	return match, r.dropRepeated(ctx, report)
}

// compareLine reads a line as stageLine does, and leaves the payer in the file: nobody compares names and accounts.
func (r *running) compareLine(l *line, b *batch) error {
	if err := r.stageLine(l, b); err != nil {
		return err
	}
	t := &b.staged[len(b.staged)-1].Transaction
	t.MaskedIBAN, t.IBANCountry, t.BIC, t.HolderName, t.Email, t.MandateReference, t.MandateAt = "", "", "", "", "", "", time.Time{}
	return nil
}

// staging is a file on its way beside our records.
type staging struct {
	*running
	mu          sync.Mutex
	report      *Report
	first, last time.Time
}

// add stages a batch. It need not last: the file is read again.
func (s *staging) add(ctx context.Context, b *batch) error {
	s.note(b)
	return s.Store.Write(ctx, s.record.CreatedAt, func(tx *store.Tx) error {
		tx.Relax()
		return tx.Stage(s.record.ID, b.staged)
	})
}

// note keeps the file's period, and which lines could not be read.
func (s *staging) note(b *batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, rejected := range b.rejected {
		s.report.Unreadable = append(s.report.Unreadable, Unreadable{rejected.Line, rejected.Reason})
	}
	for i := range b.staged {
		at := b.staged[i].ProcessedAt
		if s.first.IsZero() || at.Before(s.first) {
			s.first = at
		}
		if at.After(s.last) {
			s.last = at
		}
	}
}

// dropRepeated leaves the first line of each reference to be compared.
func (r *running) dropRepeated(ctx context.Context, report *Report) error {
	var repeated []int
	err := r.Store.Write(ctx, r.record.CreatedAt, func(tx *store.Tx) error {
		tx.CountStaged()
		return nil
	})
	if err != nil {
		return err
	}
	err = r.Store.Write(ctx, r.record.CreatedAt, func(tx *store.Tx) (err error) {
		repeated, err = tx.RepeatedStaged(r.TenantID, r.record.ID)
		return err
	})
	for _, line := range repeated {
		report.Unreadable = append(report.Unreadable, Unreadable{line, "An earlier line has the same merchant_transaction_id."})
	}
	slices.SortFunc(report.Unreadable, func(a, b Unreadable) int { return a.Line - b.Line })
	return err
}

// disagreement is what the two sides do not agree on, as far as it is listed.
type disagreement struct {
	differing                 []store.Difference
	missingHere, missingThere []store.Staged
}

// compare fills the report. A list is read only where the sums say that there is one: each goes through both sides.
func (r *running) compare(ctx context.Context, match store.Match, report *Report) (f disagreement, err error) {
	sums, err := match.Sums(ctx, r.Store)
	if err != nil {
		return f, err
	}
	report.Totals = totals(sums)
	has := func(result store.MatchResult) bool {
		return slices.ContainsFunc(sums, func(sum store.MatchSum) bool { return sum.Result == result })
	}
	if has(store.Differing) {
		if f.differing, err = match.Differences(ctx, r.Store, maxListed); err != nil {
			return f, err
		}
	}
	if has(store.MissingHere) {
		if f.missingHere, err = match.MissingHere(ctx, r.Store, maxListed); err != nil {
			return f, err
		}
	}
	if has(store.MissingThere) {
		if f.missingThere, err = match.MissingThere(ctx, r.Store, maxListed); err != nil {
			return f, err
		}
	}
	for _, d := range f.differing {
		report.Differing = append(report.Differing, Differing{
			Line: d.Line, MerchantTransactionID: d.Known.MerchantTransactionID, Differences: differences(d),
		})
	}
	report.MissingHere, report.MissingThere = oneSided(f.missingHere), oneSided(f.missingThere)
	return f, nil
}

func differences(d store.Difference) (found []Difference) {
	pairs := []Difference{
		{"amount", d.Known.AmountMinor.String(), d.Reported.AmountMinor.String()},
		{"currency", d.Known.Currency, d.Reported.Currency},
		{"status", string(d.Known.Status), string(d.Reported.Status)},
	}
	return slices.DeleteFunc(pairs, func(p Difference) bool { return p.Ours == p.File })
}

func oneSided(records []store.Staged) []OneSided {
	list := make([]OneSided, len(records))
	for i, one := range records {
		list[i] = OneSided{
			Line: one.Line, MerchantTransactionID: one.MerchantTransactionID, Date: payment.DateOf(one.ProcessedAt).String(),
			Status: string(one.Status), Type: string(one.Type), Amount: one.AmountMinor.String(), Currency: one.Currency,
		}
	}
	return list
}

// totals puts the sums of both sides together by currency.
func totals(sums []store.MatchSum) []Totals {
	byCurrency := map[string]*Totals{}
	of := func(currency string) *Totals {
		if byCurrency[currency] == nil {
			byCurrency[currency] = &Totals{Currency: currency}
		}
		return byCurrency[currency]
	}
	for _, sum := range sums {
		if sum.Result != store.MissingThere {
			of(sum.FileCurrency).addFile(sum)
		}
		if sum.Result != store.MissingHere {
			of(sum.OurCurrency).addOurs(sum)
		}
	}
	all := []Totals{}
	for _, currency := range slices.Sorted(maps.Keys(byCurrency)) {
		t := *byCurrency[currency]
		t.write()
		all = append(all, t)
	}
	return all
}

func (t *Totals) addFile(sum store.MatchSum) {
	t.File.add(sum.Count, sum.FileMinor)
	switch sum.Result {
	case store.Matched:
		t.Matched.add(sum.Count, sum.FileMinor)
	case store.Differing:
		t.DifferingFile.add(sum.Count, sum.FileMinor)
	default:
		t.MissingHere.add(sum.Count, sum.FileMinor)
	}
}

func (t *Totals) addOurs(sum store.MatchSum) {
	t.Ours.add(sum.Count, sum.OurMinor)
	switch sum.Result {
	case store.Differing:
		t.DifferingOurs.add(sum.Count, sum.OurMinor)
	case store.MissingThere:
		t.MissingThere.add(sum.Count, sum.OurMinor)
	}
}

// write gives every amount its text.
func (t *Totals) write() {
	for _, a := range []*Amount{
		&t.File, &t.Ours, &t.Matched, &t.DifferingFile, &t.DifferingOurs, &t.MissingHere, &t.MissingThere,
	} {
		a.Text = a.Minor.String()
	}
	t.DifferenceText = (t.File.Minor - t.Ours.Minor).String()
}

// apply settles what the file proves.
func (r *running) apply(ctx context.Context, f disagreement, report *Report) error {
	if r.Kind == ImportChargebacks { // one that differs has nothing that could be settled
		done, err := r.applyChargebacks(ctx, f.missingHere)
		for i := range done {
			report.MissingHere[i].Applied = done[i]
			report.count(done[i])
		}
		return err
	}
	for i, d := range f.differing {
		done, err := r.applyDifference(ctx, d)
		if err != nil {
			return err
		}
		report.Differing[i].Applied = done
		report.count(done)
	}
	return nil
}

func (r *Report) count(done bool) {
	if done {
		r.Applied++
	}
}

// applyDifference settles a payment by its line, if that is all they differ in.
func (r *running) applyDifference(ctx context.Context, d store.Difference) (bool, error) {
	d.Reported.GatewayID = r.GatewayID
	if d.Reported.AmountMinor != d.Known.AmountMinor || d.Reported.Currency != d.Known.Currency {
		return false, nil
	}
	means, err := d.Known.Against(d.Reported)
	if err != nil || means == payment.ReportsNothing {
		return false, nil //nolint:nilerr // a difference for a person to look at
	}
	err = r.Checkout.ApplyReported(ctx, r.setup, d.Known.ID, means, d.Reported, payment.ChargebackReconciled)
	return err == nil, ignoreRefusal(err)
}

// applyChargebacks records what the file reports as charged back, and says which
// lines have changed something.
func (r *running) applyChargebacks(ctx context.Context, lines []store.Staged) (done []bool, err error) {
	for batch := range slices.Chunk(lines, chargebackBatch) {
		report := checkout.ChargebackReport{GatewayID: r.GatewayID, Source: payment.ChargebackReconciled}
		for _, line := range batch {
			report.Chargebacks = append(report.Chargebacks, checkout.ReportedChargeback{Chargeback: payment.Chargeback{
				MerchantTransactionID: line.MerchantTransactionID, GatewayReference: line.GatewayReference,
				AmountMinor: line.AmountMinor, Currency: line.Currency, ReportedAt: line.ProcessedAt,
			}})
		}
		answers, err := r.Checkout.TakeChargebacks(ctx, r.setup, report)
		if err != nil {
			return done, err
		}
		for _, a := range answers {
			done = append(done, a.Refused == nil && a.Taken != payment.TakenUnchanged)
		}
	}
	return done, nil
}

// ignoreRefusal leaves to a person what contradicts our records.
func ignoreRefusal(err error) error {
	if payment.KindOf(err) != 0 {
		return nil
	}
	return err
}
