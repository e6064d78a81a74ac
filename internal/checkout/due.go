package checkout

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
)

const (
	// dueBatch bounds how much due work is read at a time.
	dueBatch = 200
	// usualPatience is for one record, beside what its gateway takes.
	usualPatience = time.Minute
)

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

// NextDue is when, after an instant of the service's time, something falls due next,
// and false when nothing will.
func (c *Checkout) NextDue(ctx context.Context, after time.Time) (time.Time, bool, error) {
	next, found, err := c.Store.NextDue(ctx, after)
	if err != nil {
		return time.Time{}, false, err
	}
	announced, speaks, err := c.NextAnnouncement(ctx, after)
	if speaks && (!found || announced.Before(next)) {
		return announced, true, err
	}
	return next, found, err
}

// work takes what is due in batches until nothing is left that can be done. A
// piece that another process did first is no fault. One that fails is set aside:
// it needs a person, and must not hold up what is due behind it. So is one that is
// still due after another was to have done it: it would come again without end.
func (c *Checkout) work(ctx context.Context, now time.Time,
	read func(context.Context, time.Time, int) ([]store.Due, error),
	do func(context.Context, store.Due, time.Time) error,
) (done int, err error) {
	leftToOthers := map[uuid.UUID]bool{}
	for {
		due, err := read(ctx, now, dueBatch+c.Aside.Len(c.Real.Now()))
		if err != nil {
			return done, err
		}
		before := done
		for _, one := range due {
			if c.Aside.Holds(one.ID, c.Real.Now()) {
				continue
			}
			switch err := c.inTime(ctx, one, now, do); {
			case ctx.Err() != nil:
				return done, ctx.Err()
			case err != nil && (leftToOthers[one.ID] || !overtaken(err)):
				c.SetAside(ctx, one.TenantID, one.ID, err)
			case err != nil:
				leftToOthers[one.ID] = true
				done++
			default:
				c.Aside.done(one.ID)
				done++
			}
		}
		if done == before {
			return done, nil
		}
	}
}

// inTime does a piece of work that nobody waits for without end.
func (c *Checkout) inTime(ctx context.Context, one store.Due, now time.Time, do func(context.Context, store.Due, time.Time) error) error {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.Patience, c.GatewayTimeout+usualPatience))
	defer cancel()
	return do(ctx, one, now)
}

// SetAside leaves a record alone for a while that could not be worked on.
func (c *Checkout) SetAside(ctx context.Context, tenantID, id uuid.UUID, why error) {
	c.Aside.put(id, c.Real.Now())
	c.Logger.ErrorContext(ctx, "due work failed and was set aside; it needs a person",
		"tenant_id", tenantID, "record_id", id, "error", why)
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
	return c.endSession(ctx, session, ended, now)
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
