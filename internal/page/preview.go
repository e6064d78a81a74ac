package page

import (
	"cmp"
	"encoding/base64"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"sepad/internal/checkout"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/web"
)

// OperatorRoutes are for whoever may see every merchant's pages. Who that is,
// the operator's API knows.
//
//	GET /pay/preview/{hosted_page_id}/?state=…&lang=…&campaign=…
func (p *Page) OperatorRoutes() []web.Route {
	return []web.Route{{Method: http.MethodGet, Pattern: "/pay/preview/{hosted_page_id}/", Handler: p.Preview}}
}

// PreviewStates are what a hosted page can be looked at in, as payers meet them.
var PreviewStates = []string{
	"pay", "mistakes", "declined", "outage", "processing", "slow", "verify", "paid", "pending", "refunded", "returned",
	"failed", "expired", "cancelled", "mandate",
}

// Preview shows a hosted page without a session: nothing is read of a payer,
// nothing is written, and nothing on it pays.
func (p *Page) Preview(w http.ResponseWriter, r *http.Request) error {
	return p.PreviewAs(w, r, func(of *merchant.Setup, id uuid.UUID) merchant.HostedPage { return of.HostedPages[id] })
}

// PreviewAs is Preview of a page as it could be.
func (p *Page) PreviewAs(w http.ResponseWriter, r *http.Request, as func(of *merchant.Setup, id uuid.UUID) merchant.HostedPage) error {
	query := r.URL.Query()
	state := query.Get("state")
	if state == "" {
		state = PreviewStates[0]
	}
	l := findLanguage(query.Get("lang"))
	if l == nil {
		l = preferredLanguage(r.Header.Get("Accept-Language"))
	}
	bad := payment.Fields{}
	if !slices.Contains(PreviewStates, state) {
		bad.Add("state", "state must be one of "+strings.Join(PreviewStates, ", ")+".")
	}
	sample, err := p.sample(r, as, bad)
	if err != nil {
		return err
	}
	if err := bad.Err(); err != nil {
		return err
	}
	v := visit{View: sample, pageLanguage: l, now: p.Checkout.Clock.Now()}
	return p.showSample(w, r, v, state)
}

// sample is a session that could be, for a hosted page and one of its campaigns.
func (p *Page) sample(r *http.Request, as func(*merchant.Setup, uuid.UUID) merchant.HostedPage, bad payment.Fields) (checkout.View, error) {
	id, err := uuid.Parse(r.PathValue("hosted_page_id"))
	if err != nil {
		return checkout.View{}, web.ErrNotFound
	}
	setup, err := p.Store.SetupOfPage(r.Context(), id)
	if err != nil {
		return checkout.View{}, err
	}
	page := as(setup, id)
	v := checkout.View{
		Tenant: setup.Tenant, Page: &page, Lead: payment.Lead{FirstName: "Ada", LastName: "Byron"},
		Session: payment.Session{
			Token: payment.TokenPrefix + "preview", HostedPageID: &id, AcceptanceMode: payment.AcceptCheckbox, MandateReference: "MND-0123456789AB",
			Terms:       payment.Terms{PriceMinor: 29_99, Currency: "EUR", BillingType: payment.Recurring, Frequency: payment.Monthly},
			MaxAttempts: 3, AttemptsUsed: 1,
		},
	}
	wanted := r.URL.Query().Get("campaign")
	byName := func(a, b merchant.Campaign) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID.String(), b.ID.String()))
	}
	for _, campaign := range slices.SortedFunc(maps.Values(setup.Campaigns), byName) {
		if wanted != campaign.ID.String() && (wanted != "" || campaign.HostedPageID == nil || *campaign.HostedPageID != id) {
			continue
		}
		offer := setup.Offers[campaign.OfferID]
		v.Campaign, v.Offer, v.Gateway = &campaign, &offer, setup.Gateways[campaign.GatewayID]
		v.Session.Terms, v.Session.AcceptanceMode = offer.Terms, campaign.AcceptanceMode
		return v, nil
	}
	if wanted != "" {
		bad.Add("campaign", "The page's tenant has no campaign with this id.")
	}
	return v, nil
}

// pay makes up the attempt that a state speaks of.
func (v *visit) pay(state string) {
	terms := v.Session.Terms
	iban, _ := sepa.ParseIBAN("DE89370400440532013000") // the well-known example
	v.last = &payment.Debit{
		Transaction: payment.Transaction{
			Type: payment.Sale, AmountMinor: terms.DueMinor(), Currency: terms.Currency, MaskedIBAN: iban.Masked(), IBANCountry: "DE",
			BankName: "Commerzbank", HolderName: "Ada Byron", CreatedAt: v.now, VerificationURL: "https://bank.example/",
		},
		Order: &payment.Order{Number: "ORD-0123ABCD"},
	}
	t := &v.last.Transaction
	if v.isFreeTrial() {
		t.Type = payment.Mandate
	}
	if terms.StartsSubscription() && terms.Frequency != "" {
		next := terms.Frequency.PeriodStart(payment.DateOf(v.now), 1)
		if terms.BillingType == payment.TrialRecurring {
			next = terms.TrialEnd(payment.DateOf(v.now))
		}
		v.last.Subscription = &payment.Subscription{AmountMinor: terms.PriceMinor, Currency: terms.Currency, NextBillingDate: next}
	}
	switch state {
	case "declined", "failed":
		t.Decline = &payment.Decline{Code: payment.InsufficientFunds}
	case "outage":
		t.Decline = &payment.Decline{Code: payment.GatewayUnavailable}
	case "slow":
		t.CreatedAt = v.now.Add(-time.Minute)
	}
}

func (p *Page) showSample(w http.ResponseWriter, r *http.Request, v visit, state string) error {
	if state != "pay" && state != "mistakes" {
		v.pay(state)
	}
	title := fill(v.PayTitle, "merchant", v.Tenant.Name)
	shown := p.frame(r, v, title)
	shown.Preview = true
	shown.LanguageQuery = template.URL(url.Values{"state": {state}, "campaign": {r.URL.Query().Get("campaign")}}.Encode() + "&") //nolint:gosec // G203: encoded
	switch state {
	case "pay", "mistakes", "declined", "outage":
		f := v.form()
		if state == "mistakes" {
			f.IBAN = "DE8937040044053201300"
			p.check(v, &f)
		}
		shown.Stage, shown.Form, shown.Order.Plan, shown.Trust = stagePay, &f, v.plan(), v.trust(p.Checkout.PublicURL)
	case "mandate":
		return writeWith(w, r, http.StatusOK, "mandate.html", mandateView{view: shown, Mandate: v.mandate()}, previewPolicy)
	case "slow":
		shown.Stage, shown.Result = stageProcessing, v.result(stageProcessing)
	default:
		shown.Stage = stage(state)
		shown.Result = v.result(shown.Stage)
	}
	return writeWith(w, r, http.StatusOK, "page.html", shown, previewPolicy)
}

// previewPolicy lets the operator's own pages show a preview, with its logo
// inside: a picture cannot be asked for with a credential.
var previewPolicy = strings.NewReplacer("img-src 'self'", "img-src 'self' data:", "frame-ancestors 'none'", "frame-ancestors 'self'").Replace(contentPolicy)

// inline is a logo as an address of itself.
func (l logo) inline() template.URL {
	return template.URL("data:" + l.contentType + ";base64," + base64.StdEncoding.EncodeToString(l.picture)) //nolint:gosec // G203: one of logoTypes and base64
}
