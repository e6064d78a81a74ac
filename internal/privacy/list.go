package privacy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/google/uuid"

	"sepad/internal/store"
)

// erasedList is what a tenant's part of a list of erased persons says. It names
// nobody: hashes, and their keys as they are sealed in the database.
type erasedList struct {
	TenantID uuid.UUID          `json:"tenant_id"`
	Keys     []store.ErasureKey `json:"keys"`
	Names    []store.ErasedName `json:"names"`
}

// WriteErased writes by what erased persons are known again, a line for each tenant,
// and counts what it has written.
func WriteErased(ctx context.Context, st *store.Store, to io.Writer) (names int, err error) {
	tenants, err := st.Tenants(ctx)
	if err != nil {
		return 0, err
	}
	out := json.NewEncoder(to)
	for _, tenant := range tenants {
		list := erasedList{TenantID: tenant.ID}
		if list.Keys, list.Names, err = st.ErasedOf(ctx, tenant.ID); err != nil {
			return names, err
		}
		if len(list.Names) == 0 {
			continue
		}
		if err := out.Encode(list); err != nil {
			return names, err
		}
		names += len(list.Names)
	}
	return names, nil
}

// ReadErased takes such a list in, and counts it. Who is there again is erased by
// EraseRemembered.
func (p *Privacy) ReadErased(ctx context.Context, from io.Reader) (names int, err error) {
	in := json.NewDecoder(from)
	for {
		var list erasedList
		err := in.Decode(&list)
		if errors.Is(err, io.EOF) {
			return names, nil
		}
		if err != nil {
			return names, fmt.Errorf("this is not a list of erased persons: %w", err)
		}
		if err := p.Store.CheckErasureKeys(ctx, list.TenantID, list.Keys); err != nil {
			return names, err
		}
		err = p.Store.Write(ctx, p.Clock.Now(), func(tx *store.Tx) error {
			tx.AddErased(list.TenantID, list.Keys, list.Names)
			return nil
		})
		if err != nil {
			return names, err
		}
		names += len(list.Names)
	}
}
