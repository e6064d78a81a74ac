//go:build unix

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
	"sepad/internal/vault"
)

// growthLooks is how often each read is made on either side, in turn; the median counts.
const growthLooks = 9

// archive is a database with payments, two for each subscription, and a store that asks it over one connection.
type archive struct {
	books *store.Store
	at    storetest.Place
}

// studyGrowth makes every list, search, count, pick and sweep among so many transactions and among 10,000.
func studyGrowth(ctx context.Context, l *lab, rows int) (found figuresTable, err error) {
	few, err := l.openArchive(ctx, "growth_few", fewPayments)
	if err != nil {
		return nil, err
	}
	defer few.books.Close()
	many, err := l.openArchive(ctx, "growth_many", rows)
	if err != nil {
		return nil, err
	}
	defer many.books.Close()
	found.add("read", "ms among 10,000", fmt.Sprintf("ms among %d", rows), "times", "rows read there", "of them from end to end")
	for _, walk := range storetest.Walks() {
		whole, indexed, err := many.reads(ctx, walk)
		if err != nil {
			return found, fmt.Errorf("%s: %w", walk.Name, err)
		}
		var took [2][]float64
		for range growthLooks {
			for i, side := range []*archive{few, many} {
				began := time.Now()
				if err := walk.Run(ctx, side.books, side.at); err != nil {
					return found, fmt.Errorf("%s: %w", walk.Name, err)
				}
				took[i] = append(took[i], float64(time.Since(began).Microseconds())/1000)
			}
		}
		small, large := median(took[0]), median(took[1])
		l.say("%s: %.2f and %.2f ms", walk.Name, small, large)
		found.add(walk.Name, fmt.Sprintf("%.2f", small), fmt.Sprintf("%.2f", large), fmt.Sprintf("%.1f", large/small), fmt.Sprint(whole+indexed), fmt.Sprint(whole))
	}
	return found, nil
}

// reads is what the second run of a read takes from its tables: the first may find no plan yet.
func (a *archive) reads(ctx context.Context, walk storetest.Walk) (whole, indexed int64, err error) {
	for range 2 {
		wholeBefore, indexedBefore, err := storetest.Reads(ctx, a.books)
		if err != nil {
			return 0, 0, err
		}
		if err := walk.Run(ctx, a.books, a.at); err != nil {
			return 0, 0, err
		}
		if whole, indexed, err = storetest.Reads(ctx, a.books); err != nil {
			return 0, 0, err
		}
		whole, indexed = whole-wholeBefore, indexed-indexedBefore
	}
	return whole, indexed, nil
}

func (l *lab) openArchive(ctx context.Context, name string, payments int) (*archive, error) {
	server, databaseURL, err := l.openPaid(ctx, name)
	if err != nil {
		return nil, err
	}
	server.stop()
	l.say("%s: writing %d payments", name, payments)
	const each = 2
	if err := fill(ctx, databaseURL, fmt.Sprintf(counterSQL, payments, ledgerEnd.UnixMicro(), each)); err != nil {
		return nil, err
	}
	sealing, err := vault.New(benchKey)
	if err != nil {
		return nil, err
	}
	books, err := store.Open(ctx, databaseURL, store.Options{Vault: sealing, Options: db.Options{MaxConnections: 1}})
	if err != nil {
		return nil, err
	}
	purchase := payments / each / 2
	middle := uuid.MustParse(fmt.Sprintf("01900000-0000-7000-8000-%012x", purchase))
	at := storetest.Place{
		SessionID: middle, SubscriptionID: middle, TransactionID: middle, ProfileID: uuid.MustParse(recordID(kindProfile, 1)),
		From: ledgerStart, Before: ledgerEnd.AddDate(0, 0, 1), Email: fmt.Sprintf("payer.%d@shop.example", purchase),
		Reference: fmt.Sprintf("TXN-20260101-%08d", payments/2), Holder: "Erika Mustermanna", Amount: "9.99", Account: "4000",
	}
	err = readRow(ctx, databaseURL, `SELECT tenant_id, gateway_id FROM transactions LIMIT 1`, &at.TenantID, &at.GatewayID)
	return &archive{books, at}, err
}
