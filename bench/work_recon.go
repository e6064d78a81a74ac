//go:build unix

package main

import (
	"context"
	_ "embed"
	"fmt"
	"time"
)

//go:embed sql/ledger.sql
var ledgerSQL string

//go:embed sql/page.sql
var pageSQL string

var (
	reconJSONWork = reconWork("json", 0.95, 1.3)
	reconCSVWork  = reconWork("csv", 0.95, 1.3)
	reconXMLWork  = reconWork("xml", 0.95, 1.3)

	reconGrowthWork = work{
		name:    "recon-growth",
		what:    "a page of 1000 transactions in the middle of many",
		against: "the same page among 10,000",
		unit:    "pages per second",
		better:  moreIsBetter,
		floor:   0.85,
		goal:    0.95,
		measure: measureReconGrowth,
	}
)

func reconWork(format string, floor, goal float64) work {
	return work{
		name:    "recon-" + format,
		what:    "pages of 1000 transactions as " + format,
		against: "COPY of the same page as CSV, streamed over HTTP",
		unit:    "pages per second",
		better:  moreIsBetter,
		floor:   floor,
		goal:    goal,
		measure: func(ctx context.Context, l *lab, w work) (measurement, error) { return measureRecon(ctx, l, w, format) },
	}
}

const (
	// readers is how many connections ask for pages: finance departments are
	// smaller than the crowd that pays.
	readers = 4

	ledgerRows      = 100_000
	smallLedger     = 10_000
	largeLedger     = 200_000
	largeLedgerFull = 2_000_000
)

// ledgerEnd is the day of the last record, and ledgerMiddle the one in the
// middle of the 80 days before.
var (
	ledgerEnd    = time.Date(2026, time.March, 22, 0, 0, 0, 0, time.UTC)
	ledgerStart  = ledgerEnd.AddDate(0, 0, -80)
	ledgerMiddle = ledgerEnd.AddDate(0, 0, -40)
)

// ledger is a database with a tenant's transactions and a server on it.
type ledger struct {
	server      *process
	databaseURL string
	keys        []merchant
}

// openLedger fills a database. The keys are those of the tenant with records.
func (l *lab) openLedger(ctx context.Context, name string, rows int) (*ledger, error) {
	databaseURL, err := l.database(ctx, name)
	if err != nil {
		return nil, err
	}
	server, shop, err := l.openSepad(ctx, databaseURL)
	if err != nil {
		return nil, err
	}
	l.say("%s: writing %d transactions", name, rows)
	if err := fill(ctx, databaseURL, ledgerSQL, rows, ledgerEnd.UnixMicro()); err != nil {
		server.stop()
		return nil, err
	}
	return &ledger{server, databaseURL, shop.Merchants[:keysPerTenant]}, nil
}

// read measures pages from the middle of the ledger.
func (b *ledger) read(l *lab, format string) (side, error) {
	path, err := pageInTheMiddle(b.server.address, b.keys[0], ledgerStart, ledgerMiddle, format)
	if err != nil {
		return nil, err
	}
	return l.readPages(b.server.address, path, b.keys), nil
}

func (l *lab) readPages(address, path string, keys []merchant) side {
	job := loadJob{
		Kind: "page", Address: address, Connections: readers, Seconds: l.roundTime().Seconds(), Merchants: keys, Paths: []string{path},
	}
	return func(ctx context.Context) (sample, error) { return load(ctx, job) }
}

func measureRecon(ctx context.Context, l *lab, w work, format string) (measurement, error) {
	books, err := l.openLedger(ctx, "recon_"+format, ledgerRows)
	if err != nil {
		return measurement{}, err
	}
	defer books.server.stop()
	ours, err := books.read(l, format)
	if err != nil {
		return measurement{}, err
	}
	peer, err := l.startCopy(ctx, books.databaseURL, fmt.Sprintf(pageSQL, ledgerMiddle.UnixMicro()))
	if err != nil {
		return measurement{}, err
	}
	defer peer.stop()
	return alternate(ctx, l, w, l.rounds(), ours, l.readPages(peer.address, "/", nil))
}

func measureReconGrowth(ctx context.Context, l *lab, w work) (measurement, error) {
	rows := largeLedger
	if l.full {
		rows = largeLedgerFull
	}
	large, err := l.openLedger(ctx, "recon_large", rows)
	if err != nil {
		return measurement{}, err
	}
	defer large.server.stop()
	small, err := l.openLedger(ctx, "recon_small", smallLedger)
	if err != nil {
		return measurement{}, err
	}
	defer small.server.stop()
	ours, err := large.read(l, "json")
	if err != nil {
		return measurement{}, err
	}
	theirs, err := small.read(l, "json")
	if err != nil {
		return measurement{}, err
	}
	m, err := alternate(ctx, l, w, l.rounds(), ours, theirs)
	m.notes = append(m.notes, fmt.Sprintf("among %d transactions", rows))
	return m, err
}
