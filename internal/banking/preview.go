package banking

import (
	"context"
	"time"

	"sepad/internal/iso20022"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// Preview is what the next file would hold.
type Preview struct {
	// CutOffAt is when it is written: the first cut-off that has something to write.
	CutOffAt time.Time
	Count    int
	SumMinor payment.Minor
	Blocks   []PreviewBlock
	// Refunds are what the file of credit transfers beside it would hold.
	Refunds PreviewBlock
	// Faults are what a bank would refuse, or what would be lost on the way.
	Faults []PreviewFault
	// Held are the collections that an operator holds back.
	Held []string
}

// PreviewBlock is what a block would hold.
type PreviewBlock struct {
	DueDate  string
	Sequence string
	Count    int
	SumMinor payment.Minor
}

// PreviewFault is something about one collection.
type PreviewFault struct {
	MerchantTransactionID string
	iso20022.Fault
}

// Preview says what the next file at an account would hold, without writing it. A collection with a fatal fault is
// named and not counted.
func (b *Banking) Preview(ctx context.Context, account *Account, now time.Time) (preview Preview, err error) {
	next := account.Terms.NextCutOff(now)
	preview.CutOffAt = next
	at := map[[2]string]int{}
	for waiting, err := range b.waiting(ctx, account, store.BankDebits, store.CollectibleUntil{TakenAt: next}, next) {
		if err != nil {
			return preview, err
		}
		if preview.isRefused(waiting, next) {
			continue
		}
		cutOff := account.Terms.CutOffFor(waiting.due)
		switch {
		case preview.Count == 0 || cutOff.Before(preview.CutOffAt): // an earlier file than those so far
			clear(at)
			preview.CutOffAt, preview.Blocks, preview.Count, preview.SumMinor = cutOff, nil, 0, 0
		case cutOff.After(preview.CutOffAt):
			continue
		}
		preview.count(waiting, at)
	}
	for waiting, err := range b.waiting(ctx, account, store.BankTransfers, store.CollectibleUntil{TakenAt: next}, next) {
		if err != nil {
			return preview, err
		}
		if !preview.isRefused(waiting, next) {
			preview.Refunds.DueDate = waiting.due.Format(time.DateOnly)
			preview.Refunds.Count, preview.Refunds.SumMinor = preview.Refunds.Count+1, preview.Refunds.SumMinor+waiting.AmountMinor
		}
	}
	preview.Held, err = b.tenant(account).HeldCollections(ctx, account.ID)
	return preview, err
}

// count adds a collection to its block.
func (p *Preview) count(c collection, at map[[2]string]int) {
	key := blockKey(c)
	if _, known := at[key]; !known {
		at[key] = len(p.Blocks)
		p.Blocks = append(p.Blocks, PreviewBlock{DueDate: key[0], Sequence: key[1]})
	}
	block := &p.Blocks[at[key]]
	block.Count, block.SumMinor = block.Count+1, block.SumMinor+c.AmountMinor
	p.Count, p.SumMinor = p.Count+1, p.SumMinor+c.AmountMinor
}

// isRefused notes the faults of a payment, and tells whether they keep it out.
func (p *Preview) isRefused(c collection, at time.Time) bool {
	faults := c.faults(at)
	for _, fault := range faults {
		p.Faults = append(p.Faults, PreviewFault{c.MerchantTransactionID, fault})
	}
	return isFatal(faults)
}
