package recon

import (
	"context"
	"errors"

	"sepad/internal/store"
)

// A line about somebody who was erased after what it tells of is taken in without
// what names the person. One about something later is about somebody new, who may
// come back like everybody. A reference is never given to two payments, so that
// whenever it comes it is about the same one.

// withoutErased writes lines that rest on a memory of whom they must not name, and again with another one for as long as
// somebody is erased meanwhile: a file may be on its way for hours.
func (r *running) withoutErased(ctx context.Context, write func(*store.Memory) error) error {
	for {
		err := write(r.memory.Load())
		if !errors.Is(err, store.ErrMemoryOld) {
			return err
		}
		memory, err := r.Store.Memory(ctx, r.TenantID)
		if err != nil {
			return err
		}
		r.memory.Store(memory)
	}
}
