package jobs

import (
	"context"
	"time"

	"sepad/internal/banking"
	"sepad/internal/billing"
	"sepad/internal/clock"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// maxAdvance keeps the clock within what dates can say.
const maxAdvance = 100 * 365 * 24 * time.Hour

// Advance moves the sandbox's clock forward and does on the way what falls due,
// each thing at its own time, in order, as if the time had passed.
func Advance(ctx context.Context, b *billing.Billing, banks *banking.Banking, movable *clock.Movable, by time.Duration) (time.Time, error) {
	st := b.Checkout.Store
	if by < 0 || by > maxAdvance {
		return time.Time{}, payment.Fields{"advance": "The clock moves forward only, by at most 100 years at a time."}.Err()
	}
	deed := store.Deed{Action: "clock.move", ObjectType: "clock", ObjectID: "sandbox", After: map[string]any{"advance": by.String()}}
	if err := st.Note(ctx, deed); err != nil {
		return time.Time{}, err
	}
	target := movable.Now().Add(by)
	if err := b.Checkout.AskAboutRebills(ctx); err != nil {
		return time.Time{}, err
	}
	if err := finish(ctx, b, banks, movable); err != nil {
		return time.Time{}, err
	}
	var past time.Time
	for {
		next, found, err := nextDue(ctx, b, past)
		if err != nil {
			return time.Time{}, err
		}
		if !found || next.After(target) {
			break
		}
		if err := step(ctx, b, banks, movable, next); err != nil {
			return time.Time{}, err
		}
		past = next
	}
	if err := moveTo(ctx, st, movable, target); err != nil {
		return time.Time{}, err
	}
	return movable.Now(), clock.Outlast(ctx, clock.Lease)
}

// nextDue is when, after an instant, something falls due or is to be prepared.
func nextDue(ctx context.Context, b *billing.Billing, past time.Time) (time.Time, bool, error) {
	next, found, err := b.Checkout.NextDue(ctx, past)
	if err != nil {
		return next, false, err
	}
	prepares, isPlanned, err := b.NextPreparation(ctx, past)
	if isPlanned && (!found || prepares.Before(next)) {
		return prepares, true, err
	}
	return next, found, err
}

// sweepWait is how long a moving clock stands before it looks again whether the others' sweeps
// have come to an end.
const sweepWait = 10 * time.Millisecond

// step goes to the next due instant, or stays where that has passed, and does
// what is due there.
func step(ctx context.Context, b *billing.Billing, banks *banking.Banking, movable *clock.Movable, next time.Time) error {
	if err := moveTo(ctx, b.Checkout.Store, movable, next); err != nil {
		return err
	}
	return finish(ctx, b, banks, movable)
}

// finish does what is due until nothing is left that can be done: what failed was set
// aside, and what is held back has a later instant of its own. What a sweep has claimed
// that comes by at that moment is waited for: its answer belongs to this instant, and
// decides what falls due next.
func finish(ctx context.Context, b *billing.Billing, banks *banking.Banking, movable *clock.Movable) error {
	for waited := false; ; {
		done, err := runDue(ctx, b, banks, movable.Now())
		elsewhere := false
		if err == nil && done == 0 {
			elsewhere, err = b.IsBilledElsewhere(ctx, movable.Now())
		}
		switch {
		case err != nil || done > 0:
		case elsewhere:
			waited = true
			err = clock.Outlast(ctx, sweepWait)
		case waited: // of what the others had no answer to
			waited = false
			err = b.Checkout.AskAboutRebills(ctx)
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// runDue does everything that is due at an instant: first what payments made
// before have come to, then the new ones that rest on it. A bank that cannot be
// reached holds up its own files only.
func runDue(ctx context.Context, b *billing.Billing, banks *banking.Banking, now time.Time) (int, error) {
	done, err := banks.RunDue(ctx, now)
	if err != nil {
		banks.Logger.ErrorContext(ctx, "work for banks failed", "error", err)
	}
	settled, err := b.Checkout.RunDue(ctx, now)
	done += settled
	if err != nil {
		return done, err
	}
	billed, err := b.RunDue(ctx, now)
	if err == nil && billed > 0 {
		err = b.Checkout.AskAboutRebills(ctx)
	}
	return done + billed, err
}

// moveTo sets the offset so that the clock shows an instant, unless it is past it.
func moveTo(ctx context.Context, st *store.Store, movable *clock.Movable, to time.Time) error {
	err := st.Write(ctx, to, func(tx *store.Tx) error {
		tx.SetClockOffset(movable.OffsetTo(to))
		return nil
	})
	if err != nil {
		return err
	}
	return movable.Refresh(ctx)
}
