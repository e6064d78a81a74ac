package dashboard

import (
	"cmp"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/people"
	"sepad/internal/web"
)

// Preview shows a hosted page as payers meet it.
type Preview struct {
	// Show answers for the page whose id is {hosted_page_id}, in a state and a language; as
	// says how it looks.
	Show func(w http.ResponseWriter, r *http.Request, as func(of *merchant.Setup, id uuid.UUID) merchant.HostedPage) error
	// Logo answers with the picture at an address for whoever asks, ColorWords say what becomes of a colour.
	Logo       func(w http.ResponseWriter, r *http.Request, whose, address string) error
	ColorWords func(value string) string
	// States and Languages are what can be asked for, what is meant without a word first.
	States, Languages []string
}

// pageView is a hosted page with the campaigns that lead to it.
type pageView struct {
	merchant.HostedPage
	Campaigns []merchant.Campaign
}

// sorted are records by name.
func sorted[T any](records map[uuid.UUID]T, name func(T) string) []T {
	return slices.SortedFunc(maps.Values(records), func(a, b T) int { return strings.Compare(name(a), name(b)) })
}

// campaignsByPage are the campaigns that show each page, by name.
func campaignsByPage(setup *merchant.Setup) map[uuid.UUID][]merchant.Campaign {
	byPage := map[uuid.UUID][]merchant.Campaign{}
	for _, campaign := range sorted(setup.Campaigns, func(c merchant.Campaign) string { return c.Name }) {
		if page := campaign.HostedPageID; page != nil {
			byPage[*page] = append(byPage[*page], campaign)
		}
	}
	return byPage
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
	page := pageView{setup.HostedPages[id], campaignsByPage(setup)[id]}
	return d.page(w, r, "preview", page.Name, previewView{
		Page: page, Tenant: setup.Tenant, Choices: chosen, States: d.Preview.States, Languages: d.Preview.Languages,
		Frame: "/dashboard/setup/pages/" + id.String() + "/preview/?" + asked.Encode(),
	})
}

const (
	logoPath  = setupPath + "logo/"
	colorPath = setupPath + "colour/"
)

// showLogo answers GET /dashboard/setup/logo/?address=… with the picture there, fetched as
// it is for payers.
func (d *Dashboard) showLogo(w http.ResponseWriter, r *http.Request) error {
	address, err := url.Parse(r.URL.Query().Get("address"))
	if err != nil || address.Scheme != "https" && address.Scheme != "http" || address.Host == "" {
		return web.ErrNotFound
	}
	person, _ := people.Reader(r.Context())
	return d.Preview.Logo(w, r, person, address.String())
}

// showColor answers GET /dashboard/setup/colour/?value=… with what becomes of a colour.
func (d *Dashboard) showColor(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = io.WriteString(w, d.Preview.ColorWords(r.URL.Query().Get("value")))
	return nil
}

// logosOf are the logos that a merchant's pages have, to choose from.
func logosOf(of *merchant.Setup) (choices []choice) {
	for _, page := range sorted(of.HostedPages, func(p merchant.HostedPage) string { return p.Name }) {
		for _, address := range []*string{page.Branding.LogoURL, page.Branding.LogoDarkURL} {
			if address != nil && !slices.ContainsFunc(choices, func(c choice) bool { return c.Value == *address }) {
				choices = append(choices, choice{*address, page.Name})
			}
		}
	}
	return choices
}
