package banking

import (
	"context"
	"time"

	"sepad/internal/iso20022"
	"sepad/internal/payment"
)

// Preview is what the next file would hold.
type Preview struct {
	CutOffAt time.Time
	Count    int
	SumMinor payment.Minor
	Blocks   []PreviewBlock
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
func (b *Banking) Preview(ctx context.Context, account *Account, now time.Time) (Preview, error) {
	cutOff := account.Terms.NextCutOff(now)
	preview := Preview{CutOffAt: cutOff}
	at := map[[2]string]int{}
	for waiting, err := range b.waiting(ctx, account, cutOff, cutOff) {
		if err != nil {
			return preview, err
		}
		faults := waiting.debit.Faults(cutOff)
		for _, fault := range faults {
			preview.Faults = append(preview.Faults, PreviewFault{waiting.MerchantTransactionID, fault})
		}
		if isFatal(faults) {
			continue
		}
		key := [2]string{waiting.due.Format(time.DateOnly), waiting.sequence}
		if _, known := at[key]; !known {
			at[key] = len(preview.Blocks)
			preview.Blocks = append(preview.Blocks, PreviewBlock{DueDate: key[0], Sequence: key[1]})
		}
		block := &preview.Blocks[at[key]]
		block.Count, block.SumMinor = block.Count+1, block.SumMinor+waiting.AmountMinor
		preview.Count, preview.SumMinor = preview.Count+1, preview.SumMinor+waiting.AmountMinor
	}
	var err error
	preview.Held, err = b.tenant(account).HeldCollections(ctx, account.ID)
	return preview, err
}
