package recon

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"sepad/internal/payment"
	"sepad/internal/store"
)

// maxListed bounds each list of a report; what is beyond it is counted all the
// same, so that the totals always add up, and settled.
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
	// UnreadableCount is how many lines could not be compared, listed or not.
	UnreadableCount int `json:"unreadable_count"`
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

// leaveOut counts lines that could not be compared, and lists as many as there is room for.
func (r *Report) leaveOut(count int, lines []Unreadable) {
	r.UnreadableCount += count
	r.Unreadable = append(r.Unreadable, lines[:min(len(lines), maxListed-len(r.Unreadable))]...)
}

// Reconcile holds a file against our records of its period. With apply, it
// settles what the file proves: a pending payment that was collected or refused,
// and a payment that was charged back.
func (im *Importer) Reconcile(ctx context.Context, req ImportRequest, apply bool) (Report, error) {
	run, lines, err := im.open(ctx, req)
	if err != nil {
		return Report{}, err
	}
	match := store.Match{TenantID: run.TenantID, ImportID: run.record.ID, GatewayID: run.GatewayID, IsChargebacks: run.Kind == ImportChargebacks}
	// Whatever happens, the lines do not stay behind.
	defer func() {
		_ = im.Store.DropCompared(context.WithoutCancel(ctx), run.record.CreatedAt, match)
	}()
	report := Report{Kind: req.Kind, Differing: []Differing{}, MissingHere: []OneSided{}, MissingThere: []OneSided{}, Unreadable: []Unreadable{}}
	side := fileSide{running: run, report: &report, match: match, balance: balance{}, applies: apply, most: maxListed}
	if im.Listed > 0 {
		side.most = im.Listed
	}
	if err := side.read(ctx, lines); err != nil {
		return Report{}, err
	}
	found, err := side.compare(ctx)
	if err != nil || !apply {
		return report, err
	}
	if err := im.Store.Note(ctx, run.deed("reconciliation.apply")); err != nil {
		return report, err
	}
	if err := run.apply(ctx, found, &report); err != nil {
		return report, err
	}
	return report, side.applyRest(ctx, found)
}

// fileSide is a file on its way beside our records.
type fileSide struct {
	*running
	report  *Report
	match   store.Match
	applies bool
	// most is how many of each kind are held at once.
	most int

	mu          sync.Mutex
	balance     balance
	first, last time.Time
}

