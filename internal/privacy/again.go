package privacy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
)

// batch is how many rows are looked at in one step.
const batch = 500

// RunDue erases whoever is due: those of whom something may have been written since
// they were erased, and those for whom money was open when a backup brought them
// back. It counts them. Who cannot be erased holds up nobody, and is tried again later.
func (p *Privacy) RunDue(ctx context.Context) (done int, err error) {
	var failed setbacks
	for {
		due, err := p.Store.ErasuresDue(ctx, p.Clock.Now(), batch)
		if err != nil || len(due) == 0 {
			return done, errors.Join(failed.err(), err)
		}
		for _, d := range due {
			next, err := p.eraseDue(ctx, d)
			if err != nil {
				failed.add(fmt.Errorf("lead %s could not be erased: %w", d.ID, err))
			}
			if err := p.postpone(ctx, d, next); err != nil {
				return done, errors.Join(failed.err(), err)
			}
			if err == nil {
				done++
			}
		}
	}
}

// eraseDue erases one and says when to look at them again, the zero time for never.
func (p *Privacy) eraseDue(ctx context.Context, d store.Due) (next time.Time, err error) {
	tenant, now := p.Store.Tenant(d.TenantID), p.Clock.Now()
	soon := now.Add(lookAgainAfter)
	who, err := tenant.Person(ctx, d.ID)
	if err != nil {
		return soon, err
	}
	first, err := tenant.ErasedAt(ctx, d.ID)
	if err != nil {
		return soon, err
	}
	switch _, err = p.Erase(ctx, who); {
	case payment.KindOf(err) == payment.Conflict: // their money is open
		return soon, nil
	case err != nil, first.IsZero():
		return soon, err
	case now.Sub(first) > lookAgainFor:
		return time.Time{}, nil
	}
	return now.Add(lookAgainEvery), nil
}

func (p *Privacy) postpone(ctx context.Context, d store.Due, next time.Time) error {
	return p.Store.Write(ctx, p.Clock.Now(), func(tx *store.Tx) error {
		tx.PostponeErasure(d.TenantID, d.ID, next)
		return nil
	})
}

// EraseRemembered erases whoever is remembered as erased and is there again, as
// after a restore. For whom money is open the rest follows once it is settled; they
// are not billed meanwhile.
func (p *Privacy) EraseRemembered(ctx context.Context) (erased, waiting int, err error) {
	tenants, err := p.Store.Tenants(ctx)
	if err != nil {
		return 0, 0, err
	}
	for _, tenant := range tenants {
		memory, err := p.Store.Memory(ctx, tenant.ID)
		if err != nil {
			return erased, waiting, err
		}
		again := returned{Privacy: p, tenant: p.Store.Tenant(tenant.ID), memory: memory}
		if err := errors.Join(again.leads(ctx), again.payments(ctx)); err != nil {
			return erased, waiting, err
		}
		erased, waiting = erased+again.erased, waiting+again.waiting
	}
	return erased, waiting, nil
}

// returned looks for erased persons of a tenant that are there again.
type returned struct {
	*Privacy
	tenant          store.Tenant
	memory          *store.Memory
	erased, waiting int
}

func (r *returned) leads(ctx context.Context) error {
	var after uuid.UUID
	for {
		found, err := r.tenant.LeadsAfter(ctx, after, batch)
		if err != nil || len(found) == 0 {
			return err
		}
		for _, lead := range found {
			after = lead.ID
			if !r.memory.KnowsEmail(lead.Email, lead.CreatedAt) {
				continue
			}
			who, err := r.tenant.Person(ctx, lead.ID)
			if err == nil {
				err = r.erase(ctx, who)
			}
			if err != nil {
				return err
			}
		}
	}
}

func (r *returned) payments(ctx context.Context) error {
	var after uuid.UUID
	for {
		found, err := r.tenant.NamedPaymentsAfter(ctx, after, batch)
		if err != nil || len(found) == 0 {
			return err
		}
		for _, paid := range found {
			after = paid.ID
			if !r.memory.KnowsEmail(paid.Email, paid.CreatedAt) && !r.memory.KnowsPayment(paid.Reference, paid.CreatedAt) {
				continue
			}
			if err := r.erase(ctx, store.PersonOfPayment(r.tenant.ID, paid.ID)); err != nil {
				return err
			}
		}
	}
}

// erase erases somebody, or sees to it that it is done later and that nothing is
// billed until then.
func (r *returned) erase(ctx context.Context, who *store.Person) error {
	_, err := r.Erase(ctx, who)
	if payment.KindOf(err) != payment.Conflict {
		r.erased++
		return err
	}
	r.waiting++
	setup, err := r.setupOf(ctx, who.TenantID)
	if err != nil {
		return err
	}
	return r.Store.Write(ctx, r.Clock.Now(), func(tx *store.Tx) error {
		found, err := tx.LockPerson(who)
		if err != nil {
			return err
		}
		if _, _, err := r.end(ctx, tx, setup, found); err != nil {
			return err
		}
		tx.AskToErase(found)
		return nil
	})
}
