package checkout

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
)

// dueBatch bounds how much due work is read at a time.
const dueBatch = 200

// RunDue does what has fallen due by an instant of the service's time: it ends
// sessions that ran out, lets the sandbox report, and asks about pending
// payments of which nothing was reported. It says how much was done; what one
// process does, another finds done.
func (c *Checkout) RunDue(ctx context.Context, now time.Time) (int, error) {
	ended, endErr := c.work(ctx, now, c.Store.SessionsDue, c.runOut)
	heard, hearErr := c.runAnnouncements(ctx, now)
	settled, settleErr := c.work(ctx, now, c.Store.SettlementsDue, c.settlePending)
	return ended + heard + settled, errors.Join(endErr, hearErr, settleErr)
}

// work takes what is due in batches until nothing is left that can be done. A
// piece that another process did first is no fault; one that fails is left
// where it is, is told of once, and does not hold up those of other tenants
// behind it.
func (c *Checkout) work(ctx context.Context, now time.Time,
	read func(context.Context, time.Time, int) ([]store.Due, error),
	do func(context.Context, store.Due, time.Time) error,
) (done int, err error) {
	failed := map[uuid.UUID]error{}
	for {
		due, err := read(ctx, now, dueBatch)
		if err != nil {
			return done, errors.Join(append(slices.Collect(maps.Values(failed)), err)...)
		}
		before := done
		for _, one := range due {
			if err := do(ctx, one, now); err != nil && !overtaken(err) {
				failed[one.ID] = fmt.Errorf("%s of tenant %s: %w", one.ID, one.TenantID, err)
				continue
			}
			done++
		}
		if done == before {
			return done, errors.Join(slices.Collect(maps.Values(failed))...)
		}
	}
}

// overtaken tells that somebody else has changed the row meanwhile.
func overtaken(err error) bool {
	return errors.Is(err, store.ErrStale) || payment.KindOf(err) == payment.Conflict
}

// runOut ends a session whose time is over. One that awaits verification is
// ended by what its gateway says.
func (c *Checkout) runOut(ctx context.Context, due store.Due, now time.Time) error {
	session, err := c.Store.Tenant(due.TenantID).Session(ctx, due.ID)
	if err != nil {
		return err
	}
	if session.AwaitsVerification() {
		return c.runOutUnverified(ctx, session, now)
	}
	ended, err := payment.Expire(session, now)
	if err != nil {
		return err
	}
	return c.Store.Write(ctx, now, func(tx *store.Tx) error {
		tx.EndSession(ended)
		return nil
	})
}

// runOutUnverified asks the gateway whether it has collected meanwhile.
func (c *Checkout) runOutUnverified(ctx context.Context, session payment.Session, now time.Time) error {
	stored, err := c.Store.Tenant(session.TenantID).DebitOf(ctx, session, *session.LastTransactionID)
	if err != nil {
		return err
	}
	opened, err := stored.BeginExpire(now)
	if err != nil {
		return err
	}
	opened.Transaction.Attempt.Silence = c.silence()
	if err := c.reopen(ctx, opened); err != nil {
		return err
	}
	return c.ask(ctx, opened)
}

// settlePending asks the gateway about a payment, a rebill or a refund that it
// took in as pending. An answer that cannot be had is asked for again a day later.
func (c *Checkout) settlePending(ctx context.Context, due store.Due, now time.Time) error {
	d, err := c.debit(ctx, due.TenantID, due.ID)
	if err != nil {
		return err
	}
	if at := d.Asked().SettleDueAt; at.IsZero() || at.After(now) {
		return nil // somebody else has asked meanwhile
	}
	setup, err := c.SetupOf(ctx, due.TenantID)
	if err != nil {
		return err
	}
	outcome, err := c.statusOf(ctx, setup, d, now)
	if err != nil {
		outcome = payment.Undecided
	}
	_, err = c.settle(ctx, setup, d, outcome)
	return err
}
