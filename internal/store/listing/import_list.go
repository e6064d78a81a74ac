package listing

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"sepad/internal/store"
)

// ImportSearch says which files that were taken in are looked for.
type ImportSearch struct {
	Common
	GatewayID uuid.UUID
	Kind      string
	Status    store.ImportStatus
}

var importSearch = searched[store.Import]{
	table: "imports", name: "i", scan: store.ScanImport, id: func(i *store.Import) uuid.UUID { return i.ID }, query: store.ReadImports,
}

func (f ImportSearch) ways() []conditions {
	c := conditions{passing: slices.Concat(when("i.gateway_id = $%d", f.GatewayID), when("i.kind = $%d", f.Kind), when("i.status = $%d", string(f.Status)),
		period("i.created_at", f.CreatedFrom, f.CreatedBefore))}
	return waysOf(f.Text, c, func(w words) []conditions { return only(when("i.id = $%d", w.ID)) })
}

// SearchImports lists processors' files that were taken in.
func SearchImports(ctx context.Context, s *store.Store, f ImportSearch, at Paging) (Part[store.Import], error) {
	return importSearch.of(ctx, s, f.TenantID, at, f.ways()...)
}
