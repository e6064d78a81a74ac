package jobs

import (
	"context"
	"time"

	"sepad/internal/store"
)

// recall has the gateways of a restored database asked what happened since the
// backup, until all of them have answered. So long the store gives out neither
// subscriptions to bill nor endpoints to send to, whichever process asks.
func (r *Runner) recall(ctx context.Context) {
	for !r.recalled(ctx) {
		pause := time.NewTimer(recallEvery)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return
		}
	}
}

// recalled asks once, and tells whether nothing of the lost time is left to be asked about: an operator may have
// released the database meanwhile. One that cannot be read says nothing of that.
func (r *Runner) recalled(ctx context.Context) bool {
	to, err := r.checkout.Store.RestoredTo(ctx)
	if err != nil {
		if ctx.Err() == nil {
			r.logger.ErrorContext(ctx, "looking for a restore failed", "error", err)
		}
		return false
	}
	if to.IsZero() {
		return true
	}
	r.logger.WarnContext(ctx, "the database was restored: gateways are asked before anything is billed or sent", "restored_to", to)
	if !r.askAboutTheLostTime(ctx) {
		return false
	}
	r.logger.InfoContext(ctx, "the gateways have answered; billing and webhooks go on", "restored_to", to)
	r.resumeDeliveries(ctx)
	return true
}

func (r *Runner) askAboutTheLostTime(ctx context.Context) bool {
	now := r.clock.Now()
	err := r.billing.Recall(ctx, now)
	if err == nil {
		err = r.checkout.Store.Write(ctx, now, func(tx *store.Tx) error {
			tx.EndRecall()
			return nil
		})
	}
	if err != nil && ctx.Err() == nil {
		r.logger.ErrorContext(ctx, "a gateway could not be asked; nothing is billed or sent", "error", err)
	}
	return err == nil
}