// read puts the whole file beside our records, and finds its period.
func (f *fileSide) read(ctx context.Context, lines *lineReader) error {
	size, writers := f.Store.BulkBatch()
	batches := make(chan *batch, writers)
	group, working := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(batches)
		return readBatches(working, lines, method{size: size, read: f.compareLine}, batches)
	})
	for range writers {
		group.Go(func() error {
			for b := range batches {
				if err := f.add(working, b); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if first, last := payment.DateOf(f.first), payment.DateOf(f.last); !f.first.IsZero() {
		f.match.From, f.match.To = first.Start(), last.AddDays(1).Start()
		f.report.FirstDay, f.report.LastDay = first.String(), last.String()
	}
	return f.dropRepeated(ctx)
}

// compareLine reads what is compared of a line. The payer stays in the file: nobody compares names and accounts.
func (f *fileSide) compareLine(l *line, b *batch) error {
	t, rest, err := f.readCompared(l)
	if err != nil {
		return err
	}
	if b.compared == nil {
		size, _ := f.Store.BulkBatch()
		b.compared = make([]store.Compared, 0, size)
	}
	b.compared = append(b.compared, store.Compared{
		Line: l.number, MerchantTransactionID: t.MerchantTransactionID, GatewayReference: t.GatewayReference, ProcessorID: t.ProcessorID, Rest: rest,
		Status: t.Status, Type: t.Type, AmountMinor: t.AmountMinor, Currency: t.Currency, ProcessedAt: t.ProcessedAt,
	})
	return nil
}

// readCompared also gives what else is needed of a chargeback that is to be recorded.
func (f *fileSide) readCompared(l *line) (t payment.Transaction, rest string, err error) {
	if f.Kind == ImportTransactions {
		t, err = l.readCompared()
		return t, "", err
	}
	c, paymentID, err := l.readChargeback()
	if err == nil && c.MerchantTransactionID == "" {
		err = errors.New("merchant_transaction_id is required.")
	}
	if err == nil && f.applies {
		rest, err = restOf(c, paymentID)
	}
	return payment.Transaction{
		MerchantTransactionID: c.MerchantTransactionID, GatewayReference: c.GatewayReference, Type: payment.ChargebackType,
		Status: payment.TransactionChargedBack, AmountMinor: c.AmountMinor, Currency: c.Currency, ProcessedAt: c.ReportedAt,
	}, rest, err
}

// add writes a batch. It need not last: the file is read again.
func (f *fileSide) add(ctx context.Context, b *batch) error {
	f.note(b)
	return f.Store.Write(ctx, f.record.CreatedAt, func(tx *store.Tx) error {
		tx.Relax()
		return tx.AddCompared(f.match, b.compared)
	})
}

// note keeps what the file comes to, its period, and which lines could not be read.
func (f *fileSide) note(b *batch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, rejected := range b.rejected {
		f.report.leaveOut(1, []Unreadable{{rejected.Line, rejected.Reason}})
	}
	for i := range b.compared {
		line := &b.compared[i]
		f.balance.of(line.Currency).File.add(1, signed(line.Type, line.AmountMinor))
		if f.first.IsZero() || line.ProcessedAt.Before(f.first) {
			f.first = line.ProcessedAt
		}
		if line.ProcessedAt.After(f.last) {
			f.last = line.ProcessedAt
		}
	}
}

// dropRepeated leaves the first line of each reference to be compared.
func (f *fileSide) dropRepeated(ctx context.Context) error {
	err := f.Store.Write(ctx, f.record.CreatedAt, func(tx *store.Tx) error {
		tx.CountCompared()
		return nil
	})
	if err != nil {
		return err
	}
	if has, err := f.match.HasRepeated(ctx, f.Store); err != nil {
		return err
	} else if has {
		if err := f.leaveOutRepeated(ctx); err != nil {
			return err
		}
	}
	slices.SortFunc(f.report.Unreadable, func(a, b Unreadable) int { return a.Line - b.Line })
	return nil
}

// leaveOutRepeated takes out what the lines come to of which an earlier one has the reference. That may be all but one,
// so that nobody holds them.
func (f *fileSide) leaveOutRepeated(ctx context.Context) error {
	return f.Store.DropRepeated(ctx, f.record.CreatedAt, f.match, func(line store.Compared) {
		f.balance.of(line.Currency).File.add(-1, -signed(line.Type, line.AmountMinor))
		f.report.leaveOut(1, []Unreadable{{line.Line, "An earlier line has the same merchant_transaction_id."}})
	})
}

// disagreement is what the two sides do not agree on, as far as it is listed.
type disagreement struct {
	differing                 []store.Mismatch
	missingHere, missingThere []store.Mismatch
}

// find gathers what the two sides do not agree on, as much as is listed, and has all of it counted.
func (f *fileSide) find(ctx context.Context, count func(store.Mismatch)) (found disagreement, err error) {
	err = f.match.Mismatches(ctx, f.Store, func(m store.Mismatch) {
		count(m)
		switch {
		case m.Known == nil:
			found.missingHere = f.list(found.missingHere, m)
		case m.File == nil:
			found.missingThere = f.list(found.missingThere, m)
		default:
			found.differing = f.list(found.differing, m)
		}
	})
	return found, err
}

// compare fills the report.
func (f *fileSide) compare(ctx context.Context) (found disagreement, err error) {
	if found, err = f.find(ctx, f.balance.add); err != nil {
		return found, err
	}
	f.report.Totals = f.balance.totals()
	for _, m := range found.differing {
		f.report.Differing = append(f.report.Differing, Differing{
			Line: m.File.Line, MerchantTransactionID: m.File.MerchantTransactionID, Differences: differences(m),
		})
	}
	for _, m := range found.missingHere {
		f.report.MissingHere = append(f.report.MissingHere, oneSided(*m.File))
	}
	for _, m := range found.missingThere {
		known := m.Known
		f.report.MissingThere = append(f.report.MissingThere, oneSided(store.Compared{
			MerchantTransactionID: known.MerchantTransactionID, Status: known.Status, Type: known.Type, AmountMinor: known.AmountMinor,
			Currency: known.Currency, ProcessedAt: known.ProcessedAt,
		}))
	}
	return found, nil
}

// list keeps what a report shows.
func (f *fileSide) list(kept []store.Mismatch, m store.Mismatch) []store.Mismatch {
	if len(kept) == f.most {
		return kept
	}
	return append(kept, m)
}

func differences(m store.Mismatch) (found []Difference) {
	pairs := []Difference{
		{"amount", m.Known.AmountMinor.String(), m.File.AmountMinor.String()},
		{"currency", m.Known.Currency, m.File.Currency},
		{"status", string(m.Known.Status), string(m.File.Status)},
	}
	if (m.Known.Type == payment.Refund) != (m.File.Type == payment.Refund) {
		pairs = append(pairs, Difference{"type", string(m.Known.Type), string(m.File.Type)})
	}
	return slices.DeleteFunc(pairs, func(p Difference) bool { return p.Ours == p.File })
}

func oneSided(one store.Compared) OneSided {
	return OneSided{
		Line: one.Line, MerchantTransactionID: one.MerchantTransactionID, Date: payment.DateOf(one.ProcessedAt).String(),
		Status: string(one.Status), Type: string(one.Type), Amount: one.AmountMinor.String(), Currency: one.Currency,
	}
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
	for i, m := range f.differing {
		done, err := r.applyDifference(ctx, m)
		if err != nil {
			return err
		}
		report.Differing[i].Applied = done
		report.count(done)
	}
	return nil
}

// applyRest settles what had no room in the lists: what is settled agrees from then on, so that the next is found in
// its place.
func (f *fileSide) applyRest(ctx context.Context, found disagreement) (err error) {
	for settled := f.report.Applied; settled > 0 && (len(found.differing) == f.most || len(found.missingHere) == f.most); {
		if found, err = f.find(ctx, func(store.Mismatch) {}); err != nil {
			return err
		}
		turn := Report{Differing: make([]Differing, len(found.differing)), MissingHere: make([]OneSided, len(found.missingHere))}
		err = f.apply(ctx, found, &turn)
		settled = turn.Applied
		f.report.Applied += settled
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Report) count(done bool) {
	if done {
		r.Applied++
	}
}

// applyDifference settles a payment by its line, if that is all they differ in.
func (r *running) applyDifference(ctx context.Context, m store.Mismatch) (bool, error) {
	reported := payment.Transaction{
		GatewayID: r.GatewayID, MerchantTransactionID: m.File.MerchantTransactionID, GatewayReference: m.File.GatewayReference,
		ProcessorID: m.File.ProcessorID, Status: m.File.Status, Type: m.File.Type, AmountMinor: m.File.AmountMinor, Currency: m.File.Currency,
		ProcessedAt: m.File.ProcessedAt,
	}
	means, err := m.Known.Against(reported)
	if err != nil || means == payment.ReportsNothing {
		return false, nil //nolint:nilerr // a difference for a person to look at
	}
	err = r.Checkout.ApplyReported(ctx, r.setup, m.Known.ID, means, reported, payment.ChargebackReconciled)
	return err == nil, ignoreRefusal(err)
}

// ignoreRefusal leaves to a person what contradicts our records.
func ignoreRefusal(err error) error {
	if payment.KindOf(err) != 0 {
		return nil
	}
	return err
}
