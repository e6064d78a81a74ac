package api

import (
	"net/http"

	"sepad/internal/payment"
	"sepad/internal/recon"
	"sepad/internal/store"
)

// listRecords answers GET /reconciliation/… (contract 4.7). Whatever can fail has
// happened before the first byte, so that an error is JSON in every format.
func listRecords[T any](a *API, listing *recon.Listing[T]) keyHandler {
	return func(w http.ResponseWriter, r *http.Request, caller store.Credential) error {
		query, err := listing.Parse(r.URL.RawQuery, caller.TenantID, a.Checkout.Vault)
		if err != nil {
			return err
		}
		address := a.Checkout.PublicURL + r.URL.Path
		page, err := listing.Read(r.Context(), a.Store, a.Checkout.Vault, query, address)
		if err != nil {
			return err
		}
		defer page.Release()
		header := w.Header()
		header.Set("Content-Type", query.Format.ContentType())
		header.Set("Cache-Control", "no-store")
		header.Set("X-Content-Type-Options", "nosniff")
		if links := linksOf(page.Next, page.Previous); links != "" {
			header.Set("Link", links)
		}
		if query.Format == recon.CSV {
			day := payment.DateOf(a.Checkout.Clock.Now())
			header.Set("Content-Disposition", `attachment; filename="`+listing.Name+"_"+day.String()+`.csv"`)
		}
		w.WriteHeader(http.StatusOK)
		_ = listing.Write(w, query.Format, page) // a client that has gone cannot be told so
		return nil
	}
}

// linksOf names the neighbouring pages as RFC 8288 does, in every format: a CSV
// file has no other place for them.
func linksOf(next, previous string) (links string) {
	if next != "" {
		links = "<" + next + `>; rel="next"`
	}
	if previous == "" {
		return links
	}
	if links != "" {
		links += ", "
	}
	return links + "<" + previous + `>; rel="prev"`
}
