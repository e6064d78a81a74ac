package recon

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"sepad/internal/gateway"
	"sepad/internal/payment"
	"sepad/internal/store"
)

type reportFormat = gateway.ReportFormat

// errDryRun takes a unit back that was only tried.
var errDryRun = errors.New("recon: only tried")

// outcomeOfBatch is what became of a batch.
type outcomeOfBatch struct {
	counts   store.ImportCounts
	rejected []store.Rejection
}

// found is what the database says of a batch.
type found struct {
	added       []uuid.UUID
	different   []store.Difference
	chargebacks []uuid.UUID
}

// writeTransactions takes a batch in: what is new in one unit, then line by line what
// settles a payment or brings one together with its chargeback.
func (r *running) writeTransactions(ctx context.Context, b *batch) (outcomeOfBatch, error) {
	done := outcomeOfBatch{rejected: b.rejected}
	if len(b.staged) == 0 {
		return done, nil
	}
	var f found
	err := r.withoutErased(ctx, func(memory *store.Memory) (err error) {
		for i := range b.staged {
			memory.ForgetPayer(&b.staged[i].Transaction)
		}
		f, err = r.insertBatch(ctx, b, memory)
		return err
	})
	if err != nil {
		return done, err
	}
	done.counts.New = len(f.added)
	done.counts.Unchanged = len(b.staged) - len(f.added) - len(f.different)
	for _, d := range f.different {
		d.Reported.GatewayID = r.GatewayID
		means, err := d.Known.Against(d.Reported)
		if err == nil && !r.IsDryRun {
			err = r.Checkout.ApplyReported(ctx, r.setup, d.Known.ID, means, d.Reported, payment.ChargebackImported)
		}
		switch {
		case payment.KindOf(err) != 0:
			done.rejected = append(done.rejected, b.reject(d.Line, err))
		case err != nil:
			return done, err
		case means != payment.ReportsNothing:
			done.counts.Updated++
		default:
			done.counts.Unchanged++
		}
	}
	return done, r.link(ctx, f.chargebacks)
}

// insertBatch stages the lines, inserts what is new and finds what is not.
func (r *running) insertBatch(ctx context.Context, b *batch, memory *store.Memory) (f found, err error) {
	stage := payment.NewID() // of this batch alone: batches are written side by side
	now := r.Checkout.Clock.Now()
	err = r.Store.Write(ctx, now, func(tx *store.Tx) error {
		f = found{}
		tx.Relax() // the import's last word makes all of it durable
		if err := tx.RestOnMemory(memory); err != nil {
			return err
		}
		if err := tx.Stage(stage, b.staged); err != nil {
			return err
		}
		if f.added, err = tx.InsertStaged(r.TenantID, stage, r.GatewayID, payment.SourceImport); err != nil {
			return err
		}
		if len(f.added) < len(b.staged) {
			if f.different, err = tx.DifferentStaged(r.TenantID, stage, r.GatewayID); err != nil {
				return err
			}
		}
		if r.IsDryRun {
			return errDryRun
		}
		return r.tell(ctx, tx, b, f.added)
	})
	if errors.Is(err, errDryRun) {
		return f, nil
	}
	if err == nil {
		f.chargebacks, err = r.unstage(ctx, stage, now)
	}
	return f, err
}

// unstage looks for the chargebacks that came before their payments, once these are there for
// everybody to see: who brings a chargeback in looks for its payment after that. Of two who
// come at once, one finds the other.
func (r *running) unstage(ctx context.Context, stage uuid.UUID, now time.Time) (chargebacks []uuid.UUID, err error) {
	err = r.Store.Write(ctx, now, func(tx *store.Tx) error {
		tx.Relax() // what stays behind is swept away
		chargebacks, err = tx.StagedWithChargeback(r.TenantID, stage, r.GatewayID)
		tx.Unstage(r.TenantID, stage)
		return err
	})
	return chargebacks, err
}

// tell reports records that are new, if the merchant wants to hear of a file.
func (r *running) tell(ctx context.Context, tx *store.Tx, b *batch, added []uuid.UUID) error {
	if !r.SendsEvents {
		return nil
	}
	isNew := make(map[uuid.UUID]bool, len(added))
	for _, id := range added {
		isNew[id] = true
	}
	for i := range b.staged {
		t := b.staged[i].Transaction
		if !isNew[t.ID] {
			continue
		}
		t.CreatedAt, t.UpdatedAt = tx.At, tx.At
		rows, err := r.Checkout.CreatedEvents(ctx, r.setup, t)
		if err != nil {
			return err
		}
		tx.AddEvents(r.TenantID, rows)
	}
	return nil
}

// link brings payments together with chargebacks that came before them.
func (r *running) link(ctx context.Context, transactions []uuid.UUID) error {
	if r.IsDryRun {
		return nil
	}
	for _, id := range transactions {
		if err := r.Checkout.LinkChargebacks(ctx, r.setup, id); err != nil && payment.KindOf(err) == 0 {
			return err
		}
	}
	return nil
}
