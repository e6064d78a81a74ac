package setup

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/store"
)

// Applier applies resource files to one database. It is safe for concurrent use.
type Applier struct {
	Store *store.Store
	// Kinds are the adapters whose accounts a tenant may have.
	Kinds       map[string]gateway.Kind
	Environment merchant.Environment
}

// applyTries bounds how often a plan is made again that was overtaken.
const applyTries = 8

// Apply brings the database to what the file says, as a whole or not at all.
// Now is the world's time: the sandbox's clock moves payments, not what an
// operator does. A mistake in the file comes back as a *merchant.FileError.
func (a *Applier) Apply(ctx context.Context, file *merchant.File, now time.Time) ([]Change, error) {
	var err error
	for range applyTries {
		var p *plan
		if p, err = a.plan(ctx, file, now); err != nil {
			return nil, err
		}
		if len(p.writes) == 0 {
			return p.changes, nil
		}
		if err = a.Store.Write(ctx, now, p.write); err == nil {
			return p.changes, nil
		}
		if !overtaken(err) {
			return nil, err
		}
		if store.IsKeyTaken(err) && len(p.chosenKeys) > 0 {
			// Nobody has it today, or the plan would say whose it is: it was
			// another tenant's once and is revoked.
			err = p.keyTaken()
		}
	}
	return nil, err
}

// overtaken tells that the database has changed since the plan was made: the
// next plan sees how.
func overtaken(err error) bool {
	_, duplicate := errors.AsType[*store.KeyError](err)
	return duplicate || errors.Is(err, store.ErrForeignRecord) || errors.Is(err, store.ErrStale)
}

// plan holds the whole file against the database.
func (a *Applier) plan(ctx context.Context, file *merchant.File, now time.Time) (*plan, error) {
	p := &plan{applier: a, ctx: ctx, now: now, file: file.Name}
	for i, tenant := range file.Tenants {
		if err := p.tenant(fmt.Sprintf("tenants[%d]", i), tenant); err != nil {
			return nil, err
		}
	}
	if len(p.mistakes) > 0 {
		slices.SortStableFunc(p.mistakes, func(a, b merchant.Mistake) int { return cmp.Compare(a.Line, b.Line) })
		return nil, &merchant.FileError{File: file.Name, Mistakes: p.mistakes}
	}
	return p, nil
}

// newTenantNumber is random, so that tokens do not tell how many tenants there
// are. One that is taken shows when it is written, and another one is drawn.
func newTenantNumber() uint32 {
	for {
		var raw [4]byte
		rand.Read(raw[:])
		if number := binary.BigEndian.Uint32(raw[:]); number != 0 {
			return number
		}
	}
}
