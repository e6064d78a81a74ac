package privacy

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/store"
	"sepad/internal/webhook"
)

// Retention is how long each kind of data is kept; nothing is removed of a kind that
// is kept for 0.
type Retention struct {
	Sessions, Events, DeliveryLogs, Evidence, BankFiles time.Duration
}

const (
	// step is how many rows one unit removes, steps how many of them follow each other
	// before the next sweep goes on.
	step  = 500
	steps = 200
)

// Kinds of what is removed, as metric and log call them.
const (
	kindSessions  = "sessions"
	kindEvents    = "events"
	kindLogs      = "delivery_logs"
	kindEvidence  = "evidence"
	kindBankFiles = "bank_files"
)

// Retain removes what nobody needs any more. It can be interrupted at any time, and
// two processes may do it at once, each in one place. What cannot be removed keeps
// nothing else.
func (p *Privacy) Retain(ctx context.Context) error {
	if p.evidence == nil {
		p.evidence = map[uuid.UUID]uuid.UUID{}
	}
	var failed setbacks
	failed.add(p.retain(ctx, kindSessions, p.Keep.Sessions, func(before store.Past) (int, bool, error) {
		return whole(p.Store.ForgetSessions(ctx, p.Clock.Now(), before.Service, step, webhook.WithoutPerson))
	}))
	tenants, err := p.Store.Tenants(ctx)
	failed.add(err)
	for _, tenant := range tenants {
		if ctx.Err() == nil {
			p.retainOf(ctx, tenant, &failed)
		}
	}
	failed.add(ctx.Err())
	return failed.err()
}

// removal takes one step, and says whether another is worth it.
type removal func(before store.Past) (gone int, more bool, err error)

// whole is a step that is worth another if it has found as much as it may.
func whole(gone int, err error) (int, bool, error) { return gone, gone == step, err }

// retainOf removes what one tenant needs no more.
func (p *Privacy) retainOf(ctx context.Context, tenant merchant.Tenant, failed *setbacks) {
	for _, kind := range []struct {
		name string
		kept time.Duration
		work removal
	}{
		{kindEvents, p.Keep.Events, func(before store.Past) (int, bool, error) {
			return whole(p.Store.ForgetEvents(ctx, tenant.ID, p.Clock.Now(), before, step))
		}},
		{kindLogs, p.Keep.DeliveryLogs, func(before store.Past) (int, bool, error) {
			return whole(p.Store.ForgetAttempts(ctx, tenant.ID, p.Clock.Now(), before.Real, step))
		}},
		{kindBankFiles, p.Keep.BankFiles, func(before store.Past) (int, bool, error) {
			return whole(p.Store.ForgetBankFiles(ctx, tenant.ID, p.Clock.Now(), before, step))
		}},
		{kindEvidence, p.Keep.Evidence, func(before store.Past) (int, bool, error) {
			gone, last, err := p.Store.ForgetEvidence(ctx, tenant.ID, p.Clock.Now(), before, p.evidence[tenant.ID], step)
			p.evidence[tenant.ID] = last // most of it is still needed: the next step and the next sweep go on there
			return gone, last != uuid.Nil, err
		}},
	} {
		failed.add(p.retain(ctx, kind.name, kind.kept, kind.work))
	}
}

// retain takes steps until nothing is left or it is the next sweep's turn.
func (p *Privacy) retain(ctx context.Context, kind string, kept time.Duration, work removal) error {
	if kept == 0 {
		return nil
	}
	before, total := store.Past{Service: p.Clock.Now().Add(-kept), Real: p.Real.Now().Add(-kept)}, 0
	for range steps {
		gone, more, err := work(before)
		if total += gone; err != nil {
			return fmt.Errorf("%s could not be removed: %w", kind, err)
		}
		if !more {
			break
		}
	}
	if total > 0 {
		p.Logger.InfoContext(ctx, "data whose time was over was removed", "kind", kind, "rows", total, "older_than", kept.String())
	}
	if p.Observe != nil {
		p.Observe(kind, total)
	}
	return nil
}
