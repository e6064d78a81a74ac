package dashboard

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/listing"
)

// pageSize is how many records a page of a list shows.
const pageSize = 50

// auditView is a part of the trail, with the filters that it is of.
type auditView struct {
	Filters auditFilters
	Tenants []merchant.Tenant
	Entries []store.AuditEntry
	// Older and Newer are addresses, "" for none.
	Older, Newer string
}

// auditFilters are named as those of the admin API.
type auditFilters struct{ Actor, Action, ObjectType, ObjectID, TenantID, From, To string }

// showAudit answers GET /dashboard/audit/.
func (d *Dashboard) showAudit(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	shown := auditView{Filters: auditFilters{
		Actor: query.Get("actor"), Action: query.Get("action"), ObjectType: query.Get("object_type"), ObjectID: query.Get("object_id"),
		TenantID: query.Get("tenant_id"), From: query.Get("from"), To: query.Get("to"),
	}}
	search, paging, err := shown.Filters.read(query)
	if err != nil {
		return err
	}
	if err := d.People.Chain(r.Context()); err != nil {
		return err
	}
	part, err := listing.SearchAudit(r.Context(), d.Store, search, paging)
	if err != nil {
		return err
	}
	if shown.Tenants, err = d.Store.Tenants(r.Context()); err != nil {
		return err
	}
	shown.Entries, shown.Older, shown.Newer = pagesOf(part.Rows, paging, query, func(e store.AuditEntry) uuid.UUID { return e.ID })
	return d.page(w, r, "audit", "Audit trail", shown)
}

// read makes a search of the filters; every fault is said at once.
func (f auditFilters) read(query url.Values) (search listing.AuditSearch, paging listing.Paging, err error) {
	bad := payment.Fields{}
	search = listing.AuditSearch{
		Actor: strings.TrimSpace(f.Actor), Action: strings.TrimSpace(f.Action), ObjectType: strings.TrimSpace(f.ObjectType), ObjectID: strings.TrimSpace(f.ObjectID),
		Common: listing.Common{TenantID: readUUID("tenant_id", f.TenantID, bad), CreatedFrom: readDay("from", f.From, bad), CreatedBefore: readDay("to", f.To, bad)},
	}
	if !search.CreatedBefore.IsZero() {
		search.CreatedBefore = search.CreatedBefore.AddDate(0, 0, 1) // the last day belongs to it
	}
	return search, readPaging(query, bad), bad.Err()
}

func readUUID(name, text string, bad payment.Fields) uuid.UUID {
	if text == "" {
		return uuid.Nil
	}
	id, err := uuid.Parse(text)
	if err != nil {
		bad.Add(name, name+" must be a UUID.")
	}
	return id
}

func readDay(name, text string, bad payment.Fields) time.Time {
	if text == "" {
		return time.Time{}
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		bad.Add(name, name+" must be a day such as 2026-03-31.")
	}
	return day
}

// readPaging reads which part of a list is asked for: before or after a record.
func readPaging(query url.Values, bad payment.Fields) listing.Paging {
	paging := listing.Paging{Limit: pageSize + 1}
	if after := readUUID("after", query.Get("after"), bad); after != uuid.Nil {
		paging.Beyond, paging.Back = after, true
	}
	if before := readUUID("before", query.Get("before"), bad); before != uuid.Nil {
		paging.Beyond, paging.Back = before, false
	}
	return paging
}

// pagesOf cuts what was read to a page, and gives the addresses of the ones beside it.
func pagesOf[T any](rows []T, paging listing.Paging, query url.Values, id func(T) uuid.UUID) (page []T, older, newer string) {
	goesOn := len(rows) == paging.Limit
	if goesOn && paging.Back {
		rows = rows[1:]
	}
	rows = rows[:min(len(rows), paging.Limit-1)]
	if len(rows) == 0 {
		return rows, "", ""
	}
	address := func(name string, row T) string {
		next := url.Values{}
		for filter, values := range query {
			if filter != "before" && filter != "after" && values[0] != "" {
				next[filter] = values
			}
		}
		next.Set(name, id(row).String())
		return "?" + next.Encode()
	}
	if goesOn || paging.Back {
		older = address("before", rows[len(rows)-1])
	}
	if goesOn && paging.Back || !paging.Back && paging.Beyond != uuid.Nil {
		newer = address("after", rows[0])
	}
	return rows, older, newer
}
