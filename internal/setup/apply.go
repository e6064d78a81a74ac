package setup

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/turn"
)

// Applier changes what tenants have set up. It is safe for concurrent use.
type Applier struct {
	Store *store.Store
	// Kinds are the adapters whose accounts a tenant may have.
	Kinds       map[string]gateway.Kind
	Environment merchant.Environment
	// AllowTestGateways lets production have accounts that move no money.
	AllowTestGateways bool

	// request names the call that a change is made for, which makes a record.
	request store.RequestKey
	made    uuid.UUID
}

// Under gives an applier whose change is remembered as what a call has made. A call
// that was made before under its key fails with store.IsRepeat.
func (a *Applier) Under(request store.RequestKey, made uuid.UUID) *Applier {
	under := *a
	under.request, under.made = request, made
	return &under
}

// Rules are what the deployment asks of records.
func (a *Applier) Rules() merchant.Rules {
	return merchant.Rules{Environment: a.Environment, Adapters: slices.Sorted(maps.Keys(a.Kinds))}
}

// ErrNoTenant is the answer for a tenant that does not exist.
var ErrNoTenant = &payment.Error{Kind: payment.NotFound, Detail: "Tenant not found"}

// changeTries bounds how often a change is made again that was overtaken. One of
// those that meet always gets through, so that this many must have come together.
const changeTries = 64

// changing has one change of a tenant made at a time in this process: with a set-up as large as it may be each takes ten megabytes,
// and all but one of those that come together would be overtaken.
var changing turn.Turns[changePlace]

type changePlace struct {
	store    *store.Store
	tenantID uuid.UUID
}

// changePatience is how long one waits for those before it.
const changePatience = 30 * time.Second

// inTurn waits until nobody else of this process changes a tenant.
func (a *Applier) inTurn(ctx context.Context, tenantID uuid.UUID) (leave func(), err error) {
	patient, cancel := context.WithTimeout(ctx, changePatience)
	defer cancel()
	leave, _, err = changing.Take(patient, changePlace{a.Store, tenantID}, 1)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, store.ErrBusy
	}
	return leave, err
}

// Change applies a function to what a tenant has set up, and gives what it has
// made of it. The function replaces records in the set-up, as a whole: what they
// point to is shared. It is run again when another change came first, so that it
// must do nothing else; its error ends the change. Now is the world's time: the
// sandbox's clock moves payments, not what an operator does.
//
// Records that do not fit come back as payment.Fields.
func (a *Applier) Change(ctx context.Context, tenantID uuid.UUID, now time.Time, change func(*merchant.Setup) error) (*merchant.Setup, []Change, error) {
	leave, err := a.inTurn(ctx, tenantID)
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	var made *merchant.Setup
	p, err := a.commit(ctx, now, func(p *plan) error {
		t, err := p.read(tenantID)
		if err != nil {
			return err
		}
		if t.isNew {
			return ErrNoTenant
		}
		if err := change(t.wanted); err != nil {
			return err
		}
		made = t.wanted
		if err := t.planAll(nil, everyRecord(t.wanted)); err != nil {
			return err
		}
		if err := p.checkInboxes(); err != nil {
			return err
		}
		return merchant.FieldErrors(p.mistakes)
	})
	if err != nil {
		return nil, nil, err
	}
	return made, changed(p.changes), nil
}

// Create makes a tenant that has set up nothing yet.
func (a *Applier) Create(ctx context.Context, tenant merchant.Tenant, now time.Time) (*merchant.Setup, error) {
	var made *merchant.Setup
	_, err := a.commit(ctx, now, func(p *plan) error {
		t, err := p.read(tenant.ID)
		if err != nil {
			return err
		}
		if !t.isNew {
			return payment.Fields{"id": "This id is already taken."}.Err()
		}
		t.wanted.Tenant = tenant
		made = t.wanted
		if err := t.planAll(nil, records{}); err != nil {
			return err
		}
		return merchant.FieldErrors(p.mistakes)
	})
	return made, err
}

// Apply brings the database to what the file says, as a whole or not at all.
// A mistake in the file comes back as a *merchant.FileError.
func (a *Applier) Apply(ctx context.Context, file *merchant.File, now time.Time) ([]Change, error) {
	p, err := a.commit(ctx, now, planFile(file))
	if err != nil {
		return nil, err
	}
	return p.changes, nil
}

// Preview says what Apply would change, and changes nothing. Keys and secrets that
// would be made are left out: those of the real thing are others.
func (a *Applier) Preview(ctx context.Context, file *merchant.File, now time.Time) ([]Change, error) {
	p := a.plan(ctx, now)
	if err := planFile(file)(p); err != nil {
		return nil, err
	}
	for i := range p.changes {
		p.changes[i].Secret = ""
	}
	return p.changes, nil
}

// planFile plans all that a resource file asks for.
func planFile(file *merchant.File) func(*plan) error {
	return func(p *plan) error {
		p.file, p.locate = file.Name, locator(file)
		for _, tenant := range file.Tenants {
			t, err := p.read(tenant.Tenant.ID)
			if err != nil {
				return err
			}
			if err := t.planAll(tenant.APIKeys, t.adopt(tenant)); err != nil {
				return err
			}
		}
		if err := p.checkInboxes(); err != nil {
			return err
		}
		return fileError(p.file, p.mistakes)
	}
}

func (a *Applier) plan(ctx context.Context, now time.Time) *plan {
	return &plan{applier: a, ctx: ctx, now: now, locate: fieldAlone}
}

// commit plans and writes in one go, again whenever the plan was overtaken.
func (a *Applier) commit(ctx context.Context, now time.Time, prepare func(*plan) error) (*plan, error) {
	var err error
	for range changeTries {
		p := a.plan(ctx, now)
		if err := prepare(p); err != nil {
			return nil, err
		}
		if len(p.writes) == 0 {
			return p, nil
		}
		if err = a.Store.Write(ctx, now, p.write); err == nil {
			return p, nil
		}
		if store.IsRepeat(err) || !overtaken(err) {
			return nil, err
		}
		if store.IsKeyTaken(err) && len(p.chosenKeys) > 0 {
			// Nobody has it today, or the plan would say whose it is: it was
			// another tenant's once and is revoked.
			err = p.keyTaken()
		}
	}
	if errors.Is(err, store.ErrForeignRecord) { // no plan saw whose it is: not one of the asker's tenants'
		err = payment.Fields{"id": "This id is already taken."}.Err()
	}
	return nil, err
}

// overtaken tells that the database has changed since the plan was made: the
// next plan sees how.
func overtaken(err error) bool {
	return store.IsDuplicate(err) || errors.Is(err, store.ErrForeignRecord) || errors.Is(err, store.ErrStale)
}

func changed(changes []Change) []Change {
	return slices.DeleteFunc(changes, func(c Change) bool { return c.Action == Unchanged })
}

// fileError gives the mistakes in the order of their lines, nil for none.
func fileError(name string, mistakes []merchant.Mistake) error {
	if len(mistakes) == 0 {
		return nil
	}
	slices.SortStableFunc(mistakes, func(a, b merchant.Mistake) int { return cmp.Compare(a.Line, b.Line) })
	return &merchant.FileError{File: name, Mistakes: mistakes}
}
