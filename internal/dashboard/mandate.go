package dashboard

import (
	"errors"
	"net/http"

	"sepad/internal/checkout"
	"sepad/internal/store"
	"sepad/internal/store/listing"
	"sepad/internal/timeline"
)

// mandateView is a mandate with what its payers agreed to, the newest first.
type mandateView struct {
	Reference string
	Evidence  []store.Evidence
	// Given are the sessions in which it was given, where there is no evidence.
	Given    []listing.MandateRecord
	Names    names
	Timeline []storyView
}

// Tenant is what people call the tenant of a piece of evidence.
func (v mandateView) Tenant(e store.Evidence) string { return v.Names.of(e.Transaction.TenantID) }

// showMandate answers GET /dashboard/mandates/{reference}/: each look is noted, for it
// names people and where they were.
func (d *Dashboard) showMandate(w http.ResponseWriter, r *http.Request) error {
	setups, err := d.setups(r.Context())
	if err != nil {
		return err
	}
	shown := mandateView{Reference: r.PathValue("reference"), Names: namesOf(setups)}
	shown.Evidence, err = d.Checkout.Evidence(r.Context(), shown.Reference, checkout.Dashboard)
	if errors.Is(err, checkout.ErrNoEvidence) {
		shown.Given, err = d.givenMandates(r, shown.Reference)
	}
	if err != nil {
		return err
	}
	story, err := timeline.ReadMandate(r.Context(), d.Store, shown.Reference)
	if err != nil {
		return err
	}
	shown.Timeline = withPaths(story)
	return d.page(w, r, "mandate", "Mandate "+shown.Reference, shown)
}

// givenMandates are those of a reference that were given elsewhere than on our page.
func (d *Dashboard) givenMandates(r *http.Request, reference string) ([]listing.MandateRecord, error) {
	const most = 10
	part, err := listing.SearchMandates(r.Context(), d.Store, listing.MandateSearch{Common: listing.Common{Text: reference}}, listing.Paging{Limit: most})
	if err == nil && len(part.Rows) == 0 {
		err = checkout.ErrNoEvidence
	}
	return part.Rows, err
}
