package api

import (
	"net/http"
	"net/url"

	"sepad/internal/payment"
	"sepad/internal/recon"
	"sepad/internal/store"
)

// longestLinks leaves room for the rest of an answer's head in the 4 KiB that proxies have for it.
const longestLinks = 3 << 10

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
		links := linksOf(page.Next, page.Previous)
		if len(links) > longestLinks { // without them a list would look as if it ended here
			return tooLong(r.URL.Query())
		}
		header := w.Header()
		header.Set("Content-Type", query.Format.ContentType())
		header.Set("Cache-Control", "no-store")
		header.Set("X-Content-Type-Options", "nosniff")
		if links != "" {
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

// tooLong blames the longest parameter, by its name and values.
func tooLong(parameters url.Values) error {
	longest, most := "", 0
	for name, values := range parameters {
		if size := len(url.Values{name: values}.Encode()); size > most {
			longest, most = name, size
		}
	}
	bad := payment.Fields{}
	bad.Add(longest, "With so long a parameter there is no room for the addresses of other pages.")
	return bad.Err()
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
