package recon

import (
	"context"
	"net/url"
	"time"

	"sepad/internal/store"
	"sepad/internal/store/listing"
	"sepad/internal/vault"
)

// Page is a part of a listing, ready to be written.
type Page[T any] struct {
	listing.Listed[T]
	// Next and Previous are whole addresses, "" where the listing ends.
	Next, Previous string
}

// endOfTime is later than anything that a clock of ours can show.
var endOfTime = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// Read reads the page that a query asks for. Address is where the endpoint is
// reached from outside.
func (l *Listing[T]) Read(ctx context.Context, st *store.Store, v *vault.Vault, q *Query, address string) (Page[T], error) {
	w := listing.Window{From: q.Start.Start(), Before: q.End.AddDays(1).Start(), Limit: q.PageSize, ByUpdate: q.ByUpdate}
	if q.End.IsZero() {
		w.Before = endOfTime
	}
	if q.cursor != nil {
		w.Beyond, w.Backward = &q.cursor.position, q.cursor.backward
	}
	listed, err := l.read(ctx, st.Tenant(q.TenantID), w, q.Filters)
	if err != nil {
		return Page[T]{}, err
	}
	page := Page[T]{Listed: listed}
	next, previous := l.neighbours(q, listed)
	if page.Next, err = q.address(v, address, next); err != nil {
		return Page[T]{}, err
	}
	page.Previous, err = q.address(v, address, previous)
	return page, err
}

// neighbours are the pages on either side, nil where there is none. Where one
// came from there is always a page, even if a changed record left it since.
func (l *Listing[T]) neighbours(q *Query, listed listing.Listed[T]) (next, previous *cursor) {
	first, last := l.ends(q, listed.Rows)
	isStart := q.cursor == nil
	isBackward := !isStart && q.cursor.backward
	if isBackward || listed.More {
		next = &cursor{position: last}
	}
	if !isStart && !isBackward || isBackward && listed.More {
		previous = &cursor{position: first, backward: true}
	}
	return next, previous
}

// ends are the positions of a page's first and last record. A page that has come
// to be empty stands where its cursor points, with the record there on the side
// that one came from.
func (l *Listing[T]) ends(q *Query, rows []T) (first, last listing.Position) {
	switch {
	case len(rows) > 0 && q.ByUpdate:
		return l.changed(&rows[0]), l.changed(&rows[len(rows)-1])
	case len(rows) > 0:
		return l.position(&rows[0]), l.position(&rows[len(rows)-1])
	case q.cursor == nil:
		return first, last
	case q.cursor.backward:
		return first, q.cursor.position.Above()
	default:
		return q.cursor.position.Below(), last
	}
}

// address is that of a neighbouring page: the parameters as they came, with
// another cursor.
func (q *Query) address(v *vault.Vault, endpoint string, to *cursor) (string, error) {
	if to == nil {
		return "", nil
	}
	sealed, err := to.seal(v, q)
	if err != nil {
		return "", err
	}
	parameters := url.Values{}
	for name, values := range q.parameters {
		parameters[name] = values
	}
	parameters.Set(paramCursor, sealed)
	return endpoint + "?" + parameters.Encode(), nil
}
