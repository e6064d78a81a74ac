package recon

import (
	"context"

	"sepad/internal/checkout"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// chargebackBatch is how many chargebacks are decided on at a time: each is held
// with its payment, order and subscription, before and after.
const chargebackBatch = 2_000

// reportedLine is a line of a chargebacks file.
type reportedLine struct {
	number int
	checkout.ReportedChargeback
}

func (r *running) reportLine(l *line, b *batch) error {
	report, paymentID, err := l.readChargeback()
	if err != nil {
		return err
	}
	b.reported = append(b.reported, reportedLine{l.number, checkout.ReportedChargeback{Chargeback: report, PaymentID: paymentID}})
	return nil
}

// writeChargebacks takes a batch of a chargebacks file in. A line that cannot be
// true of our records is rejected and leaves the others as they are.
func (r *running) writeChargebacks(ctx context.Context, b *batch) (outcomeOfBatch, error) {
	done := outcomeOfBatch{rejected: b.rejected}
	report := checkout.ChargebackReport{
		GatewayID: r.GatewayID, Source: payment.ChargebackImported, IsDryRun: r.IsDryRun,
		Chargebacks: make([]checkout.ReportedChargeback, len(b.reported)),
	}
	var answers []checkout.TakenChargeback
	err := r.withoutErased(ctx, func(memory *store.Memory) (err error) {
		for i, line := range b.reported {
			memory.ForgetDebtor(&line.Chargeback)
			report.Chargebacks[i] = line.ReportedChargeback
		}
		report.RestsOn = func(tx *store.Tx) error { return tx.RestOnMemory(memory) }
		answers, err = r.Checkout.TakeChargebacks(ctx, r.setup, report)
		return err
	})
	if err != nil {
		return done, err
	}
	for i, answer := range answers {
		switch {
		case answer.Refused != nil:
			done.rejected = append(done.rejected, b.reject(b.reported[i].number, answer.Refused))
		case answer.Taken == payment.TakenNew:
			done.counts.New++
		case answer.Taken == payment.TakenUpdated:
			done.counts.Updated++
		default:
			done.counts.Unchanged++
		}
	}
	return done, nil
}
