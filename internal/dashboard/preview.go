package dashboard

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/web"
)

// Preview shows a hosted page as payers meet it.
type Preview struct {
	// Show answers for the page whose id is {hosted_page_id}, in a state and a language.
	Show web.Handler
	// States and Languages are what can be asked for, what is meant without a word first.
	States, Languages []string
}

// setupView is what merchants have set up.
type setupView struct {
	Merchants []merchantView
}

type merchantView struct {
	merchant.Tenant
	Pages []pageView
}

// pageView is a hosted page with the campaigns that lead to it.
type pageView struct {
	merchant.HostedPage
	Campaigns []merchant.Campaign
}

// showSetup answers GET /dashboard/setup/.
func (d *Dashboard) showSetup(w http.ResponseWriter, r *http.Request) error {
	tenants, err := d.Store.Tenants(r.Context())
	if err != nil {
		return err
	}
	var shown setupView
	for _, tenant := range tenants {
		setup, err := d.Store.CurrentSetup(r.Context(), tenant.ID)
		if err != nil {
			return err
		}
		one := merchantView{Tenant: setup.Tenant}
		for _, page := range sorted(setup.HostedPages, func(p merchant.HostedPage) string { return p.Name }) {
			one.Pages = append(one.Pages, pageView{page, campaignsOf(setup, page.ID)})
		}
		shown.Merchants = append(shown.Merchants, one)
	}
	return d.page(w, r, "setup", "Setup", shown)
}

// sorted are records by name.
func sorted[T any](records map[uuid.UUID]T, name func(T) string) []T {
	return slices.SortedFunc(maps.Values(records), func(a, b T) int { return strings.Compare(name(a), name(b)) })
}

func campaignsOf(setup *merchant.Setup, page uuid.UUID) (campaigns []merchant.Campaign) {
	for _, campaign := range sorted(setup.Campaigns, func(c merchant.Campaign) string { return c.Name }) {
		if campaign.HostedPageID != nil && *campaign.HostedPageID == page {
			campaigns = append(campaigns, campaign)
		}
	}
	return campaigns
}

// previewView is a page beside what can be chosen of it.
type previewView struct {
	Page   pageView
	Tenant merchant.Tenant
	Choices
	States, Languages []string
	// Frame is the preview's own address.
	Frame string
}

// Choices are how a page is looked at.
type Choices struct {
	Campaign, State, Language string
	// Narrow is a phone's width.
	Narrow bool
}

// showPreview answers GET /dashboard/setup/pages/{hosted_page_id}/ with the page in a frame, as it was chosen.
func (d *Dashboard) showPreview(w http.ResponseWriter, r *http.Request) error {
	id, err := uuid.Parse(r.PathValue("hosted_page_id"))
	if err != nil {
		return web.ErrNotFound
	}
	setup, err := d.Store.SetupOfPage(r.Context(), id)
	if err != nil {
		return err
	}
	query := r.URL.Query()
	chosen := Choices{
		Campaign: query.Get("campaign"), State: cmp.Or(query.Get("state"), d.Preview.States[0]),
		Language: cmp.Or(query.Get("lang"), d.Preview.Languages[0]), Narrow: query.Get("width") == "phone",
	}
	asked := url.Values{"state": {chosen.State}, "lang": {chosen.Language}}
	if chosen.Campaign != "" {
		asked.Set("campaign", chosen.Campaign)
	}
	page := pageView{setup.HostedPages[id], campaignsOf(setup, id)}
	return d.page(w, r, "preview", page.Name, previewView{
		Page: page, Tenant: setup.Tenant, Choices: chosen, States: d.Preview.States, Languages: d.Preview.Languages,
		Frame: "/dashboard/setup/pages/" + id.String() + "/preview/?" + asked.Encode(),
	})
}
